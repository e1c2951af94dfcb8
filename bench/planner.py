"""The planner's choice beside the best of all methods, and errors beside the bound asked for, over kernels and sizes of
maps: `zonal-bench plan` convolves random maps in every way that may be taken. JSON on standard output.

    zonal calibrate; python bench/planner.py --device cpu --threads 2 --output FILE
    python bench/planner.py --device cuda --quick
    python bench/planner.py --spin 2              # maps of Q and U

A choice is as good as chosen_over_fastest, at least 1, is small. --folder keeps the kernels' files.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

import machine
import planner_kernels
import programs

FIELDS = {0: "I", 2: "QU"}


def plan(case, nside, options, folder):
    """One row of the record."""
    lmax = case.lmax(nside)
    report = programs.report(programs.ZONAL_BENCH, "plan", "--nside", nside, "--lmax", lmax, "--error", case.error,
                             "--device", options.device, "--threads", options.threads, "--fields", FIELDS[options.spin],
                             *case.arguments(nside, lmax, folder))
    allowed = [row for row in report["choices"] if "excluded" not in row]
    row = {"kernel": case.name, "nside": nside, "lmax": lmax, "error_bound": case.error,
           "reference": case.reference, "ways": len(allowed),
           "not_measured": sum("not_measured" in one for one in allowed)}
    if not allowed:
        return row | {"chosen": None}
    ran = [one for one in allowed if "measured_seconds" in one]
    fastest = min(ran, key=lambda one: one["measured_seconds"])
    return row | {
        "chosen": label(allowed[0]), "fastest": label(fastest), "seconds": allowed[0]["measured_seconds"],
        "predicted_seconds": allowed[0]["seconds"], "fastest_seconds": fastest["measured_seconds"],
        "chosen_over_fastest": report["measured"]["chosen_over_fastest"],
        "chosen_error_over_wanted": report["measured"]["chosen_error_over_wanted"],
        "largest_error_over_wanted": report["measured"]["largest_error_over_wanted"],
        "reference_is": report["measured"]["reference_is"], "total_seconds": report["seconds"],
        "measured": [{"way": label(one), "predicted": one["seconds"], "seconds": one["measured_seconds"],
                      "error": one["measured_error"], "predicted_error": one["error"]} for one in ran],
        "costs": report["costs"]}


def label(choice):
    parts = [choice["method"], choice["device"], choice.get("precision", "double")]
    if "support_arcmin" in choice:
        parts.append(f"{choice['support_arcmin']:.4g}'")
    if "l_cut" in choice:
        parts.append(f"l_cut {choice['l_cut']}")
    return " ".join(parts)


def over_fastest(seconds):
    """How far the times of choices are above those of the fastest ways."""
    over = np.asarray(seconds)
    return {"median": float(np.median(over)), "mean": float(over.mean()), "p90": float(np.quantile(over, 0.9)),
            "largest": float(over.max()), "above_1.10": int((over > 1.10).sum()), "above_1.25": int((over > 1.25).sum())}


def summary(rows):
    errors = np.array([row["chosen_error_over_wanted"] for row in rows if row["chosen"]])
    all_errors = np.array([row["largest_error_over_wanted"] for row in rows if row["chosen"]])
    return {"cases": len(rows), "nothing_keeps_the_error": sum(row["chosen"] is None for row in rows),
            "chosen_over_fastest": over_fastest([row["chosen_over_fastest"] for row in rows if row["chosen"]]),
            "chosen_error_over_wanted": {"largest": float(errors.max()), "above_1": int((errors > 1).sum())},
            "error_of_any_way_over_wanted": {"largest": float(all_errors.max()),
                                             "cases_above_1": int((all_errors > 1).sum())}}


def selected(options):
    """Pairs of nside and case."""
    cases = [case for i, case in enumerate(planner_kernels.SPIN_CASES if options.spin else planner_kernels.CASES)
             if (case.name in options.kernels if options.kernels else not options.quick or i % 3 == 0)]
    return [(nside, case) for nside in options.nside or ([128, 512] if options.quick else [128, 256, 512, 1024])
            for case in cases]


def record(options, rows):
    return {"what": "the planner's choices", "machine": machine.describe("numpy"), "device": options.device,
            "spin": options.spin, "threads": options.threads, "summary": summary(rows), "results": rows}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="cpu")
    parser.add_argument("--spin", type=int, choices=[0, 2], default=0, help="2: maps of Q and U")
    parser.add_argument("--nside", type=int, nargs="+", help="128 256 512 1024; with --quick 128 512")
    parser.add_argument("--kernels", nargs="+", help="names of those to take")
    parser.add_argument("--quick", action="store_true", help="a third of the kernels and two sizes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder")
    parser.add_argument("--output")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary)
        folder.mkdir(exist_ok=True)
        for nside, case in selected(options):
            row = plan(case, nside, options, folder)
            rows.append(row)
            print(f"nside {nside:5d}  {case.name:32s} {row.get('total_seconds', 0):6.1f} s  {row['chosen']}, "
                  f"{row.get('chosen_over_fastest', 0):.2f} of the fastest, error "
                  f"{row.get('chosen_error_over_wanted', 0):.2f} of the bound, of all ways at most "
                  f"{row.get('largest_error_over_wanted', 0):.2f}", file=sys.stderr, flush=True)
            if options.output:  # after every case, so that a run that is stopped leaves what it measured
                pathlib.Path(options.output).write_text(json.dumps(record(options, rows)))
    machine.write(record(options, rows), options.output)


if __name__ == "__main__":
    main()

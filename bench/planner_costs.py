"""The planner's choices by the costs of several calibrations: the time of each choice over that of the fastest way, and
predicted times over measured ones. Every way is measured once for all, in as many rounds as asked for, of which the
fastest counts. JSON on standard output.

    python bench/planner_costs.py --calibrate old/zonal build/bin/zonal --folder costs --threads 2 --output FILE
    python bench/planner_costs.py --costs costs/1.json costs/2.json --device cuda --threads 16 --quick
    python bench/planner_costs.py --costs costs/1.json costs/2.json --spin 2      # maps of Q and U

Costs are of files that `zonal calibrate` wrote, or that programs measure now, which is timed. Needs NumPy and the programs (ZONAL
and ZONAL_BENCH, or build/bin/zonal and build/bin/zonal-bench).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import machine
import planner
import planner_kernels

ZONAL = os.environ.get("ZONAL", str(planner.ROOT / "build/bin/zonal"))


def calibrate(program, path, options):
    """Seconds that the program takes to write its costs to this file."""
    with tempfile.TemporaryDirectory() as cache:
        start = time.monotonic()
        result = subprocess.run([program, "calibrate", "--threads", str(options.threads)], capture_output=True, text=True,
                                env=os.environ | {"XDG_CACHE_HOME": cache})
        seconds = time.monotonic() - start
        if result.returncode != 0:
            raise SystemExit(f"{program} calibrate\n{result.stderr}")
        (costs,) = pathlib.Path(cache).rglob("costs_*.json")
        path.write_bytes(costs.read_bytes())
    return seconds


def report(program, case, nside, costs, options, folder):
    """What `plan` says of the request."""
    lmax = case.lmax(nside)
    arguments = [program, "plan", "--json", "--nside", nside, "--lmax", lmax, "--error", case.error, "--costs", costs,
                 "--device", options.device, "--threads", options.threads, "--fields", planner.FIELDS[options.spin],
                 *case.arguments(nside, lmax, folder)]
    result = subprocess.run(list(map(str, arguments)), capture_output=True, text=True)
    if '"choices"' not in result.stdout:
        raise SystemExit(f"{' '.join(map(str, arguments))}\n{result.stderr}")
    return json.loads(result.stdout)


def allowed(answer):
    return [one for one in answer["choices"] if "excluded" not in one]


def predictions(answer):
    """Seconds by way, the choice first. Of ways with one label the first is meant."""
    seconds = {}
    for one in allowed(answer):
        seconds.setdefault(planner.label(one), one["seconds"])
    return seconds


def add_measured(answer, seconds):
    for one in allowed(answer):
        if "measured_seconds" in one:
            way = planner.label(one)
            seconds[way] = min(seconds.get(way, np.inf), one["measured_seconds"])


def compare(case, nside, all_costs, options, folder):
    """One row of the record."""
    measured = {}
    for _ in range(options.rounds):
        add_measured(report(planner.ZONAL_BENCH, case, nside, all_costs[0], options, folder), measured)
    predicted = [predictions(report(ZONAL, case, nside, costs, options, folder)) for costs in all_costs]
    for costs, ways in zip(all_costs, predicted):
        if ways and next(iter(ways)) not in measured:  # a split at another angle, say
            add_measured(report(planner.ZONAL_BENCH, case, nside, costs, options, folder), measured)
    choices = []
    for ways in predicted:
        chosen = next(iter(ways), None)
        choices.append(chosen and {"chosen": chosen, "over_fastest": measured[chosen] / min(measured.values()),
                                   "predicted": ways})
    return {"kernel": case.name, "nside": nside, "error_bound": case.error, "measured": measured, "choices": choices}


def summary(rows, index):
    """Of the costs with this index."""
    kept = [(row["measured"], row["choices"][index]) for row in rows if row["choices"][index]]
    ratios = np.array([seconds / measured[way] for measured, choice in kept
                       for way, seconds in choice["predicted"].items() if way in measured])
    return {"requests": len(kept),
            "chosen_over_fastest": planner_kernels.of_choices([choice["over_fastest"] for _, choice in kept]),
            "predicted_over_measured": {f"p{q}": float(np.quantile(ratios, q / 100)) for q in (5, 25, 50, 75, 95)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costs", nargs="+", default=[], metavar="FILE")
    parser.add_argument("--calibrate", nargs="+", default=[], metavar="PROGRAM", help="of zonal, whose costs come after those")
    parser.add_argument("--folder", help="keeps the costs that programs measure, as 1.json, 2.json ...")
    planner_kernels.add_selection(parser)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--output")
    options = parser.parse_args()
    if not options.costs + options.calibrate:
        parser.error("--costs or --calibrate must name one")
    rows, seconds = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary)
        folder.mkdir(exist_ok=True)
        all_costs = list(options.costs)
        for index, program in enumerate(options.calibrate, 1):
            all_costs.append(folder / f"{index}.json")
            seconds.append(calibrate(program, all_costs[-1], options))
            print(f"{program} calibrate: {seconds[-1]:.1f} s", file=sys.stderr, flush=True)
        for nside, case in planner_kernels.selected(options):
            rows.append(compare(case, nside, all_costs, options, pathlib.Path(temporary)))
            over = " ".join(f"{choice['over_fastest']:.2f}" if choice else "none" for choice in rows[-1]["choices"])
            print(f"nside {nside:5d}  {case.name:32s} over the fastest: {over}", file=sys.stderr, flush=True)
    record = {"what": "the planner's choices by the costs of several calibrations", "machine": machine.describe("numpy"),
              "device": options.device, "spin": options.spin, "threads": options.threads, "costs": list(map(str, all_costs)),
              "calibration_seconds": seconds, "summary": [summary(rows, index) for index in range(len(all_costs))], "results": rows}
    for costs, one in zip(all_costs, record["summary"]):
        print(costs, one, file=sys.stderr)
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

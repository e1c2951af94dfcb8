"""What certificates cost: the time of `zonal smooth --method auto` for ordinary skies, the part of it that its certificates
take, and the time beside that of another build of the program in turn. JSON on standard output.

    python bench/certificate_cost.py --threads 2 --output FILE
    python bench/certificate_cost.py --other OLD/zonal --device cuda --threads 16

Times are of the whole call, files included; planning and convolution apart. Needs NumPy and the program (ZONAL, or
build/bin/zonal), which makes the skies.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
ZONAL = os.environ.get("ZONAL", str(ROOT / "build" / "bin" / "zonal"))
SPECTRUM = ROOT / "data/theory/wmap_lcdm_sz_lens_wmap7_cl_v4.fits"


def run(program, folder, arguments):
    result = subprocess.run([program, *map(str, arguments), "--json", "--overwrite"], cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{program} {' '.join(map(str, arguments))}\n{result.stderr}")
    return json.loads(result.stdout)


def smooth(program, folder, sky, kernel, options):
    report = run(program, folder, ["smooth", sky, "out.fits", "--fwhm", kernel, "--method", "auto", "--reference", options.reference,
                                   "--error", options.error, "--device", options.device, "--threads", options.threads])
    parts = report.get("parts", [report])
    total = lambda key: sum(part.get(key, 0) for part in parts)
    return {"seconds": report["seconds"], "planning": total("plan_seconds"), "convolution": total("convolution_seconds"),
            "certificate": total("certificate_seconds"), "methods": [part["method"] for part in parts],
            "attempts": max(part.get("attempts", 1) for part in parts)}


def medians(runs):
    numbers = {key: statistics.median(one[key] for one in runs) for key in ("seconds", "planning", "convolution", "certificate")}
    return {**numbers, "methods": runs[-1]["methods"], "attempts": runs[-1]["attempts"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", help="another build of the program")
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--kernels", nargs="+", default=["10arcmin", "1deg"], help="FWHM of Gaussians")
    parser.add_argument("--error", default="1e-5")
    parser.add_argument("--reference", default="discrete")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output")
    options = parser.parse_args()
    programs = {"zonal": ZONAL} | ({"other": options.other} if options.other else {})
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for fields, more in (("I", ["--temperature-only"]), ("IQU", [])):
            run(ZONAL, folder, ["synfast", SPECTRUM, f"{fields}.fits", "--nside", options.nside, "--extend", "zero", "--seed", 1, *more])
            for kernel in options.kernels:
                runs = {name: [] for name in programs}
                for _ in range(options.runs):
                    for name, program in programs.items():
                        runs[name].append(smooth(program, folder, f"{fields}.fits", kernel, options))
                row = {"fields": fields, "fwhm": kernel, **{name: medians(all_runs) for name, all_runs in runs.items()}}
                row["certificate_share"] = row["zonal"]["certificate"] / row["zonal"]["seconds"]
                if options.other:
                    row["over_other"] = row["zonal"]["seconds"] / row["other"]["seconds"]
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
    machine.write({"what": "what certificates cost", "machine": machine.describe("numpy"), "options": vars(options), "results": rows},
                  options.output)


if __name__ == "__main__":
    main()

"""Random requests whose every way is measured: none may be wrong by more than the error that was asked for. JSON on
standard output; the exit status is 1 where one is.

    python bench/planner_errors.py --requests 300 --seed 11

Needs NumPy and the program (ZONAL_BENCH, or build/bin/zonal-bench). --folder keeps the files of the requests.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import machine
from planner import ZONAL_BENCH
from planner_kernels import pixel


def kernel_arguments(name, l, width, folder, rng):
    """Options of zonal plan. width: rad."""
    fwhm = ["--fwhm", f"{min(width, 2.5):.8g}rad"]
    if name == "gaussian":
        return fwhm
    path = folder / "kernel.txt"
    if name == "sky":
        np.savetxt(path, np.transpose([l, np.append(0, 1 / l[1:] ** 2)]), header="l TT", fmt="%.17g")
        return ["--kernel", "cl-beam", "--cl", path, *fwhm]
    if name in ("window", "windows"):
        beam = np.exp(-0.5 * l * (l + 1) * (width / 2.3548) ** 2)
        if name == "window":
            np.savetxt(path, beam * (1 + 0.5 * np.cos(l * width * rng.uniform(0.1, 1))), fmt="%.17g")
        else:
            columns = [l, beam, beam * (1 + 0.1 * rng.uniform()), beam * (1 - 0.1 * rng.uniform())]
            np.savetxt(path, np.transpose(columns), header="l T E B", fmt="%.17g")
        return ["--kernel", "window", "--beam", path, "--normalize", "none"]
    end = min(width * rng.uniform(0.5, 4), np.pi)
    u = np.linspace(0, 1, int(rng.integers(5, 200)))
    wave = np.cos(u * rng.uniform(0, 20)) if name == "oscillating profile" else 1
    np.savetxt(path, np.transpose([u * end, np.exp(-(u * rng.uniform(0, 3)) ** 2) * wave]),
               header="theta [rad] value [1/sr]", fmt="%.17g")
    return ["--profile", path]


def request(folder, threads, rng):
    """What was asked for, and options of zonal-bench plan."""
    nside = int(rng.choice([8, 16, 32, 48, 64, 100, 128]))
    lmax = int(rng.integers(max(9, nside // 2), 3 * nside))
    fields = str(rng.choice(["I", "I", "QU"]))
    reference = str(rng.choice(["discrete", "discrete", "continuous"])) if lmax <= 2 * nside else "discrete"
    scalar = ["gaussian", "gaussian", "window", "profile", "oscillating profile", "sky"]
    kernel = str(rng.choice(scalar if fields == "I" else ["gaussian", "gaussian", "windows"]))
    error, width = 10 ** rng.uniform(-8, -2), pixel(nside) * 10 ** rng.uniform(-0.3, 1.8)
    l = np.arange(lmax + 1.0)
    arguments = ["--nside", nside, "--lmax", lmax, "--fields", fields, "--error", f"{error:.4g}", "--reference", reference,
                 "--seed", int(rng.integers(10**6)), "--threads", threads,
                 *kernel_arguments(kernel, l, width, folder, rng)]
    asked = {"nside": nside, "lmax": lmax, "fields": fields, "reference": reference, "kernel": kernel,
             "error_bound": error}
    return asked, list(map(str, arguments))


def measured(asked, arguments):
    result = subprocess.run([ZONAL_BENCH, "plan", "--json", *arguments], capture_output=True, text=True)
    report = json.loads(result.stdout)
    if "choices" not in report:  # such as nothing being left of the map
        return asked | {"failed": report["error"], "ways": []}
    ways = [{"method": row["method"], "precision": row.get("precision", "double"),
             "error_over_bound": row["measured_error"] / asked["error_bound"]}
            for row in report["choices"] if "measured_error" in row]
    return asked | {"ways": ways}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder")
    parser.add_argument("--output")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    rows, errors = [], []
    with tempfile.TemporaryDirectory() as temporary:
        for k in range(options.requests):
            folder = pathlib.Path(options.folder or temporary) / str(k)
            folder.mkdir(parents=True, exist_ok=True)
            row = measured(*request(folder, options.threads, rng))
            errors += [way["error_over_bound"] for way in row["ways"]]
            # NaN is no error that keeps a bound
            if "failed" in row or any(not way["error_over_bound"] <= 1 for way in row["ways"]):
                rows.append(row)
                print(k, json.dumps(row), file=sys.stderr, flush=True)
    broken = int(np.sum(~(np.array(errors) <= 1)))
    record = {"what": "errors of random requests over their bounds", "machine": machine.describe("numpy"),
              "seed": options.seed, "requests": options.requests, "ways": len(errors), "above_1": broken,
              "quantiles": dict(zip(["0.5", "0.9", "0.99", "1"], np.quantile(errors, [0.5, 0.9, 0.99, 1]).tolist())),
              "broken_or_failed": rows}
    machine.write(record, options.output)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the Python package costs beside its library: import, calls, transforms, Ctrl-C, memory. JSON on standard output.

    python bench/python_package.py --threads 2 --runs 7 --output FILE

Run it with the Python that has zonal installed. Transforms are paired with the same library's through ctypes
(build/lib/libzonal_shim.so), and calls with `zonal-bench sht` at nside 1, which has nothing of Python in it.
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import machine
import zonal
import zonal.healpy
import zonal_shim

ROOT = pathlib.Path(__file__).resolve().parent.parent
ZONAL_BENCH = os.environ.get("ZONAL_BENCH", str(ROOT / "build/bin/zonal-bench"))

INTERRUPTED = """
import sys, time
import numpy as np, zonal
sht = zonal.SHT(zonal.Grid.healpix(4096), 4096, threads=2)
alm = np.zeros(sht.n_alm, complex)
out = np.empty(12 * 4096**2)
print("begun", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""


def seconds_of_import(first, module, runs):
    code = f"import time\n{first}\nstart = time.perf_counter()\nimport {module}\nprint(time.perf_counter() - start)"
    return statistics.median(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3 * runs))


def call_overhead():
    """Seconds of SHT.synthesize beyond the library's own, at nside 1 and lmax 2 on one thread: medians of 2,000 calls."""
    sht = zonal.SHT(zonal.Grid.healpix(1), 2, threads=1)
    alm, out = np.zeros(sht.n_alm, complex), np.empty(12)
    took = []
    for _ in range(2000):
        start = time.perf_counter()
        sht.synthesize(alm, out)
        took.append(time.perf_counter() - start)
    report = json.loads(subprocess.run(
        [ZONAL_BENCH, "sht", "--nside", "1", "--lmax", "2", "--threads", "1", "--repeat", "2000", "--json"],
        capture_output=True, text=True, check=True).stdout)
    in_library = statistics.median(report["runs"]["synthesis"])
    return {"seconds": statistics.median(took), "library_seconds": in_library,
            "overhead_seconds": statistics.median(took) - in_library}


def transforms(nside, options):
    lmax = 2 * nside
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, threads=options.threads)
    plan = zonal_shim.Plan("healpix", nside, lmax=lmax, threads=options.threads)
    rng = np.random.default_rng(1)
    alm = rng.normal(size=sht.n_alm) + 0j
    sky, back = np.empty(12 * nside**2), np.empty(sht.n_alm, complex)
    sht.synthesize(alm, sky)
    other, other_back = np.empty_like(sky)[None, None], np.empty_like(back)[None, None]
    return {"nside": nside, "lmax": lmax,
            "synthesis": machine.paired(lambda: sht.synthesize(alm, sky),
                                        lambda: plan.synthesize(alm[None, None], other), options.runs),
            "adjoint": machine.paired(lambda: sht.adjoint(sky, back),
                                      lambda: plan.adjoint(sky[None, None], other_back), options.runs)}


def seconds_to_interrupt(call):
    """From SIGINT to the KeyboardInterrupt, in a transform of nside 4096 that has begun."""
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(call=call)], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(0.7)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    answer = process.communicate(timeout=120)[0].strip()
    return float(answer) - sent if answer else None


def small_calls(folder):
    """{name: call} of public functions, small: what a leak would show in."""
    grid = zonal.Grid.healpix(4)
    sht, kernel = zonal.SHT(grid, 8, threads=1), zonal.Kernel.gaussian("40deg")
    alm, sky, cl = zonal.synalm(np.ones(9), seed=1), np.ones(192), np.ones(9)
    plan = zonal.plan(kernel, grid, error=1e-3, threads=1)
    split = zonal.Split(zonal.gaussian_window("40deg", 11), "80deg", l_cut=3, threads=1)
    path = os.path.join(folder, "map.fits")
    zonal.io.write_map(path, sky, overwrite=True)
    hp = zonal.healpy
    return {
        "Grid.healpix": lambda: zonal.Grid.healpix(4), "SHT": lambda: zonal.SHT(grid, 8, threads=1),
        "SHT.synthesize": lambda: sht.synthesize(alm), "SHT.adjoint": lambda: sht.adjoint(sky),
        "SHT.analyze": lambda: sht.analyze(sky), "map2alm": lambda: zonal.map2alm(sky, lmax=8),
        "alm2map": lambda: zonal.alm2map(alm, 4), "synalm": lambda: zonal.synalm(cl, seed=1),
        "synfast": lambda: zonal.synfast(cl, 4, seed=1), "anafast": lambda: zonal.anafast(sky, lmax=8),
        "alm2cl": lambda: zonal.alm2cl(alm), "almxfl": lambda: zonal.almxfl(alm, cl),
        "resize_alm": lambda: zonal.resize_alm(alm, 6), "udgrade": lambda: zonal.udgrade(sky, 2),
        "Kernel.window": lambda: kernel.window(16), "Kernel.profile": lambda: kernel.profile(0.1),
        "smooth": lambda: zonal.smooth(sky, "60deg", lmax=8, error=1e-2, threads=1),
        "plan": lambda: zonal.plan(kernel, grid, error=1e-3, threads=1),
        "ConvolutionPlan": lambda: plan.explain(), "Split.convolve": lambda: split.convolve(sky, threads=1),
        "wavelet_transform": lambda: zonal.wavelet_transform(alm, [cl, cl]),
        "fit_dipole": lambda: zonal.fit_dipole(sky), "io.read_map": lambda: zonal.io.read_map(path),
        "healpy.ang2pix": lambda: hp.ang2pix(4, 0.3, 0.4), "healpy.pix2ang": lambda: hp.pix2ang(4, [3, 4]),
        "healpy.query_disc": lambda: hp.query_disc(4, (1, 0, 0), 0.4),
        "healpy.get_interp_val": lambda: hp.get_interp_val(sky, 0.3, 0.4),
    }


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def growth(calls, times):
    """Bytes by which `times` calls of each function make the process grow, after a tenth of these."""
    result = {}
    for name, call in calls.items():
        for _ in range(times // 10):
            call()
        before = resident_bytes()
        for _ in range(times):
            call()
        result[name] = resident_bytes() - before
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nside", type=int, nargs="+", default=[512, 1024])
    parser.add_argument("--calls", type=int, default=10000, help="of each function, for leaks")
    options, settings = machine.parse_options(parser)
    record = {"what": "the Python package beside its library", "machine": machine.describe("numpy", "zonal"), **settings,
              "import_seconds": {"zonal, beyond numpy": seconds_of_import("import numpy", "zonal", options.runs),
                                 "zonal.healpy, in all": seconds_of_import("", "zonal.healpy", options.runs)},
              "synthesize": call_overhead(), "transforms": [transforms(nside, options) for nside in options.nside],
              "seconds_to_interrupt": {call: seconds_to_interrupt(call) for call in (
                  "sht.synthesize(alm, out)", "sht.adjoint(out, alm)", "zonal.smooth(out, '1deg')", "zonal.map2alm(out)")}}
    with tempfile.TemporaryDirectory() as folder:
        record["resident_bytes_grown"] = growth(small_calls(folder), options.calls)
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

"""What all cores gain over one, beside what they could: the same work on one thread, on all of them, and once on each
of them at the same time. The last takes longer than the first where cores share clocks, caches and memory, which no
division of the work mends. JSON on standard output.

    python bench/cores.py --threads 16 --runs 7 --output bench/results/NAME.json
"""
import argparse
import concurrent.futures
import statistics
import threading
import time

import numpy as np

import machine
import radial_shim
import sht
import zonal_shim

ARCMIN = np.pi / 180 / 60


def seconds_of(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


class Transform:
    def __init__(self, nside, spin, is_adjoint):
        self.name = f"{'adjoint' if is_adjoint else 'synthesis'}, spin {spin}"
        self.nside, self.spin, self.is_adjoint = nside, spin, is_adjoint

    def ready(self, threads):
        lmax, components = 2 * self.nside, 1 if self.spin == 0 else 2
        plan = zonal_shim.Plan("healpix", self.nside, lmax=lmax, spin=self.spin, threads=threads)
        alm = sht.random_alm(1, components, lmax, self.spin, np.random.default_rng(1))
        sky = np.zeros((1, components, 12 * self.nside**2))
        if self.is_adjoint:
            plan.synthesize(alm, sky)
            return lambda: (plan.adjoint(sky, alm), {"legendre": plan.legendre_seconds()})[1]
        return lambda: (plan.synthesize(alm, sky), {"legendre": plan.legendre_seconds()})[1]


class Convolution:
    def __init__(self, nside, method):
        self.name, self.nside, self.method = method, nside, method

    def ready(self, threads):
        plan = radial_shim.RadialPlan(self.nside, fwhm=4.7 * ARCMIN, cut=15 * ARCMIN, method=self.method, single=True,
                                      threads=threads)
        sky = np.random.default_rng(1).normal(size=plan.n_pixels).astype(np.float32)
        out = np.zeros_like(sky)
        return lambda: (plan.convolve(sky, out), plan.work()[1])[1]


def measure(work, threads, runs):
    one, many = work.ready(1), work.ready(threads)
    crowd = [one] + [work.ready(1) for _ in range(threads - 1)]
    start = threading.Barrier(threads)

    def in_crowd(run):
        start.wait()
        return seconds_of(run)

    seconds = {"one": [], "all": [], "crowd": []}
    parts = {"one": [], "all": []}
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for run in range(runs + 1):  # the first is not counted
            for name, function in (("one", one), ("all", many)):
                begin = time.perf_counter()
                parts[name].append(function())
                seconds[name].append(time.perf_counter() - begin)
            seconds["crowd"].append(statistics.mean(pool.map(in_crowd, crowd)))
    median = {name: statistics.median(values[1:]) for name, values in seconds.items()}
    return {"work": work.name, "nside": work.nside, "seconds": median,
            "fastest_seconds": {name: min(values[1:]) for name, values in seconds.items()},
            "parts_seconds": {name: {part: statistics.median(of[part] for of in values[1:]) for part in values[0]}
                              for name, values in parts.items()},
            "gain": statistics.median(a / b for a, b in zip(seconds["one"][1:], seconds["all"][1:])),
            "gain_of_separate_calls": statistics.median(
                threads * a / b for a, b in zip(seconds["one"][1:], seconds["crowd"][1:]))}


def fma_peaks(threads, runs):
    pairs = [(zonal_shim.fma_flops(1), zonal_shim.fma_flops(threads)) for _ in range(runs)]
    return {"one": statistics.median(a for a, _ in pairs), "all": statistics.median(b for _, b in pairs),
            "gain": statistics.median(b / a for a, b in pairs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nside", type=int, default=1024, help="of transforms")
    parser.add_argument("--radial-nside", type=int, default=2048, help="of convolutions")
    options, settings = machine.parse_options(parser)
    works = [Transform(options.nside, spin, is_adjoint) for spin in (0, 2) for is_adjoint in (False, True)]
    works += [Convolution(options.radial_nside, method) for method in ("ring-fft", "pixel-sum")]
    record = {"what": "one thread, all, and one call on each at the same time", "settings": settings,
              "machine": machine.describe("numpy"), "simd": zonal_shim.simd_target(),
              "fma_peak_flops": fma_peaks(options.threads, options.runs)}
    record["results"] = [measure(work, options.threads, options.runs) for work in works]
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

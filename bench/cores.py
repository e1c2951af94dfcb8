"""What all cores gain over one, beside what they could: the same work on one thread, on all of them, and once on each
of them at the same time. The last takes longer than the first where cores share clocks, caches and memory, which no
division of the work mends. JSON on standard output.

    python bench/cores.py --threads 16 --runs 7 --output bench/results/NAME.json
"""
import concurrent.futures
import statistics
import threading
import time

import numpy as np

import machine
import programs
import skies
import zonal


def seconds_of(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


class Transform:
    def __init__(self, nside, spin, is_adjoint):
        self.name = f"{'adjoint' if is_adjoint else 'synthesis'}, spin {spin}"
        self.nside, self.spin, self.is_adjoint = nside, spin, is_adjoint

    def ready(self, threads):
        sht = zonal.SHT(zonal.Grid.healpix(self.nside), 2 * self.nside, spin=self.spin, threads=threads)
        alm = skies.white_alm(sht.lmax, self.spin)
        sky = sht.synthesize(alm)
        return lambda: sht.adjoint(sky, alm) if self.is_adjoint else sht.synthesize(alm, sky)


class Convolution:
    def __init__(self, nside, method):
        self.name, self.nside, self.method = method, nside, method

    def ready(self, threads):
        kernel = zonal.Kernel.gaussian("4.7arcmin").truncated("15arcmin")
        plan = zonal.PixelConvolution(kernel, zonal.Grid.healpix(self.nside), method=self.method, precision="float32", threads=threads)
        sky = np.random.default_rng(1).normal(size=plan.grid.n_pixels).astype(np.float32)
        out = np.zeros_like(sky)
        return lambda: plan(sky, out)


def measure(work, threads, runs):
    one, many = work.ready(1), work.ready(threads)
    crowd = [one] + [work.ready(1) for _ in range(threads - 1)]
    start = threading.Barrier(threads)

    def in_crowd(run):
        start.wait()
        return seconds_of(run)

    seconds = {"one": [], "all": [], "crowd": []}
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for _ in range(runs + 1):  # the first is not counted
            for name, function in (("one", one), ("all", many)):
                seconds[name].append(seconds_of(function))
            seconds["crowd"].append(statistics.mean(pool.map(in_crowd, crowd)))
    median = {name: statistics.median(values[1:]) for name, values in seconds.items()}
    return {"work": work.name, "nside": work.nside, "seconds": median,
            "fastest_seconds": {name: min(values[1:]) for name, values in seconds.items()},
            "gain": statistics.median(a / b for a, b in zip(seconds["one"][1:], seconds["all"][1:])),
            "gain_of_separate_calls": statistics.median(
                threads * a / b for a, b in zip(seconds["one"][1:], seconds["crowd"][1:]))}


def fma_peaks(threads, runs):
    pairs = [(programs.fma_flops(1), programs.fma_flops(threads)) for _ in range(runs)]
    return {"one": statistics.median(a for a, _ in pairs), "all": statistics.median(b for _, b in pairs),
            "gain": statistics.median(b / a for a, b in pairs)}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=1024, help="of transforms")
    parser.add_argument("--radial-nside", type=int, default=2048, help="of convolutions")
    options, settings = machine.parse_options(parser)
    works = [Transform(options.nside, spin, is_adjoint) for spin in (0, 2) for is_adjoint in (False, True)]
    works += [Convolution(options.radial_nside, method) for method in ("ring-fft", "pixel-sum")]
    record = {"what": "one thread, all, and one call on each at the same time", "settings": settings,
              "machine": machine.describe("numpy"), "simd": machine.simd(),
              "fma_peak_flops": fma_peaks(options.threads, options.runs)}
    record["results"] = [measure(work, options.threads, options.runs) for work in works]
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

"""A split kernel beside the whole one in harmonic space, both within the error and on the same white noise. JSON on standard output.

    python bench/splits.py --nside 2048 4096 --threads 2 --runs 3 --output FILE

The kernel is that of the paper, sqrt(C_l) B_l up to lmax = 2 nside with a beam of FWHM 20480 / nside arcmin, and the
reference is the discrete one: the sum over pixels. Seconds are those of one call of a plan, from array to array;
plan_seconds are those of making it, once. difference is the rms of the two results' difference over the rms of one.
"""
import time

import healpy
import numpy as np

import machine
import programs
import skies
import zonal


def paper_kernel(nside):
    """C_l goes on as the power law through its last 400 values."""
    lmax = 2 * nside
    c_l = healpy.read_cl(programs.WMAP7)[0]
    if lmax >= c_l.size:
        last = np.arange(c_l.size - 400, c_l.size)
        slope, offset = np.polyfit(np.log(last), np.log(c_l[last]), 1)
        c_l = np.concatenate([c_l, np.exp(offset + slope * np.log(np.arange(c_l.size, lmax + 1)))])
    return zonal.Kernel.from_window(np.sqrt(c_l[:lmax + 1]) * healpy.gauss_beam(np.radians(20480 / nside / 60), lmax))


def measure(nside, options):
    grid, kernel = zonal.Grid.healpix(nside), paper_kernel(nside)
    noise = np.random.default_rng(nside).normal(size=grid.n_pixels)
    plans, results, plan_seconds = {}, {}, {}
    for method in ("split", "harmonic"):
        start = time.perf_counter()
        plans[method] = zonal.ConvolutionPlan(kernel, grid, error=options.error, lmax=2 * nside, method=method,
                                              reference="discrete", threads=options.threads, device=options.device)
        plan_seconds[method] = time.perf_counter() - start

    def convolve(method):
        results[method] = plans[method](noise)

    timed = machine.paired(lambda: convolve("split"), lambda: convolve("harmonic"), options.runs)
    difference = skies.relative_rms(results["split"], results["harmonic"])
    choice = plans["split"].choice
    return {"nside": nside, "lmax": 2 * nside, "error": options.error, **timed, "plan_seconds": plan_seconds,
            "predicted_seconds": {name: plan.choice.seconds for name, plan in plans.items()}, "l_cut": choice.l_cut,
            "theta_cut_arcmin": float(np.degrees(choice.support) * 60), "difference": difference}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[2048, 4096])
    parser.add_argument("--error", type=float, default=1e-5)
    parser.add_argument("--device", default="cpu")
    options, settings = machine.parse_options(parser)
    zonal.threads(options.threads)
    record = {"what": "a split kernel beside the whole one in harmonic space", "machine": machine.describe("healpy", "numpy"),
              **settings, "results": [measure(nside, options) for nside in options.nside]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

"""Displaced radial kernels beside fields of the orders of a beam, in one process, run in turn. JSON on standard output.

    python bench/displaced.py --cases 512,1.2,1e-3,5,300000 --output bench/results/NAME.json

A case: lmax, ellipticity, error, degrees beside the axis, pointings. The beam is an elliptical Gaussian of T with a FWHM of 384 / lmax degrees, the sky white,
the pointings uniform on the sphere, in no order. "make": what a sky needs once, with the fit of kernels; "pointings": the signal. Orders are those above a
hundredth of the error, kernels are fitted to all. "seen": the largest error, and its rms, over the largest signal and over the rms, beside fields with an error
a hundred times smaller. CPU time of one thread, the least of a few runs.
"""

import time

import numpy as np

import machine
import skies
import zonal


def beam_of(lmax, ellipticity, offset):
    beam, orders = zonal.elliptical_beam(np.radians(384 / lmax), ellipticity, lmax=lmax, orientation=0.3, error=1e-11, return_report=True)
    if offset == 0:
        return beam, orders.kmax
    return zonal.rotate_alm(beam, (0, np.radians(offset), 1), lmax, orders.kmax, mmax_out=lmax), lmax


def orders_within(beam, lmax, kmax, share):
    """The order above which the beam has this share of its norm."""
    size, end = np.array([(np.abs(row)**2).sum() for row in np.split(beam, np.cumsum(lmax + 1 - np.arange(kmax)))]), kmax
    while end > 0 and size[end:].sum() <= share**2 * size.sum():
        end -= 1
    return end


def timed(work, runs):
    least = np.inf
    for _ in range(runs):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return result, least


def measure(case, runs):
    lmax, n = int(case[0]), int(case[4])
    ellipticity, error, offset = map(float, case[1:4])
    rng = np.random.default_rng(1)
    at = np.arccos(rng.uniform(-1, 1, n)), *rng.uniform(0, 2 * np.pi, (2, n))
    sky = skies.white_alm(lmax, 0).reshape(-1)
    beam, all_orders = beam_of(lmax, ellipticity, offset)
    kmax = orders_within(beam, lmax, all_orders, error / 100)
    found = {"lmax": lmax, "ellipticity": ellipticity, "error": error, "degrees": offset, "n_pointings": n, "kmax": kmax}
    truth = zonal.BeamConvolver(sky, beam, orders_within(beam, lmax, all_orders, error / 1e4), error=error / 100, threads=1, method="harmonic")
    few = [angle[:20000] for angle in at]
    expected = truth(*few)
    del truth
    for method in ("harmonic", "displaced"):
        make = lambda: zonal.BeamConvolver(sky, beam, kmax if method == "harmonic" else None, error=error, n_pointings=n, threads=1, method=method)
        convolver, seconds = timed(make, runs)
        (_, report), scan = timed(lambda: convolver(*at, return_report=True), runs)
        wrong = convolver(*few) - expected
        found[method] = {"make": seconds, "pointings": scan, "total": seconds + scan, "bytes": convolver.n_bytes, "n_samples": convolver.n_samples,
                         "width": convolver.width, "kernels": convolver.kernels, "bound": report.bound, "mean_error": report.mean_error,
                         "largest_error": float(abs(wrong).max() / abs(expected).max()), "rms_error": float(wrong.std() / expected.std())}
    one, other = found["harmonic"], found["displaced"]
    return found | {"faster": one["total"] / other["total"], "smaller": one["bytes"] / other["bytes"],
                    "caution": other["bound"] / other["largest_error"]}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--cases", nargs="+", default=["256,1.2,1e-2,5,200000"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output")
    options = parser.parse_args()
    record = {"what": "displaced kernels beside fields of orders", "machine": machine.describe("numpy"), "simd_target": machine.simd(),
              "clock": "CPU time", "results": [measure(case.split(","), options.runs) for case in options.cases]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

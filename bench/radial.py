"""A cut Gaussian on a HEALPix map by sums over pixels beside ducc0's adjoint and synthesis up to lmax = 2 nside, in one
process, run in turn. JSON on standard output.

    python bench/radial.py --nside 2048 --threads 2 --runs 7 --output bench/results/NAME.json

Of the peer the two transforms alone are timed, without the window between them. Both work from arrays to arrays, with
plans made before. ducc0 should be built for the machine: pip install --no-binary ducc0 ducc0
"""
import argparse

import ducc0
import numpy as np

import machine
import radial_shim
import zonal_shim

METHODS = [(method, precision) for precision in ("float", "double") for method in ("pixel-sum", "ring-fft")]


def random_sky(nside, lmax, threads):
    """A map of C_l = 1/(l(l+1))."""
    rng = np.random.default_rng(1)
    n_alm = (lmax + 1) * (lmax + 2) // 2
    alm = rng.normal(size=(1, 1, n_alm)) + 1j * rng.normal(size=(1, 1, n_alm))
    alm[..., :lmax + 1] = np.sqrt(2) * alm[..., :lmax + 1].real
    multiply(alm[0, 0], 1 / np.sqrt(np.maximum(1.0, np.arange(lmax + 1.0) * np.arange(1.0, lmax + 2))))
    return zonal_shim.Plan("healpix", nside, lmax=lmax, threads=threads).synthesize(alm)[0, 0]


def multiply(alm, window):
    """alm [n_alm] times window [lmax + 1], in place."""
    lmax, first = window.size - 1, 0
    for m in range(lmax + 1):
        alm[first:first + lmax + 1 - m] *= window[m:]
        first += lmax + 1 - m


class Peer:
    """ducc0's transforms of one map."""

    def __init__(self, sky, nside, lmax, threads):
        self.sky = sky[None]
        self.common = dict(lmax=lmax, spin=0, nthreads=threads,
                           **ducc0.healpix.Healpix_Base(nside, "RING").sht_info())
        complex_type = np.complex64 if sky.dtype == np.float32 else np.complex128
        self.alm = np.zeros((1, (lmax + 1) * (lmax + 2) // 2), complex_type)
        self.out = np.zeros_like(self.sky)

    def __call__(self, window=None):
        ducc0.sht.adjoint_synthesis(map=self.sky, alm=self.alm, **self.common)
        if window is not None:
            multiply(self.alm[0], 4 * np.pi / self.sky.size * window)
        ducc0.sht.synthesis(alm=self.alm, map=self.out, **self.common)
        return self.out[0]


def work_of(plan, seconds, peak):
    """peak: operations per second of the plan's precision. A complex number times a real one counts 2 multiply-adds;
    values of the kernel and FFTs are not counted."""
    counts, parts = plan.work()
    flops = 2 * (counts["row_products"] + counts["pixel_products"]) + 4 * counts["mode_products"]
    return {"work": counts, "parts_seconds": parts, "flops_of_sums": flops,
            "share_of_fma_peak": flops / seconds / peak, "sums_share_of_fma_peak": flops / parts["sums"] / peak}


def measure(options):
    nside, threads, lmax = options.nside, options.threads, 2 * options.nside
    fwhm, cut = np.radians(options.fwhm_arcmin / 60), np.radians(options.cut_arcmin / 60)
    skies = {"double": random_sky(nside, lmax, threads)}
    skies["float"] = skies["double"].astype(np.float32)
    peers = {precision: Peer(sky, nside, lmax, threads) for precision, sky in skies.items()}
    plans = {(method, precision): radial_shim.RadialPlan(nside, fwhm=fwhm, cut=cut, method=method,
                                                         single=precision == "float", threads=threads)
             for method, precision in METHODS}
    outputs = {key: np.empty_like(skies[key[1]]) for key in METHODS}
    ways = {f"{method} {precision}": lambda key=(method, precision): plans[key].convolve(skies[key[1]], outputs[key])
            for method, precision in METHODS}
    ways |= {f"ducc0 {precision}": peer for precision, peer in peers.items()}
    seconds = machine.in_turn(ways, options.runs)
    peak = zonal_shim.fma_flops(threads)
    expected = peers["double"](radial_shim.cut_gaussian_window(fwhm, cut, lmax))
    results = []
    for key in METHODS:
        method, precision = key
        ours, theirs = seconds[" ".join(key)], seconds[f"ducc0 {precision}"]
        ratios = sorted(b / a for a, b in zip(ours, theirs))
        results.append({"method": method, "precision": precision, "seconds": min(ours), "peer_seconds": min(theirs),
                        "speed_over_peer_median": ratios[len(ratios) // 2], "speed_over_peer_min": ratios[0],
                        "speed_over_peer_max": ratios[-1],
                        "difference_from_peer_rms": float((outputs[key] - expected).std() / expected.std()),
                        **work_of(plans[key], min(ours), peak * (2 if precision == "float" else 1))})
    better = {precision: max(r["speed_over_peer_median"] for r in results if r["precision"] == precision)
              for precision in peers}
    return {"lmax": lmax, "fma_peak_flops_double": peak, "better_over_peer_median": better, "results": results}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--fwhm-arcmin", type=float, default=4.7)
    parser.add_argument("--cut-arcmin", type=float, default=15)
    options, settings = machine.parse_options(parser)
    record = {"what": "sums over pixels beside ducc0's adjoint and synthesis",
              "machine": machine.describe("ducc0", "numpy"), "simd_target": zonal_shim.simd_target(),
              **settings}
    machine.write({**record, **measure(options)}, options.output)


if __name__ == "__main__":
    main()

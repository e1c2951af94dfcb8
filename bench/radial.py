"""A cut Gaussian on a HEALPix map by sums over pixels beside ducc0's adjoint and synthesis up to lmax = 2 nside, in one
process, run in turn. JSON on standard output.

    python bench/radial.py --nside 2048 --threads 2 --runs 7 --output bench/results/NAME.json

Only the peer's two transforms are timed, not the window between them. Both work from arrays to arrays, with
plans made before; `zonal-bench radial` says what the parts of a convolution take. ducc0 should be built for the machine:
pip install --no-binary ducc0 ducc0
"""

import ducc0
import numpy as np

import machine
import zonal

METHODS = [(method, precision) for precision in ("float", "double") for method in ("pixel-sum", "ring-fft")]


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
            self.alm[0] = zonal.almxfl(self.alm[0], 4 * np.pi / self.sky.size * window)
        ducc0.sht.synthesis(alm=self.alm, map=self.out, **self.common)
        return self.out[0]


def measure(options):
    nside, threads, lmax = options.nside, options.threads, 2 * options.nside
    kernel = zonal.Kernel.gaussian(f"{options.fwhm_arcmin}arcmin").truncated(f"{options.cut_arcmin}arcmin")
    grid, l = zonal.Grid.healpix(nside), np.arange(lmax + 1)
    skies = {"double": zonal.synfast(1 / np.maximum(1, l * (l + 1)), nside, seed=1, threads=threads)}
    skies["float"] = skies["double"].astype(np.float32)
    peers = {precision: Peer(sky, nside, lmax, threads) for precision, sky in skies.items()}
    plans = {(method, precision): zonal.PixelConvolution(kernel, grid, method=method, threads=threads,
                                                         precision="float32" if precision == "float" else "float64")
             for method, precision in METHODS}
    outputs = {key: np.empty_like(skies[key[1]]) for key in METHODS}
    ways = {f"{method} {precision}": lambda key=(method, precision): plans[key](skies[key[1]], outputs[key])
            for method, precision in METHODS}
    ways |= {f"ducc0 {precision}": peer for precision, peer in peers.items()}
    seconds = machine.in_turn(ways, options.runs)
    expected = peers["double"](kernel.window(lmax))
    results = []
    for key in METHODS:
        method, precision = key
        ours, theirs = seconds[" ".join(key)], seconds[f"ducc0 {precision}"]
        ratios = sorted(b / a for a, b in zip(ours, theirs))
        results.append({"method": method, "precision": precision, "seconds": min(ours), "peer_seconds": min(theirs),
                        "speed_over_peer_median": ratios[len(ratios) // 2], "speed_over_peer_min": ratios[0],
                        "speed_over_peer_max": ratios[-1],
                        "difference_from_peer_rms": float((outputs[key] - expected).std() / expected.std())})
    better = {precision: max(r["speed_over_peer_median"] for r in results if r["precision"] == precision)
              for precision in peers}
    return {"lmax": lmax, "better_over_peer_median": better, "results": results}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--fwhm-arcmin", type=float, default=4.7)
    parser.add_argument("--cut-arcmin", type=float, default=15)
    options, settings = machine.parse_options(parser)
    record = {"what": "sums over pixels beside ducc0's adjoint and synthesis",
              "machine": machine.describe("ducc0", "numpy"), "simd_target": machine.simd(),
              **settings}
    machine.write({**record, **measure(options)}, options.output)


if __name__ == "__main__":
    main()

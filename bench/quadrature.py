"""Gaussians of 1 degree and 6 arcmin at nside 2048: sums over pixels with and without pixel weights against converged
harmonic smoothing, which for a band-limited map is the window on the alm of which it is made. JSON on standard output.

    python bench/quadrature.py --nside 2048 --threads 2 --output FILE

Runs `zonal-bench radial`, which computes pixel weights where the cache has none yet (2 GB and some minutes at nside
2048), on maps of C_l = 1/(l(l+1)) up to lmax = 2 nside, and of WMAP-7's best fit up to 3726 where that is less.
"""

import machine
import programs

WMAP7_LMAX = 3726


def measure(fwhm, spectrum, weights, options):
    steep = spectrum == "1/(l(l+1))"
    lmax = 2 * options.nside if steep else min(2 * options.nside, WMAP7_LMAX)
    report = programs.report(programs.ZONAL_BENCH, "radial", "--nside", options.nside, "--lmax", lmax, "--fwhm", fwhm, "--error", "1e-7",
                      "--method", "ring-fft", "--precision", "double", "--weights", weights, "--reference", "continuous",
                      "--repeat", 1, "--threads", options.threads, *([] if steep else ["--cl", programs.WMAP7]))
    keys = ("truncation_error", "weights", "lmax", "reference_is", "rms_error", "max_error")
    return {"fwhm": fwhm, "c_l": spectrum, **{key: report[key] for key in keys}}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--fwhm", nargs="+", default=["1deg", "6arcmin"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output")
    options = parser.parse_args()
    rows = [measure(fwhm, spectrum, weights, options) for fwhm in options.fwhm for spectrum in ("1/(l(l+1))", "WMAP-7")
            for weights in ("none", "pixel")]
    machine.write({"what": "sums over pixels against the converged window", "machine": machine.describe(),
                   "nside": options.nside, "results": rows}, options.output)


if __name__ == "__main__":
    main()

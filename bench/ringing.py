"""Ringing of point sources: what the ring FFT gives beyond a kernel's support, relative to the source's peak. JSON on
standard output.

    python bench/ringing.py --nside 2048 --fwhm-arcmin 4.7 --cut-arcmin 15 --threads 2

One source at a time, at the centres of pixels from the equator to the pole; exactly 0 beyond the support in a sum over
pixels.
"""

import numpy as np

import machine
import zonal
import zonal.healpy

EQUATORIAL, CAP = "equatorial", "cap"
TYPES = {"double": np.float64, "float": np.float32}


def measure(convolution, source, precision):
    nside = convolution.grid.nside
    centre = zonal.healpy.pix2vec(nside, source)
    sky = np.zeros(convolution.grid.n_pixels, TYPES[precision])
    sky[source] = 1
    out = np.abs(convolution(sky))
    peak = out.max()
    out[zonal.healpy.query_disc(nside, centre, convolution.kernel.support * (1 + 1e-9))] = 0
    return {"precision": precision, "pixel": source, "z": float(centre[2]),
            "region": EQUATORIAL if abs(centre[2]) <= 2 / 3 else CAP, "ringing": float(out.max() / peak)}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--fwhm-arcmin", type=float, default=4.7)
    parser.add_argument("--cut-arcmin", type=float, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output")
    options = parser.parse_args()
    grid = zonal.Grid.healpix(options.nside)
    kernel = zonal.Kernel.gaussian(f"{options.fwhm_arcmin}arcmin").truncated(f"{options.cut_arcmin}arcmin")
    heights = (0.9999, 0.99, 0.9, 0.67, 0.66, 0.3, 0, -0.5, -0.95)
    rings = [int(np.searchsorted(grid.theta, np.arccos(height))) for height in heights]
    sources = [0, 5] + [int(grid.first_pixels[ring]) + 7 for ring in rings]
    rows = []
    for precision, kind in TYPES.items():
        convolution = zonal.PixelConvolution(kernel, grid, precision=np.dtype(kind).name, threads=options.threads)
        rows += [measure(convolution, source, precision) for source in sources]
    largest = {f"{precision}, {region}": max(row["ringing"] for row in rows
                                             if (row["precision"], row["region"]) == (precision, region))
               for precision in TYPES for region in (EQUATORIAL, CAP)}
    machine.write({"what": "ringing of point sources by the ring FFT", "machine": machine.describe("numpy"),
                   "nside": options.nside, "fwhm_arcmin": options.fwhm_arcmin, "cut_arcmin": options.cut_arcmin,
                   "largest": largest, "results": rows}, options.output)


if __name__ == "__main__":
    main()

"""Ringing of point sources: what the ring FFT gives beyond a kernel's support, relative to the source's peak. JSON on
standard output.

    python bench/ringing.py --nside 2048 --fwhm-arcmin 4.7 --cut-arcmin 15 --threads 2

One source at a time, at the centres of pixels from the equator to the pole; exactly 0 beyond the support in a sum over
pixels. Needs NumPy and the shim (ZONAL_SHIM).
"""
import argparse

import numpy as np

import machine
import radial_shim

EQUATORIAL, CAP = "equatorial", "cap"


def pixel_angles(nside):
    """Cosine of theta and phi of every pixel of a HEALPix ring map (Gorski et al. 2005, section 5.1)."""
    z, phi = np.empty(12 * nside**2), np.empty(12 * nside**2)
    first = 0
    for ring in range(1, 4 * nside):
        from_pole = min(ring, 4 * nside - ring)
        if from_pole < nside:
            n, height, shift = 4 * from_pole, 1 - from_pole**2 / (3 * nside**2), 0.5
            height = height if ring < 2 * nside else -height
        else:
            n, height, shift = 4 * nside, 4 / 3 - 2 * ring / (3 * nside), 0.5 * ((ring - nside) % 2 == 0)
        z[first:first + n] = height
        phi[first:first + n] = 2 * np.pi / n * (np.arange(n) + shift)
        first += n
    return z, phi


def measure(plan, z, phi, source, cut):
    sky = np.zeros(plan.n_pixels, plan.type)
    sky[source] = 1
    out = plan.convolve(sky, np.empty_like(sky))
    near = np.abs(z - z[source]) < 0.1  # cosines lose digits near 1: half chords there
    beyond = np.ones(plan.n_pixels, bool)
    theta = np.arccos(z[near])
    chord2 = np.sin((theta - np.arccos(z[source])) / 2)**2 + \
        np.sin(theta) * np.sqrt(1 - z[source]**2) * np.sin((phi[near] - phi[source]) / 2)**2
    beyond[near] = chord2 > np.sin(cut / 2)**2 * (1 + 1e-9)
    return {"pixel": int(source), "z": float(z[source]), "region": EQUATORIAL if abs(z[source]) <= 2 / 3 else CAP,
            "ringing": float(np.abs(out[beyond]).max() / np.abs(out).max())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--fwhm-arcmin", type=float, default=4.7)
    parser.add_argument("--cut-arcmin", type=float, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output")
    options = parser.parse_args()
    z, phi = pixel_angles(options.nside)
    fwhm, cut = np.radians(options.fwhm_arcmin / 60), np.radians(options.cut_arcmin / 60)
    heights = (0.9999, 0.99, 0.9, 0.67, 0.66, 0.3, 0, -0.5, -0.95)
    sources = [0, 5] + [int(np.searchsorted(-z, -height)) + 7 for height in heights]
    rows = []
    for precision in ("double", "float"):
        plan = radial_shim.RadialPlan(options.nside, fwhm=fwhm, cut=cut, method="ring-fft",
                                      single=precision == "float", threads=options.threads)
        rows += [{"precision": precision} | measure(plan, z, phi, source, cut) for source in sources]
    largest = {f"{precision}, {region}": max(row["ringing"] for row in rows
                                             if (row["precision"], row["region"]) == (precision, region))
               for precision in ("double", "float") for region in (EQUATORIAL, CAP)}
    machine.write({"what": "ringing of point sources by the ring FFT", "machine": machine.describe("numpy"),
                   "nside": options.nside, "fwhm_arcmin": options.fwhm_arcmin, "cut_arcmin": options.cut_arcmin,
                   "largest": largest, "results": rows}, options.output)


if __name__ == "__main__":
    main()

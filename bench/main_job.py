"""zonal.smooth within an error beside healpy.smoothing(iter=3) up to the same lmax, as users of Python call them, in one
process, run in turn. JSON on standard output.

    OMP_NUM_THREADS=1 python bench/main_job.py --threads 1 --output FILE

The map is I of a CMB sky (the Planck 2018 spectrum up to 3 nside - 1); the first call of each kind, which fills the
caches, is not counted. certified_over_asked is the certificate's use of the error; error is measured against
zonal.smooth within 1e-10.
"""
import argparse
import pathlib

import healpy
import numpy as np
import zonal

import machine

THEORY = pathlib.Path(__file__).resolve().parents[1] / "data" / "theory" / "planck2018_lcdm_cl_v3.fits"


def measure(nside, error, options):
    lmax, fwhm = options.lmax_over_nside * nside, options.fwhm_arcmin
    sky = zonal.synfast(healpy.read_cl(THEORY)[0][:3 * nside], nside, seed=nside)
    results = [None, None]

    def ours():
        results[0] = zonal.smooth(sky, f"{fwhm} arcmin", lmax=lmax, error=error, return_report=True)

    def theirs():
        results[1] = healpy.smoothing(sky, fwhm=np.radians(fwhm / 60), lmax=lmax, iter=3)

    runs = options.runs if nside <= 512 else max(3, options.runs // 2)
    timed = machine.paired(ours, theirs, runs)
    smoothed, (report,) = results[0]
    exact = zonal.smooth(sky, f"{fwhm} arcmin", lmax=lmax, error=1e-10, return_report=True)[0]
    return {"nside": nside, "lmax": lmax, "asked": error, **timed, "iterations": report.analysis.iterations,
            "certified_over_asked": report.certified_error / error,
            "error": float(np.sqrt(np.mean((smoothed - exact)**2) / np.mean(exact**2))),
            "error_of_peer": float(np.sqrt(np.mean((results[1] - exact)**2) / np.mean(exact**2))),
            "notes": list(report.notes)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nside", type=int, nargs="+", default=[64, 512, 1024])
    parser.add_argument("--error", type=float, nargs="+", default=[1e-3, 1e-5])
    parser.add_argument("--lmax-over-nside", type=int, default=2)
    parser.add_argument("--fwhm-arcmin", type=float, default=30)
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    zonal.threads(options.threads)
    record = {"what": "the main job beside healpy", "machine": machine.describe("healpy", "numpy"), **settings,
              "results": [measure(nside, error, options) for nside in options.nside for error in options.error]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

"""Smoothing of a HEALPix map beside healpy.smoothing, in one process, run in turn. JSON on standard output.

    OMP_NUM_THREADS=2 python bench/smoothing.py --nside 1024 --lmax 2048 --iter 3 --threads 2 --output FILE
"""
import argparse

import healpy
import numpy as np

import machine
import zonal_shim


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--lmax", type=int, default=2048)
    parser.add_argument("--iter", type=int, default=3)
    parser.add_argument("--fwhm-arcmin", type=float, default=10)
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    sky = np.random.default_rng(1).normal(size=12 * options.nside**2)
    fwhm = np.radians(options.fwhm_arcmin / 60)
    results = [None, None]

    def ours():
        results[0] = zonal_shim.smooth(sky, fwhm=fwhm, lmax=options.lmax, iterations=options.iter,
                                       threads=options.threads)

    def theirs():
        results[1] = healpy.smoothing(sky, fwhm=fwhm, lmax=options.lmax, iter=options.iter)

    record = {"what": "smoothing beside healpy", "machine": machine.describe("healpy", "numpy"),
              **settings,
              "smoothing": machine.paired(ours, theirs, options.runs)}
    record["largest_difference_over_rms"] = float(np.abs(results[0] - results[1]).max() / results[1].std())
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

"""Smoothing of a HEALPix map beside healpy.smoothing, and beside ducc0's transforms called in the same order, in one
process, run in turn. JSON on standard output.

ducc0 should be built for the machine: pip install --no-binary ducc0 ducc0

    OMP_NUM_THREADS=2 python bench/smoothing.py --nside 1024 --lmax 2048 --iter 3 --threads 2 --output FILE
"""

import ducc0
import healpy
import numpy as np

import machine
import zonal.healpy


def smooth_by_ducc0(sky, *, fwhm, lmax, iterations, threads):
    """Jacobi iterations with the quadrature weights of equal areas, as healpy's and Zonal's."""
    nside = round((sky.size / 12) ** 0.5)
    l = np.arange(lmax + 1)
    arguments = dict(ducc0.healpix.Healpix_Base(nside, "RING").sht_info(), lmax=lmax, spin=0, nthreads=threads)
    sky = sky[None]
    alm = ducc0.sht.adjoint_synthesis(map=sky, **arguments)
    alm *= 4 * np.pi / sky.size
    for _ in range(iterations):
        residual = sky - ducc0.sht.synthesis(alm=alm, **arguments)
        correction = ducc0.sht.adjoint_synthesis(map=residual, **arguments)
        correction *= 4 * np.pi / sky.size
        alm += correction
    healpy.almxfl(alm[0], np.exp(-l * (l + 1) * fwhm**2 / (16 * np.log(2))), inplace=True)
    return ducc0.sht.synthesis(alm=alm, **arguments)[0]


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--lmax", type=int, default=2048)
    parser.add_argument("--iter", type=int, default=3)
    parser.add_argument("--fwhm-arcmin", type=float, default=10)
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    sky = np.random.default_rng(1).normal(size=12 * options.nside**2)
    fwhm = np.radians(options.fwhm_arcmin / 60)
    results = [None, None]
    zonal.threads(options.threads)

    def ours():
        results[0] = zonal.healpy.smoothing(sky, fwhm=fwhm, lmax=options.lmax, iter=options.iter)

    def theirs():
        results[1] = healpy.smoothing(sky, fwhm=fwhm, lmax=options.lmax, iter=options.iter)

    def ducc0s():
        results[1] = smooth_by_ducc0(sky, fwhm=fwhm, lmax=options.lmax, iterations=options.iter, threads=options.threads)

    record = {"what": "smoothing beside healpy", "machine": machine.describe("ducc0", "healpy", "numpy"),
              **settings,
              "smoothing": machine.paired(ours, theirs, options.runs)}
    record["largest_difference_over_rms"] = float(np.abs(results[0] - results[1]).max() / results[1].std())
    record["beside_ducc0"] = machine.paired(ours, ducc0s, options.runs)
    record["largest_difference_from_ducc0_over_rms"] = float(np.abs(results[0] - results[1]).max() / results[1].std())
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

"""Transforms of random input against ducc0, on every kind of grid that both have."""
import ducc0
import numpy as np
import pytest

import zonal
from sht_peers import assert_alm_agree, assert_rings_agree, random_alm

# By ducc0's names.
GRIDS = {"GL": zonal.Grid.gauss_legendre, "CC": zonal.Grid.clenshaw_curtis, "F1": zonal.Grid.fejer1, "F2": zonal.Grid.fejer2}


@pytest.mark.parametrize("nside, lmax, mmax, threads", [
    (1, 3, 3, 1), (1, 10, 10, 2), (2, 4, 0, 1), (16, 32, 32, 1), (16, 47, 20, 2), (5, 12, 12, 1), (64, 128, 128, 2),
    (64, 191, 100, 1), (128, 256, 256, 2), (32, 300, 300, 2), (512, 300, 300, 2)])
@pytest.mark.parametrize("spin", [0, 1, 2, 3])
def test_healpix(nside, lmax, mmax, spin, threads):
    rings = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    arguments = dict(lmax=lmax, mmax=mmax, spin=spin, nthreads=threads, **rings)
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, mmax, spin, threads)
    theta, n_phi = rings["theta"], rings["nphi"].astype(int)

    alm = random_alm(lmax, mmax, spin, seed=nside + spin)
    theirs = ducc0.sht.synthesis(alm=alm, **arguments)
    ring_of_pixel = np.repeat(np.arange(theta.size), n_phi)
    assert_rings_agree(sht.synthesize(alm), theirs, ring_of_pixel, theta, lmax)

    noise = np.random.default_rng(spin).normal(size=theirs.shape)
    theirs = ducc0.sht.adjoint_synthesis(map=noise, **arguments)
    assert_alm_agree(sht.adjoint(noise), theirs, n_phi, theta, lmax)


@pytest.mark.parametrize("kind, rings, n_phi, lmax, mmax", [
    ("GL", 33, 66, 32, 32), ("GL", 33, 17, 32, 20), ("GL", 257, 514, 256, 256), ("CC", 65, 65, 32, 32),
    ("CC", 40, 30, 32, 10), ("F1", 65, 65, 32, 32), ("F2", 66, 71, 32, 32), ("CC", 401, 402, 200, 200)])
@pytest.mark.parametrize("spin", [0, 1, 2, 5])
def test_rings_of_equal_length(kind, rings, n_phi, lmax, mmax, spin):
    grid = GRIDS[kind](rings, n_phi)
    sht = zonal.SHT(grid, lmax, mmax, spin)
    arguments = dict(lmax=lmax, mmax=mmax, spin=spin, geometry=kind)
    shape = (1 if spin == 0 else 2, rings, n_phi)

    alm = random_alm(lmax, mmax, spin, seed=rings + spin)
    theirs = ducc0.sht.synthesis_2d(alm=alm, ntheta=rings, nphi=n_phi, **arguments).reshape(shape[0], -1)
    ring_of_pixel = np.repeat(np.arange(rings), n_phi)
    assert_rings_agree(sht.synthesize(alm), theirs, ring_of_pixel, grid.theta, lmax)

    noise = np.random.default_rng(spin).normal(size=shape)
    theirs = ducc0.sht.adjoint_synthesis_2d(map=noise, **arguments)
    assert_alm_agree(sht.adjoint(noise.reshape(shape[0], -1)), theirs, np.full(rings, n_phi), grid.theta, lmax)


@pytest.mark.parametrize("grid, lmax", [
    (zonal.Grid.octahedral(32), 31), (zonal.Grid.octahedral(32), 63), (zonal.Grid.octahedral(64), 63),
    (zonal.Grid.reduced_gaussian([18, 25, 36, 40, 45, 45, 40, 36, 25, 18]), 12),
    (zonal.Grid.reduced_gauss_legendre(65, 64, 3), 64), (zonal.Grid.reduced_gauss_legendre(150, 127), 127)], ids=repr)
@pytest.mark.parametrize("spin", [0, 1, 2, 3])
def test_reduced_gaussian(grid, lmax, spin):
    """Rings of Gauss-Legendre from numpy, and ducc0's sums over them."""
    sizes = grid.ring_sizes
    theta = np.arccos(np.polynomial.legendre.leggauss(grid.n_rings)[0][::-1])
    arguments = dict(lmax=lmax, spin=spin, theta=theta, nphi=sizes.astype(np.uint64), phi0=np.zeros(theta.size),
                     ringstart=(np.cumsum(sizes) - sizes).astype(np.uint64))
    sht = zonal.SHT(grid, lmax, spin=spin)
    alm = random_alm(lmax, lmax, spin, seed=spin)
    theirs = ducc0.sht.synthesis(alm=alm, **arguments)
    # arccos moves theta by eps, and the phase with it.
    assert_rings_agree(sht.synthesize(alm), theirs, np.repeat(np.arange(theta.size), sizes), theta, lmax)

    noise = np.random.default_rng(spin).normal(size=theirs.shape)
    assert_alm_agree(sht.adjoint(noise), ducc0.sht.adjoint_synthesis(map=noise, **arguments), sizes, theta, lmax)


def test_exact_analysis_is_that_of_ducc0():
    lmax = 100
    for kind, rings in (("GL", lmax + 1), ("CC", 2 * lmax + 1), ("F1", 2 * lmax + 1), ("F2", 2 * lmax + 1)):
        for spin in (0, 2):
            sht = zonal.SHT(GRIDS[kind](rings, 2 * lmax + 2), lmax, spin=spin)
            alm = random_alm(lmax, lmax, spin, seed=spin)
            sky = sht.synthesize(alm)
            theirs = ducc0.sht.analysis_2d(map=sky.reshape(alm.shape[0], rings, -1), lmax=lmax, spin=spin,
                                           geometry=kind)
            ours = sht.analyze(sky, iterations=0)
            # ducc0 resamples equidistant rings in theta first; both round trips end within rounding of alm.
            assert abs(ours - alm).max() <= 2e-13
            assert abs(theirs - alm).max() <= 2e-12


def test_batches_and_single_precision():
    nside, lmax = 32, 64
    rings = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    for spin in (0, 2):
        sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, spin=spin)
        double = np.stack([random_alm(lmax, lmax, spin, seed) for seed in range(5)])
        for alm in (double, double.astype(np.complex64)):
            single = alm.dtype == np.complex64
            ours = sht.synthesize(alm if spin else alm[:, 0]).reshape(*alm.shape[:2], -1)
            assert ours.dtype == (np.float32 if single else np.float64)
            for one, sky in zip(alm, ours):
                theirs = ducc0.sht.synthesis(alm=one.astype(complex), lmax=lmax, spin=spin, **rings)
                # Half a unit in the last place of float, of values up to 5 rms.
                bound = 5 * np.finfo(np.float32).eps / 2 if single else 1e-12
                assert abs(sky - theirs).max() / theirs.std() <= bound

"""Transforms of random input against ducc0, on every kind of grid that both have."""
from functools import partial

import ducc0
import numpy as np
import pytest

import zonal
from sht_peers import assert_alm_agree, assert_rings_agree, random_alm

# By ducc0's names.
GRIDS = {"GL": zonal.Grid.gauss_legendre, "CC": zonal.Grid.clenshaw_curtis, "F1": zonal.Grid.fejer1, "F2": zonal.Grid.fejer2,
         "DH": zonal.Grid.driscoll_healy, "MW": zonal.Grid.mcewen_wiaux, "MWflip": partial(zonal.Grid.mcewen_wiaux, flipped=True)}


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


@pytest.mark.parametrize("kind, rings, lmax, theirs_lmax", [
    ("GL", 101, 100, 100), ("CC", 102, 100, 100), ("F1", 101, 100, 100), ("F1", 202, 201, 201),
    ("MW", 101, 100, 100), ("MWflip", 64, 63, 63), ("F2", 101, 100, 50), ("DH", 100, 99, 49), ("DH", 101, 100, 49)])
@pytest.mark.parametrize("spin", [0, 1, 2, 3])
def test_exact_analysis_is_that_of_ducc0(kind, rings, lmax, theirs_lmax, spin):
    """On second Fejer and Driscoll-Healy rings theirs ends at half of the lmax, where noise has other coefficients."""
    grid = GRIDS[kind](rings, 2 * lmax + 2)
    assert grid.exact_lmax == lmax
    sht = zonal.SHT(grid, lmax, spin=spin)
    alm = random_alm(lmax, lmax, spin, seed=spin)
    ours, report = sht.analyze(sht.synthesize(alm), return_report=True)
    assert report.exact and report.invertible and report.note == ""
    assert abs(ours - alm).max() <= 1e-12
    # Their answer is exact to a few times that.
    noise = np.random.default_rng(spin).normal(size=(alm.shape[0], rings, 2 * lmax + 2))
    if theirs_lmax < lmax:
        sht, noise = zonal.SHT(grid, theirs_lmax, spin=spin), noise * 0
        alm = random_alm(theirs_lmax, theirs_lmax, spin, seed=spin)
        noise[:] = sht.synthesize(alm).reshape(noise.shape)
    theirs = ducc0.sht.analysis_2d(map=noise, lmax=theirs_lmax, spin=spin, geometry=kind)
    assert abs(sht.analyze(noise.reshape(alm.shape[0], -1)) - theirs).max() <= 2e-12


@pytest.mark.parametrize("kind", ["CC", "F1", "MW"])
@pytest.mark.parametrize("spin", [0, 2])
def test_its_transpose_is_that_of_ducc0(kind, spin):
    rings, lmax = 42, 40
    grid = GRIDS[kind](rings, 2 * lmax + 2)
    alm = random_alm(lmax, lmax, spin, seed=spin)
    theirs = ducc0.sht.adjoint_analysis_2d(alm=alm, lmax=lmax, spin=spin, geometry=kind, ntheta=rings, nphi=2 * lmax + 2)
    ours = zonal.SHT(grid, lmax, spin=spin).adjoint_analysis(alm)
    # Each value is a sum of 40 x 81 rounded terms.
    assert abs(ours.reshape(theirs.shape) - theirs).max() <= 1e-13 * abs(theirs).max()


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

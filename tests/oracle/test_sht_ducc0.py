"""Transforms of random input against ducc0, on every kind of grid that both have."""
import ducc0
import numpy as np
import pytest

from sht_peers import assert_alm_agree, assert_rings_agree, n_alm, random_alm, zonal_shim

GEOMETRIES = {"gauss": "GL", "cc": "CC", "fejer1": "F1", "fejer2": "F2"}


def m_start(lmax, mmax):
    m = np.arange(mmax + 1)
    return (m * (2 * lmax + 1 - m) // 2).astype(np.uint64)


@pytest.mark.parametrize("nside, lmax, mmax, threads", [
    (1, 3, 3, 1), (1, 10, 10, 2), (2, 4, 0, 1), (16, 32, 32, 1), (16, 47, 20, 2), (5, 12, 12, 1), (64, 128, 128, 2),
    (64, 191, 100, 1), (128, 256, 256, 2), (32, 300, 300, 2), (512, 300, 300, 2)])
@pytest.mark.parametrize("spin", [0, 1, 2, 3])
def test_healpix(nside, lmax, mmax, spin, threads):
    rings = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    arguments = dict(lmax=lmax, mmax=mmax, spin=spin, nthreads=threads, mstart=m_start(lmax, mmax), **rings)
    plan = zonal_shim.Plan("healpix", nside, lmax=lmax, mmax=mmax, spin=spin, threads=threads)
    theta, n_phi = rings["theta"], rings["nphi"].astype(int)

    alm = random_alm(lmax, mmax, spin, seed=nside + spin)
    theirs = ducc0.sht.synthesis(alm=alm, **arguments)
    ring_of_pixel = np.repeat(np.arange(theta.size), n_phi)
    assert_rings_agree(plan.synthesize(alm[None])[0], theirs, ring_of_pixel, theta, lmax)

    noise = np.random.default_rng(spin).normal(size=theirs.shape)
    theirs = ducc0.sht.adjoint_synthesis(map=noise, **arguments)
    assert_alm_agree(plan.adjoint(noise[None])[0], theirs, n_phi, theta, lmax)


@pytest.mark.parametrize("kind, rings, n_phi, lmax, mmax", [
    ("gauss", 33, 66, 32, 32), ("gauss", 33, 17, 32, 20), ("gauss", 257, 514, 256, 256), ("cc", 65, 65, 32, 32),
    ("cc", 40, 30, 32, 10), ("fejer1", 65, 65, 32, 32), ("fejer2", 66, 71, 32, 32), ("cc", 401, 402, 200, 200)])
@pytest.mark.parametrize("spin", [0, 1, 2, 5])
def test_rings_of_equal_length(kind, rings, n_phi, lmax, mmax, spin):
    plan = zonal_shim.Plan(kind, rings, n_phi, lmax=lmax, mmax=mmax, spin=spin)
    theta = np.arctan2(*plan.rings()[::-1])
    arguments = dict(lmax=lmax, mmax=mmax, spin=spin, mstart=m_start(lmax, mmax), geometry=GEOMETRIES[kind])
    shape = (1 if spin == 0 else 2, rings, n_phi)

    alm = random_alm(lmax, mmax, spin, seed=rings + spin)
    theirs = ducc0.sht.synthesis_2d(alm=alm, ntheta=rings, nphi=n_phi, **arguments).reshape(shape[0], -1)
    ring_of_pixel = np.repeat(np.arange(rings), n_phi)
    assert_rings_agree(plan.synthesize(alm[None])[0], theirs, ring_of_pixel, theta, lmax)

    noise = np.random.default_rng(spin).normal(size=shape)
    theirs = ducc0.sht.adjoint_synthesis_2d(map=noise, **arguments)
    ours = plan.adjoint(noise.reshape(1, shape[0], -1))[0]
    assert_alm_agree(ours, theirs, np.full(rings, n_phi), theta, lmax)


def test_exact_analysis_is_that_of_ducc0():
    lmax = 100
    for kind, rings in (("gauss", lmax + 1), ("cc", 2 * lmax + 1), ("fejer1", 2 * lmax + 1), ("fejer2", 2 * lmax + 1)):
        for spin in (0, 2):
            plan = zonal_shim.Plan(kind, rings, 2 * lmax + 2, lmax=lmax, spin=spin)
            alm = random_alm(lmax, lmax, spin, seed=spin)
            sky = plan.synthesize(alm[None])
            theirs = ducc0.sht.analysis_2d(map=sky[0].reshape(alm.shape[0], rings, -1), lmax=lmax, spin=spin,
                                           geometry=GEOMETRIES[kind])
            ours = plan.adjoint(sky, weighted=True)[0]
            # ducc0 resamples equidistant rings in theta first; both round trips end within rounding of alm.
            assert abs(ours - alm).max() <= 2e-13
            assert abs(theirs - alm).max() <= 2e-12


def test_batches_and_single_precision():
    nside, lmax = 32, 64
    rings = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    for spin in (0, 2):
        plan = zonal_shim.Plan("healpix", nside, lmax=lmax, spin=spin)
        alm = np.stack([random_alm(lmax, lmax, spin, seed) for seed in range(5)])
        for alm in (alm, alm.astype(np.complex64)):
            single = alm.dtype == np.complex64
            ours = plan.synthesize(alm)
            assert ours.dtype == (np.float32 if single else np.float64)
            for one, sky in zip(alm, ours):
                theirs = ducc0.sht.synthesis(alm=one.astype(complex), lmax=lmax, spin=spin, **rings)
                # Half a unit in the last place of float, of values up to 5 rms.
                bound = 5 * np.finfo(np.float32).eps / 2 if single else 1e-12
                assert abs(sky - theirs).max() / theirs.std() <= bound


def test_alm_size():
    assert zonal_shim.Plan("healpix", 2, lmax=7, mmax=3).n_alm == n_alm(7, 3) == 26

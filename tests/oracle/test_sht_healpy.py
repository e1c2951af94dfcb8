"""Transforms of random input against healpy: intensity and polarisation, and any spin."""
import healpy
import numpy as np
import pytest

import zonal
from sht_peers import assert_alm_agree, assert_rings_agree, random_alm


def rings_of(nside):
    """theta [n_rings], ring of every pixel."""
    ring_of_pixel = healpy.pix2ring(nside, np.arange(12 * nside ** 2)) - 1
    theta = healpy.pix2ang(nside, np.arange(12 * nside ** 2))[0]
    return theta[np.searchsorted(ring_of_pixel, np.arange(4 * nside - 1))], ring_of_pixel


@pytest.mark.parametrize("nside, lmax, mmax", [(64, 128, 128), (128, 383, 383), (256, 512, 512), (64, 100, 30)])
def test_intensity_and_polarisation(nside, lmax, mmax):
    theta, ring_of_pixel = rings_of(nside)
    n_phi = np.bincount(ring_of_pixel)
    t, (e, b) = random_alm(lmax, mmax, 0, 1)[0], random_alm(lmax, mmax, 2, 2)
    maps = healpy.alm2map([t, e, b], nside, lmax=lmax, mmax=mmax, pol=True)
    grid = zonal.Grid.healpix(nside)
    intensity, polarisation = (zonal.SHT(grid, lmax, mmax, spin, threads=2) for spin in (0, 2))
    assert_rings_agree(intensity.synthesize(t[None]), maps[:1], ring_of_pixel, theta, lmax)
    assert_rings_agree(polarisation.synthesize(np.array([e, b])), maps[1:], ring_of_pixel, theta, lmax)

    noise = np.random.default_rng(3).normal(size=(3, 12 * nside ** 2))
    theirs = healpy.map2alm(noise, lmax=lmax, mmax=mmax, iter=0, pol=True)
    assert_alm_agree(intensity.analyze(noise[:1], iterations=0), theirs[:1], n_phi, theta, lmax)
    assert_alm_agree(polarisation.analyze(noise[1:], iterations=0), theirs[1:], n_phi, theta, lmax)


@pytest.mark.parametrize("spin", [1, 2, 3, 4])
def test_any_spin(spin):
    nside, lmax = 32, 80
    theta, ring_of_pixel = rings_of(nside)
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, spin=spin)
    alm = random_alm(lmax, lmax, spin, spin)
    maps = np.array(healpy.alm2map_spin(list(alm), nside, spin, lmax))
    assert_rings_agree(sht.synthesize(alm), maps, ring_of_pixel, theta, lmax)
    theirs = np.array(healpy.map2alm_spin(list(maps), spin, lmax))
    ours = sht.analyze(maps, iterations=0)
    assert_alm_agree(ours, theirs, np.bincount(ring_of_pixel), theta, lmax)


def test_gradient_is_healpys_derivative():
    nside, lmax = 64, 128
    alm = random_alm(lmax, lmax, 0, 1)[0]
    theta, ring_of_pixel = rings_of(nside)
    _, d_theta, d_phi = healpy.alm2map_der1(alm, nside)
    l = np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)])
    gradient = np.sqrt(l * (l + 1)) * alm
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, spin=1)
    ours = sht.synthesize(np.array([gradient, 0 * gradient]))
    assert_rings_agree(ours, np.array([d_theta, d_phi]), ring_of_pixel, theta, lmax)

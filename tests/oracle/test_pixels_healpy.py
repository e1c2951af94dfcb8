"""Numbers and centres of pixels against healpy."""
import healpy
import numpy as np
import pytest

import zonal.healpy
from pixel_cases import SIDES, directions, pixels

EPS = np.finfo(float).eps


@pytest.mark.parametrize("nside, nest", SIDES)
def test_pixels_of_directions(nside, nest):
    # At nside 2^29 rounding decides for one direction in 10^6.
    theta, phi = directions(20000)
    np.testing.assert_array_equal(zonal.healpy.ang2pix(nside, theta, phi, nest), healpy.ang2pix(nside, theta, phi, nest))
    x, y, z = 3 * healpy.ang2vec(theta, phi).T
    np.testing.assert_array_equal(zonal.healpy.vec2pix(nside, x, y, z, nest), healpy.vec2pix(nside, x, y, z, nest))


@pytest.mark.parametrize("nside, nest", SIDES)
def test_poles_and_whole_turns(nside, nest):
    theta, phi = np.meshgrid([0, np.pi], np.array([0.1, 1.6, 3.2, 4.8]) + 2 * np.pi * np.arange(-2, 3)[:, None])
    theta, phi = theta.ravel(), phi.ravel()
    np.testing.assert_array_equal(zonal.healpy.ang2pix(nside, theta, phi, nest), healpy.ang2pix(nside, theta, phi, nest))


@pytest.mark.parametrize("nside, nest", SIDES)
def test_centres(nside, nest):
    wanted = pixels(nside)
    theta, phi = zonal.healpy.pix2ang(nside, wanted, nest)
    their_theta, their_phi = healpy.pix2ang(nside, wanted, nest)
    # A few roundings on either side, in healpy of cos theta: eps / sin theta.
    np.testing.assert_array_less(np.abs(theta - their_theta), 8 * EPS * (theta + 1 / np.sin(theta)))
    np.testing.assert_allclose(phi, their_phi, rtol=8 * EPS, atol=0)
    ours, theirs = zonal.healpy.pix2vec(nside, wanted, nest), healpy.pix2vec(nside, wanted, nest)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=16 * EPS)


@pytest.mark.parametrize("nside", [nside for nside, nest in SIDES if nest])
def test_reordering(nside):
    wanted = pixels(nside)
    np.testing.assert_array_equal(zonal.healpy.ring2nest(nside, wanted), healpy.ring2nest(nside, wanted))
    np.testing.assert_array_equal(zonal.healpy.nest2ring(nside, wanted), healpy.nest2ring(nside, wanted))

"""Neighbours of pixels and values between them against healpy."""
import healpy
import numpy as np
import pytest

import zonal.healpy
from pixel_cases import SIDES, directions, pixels

EPS = np.finfo(float).eps


@pytest.mark.parametrize("nside, nest", SIDES)
def test_neighbours(nside, nest):
    wanted = pixels(nside)
    np.testing.assert_array_equal(zonal.healpy.get_all_neighbours(nside, wanted, nest=nest),
                                  healpy.get_all_neighbours(nside, wanted, nest=nest))


@pytest.mark.parametrize("nside, nest", SIDES)
def test_weights(nside, nest):
    theta, phi = directions(20000)
    ours, our_weights = zonal.healpy.get_interp_weights(nside, theta, phi, nest=nest)
    theirs, their_weights = healpy.get_interp_weights(nside, theta, phi, nest=nest)
    order, their_order = np.argsort(ours, axis=0), np.argsort(theirs, axis=0)
    np.testing.assert_array_equal(np.take_along_axis(ours, order, 0), np.take_along_axis(theirs, their_order, 0))
    # Angles up to 4 pi with a few roundings on either side, over the distance of pixels, about 1 / nside.
    np.testing.assert_allclose(np.take_along_axis(our_weights, order, 0),
                               np.take_along_axis(their_weights, their_order, 0), rtol=0, atol=64 * EPS * nside)


@pytest.mark.parametrize("nside, nest", [case for case in SIDES if case[0] <= 1024])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_values(nside, nest, kind):
    sky = np.random.default_rng(5).normal(size=12 * nside**2).astype(kind)
    theta, phi = directions(20000)
    np.testing.assert_allclose(zonal.healpy.get_interp_val(sky, theta, phi, nest=nest),
                               healpy.get_interp_val(sky, theta, phi, nest=nest), rtol=0, atol=8 * 64 * EPS * nside)

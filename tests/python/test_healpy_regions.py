"""Strips and discs whose bounds meet the centres of pixels, against healpy: they tile the sky."""

import itertools

import healpy
import numpy as np
import pytest

import zonal.healpy as hp

POLES = [0.0, np.pi]
SPECIAL = [np.pi / 2, np.arccos(2 / 3), np.arccos(-2 / 3), np.pi / 3, np.pi / 4, 3 * np.pi / 4]


def colatitudes_of(nside):
    """Of all rings, as three ways to compute them round them."""
    starts, _, z, *_ = hp.ringinfo(nside, np.arange(1, 4 * nside))
    return np.concatenate([np.arccos(z), healpy.pix2ang(nside, starts)[0], np.radians(90 - healpy.pix2ang(nside, starts, lonlat=True)[1])])


@pytest.mark.parametrize("nside", [1, 2, 4, 16, 64])
def test_strips_that_end_on_rings_are_those_of_healpy(rng, nside):
    bounds = np.concatenate([colatitudes_of(nside), POLES, SPECIAL])
    for theta1, theta2 in [*rng.choice(bounds, (200, 2)), *rng.uniform(0, np.pi, (50, 2)), (0.3, 0.3), (np.pi, 0), (0, 0), (np.pi, np.pi)]:
        for options in ({}, {"return_ranges": True}, {"nest": True}):
            found, expected = (module.query_strip(nside, theta1, theta2, **options) for module in (hp, healpy))
            assert found.dtype == expected.dtype and found.shape == expected.shape
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("nside", [1, 2, 7, 32, 1000])
def test_strips_tile_the_sky(nside):
    bounds = np.unique(np.concatenate([colatitudes_of(nside)[::3], POLES, SPECIAL]))
    runs = [hp.query_strip(nside, *pair, return_ranges=True) for pair in zip(bounds, bounds[1:])]
    runs = np.concatenate([run for run in runs if run.size])
    assert runs[0, 0] == 0 and runs[-1, 1] == 12 * nside**2
    np.testing.assert_array_equal(runs[1:, 0], runs[:-1, 1])


def test_a_strip_and_the_rest_are_the_sky():
    for nside in (3, 8):
        for theta1, theta2 in ((0.3, 1.2), (np.pi / 2, np.pi), (np.arccos(2 / 3), np.pi / 2)):
            inside, outside = hp.query_strip(nside, theta1, theta2), hp.query_strip(nside, theta2, theta1)
            np.testing.assert_array_equal(np.sort(np.append(inside, outside)), np.arange(12 * nside**2))
    for nest in (False, True):
        ranges = hp.query_strip(8, 0.4, 1.1, nest=nest, return_ranges=True)
        pixels = np.concatenate([np.arange(*run) for run in ranges])
        np.testing.assert_array_equal(pixels, np.sort(hp.query_strip(8, 0.4, 1.1, nest=nest)))


@pytest.mark.parametrize("nside", [1, 4, 16])
def test_bounds_beyond_the_poles_are_those_of_healpy(nside):
    angles = (0.0, 0.3, 1.2, 3, np.float32(np.pi), np.pi, np.pi + 9e-6, 3.2, 4.0, 10, 20, 30, 80, 90, -1e-3, -0.5)
    for theta1, theta2 in itertools.product(angles, angles):
        np.testing.assert_array_equal(hp.query_strip(nside, theta1, theta2), healpy.query_strip(nside, theta1, theta2))
    with pytest.raises(ValueError, match="theta1 = nan: must be a finite angle"):
        hp.query_strip(nside, np.nan, 1.0)


# With many planes through the centres of pixels, and poles and points of the equator among them.
MIDDLES = [np.array(v) for v in itertools.product((-1, 0, 1, 2), repeat=3) if any(v)]


def planes_through_pixels(rng, nside, n=20):
    """Poles of great circles through two pixels each, [n, 3]."""
    one, other = (np.stack(hp.pix2vec(nside, rng.integers(0, 12 * nside**2, n)), -1) for _ in range(2))
    poles = np.cross(one, other)
    return list(poles[np.linalg.norm(poles, axis=1) > 1e-3])


@pytest.mark.parametrize("nest", [False, True])
@pytest.mark.parametrize("nside", [1, 2, 4, 16, 32])
def test_opposite_hemispheres_tile_the_sky(rng, nside, nest):
    for middle in MIDDLES + planes_through_pixels(rng, nside):
        north, south = (hp.query_disc(nside, sign * middle, np.pi / 2, nest=nest) for sign in (1, -1))
        np.testing.assert_array_equal(np.sort(np.concatenate([north, south])), np.arange(12 * nside**2))
        ranges = hp.query_disc(nside, middle, np.pi / 2, nest=nest, return_ranges=True)
        np.testing.assert_array_equal(np.concatenate([np.arange(*run) for run in ranges]), north)
        if nest:
            np.testing.assert_array_equal(np.sort(hp.nest2ring(nside, north)), hp.query_disc(nside, middle, np.pi / 2))


@pytest.mark.parametrize("nside", [1, 2, 4, 7, 16, 32])
def test_hemispheres_are_those_of_healpy_where_its_own_tile_the_sky(nside):
    same = 0
    for middle in MIDDLES:
        expected, opposite = (healpy.query_disc(nside, sign * middle, np.pi / 2) for sign in (1, -1))
        if np.array_equal(np.sort(np.append(expected, opposite)), np.arange(12 * nside**2)):  # else it is off by rounding
            np.testing.assert_array_equal(hp.query_disc(nside, middle, np.pi / 2), expected)
            same += 1
    assert same > 0.7 * len(MIDDLES)


def discs_through_pixels(rng, nside, n=40):
    """Middles and radii of discs around pixels and others, whose rims run through pixels: [n] pairs."""
    around = [*np.stack(hp.pix2vec(nside, rng.integers(0, 12 * nside**2, n)), -1), *rng.normal(size=(n, 3)), *MIDDLES]
    through = np.stack(hp.pix2vec(nside, rng.integers(0, 12 * nside**2, len(around))), -1)
    return [(middle, hp.rotator.angdist(middle, pixel).item()) for middle, pixel in zip(around, through)]


@pytest.mark.parametrize("nest", [False, True])
@pytest.mark.parametrize("nside", [1, 2, 8, 64])
def test_a_disc_and_the_opposite_one_tile_the_sky(rng, nside, nest):
    for middle, radius in [*discs_through_pixels(rng, nside), *((m, r) for m in MIDDLES[::9] for r in (0, 1.0, np.pi))]:
        inside = hp.query_disc(nside, middle, radius, nest=nest)
        outside = hp.query_disc(nside, -np.asarray(middle), np.pi - radius, nest=nest)
        np.testing.assert_array_equal(np.sort(np.concatenate([inside, outside])), np.arange(12 * nside**2))


@pytest.mark.parametrize("nside", [1, 2, 3, 8, 64])
def test_discs_have_the_pixels_inside_and_are_those_of_healpy_without_centres_on_the_rim(rng, nside):
    """On a rim, rounding decides in healpy which centres count, and whether a ring beside it does."""
    centres = np.array(hp.pix2vec(nside, np.arange(12 * nside**2)))
    for middle, radius in discs_through_pixels(rng, nside):
        found = np.isin(np.arange(12 * nside**2), hp.query_disc(nside, middle, radius))
        away = hp.rotator.angdist(centres, middle) - radius
        on_rim = np.abs(away) < 1e-13
        assert on_rim.any()
        np.testing.assert_array_equal(found[~on_rim], away[~on_rim] < 0)
    for middle, radius in zip(rng.normal(size=(100, 3)), np.pi * rng.uniform(size=100)**2):
        for options in ({}, {"nest": True} if nside & (nside - 1) == 0 else {}):
            found, expected = (module.query_disc(nside, middle, radius, **options) for module in (hp, healpy))
            np.testing.assert_array_equal(found, np.sort(expected))


def test_discs_without_extent_or_without_limit_are_those_of_healpy(rng):
    for nside in (1, 4, 16):
        for middle in [*np.stack(hp.pix2vec(nside, rng.integers(0, 12 * nside**2, 20)), -1), *MIDDLES[::5]]:
            for radius in (0, np.pi, 4.0):
                found, expected = (module.query_disc(nside, middle, radius) for module in (hp, healpy))
                if radius == np.pi:  # one pixel may lie on the rim, where healpy's rounding decides
                    assert found.size == 12 * nside**2
                else:
                    np.testing.assert_array_equal(found, expected)


def test_a_hemisphere_may_come_in_any_form():
    wanted = hp.query_disc(8, [1, 0, 0], np.pi / 2)
    for form in ((1, 0, 0), np.array([2.0, 0, 0]), np.array([1, 0, 0], np.float32)):
        np.testing.assert_array_equal(hp.query_disc(8.0, form, np.float64(np.pi / 2)), wanted)
    buffer = np.zeros(999, np.int64)
    assert np.shares_memory(hp.query_disc(8, [1, 0, 0], np.pi / 2, buff=buffer), buffer)
    assert set(wanted) < set(hp.query_disc(8, [1, 0, 0], np.pi / 2, inclusive=True))
    for call, match in ((lambda: hp.query_disc(7, [1, 0, 0], np.pi / 2, nest=True), "nside = 7"),
                        (lambda: hp.query_disc(8, [0, 0, 0], np.pi / 2), "vector"), (lambda: hp.query_disc(8, [1, 0], np.pi / 2), "vec")):
        with pytest.raises(ValueError, match=match):
            call()

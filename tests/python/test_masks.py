"""Distances, smooth edges, holes and moments of masks, against all pairs, healpy and formulas."""

import healpy
import numpy as np
import pytest

import zonal
import zonal.healpy as hp
from zonal import masks

EPS = np.finfo(float).eps
RNG = np.random.default_rng(20261128)


def discs(nside, n, seed):
    """1, and 0 in discs of up to 10 degrees."""
    random = np.random.default_rng(seed)
    mask = np.ones(12 * nside**2)
    for _ in range(n):
        middle = hp.pix2vec(nside, random.integers(mask.size))
        mask[hp.query_disc(nside, middle, np.radians(10) * random.random() + 1 / nside)] = 0
    return mask


def bent(nside=16):
    theta, phi = zonal.Grid.healpix(nside).angles()
    return np.sin(np.pi / 2 * np.clip((np.cos(theta) + 0.3 + 0.2 * np.cos(2 * phi)) / 0.5, 0, 1)) ** 2


# Squares of chords are exact to a few eps, and asin multiplies that by 7 at most up to 161 degrees.
@pytest.mark.parametrize(("nside", "n"), [(64, 5), (64, 40), (5, 2), (24, 3)])
def test_distances_are_those_of_all_pairs(nside, n):
    mask = discs(nside, n, n)
    vectors = np.array(hp.pix2vec(nside, np.arange(mask.size)))
    expected = np.empty(mask.size)
    for first in range(0, mask.size, 256):
        part = vectors[:, first:first + 256]
        squares = sum((a[:, None] - b[mask == 0]) ** 2 for a, b in zip(part, vectors))
        sums = sum((a[:, None] + b[mask == 0]) ** 2 for a, b in zip(part, vectors))
        expected[first:first + 256] = 2 * np.arctan2(np.sqrt(squares.min(1)), np.sqrt(sums.max(1)))
    assert np.abs(masks.distance(mask) - expected).max() <= 20 * EPS


def test_reference_values():
    """From other programs, with the digits that they were noted with."""
    mask = bent()
    d = masks.distance(mask)
    assert np.count_nonzero(mask) == 1998
    assert abs(d.max() - 1.653644053549) < 1e-12 and abs(d[mask > 0].mean() - .697734592420) < 1e-12
    assert abs(masks.apodize(mask > 0, "10deg", "sine").mean() - .621007983590) < 1e-12


@pytest.mark.parametrize("nside", [1, 16, 64])
def test_healpy_has_the_same_distances(nside):
    holes = 1 - discs(nside, 6, 2)
    assert np.abs(hp.dist2holes(holes) - healpy.dist2holes(holes)).max() <= 20 * EPS
    assert np.abs(hp.dist2holes(holes) - masks.distance(1 - holes)).max() == 0


SCATTERED = np.where(RNG.random(12 * 16**2) < 0.06, 3.0, 0.0)


@pytest.mark.parametrize("options", [
    {}, {"maxdist": 0.1}, {"maxdist": 0}, {"hole_min_size": 2}, {"hole_min_size": 0}, {"hole_min_size": 5, "maxdist": 0.3},
    {"hole_min_surf_arcmin2": 5e4}, {"hole_min_surf_arcmin2": 0.0}, {"hole_min_size": 2, "hole_min_surf_arcmin2": 1e5},
    {"hole_min_size": 100000}], ids=repr)
def test_healpys_keywords_mean_the_same(options):
    found, expected = hp.dist2holes(SCATTERED, **options), healpy.dist2holes(SCATTERED, **options)
    assert found.dtype == expected.dtype and np.abs(found - expected).max() <= 20 * EPS


@pytest.mark.parametrize("mask", [
    SCATTERED > 0, SCATTERED.astype(int), SCATTERED.astype(np.float32), list(SCATTERED), np.zeros(48), np.ones(48),
    np.where(SCATTERED > 0, hp.UNSEEN, 0), np.where(SCATTERED > 0, np.nan, 0),
    np.ma.MaskedArray(np.zeros(3072), np.arange(3072) < 10)], ids=lambda mask: type(mask).__name__)
def test_healpys_masks_mean_the_same(mask):
    assert np.abs(hp.dist2holes(mask) - healpy.dist2holes(mask)).max() <= 20 * EPS


@pytest.mark.parametrize("options", [{}, {"min_size": 2}, {"min_size": 5}, {"min_area_arcmin2": 5e4}, {"min_size": 2, "min_area_arcmin2": 1e5}], ids=repr)
@pytest.mark.parametrize("mask", [SCATTERED > 0, SCATTERED, SCATTERED.astype(np.int16),
                                  np.ma.MaskedArray(np.zeros(3072), SCATTERED > 0)], ids=lambda mask: str(mask.dtype))
def test_healpys_small_holes_are_filled(mask, options):
    found, expected = (package._masktools.fill_small_holes(mask, **options) for package in (hp, healpy))
    assert found.dtype == expected.dtype and np.array_equal(found, expected) and not np.shares_memory(found, mask)


@pytest.mark.parametrize("arguments, words", [
    ({"mask": np.zeros(49)}, "mask: has 49 pixels"), ({"mask": np.zeros((2, 48))}, "mask: must be one map"),
    ({"mask": np.zeros(48), "min_size": -1}, "min_size = -1"), ({"mask": np.zeros(48), "min_area_arcmin2": -3}, "min_area_arcmin2 = -3")])
def test_fill_small_holes_refuses_what_has_no_meaning(arguments, words):
    with pytest.raises(ValueError, match=words):
        hp._masktools.fill_small_holes(**arguments)


def test_dist2holes_refuses_what_has_no_meaning():
    for arguments, words in [(({"m": np.zeros((2, 48))}), "m: must be one map"), ({"m": np.zeros(48), "maxdist": -1}, "maxdist = -1"),
                             ({"m": np.zeros(48), "maxdist": np.nan}, "maxdist = nan"), ({"m": np.zeros(48), "hole_min_size": -1}, "hole_min_size = -1"),
                             ({"m": np.zeros(48), "hole_min_surf_arcmin2": -3}, "hole_min_surf_arcmin2 = -3")]:
        with pytest.raises(ValueError, match=words):
            hp.dist2holes(**arguments)
    with pytest.raises(TypeError, match="hole_min_size"):
        hp.dist2holes(np.zeros(48), hole_min_size=2.5)


@pytest.mark.parametrize("call", [masks.distance, lambda m, **k: masks.apodize(m, "20deg", **k),
                                  lambda m, **k: masks.apodize(m, "4deg", "smooth", **k), lambda m, **k: masks.fill_holes(m, 30, **k)])
def test_orders_and_kinds(call):
    """Nest order, Maps, float32 and bool give what arrays of doubles in ring order give."""
    mask = discs(16, 9, 4)
    expected = call(mask)
    nested = hp.reorder(mask, r2n=True)
    assert np.array_equal(hp.reorder(call(nested, nest=True), n2r=True), expected)
    for same in (mask > 0, mask.astype(np.float32), mask.astype(int), np.where(mask > 0, 1, hp.UNSEEN)):
        found = call(same)  # holes that stay are what they were
        assert np.array_equal(np.where(found == hp.UNSEEN, 0, found), expected)
    sky = zonal.Map(mask).reordered(nest=True)
    found = call(sky)
    assert isinstance(found, zonal.Map) and found.nest and np.array_equal(found.reordered(nest=False).values.reshape(-1), expected)


def test_distances_end_at_a_limit():
    mask = discs(32, 4, 1)
    assert np.array_equal(masks.distance(mask, "5deg"), np.minimum(masks.distance(mask), np.radians(5)))
    assert np.all(masks.distance(np.ones(48)) == np.pi) and np.all(masks.distance(np.zeros(48)) == 0)
    assert np.all(masks.distance(np.ones(48), 0.2) == 0.2)


@pytest.mark.parametrize("like", [None, "namaster", "grain"])
@pytest.mark.parametrize("kind", ["cosine", "sine"])
def test_apodisation_by_its_formulas(kind, like):
    mask, scale = bent(32), np.radians(15)
    d = masks.distance(mask)
    x = np.clip(d / scale if like == "grain" else np.sin(np.minimum(d, scale) / 2) / np.sin(scale / 2), 0, 1)
    expected = mask * ((1 - np.cos(np.pi * x)) / 2 if kind == "cosine" else x - np.sin(2 * np.pi * x) / (2 * np.pi))
    assert np.abs(masks.apodize(mask, scale, kind, like=like) - expected).max() <= 10 * EPS


def test_smooth_apodisation_is_between_0_and_1():
    mask = discs(32, 5, 7)
    found = masks.apodize(mask, "3deg", "smooth")
    d = masks.distance(mask)
    assert found.min() == 0 and found.max() == 1 and np.all(found[mask == 0] == 0)
    assert np.all(found[d > np.radians(2.5 * 3 + 7.5 * 3 + 2)] > 1 - 1e-11)  # the Gaussian ends at 7.5 sigma
    assert np.abs(found[(d > np.radians(7)) & (d < np.radians(8))].mean() - 0.5) < 0.1  # near the edge of what is left


def test_holes_are_filled_with_what_is_around():
    mask = np.ones(12 * 16**2)
    mask[1000], mask[hp.get_all_neighbours(16, 1000)[0]] = 0, 0.5
    mask[hp.query_disc(16, (0, 0, 1), 0.3)] = 0
    filled = masks.fill_holes(mask, 2)
    assert filled[1000] == 7.5 / 8 and np.array_equal(np.delete(filled, 1000), np.delete(mask, 1000))
    area = hp.nside2pixarea(16)
    assert np.array_equal(masks.fill_holes(mask, min_area=1.5 * area), filled)
    from astropy import units
    assert np.array_equal(masks.fill_holes(mask, min_area=1.5 * area * units.sr), filled)
    assert np.array_equal(masks.fill_holes(mask, 1), mask)


def test_moments():
    mask, other = bent(), discs(16, 8, 3)
    assert np.allclose(masks.moments(mask), [np.mean(mask**k) for k in (1, 2, 3, 4)], rtol=1e-13)
    assert np.allclose(masks.moments(mask, other), [np.mean((mask * other) ** k) for k in (1, 2, 3, 4)], rtol=1e-13)
    assert np.allclose(masks.moments(zonal.Map(mask).reordered(nest=True)), masks.moments(mask), rtol=1e-14)
    grid = zonal.Grid.gauss_legendre(20, 41)
    wave = np.cos(grid.angles()[0]) ** 2
    assert np.allclose(masks.moments(wave, grid=grid), [1 / 3, 1 / 5, 1 / 7, 1 / 9], rtol=1e-13)  # exact up to degree 39


@pytest.mark.parametrize(("call", "words"), [
    (lambda: masks.distance(np.full(48, np.nan)), "mask: pixel .* is nan: must be finite"),
    (lambda: masks.distance(np.ones(48), -1), "max_distance = -1: must be 0 or more"),
    (lambda: masks.distance(np.ones((2, 48))), "mask: has 2 rows: must be one"),
    (lambda: masks.distance(np.ones(50)), "mask: has 50 pixels"),
    (lambda: masks.distance(zonal.Map(np.ones(32), grid=zonal.Grid.equidistant_cylindrical(4, 8))), "mask: is on .*: must be on HEALPix"),
    (lambda: masks.apodize(np.ones(48), 0), "scale = 0"), (lambda: masks.apodize(np.ones(48), 4), "scale = 4"),
    (lambda: masks.apodize(np.ones(48), 1, "C1"), "kind = 'C1': must be one of 'cosine', 'sine', 'smooth'"),
    (lambda: masks.apodize(np.ones(48), 1, like="healpy"), "like = 'healpy': must be one of 'namaster', 'grain'"),
    (lambda: masks.apodize(np.ones(48), 1, "smooth", like="grain"), "like = 'grain': is for kind"),
    (lambda: masks.fill_holes(np.ones(48)), "min_pixels, min_area: are both missing"),
    (lambda: masks.fill_holes(np.ones(48), -2), "min_pixels = -2"), (lambda: masks.fill_holes(np.ones(48), None, -2.0), "min_area = -2"),
    (lambda: masks.moments(np.ones(48), np.ones(12)), "other: has shape"),
    (lambda: masks.moments(np.full(48, np.inf)), "mask: pixel .* is inf")])
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_no_mask_is_no_mask_of_ones():
    with pytest.raises(TypeError, match="mask = None: must be"):
        masks.moments(None)
    with pytest.raises(TypeError, match="mask = None: must be"):
        zonal.spectra.pure_alm(np.ones((2, 192)), None, 8)

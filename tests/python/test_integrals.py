"""Integrals over regions and credible levels, beside sums of NumPy and the rule of ligo.skymap's find_greedy_credible_levels."""

import healpy
import numpy as np
import pytest

import zonal
import zonal.healpy


@pytest.fixture
def sky(rng):
    """A density of probability, 1/sr, on nside 16, in nest order, with a part UNSEEN."""
    density = rng.exponential(size=3072) ** 3
    density[500:600] = zonal.UNSEEN
    density[density != zonal.UNSEEN] *= 3072 / (4 * np.pi) / density[density != zonal.UNSEEN].sum()
    return zonal.Map(density, nest=True, unit="sr-1", columns=["PROBDENSITY"])


def test_the_probability_in_a_region_is_a_sum(sky):
    known = np.where(sky.unseen, 0, sky.values) * healpy.nside2pixarea(16)
    disc = zonal.healpy.query_disc(16, (1, 2, 0.5), 0.7, nest=True)
    polygon = zonal.healpy.query_polygon(16, [(1, 0, 0), (0, 1, 0), (0, 0, 1)], nest=True)
    for region in (disc, polygon, np.array([], int)):
        assert zonal.integral(sky, region) == pytest.approx(known[region].sum(), rel=1e-12, abs=1e-300)
        assert zonal.integral(sky, np.isin(np.arange(3072), region)) == zonal.integral(sky, region)
    assert zonal.integral(sky) == pytest.approx(1, rel=1e-12)
    assert zonal.integral(zonal.Map(sky.values[None], nest=True)) == zonal.integral(sky)
    assert zonal.integral(np.ones((6, 8)).ravel(), grid=zonal.Grid.equidistant_cylindrical(6, 8)) == pytest.approx(4 * np.pi, rel=1e-14)


def test_quantities_have_integrals_with_units(sky):
    from astropy import units as u
    found = zonal.integral(np.ones(12) * u.mK)
    assert found.unit == u.mK * u.sr and found.value == pytest.approx(4 * np.pi, rel=1e-15)


def test_credible_levels_are_the_greedy_ones(sky):
    probability = np.where(sky.unseen, 0, sky.values)
    order = np.argsort(-probability, kind="stable")
    expected = np.empty(3072)
    expected[order] = np.cumsum(probability[order]) / probability.sum()
    levels = zonal.credible_levels(sky)
    assert levels.nest and levels.unit == "" and levels.grid == sky.grid
    np.testing.assert_allclose(levels.values, expected, rtol=1e-12)
    region = levels <= 0.9
    assert 0.9 - probability.max() * healpy.nside2pixarea(16) < zonal.integral(sky, region) <= 0.9
    assert zonal.integral(region) == pytest.approx((expected <= 0.9).sum() * healpy.nside2pixarea(16), rel=1e-12)
    rows = zonal.credible_levels(zonal.Map(sky.values[None], unit="sr-1"))
    assert rows.shape == (1, 3072)
    np.testing.assert_array_equal(rows.values[0], levels.values)


def test_what_is_no_region_or_density_is_refused(sky):
    for pixels, error, match in (([1.0], TypeError, "pixels: must hold integers"), ([3072], ValueError, r"pixels\[0\] = 3072: must be from 0 to 3071"),
                                 ([1, 1], ValueError, r"pixels\[1\] = 1: occurs twice"), (np.ones(5, bool), ValueError, "pixels: has shape"),
                                 ([[1, 2]], ValueError, "pixels: has shape")):
        with pytest.raises(error, match=match):
            zonal.integral(sky, pixels)
    for values, match in ((-np.ones(12), "must be finite and not negative"), (np.zeros(12), "integral is 0"), (np.ones((2, 12)), "map: has shape"),
                          (np.ones(13), "no HEALPix map")):
        with pytest.raises(ValueError, match=match):
            zonal.credible_levels(values)
    with pytest.raises(ValueError, match="NaN"):
        zonal.integral(np.full(12, np.nan))

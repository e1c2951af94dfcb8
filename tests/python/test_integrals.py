"""Integrals over regions and credible levels, beside sums of NumPy and the rule of ligo.skymap's find_greedy_credible_levels."""

import healpy
import numpy as np
import pytest
from astropy.io import fits

import zonal
import zonal.healpy

EPS = np.finfo(float).eps
# A sum of n numbers that are not negative is off by at most n eps of itself, in any order.
SUM = 3072 * EPS


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
        assert zonal.integral(sky, region) == pytest.approx(known[region].sum(), rel=SUM, abs=1e-300)
        assert zonal.integral(sky, np.isin(np.arange(3072), region)) == zonal.integral(sky, region)
    assert zonal.integral(sky) == pytest.approx(1, rel=SUM, abs=0)
    assert zonal.integral(zonal.Map(sky.values[None], nest=True)) == zonal.integral(sky)
    assert zonal.integral(np.ones((6, 8)).ravel(), grid=zonal.Grid.equidistant_cylindrical(6, 8)) == pytest.approx(4 * np.pi, rel=16 * EPS, abs=0)  # six rings' weights


def test_quantities_have_integrals_with_units(sky):
    from astropy import units as u
    found = zonal.integral(np.ones(12) * u.mK)
    assert found.unit == u.mK * u.sr and found.value == pytest.approx(4 * np.pi, rel=4 * EPS, abs=0)


def test_credible_levels_are_the_greedy_ones(sky):
    probability = np.where(sky.unseen, 0, sky.values)
    order = np.argsort(-probability, kind="stable")
    expected = np.empty(3072)
    expected[order] = np.cumsum(probability[order]) / probability.sum()
    levels = zonal.credible_levels(sky)
    assert levels.nest and levels.unit == "" and levels.grid == sky.grid
    np.testing.assert_allclose(levels.values, expected, rtol=SUM)
    region = levels <= 0.9
    assert 0.9 - probability.max() * healpy.nside2pixarea(16) < zonal.integral(sky, region) <= 0.9
    assert zonal.integral(region) == pytest.approx((expected <= 0.9).sum() * healpy.nside2pixarea(16), rel=SUM, abs=0)
    rows = zonal.credible_levels(zonal.Map(sky.values[None], unit="sr-1"))
    assert rows.shape == (1, 3072) and zonal.integral(sky, rows.values <= 0.9) == zonal.integral(sky, region)
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


@pytest.fixture
def alert(tmp_path):
    """A multi-order map of a density, with cells of nside 1 to 8; and its cells: orders, nested pixels and densities."""
    cells = [(0, pixel) for pixel in range(12)]
    for order, step in ((0, 2), (1, 3), (2, 4)):
        divided = [cell for cell in cells if cell[0] == order and cell[1] % step == 0]
        cells = [cell for cell in cells if cell not in divided] + [(order + 1, 4 * pixel + i) for _, pixel in divided for i in range(4)]
    orders, pixels = np.array(cells).T
    density = np.exp(-4 * (0.618034 * np.arange(len(cells)) % 1))
    density /= (density * np.pi / 3 / 4.0**orders).sum()
    table = fits.BinTableHDU.from_columns([fits.Column("UNIQ", "K", array=4 * 4**orders + pixels),
                                           fits.Column("PROBDENSITY", "D", unit="sr-1", array=density)])
    table.header.update({"PIXTYPE": "HEALPIX", "ORDERING": "NUNIQ", "COORDSYS": "C", "INDXSCHM": "EXPLICIT", "MOCORDER": 3})
    table.writeto(tmp_path / "alert.fits")
    return tmp_path / "alert.fits", orders, pixels, density


def test_the_probability_in_a_region_is_that_of_the_cells_of_a_multi_order_map(alert):
    path, orders, pixels, density = alert
    region = [(1, 5), (2, 100), (3, 17), *((3, pixel) for pixel in range(700, 768))]  # 1/5 2/100 3/17,700-767 as MOCs are written
    finest = 4  # above the map's: nside 16
    inside = np.zeros(12 * 4**finest, bool)
    for order, pixel in region:
        inside[pixel * 4**(finest - order):(pixel + 1) * 4**(finest - order)] = True
    width = 4**(finest - orders)
    shared = [inside[pixel * n:(pixel + 1) * n].mean() for pixel, n in zip(pixels, width)]
    known = (density * np.pi / 3 / 4.0**orders * shared).sum()
    for nside in (8, 16):
        with pytest.warns(zonal.ZonalWarning, match="multi-order map of 78 cells"):
            sky = zonal.io.read_map(path, multi_order_nside=nside)
        numbers = np.flatnonzero(inside[::4**finest // nside**2])
        assert zonal.integral(sky, zonal.healpy.nest2ring(nside, numbers)) == pytest.approx(known, rel=78 * EPS, abs=0)  # of 78 cells
    assert known == pytest.approx(0.25599601731024196, rel=78 * EPS, abs=0)  # mocpy 0.21.0: MOC.probability_in_multiordermap


def test_credible_regions_of_a_multi_order_map_are_those_of_its_cells(alert):
    """Within a pixel: a cell that a region ends in is divided there. The level that holds a source is that of its cell's last pixel."""
    path, orders, pixels, density = alert
    with pytest.warns(zonal.ZonalWarning, match="multi-order map of 78 cells"):
        sky = zonal.io.read_map(path)
    levels = zonal.credible_levels(sky.reordered(nest=True)).values[0]
    order = np.argsort(-density)
    area, probability = np.pi / 3 / 4.0**orders[order], np.cumsum((density * np.pi / 3 / 4.0**orders)[order])
    # Square degrees of ligo.skymap 2.5.4: crossmatch(...).contour_areas
    for level, known in ((0.2, 2562.139792190094), (0.5, 7355.590818950811), (0.9, 21741.509959751667)):
        expected = np.interp(level, np.append(0, probability), np.append(0, np.cumsum(area)))
        found = zonal.integral(zonal.Map(levels <= level, nest=True))
        assert found <= expected * (1 + 1e-12) < found + healpy.nside2pixarea(8) * (1 + 1e-12)
        assert expected * (180 / np.pi)**2 == pytest.approx(known, rel=16 * EPS, abs=0)  # 78 roundings at random, and the interpolation
    for cell, expected in zip(order, probability):
        width = 4**(3 - orders[cell])
        assert levels[pixels[cell] * width:(pixels[cell] + 1) * width].max() == pytest.approx(expected, rel=4 * np.sqrt(768) * EPS, abs=0)  # 768 at random

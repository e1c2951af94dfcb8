"""What fields and their spectra refuse, and the units in which they take variances."""

import numpy as np
import pytest

import zonal
import zonal.healpy
from test_band_powers import BINS, N, powers, sky
from zonal.spectra import Bins, Field, estimate


@pytest.mark.parametrize("make,message", [
    (lambda: Field(np.zeros((4, N))), r"maps: has shape \(4, 3072\)"),
    (lambda: Field(sky(), mask=np.ones(5)), r"mask: has shape \(5,\): must be \[3072\]"),
    (lambda: Field(sky()[0], mask=np.ones((2, N))), r"mask: has shape \(2, 3072\): must be \[pixel\]$"),
    (lambda: Field(sky(), masked=True), "masked = True: needs the mask"),
    (lambda: Field(sky(), variance=1.0, noise=np.ones(30)), "variance, noise: are both given"),
    (lambda: Field(np.zeros(10)), "maps: has 10 pixels"),
    (lambda: Field(np.zeros(8), grid=zonal.Grid.gauss_legendre(2, 4), nest=True), "nest = True"),
    (lambda: estimate(Field(sky()[0], beam=np.ones(20)), BINS), "beam: ends at l = 19: must reach lmax_sky = 27"),
    (lambda: estimate(Field(sky(), beam=[np.ones(30), np.ones(30), np.zeros(30)]), BINS), "beam: of E and of B differ"),
    (lambda: estimate(Field(sky()[0], beam=np.zeros(30)), BINS), "beam: is 0 for all degrees of band 0"),
    (lambda: estimate(Field(sky()[0], variance=-1.0), BINS), r"variance\[0\] = -1"),
    (lambda: estimate(Field(sky(), noise=np.ones(30)), BINS), "noise: has TT: must have TT, EE, BB"),
    (lambda: estimate(Field(sky()[0], noise=np.ones(3)), BINS), r"noise\['TT'\]: ends at l = 2"),
    (lambda: estimate(Field(np.zeros(12), pixel_window=True), Bins.edges([2, 4]), lmax_sky=5), "pixel_window = True: is known"),
    (lambda: estimate(Field(sky()[0], mask=np.full(N, np.nan)), BINS), r"mask\[0\] = nan"),
    (lambda: estimate(Field(sky()[0], mask=np.full(N, zonal.healpy.UNSEEN)), BINS), r"mask\[0\] = -1.6375e\+30"),
    (lambda: estimate(Field(sky()[0], noise=np.full(30, np.nan)), BINS), r"noise\[0\] = nan: must be a finite number, 0 or more"),
    (lambda: estimate(Field(sky()[0], noise=np.full(30, -1.0)), BINS), r"noise\[0\] = -1"),
    (lambda: estimate(Field(sky()[0], variance=zonal.Map(np.full(N, zonal.healpy.UNSEEN))), BINS), r"variance\[0\] = -1.6375e\+30"),
    (lambda: Field(zonal.Map(sky()[0], unit="K"), variance=zonal.Map(np.ones(N), unit="mK2")), r"variance: is in mK2, and maps in K: must be in K\^2"),
    (lambda: Field(zonal.Map(sky()[0], coordinates="G"), variance=zonal.Map(np.ones(N), coordinates="C")),
     "variance: coordinates are equatorial, the map's are galactic"),
    (lambda: Field(zonal.Map(sky()[0], coordinates="G"), mask=zonal.Map(np.ones(N), coordinates="E")), "mask: coordinates are ecliptic"),
    (lambda: estimate([Field(zonal.Map(sky()[0], coordinates=system)) for system in "GC"], BINS),
     r"fields\[1\]: coordinates are equatorial, those of fields\[0\] are galactic"),
    (lambda: estimate(Field(sky()), BINS, lmax_sky=21), "lmax_sky = 21: must be 22 or more"),
    (lambda: powers().theory(np.ones(24)), r"c_l\['TT'\]: ends at l = 23: must reach lmax_sky = 24"),
    (lambda: powers().theory({"XX": np.ones(25)}), "c_l: has 'XX'"),
    (lambda: Bins.linear(0, lmax=9), "width = 0"), (lambda: Bins.edges([3, 3]), r"edges\[1\] = 3"),
    (lambda: Bins.from_weights([[0, 1, 1], [0, 0, 1]]), "overlapping"), (lambda: Bins.from_weights([1, 2]), "weights: has shape"),
    (lambda: Bins.linear(2, lmax=9, weights=np.ones(3)), "weights: end at l = 2")])
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("make", [lambda: estimate(sky(), BINS), lambda: estimate([], BINS), lambda: estimate(Field(sky()), 30), lambda: Bins("none", None)])
def test_other_types_are_refused(make):
    with pytest.raises(TypeError):
        make()


@pytest.mark.parametrize("unit", ["K^2", "K2", "K**2", "(K)^2", ""])
def test_a_variance_is_in_the_unit_squared(unit):
    units = pytest.importorskip("astropy.units")
    bands = lambda maps, variance: estimate(Field(maps, variance=variance), BINS)["TT"]
    expected = bands(sky()[0], np.full(N, 0.04))
    assert np.array_equal(bands(zonal.Map(sky()[0], unit="K"), zonal.Map(np.full(N, 0.04), unit=unit)), expected)
    assert np.allclose(bands(sky()[0] * units.K, np.full(N, 4e4) * units.mK**2), expected, rtol=1e-13)
    with pytest.raises(ValueError, match="variance: is in K, and maps in K: must be in K2"):
        bands(sky()[0] * units.K, np.full(N, 4e4) * units.K)

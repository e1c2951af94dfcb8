"""What healpy takes as an argument: Columns of tables, masked arrays, whole floats, and what is true or false."""

import healpy
import numpy as np
import pytest
from astropy import units
from astropy.table import Column, MaskedColumn

import zonal.healpy as hp
from healpy_peer import agree_within
from zonal.healpy import pixelfunc

SKY = np.random.default_rng(5).normal(size=768)
MASK = np.array([False, True, False])


def as_plain(result):
    """Masked results as they are, and all others as plain arrays: healpy sometimes returns a Column for a Column."""
    if isinstance(result, tuple):
        return tuple(map(as_plain, result))
    if not np.ma.isMaskedArray(result):
        return np.asarray(result)
    return np.ma.MaskedArray(result.filled(0), np.ma.getmaskarray(result), fill_value=0)


def both_give(call, tolerance=1e-13):
    agree_within(as_plain(call(hp)), as_plain(call(healpy)), tolerance)


PIXEL_CALLS = [
    lambda hp, x: hp.ang2pix(8, x("angle"), x("angle")), lambda hp, x: hp.ang2pix(8, x("degrees"), x("degrees"), lonlat=True),
    lambda hp, x: hp.ang2pix(8, 0.3, x("angle"), nest=True), lambda hp, x: hp.pix2ang(8, x("pixel")),
    lambda hp, x: hp.pix2ang(8, x("pixel"), lonlat=True), lambda hp, x: hp.pix2vec(8, x("pixel")),
    lambda hp, x: hp.vec2pix(8, x("angle"), 0.2, x("angle")), lambda hp, x: hp.ring2nest(8, x("pixel")),
    lambda hp, x: hp.nest2ring(8, x("pixel")), lambda hp, x: hp.pix2xyf(8, x("pixel")),
    lambda hp, x: hp.xyf2pix(8, x("pixel"), 3, x("pixel")),
]
PLAIN_CALLS = [
    lambda hp, x: hp.ang2vec(x("angle"), x("angle")), lambda hp, x: hp.ang2vec(x("degrees"), x("degrees"), lonlat=True),
    lambda hp, x: hp.get_all_neighbours(8, x("pixel")), lambda hp, x: hp.get_all_neighbours(8, x("angle"), x("angle")),
    lambda hp, x: hp.get_interp_weights(8, x("angle"), x("angle")), lambda hp, x: hp.get_interp_val(SKY, x("angle"), 0.3),
    lambda hp, x: hp.get_interp_val(SKY, x("degrees"), x("degrees"), lonlat=True), lambda hp, x: hp.boundaries(8, x("pixel")),
    lambda hp, x: hp.dir2vec(x("angle"), x("angle")), lambda hp, x: hp.vec2dir(x("angle"), x("angle"), x("angle")),
    lambda hp, x: hp.Rotator(coord="CG")(x("degrees"), x("degrees"), lonlat=True),
    lambda hp, x: hp.Rotator(coord="CG")(x("angle"), x("angle"), x("angle")), lambda hp, x: hp.pix2ring(8, x("pixel")),
    lambda hp, x: hp.rotator.angdist([x("angle"), x("angle")], [0.1, 0.2]), lambda hp, x: hp.ringinfo(8, x("pixel") + 1),
    lambda hp, x: hp.query_disc(8, x("angle"), 0.3),
]
VALUES = {"angle": [0.1, 0.2, 0.3], "degrees": [10.0, -20.0, 30.0], "pixel": [3, 4, 0]}


@pytest.mark.parametrize("unit", [None, "deg", "rad"])
@pytest.mark.parametrize("call", PIXEL_CALLS + PLAIN_CALLS)
def test_columns_of_tables_are_taken_by_their_numbers(call, unit):
    both_give(lambda hp: call(hp, lambda kind: Column(VALUES[kind], unit=unit)))


@pytest.mark.parametrize("kind", [np.ma.MaskedArray, MaskedColumn])
@pytest.mark.parametrize("call", PIXEL_CALLS)
def test_results_are_masked_where_arguments_are(call, kind):
    for mask in (MASK, ~MASK, np.zeros(3, bool)):
        both_give(lambda hp: call(hp, lambda name: kind(VALUES[name], mask=mask)))


def test_what_is_masked_may_be_anything():
    theta = np.ma.MaskedArray([0.1, np.nan, 0.3], MASK)
    assert hp.ang2pix(8, theta, 0.2).mask.tolist() == MASK.tolist()
    lat = np.ma.MaskedArray([10.0, 1e20, 20.0], MASK)
    np.testing.assert_array_equal(hp.ang2pix(8, 0.0, lat, lonlat=True)[~MASK], healpy.ang2pix(8, 0.0, [10.0, 20.0], lonlat=True))
    assert hp.vec2ang(np.ma.MaskedArray(np.eye(3), np.eye(3) * [[0], [1], [0]]))[0].mask.tolist() == MASK.tolist()


def test_a_quantity_is_an_angle_where_healpy_takes_it_as_one():
    angles = [0.1, 0.2] * units.rad
    for call in (lambda hp: hp.ang2vec(angles, angles), lambda hp: hp.dir2vec(angles, angles),
                 lambda hp: hp.dir2vec(10 * units.deg, 20 * units.deg), lambda hp: hp.rotator.angdist(angles, [0.3, 0.4]),
                 lambda hp: hp.rotator.angdist([1.0, 2.0, 3.0] * units.m, [0.3, 0.4]),
                 lambda hp: hp.Rotator(coord="CG")(angles, angles), lambda hp: hp.vec2dir(*([1.0, 2.0, 3.0] * units.m))):
        both_give(call)
    for call in (lambda hp: hp.ang2pix(8, angles, angles), lambda hp: hp.get_interp_val(SKY, angles, angles),
                 lambda hp: hp.ang2vec(angles, angles, lonlat=True), lambda hp: hp.pix2ang(8, [3, 4] * units.m),
                 lambda hp: hp.query_disc(8, [1, 0, 0], 10 * units.deg), lambda hp: hp.dir2vec(angles, angles, lonlat=True)):
        for module, error in ((healpy, (TypeError, units.UnitsError)), (hp, TypeError)):
            with pytest.raises(error):
                call(module)


ALM = hp.map2alm(SKY, lmax=12)


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, lambda x: np.array(float(x))])
def test_whole_floats_are_integers_where_healpy_takes_them(kind):
    for call in (lambda hp: hp.map2alm(SKY, lmax=kind(12), mmax=kind(12), iter=kind(2)), lambda hp: hp.gauss_beam(0.1, kind(12)),
                 lambda hp: hp.almxfl(ALM, np.ones(13), mmax=kind(12)), lambda hp: hp.alm2map_spin([ALM, ALM], 8, kind(2), kind(12)),
                 lambda hp: hp.smoothalm(ALM.copy(), fwhm=0.1, mmax=kind(12)), lambda hp: hp.smoothing(SKY, 0.1, iter=kind(1)),
                 lambda hp: hp.blm_gauss(0.1, kind(12)), lambda hp: hp.Rotator(coord="CG").rotate_alm(ALM, lmax=kind(12)),
                 lambda hp: hp.query_disc(kind(8), [1, 0, 0], 0.3), lambda hp: hp.query_strip(kind(8), 0.1, 0.7),
                 lambda hp: hp.query_disc(kind(8), [1, 0, 0], 0.3, nest=True), lambda hp: hp.boundaries(kind(8), 5, step=kind(2)),
                 lambda hp: hp.query_polygon(kind(8), [[1, 0.2, 0.13], [0.1, 1, 0.23], [0.17, 0.2, 1]]),
                 lambda hp: hp.ringinfo(kind(8), np.array([3])), lambda hp: np.array(hp.Alm.getlm(kind(12))).astype(int)):
        both_give(call, 1e-12)
    assert hp.Alm.getsize(kind(12)) == healpy.Alm.getsize(kind(12))
    assert hp.Alm.getlmax(91, kind(12)) == healpy.Alm.getlmax(91, kind(12))
    with pytest.raises(TypeError, match="lmax = .*12.5.*: must be an integer"):
        hp.map2alm(SKY, lmax=kind(12.5))


def test_an_array_of_one_number_is_that_number():
    for call in (lambda hp: hp.gauss_beam(0.1, np.array(12)), lambda hp: hp.map2alm(SKY, lmax=np.array(12), iter=np.array(1)),
                 lambda hp: hp.gauss_beam(np.array([0.1]), 8), lambda hp: hp.smoothing(SKY, fwhm=np.array([0.1])),
                 lambda hp: hp.smoothing(SKY, sigma=np.array(0.1))):
        both_give(call, 1e-12)
    with pytest.raises(TypeError, match="fwhm = .*: must be a real number"):
        hp.gauss_beam(np.array([0.1, 0.2]), 8)


@pytest.mark.parametrize("value", [None, "NEST", "", 2, 1, 0, [], np.True_, np.array(0)], ids=repr)
def test_what_is_true_or_false_is_taken_for_it(value):
    angles = np.array([0.3, 0.6])
    for call in (lambda hp: hp.ang2pix(8, 0.3, 0.4, nest=value), lambda hp: hp.ang2pix(8, angles, 0.4, nest=value),
                 lambda hp: hp.ang2pix(8, angles, 0.4, lonlat=value), lambda hp: hp.pix2ang(8, [5], lonlat=value),
                 lambda hp: hp.pix2vec(8, [5], nest=value), lambda hp: hp.vec2pix(8, angles, 1, 2, nest=value),
                 lambda hp: hp.vec2ang(np.eye(3), lonlat=value), lambda hp: hp.ang2vec(angles, angles, lonlat=value),
                 lambda hp: hp.get_all_neighbours(8, [5], nest=value), lambda hp: hp.get_interp_weights(8, angles, 0.1, nest=value),
                 lambda hp: hp.get_interp_val(SKY, angles, 0.1, nest=value), lambda hp: hp.query_strip(8, 0.3, 0.7, nest=value),
                 lambda hp: hp.query_disc(8, [1, 0, 0.1], 0.3, nest=value), lambda hp: hp.boundaries(8, 5, nest=value),
                 lambda hp: hp.query_disc(8, [1, 0, 0], 0.3, return_ranges=value), lambda hp: hp.map2alm(SKY, lmax=8, pol=value),
                 lambda hp: hp.gauss_beam(0.1, 8, pol=value), lambda hp: hp.ud_grade(SKY, 4, pess=value)):
        both_give(call, 1e-12)
    with pytest.raises(ValueError, match="pol: must be True or False"):
        hp.gauss_beam(0.1, 8, pol=np.ones(2))


def test_float32_poles_are_the_poles():
    south = np.float32(np.pi)
    for call in (lambda hp: hp.ang2pix(8, south, 0.3), lambda hp: hp.ang2pix(8, [south, 1.0], 0.3),
                 lambda hp: hp.ang2pix(8, [10.0, 200.0], -90.00001, lonlat=True), lambda hp: hp.ang2pix(8, [np.pi + 9e-6], [4.0]),
                 lambda hp: hp.ang2vec(south, 0.3), lambda hp: hp.ang2vec([10, 20], [-90.0005, 3.0], lonlat=True),
                 lambda hp: hp.get_all_neighbours(8, south, 0.3), lambda hp: hp.get_all_neighbours(8, [south, 1.0], 0.3)):
        both_give(call)
    for call in (lambda hp: hp.get_interp_val(SKY, south, 0.3), lambda hp: hp.get_interp_weights(8, [south, -1e-7], 0.3),
                 lambda hp: hp.get_interp_val(SKY, [0.3, 3.0], [-90.00001, 1.0], lonlat=True)):
        both_give(call)
    for sign in (1, -1):  # healpy takes no theta < 0
        assert hp.ang2pix(8, 0.0, sign * 90.00001, lonlat=True) == hp.ang2pix(8, 180.0, sign * 89.99999, lonlat=True)
    pixelfunc.check_theta_valid([south, -9e-6])
    for call in (lambda hp: hp.ang2pix(8, [np.pi + 1.1e-5], 0.0), lambda hp: hp.ang2vec(np.pi + 1.1e-5, 0.0),
                 lambda hp: hp.ang2pix(8, 0.0, -90.0007, lonlat=True), lambda hp: hp.ang2pix(8, 0.0, [90.0007], lonlat=True)):
        for module in (healpy, hp):
            with pytest.raises(ValueError):
                call(module)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_pixel_and_no_direction_are_handed_on():
    around = hp.get_all_neighbours(8, np.arange(768))
    nested = hp.get_all_neighbours(8, np.arange(768), nest=True)
    assert (around == -1).sum() == (nested == -1).sum() == 24
    for call in (lambda hp: hp.pix2ang(8, around), lambda hp: hp.pix2vec(8, around), lambda hp: hp.pix2ang(8, nested, nest=True),
                 lambda hp: hp.pix2vec(8, nested, nest=True), lambda hp: hp.pix2ang(8, around, lonlat=True),
                 lambda hp: hp.pix2ang(8, -1), lambda hp: hp.pix2vec(8, -1, True), lambda hp: hp.nest2ring(8, nested),
                 lambda hp: hp.nest2ring(8, -1), lambda hp: hp.ang2pix(8, *hp.pix2ang(8, [-1, 5])), lambda hp: hp.ang2pix(8, 0.1, np.nan),
                 lambda hp: hp.vec2pix(8, [np.nan, 1], 1, 1), lambda hp: hp.vec2pix(8, np.nan, 1, 1),
                 lambda hp: hp.vec2ang(np.array([[np.nan, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, np.nan]])),
                 lambda hp: hp.vec2ang(np.zeros(3), lonlat=True), lambda hp: hp.vec2dir(np.zeros(3)),
                 lambda hp: hp.ang2vec([0.1, 0.2], [np.nan, 1.0])):
        for found, expected in zip(np.atleast_1d(call(hp)), np.atleast_1d(call(healpy))):
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
    # Where healpy returns pixels and neighbours of no meaning for these, there are none.
    assert hp.ring2nest(8, -1) == -1 and hp.ring2nest(8, [5, -1]).tolist() == [hp.ring2nest(8, 5), -1]
    assert (hp.get_all_neighbours(8, around)[:, around == -1] == -1).all() and (hp.get_all_neighbours(8, -1) == -1).all()
    assert hp.ang2pix(8, [1.5, 1.5], [np.nan, 0.3]).tolist() == [-1, hp.ang2pix(8, 1.5, 0.3)]


def test_interpolation_in_no_direction_gives_nan(capfd):
    for call in (lambda hp: hp.get_interp_val(SKY, [0.1, np.nan], 0.0), lambda hp: hp.get_interp_val(SKY, np.nan, 0.0),
                 lambda hp: hp.get_interp_weights(8, [0.1, np.nan], 0.3), lambda hp: hp.get_interp_weights(8, np.nan, 0.3),
                 lambda hp: hp.get_interp_val(SKY, [0.1, 0.2], [1.0, np.nan], lonlat=True)):
        with np.errstate(invalid="ignore"):
            found, expected = call(hp), call(healpy)
        for one, other in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,)):
            np.testing.assert_allclose(one, other, rtol=8 * np.finfo(float).eps, atol=8 * np.finfo(float).eps)
    assert np.isnan(hp.get_interp_val(SKY, [0.1, 0.2], [np.nan, 0.3])).tolist() == [True, False]
    capfd.readouterr()  # healpy's library writes to the terminal

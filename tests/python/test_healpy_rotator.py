"""Rotations under healpy's names, against healpy."""

import warnings

import healpy
import numpy as np
import pytest
from healpy import rotator as theirs

import zonal
import zonal.healpy as hp
from zonal.healpy import rotator

# A few ulp: the matrices are products of five matrices of sines and cosines, and directions go through arctan2.
ROUNDING = 1e-14
# Directions that are ROUNDING off, times differences of up to 8 between pixels of a map that are 0.1 apart.
INTERPOLATION = 8 / 0.1 * ROUNDING

CHAIN = {"coord": [("E", "G"), ("C", "E")], "rot": [(1, 2), (3, 4, 5)]}
ROTATIONS = [{"coord": "GE"}, {"coord": ["Galactic", "c"]}, {"rot": 10}, {"rot": (10, 20)}, {"rot": (10, 20, 30)},
             {"rot": (10, 20, 30), "coord": "CG"}, {"rot": (1, 2, 3), "eulertype": "Y"},
             {"rot": (1, 2, 3), "eulertype": "X", "deg": False}, {"rot": (10, 20, 30), "coord": "CG", "inv": True},
             CHAIN, {**CHAIN, "inv": [False, False]}, {}]
rotations = pytest.mark.parametrize("options", ROTATIONS)


@rotations
def test_rotators_are_those_of_healpy(options):
    ours, other = hp.Rotator(**options), healpy.Rotator(**options)
    np.testing.assert_allclose(ours.mat, other.mat, rtol=0, atol=ROUNDING)
    for name in ("coordin", "coordout", "coordinstr", "coordoutstr", "coords", "consistent"):
        if not (name.startswith("coordout") and len(ours.rots) > 1):  # healpy's is the end of a chain's first step
            assert getattr(ours, name) == getattr(other, name), name
    np.testing.assert_array_equal(ours.rots, other.rots)
    assert ours.do_rot(0) == other.do_rot(0)
    assert repr(ours) == repr(other) and str(ours) == str(other)
    inverse = ours.get_inverse()
    np.testing.assert_allclose(inverse.mat, ours.mat.T, rtol=0, atol=ROUNDING)
    assert inverse.get_inverse() == ours and (inverse.coordin, inverse.coordout) == (ours.coordout, ours.coordin)


@rotations
def test_directions_and_vectors_turn_as_in_healpy(options, rng):
    ours, other = hp.Rotator(**options), healpy.Rotator(**options)
    angles = rng.uniform(0.1, 3, (2, 5))
    vectors = rotator.dir2vec(angles)  # healpy's angle_ref is wrong for vectors of another length
    for arguments in (angles, vectors, angles[:, 0], vectors[:, 0]):
        for call in ("__call__", "I", "angle_ref"):
            for given in ((arguments,), tuple(arguments)):
                found, expected = getattr(ours, call)(*given), getattr(other, call)(*given)
                assert np.shape(found) == np.shape(expected)
                # angles of 2 pi are none: both sides may round to other sides of the cut
                difference = np.abs(found - expected)
                assert np.all(np.minimum(difference, np.abs(difference - 2 * np.pi)) < 1e-13)
        np.testing.assert_allclose(ours.I(ours(arguments)), arguments, rtol=0, atol=ROUNDING)
    for inv in (False, True):
        np.testing.assert_allclose(ours(10, [20, -30], lonlat=True, inv=inv),
                                   other(np.array([10, 10]), np.array([20, -30]), lonlat=True, inv=inv), rtol=0, atol=1e-12)


def test_a_chain_leads_to_where_its_first_step_ends():
    chain = hp.Rotator(**CHAIN)
    assert (chain.coordin, chain.coordout) == ("C", "G")


def test_products_do_the_second_rotation_first():
    first, second = hp.Rotator(coord="GC", rot=(10, 20, 30)), hp.Rotator(coord="EG")
    product = first * second
    np.testing.assert_allclose(product(1.0, 2.0), first(second(1.0, 2.0)), rtol=0, atol=ROUNDING)
    assert (product.coordin, product.coordout) == ("E", "C")
    assert product != first and product == first * second
    with pytest.raises(TypeError, match="must be a Rotator"):
        first * 3
    with pytest.warns(rotator.ConsistencyWarning, match="starts in another system"):
        assert not (second * first).consistent


def test_maps_turn_as_in_healpy(rng):
    ours, other = (package.Rotator(coord="GE", rot=(10, 20, 30)) for package in (hp, healpy))
    for n_maps in (1, 2, 3):
        maps = rng.standard_normal((n_maps, 192))[0 if n_maps == 1 else slice(None)]
        np.testing.assert_allclose(ours.rotate_map_pixel(maps), other.rotate_map_pixel(maps), rtol=0, atol=INTERPOLATION)
        if n_maps != 2:  # sums over 200 rings and angles of a dozen turns
            np.testing.assert_allclose(ours.rotate_map_alms(maps, use_pixel_weights=False),
                                       other.rotate_map_alms(maps, use_pixel_weights=False), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ours.rotate_map_alms(maps, False, lmax=5),
                                  zonal.alm2map(zonal.rotate_alm(zonal.map2alm(maps, 5, pol=True), ours.mat), 4))


def test_pixel_weights_make_the_rotation_of_maps_exact(random_alm, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    alm = random_alm(16)
    turn = hp.Rotator(coord="GC")
    turned = turn.rotate_map_alms(zonal.alm2map(alm, 16), lmax=16)
    # Eight transforms, each of which sums 289 terms of about 1, with recurrences of up to 16 steps in them.
    np.testing.assert_allclose(turned, zonal.alm2map(zonal.rotate_alm(alm, "GC"), 16), rtol=0, atol=8 * 289 * 16 * 2.0**-52)


def test_coefficients_turn_as_in_healpy(random_alm):
    alm = random_alm(7, shape=(3,), spin=2)
    ours, other = (package.Rotator(coord="GE", rot=(10, 20, 30)) for package in (hp, healpy))
    for given in (alm, alm[0]):
        # ROUNDING of angles turns a phase by up to l = 7 times as much, of coefficients below 4.
        np.testing.assert_allclose(ours.rotate_alm(given), other.rotate_alm(given), rtol=0, atol=7 * 4 * ROUNDING)
        copy = given.copy()
        assert ours.rotate_alm(copy, inplace=True) is None
        np.testing.assert_array_equal(copy, ours.rotate_alm(given))
    with pytest.raises(ValueError, match="mmax = 3"):
        ours.rotate_alm(alm, mmax=3)


def test_bad_pixels_spread_to_what_is_made_of_them():
    sky = np.ones(192)
    sky[:10] = hp.UNSEEN
    turned = hp.Rotator(rot=(10, 20, 30)).rotate_map_pixel(sky)
    good = turned != hp.UNSEEN
    assert 150 < good.sum() < 182
    np.testing.assert_allclose(turned[good], 1, rtol=1e-15)


def test_masked_maps_turn_as_in_healpy(rng):
    mask = rng.random((3, 192)) < 0.5
    mask[:, :40] = True
    maps = np.ma.array(rng.standard_normal((3, 192)), mask=mask)
    ours, other = (package.Rotator(coord="GE", rot=(10, 20, 30)) for package in (hp, healpy))
    for given in (maps[0], maps[:1], maps[1:], maps):
        found, expected = (np.ma.atleast_2d(np.ma.array(one.rotate_map_pixel(given))) for one in (ours, other))
        assert np.ma.getmaskarray(expected).any()
        np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
        np.testing.assert_allclose(found.filled(0), expected.filled(0), rtol=0, atol=INTERPOLATION)


CALLS = [
    ("vec2dir", (1, 2, 3)), ("vec2dir", (np.ones((3, 4)),)), ("dir2vec", (1, 2)), ("dir2vec", (np.ones((2, 4)),)),
    ("angdist", ([0.2, 0], [0.2, 1e-6])), ("angdist", ([1, 0, 0], [[0, 1], [0, 1], [1, 0]])),
    ("angdist", ([10, 0], [0, 1, 0], [True, False])), ("normalize_vec", ([3, 4, 0],)),
    ("rotateVector", (np.eye(3)[::-1], 1, 2, 3)), ("rotateVector", (np.eye(3)[::-1], np.ones((3, 2)))),
    ("rotateDirection", (np.eye(3)[::-1], 1, 2)), ("rotateDirection", (np.eye(3)[::-1], np.ones((2, 5)))),
    ("normalise_rot", (None,)), ("normalise_rot", ((1, 2),)), ("normalise_rot", (3, True)),
    ("get_rotation_matrix", ((1, 2, 3),)), ("get_coordconv_matrix", (("G", "C"),)),
    ("get_coordconv_matrix", ("E",)), ("get_coordconv_matrix", (None,)),
    ("coordsys2euler_zyz", ("GE",)), ("coordsys2euler_zyz", ("EC",)), ("coordsys2euler_zyz", ("E",)),
    ("euler_matrix_new", (0.1, 0.2, 0.3)), ("euler_matrix_new", (1, 2, 3, True, True, False, True)),
    ("euler_matrix_new", (0.1, 0.2, 0.3, True, False, True)),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_functions_are_those_of_healpy(name, arguments):
    found, expected = getattr(rotator, name)(*arguments), getattr(theirs, name)(*arguments)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for one, other in zip(found, expected):
        if isinstance(other, (tuple, bool)):
            assert one == other
        else:
            np.testing.assert_allclose(one, other, rtol=0, atol=ROUNDING)
            assert np.shape(one) == np.shape(other)


@pytest.mark.parametrize("select", range(1, 7))
@pytest.mark.parametrize("b1950", [0, 1])
def test_coordinates_of_both_epochs_are_those_of_healpy(select, b1950):
    # 0.01 arcsec: healpy has rounded constants for each of the six
    np.testing.assert_allclose(rotator.euler(10, 20, select, b1950), theirs.euler(10, 20, select, b1950), rtol=0, atol=3e-6)


@pytest.mark.parametrize(("options", "message"), [
    ({"coord": "CE", "rot": [(0, 0, 90)]}, "must both be single"),
    ({"coord": [("C", "E"), ("E", "G")], "rot": [(0, 0, 90)]}, "must both be single"),
    ({**CHAIN, "inv": [True]}, "inv: has 1 elements"),
    ({"coord": "Z"}, "coord = 'Z': must be"),
    ({"rot": (1, 2, 3, 4)}, "up to three angles"),
    ({"eulertype": "ZXZ"}, "eulertype = 'ZXZ'"),
])
def test_what_is_no_rotation_is_refused(options, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rotator.ConsistencyWarning)
        with pytest.raises(ValueError, match=message):
            hp.Rotator(**options)


def test_arguments_that_are_no_direction_are_refused():
    turn = hp.Rotator(rot=10)
    for arguments in ((), (1,), (1, 2, 3, 4), (np.ones((4, 2)),)):
        with pytest.raises(TypeError, match="arguments|argument:"):
            turn(*arguments)
    with pytest.raises(ValueError, match="lonlat"):
        turn(1, 2, 3, lonlat=True)
    assert np.isnan(rotator.vec2dir(0, 0, 0)[0])

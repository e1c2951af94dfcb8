"""Pixels under healpy's names, against healpy."""

import subprocess
import sys

import healpy
import healpy._pixelfunc
import numpy as np
import pytest

import zonal
import zonal.healpy as hp
from healpy_peer import agree
from zonal.healpy import _pixelfunc, pixelfunc
from zonal.healpy.utils.deprecation import HealpyDeprecationWarning

SIZES = [(1, False), (1, True), (2, True), (3, False), (7, False), (16, False), (16, True), (2**29, False),
         (2**29, True)]
sizes = pytest.mark.parametrize(("nside", "nest"), SIZES)


def same_call(name, *arguments, atol=1e-14, **options):
    """The two functions of this name agree."""
    ours, theirs = (getattr(first, name, None) or getattr(second, name)
                    for first, second in ((pixelfunc, hp), (healpy.pixelfunc, healpy)))
    agree(ours(*arguments, **options), theirs(*arguments, **options), atol)


def pixels_of(rng, nside, n=500):
    """The first, the last and others of all the pixels, int64."""
    return np.concatenate([[0, 12 * nside**2 - 1], rng.integers(0, 12 * nside**2, n)])


@pytest.fixture
def angles(rng):
    """Directions, the poles among them."""
    theta = np.concatenate([[0.0, np.pi], np.arccos(rng.uniform(-1, 1, 500))])
    return theta, rng.uniform(-7, 7, theta.size)


@sizes
def test_pixels_of_directions(angles, nside, nest):
    theta, phi = angles
    same_call("ang2pix", nside, theta, phi, nest=nest)
    same_call("ang2pix", nside, np.degrees(phi), 90 - np.degrees(theta[::-1]), nest, lonlat=True)
    same_call("vec2pix", nside, *(3 * hp.ang2vec(theta, phi).T), nest=nest)
    same_call("get_all_neighbours", nside, theta, phi, nest)


@sizes
def test_directions_and_places_of_pixels(rng, nside, nest):
    pixels = pixels_of(rng, nside)
    # 4 ulp of pi, and as many in degrees
    same_call("pix2ang", nside, pixels, nest=nest, atol=2e-15)
    same_call("pix2ang", nside, pixels, nest, lonlat=True, atol=1.2e-13)
    same_call("pix2vec", nside, pixels, nest)
    same_call("pix2xyf", nside, pixels, nest)
    same_call("xyf2pix", nside, *hp.pix2xyf(nside, pixels, nest), nest)
    same_call("get_all_neighbours", nside, pixels, None, nest)
    agree(_pixelfunc.pix2ring(nside, pixels, nest), healpy._pixelfunc.pix2ring(nside, pixels, nest))
    if nside & (nside - 1) == 0:
        same_call("ring2nest", nside, pixels)
        same_call("nest2ring", nside, pixels)


@pytest.mark.parametrize(("nside", "nest"), SIZES[:-2])  # weights are quotients of angles to a few ulp of pi
def test_interpolation(rng, angles, nside, nest):
    weights = hp.get_interp_weights(nside, *angles, nest)
    agree(weights, healpy.get_interp_weights(nside, *angles, nest), 4e-15 * max(nside, 16))
    np.testing.assert_allclose(weights[1].sum(0), 1, rtol=0, atol=1e-15)
    maps = rng.standard_normal((3, 12 * nside**2))
    for m in (maps[0], maps, list(maps), maps[0].astype(np.float32), maps[0] + 1j * maps[1], np.arange(maps.shape[1])):
        same_call("get_interp_val", m, *angles, nest, atol=3e-14 * nside * np.abs(m).max())


@pytest.mark.parametrize(("theta", "phi"), [
    (0.3, 0.4), ([0.3], 0.4), (np.array([[0.3, 1.0]]), [[1.0], [2.0]]), (np.array(0.3), np.float32(0.5)),
    (np.array([], float), []), (1, 2), (np.float64(1.0), np.int32(2)), (np.array([0.3, 1.0], np.float32)[::-1], 2.0),
], ids=repr)
def test_shapes_and_types_of_what_directions_broadcast_to(theta, phi):
    maps = np.arange(24.0).reshape(2, 12)
    for nside in (8, np.int32(8), [[[4]], [[8]]]):
        same_call("ang2pix", nside, theta, phi)
        same_call("get_all_neighbours", nside, theta, phi)
        same_call("get_interp_weights", nside, theta, phi)
    same_call("get_interp_val", maps, theta, phi)
    same_call("get_interp_val", maps[0], theta, phi)


@pytest.mark.parametrize("pixel", [5, [5], np.int64(5), np.array(5), np.array([[5, 6], [7, 8]], np.int32), (1, 2),
                                   np.array([], int), np.arange(20)[::3], np.uint8(4)], ids=repr)
def test_shapes_and_types_of_what_pixels_broadcast_to(pixel):
    for name in ("pix2ang", "pix2vec", "pix2xyf", "ring2nest", "nest2ring", "get_all_neighbours"):
        for nside in (8, np.int64(8), [[[4]], [[8]]], np.array(4)):
            same_call(name, nside, pixel)
    for nside in (8, [[[4]], [[8]]]):
        same_call("xyf2pix", nside, [[1], [2]], 3, np.int64(5))
        agree(hp.get_interp_weights(8, pixel)[1].sum(0), healpy.get_interp_weights(8, pixel)[1].sum(0), 1e-14)


def test_long_arrays_heed_the_number_of_threads(rng):
    theta, phi = np.arccos(rng.uniform(-1, 1, 200_000)), rng.uniform(0, 7, 200_000)
    for n in (1, 3):
        with zonal.threads(n):
            same_call("ang2pix", 1024, theta, phi, nest=True)
            same_call("pix2ang", [[256], [1024]], hp.ang2pix(256, theta, phi), atol=2e-15)


def test_vectors_of_any_shape(rng):
    for shape in ((3,), (1, 3), (7, 3), (2, 5, 3)):
        same_call("vec2ang", rng.standard_normal(shape), atol=2e-15)
        same_call("vec2ang", rng.standard_normal(shape), lonlat=True, atol=1.2e-13)
    for theta, phi in ((0.3, 0.4), ([0.3, 1.0], 0.4), ([0.3, 1.0], [5, 6]), (np.ones((2, 4)), np.full((2, 4), 0.3))):
        same_call("ang2vec", theta, phi)
    same_call("ang2vec", 30, [20.0, -90.0], lonlat=True)
    agree(hp.vec2ang([0, 0, 1]), (np.zeros(1), np.zeros(1)))


def test_latitudes_beyond_a_pole_are_folded_where_that_is_asked_for():
    lat = np.array([-120.0, -91, -90, -12, 0, 90, 120, 269])
    lon = np.full(lat.size, 10.5)
    for bounce in (True, False):
        same_call("ang2pix", 8, lon, lat, lonlat=True, latauto=True, latbounce=bounce)
        same_call("lonlat2thetaphi", lon, lat, True, bounce)


@pytest.mark.parametrize("call", [
    lambda hp: hp.ang2pix(8, 4.0, 0.0), lambda hp: hp.ang2pix(8, [0.1, np.nan], 0.0),
    lambda hp: hp.ang2pix(0, 0.1, 0.0), lambda hp: hp.ang2pix(7, 0.1, 0.0, nest=True),
    lambda hp: hp.ang2pix(2**30, 0.1, 0.0), lambda hp: hp.ang2pix(8, [0.1, 0.2], [1, 2, 3]),
    lambda hp: hp.ang2pix(8, 0, 91, lonlat=True), lambda hp: hp.ang2vec(-0.1, 0.0), lambda hp: hp.ring2nest(7, 5),
    lambda hp: hp.pix2ang([8, 7], 5, nest=True), lambda hp: hp.npix2nside(13), lambda hp: hp.nside2order(7),
    lambda hp: hp.order2nside(30), lambda hp: hp.order2nside(-1), lambda hp: hp.order2npix(np.array([1, 30])), lambda hp: hp.max_pixrad(0),
    lambda hp: hp.boundaries(8, 768), lambda hp: hp.boundaries(8, [[5, 6]]), lambda hp: hp.reorder(np.zeros(12)),
    lambda hp: hp.reorder(np.zeros(108), r2n=True), lambda hp: hp.reorder(np.zeros(12), "foo", "RING"),
    lambda hp: hp.ud_grade(np.zeros(48), 3), lambda hp: hp.query_disc(8, [1, 0, 0], 0.5, buff=np.zeros(1, int)),
    lambda hp: hp.query_disc(8, [1, 0, 0], 0.5, buff=np.zeros(99)),
    lambda hp: hp.query_strip(8, 1, 2, buff=np.zeros(999, int), return_ranges=True),
    lambda hp: hp.query_disc(7, [1, 0, 0], 0.5, nest=True), lambda hp: hp.query_strip(7, 1, 2, nest=True),
])
def test_what_healpy_refuses_with_value_errors_is_refused(call):
    for module in (healpy, hp):
        with pytest.raises(ValueError):
            call(module)


@pytest.mark.parametrize("call", [
    lambda hp: hp.ang2pix(8.0, 0.3, 0.4), lambda hp: hp.ang2pix(8, "a", 0), lambda hp: hp.pix2ang(8, 5.0),
    lambda hp: hp.pix2ang(8, [5.5]), lambda hp: hp.get_nside(3), lambda hp: hp.get_nside(np.zeros(13)),
    lambda hp: hp.maptype([np.zeros(12), np.zeros(48)]), lambda hp: hp.reorder(np.zeros(13), r2n=True),
])
def test_what_healpy_refuses_with_type_errors_is_refused(call):
    for module in (healpy, hp):
        with pytest.raises(TypeError):
            call(module)


@pytest.mark.parametrize(("call", "named"), [
    (lambda: hp.pix2ang(8, 768), "pixel = 768"), (lambda: hp.pix2ang(8, [0, -2]), r"pixels\[1\] = -2"),
    (lambda: hp.pix2ang(8, [768, -1]), r"pixels\[0\] = 768"), (lambda: hp.vec2pix(8, 0, 0, 0), "vector"),
    (lambda: hp.query_disc(8, [1, 0, 0], -1), "radius = -1"),
    (lambda: hp.query_disc(8, [0, 0, 0], 1), "vector"), (lambda: hp.query_strip(8, np.inf, 1), "theta1 = inf"),
    (lambda: hp.query_polygon(8, [[1, 0, 0], [0, 1, 0]]), "3 or more"), (lambda: hp.npix2nside(0), "npix = 0"),
    (lambda: hp.ud_grade(np.zeros(12), 2, order_in="foo"), "order_in = 'foo'"), (lambda: hp.xyf2pix(8, 8, 0, 0), "x"),
    (lambda: hp.reorder(np.zeros(12), r2n=True, n2r=True), "contradict"),
    (lambda: hp.ang2pix(8, 0.1, 0.2, latauto=True), "lonlat"), (lambda: hp.query_disc(8, [1, 0, 0], 1, fact=0), "fact"),
])
def test_what_healpy_answers_without_meaning_is_refused(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_sizes():
    for name in ("nside2npix", "nside2pixarea", "nside2resol", "max_pixrad", "isnsideok"):
        for nside in (1, 7, 8, 2**29, np.array([1, 4, 1024]), np.int32(4)):
            same_call(name, nside, atol=1e-15 if name == "max_pixrad" else 0)  # healpy loses digits in small angles
    for nside in (8, np.array([8, 4])):
        same_call("nside2pixarea", nside, degrees=True)
        same_call("nside2resol", nside, arcmin=True)
        same_call("max_pixrad", nside, degrees=True)
    for nside in (0, -2, 13, 8.0, 8.5, 2**30, [1, 2, 3.3, 0, -2], [[1, 6]], np.array(8)):
        same_call("isnsideok", nside)
        same_call("isnsideok", nside, nest=True)
    for npix in (12, 13, 108.0, [12, 768, 1002]):
        same_call("isnpixok", npix)
    for orders in (np.arange(30), np.array([[3, 4]]), np.array(5)):
        same_call("order2nside", orders)
        same_call("order2npix", orders)
    for order in (0, 3, 29):
        same_call("order2nside", order)
        same_call("order2npix", order)
        same_call("nside2order", 2**order)
        same_call("npix2nside", 12 * 4**order)
        same_call("npix2order", 12 * 4**order)
    for npix in (12, 13, 48, 50):
        same_call("get_min_valid_nside", npix)


def test_kinds_of_maps():
    m = np.zeros(48)
    for maps in (m, [m], [m, m], np.zeros((3, 48)), (m, m), list(m), np.ma.masked_equal(m, 1)):
        for name in ("maptype", "get_nside"):
            same_call(name, maps)
    same_call("get_map_size", m)
    for sparse in ({"nside": 2, 5: 1.0}, {5: 1.0}):
        same_call("get_map_size", sparse)


def test_bad_pixels():
    m = np.array([1.0, hp.UNSEEN, np.nan, np.inf, hp.UNSEEN * (1 + 9e-6), hp.UNSEEN * (1 + 2e-5), 5.0])
    assert hp.UNSEEN == healpy.UNSEEN
    for values in (m, m.astype(np.float32), list(m), m.reshape(1, -1), hp.UNSEEN):
        same_call("mask_bad", values)
        same_call("mask_good", values)
    same_call("mask_bad", m, badval=5, rtol=0, atol=0)
    same_call("ma", m)
    same_call("ma", m, badval=5.0, rtol=0.0, atol=4.5)
    same_call("ma", [1, hp.UNSEEN])
    shared = hp.ma(m, copy=False)
    shared.data[0] = 9
    assert m[0] == 9
    np.testing.assert_array_equal(hp.mask_bad(m, badval=np.nan), np.isnan(m))
    for values in (hp.ma(m), [hp.ma(m), hp.ma(m)], m):
        same_call("ma_to_array", values)
        same_call("is_ma", values)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, bool, np.complex128])
def test_maps_are_reordered(rng, dtype):
    m = (10 * rng.standard_normal((2, 192))).astype(dtype)
    for maps in (m, m[0], list(m), m[:, ::-1]):
        for options in ({"r2n": True}, {"n2r": True}, {"inp": "RING", "out": "NESTED"}, {"inp": "nest", "out": "ring"},
                        {"inp": "ring", "out": "RING"}):
            same_call("reorder", maps, **options)
    assert hp.reorder(m, "NEST", "NESTED") is m
    masked = hp.reorder(np.ma.MaskedArray(m, np.stack([np.arange(192) % 5 == 0] * 2)), r2n=True)
    np.testing.assert_array_equal(masked.mask[0], hp.reorder(np.arange(192) % 5 == 0, r2n=True))


@pytest.mark.parametrize("nside", [1, 2, 4, 8])
def test_maps_change_their_nside(rng, nside):
    m = rng.uniform(1, 9, (2, 192))
    m[0, rng.integers(0, 192, 60)] = hp.UNSEEN
    for maps in (m, m[0], list(m), m.astype(np.float32), m[1].astype(np.int32), hp.ma(m[0]), m[1] > 5):
        rounding = 1e-6 if getattr(maps, "dtype", None) == np.float32 else 1e-14 * 9
        for options in ({}, {"pess": True}, {"order_in": "NESTED"}, {"order_out": "NEST"},
                        {"order_in": "NEST", "order_out": "RING"}):
            same_call("ud_grade", maps, nside, **options, atol=rounding)
    for options in ({"power": -2}, {"power": -1.5}, {"dtype": np.float32}):
        same_call("ud_grade", m[1], nside, **options, atol=1e-5)


def test_pixels_of_discs_strips_and_polygons(rng):
    for nside, nest in ((1, True), (7, False), (16, False), (16, True), (512, True)):
        for _ in range(5):
            vec, radius = rng.standard_normal(3), rng.uniform(0, 1)
            bounds = rng.uniform(0, np.pi, 2)
            corners = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
            for options in ({"nest": nest}, {"nest": nest, "return_ranges": True}):
                same_call("query_disc", nside, vec, radius, **options)
                same_call("query_strip", nside, *bounds, **options)
                same_call("query_strip", nside, *bounds, inclusive=True, **options)
                same_call("query_polygon", nside, corners, **options)
    agree(hp.query_disc(8, [1, 0, 0], 4), np.arange(768))


def test_inclusive_queries_find_all_that_overlaps_and_less_the_larger_fact_is(rng):
    nside, fine = 16, 256
    for _ in range(10):
        vec, radius = rng.standard_normal(3), rng.uniform(0, 1)
        inside = np.unique(hp.query_disc(fine, vec, radius, nest=True) // (fine // nside) ** 2)
        coarse, tight = (hp.query_disc(nside, vec, radius, inclusive=True, fact=fact, nest=True) for fact in (1, 16))
        assert set(inside) <= set(tight) <= set(coarse)
        assert set(coarse) <= set(hp.query_disc(nside, vec, radius + 2 * hp.max_pixrad(nside), nest=True))


def test_a_disc_may_come_in_any_form(rng):
    vec = rng.standard_normal(3)
    wanted = hp.query_disc(64, vec, 0.4)
    for form in (vec, list(vec), tuple(vec.tolist()), np.repeat(vec, 2)[::2], np.ma.asarray(vec), vec[::-1].copy()[::-1]):
        for radius in (0.4, np.float64(0.4), np.array(0.4)):
            for nside in (64, np.int32(64)):
                found = hp.query_disc(nside, form, radius, fact=np.int64(2))
                np.testing.assert_array_equal(found, wanted)
                assert type(found) is np.ndarray and found.dtype is np.dtype(np.int64) and found.flags.writeable
    whole = np.concatenate([np.arange(*run) for run in hp.query_disc(1024, vec, 0.4, return_ranges=True)])
    np.testing.assert_array_equal(hp.query_disc(1024, vec, 0.4), whole)


def test_results_of_queries_lie_in_the_callers_memory():
    buff = np.zeros(999, np.int64)
    found = hp.query_disc(8, [1, 0, 0], 0.5, buff=buff)
    agree(found, healpy.query_disc(8, [1, 0, 0], 0.5))
    assert np.shares_memory(found, buff)


def test_edges_of_pixels():
    for nside, nest in ((1, True), (7, False), (8, True)):
        for pix in (5, [5, 6], np.arange(12), np.array([], int), np.int64(3)):
            for step in (1, 3):
                same_call("boundaries", nside, pix, step, nest)


def test_monopoles_and_dipoles(rng):
    sky = rng.standard_normal(768)
    holes = sky.copy()
    holes[30:50] = hp.UNSEEN
    holes[60] = np.nan
    # the moments are sums of 768 values of about 1 in one order or another: 768 eps
    for m in (sky, holes, hp.ma(holes)):
        for options in ({}, {"gal_cut": 20}, {"nest": True}):
            same_call("fit_dipole", m, **options, atol=2e-13)
            same_call("fit_monopole", m, **options, atol=2e-13)
            same_call("remove_dipole", m, **options, fitval=True, atol=4e-13)
            same_call("remove_monopole", m, **options, fitval=True, atol=4e-13)
    for only in ([sky], sky[None], [hp.ma(holes)], hp.ma(holes)[None]):
        same_call("fit_dipole", only, atol=2e-13)
        same_call("fit_monopole", only, atol=2e-13)
        same_call("remove_dipole", only, atol=4e-13)
        same_call("remove_monopole", only, atol=4e-13)
    with pytest.raises(ValueError, match="m: has 2 maps"):
        hp.fit_dipole([sky, sky])
    same_call("fit_dipole", np.where(holes == hp.UNSEEN, 9, sky), bad=9, atol=2e-13)
    changed = sky.copy()
    assert np.shares_memory(hp.remove_dipole(changed, copy=False), changed)
    assert abs(hp.fit_monopole(changed)) < 2e-13
    with pytest.warns(HealpyDeprecationWarning, match="verbose"):
        hp.remove_monopole(sky, verbose=False)
    with pytest.raises(ValueError, match="gal_cut = 91"):
        hp.fit_dipole(sky, gal_cut=91)
    with pytest.raises(TypeError, match="copy"):
        hp.remove_dipole(np.arange(768), copy=False)


def test_import_loads_few_modules_beside_its_own():
    """What is loaded, rather than the time of it, which depends on what else the machine does."""
    code = """
import sys, numpy
before = set(sys.modules)
import zonal.healpy
print(*[name for name in set(sys.modules) - before if not name.startswith("zonal")])
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"astropy", "matplotlib", "scipy", "healpy", "tqdm"} & {name.partition(".")[0] for name in loaded}
    assert len(loaded) < 60, loaded  # 34 by Python 3.11

"""Functions of pixels of single numbers under healpy's names, against the same functions of arrays."""

import numpy as np
import pytest

import zonal.healpy as hp
from healpy_peer import agree

sizes = pytest.mark.parametrize(("nside", "nest"), [(1, False), (1, True), (2, True), (7, False), (16, False), (16, True),
                                                    (2**29, False), (2**29, True)])


@pytest.fixture
def angles(rng):
    """Directions, the poles among them."""
    theta = np.concatenate([[0.0, np.pi], np.arccos(rng.uniform(-1, 1, 98))])
    return theta, rng.uniform(-7, 7, theta.size)


def alone(name, nside, *arguments, **options):
    """The function called once for each set of numbers, with the results along the last axis as arrays have them."""
    found = [getattr(hp, name)(nside, *numbers, **options) for numbers in zip(*(list(a) for a in arguments))]
    kinds = {type(part) for one in found for part in (one if isinstance(one, tuple) else (one,))}
    assert kinds <= {np.int64, np.float64, np.ndarray}
    if isinstance(found[0], tuple):
        return tuple(np.stack(parts, -1) for parts in zip(*found))
    return np.stack(found, -1)


@sizes
@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist])
def test_single_numbers_give_what_arrays_of_them_give(rng, angles, nside, nest, kind):
    theta, phi = map(kind, angles)
    lon, lat = kind(np.degrees(phi)), kind(90 - np.degrees(theta))
    pixels = kind(np.concatenate([[0, 12 * nside**2 - 1], rng.integers(0, 12 * nside**2, 98)]))
    vectors = [kind(x) for x in hp.ang2vec(*angles).T]
    exact = [("ang2pix", (theta, phi), {}), ("ang2pix", (lon, lat), {"lonlat": True}), ("vec2pix", vectors, {}),
             ("pix2xyf", (pixels,), {}), ("xyf2pix", [kind(x) for x in hp.pix2xyf(nside, pixels, nest)], {}),
             ("get_all_neighbours", (pixels,), {}), ("get_all_neighbours", (theta, phi), {}),
             ("get_interp_weights", (theta, phi), {}), ("get_interp_weights", (lon, lat), {"lonlat": True})]
    for name, arguments, options in exact:
        agree(alone(name, nside, *arguments, nest=nest, **options), getattr(hp, name)(nside, *arguments, nest=nest, **options))
    for name in ("ring2nest", "nest2ring"):
        if nside & (nside - 1) == 0:
            agree(alone(name, nside, pixels), getattr(hp, name)(nside, pixels))
    # 4 ulp of pi, as many in degrees, and 4 eps: one pixel's sines are not the arrays'
    for name, options, atol in (("pix2ang", {}, 2e-15), ("pix2ang", {"lonlat": True}, 1.2e-13), ("pix2vec", {}, 9e-16)):
        agree(alone(name, nside, pixels, nest=nest, **options), getattr(hp, name)(nside, pixels, nest=nest, **options), atol)
    for step in (1, 3):
        agree(np.array([hp.boundaries(nside, pixel, step, nest) for pixel in pixels]),
              hp.boundaries(nside, pixels, step, nest))


def test_single_directions_give_what_arrays_of_them_give(rng, angles):
    sky = rng.standard_normal(768)
    for m in (sky, sky.astype(np.float32)):
        for nest in (False, True):
            agree(np.array([hp.get_interp_val(m, *at, nest) for at in zip(*angles)]), hp.get_interp_val(m, *angles, nest))
    for lonlat in (False, True):
        first, second = (np.degrees(angles[1]), 90 - np.degrees(angles[0])) if lonlat else angles
        vectors = hp.ang2vec(first, second, lonlat=lonlat)
        # 1 ulp: NumPy may have sines of its own for arrays
        agree(np.array([hp.ang2vec(*at, lonlat=lonlat) for at in zip(first, second)]), vectors, 3e-16)
        agree(np.array([hp.ang2vec(*map(float, at), lonlat=lonlat) for at in zip(first, second)]), vectors, 3e-16)
        for kind in (np.asarray, list, tuple):
            found = [hp.vec2ang(kind(vector), lonlat=lonlat) for vector in 2 * vectors]
            assert all(one.shape == (1,) for pair in found for one in pair)
            agree(tuple(np.concatenate(parts) for parts in zip(*found)), hp.vec2ang(2 * vectors, lonlat=lonlat), 6e-14)


@pytest.mark.parametrize(("name", "arguments", "error"), [
    ("ang2pix", (0, 0.1, 0.2), "nside = 0"), ("ang2pix", (8, np.nan, 0.2), "theta = nan"),
    ("ang2pix", (7, 0.1, 0.2, True), "power of 2"),
    ("ang2pix", (8, 0.1, np.nan, False, True), "lat = nan"), ("ang2pix", (8, 0.1, 91, False, True), "lat = 91"),
    ("pix2ang", (8, -2), "pixel = -2"), ("pix2vec", (8, 768), "pixel = 768"), ("pix2xyf", (8, 768), "pixel = 768"),
    ("ring2nest", (7, 1), "power of 2"), ("nest2ring", (8, 768), "pixel = 768"),
    ("vec2pix", (2**30, 1, 1, 1), "nside"), ("xyf2pix", (8, 1, 1, 12), "face = 12"), ("xyf2pix", (8, 1, 8, 0), "y = 8"),
    ("ang2vec", (np.nan, 0.1), "theta = nan"), ("ang2vec", (3.2, 0.1), "theta = 3.2"),
    ("ang2vec", (0.1, 91, True), "lat = 91"),
    ("vec2ang", ([1, 2],), r"shape \(2,\)"),
    ("get_all_neighbours", (8, 768), "pixel = 768"), ("get_all_neighbours", (8, 4.0, 0.1), "theta = 4"),
    ("get_interp_weights", (8, -2), "pixel = -2"), ("get_interp_weights", (8, 3.2, 0.1), "theta.* = 3.2"),
    ("get_interp_val", (np.zeros(12), -0.1, 1.0), "theta.* = -0.1"), ("get_interp_val", (np.zeros(13), 0.1, 0.2), "13"),
    ("boundaries", (8, 768), "= 768"), ("boundaries", (7, 1, 1, True), "power of 2"), ("boundaries", (8, 1, 0), "step = 0"),
    ("query_disc", (0, [1, 0, 0], 0.1), "nside = 0"), ("query_disc", (8, [np.nan, 0, 0], 0.1), "vector"),
    ("query_disc", (8, [1, 0, 0], np.nan), "radius = nan"), ("query_disc", (8, [1, 0], 0.1), r"shape \(2,\)"),
    ("query_disc", (2**70, [1, 0, 0], 0.1), "nside"), ("query_disc", (8, [1, 0, 0], 0.1, True, 2**70), "fact"),
    ("nside2npix", (0,), "nside = 0"), ("nside2pixarea", (2**30,), "nside"), ("nside2resol", (-1,), "nside = -1"),
    ("nside2order", (12,), "nside = 12"), ("npix2nside", (-12,), "npix = -12"), ("npix2nside", ([12],), "npix"),
])
def test_single_numbers_that_are_not_valid_are_named(name, arguments, error):
    with pytest.raises(ValueError, match=error):
        getattr(hp, name)(*arguments)


@pytest.mark.parametrize(("name", "arguments"), [
    ("ang2pix", (8, None, 0.1)), ("ang2pix", (None, 0.1, 0.2)), ("ang2pix", (2**70, 0.1, 0.2)), ("pix2ang", (8, 2**70)),
    ("vec2pix", (8, "1", 2, 3)), ("ring2nest", (8, 1.0)), ("pix2xyf", (8.0, 1)), ("xyf2pix", (8, 1.0, 1, 1)),
    ("ang2vec", (0.1, None)), ("vec2ang", (None,)), ("get_interp_weights", (8, 5.0)),
    ("get_all_neighbours", (8, 5.0)), ("query_disc", (8.5, [1, 0, 0], 0.1)), ("query_disc", (8, "abc", 0.1)),
    ("boundaries", (8, None)),
])
def test_single_arguments_of_other_types_are_refused(name, arguments):
    with pytest.raises(TypeError):
        getattr(hp, name)(*arguments)

"""zonal.ducc0.healpix is ducc0's."""

import pickle

import ducc0
import numpy as np
import pytest

import zonal
import zonal.ducc0

GRIDS = [(1, "RING"), (3, "RING"), (4, "NEST"), (16, "RING"), (16, "NESTED"), (2**29, "NEST")]


def of_both(nside, scheme):
    return zonal.ducc0.healpix.Healpix_Base(nside, scheme), ducc0.healpix.Healpix_Base(nside, scheme)


def same(found, expected, atol=0.0):
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def pixels(nside, shape=(5, 8)):
    return np.random.default_rng(1).integers(0, 12 * nside**2, shape)


def directions(shape=(5, 8)):
    rng = np.random.default_rng(2)
    return np.stack([rng.uniform(0, np.pi, shape), rng.uniform(-7, 13, shape)], -1)


@pytest.mark.parametrize("nside, scheme", GRIDS)
def test_sizes(nside, scheme):
    ours, theirs = of_both(nside, scheme)
    for name in ("nside", "npix", "order", "scheme"):
        assert getattr(ours, name)() == getattr(theirs, name)()
    for name in ("pix_area", "max_pixrad"):
        np.testing.assert_allclose(getattr(ours, name)(), getattr(theirs, name)(), rtol=1e-14, atol=2e-16)  # ducc0's is a difference


@pytest.mark.parametrize("nside, scheme", GRIDS)
def test_pixels_and_directions(nside, scheme):
    ours, theirs = of_both(nside, scheme)
    pix = pixels(nside)
    # Each rounds a longitude of up to 2 pi and a colatitude to 4 ulp; near the poles ducc0 has them by its own functions.
    same(ours.pix2ang(pix), theirs.pix2ang(pix), 4e-15)
    same(ours.pix2vec(pix), theirs.pix2vec(pix), 4e-15)
    ang = directions()
    same(ours.ang2pix(ang), theirs.ang2pix(ang))
    same(ours.ang2pix(ang.astype(np.float32)), theirs.ang2pix(ang.astype(np.float32)))
    vec = np.random.default_rng(3).standard_normal((5, 8, 3)) * 7
    same(ours.vec2pix(vec), theirs.vec2pix(vec))
    same(ours.ang2pix(ours.pix2ang(pix)), pix)


@pytest.mark.parametrize("nside, scheme", GRIDS[:-1])
def test_neighbours_and_places_on_faces(nside, scheme):
    ours, theirs = of_both(nside, scheme)
    pix = np.arange(12 * nside**2)
    same(ours.neighbors(pix), theirs.neighbors(pix))
    xyf = ours.pix2xyf(pix)
    same(xyf, theirs.pix2xyf(pix))
    same(ours.xyf2pix(xyf), pix)


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0, 3), (70000,)])
def test_shapes_and_outputs(shape):
    ours, theirs = of_both(16, "RING")
    pix, ang = pixels(16, shape), directions(shape)
    for name, given in (("pix2ang", pix), ("pix2vec", pix), ("neighbors", pix), ("pix2xyf", pix), ("ring2nest", pix), ("nest2ring", pix),
                        ("ang2pix", ang)):
        expected = getattr(theirs, name)(given)
        found = getattr(ours, name)(given, 2)
        same(found, expected, 4e-15)
        out = np.zeros(expected.shape[::-1], expected.dtype).T
        assert getattr(ours, name)(given, nthreads=0, out=out) is out
        same(out, expected, 4e-15)


@pytest.mark.parametrize("nside, scheme", [(3, "RING"), (16, "RING"), (16, "NEST")])
@pytest.mark.parametrize("radius", [-1.0, 0.0, 1e-9, 0.02, 0.3, 1.6, 3.1, 4.0])
def test_discs(nside, scheme, radius):
    ours, theirs = of_both(nside, scheme)
    for ptg in directions((20,)):
        same(ours.query_disc(ptg, radius), theirs.query_disc(ptg, radius))


def test_rings_for_transforms():
    for nside in (1, 3, 16):
        ours, theirs = (base.sht_info() for base in of_both(nside, "RING"))
        assert sorted(ours) == sorted(theirs)
        for name, expected in theirs.items():
            same(ours[name], expected, 4e-15)


def test_vectors_and_angles():
    ang = directions((4, 3))
    vec = np.random.default_rng(3).standard_normal((4, 3, 3)) * 7
    vec[0, 0], vec[0, 1] = (0, 0, 1), (0, 0, -2)
    for name, given in (("ang2vec", (ang,)), ("vec2ang", (vec,)), ("v_angle", (vec, vec[::-1]))):
        expected = getattr(ducc0.healpix, name)(*given)
        same(getattr(zonal.ducc0.healpix, name)(*given, nthreads=2), expected, 4e-15)
        out = np.zeros_like(expected)
        assert getattr(zonal.ducc0.healpix, name)(*given, out=out) is out
        same(out, expected, 4e-15)
    tiny = np.array([[1.0, 0, 0], [1.0, 0, 0]]), np.array([[1.0, 1e-12, 0], [-1.0, 1e-12, 0]])
    np.testing.assert_allclose(zonal.ducc0.healpix.v_angle(*tiny), [1e-12, np.pi - 1e-12], rtol=1e-15)


def test_a_grid_can_be_pickled_and_shown():
    base = pickle.loads(pickle.dumps(zonal.ducc0.healpix.Healpix_Base(8, "NESTED")))
    assert repr(base) == "<zonal.ducc0.healpix.Healpix_Base: nside=8, NEST>"


def test_threads_act():
    base, pix = zonal.ducc0.healpix.Healpix_Base(1024, "RING"), pixels(1024, (200_000,))
    for name in ("pix2ang", "pix2vec", "neighbors", "pix2xyf", "ring2nest", "nest2ring"):
        with pytest.raises(ValueError, match="nthreads = -1: must be from 0"):
            getattr(base, name)(pix, nthreads=-1)
        same(getattr(base, name)(pix, nthreads=1), getattr(base, name)(pix, nthreads=3))


REFUSED = [
    (lambda: zonal.ducc0.healpix.Healpix_Base(3, "NEST"), "nside = 3: must be a power of 2"),
    (lambda: zonal.ducc0.healpix.Healpix_Base(0, "RING"), "nside = 0: must be an integer from 1"),
    (lambda: zonal.ducc0.healpix.Healpix_Base(4, "ring"), "scheme = 'ring': must be RING, NEST or NESTED"),
    (lambda: zonal.ducc0.healpix.Healpix_Base(4, "NEST").sht_info(), "scheme = 'NEST': must be RING for rings"),
    (lambda: BASE.ang2pix(np.zeros((2, 3))), r"ang: has shape \(2, 3\): must be \(.., 2\)"),
    (lambda: BASE.ang2pix(np.array([[4.0, 0.0]])), "theta"),
    (lambda: BASE.ang2pix(np.zeros((2, 2), int)), "ang = an array of int64: must be a NumPy array of float32 or float64"),
    (lambda: BASE.vec2pix(np.zeros((1, 3))), "vector"),
    (lambda: BASE.pix2ang(np.array([192])), "192"),
    (lambda: BASE.pix2ang(np.array([0.0])), "pix: must hold integers"),
    (lambda: BASE.pix2ang(np.array([0]), out=np.zeros((1, 3))), r"out: has shape \(1, 3\): must be \(1, 2\)"),
    (lambda: BASE.pix2ang(np.array([0]), out=np.zeros((1, 2), np.float32)), "out = an array of float32"),
    (lambda: BASE.query_disc(np.zeros((1, 2)), 0.1), r"ptg: has shape \(1, 2\)"),
    (lambda: BASE.query_disc(np.array([4.0, 0.0]), 0.1), "ptg = .*: must be theta from 0 to pi"),
    (lambda: BASE.query_disc(np.array([1.0, 0.0]), np.nan), "radius = nan: must be a number"),
    (lambda: zonal.ducc0.healpix.Healpix_Base(3, "RING").ring2nest(np.array([0])), "nside = 3"),
    (lambda: zonal.ducc0.healpix.v_angle(np.ones((2, 3)), np.ones(3)), "v2: has shape"),
]
BASE = zonal.ducc0.healpix.Healpix_Base(4, "RING")


@pytest.mark.parametrize("call, message", REFUSED, ids=[message for _, message in REFUSED])
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()

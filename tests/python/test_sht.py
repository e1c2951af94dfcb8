"""Transforms against healpy and ducc0, and what the package adds: types, strides, out=, batches, errors."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import ducc0
import healpy
import numpy as np
import pytest

import zonal

NSIDE, LMAX = 16, 40

# Both sides round: each by about eps * lmax = 1e-14 of values of up to 100.
DOUBLE = dict(rtol=0, atol=2e-12)
EPS = np.finfo(float).eps
# The same of alm of noise, up to 0.25, after seven transforms.
NOISE = dict(rtol=0, atol=2 * 7 * LMAX * 0.25 * EPS)
COEFFICIENTS = dict(rtol=0, atol=2 * LMAX * 5 * EPS)  # the same of alm up to 5


@pytest.fixture
def sht():
    return zonal.SHT(zonal.Grid.healpix(NSIDE), LMAX, threads=2)


def test_synthesis_is_that_of_healpy(sht, random_alm):
    alm = random_alm(LMAX)
    np.testing.assert_allclose(sht.synthesize(alm), healpy.alm2map(alm, NSIDE, lmax=LMAX), **DOUBLE)


def test_spin_2_synthesis_is_that_of_healpy(random_alm):
    alm = random_alm(LMAX, shape=(2,), spin=2)
    expected = healpy.alm2map_spin(alm, NSIDE, 2, LMAX)
    sht = zonal.SHT(zonal.Grid.healpix(NSIDE), LMAX, spin=2)
    np.testing.assert_allclose(sht.synthesize(alm), expected, **DOUBLE)


def test_mmax_is_that_of_healpy(random_alm):
    alm = random_alm(LMAX, 10)
    sht = zonal.SHT(zonal.Grid.healpix(NSIDE), LMAX, mmax=10)
    np.testing.assert_allclose(sht.synthesize(alm), healpy.alm2map(alm, NSIDE, lmax=LMAX, mmax=10), **DOUBLE)


def test_analysis_is_that_of_healpy(sht, rng):
    sky = rng.standard_normal(12 * NSIDE**2)
    for iterations in (0, 3):
        expected = healpy.map2alm(sky, lmax=LMAX, iter=iterations)
        np.testing.assert_allclose(sht.analyze(sky, iterations=iterations), expected, **NOISE)


def test_adjoint_is_that_of_ducc0(rng):
    sky = rng.standard_normal((2, 30 * 61))
    expected = ducc0.sht.adjoint_synthesis_2d(map=sky.reshape(2, 30, 61), spin=2, lmax=25, geometry="F1")
    sht = zonal.SHT(zonal.Grid.fejer1(30, 61), 25, spin=2)
    np.testing.assert_allclose(sht.adjoint(sky), expected, rtol=0, atol=1e-11)  # sums of 1830 pixels


def test_analysis_on_gauss_legendre_rings_inverts_the_synthesis(random_alm):
    sht = zonal.SHT(zonal.Grid.gauss_legendre(41, 81), 40)
    alm = random_alm(40)
    np.testing.assert_allclose(sht.analyze(sht.synthesize(alm)), alm, **COEFFICIENTS)


def test_conjugate_gradients_report_how_they_went(sht, random_alm):
    alm = random_alm(20)
    sht = zonal.SHT(zonal.Grid.healpix(NSIDE), 20)
    back, report = sht.analyze(sht.synthesize(alm), tolerance=1e-12, return_report=True)
    assert report.reached_tolerance and report.residual <= 1e-12 and report.iterations > 0
    # The tolerance is of the norm, and the quadrature's condition number below 2.
    np.testing.assert_allclose(back, alm, rtol=0, atol=2 * 1e-12 * np.linalg.norm(alm))


def test_a_tolerance_that_is_not_reached_warns(sht, rng):
    with pytest.warns(zonal.ZonalWarning):
        sht.analyze(rng.standard_normal(12 * NSIDE**2), tolerance=1e-12, max_iterations=1)


@pytest.mark.parametrize("spin", [0, 2])
def test_batches_are_maps_one_by_one(spin, random_alm):
    sht = zonal.SHT(zonal.Grid.healpix(NSIDE), LMAX, spin=spin)
    alm = random_alm(LMAX, shape=(3, 2) if spin else (3,))
    maps = sht.synthesize(alm)
    assert maps.shape == (*alm.shape[:-1], 12 * NSIDE**2)
    for one, many in zip(alm, maps):
        np.testing.assert_allclose(sht.synthesize(one), many, **DOUBLE)
    back = sht.analyze(maps)
    np.testing.assert_allclose(sht.analyze(maps[1]), back[1], **COEFFICIENTS)


def test_float32_stays_float32(sht, random_alm):
    alm = random_alm(LMAX)
    single = sht.synthesize(alm.astype(np.complex64))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, sht.synthesize(alm), rtol=0, atol=1e-4)  # 1e-7 of sums of 40 terms of 1
    assert sht.analyze(single).dtype == np.complex64
    assert sht.adjoint(single).dtype == np.complex64


def test_out_is_written_and_returned(sht, random_alm):
    alm = random_alm(LMAX)
    expected = sht.synthesize(alm)
    both = np.zeros((2, 2 * 12 * NSIDE**2))
    out = both[1, 5 : 5 + 12 * NSIDE**2]  # rows of a larger array are fine
    assert sht.synthesize(alm, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert np.count_nonzero(both) == np.count_nonzero(out)


def test_out_that_does_not_fit_is_refused(sht, random_alm):
    alm, n = random_alm(LMAX), 12 * NSIDE**2
    read_only = np.zeros(n)
    read_only.flags.writeable = False
    for out in (np.zeros(n, np.float32), np.zeros(n + 1), np.zeros(2 * n)[::2], read_only, np.zeros((1, n))):
        with pytest.raises(ValueError, match="^out: must"):
            sht.synthesize(alm, out=out)
    with pytest.raises(TypeError, match="^out: must be a NumPy array, not list"):
        sht.synthesize(alm, out=[0.0] * n)


def test_any_layout_and_type_of_input_will_do(sht, random_alm):
    alm = random_alm(LMAX)
    expected = sht.synthesize(alm)
    strided = np.empty(2 * len(alm), complex)[::2]
    strided[:] = alm
    transposed = np.empty((len(alm), 3), complex)
    transposed[:] = alm[:, None]
    for same in (strided, alm[::-1].copy()[::-1], alm.tolist(), alm.astype(">c16"), alm.astype(np.clongdouble)):
        np.testing.assert_array_equal(sht.synthesize(same), expected)
    np.testing.assert_allclose(sht.synthesize(transposed.T)[2], expected, **DOUBLE)
    sky = np.arange(12 * NSIDE**2)
    np.testing.assert_array_equal(sht.analyze(sky), sht.analyze(sky.astype(float)))
    np.testing.assert_array_equal(sht.analyze(sky.astype(">f4")).dtype, np.complex64)


def test_arrays_that_mean_nothing_are_refused(sht):
    with pytest.raises(ValueError, match=r"alm: has shape \(7,\): must be \[861\] for spin = 0"):
        sht.synthesize(np.zeros(7, complex))
    with pytest.raises(TypeError, match="map: must hold real numbers, not complex128"):
        sht.analyze(np.zeros(12 * NSIDE**2, complex))
    with pytest.raises(TypeError, match="map: has masked values"):
        sht.analyze(np.ma.masked_less(np.arange(12.0 * NSIDE**2), 3))


def test_options_out_of_range_say_what_is_allowed():
    grid = zonal.Grid.healpix(4)
    for arguments in (dict(lmax=-1), dict(lmax=8, mmax=9), dict(lmax=8, mmax=-2), dict(lmax=1, spin=2),
                      dict(lmax=8, threads=-1)):
        with pytest.raises(ValueError, match="must be"):
            zonal.SHT(grid, **arguments)
    with pytest.raises(TypeError, match="grid: must be a zonal.Grid"):
        zonal.SHT(4, 8)


def test_an_empty_batch_is_empty(sht):
    assert sht.synthesize(np.zeros((0, sht.n_alm), complex)).shape == (0, 12 * NSIDE**2)
    assert sht.analyze(np.zeros((0, 12 * NSIDE**2))).shape == (0, sht.n_alm)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: zonal.SHT(zonal.Grid.healpix(4), 8.0), "lmax = 8.0: must be an integer"),
    (lambda: zonal.Grid.healpix("4"), "nside = '4': must be an integer"),
    (lambda: zonal.Grid.fejer1(4, 8.0), "n_phi = 8.0: must be an integer"),
    (lambda: zonal.synalm(np.ones(4), seed="1"), "seed = '1': must be an integer"),
    (lambda: zonal.angle(np.ones(2), "fwhm"), "fwhm: must be one angle, not ndarray"),
    (lambda: zonal.map2alm(np.ones(12), progress=3), "progress = 3: must be True, False or a callable"),
    (lambda: zonal.plan(zonal.Kernel.gaussian(0.1), 16), "grid: must be a zonal.Grid, not int"),
])
def test_wrong_types_are_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_pixels_in_no_ring_are_left_alone(random_alm):
    grid = zonal.Grid.healpix(NSIDE)
    half = grid.subset(range(32))
    whole = zonal.SHT(grid, LMAX).synthesize(alm := random_alm(LMAX))
    part = zonal.SHT(half, LMAX)
    n = int(half.ring_sizes.sum())
    new, old = part.synthesize(alm), part.synthesize(alm, out=np.full(grid.n_pixels, 7.0))
    np.testing.assert_allclose(new[:n], whole[:n], **DOUBLE)
    assert not new[n:].any() and (old[n:] == 7).all()


def test_it_can_be_pickled(sht, random_alm):
    alm = random_alm(LMAX)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(sht)).synthesize(alm), sht.synthesize(alm))


def test_one_transform_serves_many_threads(sht, random_alm):
    alm = random_alm(LMAX, shape=(8,))
    expected = [sht.synthesize(a) for a in alm]
    with ThreadPoolExecutor(8) as pool:
        for got, want in zip(pool.map(sht.synthesize, list(alm) * 20), expected * 20):
            np.testing.assert_array_equal(got, want)

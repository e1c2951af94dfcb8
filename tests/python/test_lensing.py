"""Lensing beside direct sums, identities, and what is refused."""

import pickle
import re

import astropy.units as u
import numpy as np
import pytest

import zonal

LMAX, LMAX_PHI = 24, 12
RNG = np.random.default_rng(47)


def white(rows, lmax=LMAX, least=0):
    l = np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)])
    alm = RNG.standard_normal((rows, l.size)) + 1j * RNG.standard_normal((rows, l.size))
    alm[:, :lmax + 1].imag = 0
    return alm * (l >= least)


def degrees(lmax):
    return np.concatenate([np.arange(m, lmax + 1.0) for m in range(lmax + 1)])


def potential(size=0.05):
    l = degrees(LMAX_PHI)
    alm = white(1, LMAX_PHI, 1)[0] / np.maximum(l * (l + 1), 1) ** 1.5
    slopes = zonal.gradient(alm, 8)
    return alm * size / np.sqrt((slopes**2).sum(0).mean())


T, EB, PHI, PSI = white(1)[0], white(2, least=2), potential(), potential(0.02)
THETA, LON = np.append(np.arccos(RNG.uniform(-1, 1, 40)), [0, np.pi]), RNG.uniform(-1, 7, 42)


def points(theta, phi):
    """A grid of rings of one pixel, which are summed directly."""
    return zonal.Grid(theta, np.ones(len(theta), int), 1.0, phi)


def direct(alm, theta, phi, spin):
    return zonal.SHT(points(theta, phi), LMAX if spin != 1 else LMAX_PHI, spin=spin).synthesize(alm)


def wanted(curl=None):
    """I, Q, U where the deflections lead."""
    l = degrees(LMAX_PHI)
    root = np.sqrt(l * (l + 1))
    d = direct(np.stack([root * PHI, root * (0 * PHI if curl is None else curl)]), THETA, LON, 1)
    theta, phi, gamma = zonal.displace(THETA, LON, d)
    q, u_ = direct(EB, theta, phi, 2)
    p = np.exp(2j * gamma) * (q + 1j * u_)
    return np.stack([direct(T, theta, phi, 0), p.real, p.imag])


@pytest.mark.parametrize("curl", [None, PSI])
def test_lensed_skies_are_direct_sums_where_deflections_lead(curl):
    expected = wanted(curl)
    most = abs(expected).max()
    for where in ((THETA, LON), points(THETA, LON)):
        found, report = zonal.lens([T, *EB], PHI, where, curl=curl, error=1e-9, return_report=True)
        assert found.shape == (3, THETA.size) and abs(found - expected).max() < 1e-9 * most
        assert report.bound <= 1e-9 and 0 < report.mean_error < 1e-9
        np.testing.assert_allclose(zonal.lens(T, PHI, where, curl=curl, error=1e-9), expected[0], rtol=0, atol=1e-9 * most)
        np.testing.assert_allclose(zonal.lens(EB, PHI, where, curl=curl, error=1e-9), expected[1:], rtol=0, atol=1e-9 * most)


def test_batches_floats_and_units():
    sky = np.stack([[T, *EB], [2 * T, *(3 * EB)]])
    one = zonal.lens(sky[0], PHI, 8)
    found = zonal.lens(sky, PHI, 8)
    np.testing.assert_array_equal(found[0], one)
    np.testing.assert_allclose(found[1], one * [[2], [3], [3]], rtol=0, atol=1e-13 * abs(found).max())
    np.testing.assert_array_equal(zonal.lens(sky[:, :1], PHI, 8), found[:, :1])
    single = zonal.lens(sky.astype(np.complex64), PHI.astype(np.complex64), 8)
    assert single.dtype == np.float32 and abs(single - found).max() < 1e-5 * abs(found).max()
    assert zonal.lens(T * u.K, PHI, 8).unit == u.K


def test_transpose_and_derivatives():
    lensing = zonal.Lensing(PHI, 8, LMAX, fields="TEB", curl=PSI, error=1e-12)
    sky = np.stack([T, *EB])
    data = RNG.standard_normal((3, lensing.n_values))
    twice = np.where(np.arange(T.size) <= LMAX, 1, 2)
    forth, back = (data * lensing.lens(sky)).sum(), (twice * (lensing.adjoint(data).conj() * sky).real).sum()
    # Both are sums of the same terms, of this size.
    assert abs(forth - back) < 1e-13 * np.sqrt((data**2).sum() * (lensing.lens(sky) ** 2).sum())
    gradient = lensing.differentiate(sky, data)
    way = np.stack([potential(1), potential(1)])
    twice = np.where(np.arange(PHI.size) <= LMAX_PHI, 1, 2)
    at = lambda h: (data * zonal.lens(sky, PHI + h * way[0], 8, curl=PSI + h * way[1], error=1e-12)).sum()
    h = 3e-4
    differences = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    terms = twice * (gradient.conj() * way).real
    # h^4 lmax^5 / 30 and rounding over h are some 1e-8 of the terms' size.
    assert abs(terms.sum() - differences) < 1e-7 * abs(terms).sum()
    assert zonal.Lensing(PHI, 8, LMAX).differentiate(T, data[0]).shape == PHI.shape


def test_derivatives_take_floats_and_doubles_together():
    lensing = zonal.Lensing(PHI, 8, LMAX)
    narrow, data = T.astype(np.complex64), RNG.standard_normal(lensing.n_values).astype(np.float32)
    doubles = lensing.differentiate(narrow.astype(np.complex128), data.astype(np.float64))
    for alm, values in ((narrow, data.astype(np.float64)), (narrow.astype(np.complex128), data), (narrow, data)):
        np.testing.assert_array_equal(lensing.differentiate(alm, values), doubles)


def test_properties():
    lensing = zonal.Lensing(PHI, (THETA, LON), LMAX, fields="EB", mmax=20, error=1e-5, threads=1)
    assert (lensing.lmax, lensing.mmax, lensing.fields, lensing.n_values, lensing.threads) == (LMAX, 20, "EB", THETA.size, 1)
    assert lensing.n_alm == zonal.alm_size(LMAX, 20) and 0 < lensing.rms < lensing.largest < 0.5 and lensing.bound <= 1e-5
    again = pickle.loads(pickle.dumps(zonal.Lensing(PHI, (THETA, LON), LMAX, curl=PSI, threads=1)))
    np.testing.assert_array_equal(again.lens(T), zonal.lens(T, PHI, (THETA, LON), curl=PSI))
    assert repr(lensing) == "<zonal.Lensing: EB, n_values=42, lmax=24, error=1e-05>"


@pytest.mark.parametrize("curl", [None, PSI])
def test_the_way_back_ends_where_it_began(curl):
    inverse, report = zonal.inverse_deflection(PHI, (THETA, LON), curl=curl, error=1e-11, return_report=True)
    theta, phi, _ = zonal.displace(THETA, LON, inverse)
    l = degrees(LMAX_PHI)
    root = np.sqrt(l * (l + 1))
    d = direct(np.stack([root * PHI, root * (0 * PHI if curl is None else curl)]), theta, phi, 1)
    there, lon, _ = zonal.displace(theta, phi, d)
    miss = np.hypot(there - THETA, np.sin(THETA) * np.sin((lon - LON) / 2) * 2)
    # At the poles phi has no meaning.
    assert miss[:-2].max() < 1e-11 * np.hypot(*d).max() + 1e-14
    assert report.residual <= 1e-11 * np.hypot(*d).max() and report.iterations < 10 and 0 < report.contraction < 1
    on_grid = zonal.inverse_deflection(PHI, points(THETA, LON), curl=curl, error=1e-11)
    np.testing.assert_allclose(on_grid, inverse, rtol=0, atol=1e-10)


@pytest.mark.parametrize("call, error, message", [
    (lambda: zonal.lens(T, PHI, (THETA, LON[:-1])), ValueError, "theta and phi: lengths 42 and 41 differ"),
    (lambda: zonal.lens(T, PHI, (THETA, LON, LON)), ValueError, "where: has 3 parts"),
    (lambda: zonal.lens(T, PHI, 2.5), TypeError, "where = 2.5: must be an integer"),
    (lambda: zonal.lens(T, 100 * PHI, 8), ValueError, "deflection = .*: must be a number of radians up to 3 .point"),
    (lambda: zonal.lens(T, PHI[:-1], 8), ValueError, "phi: has 90 coefficients: must have"),
    (lambda: zonal.lens(T, PHI[:1], 8), ValueError, "phi: end at l = 0"),
    (lambda: zonal.lens(T, np.where(PHI == PHI[7], np.nan, PHI), 8), ValueError, "phi: must be finite"),
    (lambda: zonal.lens(T, PHI[None], 8), ValueError, r"phi: has shape \(1, 91\): must be \[n_alm\]"),
    (lambda: zonal.lens(T, PHI, 8, curl=T), ValueError, "curl: has 325 coefficients: must have 91"),
    (lambda: zonal.lens(np.zeros((4, T.size), complex), PHI, 8), ValueError, r"alm: has shape \(4, 325\)"),
    (lambda: zonal.lens(T, PHI, 8, error=1), ValueError, "error = 1: must be from 2e-14 to 0.1"),
    (lambda: zonal.lens(T, PHI, 8, mmax=LMAX + 1), ValueError, "mmax"),
    (lambda: zonal.Lensing(PHI, 8, LMAX, fields="TE"), ValueError, "fields = 'TE': must be one of 'T', 'EB', 'TEB'"),
    (lambda: zonal.Lensing(PHI, 8, 1, fields="EB"), ValueError, "lmax = 1: must be 2 or more with E and B"),
    (lambda: zonal.Lensing(PHI, 8, LMAX, fields="TEB").lens(T), ValueError, r"alm: has shape \(325,\): must be \[3, 325\]"),
    (lambda: zonal.Lensing(PHI, 8, LMAX).differentiate(T, T.real), ValueError, r"values: has shape \(325,\): must be \(768,\)"),
    (lambda: zonal.displace(THETA, LON, np.zeros((2, 3))), ValueError, r"deflection: has shape \(2, 3\): must be \(2, 42\)"),
    (lambda: zonal.displace([4.0], [0.0], [[0.0], [0.0]]), ValueError, r"theta = 4: must be from 0 to pi \(point 0\)"),
    (lambda: zonal.inverse_deflection(potential(2), 8), ValueError, "^phi: "),
    (lambda: zonal.inverse_deflection(PHI, 8, error=0), ValueError, "error = 0: must be from 4e-14 to 0.1"),
    (lambda: zonal.inverse_deflection(PHI, 8, max_iterations=0), ValueError, "max_iterations = 0: must be 1 or more"),
])
def test_what_is_refused(call, error, message):
    with pytest.raises(error) as found:
        call()
    assert re.search(message, str(found.value)), found.value

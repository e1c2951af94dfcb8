"""Coupling matrices beside sums over 3j symbols, which a recurrence gives to forty digits and more."""

from math import factorial

import mpmath
import numpy as np
import pytest

import zonal

LMAX = 64
EPS = np.finfo(float).eps


def three_j(l, k, s):
    """(L l k; 0 s -s) for L = l + k, l + k - 1, ..., |l - k|, by the recurrence of Schulten and Gordon (1975) from above."""
    def a(x):
        return x * mpmath.sqrt((x * x - (l - k) ** 2) * ((l + k + 1) ** 2 - x * x))

    values = [mpmath.mpf(0), mpmath.mpf(1)]
    for x in range(l + k, abs(l - k), -1):
        b = -2 * s * x * (x + 1) * (2 * x + 1)
        values.append(-(x * a(x + 1) * values[-2] + b * values[-1]) / ((x + 1) * a(x)))
    values = values[1:]
    norm = mpmath.sqrt(mpmath.fsum((2 * (l + k - i) + 1) * value * value for i, value in enumerate(values)))
    return [(-1) ** (l - k) * value / norm for value in values]


def racah(L, l, k, s):
    """The same for one L, by Racah's formula with whole numbers."""
    total = sum((-1) ** t * mpmath.mpf(1) / (factorial(t) * factorial(k - l + t) * factorial(k - L + t - s) * factorial(L + l - k - t)
                                             * factorial(L - t) * factorial(l - t + s))
                for t in range(max(0, l - k, L - k + s), min(L + l - k, L, l + s) + 1))
    delta = mpmath.mpf(factorial(L + l - k) * factorial(L + k - l) * factorial(l + k - L)) / factorial(L + l + k + 1)
    return (-1) ** (L - l + s) * mpmath.sqrt(delta) * factorial(L) * mpmath.sqrt(
        factorial(l + s) * factorial(l - s) * factorial(k + s) * factorial(k - s)) * total


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(80):
        yield


@pytest.mark.parametrize("l,k", [(2, 2), (2, 64), (64, 64), (60, 64), (17, 24), (33, 3)])
@pytest.mark.parametrize("s", [0, 2])
def test_symbols_are_those_of_racahs_formula(l, k, s):
    found = three_j(l, k, s)
    exact = [racah(L, l, k, s) for L in range(l + k, abs(l - k) - 1, -1)]
    assert max(abs(a - b) for a, b in zip(found, exact)) < 1e-40


def spectra():
    """W_L of a cap, of one that falls by e a degree, and of one that changes its sign, as cross-spectra do."""
    cap = zonal.anafast(np.where(np.arange(12 * 32**2) < 2000, 1.0, 0.0), lmax=95, iterations=0)
    L = np.arange(2 * LMAX + 1)
    return np.stack([np.pad(np.ravel(cap)[:96], (0, 2 * LMAX - 95)), np.exp(-L), np.cos(1.3 * L) / (1 + L)])


def test_matrices_are_sums_over_symbols():
    masks = spectra()
    found = zonal.spectra.coupling_matrices(masks, LMAX)
    expected, sizes = np.zeros((2, *found.shape))
    for l in range(LMAX + 1):
        for k in range(l, LMAX + 1):
            L = np.arange(l + k, abs(l - k) - 1, -1)
            f0 = three_j(l, k, 0)
            f2 = three_j(l, k, 2) if l >= 2 else [mpmath.mpf(0)] * len(L)
            even = (l + k + L) % 2 == 0
            factors = [[float(a * a) for a in f0], [float(a * b) for a, b in zip(f0, f2)],
                       [float(b * b) * e for b, e in zip(f2, even)], [float(b * b) * (not e) for b, e in zip(f2, even)]]
            for mask, w in enumerate(masks):
                for kind, factor in enumerate(factors):
                    terms = (2 * L + 1) * w[L] * factor / (4 * np.pi)
                    for row, column in ((l, k), (k, l)):
                        expected[mask, kind, row, column] = (2 * column + 1) * terms.sum()
                        sizes[mask, kind, row, column] = (2 * column + 1) * np.abs(terms).sum()
    # A term is a product of about ten factors, and up to 64 terms are added up; the same for the sum here.
    assert np.all(np.abs(found - expected) <= 40 * EPS * sizes)
    # Where all terms have one sign, elements are right by themselves.
    assert np.all(np.abs(found[1] - expected[1])[[0, 2, 3]] <= 40 * EPS * expected[1][[0, 2, 3]])

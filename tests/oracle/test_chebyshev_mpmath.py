"""Products, derivatives, integrals and values of Chebyshev series against mpmath with 40 digits, in every dimension."""
import itertools

import mpmath
import numpy as np
import pytest

from zonal.chebyshev import Series, sum_of_products

EPS = 2.0 ** -52
all_shapes = pytest.mark.parametrize("shape", [(1,), (2,), (23,), (1, 4), (6, 5), (2, 1, 3), (4, 3, 5)])
mpmath.mp.dps = 40


def random(shape, seed):
    """On [0, 3] in each axis."""
    domain = [(0, 3)] * len(shape)
    return Series(np.random.default_rng(seed).normal(size=shape), domain if len(shape) > 1 else domain[0])


def exactly(series):
    return {index: mpmath.mpf(float(value)) for index, value in np.ndenumerate(series.coefficients)}


def chebyshev(k, x):
    return mpmath.cos(k * mpmath.acos(x))


def value(coefficients, sigma):
    return mpmath.fsum(a * mpmath.fprod(chebyshev(k, x) for k, x in zip(index, sigma))
                       for index, a in coefficients.items())


def product(a, b):
    """T_i T_j = (T_{i+j} + T_{|i-j|}) / 2 in each axis."""
    result = {}
    for (i, x), (j, y) in itertools.product(a.items(), b.items()):
        for index in itertools.product(*((p + q, abs(p - q)) for p, q in zip(i, j))):
            result[index] = result.get(index, mpmath.mpf(0)) + x * y / 2 ** len(i)
    return result


def magnitudes(a):
    return {index: abs(x) for index, x in a.items()}


@all_shapes
@pytest.mark.parametrize("full", [False, True])
def test_products(shape, full):
    a, b = random(shape, 1), random(shape, 2)
    found = sum_of_products((a, b), full=full)
    assert found.coefficients.shape == (tuple(2 * n - 1 for n in shape) if full else shape)
    exact, scale = product(exactly(a), exactly(b)), product(magnitudes(exactly(a)), magnitudes(exactly(b)))
    for index, x in exactly(found).items():  # direct sums, as all these are short; docs/how-it-works/chebyshev.md
        assert abs(x - exact[index]) <= np.prod(shape) * EPS * scale[index], index


def test_long_products():
    """By transforms."""
    a, b = random((450,), 1), random((450,), 2)
    found = exactly(sum_of_products((a, b), full=False))
    exact = product(exactly(a), exactly(b))
    largest = np.polynomial.chebyshev.chebmul(abs(a.coefficients), abs(b.coefficients)).max()
    # Sums of n terms there and back, of values up to the sum of the magnitudes, sqrt(n) times those here.
    assert all(abs(x - exact[index]) <= (3 * 450 ** 0.5 + 4) * EPS * largest for index, x in found.items())


@all_shapes
def test_derivative_and_integrals(shape):
    f = random(shape, 3)
    scale = float(np.abs(f.coefficients).sum()) * EPS
    for axis in range(len(shape)):
        point = [mpmath.mpf(p) for p in ("0.3", "-0.55", "0.7")][:len(shape)]
        along = lambda t: value(exactly(f), [t if other == axis else x for other, x in enumerate(point)])
        expected = mpmath.diff(along, point[axis]) / mpmath.mpf("1.5")
        assert abs(value(exactly(f.derivative(axis)), point) - expected) <= 2 * shape[axis] ** 3 * scale + 1e-15
        expected = mpmath.quad(along, [-1, point[axis]]) * mpmath.mpf("1.5")
        assert abs(value(exactly(f.integral(axis)), point) - expected) <= 8 * shape[axis] * scale


@all_shapes
def test_values_and_definite_integral(shape):
    f = random(shape, 4)
    scale = float(np.abs(f.coefficients).sum()) * EPS
    for point in ([0.0, 3.0, 1.5], [0.1, 2.2, 2.99]):
        point = point[:len(shape)]
        sigma = [(mpmath.mpf(z) - mpmath.mpf("1.5")) / mpmath.mpf("1.5") for z in point]
        # The map of the interval is rounded, too, and a derivative is up to k^2.
        assert abs(f(*point) - value(exactly(f), sigma)) <= 2 * sum(n * n for n in shape) * scale
    weights = {k: 0 if k % 2 else mpmath.mpf(2) / (1 - k * k) for k in range(max(shape))}
    exact = mpmath.fsum(a * mpmath.fprod(weights[k] * 1.5 for k in index) for index, a in exactly(f).items())
    assert abs(f.definite_integral() - exact) <= 3.0 ** len(shape) * (2 + max(shape)) * scale

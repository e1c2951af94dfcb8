"""Products, derivatives, integrals and values of Chebyshev series against mpmath with 40 digits, in every dimension and
convention.

Zonal is driven through zonal_chebyshev_tool, which stands beside the program that $ZONAL names (default
build/bin/zonal). The domain is [0, 3] in each axis.
"""
import itertools
import os
import pathlib
import subprocess

import mpmath
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
TOOL = pathlib.Path(os.environ.get("ZONAL", ROOT / "build/bin/zonal")).parent / "zonal_chebyshev_tool"
EPS = 2.0 ** -52
SHAPES = [(1,), (2,), (23,), (1, 4), (6, 5), (2, 1, 3), (4, 3, 5)]
both_conventions = pytest.mark.parametrize("convention", ["primed", "plain"])
all_shapes = pytest.mark.parametrize("shape", SHAPES)
mpmath.mp.dps = 40


def ask(operation, convention, shape, values, method="direct", axis=0):
    words = [operation, convention, method, axis, len(shape), *shape, *(float(v).hex() for v in values)]
    done = subprocess.run([TOOL], input=" ".join(map(str, words)) + "\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [float.fromhex(word) for word in done.stdout.split()]


def random(shape, seed):
    return np.random.default_rng(seed).normal(size=shape)


def halves(index, convention):
    """What a coefficient is multiplied with to be plain."""
    return mpmath.mpf(1) / 2 ** (sum(k == 0 for k in index) if convention == "primed" else 0)


def plain(values, shape, convention):
    values = np.reshape(values, shape)
    return {index: mpmath.mpf(float(values[index])) * halves(index, convention) for index in np.ndindex(*shape)}


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
@both_conventions
@pytest.mark.parametrize("operation", ["product", "full", "float"])
@pytest.mark.parametrize("method", ["direct", "transform"])
def test_products(shape, convention, operation, method):
    a, b = random(shape, 1), random(shape, 2)
    if operation == "float":
        a, b = np.float32(a), np.float32(b)
    found_shape = tuple(2 * n - 1 for n in shape) if operation == "full" else shape
    found = plain(ask(operation, convention, shape, [*a.flat, *b.flat], method), found_shape, convention)
    exact = product(plain(a, shape, convention), plain(b, shape, convention))
    scale = product(magnitudes(plain(a, shape, convention)), magnitudes(plain(b, shape, convention)))
    n, eps = np.prod(shape), 2.0 ** -23 if operation == "float" else EPS
    largest = max(scale.values())
    for index, x in found.items():
        if method == "direct":  # docs/chebyshev.md
            assert abs(x - exact[index]) <= n * eps * scale[index], index
        else:  # sums of n terms there and back, of values up to the sum of the magnitudes, sqrt(n) times those here
            assert abs(x - exact[index]) <= (3 * len(shape) * n ** 0.5 + 4) * eps * largest, index


@all_shapes
@both_conventions
def test_derivative_and_integrals(shape, convention):
    f = random(shape, 3)
    coefficients = plain(f, shape, convention)
    for axis in range(len(shape)):
        point = [mpmath.mpf(p) for p in ("0.3", "-0.55", "0.7")][:len(shape)]
        along = lambda t: value(coefficients, [t if other == axis else x for other, x in enumerate(point)])
        slope = plain(ask("derivative", convention, shape, f.flat, axis=axis), shape, convention)
        scale = float(sum(abs(x) for x in coefficients.values())) * EPS
        n = shape[axis]
        expected = mpmath.diff(along, point[axis]) / mpmath.mpf("1.5")
        assert abs(value(slope, point) - expected) <= 2 * n ** 3 * scale + 1e-15
        grown = tuple(m + (other == axis) for other, m in enumerate(shape))
        whole = plain(ask("kept", convention, shape, f.flat, axis=axis), grown, convention)
        expected = mpmath.quad(along, [-1, point[axis]]) * mpmath.mpf("1.5")
        assert abs(value(whole, point) - expected) <= 8 * n * scale
        # What both ways of leaving the highest mode out mean.
        cut = plain(ask("projection", convention, shape, f.flat, axis=axis), shape, convention)
        assert all(cut[index] == whole[index] for index in cut)
        without = np.array(f)
        without[(slice(None),) * axis + (n - 1,)] = 0
        rest = plain(ask("kept", convention, shape, without.flat, axis=axis), grown, convention)
        tau = plain(ask("tau", convention, shape, f.flat, axis=axis), shape, convention)
        assert all(abs(tau[index] - rest[index]) <= 4 * scale for index in tau)


@all_shapes
@both_conventions
def test_values_and_definite_integral(shape, convention):
    f = random(shape, 4)
    coefficients = plain(f, shape, convention)
    scale = float(sum(abs(x) for x in coefficients.values())) * EPS
    for point in ([0.0, 3.0, 1.5], [0.1, 2.2, 2.99]):
        point = point[:len(shape)]
        found, integral = ask("evaluate", convention, shape, [*f.flat, *point])
        sigma = [(mpmath.mpf(z) - mpmath.mpf("1.5")) / mpmath.mpf("1.5") for z in point]
        # The map of the interval is rounded, too, and a derivative is up to k^2.
        assert abs(found - value(coefficients, sigma)) <= 2 * sum(n * n for n in shape) * scale
    weights = {k: 0 if k % 2 else mpmath.mpf(2) / (1 - k * k) for k in range(max(shape))}
    exact = mpmath.fsum(a * mpmath.fprod(weights[k] * 1.5 for k in index) for index, a in coefficients.items())
    assert abs(integral - exact) <= 3.0 ** len(shape) * (2 + max(shape)) * scale

"""Chebyshev series against numpy.polynomial, and against what is known of the functions."""

import pickle
import signal
import time

import numpy as np
import pytest
from numpy.polynomial import chebyshev as reference

import zonal
from zonal.chebyshev import Series, sum_of_products, sums_of_products

EPS = 2.0**-52


@pytest.fixture
def random_series(rng):
    def make(*shape, domain=(-1, 1)):
        return Series(rng.standard_normal(shape), domain)

    return make


def magnitude(*series):
    """The largest value that a product of such series can have."""
    return np.prod([np.abs(f.coefficients).sum() for f in series])


def assert_close(found, expected, bound):
    assert found.shape == expected.shape
    assert np.all(np.abs(found - expected) <= bound), np.abs(found - expected).max() / bound


# Both round in each step of a recurrence or a sum, by an eps of what the magnitudes sum up to.


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 7), (9, 4), (64, 64), (500, 300)])
def test_algebra_is_that_of_numpy(random_series, n, m):
    f, g = random_series(n, domain=(0, 3)), random_series(m, domain=(0, 3))
    p, q = f.to_numpy(), g.to_numpy()
    for found, expected, terms in [(f + g, p + q, 2), (f - g, p - q, 2), (f * g, p * q, n + m), (-f, -p, 1),
                                   (2 * f - 1, 2 * p - 1, 2), (3 - f / 4, 3 - p / 4, 2)]:
        assert_close(found.coefficients, expected.coef, terms * EPS * (magnitude(f) + 4) * (magnitude(g) + 1))
        assert found.domain == tuple(expected.domain)


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, 8, 9, 19])
def test_powers_are_those_of_numpy(exponent):
    f = Series([0.2, 0.5, 0.3])  # values up to 1, so that powers do not grow
    expected = np.ones(1)
    for _ in range(exponent):
        expected = reference.chebmul(expected, f.coefficients)
    # Transforms err by some eps of the largest coefficient, below 1, in each product.
    assert_close((f**exponent).coefficients, expected, 16 * (exponent + 1) * EPS)


@pytest.mark.parametrize("n", [1, 2, 30, 200])
def test_calculus_is_that_of_numpy(random_series, n):
    f = random_series(n, domain=(-1, 4))
    p = f.to_numpy()
    assert_close(f.derivative().coefficients, p.deriv().coef, 2 * n * n * EPS * magnitude(f))
    assert_close(f.integral().coefficients, p.integ(lbnd=-1).coef, 8 * n * EPS * magnitude(f))
    assert abs(f.definite_integral() - p.integ(lbnd=-1)(4)) <= 8 * n * EPS * magnitude(f)


@pytest.mark.parametrize("n", [1, 2, 40, 1000])
def test_values_are_those_of_numpy(random_series, rng, n):
    f = random_series(n, domain=(2, 5))
    x = rng.uniform(2, 5, (7, 3))
    # Clenshaw's recurrence of numpy loses up to n eps near the ends, and so does the map to [-1, 1], n times.
    assert_close(f(x), f.to_numpy()(x), 8 * n * n * EPS * magnitude(f))


def test_values_have_the_shape_of_the_points(random_series):
    f, g = random_series(5), random_series(4, 6)
    assert type(f(0.5)) is float and type(g(0.5, 1)) is float
    assert f(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert f([0, 1]).shape == (2,) and f(np.float32(0.5)) == f(0.5)
    assert g(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4)
    assert np.isnan(f(np.nan))


def test_roots_are_where_the_function_has_them():
    f = Series.from_function(lambda x: np.sin(20 * x), (0, 3))
    exact = np.arange(20) * np.pi / 20
    # f is right to some eps of its 90 coefficients of up to 0.4, and its slope at roots is 20.
    assert_close(f.roots(), exact, 90 * 0.4 * 4 * EPS)


def test_all_roots_are_those_of_numpy(random_series):
    f = random_series(12, domain=(1, 2))
    found, expected = np.sort_complex(f.all_roots()), np.sort_complex(f.to_numpy().roots())
    # Errors of n eps of the matrix's norm times the roots' condition, which is below 1e3 for these few random ones.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e3 * 12 * EPS * np.abs(expected).max())


def test_definite_integrals_between_points():
    f = Series.from_function(lambda x: np.exp(-x) * np.cos(8 * x), (0, 2))
    expected = np.diff([np.exp(-x) * (8 * np.sin(8 * x) - np.cos(8 * x)) / 65 for x in (0.3, 1.9)])
    # f is right to eps of its magnitude, along 1.6; so are the sums of its coefficients.
    assert abs(f.definite_integral(0.3, 1.9) - expected[0]) < 2 * 1.6 * EPS * magnitude(f)
    assert f.definite_integral(1.9, 0.3) == -f.definite_integral(0.3, 1.9)
    assert f.definite_integral(1, 1) == 0
    assert f.definite_integral(upper=2) == pytest.approx(f.definite_integral(), rel=0, abs=8 * EPS * magnitude(f.integral()))
    with pytest.raises(ValueError, match=r"lower, upper = 0\.0, 2\.5: must be in the domain, from 0\.0 to 2\.0"):
        f.definite_integral(upper=2.5)


def test_quotients_are_those_of_the_functions():
    x = Series([1, 1], (0, 2))  # x itself
    f, g = x**3 - 2, x**2 + x + 1
    points = np.linspace(0, 2, 101)
    # Both are evaluated to a few eps of their magnitudes, below 8, and g >= 1; q has some 25 coefficients.
    assert_close((f / g)(points), (points**3 - 2) / (points**2 + points + 1), 25 * 8 * EPS * 4)
    assert_close((1 / g)(points), 1 / (points**2 + points + 1), 25 * 8 * EPS)
    assert_close((g**-2)(points), (points**2 + points + 1.0) ** -2, 25 * 16 * EPS)
    with pytest.raises(ValueError, match=r"g: is 0 at 1\.4142\d*: must have no root in \[0, 2\]"):
        x / (x**2 - 2)
    with pytest.raises(ValueError, match="g: is 0, which nothing can be divided by"):
        1 / (x - x)


def test_functions_are_resolved_to_a_tolerance():
    points = np.linspace(-1, 1, 301)
    exact = 1 / (1 + 25 * points**2)
    fine = Series.from_function(lambda x: 1 / (1 + 25 * x**2))
    coarse = Series.from_function(lambda x: 1 / (1 + 25 * x**2), tolerance=1e-4)
    assert coarse.degree < fine.degree / 2
    # Coefficients fall by 0.82 from one to the next: what is left out sums up to 6 times the first of it.
    assert np.abs(fine(points) - exact).max() < 1e-14 and np.abs(coarse(points) - exact).max() < 1e-3
    assert Series.from_function(lambda x: 3, (0, 1)) == Series([3], (0, 1))
    of_fine = Series.from_function(lambda x: np.exp(fine(x)))
    assert np.abs(of_fine(points) - np.exp(exact)).max() < 2 * np.e * 1e-14  # of fine's error, and the new series' own


def test_a_degree_gives_the_polynomial_through_gauss_points():
    f = Series.from_function(np.abs, (-2, 2), degree=6)
    assert f.degree == 6
    nodes = 2 * np.cos(np.pi * (2 * np.arange(7) + 1) / 14)
    assert_close(f(nodes), np.abs(nodes), 7 * 8 * EPS)
    assert Series.from_function(lambda x, y: x * y, ((0, 1), (0, 1)), degree=(2, 3)).degrees == (2, 3)


def test_functions_that_cannot_be_resolved_are_refused():
    with pytest.raises(zonal.ErrorNotKept, match="function: is not resolved to tolerance = 1e-10 by 16384 coeff"):
        Series.from_function(lambda x: np.where(x < 0.3, 0.0, 1.0), tolerance=1e-10)
    with pytest.raises(ValueError, match="function: a value is not a number: all must be finite"):
        Series.from_function(lambda x: np.where(x < 0, np.nan, x))
    with pytest.raises(ValueError, match="function: a value is infinite"):
        Series.from_function(lambda x: x + np.inf, degree=3)
    with pytest.raises(ValueError, match=r"function: gives values of shape \(3,\) at points of shape \(32,\)"):
        Series.from_function(lambda x: np.ones(3))
    with pytest.raises(TypeError, match="function: must hold real numbers, not complex128"):
        Series.from_function(lambda x: x + 1j)
    with pytest.raises(LookupError, match="of mine"):
        Series.from_function(lambda x: {}["of mine"])


def test_truncation_keeps_its_bound(random_series, rng):
    f, points = random_series(30), rng.uniform(-1, 1, 200)
    for degree in (0, 3, 20, 29, 50):
        part = f.truncated(degree)
        assert part.degree == min(degree, 29)
        assert np.abs(f(points) - part(points)).max() <= f.truncation_bound(degree) + 30 * EPS * magnitude(f)
    assert f.truncation_bound(29) == 0
    g = Series(np.ones((3, 4)))
    assert g.truncated((1, 2)) == Series(np.ones((2, 3))) and g.truncation_bound((1, 2)) == 6


def test_chopping_leaves_out_noise(rng):
    a = np.zeros(100)
    a[:20] = 2.0 ** -np.arange(20)
    f = Series(a + 1e-15 * rng.standard_normal(100))
    assert 18 <= f.chopped(1e-14).degree + 1 <= 22
    assert (f - f.chopped(1e-4)).truncation_bound(0) < 1e-3


def test_a_restricted_series_is_the_same_function(random_series, rng):
    f = random_series(20, domain=(0, 4))
    part, x = f.restricted((1, 2)), rng.uniform(1, 2, 50)
    assert part.domain == (1, 2)
    assert_close(part(x), f(x), 20 * 20 * EPS * magnitude(f))


def test_fused_sums_are_sums_of_products(random_series):
    u, v, w = random_series(20), random_series(15), random_series(30)
    first, second = sums_of_products([(u, v), (-0.5, w, w)], [(2, u, w, w, 0.25)])
    bound = 60 * 16 * EPS * magnitude(w, w) * (1 + magnitude(u)) * (1 + magnitude(v))
    assert_close(first.coefficients, (u * v - 0.5 * w**2).coefficients, bound)
    assert_close(second.coefficients, (0.5 * u * w**2).coefficients, bound)
    assert_close(sum_of_products((u, v), (-0.5, w, w), full=False).coefficients, first.coefficients[:30], bound)
    with pytest.raises(ValueError, match="their number = 9: must be 1 to 8"):
        sum_of_products((u,) * 9)
    with pytest.raises(ValueError, match="terms: hold no series"):
        sum_of_products((2.0,))


def test_several_variables_are_those_of_numpy(random_series, rng):
    box = ((0, 1), (-2, 2), (3, 5))
    sigma = rng.uniform(-1, 1, (3, 40))
    points = [(1 - s) * lower / 2 + (1 + s) * upper / 2 for s, (lower, upper) in zip(sigma, box)]
    f, g = random_series(4, 5, 6, domain=box), random_series(3, 2, 7, domain=box)
    values = reference.chebval3d(*sigma, f.coefficients)
    bound = 100 * EPS * magnitude(f)
    assert_close(f(*points), values, bound)
    assert_close(f.on_grid(*points), reference.chebgrid3d(*sigma, f.coefficients), bound)
    assert_close((f * g)(*points), values * reference.chebval3d(*sigma, g.coefficients), bound * magnitude(g))
    assert (f * g).degrees == (5, 5, 11) and (f + g).degrees == (3, 4, 6)
    for axis, (lower, upper) in enumerate(box):
        slope = reference.chebder(f.coefficients, axis=axis) * 2 / (upper - lower)
        assert_close(f.derivative(axis).coefficients, slope, 2 * bound)
        assert_close(f.integral(axis).derivative(axis).coefficients, f.coefficients, bound)
    over_first = f.integrate_out(0)
    assert over_first.domain == box[1:]
    assert abs(over_first.definite_integral() - f.definite_integral()) < 16 * bound


def test_functions_of_two_variables_are_resolved_along_each():
    f = Series.from_function(lambda x, y: np.cos(40 * x) * np.exp(y), ((-1, 1), (0, 1)))
    assert f.degrees[0] > 40 and f.degrees[1] < 16
    # 40 x is rounded before its cosine is taken, and what is summed to a few eps of its magnitude.
    assert abs(f(0.3, 0.7) - np.cos(12) * np.exp(0.7)) < (40 / 2 * np.e + 4 * magnitude(f)) * EPS


def test_series_are_values():
    f = Series([1, 0.5, -0.0], (0, 2))
    assert f == Series(np.array([1, 0.5, 0], np.float32), (0.0, 2.0)) and hash(f) == hash(Series([1, 0.5, 0], (0, 2)))
    assert f != Series([1, 0.5, 0]) and f != Series([1, 0.5], (0, 2)) and f != 1
    assert pickle.loads(pickle.dumps(f)) == f
    with pytest.raises(ValueError, match="read-only"):
        f.coefficients[0] = 2
    a = np.ones(3)
    g = Series(a)
    a[0] = 7
    assert g.coefficients[0] == 1


def test_numpy_numbers_and_polynomials_go_along():
    f = Series([1, 2], (0, 2))
    assert np.float64(3) * f == 3 * f == f * np.int64(3)
    assert np.float32(1) - f == 1 - f
    with pytest.raises(TypeError):
        np.ones(3) * f
    with pytest.raises(TypeError):
        f + "1"
    assert Series.from_numpy(f.to_numpy()) == f
    assert f.to_numpy() == np.polynomial.Chebyshev([1, 2], [0, 2])
    with pytest.raises(ValueError, match=r"polynomial: has the window .*: must be \[-1, 1\]"):
        Series.from_numpy(np.polynomial.Chebyshev([1], window=[0, 1]))


def test_repr_says_what_it_is():
    f = Series([1, 0.25], (0, 2))
    assert repr(f) == "Series([1.0, 0.25], domain=(0.0, 2.0))" and eval(repr(f)) == f
    assert repr(Series(np.arange(20))) == "<Series of degree 19 on [-1, 1]: 0, 1, 2, 3, ..., 19>"
    assert repr(Series(np.ones((4, 5)))).startswith("<Series of degree 3 x 4 on [-1, 1] x [-1, 1]: 1, 1")


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: Series([]), ValueError, r"coefficients: have shape \(0,\): must have 1 to 3 axes"),
    (lambda: Series(1.0), ValueError, r"coefficients: have shape \(\)"),
    (lambda: Series([1j]), TypeError, "coefficients: must hold real numbers, not complex128"),
    (lambda: Series([1], (1, 1)), ValueError, r"domain = \(1, 1\): must be finite and not empty"),
    (lambda: Series([1], (0, np.inf)), ValueError, "must be finite and not empty"),
    (lambda: Series([[1]], (0, 1)), ValueError, r"domain = \(0, 1\): must be \(lower, upper\), or one such pair"),
    (lambda: Series([1]) + Series([1], (0, 1)), ValueError, r"domain: \(0\.0, 1\.0\) of one series and \(-1\.0,"),
    (lambda: Series([1]) * Series([1], (0, 1)), ValueError, "must be the same; restricted"),
    (lambda: Series([1]) * Series([[1]]), ValueError, "domain: "),
    (lambda: Series([1]) ** 0.5, TypeError, "exponent = 0.5: must be an integer"),
    (lambda: Series([1]).derivative(1), ValueError, "axis = 1: must be 0 to 0"),
    (lambda: Series([1])(1, 2), TypeError, "points: 2 arrays: must be 1, one for each variable"),
    (lambda: Series([0]).roots(), ValueError, "all coefficients are 0: every number is a root"),
    (lambda: Series([[1]]) / Series([[2]]), ValueError, "division by a series: is for series of one variable, not 2"),
    (lambda: Series([[1]]).roots(), ValueError, "roots: is for series of one variable, not 2"),
    (lambda: Series([1]).truncated(-1), ValueError, "degree = -1: must be 0 or more"),
    (lambda: Series([1]).chopped(2), ValueError, "tolerance = 2: must be above 0 and below 1"),
    (lambda: Series([1]).integrate_out(0), ValueError, "definite_integral gives a number"),
])
def test_what_makes_no_sense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_long_products_let_other_threads_run(random_series, lets_others_run):
    f = random_series(1000, 1000)
    with zonal.threads(1):  # on many, it would soon be done
        assert lets_others_run(lambda: f * f)


@pytest.mark.parametrize("call", [lambda f: f.restricted((0, 0.5)), lambda f: f(np.zeros(10**6))])
def test_signals_stop_long_calls(call):
    def handler(*_):
        raise RuntimeError("time is up")

    before = signal.signal(signal.SIGALRM, handler)
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(RuntimeError, match="time is up"):
            call(Series(np.ones(100_000)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - start < int(zonal.threads())  # of tens of seconds

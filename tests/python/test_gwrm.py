"""Initial-value problems against closed forms and against scipy."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import zonal
from zonal import gwrm

u, v = gwrm.unknowns("u", "v")
x, y = gwrm.Axis("x", (0, 1), modes=20), gwrm.Axis("y", (0, 1), modes=8)


def logistic(**options):
    return gwrm.solve({u: u - u**2}, {u: 0.1}, t=(0, 10), **options)


def heat(**options):
    return gwrm.solve({u: 0.5 * u.d(x, 2)}, {u: lambda x: np.sin(np.pi * x)}, t=(0, 0.5), axes=[x],
                      conditions=[gwrm.dirichlet(u, x)], **options)


def rotation(t=(0, 1), **options):
    """u'' = -u, from 0 with slope 1."""
    return gwrm.solve({u: v, v: -u}, {u: 0, v: 1}, t, **options)


# The highest modes of an interval are below the default tolerance of 1e-12, and the root solver works to a hundredth of
# it. Errors of some ten intervals add up, and grow as the equations make them.
TOLERANCE = 1e-11


def test_an_ordinary_equation_has_its_closed_solution():
    solution = logistic()
    t = np.linspace(0, 10, 201)
    errors = np.abs(solution[u](t) - 1 / (1 + 9 * np.exp(-t)))
    assert errors.max() < TOLERANCE
    assert errors[-1] <= 2 * solution[u].error() < 100 * TOLERANCE
    assert solution.report.residual < TOLERANCE


def test_estimates_see_a_coarse_solution():
    solution = gwrm.solve({u: u - u**2}, {u: 0.1}, t=(0, 10), time_modes=4, interval=2)
    error = abs(solution[u](10) - 1 / (1 + 9 * np.exp(-10)))
    assert 1e-7 < error <= 2 * solution[u].error() < 50 * error  # an estimate that is of use
    assert len(solution.intervals) == 6 and solution.report.intervals == 5


def test_functions_of_scipy_can_be_solved_as_they_are():
    def lorenz(t, u):
        return [10 * (u[1] - u[0]), u[0] * (28 - u[2]) - u[1], u[0] * u[1] - 8 / 3 * u[2]]

    solution = gwrm.solve(lorenz, [1, 1, 1], t=(0, 2))
    t = np.linspace(0, 2, 11)
    expected = solve_ivp(lorenz, (0, 2), [1, 1, 1], "DOP853", t, rtol=1e-13, atol=1e-13).y
    # Nearby solutions part as exp(0.9 t) on average, at times faster; scipy steps 1e-13 off in some hundred steps.
    np.testing.assert_allclose(solution(t), expected, rtol=0, atol=1e-8)
    assert solution.names == ("u0", "u1", "u2")


def test_equations_may_depend_on_time_and_known_functions():
    force = gwrm.known(lambda t: np.cos(3 * t))
    solution = gwrm.solve({u: gwrm.t**2 + force, v: 2}, {u: 1, v: np.float64(0.5)}, t=(0, 2))
    t = np.linspace(0, 2, 21)
    np.testing.assert_allclose(solution(t), [1 + t**3 / 3 + np.sin(3 * t) / 3, 0.5 + 2 * t], rtol=TOLERANCE)


def test_heat_spreads():
    solution = heat()
    t, z = np.linspace(0, 0.5, 7)[:, None], np.linspace(0, 1, 9)
    np.testing.assert_allclose(solution[u](t, z), np.exp(-0.5 * np.pi**2 * t) * np.sin(np.pi * z), rtol=0, atol=TOLERANCE)


def test_burgers_equation_has_the_cole_hopf_solution_for_all_viscosities():
    nu = gwrm.Parameter("nu", (0.1, 0.5), modes=10)
    solution = gwrm.solve({u: nu * u.d(x, 2) - u * u.d(x)}, {u: lambda x, nu: np.sin(np.pi * x)}, t=(0, 0.3),
                          axes=[x, nu], conditions=[gwrm.dirichlet(u, x)], tolerance=1e-7, time_modes=10)
    for viscosity in (0.1, 0.3):
        def integral(factor, z, nu=viscosity):
            start = lambda e: np.exp(-(1 - np.cos(np.pi * (z - e))) / (2 * np.pi * nu) - e**2 / (1.2 * nu))
            return quad(lambda e: factor(z - e) * start(e), -8, 8, epsabs=1e-13, limit=200)[0]
        exact = integral(lambda w: np.sin(np.pi * w), 0.7) / integral(lambda w: 1, 0.7)
        assert abs(solution[u](0.3, 0.7, viscosity) - exact) <= 2 * solution[u].error() < 1e-4


def test_a_wave_goes_to_and_fro_with_free_ends():
    solution = gwrm.solve({u: v, v: u.d(x, 2)}, {u: lambda x: np.cos(np.pi * x), v: 0}, t=(0, 1), axes=[x],
                          conditions=[gwrm.neumann(u, x)])
    t, z = np.linspace(0, 1, 5)[:, None], np.linspace(0, 1, 9)
    np.testing.assert_allclose(solution[u](t, z), np.cos(np.pi * t) * np.cos(np.pi * z), rtol=0, atol=10 * TOLERANCE)


def test_conditions_change_with_time():
    # u = exp(-t) sin(x + 1), with u + u' / 2 at the lower end and u at the upper one
    exact = lambda t, x: np.exp(-t) * np.sin(x + 1)
    conditions = [gwrm.robin(u, x, "lower", 1, 0.5, lambda t, x: exact(t, x) + np.exp(-t) * np.cos(x + 1) / 2),
                  gwrm.dirichlet(u, x, "upper", exact)]
    solution = gwrm.solve({u: u.d(x, 2)}, {u: lambda x: exact(0, x)}, t=(0, 1), axes=[x], conditions=conditions)
    t, z = np.linspace(0, 1, 5)[:, None], np.linspace(0, 1, 9)
    np.testing.assert_allclose(solution[u](t, z), exact(t, z), rtol=0, atol=10 * TOLERANCE)


def test_a_periodic_wave_moves_on():
    ring = gwrm.Axis("x", (0, 2 * np.pi), modes=28)
    solution = gwrm.solve({u: -u.d(ring)}, {u: lambda x: np.sin(x)}, t=(0, 1), axes=[ring],
                          conditions=[gwrm.periodic(u, ring, 1)])
    z = np.linspace(0, 2 * np.pi, 13)
    np.testing.assert_allclose(solution[u](1, z), np.sin(z - 1), rtol=0, atol=10 * TOLERANCE)


def test_planes_diffuse():
    plane = [gwrm.Axis("x", (0, 1), modes=12), gwrm.Axis("y", (0, 1), modes=12)]
    laplacian = u.d(plane[0], 2) + u.d(plane[1], 2)
    solution = gwrm.solve({u: 0.1 * laplacian}, {u: lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y)}, t=(0, 0.5),
                          axes=plane, conditions=[gwrm.dirichlet(u, axis) for axis in plane], time_modes=8,
                          tolerance=1e-8, estimate_error=False)
    # The highest modes are below the tolerance, and some intervals' errors add up.
    assert abs(solution[u](0.5, 0.25, 0.5) - np.exp(-0.1 * np.pi**2) * np.sqrt(0.5)) < 1e-7
    assert np.isnan(solution[u].error()) and np.isnan(solution.errors).all()


def test_coefficients_and_series_are_those_of_the_values():
    parts = gwrm.Axis("x", (0, 2), modes=10, subdomains=3)
    solution = gwrm.solve({u: 0.5 * u.d(parts, 2), v: -v + parts}, {u: lambda x: np.sin(np.pi * x), v: 0}, t=(0, 0.1),
                          axes=[parts], conditions=[gwrm.dirichlet(u, parts)])
    a = solution.coefficients(0)
    assert a.shape == (2, 3, 13, 11)
    series = solution["v"].series(-1, 2)
    assert series.domain == (tuple(solution.intervals[-2:]), (4 / 3, 2))
    np.testing.assert_array_equal(series.coefficients, solution.coefficients(-1)[1, 2])
    t, z = series.domain[0][0] + 0.01, 1.7
    assert abs(series(t, z) - solution[v](t, z)) < 1e-13 and abs(series(t, z) - z * (1 - np.exp(-t))) < TOLERANCE
    np.testing.assert_array_equal(solution(t, z), [solution[0](t, z), solution["v"](t, z)])
    ordinary = rotation()
    assert ordinary["u"].series(0).domain == tuple(ordinary.intervals[:2])
    # One interval has a tenth of ten's error, and by Markov's inequality 2 degree^2 / length times as large a slope of it.
    assert abs(ordinary["u"].series(0).derivative()(0.1) - np.cos(0.1)) < 2 * 11**2 * TOLERANCE / 10


def test_times_lie_in_the_intervals():
    solution = logistic(interval=2.5)
    np.testing.assert_allclose(solution.intervals, [0, 2.5, 5, 7.5, 10], rtol=1e-14)
    np.testing.assert_allclose(solution.times(2), np.arange(9) * 1.25, rtol=1e-14)
    assert solution.errors.shape == (4, 1) and solution.error(3)[0] == solution.errors[1, 0] == solution[u].error(4)


@pytest.mark.parametrize("options", [{"solver": "newton-krylov"}, {"solver": "sir"}, {"highest_mode": "tau"},
                                     {"threads": 2}])
def test_all_solvers_agree(options):
    assert abs(logistic(**options)[u](10) - 1 / (1 + 9 * np.exp(-10))) < 10 * TOLERANCE


def test_expressions_show_what_they_are():
    assert repr(2 * (u - 1) ** 3 / 4 + -v.d(x) * x) == "2*(u + -1)**3*0.25 + -1*v.d(x)*x"
    assert repr((1 - u).d(x, 2)) == "(-1*u + 1).d(x, 2)"
    assert repr(np.float64(2) * u + gwrm.t) == "2*u + t"
    long = sum((u for _ in range(5000)), start=0 * u)  # no deep recursion
    assert abs(gwrm.solve({u: long / 5000}, {u: 1}, t=(0, 1))[u](1) - np.e) < TOLERANCE


def test_solutions_can_be_pickled():
    solution = heat()
    copy = pickle.loads(pickle.dumps(solution))
    z = np.linspace(0, 1, 5)
    np.testing.assert_array_equal(copy["u"](0.3, z), solution[u](0.3, z))
    np.testing.assert_array_equal(copy.errors, solution.errors)
    assert copy.report.iterations == solution.report.iterations and copy.report.residual == solution.report.residual
    assert repr(copy) == repr(solution) and repr(solution).startswith("<zonal.gwrm.Solution of u for t = 0 to 0.5 in ")


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: gwrm.solve({u: -u}, {}, t=(0, 1)), ValueError, "initial: lacks u"),
    (lambda: gwrm.solve({u: v}, {u: 1}, t=(0, 1)), ValueError, "equations: lack one for v, which is in others"),
    (lambda: gwrm.solve({u: u}, {u: 1, v: 1}, t=(0, 1)), ValueError, "equations: lack one for v, which has an init"),
    (lambda: gwrm.solve({}, {}, t=(0, 1)), ValueError, "problem: has no unknown field"),
    (lambda: gwrm.solve({u: u.d(x)}, {u: 1}, t=(0, 1)), ValueError, "axes: lack x, which equations"),
    (lambda: gwrm.solve({u: u.d(x, 2)}, {u: 1}, t=(0, 1), axes=[x]), ValueError, "boundary conditions along axis 1: 0"),
    (lambda: gwrm.solve({u: u.d(x, 5)}, {u: 1}, t=(0, 1), axes=[x]), ValueError, "derivative of order 5: must be at "),
    (lambda: gwrm.solve({u: u**9}, {u: 1}, t=(0, 1)), ValueError, "exponent = 9: must be from 0 to 8"),
    (lambda: gwrm.solve({u: u}, {u: 1}, t=(1, 0)), ValueError, "t = .1, 0.: must be two times, the first before the second"),
    (lambda: logistic(time_modes=1), ValueError, "time_modes = 1: must be 2 to 1024"),
    (lambda: logistic(tolerance=2), ValueError, "tolerance = 2: must be from 1e-15 to below 1"),
    (lambda: logistic(interval=0), ValueError, "interval = 0: must be positive, or None"),
    (lambda: logistic(solver="euler"), ValueError, "solver = 'euler': must be one of 'automatic', 'newton', '"),
    (lambda: gwrm.solve({u: u}, {u: np.nan}, t=(0, 1)), ValueError, "initial: must be finite on the whole box"),
    (lambda: gwrm.solve(lambda t, u: u * 2, [1], t=(0, 1)), ValueError, "gives 2 right-hand sides for 1 initial"),
    (lambda: gwrm.solve({u: u, gwrm.Unknown("u"): u}, {}, t=(0, 1)), ValueError, "must have different names"),
    (lambda: gwrm.dirichlet(u, x, "left"), ValueError, "end = 'left': must be one of 'lower', 'upper', 'both'"),
    (lambda: gwrm.periodic(u, x, 5), ValueError, "order = 5: must be 1 to 4"),
    (lambda: u.d("x"), TypeError, "axis = 'x': must be a zonal.gwrm.Axis"),
    (lambda: u.d(x, 0), ValueError, "order = 0: must be 1 or more"),
    (lambda: 1 / u, TypeError, "division by u: equations must be polynomials"),
    (lambda: u**0.5, TypeError, "exponent = 0.5: must be an integer"),
    (lambda: u + "1", TypeError, "unsupported operand"),
    (lambda: gwrm.solve([u], [1], t=(0, 1)), TypeError, "equations, initial: must both be mappings of unknowns"),
])
def test_what_makes_no_sense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_parameter_has_no_derivative():
    nu = gwrm.Parameter("nu", (1, 2))
    with pytest.raises(ValueError, match="derivative along axis 1, which is no axis of space"):
        gwrm.solve({u: u.d(nu)}, {u: 1}, t=(0, 1), axes=[nu])
    with pytest.raises(ValueError, match="axis = 1: is a parameter, which has no boundary conditions"):
        gwrm.solve({u: u}, {u: 1}, t=(0, 1), axes=[nu], conditions=[gwrm.dirichlet(u, nu)])


def test_solutions_are_asked_inside_of_the_box():
    solution = heat()
    with pytest.raises(ValueError, match=r"t = 0\.6: must be from 0 to 0\.5"):
        solution(0.6, 0.5)
    with pytest.raises(ValueError, match=r"x = 2: must be from 0 to 1"):
        solution[u](0.5, 2)
    with pytest.raises(TypeError, match=r"0 coordinates beside t: call it with \(t, x\)"):
        solution[u](0.5)
    with pytest.raises(KeyError, match="v: must be one of u"):
        solution[v]
    with pytest.raises(ValueError, match="interval = 99: must be 0 to"):
        solution.coefficients(99)


def test_a_solution_that_goes_to_infinity_is_not_converged():
    with pytest.raises(gwrm.NotConverged, match="no interval from t = 0.99.* on is short enough") as caught:
        gwrm.solve({u: u**2}, {u: 1}, t=(0, 2))
    assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, zonal.Error)


def test_what_functions_of_yours_raise_comes_through():
    def fail(*_):
        raise LookupError("no force today")

    with pytest.raises(LookupError, match="no force today"):
        gwrm.solve({u: gwrm.known(fail)}, {u: 1}, t=(0, 1))
    with pytest.raises(LookupError, match="no force today"):
        gwrm.solve({u: u}, {u: fail}, t=(0, 1))
    with pytest.raises(TypeError):
        gwrm.solve({u: u}, {u: lambda too, many: 1}, t=(0, 1))


def long_solve(**options):
    """Of some seconds, in many short intervals."""
    return rotation(t=(0, 1e5), interval=0.5, **options)


def test_ctrl_c_and_progress_stop_a_solve():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []
    sender = threading.Timer(0.1, lambda: (sent.append(time.process_time()), os.kill(os.getpid(), signal.SIGINT)))
    try:
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            long_solve()
        assert time.process_time() - sent[0] < 0.2 * int(zonal.threads())  # the check is made every 50 ms
    finally:
        sender.join()
        signal.signal(signal.SIGINT, before)
    shares = []
    with pytest.raises(zonal.Cancelled):
        long_solve(progress=lambda done: shares.append(done) or done < 1e-4)
    assert shares == sorted(shares) and shares[-1] >= 1e-4


def test_other_threads_run_during_a_solve(lets_others_run):
    assert lets_others_run(lambda: rotation(t=(0, 15000), interval=0.5))


class DrawnAxes:
    """Keeps what is drawn, in the place of matplotlib's axes."""

    def __init__(self):
        self.calls = {}
        self.figure = self

    def __getattr__(self, name):
        return lambda *arguments, **options: self.calls.setdefault(name, []).append((arguments, options))


def test_solutions_are_drawn(monkeypatch):
    drawn = DrawnAxes()
    assert rotation().plot(drawn) is drawn
    (t, values), options = drawn.calls["plot"][1]
    np.testing.assert_allclose(values, np.cos(t), rtol=0, atol=TOLERANCE)
    assert options["label"] == "v"
    pyplot = types.SimpleNamespace(gca=DrawnAxes)
    monkeypatch.setitem(sys.modules, "matplotlib", types.SimpleNamespace(pyplot=pyplot))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    image = heat().plot()
    (t, z, values), _ = image.calls["pcolormesh"][0]
    assert values.shape == (len(z), len(t)) and image.calls["set_ylabel"] == [(("x",), {})]
    two = gwrm.solve({u: 0, v: 0}, {u: lambda x, y: x - y, v: 0}, t=(0, 1), axes=[x, y])
    with pytest.raises(ValueError, match="plot: has fields u, v: plot one"):
        two.plot()
    (_, _, values), _ = two[u].plot(DrawnAxes()).calls["pcolormesh"][0]
    np.testing.assert_allclose(values[0, -1], 1, rtol=0, atol=TOLERANCE)


def test_matplotlib_is_not_imported_before_it_draws():
    code = "import sys, zonal.gwrm; print([m for m in ('matplotlib', 'scipy', 'tqdm') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"

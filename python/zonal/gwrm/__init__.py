"""Solves initial-value problems in Chebyshev series in time, space and parameters at once.

An ordinary equation, u' = u - u^2:

>>> from zonal import gwrm
>>> u = gwrm.Unknown("u")
>>> solution = gwrm.solve({u: u - u**2}, {u: 0.1}, t=(0, 10))
>>> bool(abs(solution[u](10) - 1 / (1 + 9 * np.exp(-10))) < 1e-11)
True

Burgers' equation on [0, 1], for all viscosities from 0.1 to 0.5:

>>> x, nu = gwrm.Axis("x", (0, 1), modes=20), gwrm.Parameter("nu", (0.1, 0.5), modes=8)
>>> solution = gwrm.solve({u: nu * u.d(x, 2) - u * u.d(x)}, {u: lambda x, nu: np.sin(np.pi * x)}, t=(0, 0.2),
...                       axes=[x, nu], conditions=[gwrm.dirichlet(u, x)], tolerance=1e-6)
>>> round(solution[u](0.2, 0.5, 0.1), 4), solution[u].error() < 1e-5
(0.7538, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Literal

from .. import _core
from .._arrays import integer, real, sequence
from .._checked import checked
from .._core import NotConverged, SolveReport
from .._devices import DeviceLike, resolve_device
from .._progress import Progress, reporting
from .._smoothing import choice_of
from .._threads import resolve
from ._expressions import Axis, Expression, Known, Parameter, Time, Unknown, unknowns
from ._problem import Condition, Equations, Problem, Value, dirichlet, neumann, periodic, robin
from ._solution import Solution, SolvedField

known = Known
t = Time()

for _class in (Axis, Condition, Expression, Known, NotConverged, Parameter, Solution, SolveReport, SolvedField, Unknown):
    _class.__module__ = "zonal.gwrm"  # where users find them

__all__ = [
    "Axis", "Condition", "Expression", "NotConverged", "Parameter", "Solution", "SolveReport", "SolvedField",
    "Unknown", "dirichlet", "known", "neumann", "periodic", "robin", "solve", "t", "unknowns",
]


def __dir__() -> list[str]:
    return sorted(__all__)


@checked
def solve(equations: Equations | Callable[[Expression, list[Unknown]], Sequence[Expression | float]],
          initial: Mapping[Unknown, Value] | Sequence[Value], t: tuple[float, float], *, axes: Sequence[Axis] = (),
          conditions: Sequence[Condition] = (), time_modes: int = 12, tolerance: float = 1e-12,
          interval: float | None = None, solver: Literal["automatic", "newton", "newton-krylov", "sir"] = "automatic",
          highest_mode: Literal["projection", "tau"] = "projection", max_iterations: int = 20,
          max_intervals: int = 100_000, estimate_error: bool = True, threads: int | None = None,
          device: DeviceLike = "cpu", progress: Progress = False) -> Solution:
    """Solves du/dt = D[u] + f for one or several fields from the first of two times to the second.

    equations: du/dt of each unknown, polynomials in unknowns, known functions and derivatives in space; or a
    function(t, u) that returns a list of them for a list of unknowns, as for scipy's solve_ivp.
    initial: the initial value of each unknown: a number, or a function of the coordinates of all axes. With a function
    as equations, a list of these. axes: the axes of space, then the parameters, 0 to 2 in all. conditions: from
    `dirichlet`, `neumann`, `robin` and `periodic`. Each field needs, for each axis, as many as the order of its highest
    derivative.

    time_modes: the highest Chebyshev mode in time, 2 to 1024. tolerance: relative to the largest value of a field, from
    1e-15 to below 1; intervals of time are made so short that the highest modes are below it. interval: the length of
    the intervals, in place of the one that the tolerance asks for.
    solver: of an interval's equations. "newton" factorises the whole Jacobian, "newton-krylov" uses GMRES, and "sir"
    starts far from the solution; the default is newton for up to 32 unknowns, else newton-krylov. highest_mode: how the
    highest mode of integrals in time is treated. max_iterations: steps of the solver in an interval. estimate_error:
    the estimate takes about half as long as solving. threads: by default 1 for small problems, else `zonal.threads()`.
    device, progress: as in `zonal.convolve`.

    Raises NotConverged, a RuntimeError, if the solver does not converge or no interval is short enough, and ValueError
    for incomplete problems and options out of range. Errors that your functions raise pass through. Ctrl-C stops it.

    >>> from zonal import gwrm
    >>> lorenz = gwrm.solve(lambda t, u: [10 * (u[1] - u[0]), u[0] * (28 - u[2]) - u[1], u[0] * u[1] - 8 / 3 * u[2]],
    ...                     [1, 1, 1], t=(0, 2))
    >>> lorenz(2.0).round(6).tolist()
    [-8.1735, -9.562024, 24.620702]
    """
    fields, starts = _named(equations, initial)
    problem = Problem(axes)
    problem.add(fields, starts, conditions)
    options = _core.SolveOptions()
    ends = [real("t", end) for end in sequence("t", t)]
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise ValueError(f"t = {t}: must be two times, the first before the second")
    options.t0, options.t1 = ends
    options.time_modes = integer("time_modes", time_modes)
    options.tolerance = float(tolerance)
    if interval is not None:
        if not interval > 0:
            raise ValueError(f"interval = {interval}: must be positive, or None")
        options.interval = float(interval)
    options.solver = choice_of("solver", solver, _core.Solver)
    options.highest_mode = choice_of("highest_mode", highest_mode, _core.HighestMode)
    options.max_iterations = integer("max_iterations", max_iterations)
    options.max_intervals = integer("max_intervals", max_intervals)
    options.estimate_error = bool(estimate_error)
    n_unknowns = len(fields) * (options.time_modes + 1) * prod((axis.modes + 1) * axis.subdomains for axis in axes)
    options.threads = resolve(threads) if threads is not None or n_unknowns >= _MANY else 1
    options.device = resolve_device(device)
    with reporting(progress, "solve") as report:
        solution = _core.solve(problem.core, options, report)
    return Solution(solution, [field.name for field in fields], axes, options.time_modes)


_MANY = 20_000  # unknowns; products of fewer take less time than starting threads


def _named(equations: Any, initial: Any) -> tuple[Equations, Mapping[Unknown, Value]]:
    """Equations and initial values by unknown."""
    if isinstance(equations, Mapping) and isinstance(initial, Mapping):
        return equations, initial
    if not callable(equations) or isinstance(initial, Mapping):
        raise TypeError("equations, initial: must both be mappings of unknowns, or a function and a list of values")
    initial = sequence("initial", initial)
    fields = [Unknown(f"u{i}") for i in range(len(initial))]
    sides = sequence("equations", equations(Time(), fields))
    if len(sides) != len(fields):
        raise ValueError(f"equations: gives {len(sides)} right-hand sides for {len(fields)} initial values")
    return dict(zip(fields, sides)), dict(zip(fields, initial))

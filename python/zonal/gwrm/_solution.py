"""Solutions of initial-value problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import doubles, integer
from .._checked import checked
from ..chebyshev import Series
from ._expressions import Axis, Unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes  # type: ignore[import-not-found, unused-ignore]

_N_DRAWN = 101  # points along each side of an image, between which colours are interpolated


class Solution:
    """The fields that solve an initial-value problem, as functions of time, space and parameters.

    Call it, or one of its fields (`solution[u]` or `solution["u"]`), anywhere in the box. It can be pickled.
    """

    __slots__ = ("_axes", "_names", "_solution", "_time_modes")

    @checked
    def __init__(self, solution: _core.Solution, names: Sequence[str], axes: Sequence[Axis], time_modes: int) -> None:
        self._solution, self._names, self._axes = solution, tuple(names), tuple(axes)
        self._time_modes = time_modes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return self._names

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self._axes

    @property
    def intervals(self) -> NDArray[np.float64]:
        """[interval + 1]: the start of the first interval of time, and the end of each."""
        return self._solution.ends()

    @property
    def report(self) -> _core.SolveReport:
        """The work that solving took, and the residual: its largest coefficient over all intervals."""
        return self._solution.report

    @property
    def errors(self) -> NDArray[np.float64]:
        """[interval, field]: the estimated largest error over space and parameters at the end of each interval.

        It is infinite where it could not be estimated, and NaN without `estimate_error`.
        """
        errors = self._solution.errors()
        return np.array([row or [np.nan] * len(self._names) for row in errors])

    @checked
    def error(self, t: float | None = None) -> NDArray[np.float64]:
        """Returns the estimated largest error of each field, [field], at the end of the interval of t (default t1)."""
        t = self.intervals[-1] if t is None else t
        return np.array([self._solution.error(field, t) for field in range(len(self._names))])

    @checked
    def coefficients(self, interval: int) -> NDArray[np.float64]:
        """Returns the Chebyshev coefficients of an interval of time: [field, subdomain, k in time, k along axes ..].

        a_0 is not halved, as in `zonal.chebyshev.Series`. Raises ValueError for an interval that does not exist.
        """
        n = len(self.intervals) - 1
        if not -n <= integer("interval", interval) < n:
            raise ValueError(f"interval = {interval}: must be 0 to {n - 1}, or negative, counted from the end")
        return self._solution.coefficients(interval % n)

    @checked
    def times(self, n: int) -> NDArray[np.float64]:
        """Returns t0, and n equally spaced times in each interval, which include its end."""
        if not 1 <= integer("n", n) <= 10_000_000:
            raise ValueError(f"n = {n}: must be from 1 to 10000000")
        return self._solution.times(n)

    def __call__(self, t: ArrayLike, *coordinates: ArrayLike) -> NDArray[np.float64]:
        """Returns all fields, [field, ..], at times and places: one array for each axis, broadcast against one another.

        Raises ValueError for points outside the box.
        """
        return np.stack([np.asarray(self[name](t, *coordinates)) for name in self._names])

    def __getitem__(self, field: Unknown | str | int) -> SolvedField:
        """Returns one field: by its unknown, its name or its number."""
        if isinstance(field, Unknown):
            field = field.name
        if isinstance(field, str):
            if field not in self._names:
                raise KeyError(f"{field}: must be one of {', '.join(self._names)}")
            return SolvedField(self, self._names.index(field))
        return SolvedField(self, range(len(self._names))[field])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws all fields over time, or one field over time and space, with matplotlib; returns its axes.

        If a solution in space has several fields, plot one of them: `solution[u].plot()`.
        """
        if self._axes and len(self._names) > 1:
            raise ValueError(f"plot: has fields {', '.join(self._names)}: plot one, such as "
                             f"solution[{self._names[0]!r}].plot()")
        for name in self._names:
            ax = self[name].plot(ax)
        assert ax is not None
        return ax

    def __reduce__(self) -> tuple[Callable[..., Solution], tuple[Any, ...]]:
        n = len(self.intervals) - 1
        return _solution_from, (self._names, self._axes, self._time_modes, self.intervals.tolist(),
                                [self._solution.coefficients(i) for i in range(n)], self._solution.errors(),
                                self.report)

    def __repr__(self) -> str:
        ends = self.intervals
        return (f"<zonal.gwrm.Solution of {', '.join(self._names)} for t = {ends[0]:g} to {ends[-1]:g} "
                f"in {len(ends) - 1} intervals>")


class SolvedField:
    """One field of a solution, which can be called at times and places."""

    __slots__ = ("_number", "_whole")

    @checked
    def __init__(self, whole: Solution, number: int) -> None:
        self._whole, self._number = whole, number

    @property
    def name(self) -> str:
        return self._whole.names[self._number]

    def __call__(self, t: ArrayLike, *coordinates: ArrayLike) -> Any:
        """Returns the field at times and places; one array for each axis, broadcast against one another.

        The result has their shape; it is a float if all are numbers. Raises ValueError for points outside the box.
        """
        axes = self._whole.axes
        if len(coordinates) != len(axes):
            names = ", ".join(["t", *(axis.name for axis in axes)])
            raise TypeError(f"{len(coordinates)} coordinates beside t: call it with ({names})")
        known = ("t", *(axis.name for axis in axes))
        arrays = np.broadcast_arrays(*map(doubles, known, (t, *coordinates)))
        points = np.zeros((arrays[0].size, 3))
        for axis, array in enumerate(arrays):
            points[:, axis] = array.ravel()
        values = self._whole._solution.values(self._number, points).reshape(arrays[0].shape)
        return values if values.ndim else float(values)

    @checked
    def error(self, t: float | None = None) -> float:
        """Returns the estimated largest error at the end of the interval of t, by default t1."""
        return float(self._whole.error(t)[self._number])

    @checked
    def series(self, interval: int, subdomain: int = 0) -> Series:
        """Returns the series in time, space and parameters on one interval of time and one subdomain of space."""
        axes, ends = self._whole.axes, self._whole.intervals
        coefficients = self._whole.coefficients(interval)[self._number]
        if not 0 <= integer("subdomain", subdomain) < len(coefficients):
            raise ValueError(f"subdomain = {subdomain}: must be 0 to {len(coefficients) - 1}")
        interval %= len(ends) - 1
        domain = [tuple(ends[interval:interval + 2]), *(axis.interval for axis in axes)]
        if axes:
            parts = np.linspace(*axes[0].interval, axes[0].subdomains + 1)
            domain[1] = tuple(parts[subdomain:subdomain + 2])
        return Series(coefficients[subdomain], domain if axes else domain[0])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the field with matplotlib and returns its axes.

        It is drawn over time; with one axis, in colours over time and the axis; with two, over both at the last time.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.gca()
        elif not hasattr(ax, "pcolormesh"):
            raise TypeError(f"ax = {ax!r}: must be axes of matplotlib, or None")
        axes, ends = self._whole.axes, self._whole.intervals
        if not axes:
            times = self._whole.times(16)
            ax.plot(times, self(times), label=self.name)
            ax.set_xlabel("t")
            ax.legend()
            return ax
        lower, upper = (float(ends[0]), float(ends[-1])) if len(axes) == 1 else axes[0].interval
        x, y = np.linspace(lower, upper, _N_DRAWN), np.linspace(*axes[-1].interval, _N_DRAWN)
        grid = np.meshgrid(x, y) if len(axes) == 1 else [ends[-1], *np.meshgrid(x, y)]
        image = ax.pcolormesh(x, y, self(*grid), shading="gouraud")
        ax.figure.colorbar(image, ax=ax, label=self.name)
        ax.set_xlabel("t" if len(axes) == 1 else axes[0].name)
        ax.set_ylabel(axes[-1].name)
        return ax

    def __repr__(self) -> str:
        return f"<field {self.name} of {self._whole!r}>"


def _solution_from(names: Sequence[str], axes: Sequence[Axis], time_modes: int, ends: list[float],
                   coefficients: list[NDArray[np.float64]], errors: list[list[float]],
                   report: _core.SolveReport) -> Solution:
    core_axes = [axis._core_axis() for axis in axes]
    core = _core.solution_from(names, core_axes, time_modes, ends, coefficients, errors, report)
    return Solution(core, names, axes, time_modes)

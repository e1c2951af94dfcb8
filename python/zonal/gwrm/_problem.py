"""Boundary conditions, and how a problem is handed to the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .. import _core
from .._arrays import integer, real, sequence, shown
from .._checked import checked
from ._expressions import Axis, Expression, Known, Time, Unknown

Value: TypeAlias = "float | Callable[..., Any]"
"""A number, or a function of coordinates that returns one."""
End: TypeAlias = Literal["lower", "upper", "both"]
Equations: TypeAlias = "Mapping[Unknown, Expression | float]"


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition at the ends of an axis; `dirichlet`, `neumann`, `robin` and `periodic` make them."""

    field: Unknown
    axis: Axis
    ends: tuple[str, ...]
    weights: tuple[float, float]
    value: Value
    order: int = 0  # of a period

    def _add(self, problem: Problem) -> None:
        field, axis = problem.symbol(self.field), problem.axis(self.axis)
        value = problem.function("value", self.value) if callable(self.value) or self.value else None
        if self.order:
            problem.core.periodic(field, axis, self.order)
        for end in self.ends:
            problem.core.robin(field, axis, end == "upper", *self.weights, value)


def dirichlet(field: Unknown, axis: Axis, end: End = "both", value: Value = 0.0) -> Condition:
    """Returns the condition that a field has this value at one end of an axis of space, or at both.

    value: a number, or a function of t and the coordinates of all axes.
    """
    return robin(field, axis, end, 1.0, 0.0, value)


def neumann(field: Unknown, axis: Axis, end: End = "both", value: Value = 0.0) -> Condition:
    """Returns the condition that a field's derivative along the axis is `value`; for the arguments see `dirichlet`."""
    return robin(field, axis, end, 0.0, 1.0, value)


@checked
def robin(field: Unknown, axis: Axis, end: End, value_weight: float, derivative_weight: float,
          value: Value = 0.0) -> Condition:
    """Returns the condition value_weight u + derivative_weight du/dx = value; for the others see `dirichlet`."""
    ends = {"lower": ("lower",), "upper": ("upper",), "both": ("lower", "upper")}
    if not isinstance(end, str) or end not in ends:
        raise ValueError(f"end = {end!r}: must be one of 'lower', 'upper', 'both'")
    return _condition(field, axis, ends[end], (float(value_weight), float(derivative_weight)), value)


@checked
def periodic(field: Unknown, axis: Axis, order: int) -> Condition:
    """Returns the condition that a field and its derivatives below `order` (1 to 4) agree at both ends of an axis.

    order: the order of the highest derivative along the axis in the equations.
    """
    if not 1 <= integer("order", order) <= 4:
        raise ValueError(f"order = {order}: must be 1 to 4")
    return _condition(field, axis, (), (0.0, 0.0), 0.0, order)


def _condition(field: Any, axis: Any, *others: Any) -> Condition:
    if not isinstance(field, Unknown):
        raise TypeError(f"field = {shown(field)}: must be a zonal.gwrm.Unknown")
    if not isinstance(axis, Axis):
        raise TypeError(f"axis = {shown(axis)}: must be a zonal.gwrm.Axis")
    return Condition(field, axis, *others)


class Problem:
    """The library's problem, and where each symbol is in it."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self._axes = tuple(sequence("axes", axes))
        for axis in self._axes:
            if not isinstance(axis, Axis):
                raise TypeError(f"axes: {axis!r}: must be a zonal.gwrm.Axis or Parameter")
        names = [axis.name for axis in self._axes]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"axes: {names.count(name)} have the name {name}: give each axis once, and names that differ")
        self._symbols: dict[Expression, _core.Expression] = {}
        self.core = _core.Problem([axis._core_axis() for axis in self._axes])

    def add(self, equations: Equations, initial: Mapping[Unknown, Value], conditions: Sequence[Condition]) -> None:
        for field in equations:
            if not isinstance(field, Unknown):
                raise TypeError(f"equations: {shown(field)}: must be a zonal.gwrm.Unknown")
        names = [field.name for field in equations]
        if len(set(names)) < len(names):
            raise ValueError(f"equations: unknowns {', '.join(names)}: must have different names")
        for field in equations:
            if field not in initial:
                raise ValueError(f"initial: lacks {field.name}")
            start = self.function(f"initial value of {field}", initial[field], of_time=False)
            self._symbols[field] = self.core.unknown(field.name, start)
        for extra in initial:
            if extra not in equations:
                raise ValueError(f"equations: lack one for {extra}, which has an initial value")
        for field, right_hand_side in equations.items():
            side = right_hand_side if isinstance(right_hand_side, Expression) else \
                0 * field + real(f"equation of {field}", right_hand_side)
            self.core.evolve(self._symbols[field], side._build(self))
        for condition in sequence("conditions", conditions):
            if not isinstance(condition, Condition):
                raise TypeError(f"conditions: {condition!r}: must be a zonal.gwrm.Condition; dirichlet and others make one")
            condition._add(self)

    def symbol(self, symbol: Expression) -> _core.Expression:
        if symbol not in self._symbols:
            self._symbols[symbol] = self._new(symbol)
        return self._symbols[symbol]

    def _new(self, symbol: Expression) -> _core.Expression:
        if isinstance(symbol, Known):
            return self.core.known(self.function("known", symbol.function))
        if isinstance(symbol, (Time, Axis)):
            return self.core.coordinate(0 if isinstance(symbol, Time) else self.axis(symbol))
        raise ValueError(f"equations: lack one for {symbol}, which is in others or in conditions")

    def axis(self, axis: Axis) -> int:
        if axis not in self._axes:
            raise ValueError(f"axes: lack {axis.name}, which equations or conditions use")
        return 1 + self._axes.index(axis)

    def function(self, name: str, value: Value, of_time: bool = True) -> Callable[[float, float, float], float]:
        """The form that the library takes: a function of t and two coordinates, even if the problem has fewer."""
        if not callable(value):
            constant = float(real(name, value))
            return lambda t, x, y: constant
        function, n = value, len(self._axes)
        if of_time:
            return [lambda t, x, y: float(function(t)), lambda t, x, y: float(function(t, x)),
                    lambda t, x, y: float(function(t, x, y))][n]
        return [lambda t, x, y: float(function()), lambda t, x, y: float(function(x)),
                lambda t, x, y: float(function(x, y))][n]

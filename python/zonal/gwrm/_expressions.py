"""Equations are written in these: unknown fields, known functions, coordinates, and expressions made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Protocol

from .. import _core
from .._arrays import integer, real, sequence, text
from .._checked import checked


class Places(Protocol):
    """Where the symbols of an expression are in a problem."""

    def symbol(self, symbol: Expression) -> _core.Expression: ...

    def axis(self, axis: Axis) -> int: ...


class Expression:
    """A polynomial in unknowns, known functions and their derivatives in space.

    Write it with +, -, *, ** (to whole powers from 0 to 8), division by numbers, and `d`. A term may have up to 8
    factors. Nothing is computed before a problem is solved.

    >>> from zonal import gwrm
    >>> x, u = gwrm.Axis("x"), gwrm.Unknown("u")
    >>> 0.1 * u.d(x, 2) - u * u.d(x)
    0.1*u.d(x, 2) + -1*u*u.d(x)
    """

    __slots__ = ()
    __array_ufunc__ = None  # so that NumPy's numbers leave arithmetic to this class

    @checked
    def d(self, axis: Axis, order: int = 1) -> Expression:
        """Returns the derivative along an axis of space. order: 1 or more."""
        if not isinstance(axis, Axis):
            raise TypeError(f"axis = {axis!r}: must be a zonal.gwrm.Axis")
        if integer("order", order) < 1:
            raise ValueError(f"order = {order}: must be 1 or more")
        return _Derivative(self, axis, order)

    def __add__(self, other: Expression | float) -> Expression:
        if isinstance(other, (Expression, Real)):
            return _joined(_Sum, self, other)
        return NotImplemented

    def __radd__(self, other: float) -> Expression:
        if isinstance(other, Real):
            return _joined(_Sum, other, self)
        return NotImplemented

    def __mul__(self, other: Expression | float) -> Expression:
        if isinstance(other, (Expression, Real)):
            return _joined(_Product, self, other)
        return NotImplemented

    def __rmul__(self, other: float) -> Expression:
        if isinstance(other, Real):
            return _joined(_Product, other, self)
        return NotImplemented

    def __sub__(self, other: Expression | float) -> Expression:
        if isinstance(other, (Expression, Real)):
            return self + -other
        return NotImplemented

    def __rsub__(self, other: float) -> Expression:
        return -self + other

    def __neg__(self) -> Expression:
        return -1.0 * self

    def __pos__(self) -> Expression:
        return self

    def __truediv__(self, other: float) -> Expression:
        if isinstance(other, Real):
            return self * (1 / float(other))
        raise _not_polynomial(other)

    def __rtruediv__(self, other: object) -> Expression:
        raise _not_polynomial(self)

    def __pow__(self, exponent: int) -> Expression:
        if not 0 <= integer("exponent", exponent) <= 8:
            raise ValueError(f"exponent = {exponent}: must be from 0 to 8")
        return _Power(self, exponent)

    def __repr__(self) -> str:
        return self._text()

    def _text(self) -> str:
        raise NotImplementedError

    def _build(self, places: Places) -> _core.Expression:
        """The library's expression of this in a problem."""
        return places.symbol(self)


@dataclass(frozen=True, eq=False, repr=False)
class Unknown(Expression):
    """A field to solve for, with its name."""

    name: str

    def __post_init__(self) -> None:
        text("name", self.name)

    def _text(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, repr=False)
class Known(Expression):
    """A known function of t and the coordinates of all axes, such as a force: function(t, x, ..) -> float."""

    function: Callable[..., Any]

    def _text(self) -> str:
        return f"known({getattr(self.function, '__name__', self.function)})"


@dataclass(frozen=True, eq=False, repr=False)
class Time(Expression):
    """The time, for equations that depend on it."""

    def _text(self) -> str:
        return "t"


@dataclass(frozen=True, eq=False)
class Axis(Expression):
    """An axis of space, and its coordinate in expressions.

    interval: its ends. modes: the highest Chebyshev mode, 0 to 4096. subdomains: 1 to 1024 equal parts, each with its
    own series; values and derivatives are continuous across them. Only a problem's first axis can have several.
    """

    name: str
    interval: tuple[float, float] = (0.0, 1.0)
    modes: int = 16
    subdomains: int = 1

    def __post_init__(self) -> None:
        text("name", self.name)
        if len([real("interval", end) for end in sequence("interval", self.interval)]) != 2:
            raise ValueError(f"interval = {self.interval}: must be its two ends")
        integer("modes", self.modes), integer("subdomains", self.subdomains)

    def _text(self) -> str:
        return self.name

    def _core_axis(self) -> _core.Axis:
        lower, upper = self.interval
        return _core.Axis(self.name, (float(lower), float(upper)), int(self.modes), isinstance(self, Parameter),
                          int(self.subdomains))


@dataclass(frozen=True, eq=False)
class Parameter(Axis):
    """A number in the equations, which are solved for all its values in an interval at once.

    It has no derivatives and no boundary conditions, and comes after the axes of space.
    """

    subdomains: int = field(default=1, init=False)


@dataclass(frozen=True, eq=False, repr=False)
class _Number(Expression):
    value: float

    def _text(self) -> str:
        return f"{self.value:g}"

    def _build(self, places: Places) -> _core.Expression:
        return _core.Expression(self.value)


@dataclass(frozen=True, eq=False, repr=False)
class _Sum(Expression):
    parts: tuple[Expression, ...]

    def _text(self) -> str:
        return " + ".join(part._text() for part in self.parts)

    def _build(self, places: Places) -> _core.Expression:
        total = self.parts[0]._build(places)
        for part in self.parts[1:]:
            total = total + part._build(places)
        return total


@dataclass(frozen=True, eq=False, repr=False)
class _Product(Expression):
    parts: tuple[Expression, ...]

    def _text(self) -> str:
        return "*".join(f"({part._text()})" if isinstance(part, _Sum) else part._text() for part in self.parts)

    def _build(self, places: Places) -> _core.Expression:
        product = self.parts[0]._build(places)
        for part in self.parts[1:]:
            product = product * part._build(places)
        return product


@dataclass(frozen=True, eq=False, repr=False)
class _Power(Expression):
    base: Expression
    exponent: int

    def _text(self) -> str:
        return f"{_as_one(self.base)}**{self.exponent}"

    def _build(self, places: Places) -> _core.Expression:
        return self.base._build(places).power(self.exponent)


@dataclass(frozen=True, eq=False, repr=False)
class _Derivative(Expression):
    base: Expression
    axis: Axis
    order: int

    def _text(self) -> str:
        return f"{_as_one(self.base)}.d({self.axis.name}{f', {self.order}' if self.order > 1 else ''})"

    def _build(self, places: Places) -> _core.Expression:
        result = self.base._build(places)
        for _ in range(self.order):
            result = result.derivative(places.axis(self.axis))
        return result


def _joined(kind: type[_Sum] | type[_Product], *sides: Expression | float) -> Expression:
    """A sum or product of sides, with the parts of sides of the same kind, so that long ones do not nest deeply."""
    parts: list[Expression] = []
    for side in sides:
        if isinstance(side, kind):
            parts += side.parts
        else:
            parts.append(side if isinstance(side, Expression) else _Number(float(side)))
    return kind(tuple(parts))


def _not_polynomial(divisor: object) -> TypeError:
    return TypeError(f"division by {divisor!r}: equations must be polynomials; make the quotient a field of its own, "
                     "or a known function")


def _as_one(base: Expression) -> str:
    return f"({base._text()})" if isinstance(base, (_Sum, _Product, _Power)) else base._text()


def unknowns(*names: str) -> tuple[Unknown, ...]:
    """Returns unknown fields with these names.

    >>> from zonal import gwrm
    >>> x, y = gwrm.unknowns("x", "y")
    """
    return tuple(map(Unknown, names))

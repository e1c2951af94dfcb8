"""A Chebyshev series and its operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import integer, real_input, sequence
from .._checked import checked
from ._coefficients import EPS, Box, box_of, cut, degrees_of, padded, sums_of


class Series:
    """The function f(x) = sum_k a_k T_k(sigma), sigma from -1 to 1 as x goes from one end of the domain to the other.

    coefficients: [K + 1], real, a_0 first and not halved (as in numpy.polynomial); [K + 1, L + 1] or
    [K + 1, L + 1, M + 1] for functions of two or three variables. domain: (lower, upper), or one such pair for each of
    several variables; by default from -1 to 1.

    A series is immutable, holds float64, can be pickled and hashed, and equals another one with the same domain and
    coefficients. You can call it at points, add, multiply and divide it with series of the same domain and with
    numbers, and raise it to powers. Sums and products are exact up to rounding and keep all coefficients: `chopped`
    and `truncated` make them shorter.

    Raises ValueError for coefficients of other shapes and for domains that are empty or not finite, and TypeError for
    coefficients that are not real.

    >>> x = Series([0, 1])
    >>> 2 * x**2 - 1 == Series([0, 0, 1])
    True
    >>> (1 / (3 + x)).degree
    21
    """

    __slots__ = ("_box", "_coefficients")
    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class
    _box: Box
    _coefficients: NDArray[np.float64]

    def __init__(self, coefficients: ArrayLike, domain: Any = (-1, 1)) -> None:
        array = np.array(real_input("coefficients", coefficients), np.float64, order="C")
        if not 1 <= array.ndim <= 3 or array.size == 0:
            raise ValueError(f"coefficients: have shape {array.shape}: must have 1 to 3 axes of 1 or more each")
        array.setflags(write=False)
        self._coefficients = array
        self._box = box_of(domain, array.ndim)

    @classmethod
    def _of(cls, coefficients: NDArray[np.float64], box: Box) -> Series:
        """Without checks and without a copy."""
        series = object.__new__(cls)
        coefficients.setflags(write=False)
        series._coefficients, series._box = coefficients, box
        return series

    @classmethod
    @checked
    def from_function(cls, function: Callable[..., ArrayLike], domain: Any = (-1, 1), *,
                      degree: int | Sequence[int] | None = None, tolerance: float = EPS) -> Series:
        """Returns the series of a function, resolved to a tolerance, or the interpolating polynomial of a degree.

        function: is called with arrays of points, one for each variable of the domain, and returns an array of values
        of their shape, or one number. domain: one pair, or one for each of up to three variables. degree: of the
        polynomial through the values at degree + 1 Gauss points; a number or one for each variable. tolerance: used
        without a degree; relative to the largest value and in (0, 1). The series ends where the function's own noise
        begins.

        Raises ErrorNotKept for functions that 2^14 coefficients (2^20 of several variables) do not resolve, such as
        those with jumps, and ValueError for values that are not finite or of another shape.

        >>> Series.from_function(np.abs, degree=4).coefficients.round(3).tolist()
        [0.616, 0.0, 0.47, 0.0, -0.145]
        """
        if not callable(function):
            raise TypeError(f"function = {function!r}: must be callable")
        box = box_of(domain, 1 if np.ndim(domain) == 1 else len(sequence("domain", domain)))

        def values_on(axes: list[NDArray[np.float64]]) -> NDArray[np.float64]:
            shape = tuple(len(axis) for axis in axes)
            values = real_input("function", function(*np.meshgrid(*axes, indexing="ij")))
            if values.shape not in ((), shape):
                raise ValueError(f"function: gives values of shape {values.shape} at points of shape {shape}")
            return np.ascontiguousarray(np.broadcast_to(values, shape), np.float64)

        if degree is not None and tolerance != EPS:
            raise ValueError("degree, tolerance: exclude each other")
        if degree is None:
            most = 2**14 if len(box) == 1 else 2**20
            return cls(_core.chebyshev_approximate(values_on, box, tolerance, most), box)
        sizes = [n + 1 for n in degrees_of("degree", degree, len(box))]
        points = [_core.chebyshev_points(interval, n) for interval, n in zip(box, sizes)]
        return cls(_core.chebyshev_interpolate(values_on(points)), box)

    @classmethod
    def from_numpy(cls, polynomial: np.polynomial.Chebyshev) -> Series:
        """Returns the series of a numpy.polynomial.Chebyshev, whose window must be [-1, 1]."""
        if not isinstance(polynomial, np.polynomial.Chebyshev):
            raise TypeError(f"polynomial: must be a numpy.polynomial.Chebyshev, not {type(polynomial).__name__}; "
                            "convert(kind=numpy.polynomial.Chebyshev) makes one")
        if tuple(polynomial.window) != (-1, 1):
            raise ValueError(f"polynomial: has the window {polynomial.window}: must be [-1, 1]; convert() changes it")
        return cls(polynomial.coef, tuple(polynomial.domain))

    def to_numpy(self) -> np.polynomial.Chebyshev:
        """Returns this series as a numpy.polynomial.Chebyshev. Raises ValueError for several variables."""
        self._require_one_variable("to_numpy")
        return np.polynomial.Chebyshev(self._coefficients, self._box[0])

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """[K + 1, ..], read-only."""
        return self._coefficients

    @property
    def domain(self) -> Any:
        """(lower, upper), or one such pair for each of several variables."""
        return self._box[0] if len(self._box) == 1 else self._box

    @property
    def ndim(self) -> int:
        """The number of variables."""
        return self._coefficients.ndim

    @property
    def degrees(self) -> tuple[int, ...]:
        """K, L, ..: one less than the number of coefficients along each axis."""
        return tuple(n - 1 for n in self._coefficients.shape)

    @property
    def degree(self) -> int:
        """K. Raises ValueError for several variables; use `degrees` for these."""
        self._require_one_variable("degree")
        return self._coefficients.size - 1

    def __call__(self, *points: ArrayLike) -> Any:
        """Returns f at points: one array, or one for each variable, broadcast against one another.

        The result has their shape; it is a float if all points are numbers. Outside the domain the polynomial
        continues and grows fast.
        """
        if len(points) != self.ndim:
            raise TypeError(f"points: {len(points)} arrays: must be {self.ndim}, one for each variable")
        arrays = np.broadcast_arrays(*(np.asarray(real_input("points", z), np.float64) for z in points))
        flat = np.stack([z.ravel() for z in arrays], axis=-1)
        values = _core.chebyshev_evaluate(self._coefficients, self._box, flat).reshape(arrays[0].shape)
        return values if values.ndim else float(values)

    def on_grid(self, *points: ArrayLike) -> NDArray[np.float64]:
        """Returns f at all points (x[i], y[j], ..): [i, j, ..]. points: [n], one array for each variable.

        This is faster than a call with as many single points.
        """
        if len(points) != self.ndim:
            raise TypeError(f"points: {len(points)} arrays: must be {self.ndim}, one for each variable")
        axes = [np.ascontiguousarray(z, np.float64).reshape(-1) for z in points]
        return _core.chebyshev_evaluate_on_grid(self._coefficients, self._box, axes)

    @checked
    def derivative(self, axis: int = 0) -> Series:
        """Returns df/dx, or the derivative with respect to variable number `axis`, counted from 0."""
        axis = self._axis(axis)
        slopes = _core.chebyshev_differentiate(self._coefficients, axis, self._box[axis])
        kept = max(1, slopes.shape[axis] - 1)
        shape = [kept if i == axis else n for i, n in enumerate(slopes.shape)]
        return Series._of(cut(slopes, shape), self._box)

    @checked
    def integral(self, axis: int = 0) -> Series:
        """Returns the integral from the lower end of the domain to x, or to variable number `axis`, counted from 0."""
        axis = self._axis(axis)
        return Series._of(_core.chebyshev_integrate(self._coefficients, axis, self._box[axis]), self._box)

    @checked
    def integrate_out(self, axis: int) -> Series:
        """Returns the integral over the whole range of one of several variables, as a series in the others."""
        axis = self._axis(axis)
        if self.ndim == 1:
            raise ValueError("integrate_out: is for series of several variables; definite_integral gives a number")
        rest = _core.chebyshev_integrate_out(self._coefficients, axis, self._box[axis]).squeeze(axis)
        return Series(rest, self._box[:axis] + self._box[axis + 1:])

    @checked
    def definite_integral(self, lower: float | None = None, upper: float | None = None) -> float:
        """Returns the integral over the domain, or, for one variable, from `lower` to `upper` inside it.

        >>> round(Series.from_function(np.sin, (0, np.pi)).definite_integral(), 12)
        2.0
        """
        if lower is not None or upper is not None:
            return self._integral_between(lower, upper)
        values = self._coefficients
        for axis, interval in enumerate(self._box):
            values = _core.chebyshev_integrate_out(values, axis, interval)
        return float(values.item())

    def _integral_between(self, lower: float | None, upper: float | None) -> float:
        self._require_one_variable("definite_integral between two points")
        ends = self._box[0]
        a, b = (end if z is None else float(z) for z, end in zip((lower, upper), ends))
        if not (ends[0] <= a <= ends[1] and ends[0] <= b <= ends[1]):
            raise ValueError(f"lower, upper = {a}, {b}: must be in the domain, from {ends[0]} to {ends[1]}")
        if a == b:
            return 0.0
        part = self.restricted((min(a, b), max(a, b))).definite_integral()
        return part if a < b else -part

    @checked
    def roots(self, tolerance: float = 1e-10) -> NDArray[np.float64]:
        """Returns the roots in the domain, ascending. A multiple root appears as several roots that rounding splits.

        tolerance: how far off the real axis or beyond the ends a computed root may lie, relative to half of the
        domain. Raises ValueError for a series of zeros, and for several variables.
        """
        self._require_one_variable("roots")
        return _core.chebyshev_roots(self._coefficients, self._box[0], tolerance)

    def all_roots(self) -> NDArray[np.complex128]:
        """Returns all roots in the complex plane, unordered, as eigenvalues of the colleague matrix.

        Raises ValueError as `roots` does. The time grows as the third power of the degree.
        """
        self._require_one_variable("all_roots")
        return _core.chebyshev_all_roots(self._coefficients, self._box[0])

    def truncated(self, degree: int | Sequence[int]) -> Series:
        """Returns the series of the first coefficients, up to a degree: a number, or one for each variable.

        `truncation_bound` says how far it is from f.
        """
        kept = degrees_of("degree", degree, self.ndim)
        return Series._of(cut(self._coefficients, [n + 1 for n in kept]), self._box)

    def truncation_bound(self, degree: int | Sequence[int]) -> float:
        """Returns a bound of |f - f.truncated(degree)| in the domain: the sum of |a_k| of all coefficients left out.

        >>> f = Series([1, 0.5, 0.01, -0.002])
        >>> f.truncation_bound(1)
        0.012
        """
        kept = [n + 1 for n in degrees_of("degree", degree, self.ndim)]
        return _core.chebyshev_truncation_bound(self._coefficients, kept)

    @checked
    def chopped(self, tolerance: float = EPS) -> Series:
        """Returns f without its last coefficients, from where they are only noise (Aurentz & Trefethen 2017).

        tolerance: relative to the largest coefficient, in (0, 1). With fewer than 17 coefficients only zeros are cut.
        """
        kept = _core.chebyshev_chop_lengths(self._coefficients, tolerance)
        return self.truncated([n - 1 for n in kept])

    def restricted(self, domain: Any) -> Series:
        """Returns the same polynomial as a series on another domain, usually a part of its own."""
        box = box_of(domain, self.ndim)
        return Series._of(_core.chebyshev_restrict(self._coefficients, self._box, box), box)

    def __add__(self, other: Series | float) -> Series:
        if isinstance(other, Real):
            return self + self._constant(other)
        if not isinstance(other, Series):
            return NotImplemented
        self._require_same_domain(other)
        shape = tuple(map(max, self._coefficients.shape, other._coefficients.shape))
        return Series._of(padded(self._coefficients, shape) + padded(other._coefficients, shape), self._box)

    def __mul__(self, other: Series | float) -> Series:
        if isinstance(other, Series):
            self._require_same_domain(other)
            factors = [self._coefficients, other._coefficients]
            return Series._of(sums_of(factors, 1, ((0, 1.0, (0, 1)),), True)[0], self._box)
        if isinstance(other, Real):
            return Series._of(self._coefficients * float(other), self._box)
        return NotImplemented

    def __truediv__(self, other: Series | float) -> Series:
        """Divides by a number, or by a series of one variable that has no root in the domain.

        A quotient of series is resolved to rounding as in `from_function`, and raises the same errors.
        """
        if isinstance(other, Real):
            return Series._of(self._coefficients / float(other), self._box)
        if not isinstance(other, Series):
            return NotImplemented
        self._require_same_domain(other)
        self._require_one_variable("division by a series")
        interval = self._box[0]
        return Series._of(_core.chebyshev_quotient(self._coefficients, other._coefficients, interval, EPS), self._box)

    def __pow__(self, exponent: int) -> Series:
        """Raises the series to an integer power. For a negative power it must have no roots in the domain."""
        n = integer("exponent", exponent)
        if n < 0:
            return 1 / self**-n
        if n == 0:
            return self._constant(1.0)
        most = 8  # factors of a product
        lowest = sums_of([self._coefficients], 1, ((0, 1.0, (0,) * min(n, most)),), True)[0]
        power = Series._of(lowest, self._box)
        if n <= most:
            return power
        rest = power ** (n // most)
        return rest * self ** (n % most) if n % most else rest

    def __neg__(self) -> Series:
        return Series._of(-self._coefficients, self._box)

    def __pos__(self) -> Series:
        return self

    def __sub__(self, other: Series | float) -> Series:
        if isinstance(other, (Series, Real)):
            return self + -other
        return NotImplemented

    def __rsub__(self, other: float) -> Series:
        return -self + other

    def __rtruediv__(self, other: float) -> Series:
        if isinstance(other, Real):
            return self._constant(other) / self
        return NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Series):
            return NotImplemented
        return self._box == other._box and np.array_equal(self._coefficients, other._coefficients)

    def __hash__(self) -> int:
        return hash((self._box, (self._coefficients + 0.0).tobytes()))  # -0.0 equals 0.0

    def __reduce__(self) -> tuple[Callable[..., Series], tuple[Any, ...]]:
        return Series, (self._coefficients, self._box)

    def __repr__(self) -> str:
        if self._coefficients.size <= 8:
            return f"Series({self._coefficients.tolist()}, domain={self.domain})"
        degrees = " x ".join(map(str, self.degrees))
        box = " x ".join(f"[{lower:g}, {upper:g}]" for lower, upper in self._box)
        first = ", ".join(f"{a:.4g}" for a in self._coefficients.flat[:4])
        return f"<Series of degree {degrees} on {box}: {first}, ..., {self._coefficients.flat[-1]:.2g}>"

    def _constant(self, value: float) -> Series:
        return Series._of(np.full((1,) * self.ndim, float(value)), self._box)

    def _axis(self, axis: int) -> int:
        axis = integer("axis", axis)
        if not 0 <= axis < self.ndim:
            raise ValueError(f"axis = {axis}: must be 0 to {self.ndim - 1}")
        return axis

    def _require_one_variable(self, what: str) -> None:
        if self.ndim != 1:
            raise ValueError(f"{what}: is for series of one variable, not {self.ndim}")

    def _require_same_domain(self, other: Series) -> None:
        if self._box != other._box:
            raise ValueError(f"domain: {other.domain} of one series and {self.domain} of the other: must be the same; "
                             "restricted() changes it")

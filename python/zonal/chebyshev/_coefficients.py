"""Boxes, and arrays of coefficients of different lengths."""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import doubles, integer
from .._threads import resolve

EPS = 2.0**-52
Box: TypeAlias = tuple[tuple[float, float], ...]
Product: TypeAlias = tuple[int, float, tuple[int, ...]]
_SMALL = 20_000  # coefficients; products of fewer take less time than starting threads


def padded(coefficients: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The coefficients, padded with zeros to this shape."""
    if coefficients.shape == shape:
        return coefficients
    result = np.zeros(shape)
    result[tuple(map(slice, coefficients.shape))] = coefficients
    return result


def box_of(domain: Any, ndim: int) -> Box:
    """One (lower, upper) for each variable."""
    ends = doubles("domain", domain)
    if ends.shape == (2,):
        ends = np.broadcast_to(ends, (ndim, 2)) if ndim == 1 or tuple(ends) == (-1, 1) else ends
    if ends.shape != (ndim, 2) or not 1 <= ndim <= 3:
        raise ValueError(f"domain = {domain}: must be (lower, upper), or one such pair for each variable")
    if not np.all(np.isfinite(ends)) or not np.all(ends[:, 0] < ends[:, 1]):
        raise ValueError(f"domain = {domain}: must be finite and not empty")
    return tuple((float(lower), float(upper)) for lower, upper in ends)


def degrees_of(name: str, degree: int | Sequence[int], ndim: int) -> list[int]:
    """One for each variable."""
    degrees = [integer(name, n) for n in (degree if isinstance(degree, Sequence) else (degree,) * ndim)]
    if len(degrees) != ndim or any(n < 0 for n in degrees):
        raise ValueError(f"{name} = {degree}: must be 0 or more: one number, or one for each of {ndim} variables")
    return degrees


def sums_of(fields: list[NDArray[np.float64]], n_sums: int, products: tuple[Product, ...],
            full: bool) -> list[NDArray[np.float64]]:
    """Sums of products of coefficients; see zonal::ChebyshevProductPlan.

    products: the number of the sum that a product belongs to, its weight, and the places of its factors in fields.
    """
    shapes = [f.shape for f in fields]
    shape = tuple(max(n) for n in zip(*shapes))
    plan = _plan(shape, len(fields), n_sums, products, full, 1 if prod(shape) < _SMALL else resolve(None))
    results = plan([padded(f, shape) for f in fields])
    if not full:
        return results
    # Beyond its degree a product of shorter factors has only zeros.
    needed = [[1] * len(shape) for _ in results]
    for output, _, factors in products:
        for axis in range(len(shape)):
            degree = sum(shapes[f][axis] - 1 for f in factors)
            needed[output][axis] = max(needed[output][axis], degree + 1)
    return [cut(result, extents) for result, extents in zip(results, needed)]


@lru_cache(maxsize=8)
def _plan(shape: tuple[int, ...], n_fields: int, n_sums: int, products: tuple[Product, ...], full: bool,
          threads: int) -> _core.ChebyshevSums:
    return _core.ChebyshevSums(shape, n_fields, n_sums, products, full, threads)


def cut(coefficients: NDArray[np.float64], shape: Sequence[int]) -> NDArray[np.float64]:
    """The first coefficients along each axis, as a contiguous array of this shape."""
    return np.ascontiguousarray(coefficients[tuple(map(slice, shape))])

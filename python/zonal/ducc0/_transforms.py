"""Transforms as ducc0's arguments describe them, by Zonal's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import text
from .._checked import invalid
from ._arguments import result_in, written

MODES = ("STANDARD", "GRAD_ONLY", "DERIV1")


class Field(NamedTuple):
    """What a transform is of: its spin, which parts of the coefficients there are, and how many components."""

    spin: int
    parts: Any
    n_alm: int
    n_map: int
    is_derivative: bool

    def factors(self, lmax: int) -> NDArray[np.float64] | None:
        """[lmax + 1], what a_lm are multiplied by; None for 1."""
        l = np.arange(lmax + 1.0)
        return np.sqrt(l * (l + 1)) if self.is_derivative else None


def accuracy_of(interpolates: bool) -> float:
    """What going by equidistant rings may add to the error, of the largest Fourier coefficient; 0: rings are not resampled."""
    return 1e-13 if interpolates else 0.0


def field_of(spin: int, mode: str = "STANDARD", lmax: int | None = None) -> Field:
    """Checks spin and mode."""
    if text("mode", mode) not in MODES:
        raise invalid("mode", repr(mode), f"must be one of {', '.join(MODES)}")
    if spin < 0:
        raise invalid("spin", spin, "must be 0 or more")
    if spin == 0 and mode != "STANDARD":
        raise invalid("mode", repr(mode), "must be STANDARD for spin = 0, whose fields have no curl")
    spin = 1 if mode == "DERIV1" else spin
    if lmax is not None and spin > max(lmax, 0):
        raise invalid("spin", spin, f"must be from 0 to lmax = {lmax}")
    both = spin > 0 and mode == "STANDARD"
    parts = _core.SpinParts.both if mode == "STANDARD" else _core.SpinParts.gradient
    return Field(spin, parts, 2 if both else 1, 1 if spin == 0 else 2, mode == "DERIV1")


def batch(name: str, array: NDArray[Any], components: int) -> tuple[NDArray[Any], bool]:
    """[transform, component, ..] of an array that may lack the first axis, and whether it had it."""
    if array.ndim not in (2, 3) or array.shape[-2] != components:
        raise invalid(name, None, f"has shape {array.shape}: must be ([transform,] {components}, x)")
    return (array, True) if array.ndim == 3 else (array[None], False)


def multiplied(alm: NDArray[Any], lmax: int, mmax: int, factors: NDArray[np.float64]) -> NDArray[Any]:
    """A copy of alm, [transform, component, n_alm], times factors of l."""
    result = np.array(alm, order="C")
    for row in result.reshape(-1, result.shape[-1]):
        _core.multiply_alm(lmax, mmax, factors, row)
    return result


class Transform:
    """Synthesis and its transpose between alm, [transform, component, n_alm], and the maps of a grid."""

    def __init__(self, grid: Any, lmax: int, mmax: int, field: Field, threads: int, interpolates: bool = True) -> None:
        self.lmax, self.mmax, self.field = lmax, mmax, field
        self.plan = _core.Transform(grid, lmax, mmax, field.spin, threads, "cpu", 0, field.parts, accuracy_of(interpolates))

    def synthesize(self, alm: NDArray[Any], maps: NDArray[Any], call: Callable[..., None] | None = None) -> None:
        """Writes maps, which have a contiguous last axis. call: that of the plan, by default its synthesis."""
        factors = self.field.factors(self.lmax)
        if factors is not None:
            alm = multiplied(alm, self.lmax, self.mmax, factors)
        (call or self.plan.synthesize)(self._without_axis(alm, self.field.n_alm), self._without_axis(maps, self.field.n_map), None)

    def adjoint(self, maps: NDArray[Any], alm: NDArray[Any]) -> None:
        """Writes alm, which has a contiguous last axis."""
        self.plan.adjoint(self._without_axis(maps, self.field.n_map), self._without_axis(alm, self.field.n_alm), None)
        self._finish(alm)

    def analyze(self, maps: NDArray[Any], alm: NDArray[Any]) -> None:
        """The inverse of the synthesis on grids where it is exact."""
        self.plan.analyze(self._without_axis(maps, self.field.n_map), self._without_axis(alm, self.field.n_alm), 0, 0.0, 200, [],
                          None, None)

    def _finish(self, alm: NDArray[Any]) -> None:
        factors = self.field.factors(self.lmax)
        if factors is not None:
            alm[...] = multiplied(alm, self.lmax, self.mmax, factors)

    @staticmethod
    def _without_axis(array: NDArray[Any], components: int) -> NDArray[Any]:
        return array[:, 0] if components == 1 else array


def output(name: str, out: Any, shape: tuple[int, ...], least: int, dtype: Any) -> NDArray[Any]:
    """`out`, whose last axis may be longer than `least`, or a new array of zeros. shape: of the other axes."""
    if out is None:
        return np.zeros((*shape, least), dtype)
    length = out.shape[-1] if isinstance(out, np.ndarray) and out.ndim else least
    written(name, out, (*shape, length), dtype)
    if length < least:
        raise invalid(name, None, f"has a last axis of {length}: must be {least} or more")
    return out  # type: ignore[no-any-return]


def write_alm(layout: Any, alm: Any, shape: tuple[int, ...], dtype: Any, compute: Callable[[NDArray[Any]], None]) -> NDArray[Any]:
    """Writes what compute(alm) fills, [transform, component, n_alm], where the layout says, and returns the array.

    alm: the caller's, or None. shape: of its axes before the last. Elements that the layout does not use stay as they are.
    """
    layout.check_places()
    out = output("alm", alm, shape, layout.length, dtype)
    rows = out if out.ndim == 3 else out[None]
    if layout.index is None:
        with result_in(rows[..., :layout.size]) as there:
            compute(there)
    else:
        found = np.empty((*rows.shape[:2], layout.size), dtype)
        compute(found)
        rows[..., layout.index] = found
    return out


def write_map(rings: Any, map: Any, shape: tuple[int, ...], dtype: Any, compute: Callable[[NDArray[Any]], None]) -> NDArray[Any]:
    """The same for the pixels of rings, which are multiplied by the rings' factors."""
    rings.check_places()
    out = output("map", map, shape, rings.length, dtype)
    rows = out if out.ndim == 3 else out[None]
    if rings.is_plain:
        with result_in(rows[..., :rings.length]) as there:
            compute(there)
    else:
        found = np.empty((*rows.shape[:2], rings.n_pixels), dtype)
        compute(found)
        rows[..., rings.index()] = rings.scaled(found)
    return out


__all__ = ["MODES", "Field", "Transform", "accuracy_of", "batch", "field_of", "multiplied", "output", "write_alm", "write_map"]

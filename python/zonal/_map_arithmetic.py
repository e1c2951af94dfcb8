"""Arithmetic and comparisons of maps."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _units
from ._arrays import piecewise
from ._pixels import UNSEEN, is_unseen
from .grid import Grid

_ORDERINGS = (np.less, np.less_equal, np.greater, np.greater_equal)
_Map = TypeVar("_Map", bound="MapArithmetic")


class MapArithmetic:
    """The operators of `zonal.Map`, whose docstring says what they do."""

    values: NDArray[Any]
    _stored: NDArray[Any]
    _pixels: NDArray[np.int64] | None
    grid: Grid
    nest: bool
    units: list[str]
    columns: list[str]
    coordinates: str
    pol: bool

    __array_priority__ = 1e6  # arrays and Quantities leave arithmetic to the Map
    __hash__ = None  # type: ignore[assignment]  # == compares pixels

    def _made(self: _Map, values: NDArray[Any], **changes: Any) -> _Map:
        """A map that differs from this in its values, which are of the whole sky unless _pixels are named, and in what else is
        named."""
        made = object.__new__(type(self))
        made.__dict__.update({**self.__dict__, "_stored": values, "_pixels": None, **changes})
        return made

    def __add__(self, other: Any) -> Any:
        return self._sum(np.add, other)

    def __radd__(self, other: Any) -> Any:
        return self._sum(np.add, other, reverse=True)

    def __sub__(self, other: Any) -> Any:
        return self._sum(np.subtract, other)

    def __rsub__(self, other: Any) -> Any:
        return self._sum(np.subtract, other, reverse=True)

    def __mul__(self, other: Any) -> Any:
        return self._product(np.multiply, other, 1)

    def __rmul__(self, other: Any) -> Any:
        return self._product(np.multiply, other, 1, reverse=True)

    def __truediv__(self, other: Any) -> Any:
        return self._product(np.true_divide, other, -1)

    def __rtruediv__(self, other: Any) -> Any:
        return self._product(np.true_divide, other, -1, reverse=True)

    def __pow__(self, power: Any) -> Any:
        theirs = self._operand(power)
        if theirs is None:
            return NotImplemented
        if any(theirs.units) or any(self.units) and np.ndim(theirs.values):
            raise ValueError("power: must be a number without a unit, and one number alone for a map with a unit")
        units = [_units.to_power(unit, float(theirs.values)) for unit in self.units] if any(self.units) else self.units
        return self._joined(np.power, theirs, [1.0], units, False, pol=False)

    def __neg__(self: _Map) -> _Map:
        result: _Map = self * -1
        return result

    def __pos__(self: _Map) -> _Map:
        return self._made(self._stored, _pixels=self._pixels)

    def __abs__(self: _Map) -> _Map:
        def size(piece: Any) -> Any:
            return np.where(is_unseen(piece), piece, np.abs(piece))

        return self._made(piecewise(size, self._stored.dtype, self._stored), _pixels=self._pixels, pol=False)

    def __lt__(self, other: Any) -> Any:
        return self._compared(np.less, other)

    def __le__(self, other: Any) -> Any:
        return self._compared(np.less_equal, other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(np.greater, other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(np.greater_equal, other)

    def __eq__(self, other: Any) -> Any:
        return self._compared(np.equal, other)

    def __ne__(self, other: Any) -> Any:
        return self._compared(np.not_equal, other)

    def _operand(self, other: Any) -> _Operand | None:
        """The other side of an operator; None where it is nothing to calculate with."""
        if isinstance(other, MapArithmetic):
            _check_alike(self, other)
            return _Operand(other.values, other.units, other)
        if _units.is_unit(other):
            return _Operand(1.0, [_units.text_of(other)], None)
        own = _units.quantity_unit(other)
        values: Any = other if own is None else other.value
        if not isinstance(values, (bool, int, float)):
            values = np.asarray(values)
            if values.dtype.kind not in "biuf":
                return None
        shape, n_rows = np.shape(values), len(np.atleast_2d(self.values))
        if len(shape) > 2 or shape and shape[-1] not in (1, self.grid.n_pixels) or \
                len(shape) == 2 and 1 not in (shape[0], n_rows) and shape[0] != n_rows:
            raise ValueError(f"other: has shape {shape}: must be one number, [pixel] or [row, pixel] for a map of shape "
                             f"{self.values.shape}")
        return _Operand(values, [_units.text_of(own)], None)

    def _sum(self, work: Any, other: Any, reverse: bool = False) -> Any:
        theirs = self._operand(other)
        if theirs is None:
            return NotImplemented
        pairs = _pairs(self.units, theirs.units)
        return self._joined(work, theirs, _factors(pairs), [mine or yours for mine, yours in pairs], reverse,
                            pol=self.pol if theirs.map is None else self.pol and theirs.map.pol)

    def _product(self, work: Any, other: Any, power: int, reverse: bool = False) -> Any:
        theirs = self._operand(other)
        if theirs is None:
            return NotImplemented
        pairs = _pairs(self.units, theirs.units)
        units = [_units.product(yours, mine, power) if reverse else _units.product(mine, yours, power)
                 for mine, yours in pairs]
        is_scaled = not (reverse and power == -1) and (theirs.map is None or not theirs.map.pol)
        pol = self.pol and is_scaled or theirs.map is not None and theirs.map.pol and not self.pol and power == 1
        return self._joined(work, theirs, [1.0], units, reverse, pol=pol)

    def _compared(self, work: Any, other: Any) -> Any:
        theirs = self._operand(other)
        if theirs is None:
            return NotImplemented
        values = scaled(theirs.values, _factors(_pairs(self.units, theirs.units)))

        def compared(mine: Any, yours: Any) -> Any:
            result = work(mine, yours)
            return result & ~(is_unseen(mine) | is_unseen(yours)) if work in _ORDERINGS else result

        return _together(compared, np.bool_, self.values, values)

    def _joined(self: _Map, work: Any, theirs: _Operand, factors: list[float], units: list[str], reverse: bool,
                pol: bool) -> _Map:
        """The map of work(self, theirs times factors), or of both in reverse."""
        def joined(mine: Any, yours: Any) -> Any:
            bad = is_unseen(mine) | is_unseen(yours)
            if bad.any():  # nothing overflows where the result will be UNSEEN
                mine = np.where(bad, mine.dtype.type(1), mine)
                yours = np.where(bad, yours.dtype.type(1), yours) if np.ndim(yours) else yours
            values = work(yours, mine) if reverse else work(mine, yours)
            return np.where(bad, values.dtype.type(UNSEEN), values) if bad.any() else values

        yours = scaled(theirs.values, factors)
        with np.errstate(all="ignore"):
            dtype = joined(self.values[..., :1], yours[..., :1] if np.ndim(yours) else yours).dtype
        values = _together(joined, dtype, self.values, yours)
        elder = self if theirs.map is None or theirs.map.values.ndim <= self.values.ndim else theirs.map
        n_rows = len(np.atleast_2d(values))
        columns = elder.columns if len(elder.columns) == n_rows else []
        coordinates = self.coordinates
        if theirs.map is not None and coordinates == "unknown":
            coordinates = theirs.map.coordinates
        return self._made(values, units=units * (n_rows // len(units)), coordinates=coordinates, columns=columns,
                          pol=pol, nest_in_file=False, partial=False, single=None, cards=[])


class _Operand(NamedTuple):
    """What a map is joined with, the units of its rows, and the Map that it was."""

    values: Any
    units: list[str]
    map: MapArithmetic | None


def _check_alike(one: MapArithmetic, other: MapArithmetic) -> None:
    if one.grid != other.grid:
        raise ValueError(f"maps: lie on {one.grid.name} and {other.grid.name}: bring one to the pixels of the "
                         "other, such as by zonal.udgrade")
    if one.nest != other.nest:
        raise ValueError("maps: one is in ring order and the other in nest order: use map.reordered(nest)")
    systems = (one.coordinates, other.coordinates)
    if "unknown" not in systems and systems[0] != systems[1]:
        raise ValueError(f"maps: have {systems[0]} and {systems[1]} coordinates: turn one by zonal.rotate_map")
    counts = {len(np.atleast_2d(one.values)), len(np.atleast_2d(other.values))} - {1}
    if len(counts) > 1:
        raise ValueError(f"maps: have {len(one.values)} and {len(other.values)} rows: must have as many, or one")


def _pairs(mine: list[str], yours: list[str]) -> list[tuple[str, str]]:
    n_rows = max(len(mine), len(yours))
    return list(zip(mine * (n_rows // len(mine)), yours * (n_rows // len(yours))))


def _factors(pairs: list[tuple[str, str]]) -> list[float]:
    return [_units.factor(yours, mine) if mine and yours else 1.0 for mine, yours in pairs]


def _together(work: Any, dtype: Any, mine: NDArray[Any], yours: Any) -> NDArray[Any]:
    """work(mine, yours), element by element. A number of Python does not decide the type of the result."""
    return piecewise(work, dtype, mine, yours) if np.ndim(yours) else piecewise(lambda piece: work(piece, yours), dtype, mine)


def scaled(values: Any, factors: list[float]) -> Any:
    """Values times a factor for each row; UNSEEN stays UNSEEN."""
    if all(factor == 1 for factor in factors):
        return values
    if np.ndim(values) == 0 and len(set(factors)) == 1:
        return float(values) * factors[0]
    array = np.asarray(values)
    dtype = array.dtype if array.dtype.kind == "f" else np.float64
    column = np.array(factors if len(set(factors)) > 1 else factors[:1], dtype)[:, None]
    def times(piece: Any, factor: Any) -> Any:
        return np.where(is_unseen(piece), UNSEEN, np.multiply(piece, factor, dtype=dtype))

    return piecewise(times, dtype, array, column if len(column) > 1 else column[0])

"""What a caller's numbers come as: an array, an astropy Quantity or a zonal.Map, so that results can be the same."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._units import quantity_unit, with_unit
from .grid import Grid
from .sky_map import Map, agreed

_Values = TypeVar("_Values")


class Kind:
    """map: what was given, if it is a Map. unit: that of a Quantity, else None."""

    __slots__ = ("map", "unit")

    def __init__(self, map: Map | None, unit: Any) -> None:
        self.map, self.unit = map, unit

    def maps(self, values: NDArray[Any], **changes: Any) -> Any:
        """The values of a map as what was given: a Map keeps all that is not named in changes."""
        if self.map is None:
            return with_unit(values, self.unit)
        return self.map._made(values, **{"nest_in_file": False, "partial": False, "single": None, "cards": []} | changes)

    def numbers(self, values: _Values) -> _Values:
        """Coefficients and the like: as a Quantity if one was given, else as they are."""
        return with_unit(values, self.unit)


_ARRAY = Kind(None, None)


def kind_of(values: Any) -> Kind:
    if type(values) is np.ndarray:
        return _ARRAY
    return Kind(values, None) if isinstance(values, Map) else Kind(None, quantity_unit(values))


def ring_values(name: str, values: Any, grid: Grid) -> Any:
    """What was given, but the values in ring order of a Map, which must be on this grid."""
    if not isinstance(values, Map):
        return values
    agreed(name, values, grid, None)
    return values.reordered(nest=False).values


def spectra_unit(first: Any, second: Any) -> Any:
    """The unit of the products of two Quantities, or of one with numbers; None if neither is one."""
    one, other = quantity_unit(first), quantity_unit(first if second is None else second)
    return one if other is None else other if one is None else one * other

"""What a caller's numbers come as, so that results can be the same: a NumPy array or that of another library, an astropy
Quantity or a zonal.Map."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._libraries import Library, library_of
from ._units import quantity_unit, with_unit
from .grid import Grid
from .sky_map import Map

_Values = TypeVar("_Values")
Maps = TypeVar("Maps", Map, NDArray[Any])
"""What some functions take and give back, for type checkers."""


class Kind:
    """map: what was given, if it is a Map. unit: that of a Quantity, else None. library: of `given`, if that is another
    library's array."""

    __slots__ = ("_given", "_library", "map", "unit")

    def __init__(self, map: Map | None, unit: Any, library: Library | None = None, given: Any = None) -> None:
        self.map, self.unit, self._library, self._given = map, unit, library, given

    @property
    def coordinates(self) -> str:
        """Of a Map; "unknown" for everything else."""
        return "unknown" if self.map is None else self.map.coordinates

    def maps(self, values: NDArray[Any], **changes: Any) -> Any:
        """The values of a map as what was given: a Map keeps all that is not named in changes."""
        if self.map is None:
            return self.numbers(values)
        return self.map._made(values, **{"nest_in_file": False, "partial": False, "single": None, "cards": []} | changes)

    def numbers(self, values: _Values) -> _Values:
        """Coefficients and the like: as a Quantity or another library's array if one was given, else as they are."""
        if self._library is not None and isinstance(values, np.ndarray):
            return self._library.from_host(values, self._given)  # type: ignore[no-any-return]
        return with_unit(values, self.unit)

    def numbers_in(self, out: Any, written: NDArray[Any]) -> Any:
        """What the caller gets for coefficients and the like: `out` itself if he gave one of another library."""
        return self.numbers(written) if out is None or written is out else out


_ARRAY = Kind(None, None)


def kind_of(values: Any) -> Kind:
    if type(values) is np.ndarray:
        return _ARRAY
    if isinstance(values, Map):
        return Kind(values, None)
    return Kind(None, quantity_unit(values), library_of(values), values)


def ring_values(name: str, values: Any, grid: Grid) -> Any:
    """What was given, but the values in ring order of a Map, which must be on this grid: that of a transform or the like."""
    if not isinstance(values, Map):
        return values
    if values.grid != grid:
        raise ValueError(f"{name}: is a zonal.Map on {values.grid.name}, and this works on {grid.name}: make it for the "
                         "map's grid, or bring the map to this one")
    return values.reordered(nest=False).values


def spectra_unit(first: Any, second: Any) -> Any:
    """The unit of the products of two Quantities, or of one with numbers; None if neither is one."""
    one, other = quantity_unit(first), quantity_unit(first if second is None else second)
    return one if other is None else other if one is None else one * other

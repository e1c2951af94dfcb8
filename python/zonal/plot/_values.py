"""The values that a picture shows, and in what order and coordinates they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._kinds import kind_of
from .._pixels import is_bad
from .._threads import resolve
from ..grid import Grid
from ..sky_map import Map, agreed


class Sky:
    """One map, whose values are looked up by directions; no more of it is copied than a picture shows."""

    def __init__(self, map: ArrayLike, mask: ArrayLike | None, nest: bool) -> None:
        pixels, values, grid = _parts(map)
        if values.ndim == 2 and len(values) == 1:
            values = values[0]  # a file of one column
        if values.dtype.kind not in "iubf":
            hint = "; zonal.io.read_map reads files" if values.dtype.kind in "UO" else ""
            raise TypeError(f"map: must hold real numbers, not {values.dtype}{hint}")
        if grid is None:
            nside = round((values.size / 12) ** 0.5)
            if values.ndim != 1 or not values.size or 12 * nside**2 != values.size:
                hint = "; choose a row, such as map[0]" if values.ndim == 2 else ""
                raise ValueError(f"map: has shape {values.shape}: must be one HEALPix map, [12 nside^2]{hint}")
            if nest and nside & (nside - 1):
                raise ValueError(f"map: has nside {nside}: must be a power of 2 for nest = True")
        elif values.ndim != 1:
            raise ValueError(f"map: has {len(values)} rows: must be one, such as map[0]")
        else:
            nside = grid.nside or 0
            if not nside and (np.diff(grid.theta) <= 0).any():
                raise ValueError(f"map: is on {grid.name}: the rings must run from north to south")
        self._nside, self._nest, self._grid = nside, nest and pixels is None, grid
        self._pixels, self._values = pixels, values
        self.n_pixels = values.size if grid is None else grid.n_pixels
        self._keep: NDArray[Any] | None = None
        if mask is not None:
            self._keep = np.asarray(mask.reordered(nest).values if isinstance(mask, Map) else mask)
            if self._keep.shape != (self.n_pixels,):
                raise ValueError(f"mask: has shape {self._keep.shape}: must be that of the map, {(self.n_pixels,)}")

    def at(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """The values in directions, unit vectors [3, n]; NaN where there are none."""
        if self._grid is None or self._nside:
            x, y, z = (np.ascontiguousarray(part) for part in v)
            found = _core.vec2pix(self._nside, self._nest, x, y, z, resolve(None))
        else:
            theta, phi = np.arctan2(np.hypot(v[0], v[1]), v[2]), np.arctan2(v[1], v[0]) % (2 * np.pi)
            found = self._grid._grid.nearest_pixels(theta, phi)
        if self._pixels is None:
            values = self._values[found]
            seen = ~np.ma.getmaskarray(values)
            values = np.asarray(np.ma.getdata(values), np.float64)
        else:
            places = np.minimum(np.searchsorted(self._pixels, found), self._pixels.size - 1)
            values, seen = self._values[places].astype(np.float64), self._pixels[places] == found
        if self._keep is not None:
            seen &= self._keep[found] != 0
        return np.where(seen & ~is_bad(values), values, np.nan)


def _parts(map: ArrayLike) -> tuple[NDArray[np.int64] | None, Any, Grid | None]:
    """The numbers of a map's pixels, None for all; its values; and a Map's grid."""
    if isinstance(map, Map):
        pixels, values = map.own() if map.is_part else (None, map.values)
        return pixels, values, map.grid
    if kind_of(map).unit is not None:
        map = np.asarray(map)
    return None, map if isinstance(map, np.ma.MaskedArray) else np.asarray(map), None
def said_by(given: Map | None, nest: bool | None, coord: str | None) -> tuple[bool, str | None]:
    """The order and the coordinates of a map, where a Map knows them. Raises ValueError where the arguments differ."""
    if given is None:
        return bool(nest), coord
    _, nest = agreed("map", given, None, nest)
    if given.coordinates == "unknown":
        return nest, coord
    letter = {"galactic": "G", "ecliptic": "E", "equatorial": "C"}[given.coordinates]
    if coord is not None and coord[:1].upper() != letter:
        raise ValueError(f"coord = {coord!r}: must begin with {letter}, as map is a zonal.Map in {given.coordinates} coordinates")
    return nest, letter if coord is None else coord

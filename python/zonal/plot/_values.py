"""The values that a picture shows, and in what order and coordinates they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kinds import kind_of
from ..sky_map import Map, agreed


def masked(map: ArrayLike, mask: ArrayLike | None, nest: bool) -> NDArray[Any]:
    """The map, checked to be one HEALPix map, with NaN where it is masked."""
    if isinstance(mask, Map):
        mask = mask.reordered(nest).values
    if kind_of(map).unit is not None:
        map = np.asarray(map)
    given = np.ma.MaskedArray(map)
    if given.dtype.kind not in "iubf":
        raise TypeError(f"map: must hold real numbers, not {given.dtype}")
    values = np.ma.filled(given.astype(np.float64), np.nan)
    nside = round((values.size / 12) ** 0.5)
    if values.ndim != 1 or not values.size or 12 * nside**2 != values.size:
        raise ValueError(f"map: has shape {values.shape}: must be one HEALPix map, [12 nside^2]")
    if nest and nside & (nside - 1):
        raise ValueError(f"map: has nside {nside}: must be a power of 2 for nest = True")
    if mask is not None:
        keep = np.asarray(mask)
        if keep.shape != values.shape:
            raise ValueError(f"mask: has shape {keep.shape}: must be that of the map, {values.shape}")
        values = np.where(keep != 0, values, np.nan)
    return values


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

"""Distances to masked pixels, and masks without small holes."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import integer, real
from .._pixels import grid_of_length
from .._threads import resolve
from ._checked import alone, checked
from ._maps import maptype


@checked
def dist2holes(m: Any, maxdist: float = math.pi, hole_min_size: int | None = None, hole_min_surf_arcmin2: float | None = None
               ) -> NDArray[np.float64]:
    """Returns the distance of each pixel to the nearest masked one, rad, between their centres: 0 of masked pixels.

    m: [pixel] in ring order, in which what is not 0 is masked: the opposite of most files of masks, and of `zonal.masks.distance`.
    Masked elements of a masked array, UNSEEN and NaN are not 0. maxdist: the largest distance; it stands where nothing masked is nearer.
    hole_min_size, hole_min_surf_arcmin2: holes of fewer pixels, or of a smaller area, arcmin^2, count as not masked. A hole is a
    group of masked pixels that hang together: a pixel has eight neighbours.
    """
    if maptype(m) != 0:
        raise ValueError("m: must be one map, [pixel]")
    masked = np.ascontiguousarray(np.ma.getmaskarray(m) | (np.asarray(np.ma.getdata(m)) != 0)).view(np.uint8)
    limit = real("maxdist", alone("maxdist", maxdist))
    if not limit >= 0:
        raise ValueError(f"maxdist = {maxdist}: must be 0 or more")
    masked[_small_holes(masked, _least("hole_min_size", hole_min_size), _least("hole_min_surf_arcmin2", hole_min_surf_arcmin2))] = 0
    distances = np.empty(masked.size)
    _core.mask_distances(masked, distances, limit, resolve(None))
    return distances


@checked
def fill_small_holes(mask: Any, min_size: int | None = None, min_area_arcmin2: float | None = None) -> NDArray[np.bool_]:
    """Returns what is masked once small holes, as of `dist2holes`, are filled: [pixel]. healpy has it in this module, too."""
    filled: NDArray[np.bool_] = np.ma.getmaskarray(mask) | (np.asarray(np.ma.getdata(mask)) != 0)
    if filled.ndim != 1:
        raise ValueError("mask: must be one map, [pixel]")
    grid_of_length("mask", filled.size)
    filled[_small_holes(filled.view(np.uint8), _least("min_size", min_size), _least("min_area_arcmin2", min_area_arcmin2))] = False
    return filled


def _small_holes(masked: NDArray[np.uint8], min_size: int, min_area_arcmin2: float) -> NDArray[np.int64]:
    """The pixels of holes that are smaller than one of the two, of which 0 is for any hole."""
    if not min_size and not min_area_arcmin2:
        return np.empty(0, np.int64)
    return _core.mask_holes(masked, min_size, min_area_arcmin2 * math.radians(1 / 60)**2)


def _least(name: str, value: Any) -> Any:
    number = 0 if value is None else integer(name, value) if name == "hole_min_size" else real(name, value)
    if not number >= 0:
        raise ValueError(f"{name} = {value}: must be 0 or more")
    return number


__all__ = ["dist2holes", "fill_small_holes"]

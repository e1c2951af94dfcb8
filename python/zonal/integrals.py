"""Integrals of a map over regions, such as the probability in them, and the smallest regions that hold a share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import integers, real_input
from ._checked import checked
from ._kinds import kind_of
from ._pixels import grid_of_length, required_grid
from ._units import parsed, quantity_unit, with_unit
from .grid import Grid
from .sky_map import Map, agreed


@checked
def integral(map: ArrayLike, pixels: ArrayLike | None = None, *, grid: Grid | None = None) -> float:
    """Returns the integral of a map, [pixel], over the sky or a region: the sum of values times areas in sr.

    For a density of probability, in 1/sr, it is the probability in the region; for a comparison, such as
    `levels <= 0.9`, it is an area. pixels: the region, as numbers of pixels, each once, or as [pixel] bool; both in the map's own
    order, such as zonal.healpy.query_disc(nside, vec, radius, nest=sky.nest). UNSEEN counts as 0. grid: HEALPix by
    default. For a Quantity the result is a Quantity. Raises ValueError for NaN.

    >>> import zonal.healpy
    >>> sky = zonal.Map(np.full(48, 1 / (4 * np.pi)), unit="sr-1")
    >>> round(zonal.integral(sky, zonal.healpy.query_disc(2, (0, 0, 1), np.pi / 3)), 9)
    0.25
    """
    values, on = _one_map(map, grid)
    result = _core.integral(on._grid, values, None if pixels is None else _numbers(pixels, on.n_pixels))
    unit = quantity_unit(map)
    return result if unit is None else with_unit(result, unit * parsed("sr").unit)


@checked
def credible_levels(map: ArrayLike, *, grid: Grid | None = None) -> Any:
    """Returns, for each pixel of a density [pixel], the share of its integral in the pixel and all denser ones.

    The pixels with levels up to 0.9 are, to within a pixel, the smallest region with 90 % of the probability;
    `integral(levels <= 0.9)` is its area. The level of the pixel where a source turned out to be is the smallest one
    that holds the source; the area up to that level is the searched area. Among pixels of equal density, the one with
    the lowest number comes first.

    The result is a `zonal.Map` where the map is one. UNSEEN counts as 0, whose level is 1. grid: HEALPix by default.
    Raises ValueError for values that are negative or not finite, and if all are 0.

    >>> levels = zonal.credible_levels([0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> levels[:3].tolist()
    [1.0, 0.75, 1.0]
    >>> round(zonal.integral(levels <= 0.9) / (np.pi / 3), 9)
    1.0
    """
    values, on = _one_map(map, grid)
    levels = np.empty(values.shape)
    _core.credible_levels(on._grid, values, levels)
    kind = kind_of(map)
    if kind.map is not None:
        return kind.maps(levels.reshape(kind.map.shape), units=[""])
    return levels


def _one_map(map: Any, grid: Grid | None) -> tuple[NDArray[np.float64], Grid]:
    """The values of one map in its own order, which areas do not depend on."""
    if isinstance(map, Map):
        grid, _ = agreed("map", map, grid, None)
    array = real_input("map", map)
    if array.ndim == 2 and len(array) == 1:  # as files of one map have it
        array = array[0]
    if array.ndim != 1 or not array.size:
        raise ValueError(f"map: has shape {array.shape}: must be one map, [pixel]")
    on = grid_of_length("map", array.size) if grid is None else required_grid("grid", grid)
    return np.ascontiguousarray(array, np.float64), on


def _numbers(pixels: ArrayLike, n_pixels: int) -> NDArray[np.int64]:
    array = np.asarray(pixels)
    if array.dtype.kind == "b":
        array = array[0] if array.ndim == 2 and len(array) == 1 else array
        if array.shape != (n_pixels,):
            raise ValueError(f"pixels: has shape {array.shape}: must be [{n_pixels}] where they are bool")
        return np.flatnonzero(array)
    if array.ndim != 1:
        raise ValueError(f"pixels: has shape {array.shape}: must be numbers of pixels, [n], or bool, [{n_pixels}]")
    return np.ascontiguousarray(integers("pixels", array))


__all__ = ["credible_levels", "integral"]

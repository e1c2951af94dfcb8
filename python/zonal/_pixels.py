"""Pixels: those without a value, their orders, and the grid that their number tells."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import integers, piecewise
from .grid import Grid

UNSEEN = -1.6375e30
"""The value of HEALPix pixels without data."""


def is_unseen(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether values mean UNSEEN, also as files and float32 round it."""
    return piecewise(lambda piece: np.abs(piece - UNSEEN) <= 1e-5 * abs(UNSEEN), np.bool_, values)


def has_unseen(values: NDArray[Any]) -> bool:
    """Whether a value means UNSEEN, in one pass over other maps."""
    return values.size > 0 and bool(values.min() < -1e29) and bool(is_unseen(values).any())


def is_bad(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether values are not finite, or UNSEEN."""
    return piecewise(lambda piece: ~np.isfinite(piece) | is_unseen(piece), np.bool_, values)


def reordered(rows: NDArray[Any], to_nest: bool) -> NDArray[Any]:
    """Maps [row, pixel] in the other order, copied."""
    result = np.empty_like(rows, order="C")
    for row, out in zip(rows, result):
        _core.reorder(row, out, to_nest)
    return result


def own_pixels(numbers: ArrayLike, values: NDArray[Any], grid: Grid, nest: bool) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The numbers of some pixels, ascending, and their values. Raises ValueError for numbers that are no pixels of the grid, or
    not those of the values."""
    pixels = integers("pixels", numbers)
    if nest:
        raise ValueError("pixels: are numbers in ring order: leave nest out")
    if pixels.shape != values.shape[-1:]:
        raise ValueError(f"pixels: has shape {pixels.shape}: must be [{values.shape[-1]}], one for each of the values")
    if pixels.min() < 0 or pixels.max() >= grid.n_pixels:
        raise ValueError(f"pixels: are from {pixels.min()} to {pixels.max()}: must be from 0 to {grid.n_pixels - 1} for {grid.name}")
    steps = np.diff(pixels)
    if steps.size and steps.min() <= 0:
        order = np.argsort(pixels, kind="stable")
        pixels, values = pixels[order], np.ascontiguousarray(values[..., order])
        if (np.diff(pixels) == 0).any():
            raise ValueError(f"pixels: {pixels[1:][np.diff(pixels) == 0][0]} occurs twice: must be there once")
    return pixels, values


def grid_of_length(name: str, n_pixels: int) -> Grid:
    nside = round((n_pixels / 12) ** 0.5)
    if 12 * nside**2 != n_pixels:
        raise ValueError(f"{name}: has {n_pixels} pixels, which is no HEALPix map (12 nside^2): give its grid")
    return Grid.healpix(nside)


def required_grid(name: str, grid: Any) -> Grid:
    """Raises TypeError for what is no grid."""
    if not isinstance(grid, Grid):
        raise TypeError(f"{name}: must be a zonal.Grid, not {type(grid).__name__}; for HEALPix zonal.Grid.healpix(nside)")
    return grid

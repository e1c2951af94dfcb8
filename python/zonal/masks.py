"""Masks on HEALPix: distances to what is masked, smooth edges, holes, and how much of the sky counts.

A mask is [pixel], weights of which those that are 0 are masked, or bool, or a `zonal.Map`; UNSEEN counts as 0.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import AngleLike, angle, width
from ._arrays import real
from ._checked import checked
from ._kinds import Kind, kind_of
from ._maps import MapRows, weights_of
from ._pixels import grid_of_length, reordered, required_grid
from ._smoothing import choice_of
from ._threads import resolve
from ._units import quantity_unit
from .grid import Grid
from .sky_map import Map


@checked
def distance(mask: ArrayLike, max_distance: AngleLike | None = None, *, nest: bool | None = None,
             threads: int | None = None) -> Any:
    """Returns the distance of each pixel to the nearest masked one, rad, [pixel]: 0 of masked pixels.

    It is that between the centres, exact to rounding; the edge of a masked pixel is half a pixel nearer. max_distance: an angle at
    which the search ends; it stands where nothing masked is nearer, and pi where nothing is masked at all. nest: whether
    pixels are in nest order, as they come and as they are returned; a Map knows. Any nside will do. Of a Map it is a Map.

    healpy.dist2holes takes masks the other way round, with non-zero as masked: `zonal.healpy.dist2holes` does the same.

    >>> mask = np.ones(12)
    >>> mask[0] = 0
    >>> (zonal.masks.distance(mask)[8:] / np.pi).round(6).tolist()
    [0.464559, 0.646599, 1.0, 0.646599]
    """
    limit = math.pi if max_distance is None else angle(max_distance, "max_distance")
    if limit < 0:
        raise ValueError(f"max_distance = {max_distance}: must be 0 or more")
    rows = _Mask(mask, nest)
    flags = np.empty(rows.values.size, np.uint8)
    _core.mask_flags(rows.values, flags, resolve(threads))
    distances = np.empty(rows.values.size)
    _core.mask_distances(flags, distances, limit, resolve(threads))
    return rows.given_back(distances, "rad")


@checked
def apodize(mask: ArrayLike, scale: AngleLike, kind: Literal["cosine", "sine", "smooth"] = "cosine", *,
            like: Literal["namaster", "grain"] | None = None, nest: bool | None = None, threads: int | None = None) -> Any:
    """Returns the mask, [pixel], brought smoothly to 0 within `scale` of masked pixels.

    It is multiplied by a function of x, which is 0 at masked pixels and 1 from the scale on: kind="cosine", (1 - cos(pi x)) / 2,
    or "sine", x - sin(2 pi x) / (2 pi), of which the second derivative has no jumps either. With like="namaster", the default, x is
    sin(d/2) / sin(scale/2), d the distance from the nearest masked pixel (Alonso et al. 2019, doi:10.1093/mnras/stz093); with
    like="grain" it is d / scale (Grain et al. 2009, doi:10.1103/PhysRevD.79.123515). NaMaster calls "sine" C1 and "cosine" C2, and
    Grain et al. do the reverse. kind="smooth" masks all within 2.5 scales too, and multiplies by the mean of what is left, weighted by
    a Gaussian of sigma = scale about each pixel; it has no `like`.

    scale: an angle above 0, at most 180 degrees. nest: as in `distance`. Of a Map it is a Map.

    >>> mask = np.ones(192)
    >>> mask[:4] = 0
    >>> zonal.masks.apodize(mask, "60deg")[[0, 4, 12, 40]].round(4).tolist()
    [0.0, 0.1295, 0.4241, 0.9641]
    """
    chosen = choice_of("kind", kind, _core.Apodization)
    distances = {"namaster": _core.ApodizationDistance.chord, "grain": _core.ApodizationDistance.angle}
    if like is not None and chosen == _core.Apodization.smooth:
        raise ValueError(f"like = {like!r}: is for kind = 'cosine' or 'sine' alone")
    if like is not None and (not isinstance(like, str) or like not in distances):
        raise ValueError(f"like = {like!r}: must be one of {', '.join(map(repr, distances))}")
    size = width(scale, "scale")
    rows = _Mask(mask, nest)
    apodized = np.empty(rows.values.size)
    _core.apodize_mask(rows.values, apodized, chosen, distances[like or "namaster"], size, resolve(threads))
    return rows.given_back(apodized, None)


@checked
def fill_holes(mask: ArrayLike, min_pixels: int | None = None, min_area: Any = None, *, nest: bool | None = None,
               threads: int | None = None) -> Any:
    """Returns the mask, [pixel], without its small holes: those of fewer than min_pixels pixels, or of less than min_area.

    A hole is a group of masked pixels that hang together: a pixel has eight neighbours. Its pixels get the mean of those around it
    that are not masked: 1 in a mask of 0 and 1. min_area: in sr, or a Quantity. nest: as in `distance`. Of a Map it is a Map.

    A map must have values where a hole was: UNSEEN pixels count as 0, whatever a mask says.

    >>> mask = np.ones(192)
    >>> mask[[50, 100, 101]] = 0
    >>> np.flatnonzero(zonal.masks.fill_holes(mask, min_pixels=2) == 0).tolist()
    [100, 101]
    """
    if min_pixels is None and min_area is None:
        raise ValueError("min_pixels, min_area: are both missing: give one, the smallest hole that stays")
    area = 0.0 if min_area is None else real("min_area", min_area if quantity_unit(min_area) is None else min_area.to_value("sr"))
    rows = _Mask(mask, nest)
    filled = rows.values.copy()
    _core.fill_mask_holes(filled, min_pixels or 0, area, resolve(threads))
    return rows.given_back(filled, None)


@checked
def moments(mask: ArrayLike, other: ArrayLike | None = None, *, grid: Grid | None = None, threads: int | None = None
            ) -> NDArray[np.float64]:
    """Returns the means over the sky of the powers 1, 2, 3, 4 of a mask, or of the product of two masks, [4].

    The first is the share of the sky, for masks of 0 and 1; w2^2 / w4 is about the share that counts for the error bars of a spectrum.
    mask, other: [pixel]; two arrays must have the same order. grid: HEALPix by default; its pixels count by their area. Nothing divides
    spectra by these numbers unless you do.

    >>> zonal.masks.moments([0.5, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]).round(4).tolist()
    [0.4583, 0.4375, 0.4271, 0.4219]
    """
    if isinstance(mask, Map):
        grid = mask.grid if grid is None else grid
    if mask is None:
        raise TypeError("mask = None: must be [pixel]")
    size = np.asarray(mask).size if not isinstance(mask, Map) else mask.grid.n_pixels
    on = grid_of_length("mask", size) if grid is None else required_grid("grid", grid)
    first, second = weights_of("mask", mask, on.n_pixels), weights_of("other", other, on.n_pixels, coordinates=kind_of(mask).coordinates)
    assert first is not None
    return np.array(_core.mask_moments(on._grid, first, np.empty(0) if second is None else second, resolve(threads)), np.float64)


class _Mask:
    """One mask on HEALPix. values: [pixel] in ring order."""

    def __init__(self, mask: Any, nest: bool | None) -> None:
        rows = MapRows(mask, None, nest, False, "mask")
        if len(rows.rows) != 1:
            raise ValueError(f"mask: has {len(rows.rows)} rows: must be one, such as mask[0]")
        if rows.grid.nside is None:
            raise ValueError(f"mask: is on {rows.grid.name}: must be on HEALPix, of which the neighbours of pixels are known")
        self.values = np.ascontiguousarray(rows.rows[0], np.float64)
        self._nest, self._kind, self._is_single = rows.nest, rows.kind, rows.is_single

    def given_back(self, values: NDArray[np.float64], unit: str | None) -> Any:
        """In the order and the kind of what was given. unit: of a Map, None for what it was."""
        result = reordered(values[None], to_nest=True)[0] if self._nest else values
        result = result if self._is_single else result[None]
        kind = self._kind if self._kind.map is not None else Kind(None, None)
        return kind.maps(result, **({} if unit is None else {"units": [unit]}))


__all__ = ["apodize", "distance", "fill_holes", "moments"]

"""Hemispheres of pixels that tile the sky: a pixel is in one of two opposite ones, even if its centre is on the rim."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ._pixel_numbers import pix2vec

Ranges = NDArray[np.int64]

_NEAR = 1e-13  # rad: centres that are on the rim are this near to it, with all rounding


def hemisphere(nside: int, vec: list[float], nest: bool, return_ranges: bool) -> NDArray[np.int64]:
    """Returns the pixels, [n] int64, or runs of pixels, [n, 2], whose centres lie within 90 deg of a direction.

    A centre at 90 deg counts if it lies at the eastern end of the hemisphere's part of its ring. Where the rim only touches
    the ring, the pixel belongs to the hemisphere that has the rest of the ring; the equator belongs to the northern one.
    """
    inside, around = (_core.query_disc(nside, vec, math.pi / 2 + beyond, False, 1, nest, True)
                      for beyond in (-_NEAR, _NEAR))
    rim = pixels_of(_either(around, inside))
    if rim.size:
        kept = rim[_are_kept(np.array(pix2vec(nside, rim, nest)), np.array(vec) / math.hypot(*vec))]
        inside = _either(inside, np.stack([kept, kept + 1], axis=1))
    return inside if return_ranges else pixels_of(inside)


def _are_kept(centres: NDArray[np.float64], middle: NDArray[np.float64]) -> NDArray[np.bool_]:
    x, y, _ = centres
    growth = x * middle[1] - y * middle[0]  # of centre . middle to the east; it is negative where the ring leaves
    level = x * middle[0] + y * middle[1]  # minus its second derivative: where it only touches, the rest is lower
    touches = np.where(np.abs(level) > _NEAR, level < 0, middle[2] > 0)
    kept: NDArray[np.bool_] = np.where(np.abs(growth) > _NEAR, growth < 0, touches)
    return kept


def _either(ranges: Ranges, others: Ranges) -> Ranges:
    """Runs of what is in the one or in the other, but not in both: an end that both have is none."""
    ends, times = np.unique(np.concatenate([ranges.ravel(), others.ravel()]), return_counts=True)
    result: Ranges = ends[times % 2 == 1].reshape(-1, 2)
    return result


def pixels_of(ranges: Ranges) -> NDArray[np.int64]:
    """The pixels, [n], in runs, [n, 2]."""
    lengths = ranges[:, 1] - ranges[:, 0]
    before = np.cumsum(lengths) - lengths
    pixels: NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(ranges[:, 0] - before, lengths)
    return pixels

"""Extrema of maps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._pixels import UNSEEN
from ._maps import get_nside, maptype, mask_bad
from .pixelfunc import get_all_neighbours


def hotspots(m: Any) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Returns a map, [pixel], of the extrema of m, UNSEEN elsewhere; the pixels of the minima; those of the maxima.

    m: [pixel] in ring order. An extremum is lower, or higher, than all its neighbours that are neither UNSEEN nor
    masked, and has at least one such neighbour.
    """
    if maptype(m) != 0:
        raise ValueError("m: must be one map, [pixel]")
    values = np.where(np.ma.getmaskarray(m), UNSEEN, np.asarray(np.ma.getdata(m), np.float64))
    good = ~mask_bad(values)
    extrema = np.full(values.size, UNSEEN)
    lowest, highest = [], []
    piece = 1 << 18  # Ctrl-C is heard between pieces
    for start in range(0, values.size, piece):
        pixels = np.arange(start, min(values.size, start + piece))
        around = get_all_neighbours(get_nside(values), pixels)
        known = (around >= 0) & good[around]
        own, counts = values[pixels], good[pixels] & known.any(0)
        low = counts & (own < np.where(known, values[around], np.inf).min(0))
        high = counts & (own > np.where(known, values[around], -np.inf).max(0))
        extrema[pixels[low | high]] = own[low | high]
        lowest.append(pixels[low])
        highest.append(pixels[high])
    return extrema, np.concatenate(lowest), np.concatenate(highest)

"""Rings of pixels, in a module with healpy's name."""

from typing import Any

import numpy as np

from .. import _core
from ._arguments import Arrays, for_each_nside, integers
from ._checked import checked
from ._sizes import check_nside, isnsideok
from .pixelfunc import nest2ring


@checked
def pix2ring(nside: Any, pix: Any, nest: bool = False) -> Any:
    """Returns the rings, int64, that pixels are on, counted from 1 in the north."""
    pixels = nest2ring(nside, pix) if nest else pix
    return for_each_nside(lambda size, flat: (_core.rings_of_pixels(size, flat) + 1,), nside,
                          integers("pix", pixels))[0]


@checked
def ringinfo(nside: int, ring: Any) -> Arrays:
    """Returns five arrays for rings, [n], which count from 1 in the north.

    They are the first pixel, the number of pixels, cos and sin of the colatitude, and whether the first pixel is off
    longitude 0.
    """
    check_nside(nside)
    rings = integers("ring", ring)
    if ((rings < 1) | (rings > 4 * nside - 1)).any():
        raise ValueError(f"ring = {ring}: must be from 1 to 4 nside - 1 = {4 * nside - 1}")
    south = rings > 2 * nside
    north = np.where(south, 4 * nside - rings, rings)
    in_cap = north < nside
    lengths = 4 * np.minimum(north, nside)
    before = np.where(in_cap, 2 * north * (north - 1), 2 * nside * (nside - 1) + 4 * nside * (north - nside))
    starts = np.where(south, 12 * nside**2 - before - lengths, before)
    share = np.minimum(north, nside) ** 2 / (3 * nside**2)
    z = np.where(in_cap, 1 - share, (4 - 2 * north / nside) / 3)
    sine = np.where(in_cap, np.sqrt(share * (2 - share)), np.sqrt((1 - z) * (1 + z)))
    return starts, lengths, np.where(south, -z, z), sine, in_cap | ((north - nside) % 2 == 0)


__all__ = ["isnsideok", "pix2ring", "ringinfo"]

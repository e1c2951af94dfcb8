"""Module of healpy's name: rings of pixels."""

from typing import Any

from .. import _core
from ._arguments import for_each_nside, integers
from ._sizes import isnsideok
from .pixelfunc import nest2ring


def pix2ring(nside: Any, pix: Any, nest: bool = False) -> Any:
    """Returns the rings, int64, that hold pixels, counted from 1 in the north."""
    pixels = nest2ring(nside, pix) if nest else pix
    return for_each_nside(lambda size, flat: (_core.rings_of_pixels(size, flat) + 1,), nside,
                          integers("pix", pixels))[0]


__all__ = ["isnsideok", "pix2ring"]

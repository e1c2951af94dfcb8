"""Sizes of HEALPix maps: nside, order, number of pixels, and size of pixels."""

import math
from typing import Any

import numpy as np

from .. import _core
from .._arrays import integer, real
from ._arguments import floats, for_each_nside, integers
from ._checked import Large, checked

MAX_NSIDE = 2**29
_SPHERE = 4 * math.pi


def isnsideok(nside: Any, nest: bool = False) -> Any:
    """Whether nside is an integer from 1 to 2^29, and with nest a power of 2. [...] or a scalar."""
    if isinstance(nside, int):
        return 1 <= nside <= MAX_NSIDE and not (nest and nside & (nside - 1))
    array = np.asarray(nside)
    if array.dtype.kind not in "iubf":
        raise TypeError(f"nside: must hold numbers, not {array.dtype}")
    valid = (array >= 1) & (array <= MAX_NSIDE) & (array == np.floor(array))
    if nest:
        whole = np.where(valid, array, 1).astype(np.int64)
        valid &= (whole & (whole - 1)) == 0
    return bool(valid) if isinstance(nside, float) else valid[()]


def check_nside(nside: Any, nest: bool = False) -> None:
    """Raises ValueError unless isnsideok holds for all of nside."""
    valid = isnsideok(nside, nest)
    if not (valid if isinstance(valid, bool) else valid.all()):
        raise ValueError(f"nside = {nside}: must be {'a power of 2' if nest else 'an integer'} from 1 to 2^29")


def isnpixok(npix: Any) -> Any:
    """Whether npix is 12 nside^2 for some nside. [...] or a scalar."""
    if type(npix) is int:
        return np.bool_(npix > 0 and 12 * math.isqrt(npix // 12) ** 2 == npix)
    array = floats("npix", npix)
    nside = np.round(np.sqrt(np.maximum(array, 0) / 12))
    return ((array > 0) & (12 * nside * nside == array))[()]


def nside2npix(nside: Any) -> Any:
    """Returns the number of pixels, 12 nside^2."""
    if type(nside) is int and 0 < nside <= MAX_NSIDE:
        return 12 * nside * nside
    check_nside(nside)
    return 12 * np.square(nside) if isinstance(nside, (list, tuple)) else 12 * nside * nside


def npix2nside(npix: Any) -> int:
    """Returns the nside of maps of npix pixels. Raises ValueError if there is none."""
    scalar = type(npix) is int or not np.ndim(npix)
    nside = math.isqrt(int(npix) // 12) if scalar and 0 <= real("npix", npix) < np.inf else 0
    if nside == 0 or 12 * nside * nside != npix:
        raise ValueError(f"npix = {npix}: must be 12 nside^2 for an integer nside")
    return nside


def nside2order(nside: int) -> int:
    """Returns log2(nside). Raises ValueError unless nside is one power of 2."""
    if type(nside) is int and 0 < nside <= MAX_NSIDE and not nside & (nside - 1):
        return nside.bit_length() - 1
    check_nside(nside, nest=True)
    if np.ndim(nside):
        raise TypeError("nside: must be one number")
    return int(nside).bit_length() - 1


def order2nside(order: Any) -> Any:
    """Returns 2^order, as an array for an array. order: 0 to 29."""
    orders = integers("order", order) if isinstance(order, np.ndarray) else integer("order", order)
    if not np.all((0 <= orders) & (orders <= 29)):
        raise ValueError(f"order = {order}: must be from 0 to 29")
    return 1 << orders


def order2npix(order: Any) -> Any:
    """Returns the number of pixels of nside 2^order, as an array for an array."""
    return 12 * order2nside(order) ** 2


def npix2order(npix: Any) -> int:
    """Returns log2(nside) of maps of npix pixels."""
    return nside2order(npix2nside(npix))


@checked
def get_min_valid_nside(npix: Large) -> int:
    """Returns the smallest nside that is a power of 2 and whose maps have npix pixels or more."""
    if not 0 < npix <= 12 * MAX_NSIDE**2:
        raise ValueError(f"npix = {npix}: must be from 1 to 12 2^58")
    return next(1 << order for order in range(30) if 12 << 2 * order >= npix)


def nside2pixarea(nside: Any, degrees: bool = False) -> Any:
    """Returns the area of a pixel, sr, or with degrees deg^2."""
    if type(nside) is int and 0 < nside <= MAX_NSIDE and not degrees:
        return _SPHERE / (12 * nside * nside)
    area = _SPHERE / nside2npix(nside)
    return np.degrees(np.degrees(area)) if degrees else area


def nside2resol(nside: Any, arcmin: bool = False) -> Any:
    """Returns the square root of the area of a pixel, rad, or with arcmin in arcmin."""
    if type(nside) is int and 0 < nside <= MAX_NSIDE and not arcmin:
        return np.float64(math.sqrt(_SPHERE / (12 * nside * nside)))
    side = np.sqrt(nside2pixarea(nside))
    return np.degrees(side) * 60 if arcmin else side


@checked
def max_pixrad(nside: Any, degrees: bool = False) -> Any:
    """Returns the largest angle between the centre of a pixel and its corners, rad, or with degrees deg."""
    (radius,) = for_each_nside(lambda size, ones: (ones * _core.max_pixel_radius(size),), nside, np.ones(()))
    return np.degrees(radius) if degrees else radius

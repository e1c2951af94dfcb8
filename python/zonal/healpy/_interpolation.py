"""Bilinear interpolation of maps under healpy's names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ._arguments import threads_for
from ._directions import angles_of, is_mendable, mended
from ._maps import stacked
from ._pixel_numbers import batch, pix2ang, replaced


def get_interp_weights(nside: Any, theta: Any, phi: Any = None, nest: bool = False, lonlat: bool = False) -> Any:
    """Returns four pixels, [4, ...] int64, around directions, and their weights in bilinear interpolation, [4, ...].

    Without phi, theta holds pixels, and their centres are the directions. Where a direction is not finite, the pixels
    are -1 and the weights NaN.
    """
    try:
        if (one := _core.interpolation_weights_one(nside, theta, phi, nest, lonlat)) is not None:
            return one
    except ValueError:
        if theta != -1 if phi is None else not is_mendable(theta, phi, lonlat, may_be_nan=True):
            raise

    def corners(size: int, nest: bool, thetas: NDArray[Any], phis: NDArray[Any], threads: int) -> Any:
        pixels, weights = np.empty((4, thetas.size), np.int64), np.empty((4, thetas.size))
        _core.interpolation_weights(size, nest, thetas, phis, pixels, weights, threads)
        return pixels, weights

    if phi is None:
        angles = pix2ang(nside, np.ma.getdata(theta), nest)
    else:
        angles = angles_of(theta, phi, bool(lonlat), may_be_nan=True)
    angles = np.asarray(angles[0]), np.asarray(angles[1])
    try:
        return batch(corners, nside, (bool(nest),), *angles)
    except ValueError:
        angles, missing = mended(angles[0], angles[1], may_be_nan=True)
        return replaced(batch(corners, nside, (bool(nest),), *angles), missing, -1, np.nan)


def get_interp_val(m: Any, theta: Any, phi: Any, nest: bool = False, lonlat: bool = False) -> Any:
    """Returns values of maps, [pixel] or [map, pixel], at directions, by bilinear interpolation: [map, ...].

    Axes of length 1 are left out, as in healpy. Sums include bad values. Those of a masked array leave masked pixels
    out without making up for it, and are masked where all four pixels are. Directions that are not finite give NaN.
    """
    try:
        if (value := _core.interpolate_one(m, theta, phi, nest, lonlat)) is not None:
            return value
    except ValueError:
        if not (np.ndim(theta) == 0 == np.ndim(phi) and is_mendable(theta, phi, lonlat, may_be_nan=True)):
            raise
    maps = np.atleast_2d(stacked(m))
    theta, phi = np.broadcast_arrays(*angles_of(theta, phi, bool(lonlat), may_be_nan=True))
    values = _of_all(np.ma.filled(maps, 0), theta, phi, nest)
    values = np.squeeze(values.reshape(len(maps), *theta.shape))[()]
    if not np.ma.isMaskedArray(maps):
        return values
    kept = _of_all(~np.ma.getmaskarray(maps), theta, phi, nest)  # the sums of the weights that remain
    return np.ma.MaskedArray(values, np.squeeze((kept == 0).reshape(len(maps), *theta.shape)))


def _of_all(maps: NDArray[Any], theta: NDArray[np.float64], phi: NDArray[np.float64], nest: bool) -> NDArray[Any]:
    """Values, [map, direction], of maps of any type."""
    if maps.dtype.kind == "c":
        return _of_all(maps.real, theta, phi, nest) + 1j * _of_all(maps.imag, theta, phi, nest)
    try:
        return _interpolated(maps, theta, phi, nest)
    except ValueError:
        (theta, phi), missing = mended(theta, phi, may_be_nan=True)
        values = _interpolated(maps, theta, phi, nest)
        values[:, missing.reshape(-1)] = np.nan
        return values


def _interpolated(maps: NDArray[Any], theta: NDArray[np.float64], phi: NDArray[np.float64],
                  nest: bool) -> NDArray[np.float64]:
    kept = np.float32 if maps.dtype == np.float32 else np.float64
    values = np.empty((len(maps), theta.size))
    _core.interpolate(bool(nest), np.ascontiguousarray(maps, kept), theta.reshape(-1), phi.reshape(-1), values,
                      threads_for(theta.size))
    return values

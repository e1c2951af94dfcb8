"""Pixels of HEALPix maps with the names, arguments and results of healpy.pixelfunc.

All arguments broadcast, even nside. Angles are rad; with lonlat, theta and phi are longitude and latitude, deg. nest
chooses nest order in place of ring order; nside must then be a power of 2. ValueError is raised where healpy warns or
returns meaningless numbers: for pixels beyond the end of the map, angles that are not finite, and vectors of length 0.

Single numbers take a short way: a function of the extension whose name ends in _one. It returns None for anything
else, which then goes the way of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import boolean
from .._pixels import UNSEEN
from ._arguments import Arrays, floats, for_each_nside, integers, lonlat2thetaphi
from ._arguments import check_range, thetaphi2lonlat, threads_for
from ._dipole import fit_dipole, fit_monopole, remove_dipole, remove_monopole
from ._maps import get_map_size, get_nside, is_ma, ma, ma_to_array, mask_bad, mask_good, maptype, reorder
from ._maps import stacked, ud_grade
from ._sizes import check_nside, get_min_valid_nside, isnpixok, isnsideok, max_pixrad, npix2nside, npix2order
from ._sizes import nside2npix, nside2order, nside2pixarea, nside2resol, order2npix, order2nside

def ang2pix(nside: Any, theta: Any, phi: Any, nest: bool = False, lonlat: bool = False, latauto: bool = False,
            latbounce: bool = True) -> Any:
    """Returns the pixels, int64, that hold directions. latauto, latbounce: need lonlat; see lonlat2thetaphi."""
    if not latauto and latbounce and (pixel := _core.ang2pix_one(nside, theta, phi, nest, lonlat)) is not None:
        return pixel
    return _batch(_core.ang2pix, nside, nest, *_angles(theta, phi, lonlat, latauto, latbounce))[0]


def pix2ang(nside: Any, ipix: Any, nest: bool = False, lonlat: bool = False) -> tuple[Any, Any]:
    """Returns theta and phi, or longitude and latitude with lonlat, of the centres of pixels."""
    one: tuple[Any, Any] | None = _core.pix2ang_one(nside, ipix, nest, lonlat)
    if one is not None:
        return one
    theta, phi = _batch(_core.pix2ang, nside, nest, integers("ipix", ipix))
    return thetaphi2lonlat(theta, phi) if lonlat else (theta, phi)


def vec2pix(nside: Any, x: Any, y: Any, z: Any, nest: bool = False) -> Any:
    """Returns the pixels, int64, that hold the directions of vectors, whose lengths may be any but 0."""
    if (pixel := _core.vec2pix_one(nside, x, y, z, nest)) is not None:
        return pixel
    return _batch(_core.vec2pix, nside, nest, floats("x", x), floats("y", y), floats("z", z))[0]


def pix2vec(nside: Any, ipix: Any, nest: bool = False) -> tuple[Any, Any, Any]:
    """Returns x, y and z of the unit vectors to the centres of pixels."""
    one: tuple[Any, Any, Any] | None = _core.pix2vec_one(nside, ipix, nest)
    if one is not None:
        return one
    x, y, z = _batch(_core.pix2vec, nside, nest, integers("ipix", ipix))
    return x, y, z


def ang2vec(theta: Any, phi: Any, lonlat: bool = False) -> NDArray[np.float64]:
    """Returns unit vectors to directions, [3] or [n, 3]. Further axes are in reverse order, as in healpy."""
    vector: NDArray[np.float64] | None = _core.ang2vec_one(theta, phi, lonlat)
    if vector is not None:
        return vector
    theta, phi = _angles(theta, phi, lonlat)
    check_theta_valid(theta)
    sine = np.sin(theta)
    return np.array(np.broadcast_arrays(sine * np.cos(phi), sine * np.sin(phi), np.cos(theta))).T


def vec2ang(vectors: Any, lonlat: bool = False) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns theta and phi, each [n], or longitude and latitude with lonlat, of vectors, [3] or [..., 3]."""
    one: tuple[NDArray[np.float64], NDArray[np.float64]] | None = _core.vec2ang_one(vectors, lonlat)
    if one is not None:
        return one
    values = floats("vectors", vectors)
    if values.size % 3:
        raise ValueError(f"vectors: has shape {values.shape}: must be [..., 3]")
    x, y, z = values.reshape(-1, 3).T
    wrong = ~((x != 0) | (y != 0) | (z != 0)) | ~np.isfinite(x + y + z)
    if wrong.any():
        raise ValueError(f"vectors: number {np.argmax(wrong)} must be finite, and its length not 0")
    theta, phi = np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
    phi = np.where(phi < 0, phi + 2 * np.pi, phi)
    return thetaphi2lonlat(theta, phi) if boolean("lonlat", lonlat) else (theta, phi)


def ring2nest(nside: Any, ipix: Any) -> Any:
    """Returns the numbers in nest order, int64, of pixels in ring order."""
    if (pixel := _core.ring2nest_one(nside, ipix)) is not None:
        return pixel
    return for_each_nside(lambda size, pixels: (_core.ring2nest(size, pixels, threads_for(pixels.size)),), nside,
                          integers("ipix", ipix))[0]


def nest2ring(nside: Any, ipix: Any) -> Any:
    """Returns the numbers in ring order, int64, of pixels in nest order."""
    if (pixel := _core.nest2ring_one(nside, ipix)) is not None:
        return pixel
    return for_each_nside(lambda size, pixels: (_core.nest2ring(size, pixels, threads_for(pixels.size)),), nside,
                          integers("ipix", ipix))[0]


def pix2xyf(nside: Any, ipix: Any, nest: bool = False) -> tuple[Any, Any, Any]:
    """Returns x, y and face, int64, of pixels: the place on one of the 12 base pixels, from its southern corner."""
    one: tuple[Any, Any, Any] | None = _core.pix2xyf_one(nside, ipix, nest)
    if one is not None:
        return one
    x, y, face = _batch(_core.pix2xyf, nside, nest, integers("ipix", ipix))
    return x, y, face


def xyf2pix(nside: Any, x: Any, y: Any, face: Any, nest: bool = False) -> Any:
    """Returns the pixels, int64, at x, y of a base pixel, as pix2xyf gives them."""
    if (pixel := _core.xyf2pix_one(nside, x, y, face, nest)) is not None:
        return pixel
    return _batch(_core.xyf2pix, nside, nest, integers("x", x), integers("y", y), integers("face", face))[0]


def get_all_neighbours(nside: Any, theta: Any, phi: Any = None, nest: bool = False, lonlat: bool = False) -> Any:
    """Returns the neighbours, [8, ...] int64, to the SW, W, NW, N, NE, E, SE and S of pixels; -1 if there is none.

    theta, phi: directions in the pixels. Without phi, theta holds the pixels themselves.
    """
    if (one := _core.neighbours_one(nside, theta, phi, nest, lonlat)) is not None:
        return one

    def around(size: int, pixels: NDArray[Any]) -> Arrays:
        found = np.empty((8, pixels.size), np.int64)
        _core.neighbours(size, boolean("nest", nest), pixels, found, threads_for(pixels.size))
        return (found,)

    pixels = theta if phi is None else ang2pix(nside, theta, phi, nest, lonlat)
    return for_each_nside(around, nside, integers("theta", pixels))[0]


def get_interp_weights(nside: Any, theta: Any, phi: Any = None, nest: bool = False, lonlat: bool = False) -> Any:
    """Returns four pixels, [4, ...] int64, around directions, and their weights in bilinear interpolation, [4, ...].

    Without phi, theta holds pixels, and their centres are the directions.
    """
    if (one := _core.interpolation_weights_one(nside, theta, phi, nest, lonlat)) is not None:
        return one

    def corners(size: int, thetas: NDArray[Any], phis: NDArray[Any]) -> Arrays:
        pixels, weights = np.empty((4, thetas.size), np.int64), np.empty((4, thetas.size))
        _core.interpolation_weights(size, boolean("nest", nest), thetas, phis, pixels, weights, threads_for(thetas.size))
        return pixels, weights

    angles = pix2ang(nside, theta, nest) if phi is None else _angles(theta, phi, lonlat)
    return for_each_nside(corners, nside, *map(np.asarray, angles))


def get_interp_val(m: Any, theta: Any, phi: Any, nest: bool = False, lonlat: bool = False) -> Any:
    """Returns values of maps, [pixel] or [map, pixel], at directions, by bilinear interpolation: [map, ...].

    Axes of length 1 are left out, as in healpy. Sums include bad values; masked values count as UNSEEN.
    """
    if (value := _core.interpolate_one(m, theta, phi, nest, lonlat)) is not None:
        return value
    maps = np.atleast_2d(stacked(m))
    if np.ma.isMaskedArray(maps):
        maps = np.ma.filled(maps.astype(np.result_type(maps.dtype, np.float64)), UNSEEN)
    theta, phi = np.broadcast_arrays(*_angles(theta, phi, lonlat))
    if maps.dtype.kind == "c":
        parts = [_interpolated(part, theta, phi, nest) for part in (maps.real, maps.imag)]
        values = parts[0] + 1j * parts[1]
    else:
        values = _interpolated(maps, theta, phi, nest)
    return np.squeeze(values.reshape(len(maps), *theta.shape))[()]


def _interpolated(maps: NDArray[Any], theta: NDArray[np.float64], phi: NDArray[np.float64],
                  nest: bool) -> NDArray[np.float64]:
    kept = np.float32 if maps.dtype == np.float32 else np.float64
    values = np.empty((len(maps), theta.size))
    _core.interpolate(boolean("nest", nest), np.ascontiguousarray(maps, kept), theta.reshape(-1), phi.reshape(-1), values,
                      threads_for(theta.size))
    return values


def check_theta_valid(theta: Any) -> None:
    """Raises ValueError unless all colatitudes lie from 0 to pi."""
    check_range("theta", theta, 0, np.pi)


def _batch(function: Any, nside: Any, nest: bool, *arrays: NDArray[Any]) -> Arrays:
    """Calls a function of the extension for each nside."""
    def call(size: int, *flat: NDArray[Any]) -> Arrays:
        results = function(size, boolean("nest", nest), *flat, threads_for(flat[0].size))
        return results if isinstance(results, tuple) else (results,)

    return for_each_nside(call, nside, *arrays)


def _angles(theta: Any, phi: Any, lonlat: bool, latauto: bool = False,
            latbounce: bool = True) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns theta and phi, rad, from the arguments with these names."""
    if boolean("lonlat", lonlat):
        if not latauto:
            check_range("lat", phi, -90, 90)
        return lonlat2thetaphi(theta, phi, latauto, latbounce)
    if latauto or not latbounce:
        raise ValueError("latauto and latbounce: need lonlat = True")
    return floats("theta", theta), floats("phi", phi)


__all__ = [
    "UNSEEN", "ang2pix", "ang2vec", "check_nside", "check_theta_valid", "fit_dipole", "fit_monopole",
    "get_all_neighbours", "get_interp_val", "get_interp_weights", "get_map_size", "get_min_valid_nside", "get_nside",
    "is_ma", "isnpixok", "isnsideok", "lonlat2thetaphi", "ma", "ma_to_array", "maptype", "mask_bad", "mask_good",
    "max_pixrad", "nest2ring", "npix2nside", "npix2order", "nside2npix", "nside2order", "nside2pixarea",
    "nside2resol", "order2npix", "order2nside", "pix2ang", "pix2vec", "pix2xyf", "remove_dipole", "remove_monopole",
    "reorder", "ring2nest", "thetaphi2lonlat", "ud_grade", "vec2ang", "vec2pix", "xyf2pix",
]

"""Numbers of pixels, their places and their directions.

Single numbers take a short way: a function of the extension whose name ends in _one. It returns None for anything
else, which then goes the way of arrays. So does what an extension's function refuses and -1 and NaN explain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import piecewise
from ._arguments import Arrays, floats, for_each_nside, integers, radians, threads_for, without_masked
from ._directions import angles_of, check_theta_valid, is_mendable, mended, thetaphi2lonlat


def ang2pix(nside: Any, theta: Any, phi: Any, nest: bool = False, lonlat: bool = False, latauto: bool = False,
            latbounce: bool = True) -> Any:
    """Returns the pixels, int64, that hold directions; -1 where phi is not finite.

    latauto, latbounce: need lonlat; see lonlat2thetaphi.
    """
    if not latauto and latbounce:
        try:
            if (pixel := _core.ang2pix_one(nside, theta, phi, nest, lonlat)) is not None:
                return pixel
        except ValueError:
            if not is_mendable(theta, phi, lonlat):
                raise
    (theta, phi), mask = without_masked(theta, phi)
    angles = angles_of(theta, phi, bool(lonlat), latauto, latbounce)
    try:
        found = batch(_core.ang2pix, nside, (bool(nest),), *angles)
    except ValueError:
        angles, missing = mended(*angles)
        found = replaced(batch(_core.ang2pix, nside, (bool(nest),), *angles), missing, -1)
    return masked(found, mask)[0]


def pix2ang(nside: Any, ipix: Any, nest: bool = False, lonlat: bool = False) -> tuple[Any, Any]:
    """Returns theta and phi, or longitude and latitude with lonlat, of the centres of pixels.

    Pixel -1 gives 0 and -inf, or NaN in nest order, as in healpy.
    """
    try:
        one: tuple[Any, Any] | None = _core.pix2ang_one(nside, ipix, nest, lonlat)
        if one is not None:
            return one
    except ValueError:
        if ipix != -1:
            raise
    theta, phi = _of_pixels(_core.pix2ang, nside, (bool(nest),), ipix, (np.nan, np.nan) if nest else (0.0, -np.inf))
    return thetaphi2lonlat(theta, phi) if lonlat else (theta, phi)


def vec2pix(nside: Any, x: Any, y: Any, z: Any, nest: bool = False) -> Any:
    """Returns the pixels, int64, that hold the directions of vectors, whose lengths may be any but 0; -1 for NaN."""
    try:
        if (pixel := _core.vec2pix_one(nside, x, y, z, nest)) is not None:
            return pixel
    except ValueError:
        if not np.isnan([x, y, z]).any():
            raise
    (x, y, z), mask = without_masked(x, y, z)
    if mask is not None:
        x = np.where(mask, 1, x)  # whatever is masked, no vector has the length 0
    parts = floats("x", x), floats("y", y), floats("z", z)
    try:
        found = batch(_core.vec2pix, nside, (bool(nest),), *parts)
    except ValueError:
        missing = np.isnan(parts[0]) | np.isnan(parts[1]) | np.isnan(parts[2])
        others = [np.where(missing, 1, part) for part in parts]
        found = replaced(batch(_core.vec2pix, nside, (bool(nest),), *others), missing, -1)
    return masked(found, mask)[0]


def pix2vec(nside: Any, ipix: Any, nest: bool = False) -> tuple[Any, Any, Any]:
    """Returns x, y and z of the unit vectors to the centres of pixels.

    Pixel -1 gives NaN, but 1 for z in ring order, as in healpy.
    """
    try:
        one: tuple[Any, Any, Any] | None = _core.pix2vec_one(nside, ipix, nest)
        if one is not None:
            return one
    except ValueError:
        if ipix != -1:
            raise
    x, y, z = _of_pixels(_core.pix2vec, nside, (bool(nest),), ipix, (np.nan, np.nan, np.nan if nest else 1.0))
    return x, y, z


def ang2vec(theta: Any, phi: Any, lonlat: bool = False) -> NDArray[np.float64]:
    """Returns unit vectors to directions, [3] or [n, 3]. Further axes are in reverse order, as in healpy.

    theta, phi: may also be Quantities, unless lonlat is set.
    """
    vector: NDArray[np.float64] | None = _core.ang2vec_one(theta, phi, lonlat)
    if vector is not None:
        return vector
    if not lonlat:
        theta, phi = radians("theta", theta), radians("phi", phi)
    theta, phi = angles_of(theta, phi, bool(lonlat))
    check_theta_valid(theta)
    sine = np.sin(theta)
    return np.array(np.broadcast_arrays(sine * np.cos(phi), sine * np.sin(phi), np.cos(theta))).T


def vec2ang(vectors: Any, lonlat: bool = False) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns theta and phi, each [n], or longitude and latitude with lonlat, of vectors, [3] or [..., 3].

    theta is NaN for a vector of length 0, and both are NaN for one that holds NaN.
    """
    one: tuple[NDArray[np.float64], NDArray[np.float64]] | None = _core.vec2ang_one(vectors, lonlat)
    if one is not None:
        return one
    values = floats("vectors", vectors)
    if values.size % 3:
        raise ValueError(f"vectors: has shape {values.shape}: must be [..., 3]")
    x, y, z = values.reshape(-1, 3).T
    def colatitude(x: Any, y: Any, z: Any) -> Any:
        return np.where((x == 0) & (y == 0) & (z == 0), np.nan, np.arctan2(np.hypot(x, y), z))

    def azimuth(x: Any, y: Any) -> Any:
        phi = np.arctan2(y, x)
        return np.where(phi < 0, phi + 2 * np.pi, phi)

    theta, phi = piecewise(colatitude, np.float64, x, y, z), piecewise(azimuth, np.float64, x, y)
    mask = np.ma.getmaskarray(vectors).reshape(-1, 3) if isinstance(vectors, np.ma.MaskedArray) else None
    first, second = thetaphi2lonlat(theta, phi) if lonlat else (theta, phi)
    return masked((first, second), None if mask is None else np.asarray(mask.any(axis=1)))


def ring2nest(nside: Any, ipix: Any) -> Any:
    """Returns the numbers in nest order, int64, of pixels in ring order; -1 for -1."""
    try:
        if (pixel := _core.ring2nest_one(nside, ipix)) is not None:
            return pixel
    except ValueError:
        if ipix != -1:
            raise
    return _of_pixels(_core.ring2nest, nside, (), ipix, (-1,))[0]


def nest2ring(nside: Any, ipix: Any) -> Any:
    """Returns the numbers in ring order, int64, of pixels in nest order; -1 for -1."""
    try:
        if (pixel := _core.nest2ring_one(nside, ipix)) is not None:
            return pixel
    except ValueError:
        if ipix != -1:
            raise
    return _of_pixels(_core.nest2ring, nside, (), ipix, (-1,))[0]


def pix2xyf(nside: Any, ipix: Any, nest: bool = False) -> tuple[Any, Any, Any]:
    """Returns x, y and face, int64, of pixels: the place on one of the 12 base pixels, from its southern corner."""
    one: tuple[Any, Any, Any] | None = _core.pix2xyf_one(nside, ipix, nest)
    if one is not None:
        return one
    (ipix,), mask = without_masked(ipix)
    x, y, face = masked(batch(_core.pix2xyf, nside, (bool(nest),), integers("ipix", ipix)), mask)
    return x, y, face


def xyf2pix(nside: Any, x: Any, y: Any, face: Any, nest: bool = False) -> Any:
    """Returns the pixels, int64, at x, y of a base pixel, as pix2xyf gives them."""
    if (pixel := _core.xyf2pix_one(nside, x, y, face, nest)) is not None:
        return pixel
    (x, y, face), mask = without_masked(x, y, face)
    parts = integers("x", x), integers("y", y), integers("face", face)
    return masked(batch(_core.xyf2pix, nside, (bool(nest),), *parts), mask)[0]


def get_all_neighbours(nside: Any, theta: Any, phi: Any = None, nest: bool = False, lonlat: bool = False) -> Any:
    """Returns the neighbours, [8, ...] int64, to the SW, W, NW, N, NE, E, SE and S of pixels; -1 if there is none.

    theta, phi: directions in the pixels. Without phi, theta holds the pixels themselves; -1 has no neighbours.
    """
    try:
        if (one := _core.neighbours_one(nside, theta, phi, nest, lonlat)) is not None:
            return one
    except ValueError:
        if theta != -1 if phi is None else not is_mendable(theta, phi, lonlat):
            raise

    def around(size: int, nest: bool, pixels: NDArray[Any], threads: int) -> NDArray[np.int64]:
        found = np.empty((8, pixels.size), np.int64)
        _core.neighbours(size, nest, pixels, found, threads)
        return found

    pixels = theta if phi is None else ang2pix(nside, theta, phi, nest, lonlat)
    return _of_pixels(around, nside, (bool(nest),), np.ma.getdata(pixels), (-1,), "theta")[0]


def _of_pixels(function: Any, nside: Any, order: tuple[bool, ...], ipix: Any, of_none: tuple[float, ...],
               name: str = "ipix") -> Arrays:
    """Calls a function of the extension for each nside, see batch. of_none: its results for pixel -1."""
    (ipix,), mask = without_masked(ipix)
    pixels = integers(name, ipix)
    try:
        found = batch(function, nside, order, pixels)
    except ValueError:
        missing = pixels == -1
        found = replaced(batch(function, nside, order, np.where(missing, 0, pixels)), missing, *of_none)
    return masked(found, mask)


def batch(function: Any, nside: Any, order: tuple[bool, ...], *arrays: NDArray[Any]) -> Arrays:
    """Calls a function of the extension for each nside. order: (nest,) for those that have this argument, else ()."""

    def call(size: int, *flat: NDArray[Any]) -> Arrays:
        results = function(size, *order, *flat, threads_for(flat[0].size))
        return results if isinstance(results, tuple) else (results,)

    return for_each_nside(call, nside, *arrays)


def replaced(results: Arrays, where: NDArray[np.bool_], *values: float) -> Arrays:
    """The results with a value in the places where something is missing."""
    return tuple([np.where(where, np.asarray(result).dtype.type(value), result)[()]
                  for result, value in zip(results, values)])


def masked(results: Arrays, mask: NDArray[np.bool_] | None) -> Arrays:
    """The results as masked arrays, if there is a mask."""
    if mask is None:
        return results
    return tuple([np.ma.MaskedArray(result, np.broadcast_to(mask, np.shape(result))) for result in results])

"""The functions of HEALPix pixels of build/lib/libzonal_shim.so on NumPy arrays, named and used as healpy's."""
import ctypes

import numpy as np

from zonal_shim import _lib

_i64, _ptr, _int, _f64 = ctypes.c_int64, ctypes.c_void_p, ctypes.c_int, ctypes.c_double
for _name, _arguments in (("disc", [_i64, _ptr, _f64]), ("strip", [_i64, _f64, _f64]), ("polygon", [_i64, _ptr, _i64])):
    getattr(_lib, "zonal_query_" + _name).restype = _ptr
    getattr(_lib, "zonal_query_" + _name).argtypes = _arguments + [_int, _int, _i64]
for _name in ("size", "count"):
    getattr(_lib, "zonal_ranges_" + _name).restype = _i64
    getattr(_lib, "zonal_ranges_" + _name).argtypes = [_ptr]
_lib.zonal_ranges_copy.argtypes = [_ptr, _ptr]
_lib.zonal_ranges_list.argtypes = [_ptr, _ptr, _i64]
_lib.zonal_ranges_free.argtypes = [_ptr]


def _call(name, *arguments):
    """Arrays go as their addresses, integers as int64."""
    function = getattr(_lib, "zonal_" + name)
    plain = [_ptr(a.ctypes.data) if isinstance(a, np.ndarray) else a if isinstance(a, ctypes._SimpleCData) else _i64(a)
             for a in arguments]
    if function(*plain) != 0:
        raise ValueError(_lib.zonal_last_error().decode())


def _inputs(kind, *arrays):
    return [np.ascontiguousarray(array, kind) for array in arrays]


def ang2pix(nside, theta, phi, nest=False, threads=1):
    theta, phi = _inputs(np.float64, theta, phi)
    pixels = np.empty(theta.size, np.int64)
    _call("ang2pix", nside, _int(nest), theta, phi, pixels, theta.size, _int(threads))
    return pixels


def pix2ang(nside, pixels, nest=False, threads=1):
    pixels, = _inputs(np.int64, pixels)
    theta, phi = np.empty(pixels.size), np.empty(pixels.size)
    _call("pix2ang", nside, _int(nest), pixels, theta, phi, pixels.size, _int(threads))
    return theta, phi


def vec2pix(nside, x, y, z, nest=False, threads=1):
    x, y, z = _inputs(np.float64, x, y, z)
    pixels = np.empty(x.size, np.int64)
    _call("vec2pix", nside, _int(nest), x, y, z, pixels, x.size, _int(threads))
    return pixels


def pix2vec(nside, pixels, nest=False, threads=1):
    pixels, = _inputs(np.int64, pixels)
    x, y, z = (np.empty(pixels.size) for _ in range(3))
    _call("pix2vec", nside, _int(nest), pixels, x, y, z, pixels.size, _int(threads))
    return x, y, z


def ring2nest(nside, pixels, threads=1):
    pixels, = _inputs(np.int64, pixels)
    nest = np.empty_like(pixels)
    _call("ring2nest", nside, pixels, nest, pixels.size, _int(threads))
    return nest


def nest2ring(nside, pixels, threads=1):
    pixels, = _inputs(np.int64, pixels)
    ring = np.empty_like(pixels)
    _call("nest2ring", nside, pixels, ring, pixels.size, _int(threads))
    return ring


def get_all_neighbours(nside, pixels, nest=False, threads=1):
    pixels, = _inputs(np.int64, pixels)
    around = np.empty((8, pixels.size), np.int64)
    _call("neighbours", nside, _int(nest), pixels, around, pixels.size, _int(threads))
    return around


def get_interp_weights(nside, theta, phi, nest=False, threads=1):
    theta, phi = _inputs(np.float64, theta, phi)
    pixels, weights = np.empty((4, theta.size), np.int64), np.empty((4, theta.size))
    _call("interpolation_weights", nside, _int(nest), theta, phi, pixels, weights, theta.size, _int(threads))
    return pixels, weights


def get_interp_val(sky, theta, phi, nest=False, threads=1):
    """sky: [12 nside^2], float32 or float64."""
    assert sky.flags.c_contiguous and sky.dtype in (np.float32, np.float64)
    theta, phi = _inputs(np.float64, theta, phi)
    values = np.empty(theta.size)
    _call("interpolate" + ("_float" if sky.dtype == np.float32 else ""), sky.size, _int(nest), sky, theta, phi, values,
          theta.size, _int(threads))
    return values


def boundaries(nside, pixels, step=1, nest=False, threads=1):
    """[n, 3, 4 step]"""
    pixels, = _inputs(np.int64, pixels)
    points = np.empty((pixels.size, 3, 4 * step))
    _call("boundaries", nside, _int(nest), pixels, step, points, pixels.size, _int(threads))
    return points


def _query(name, *arguments, return_ranges):
    """Pixels, or [n, 2]: first and behind the last of each range."""
    ranges = getattr(_lib, "zonal_query_" + name)(*arguments)
    if not ranges:
        raise ValueError(_lib.zonal_last_error().decode())
    if return_ranges:
        result = np.empty((_lib.zonal_ranges_size(ranges), 2), np.int64)
        _lib.zonal_ranges_copy(ranges, result.ctypes.data)
    else:
        result = np.empty(_lib.zonal_ranges_count(ranges), np.int64)
        _lib.zonal_ranges_list(ranges, result.ctypes.data, result.size)
    _lib.zonal_ranges_free(ranges)
    return result


def query_disc(nside, centre, radius, inclusive=False, fact=4, nest=False, return_ranges=False):
    centre, = _inputs(np.float64, centre)
    return _query("disc", nside, centre.ctypes.data, radius, nest, inclusive, fact, return_ranges=return_ranges)


def query_strip(nside, theta_1, theta_2, inclusive=False, nest=False, fact=4, return_ranges=False):
    return _query("strip", nside, theta_1, theta_2, nest, inclusive, fact, return_ranges=return_ranges)


def query_polygon(nside, vertices, inclusive=False, fact=4, nest=False, return_ranges=False):
    vertices, = _inputs(np.float64, vertices)
    return _query("polygon", nside, vertices.ctypes.data, len(vertices), nest, inclusive, fact,
                  return_ranges=return_ranges)

"""Convolutions with radial kernels of build/lib/libzonal_shim.so on NumPy arrays, and the planner's choice of one."""
import ctypes

import numpy as np

from zonal_shim import _lib

_i64, _ptr, _f64, _int = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double, ctypes.c_int
_lib.zonal_radial_plan.restype = _ptr
_lib.zonal_radial_plan.argtypes = [_i64, _f64, _f64, _int, _int, _f64, _int]
_lib.zonal_radial_work.argtypes = [_ptr, _ptr, _ptr]
_lib.zonal_cut_gaussian_window.argtypes = [_f64, _f64, _i64, _ptr]
_lib.zonal_calibrate.restype = _ptr
_lib.zonal_calibrate.argtypes = [_int]
_lib.zonal_choose.restype = _ptr
_lib.zonal_choose.argtypes = [_ptr, _i64, _f64, _i64, _f64, _int, _int]
_lib.zonal_chosen_method.restype = ctypes.c_char_p
_lib.zonal_chosen_method.argtypes = [_ptr]
_lib.zonal_chosen_numbers.argtypes = [_ptr, _ptr]
for _name in ("radial", "costs", "chosen"):
    getattr(_lib, f"zonal_{_name}_free").argtypes = [_ptr]
for _name in ("radial_convolve", "radial_convolve_float", "chosen_convolve"):
    getattr(_lib, "zonal_" + _name).argtypes = [_ptr, _ptr, _ptr]


def _checked(pointer_or_none):
    if not pointer_or_none:
        raise ValueError(_lib.zonal_last_error().decode())
    return pointer_or_none


def _call(name, *arguments):
    if getattr(_lib, "zonal_" + name)(*arguments) != 0:
        raise ValueError(_lib.zonal_last_error().decode())


def cut_gaussian_window(fwhm, cut, lmax):
    """[lmax + 1]; fwhm, cut in rad."""
    window = np.empty(lmax + 1)
    _call("cut_gaussian_window", fwhm, cut, lmax, window.ctypes.data)
    return window


class RadialPlan:
    """Convolution of a HEALPix map with a Gaussian cut at an angle (rad), on the CPU. method: "pixel-sum" or
    "ring-fft"; single: maps and sums in float32."""

    def __init__(self, nside, *, fwhm, cut, method, single=False, accuracy=0.0, threads=1):
        self._plan = _checked(_lib.zonal_radial_plan(nside, fwhm, cut, ("pixel-sum", "ring-fft").index(method),
                                                     int(single), accuracy, threads))
        self.n_pixels, self.type = 12 * nside**2, np.float32 if single else np.float64

    def __del__(self):
        if getattr(self, "_plan", None):
            _lib.zonal_radial_free(self._plan)

    def convolve(self, sky, out):
        """sky, out: [n_pixels] of the plan's type."""
        assert sky.dtype == out.dtype == self.type and sky.shape == out.shape == (self.n_pixels,)
        _call("radial_convolve" + ("_float" if self.type == np.float32 else ""), self._plan, sky.ctypes.data,
              out.ctypes.data)
        return out

    def work(self):
        """Counts of work of one map, and seconds of the parts of the last call."""
        counts, seconds = np.empty(5), np.empty(3)
        _lib.zonal_radial_work(self._plan, counts.ctypes.data, seconds.ctypes.data)
        names = ("kernel_values", "row_products", "mode_products", "pixel_products", "fft_pixels")
        return (dict(zip(names, map(float, counts))),
                dict(zip(("kernel_rows", "ffts", "sums"), map(float, seconds))))


class Costs:
    """What the CPU costs with so many threads, measured now."""

    def __init__(self, threads):
        self.pointer = _checked(_lib.zonal_calibrate(threads))

    def __del__(self):
        if getattr(self, "pointer", None):
            _lib.zonal_costs_free(self.pointer)


class Chosen:
    """The planner's choice for one map and a Gaussian of that width (rad), on the CPU, ready to convolve."""

    def __init__(self, costs, nside, *, fwhm, lmax, error, continuous=False, threads=1):
        self._plan = _checked(_lib.zonal_choose(costs.pointer, nside, fwhm, lmax, error, int(continuous), threads))
        numbers = np.empty(5)
        _lib.zonal_chosen_numbers(self._plan, numbers.ctypes.data)
        self.method = _lib.zonal_chosen_method(self._plan).decode()
        self.precision = "float" if numbers[0] else "double"
        self.support, self.iterations = float(numbers[1]), int(numbers[2])
        self.seconds, self.error = float(numbers[3]), float(numbers[4])

    def __del__(self):
        if getattr(self, "_plan", None):
            _lib.zonal_chosen_free(self._plan)

    def convolve(self, sky, out):
        """sky, out: [12 nside^2], float64."""
        assert sky.dtype == out.dtype == np.float64 and sky.shape == out.shape
        _call("chosen_convolve", self._plan, sky.ctypes.data, out.ctypes.data)
        return out

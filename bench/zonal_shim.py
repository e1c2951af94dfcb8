"""The transforms of build/lib/libzonal_shim.so on NumPy arrays, for tests and benchmarks."""
import ctypes
import os
import pathlib

import numpy as np

_LIBRARY = os.environ.get(
    "ZONAL_SHIM", str(pathlib.Path(__file__).resolve().parent.parent / "build/lib/libzonal_shim.so"))
_lib = ctypes.CDLL(_LIBRARY)
_i64, _ptr = ctypes.c_int64, ctypes.c_void_p
_lib.zonal_last_error.restype = ctypes.c_char_p
_lib.zonal_simd_target.restype = ctypes.c_char_p
_lib.zonal_plan.restype = _ptr
_lib.zonal_plan.argtypes = [ctypes.c_char_p, _i64, _i64, _i64, _i64, ctypes.c_int, ctypes.c_int]
_lib.zonal_plan_rings.restype = _ptr
_lib.zonal_plan_rings.argtypes = [_i64, _ptr, _ptr, _ptr, _ptr, _i64, _i64, ctypes.c_int, ctypes.c_int]
_lib.zonal_rings.restype = _i64
_lib.zonal_rings.argtypes = [_ptr, _ptr, _ptr]
_lib.zonal_free.argtypes = [_ptr]
for _name, _result in (("n_pixels", _i64), ("workspace_bytes", _i64), ("legendre_flops", ctypes.c_double),
                       ("legendre_seconds", ctypes.c_double)):
    getattr(_lib, "zonal_" + _name).restype = _result
    getattr(_lib, "zonal_" + _name).argtypes = [_ptr]
for _name in ("synthesize", "synthesize_float"):
    getattr(_lib, "zonal_" + _name).argtypes = [_ptr, _ptr, _ptr, _i64]
for _name in ("adjoint", "adjoint_float"):
    getattr(_lib, "zonal_" + _name).argtypes = [_ptr, _ptr, _ptr, _i64, ctypes.c_int]
_lib.zonal_smooth.argtypes = [_i64, _ptr, _ptr, ctypes.c_double, _i64, ctypes.c_int, ctypes.c_int]
_lib.zonal_fma_flops.argtypes = [ctypes.c_int]
_lib.zonal_fma_flops.restype = ctypes.c_double


def smooth(sky, *, fwhm, lmax, iterations=3, threads=1):
    """One HEALPix map, float64; fwhm in rad."""
    sky = np.ascontiguousarray(sky, np.float64)
    out = np.empty_like(sky)
    nside = round((sky.size / 12) ** 0.5)
    if _lib.zonal_smooth(nside, sky.ctypes.data, out.ctypes.data, fwhm, lmax, iterations, threads) != 0:
        raise ValueError(_lib.zonal_last_error().decode())
    return out


def fma_flops(threads):
    """Double-precision operations per second that the machine reaches with fused multiply-adds."""
    return _lib.zonal_fma_flops(threads)


def leave_out_avx512():
    """From now on kernels run as on machines without it."""
    _lib.zonal_leave_out_avx512()


def simd_target():
    return _lib.zonal_simd_target().decode()


class Plan:
    """kind: "healpix" (a = nside), "gauss", "cc", "fejer1", "fejer2" (a = rings, b = pixels per ring), or "rings"
    (a = (cos theta, sin theta, phi_0, number of pixels), an array of each)."""

    def __init__(self, kind, a, b=0, *, lmax, mmax=-1, spin=0, threads=1):
        self.lmax, self.mmax, self.spin = lmax, lmax if mmax < 0 else mmax, spin
        self.components = 1 if spin == 0 else 2
        if kind == "rings":
            *angles, n_pixels = a
            angles = [np.ascontiguousarray(x, np.float64) for x in angles]
            n_pixels = np.ascontiguousarray(n_pixels, np.int64)
            assert all(x.shape == n_pixels.shape for x in angles)
            self._plan = _lib.zonal_plan_rings(n_pixels.size, *(x.ctypes.data for x in angles), n_pixels.ctypes.data,
                                               lmax, mmax, spin, threads)
        else:
            self._plan = _lib.zonal_plan(kind.encode(), a, b, lmax, mmax, spin, threads)
        if not self._plan:
            raise ValueError(_lib.zonal_last_error().decode())
        self.n_pixels = _lib.zonal_n_pixels(self._plan)
        self.workspace_bytes = _lib.zonal_workspace_bytes(self._plan)
        self.legendre_flops = _lib.zonal_legendre_flops(self._plan)
        self.n_alm = (self.mmax + 1) * (lmax + 1) - self.mmax * (self.mmax + 1) // 2

    def rings(self):
        """cos theta, sin theta of the grid's rings."""
        n_rings = _lib.zonal_rings(self._plan, None, None)
        cosine, sine = np.empty(n_rings), np.empty(n_rings)
        _lib.zonal_rings(self._plan, cosine.ctypes.data, sine.ctypes.data)
        return cosine, sine

    def legendre_seconds(self):
        """Of the last transform's Legendre stage."""
        return _lib.zonal_legendre_seconds(self._plan)

    def __del__(self):
        if getattr(self, "_plan", None):
            _lib.zonal_free(self._plan)

    def _call(self, name, *arguments):
        if getattr(_lib, name)(self._plan, *arguments) != 0:
            raise ValueError(_lib.zonal_last_error().decode())

    def synthesize(self, alm, out=None):
        """alm: [n_maps, components, n_alm] -> map: [n_maps, components, n_pixels]; complex64 gives float32."""
        single = alm.dtype == np.complex64
        alm = np.ascontiguousarray(alm)
        if out is None:
            out = np.empty((alm.shape[0], self.components, self.n_pixels), np.float32 if single else np.float64)
        assert alm.shape == (out.shape[0], self.components, self.n_alm) and out.shape[2] == self.n_pixels
        self._call("zonal_synthesize" + ("_float" if single else ""), alm.ctypes.data, out.ctypes.data, alm.shape[0])
        return out

    def adjoint(self, sky, out=None, weighted=False):
        """map: [n_maps, components, n_pixels] -> alm; weighted: with the rings' quadrature weights."""
        single = sky.dtype == np.float32
        sky = np.ascontiguousarray(sky)
        if out is None:
            out = np.empty((sky.shape[0], self.components, self.n_alm), np.complex64 if single else np.complex128)
        assert sky.shape == (out.shape[0], self.components, self.n_pixels) and out.shape[2] == self.n_alm
        self._call("zonal_adjoint" + ("_float" if single else ""), sky.ctypes.data, out.ctypes.data, sky.shape[0],
                   int(weighted))
        return out

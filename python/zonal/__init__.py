"""Spectral work on the sphere.

Maps and harmonic coefficients are NumPy arrays, or carry their unit as a `zonal.Map` or an astropy Quantity. Angles are
radians unless you say otherwise (see `zonal.angle`), and a long call stops at Ctrl-C.

>>> import numpy as np, zonal
>>> sht = zonal.SHT(zonal.Grid.healpix(16), lmax=32)
>>> alm = np.zeros(sht.n_alm, complex)
>>> alm[0] = np.sqrt(4 * np.pi)  # a_00 of a map of ones
>>> bool(np.allclose(sht.synthesize(alm), 1))
True
"""

import importlib
from typing import TYPE_CHECKING, Any

from . import _backend as _backend  # which chooses _core
from . import _core, io, masks, plot, spectra
from ._angles import AngleLike, angle
from ._caches import cache_limit, clear_caches
from ._core import (
    AnalysisReport,
    AppliedKernel,
    BackendUnavailable,
    BeamOrders,
    BeamReport,
    Cancelled,
    Certificate,
    Choice,
    CommunicationError,
    ConvolutionResult,
    DeviceError,
    Error,
    ErrorBound,
    ErrorNotKept,
    InverseDeflectionReport,
    LensingReport,
    OutOfDeviceMemory,
    PointAnalysisReport,
    PointReport,
    ResamplingReport,
    SmoothedPart,
)
from ._cpp import cmake_dir, get_include
from ._devices import Device, devices
from ._names import no_attribute
from ._notes import ZonalWarning
from ._pixels import UNSEEN
from ._smoothing import convolve, smooth
from ._threads import threads
from .beams import BeamConvolver, elliptical_beam, smooth_with_beam
from .coefficients import almxfl, fit_dipole, inverse_wavelet_transform, remove_dipole, resize_alm, wavelet_transform
from .grid import Grid
from .integrals import credible_levels, integral
from .kernel import (
    Kernel,
    deconvolution_window,
    gaussian_window,
    matched_filter_window,
    needlet_windows,
    pixel_window,
    scale_discretised_windows,
    sky_window,
    wiener_window,
)
from .lensing import Lensing, displace, inverse_deflection, lens
from .pixel_convolution import PixelConvolution, Share
from .planning import ConvolutionPlan, plan
from .plot import _thumbnail
from .points import PointTransform, SphereFunction
from .rotation import euler_angles, resample, rotate_alm, rotate_map, rotation_matrix
from .sht import SHT, alm_index, alm_size
from .skies import alm2cl, alm2map, anafast, map2alm, synalm, synfast, udgrade
from .sky_map import Map
from .split import Split, wiener_spectrum
from .vector_fields import alm2vector, curl, gradient, hessian, vector2alm

for _class in (AnalysisReport, AppliedKernel, BackendUnavailable, BeamOrders, BeamReport, Cancelled, Certificate, Choice,
               CommunicationError, ConvolutionResult, Device, DeviceError, Error, ErrorBound, ErrorNotKept, InverseDeflectionReport,
               LensingReport, OutOfDeviceMemory, PointAnalysisReport, PointReport, ResamplingReport, SmoothedPart):
    _class.__module__ = "zonal"  # where they come from is not what users should import

# Pictures and analyses need maps, so that maps cannot import them.
Map._resampled = resample
Map._repr_png_, Map._repr_html_ = _thumbnail.png, _thumbnail.html

__version__ = _core.version

__all__ = [
    "AnalysisReport", "AngleLike", "AppliedKernel", "BackendUnavailable", "BeamConvolver", "BeamOrders", "BeamReport", "Cancelled",
    "Certificate", "Choice", "CommunicationError", "ConvolutionPlan", "ConvolutionResult", "Device", "DeviceError", "Error", "ErrorBound",
    "ErrorNotKept", "Grid", "InverseDeflectionReport", "Kernel", "Lensing", "LensingReport", "Map", "OutOfDeviceMemory", "PixelConvolution",
    "PointAnalysisReport", "PointReport", "PointTransform", "ResamplingReport", "SHT", "Share", "SmoothedPart", "SphereFunction", "Split", "UNSEEN",
    "ZonalWarning", "__version__", "alm2cl", "alm2map", "alm2vector", "alm_index", "alm_size", "almxfl", "anafast", "angle", "cache_limit",
    "clear_caches", "cmake_dir", "convolve", "credible_levels", "curl", "deconvolution_window", "devices", "displace", "elliptical_beam",
    "euler_angles", "fit_dipole", "gaussian_window", "get_include", "gradient", "hessian", "integral", "inverse_deflection",
    "inverse_wavelet_transform", "io", "lens", "map2alm", "masks", "matched_filter_window", "needlet_windows", "pixel_window", "plan", "plot",
    "remove_dipole", "resample", "resize_alm", "rotate_alm", "rotate_map", "rotation_matrix", "scale_discretised_windows",
    "sky_window", "smooth", "smooth_with_beam", "spectra", "synalm", "synfast", "threads", "udgrade", "vector2alm", "wavelet_transform", "wiener_spectrum",
    "wiener_window",
]

if not TYPE_CHECKING:
    # Their names would be taken for functions: users reach what these modules hold.
    for _name in ("beams", "coefficients", "grid", "integrals", "kernel", "lensing", "pixel_convolution", "planning", "points", "rotation", "sht", "skies", "sky_map",
                  "split", "vector_fields"):
        del globals()[_name]

    _PARTS = {"chebyshev", "ducc0", "gwrm", "healpy", "jax", "mpi", "torch"}
    # Where healpy has them at its top, this package elsewhere.
    _OWN = {"gauss_beam": "gaussian_window", "smoothing": "smooth", "ud_grade": "udgrade"} | \
        {name: f"io.{name}" for name in io.__all__} | {name: f"plot.{one}" for name, one in plot.OF_HEALPY.items()}

    def __getattr__(name: str) -> Any:
        if name in _PARTS:
            raise no_attribute("zonal", name, (), f"import zonal.{name} first")
        own = f"it is zonal.{_OWN[name]}" if name in _OWN else ""
        if name.startswith("_") or name not in importlib.import_module("zonal.healpy").__all__:
            raise no_attribute("zonal", name, __all__, own)
        raise no_attribute("zonal", name, (), f"{own or 'it is'}{', and' if own else ''} zonal.healpy.{name} with healpy's arguments")

    def __dir__() -> list[str]:
        return sorted({*__all__, *(_PARTS & globals().keys())})

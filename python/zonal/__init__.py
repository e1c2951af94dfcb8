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

from typing import TYPE_CHECKING, Any

from . import _backend as _backend  # which chooses _core
from . import _core, io, plot
from ._angles import AngleLike, angle
from ._caches import cache_limit, clear_caches
from ._core import AnalysisReport, AppliedKernel, BackendUnavailable, Cancelled, Certificate, Choice, CommunicationError
from ._core import ConvolutionResult, DeviceError, Error, ErrorBound, ErrorNotKept, OutOfDeviceMemory, SmoothedPart
from ._devices import Device, devices
from ._notes import ZonalWarning
from ._pixels import UNSEEN
from ._threads import threads
from .coefficients import almxfl, fit_dipole, inverse_wavelet_transform, remove_dipole, resize_alm
from .coefficients import wavelet_transform
from .grid import Grid
from .integrals import credible_levels, integral
from .kernel import Kernel, deconvolution_window, gaussian_window, matched_filter_window, needlet_windows
from .kernel import scale_discretised_windows, sky_window, wiener_window
from .pixel_convolution import PixelConvolution, Share
from .planning import ConvolutionPlan, plan
from .plot import _thumbnail
from .rotation import euler_angles, rotate_alm, rotate_map, rotation_matrix
from .sht import SHT, alm_index, alm_size
from .skies import alm2cl, alm2map, anafast, map2alm, synalm, synfast, udgrade
from .sky_map import Map
from .smoothing import convolve, smooth
from .split import Split, wiener_spectrum

for _class in (AnalysisReport, AppliedKernel, BackendUnavailable, Cancelled, Certificate, Choice, CommunicationError,
               ConvolutionResult, Device, DeviceError, Error, ErrorBound, ErrorNotKept, OutOfDeviceMemory, SmoothedPart):
    _class.__module__ = "zonal"  # where they come from is not what users should import

# Pictures need maps, so that maps cannot import them.
Map._repr_png_, Map._repr_html_ = _thumbnail.png, _thumbnail.html

__version__ = _core.version

__all__ = [
    "AnalysisReport", "AngleLike", "AppliedKernel", "BackendUnavailable", "Cancelled", "Certificate", "Choice", "CommunicationError",
    "ConvolutionPlan", "ConvolutionResult", "Device", "DeviceError", "Error", "ErrorBound", "ErrorNotKept", "Grid",
    "Kernel", "Map", "OutOfDeviceMemory", "PixelConvolution", "SHT", "Share", "SmoothedPart", "Split", "UNSEEN",
    "ZonalWarning", "__version__", "alm2cl", "alm2map", "alm_index", "alm_size", "almxfl", "anafast", "angle",
    "cache_limit", "clear_caches", "convolve", "credible_levels", "deconvolution_window", "devices", "euler_angles", "fit_dipole", "gaussian_window",
    "integral", "inverse_wavelet_transform", "io", "map2alm", "matched_filter_window", "needlet_windows", "plan", "plot",
    "remove_dipole", "resize_alm", "rotate_alm", "rotate_map", "rotation_matrix", "scale_discretised_windows",
    "sky_window", "smooth", "synalm", "synfast", "threads", "udgrade", "wavelet_transform", "wiener_spectrum",
    "wiener_window",
]

if not TYPE_CHECKING:
    # Their names would be taken for functions: users reach what these modules hold.
    for _name in ("coefficients", "grid", "integrals", "kernel", "pixel_convolution", "planning", "rotation", "sht", "skies", "sky_map",
                  "smoothing", "split"):
        del globals()[_name]

    _PARTS = {"chebyshev", "gwrm", "healpy", "jax", "mpi", "torch"}
    _OF_HEALPY = {
        "cartview": "plot.cartesian", "gauss_beam": "gaussian_window", "gnomview": "plot.gnomonic", "graticule": "plot.graticule",
        "mollview": "plot.mollweide", "orthview": "plot.orthographic", "smoothing": "smooth", "ud_grade": "udgrade",
    } | {name: f"io.{name}" for name in ("read_alm", "read_cl", "read_map", "write_alm", "write_cl", "write_map")}

    def __getattr__(name: str) -> Any:
        hint = (f"import zonal.{name} first" if name in _PARTS else
                f"it is zonal.{_OF_HEALPY[name]}, and zonal.healpy.{name} with healpy's arguments" if name in _OF_HEALPY else
                "zonal.healpy has healpy's functions of pixels and others")
        raise AttributeError(f"module 'zonal' has no attribute {name!r}: {hint}", name=name)

    def __dir__() -> list[str]:
        return sorted({*__all__, *(_PARTS & globals().keys())})

"""Harmonic transforms, spectra, beams and random skies with the names, arguments and results of healpy.sphtfunc.

Maps are in ring order and coefficients in the order of Alm. Results are float64 and complex128. A function raises an
error for an argument that it cannot use.
"""

from . import cookbook as cb
from . import pixelfunc
from ._alm import Alm, alm2cl, almxfl, resize_alm, rotate_alm, smoothalm
from ._beams import (
    MAX_NSIDE,
    beam2bl,
    bl2beam,
    blm_gauss,
    check_max_nside,
    effective_resolution_fwhm,
    gauss_beam,
    pixwin,
)
from ._harmonic_ud_grade import _apply_harmonic_transfer as _apply_harmonic_transfer
from ._harmonic_ud_grade import _resolve_beam as _resolve_beam
from ._harmonic_ud_grade import harmonic_ud_grade
from ._maps import accept_ma, ma_to_array, maptype
from ._skies import anafast, new_to_old_spectra_order, smoothing, synalm, synfast
from ._transforms import alm2map, alm2map_der1, alm2map_spin, map2alm, map2alm_lsq, map2alm_spin
from .pixelfunc import UNSEEN


class FutureChangeWarning(UserWarning):
    """Here for programs that filter it: nothing gives this warning."""


__all__ = [
    "MAX_NSIDE", "UNSEEN", "Alm", "FutureChangeWarning", "accept_ma", "alm2cl", "alm2map", "alm2map_der1",
    "alm2map_spin", "almxfl", "anafast", "beam2bl", "bl2beam", "blm_gauss", "cb", "check_max_nside",
    "effective_resolution_fwhm", "gauss_beam", "harmonic_ud_grade", "ma_to_array", "map2alm", "map2alm_lsq",
    "map2alm_spin", "maptype", "new_to_old_spectra_order", "pixelfunc", "pixwin", "resize_alm", "rotate_alm",
    "smoothalm", "smoothing", "synalm", "synfast",
]

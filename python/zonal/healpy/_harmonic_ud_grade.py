"""Changes the resolution of maps by way of their alm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._arrays import integer
from .._notes import warn
from ._alm import alm_rows, layout_of, multiply, resize_alm
from ._beams import effective_resolution_fwhm, gauss_beam
from ._beams import pixwin as pixel_windows
from ._checked import checked
from ._sizes import check_nside
from ._transforms import Folder, MapSet, Transforms, analyze, orders

Window = NDArray[np.float64]


@checked
def harmonic_ud_grade(map_in: Any, nside_out: int, nside_in: int | None = None, lmax: int | None = None,
                      mmax: int | None = None, iter: int | None = None, pol: bool = True, pixwin: bool = True,
                      fwhm_in: float = 0, fwhm_out: float | None = 0, beam_window_in: Any = None,
                      beam_window_out: Any = None, use_weights: bool = False, datapath: Folder = None,
                      use_pixel_weights: bool = True, dtype: DTypeLike | None = None,
                      input_type: str = "map") -> NDArray[Any]:
    """Returns a map, [pixel], or maps, [row, pixel], in ring order at another nside and with other windows.

    The alm are multiplied by (pixel window out / in) (beam out / in).

    pol: three maps are I, Q, U. lmax: by default the smaller 3 nside - 1. iter: by default 3; pixel weights do
    without. pixwin: applies pixel windows. fwhm_in, fwhm_out: of Gaussian beams, rad; fwhm_out = None
    means effective_resolution_fwhm. beam_window_in, beam_window_out: windows to use instead, [lmax + 1], or
    [lmax + 1, 2 or more] with a column for T and one for E and B. input_type: with "alm", map_in is alm of maps of
    nside_in, [n_alm] or three rows, with mmax = lmax. The other arguments are those of map2alm.
    """
    if input_type not in ("map", "alm"):
        raise ValueError(f"input_type must be 'map' or 'alm', not {input_type!r}")
    for name, value, or_none in (("fwhm_in", fwhm_in, ""), ("fwhm_out", fwhm_out, " or None")):
        if value is not None and not value >= 0:
            raise ValueError(f"{name} must be >= 0{or_none}, in rad, not {value}")
    size_out = integer("nside_out", nside_out)
    check_nside(size_out)
    source: _OfMaps | _OfAlm
    if input_type == "map":
        source = _OfMaps(map_in, pol, iter, use_weights, use_pixel_weights, datapath)
        if nside_in not in (None, source.nside):
            raise ValueError(f"nside_in = {nside_in}: must be that of the maps, {source.nside}, or None")
    else:
        source = _OfAlm(map_in, pol, nside_in)
        _note_ignored(iter=iter is not None, use_weights=use_weights, use_pixel_weights=not use_pixel_weights,
                      datapath=datapath is not None)
    lmax, mmax = orders(size_out, min(3 * size_out - 1, source.band_limit) if lmax is None else lmax, mmax)
    pixels = [pixel_windows(size, True, lmax) for size in (source.nside, size_out)] if pixwin else [None, None]
    width_out = effective_resolution_fwhm(size_out) if fwhm_out is None else fwhm_out
    beam_in = _beams("beam_window_in", beam_window_in, fwhm_in, lmax, source.pol)
    beam_out = _beams("beam_window_out", beam_window_out, width_out, lmax, source.pol)
    of_spin_0, of_spin_2 = (_transfer(lmax, [pixels[0], beam_in], [pixels[1], beam_out], part if source.pol else 0)
                            for part in (0, 1))
    alm = _apply_harmonic_transfer(source.alm(lmax, mmax), of_spin_0, of_spin_2 if source.pol else None, mmax)
    maps = Transforms(size_out, lmax, mmax).synthesize(np.array(alm), source.pol)
    result = maps[0] if source.single else maps
    return result if dtype is None else result.astype(dtype)


class _OfMaps:
    """The alm of maps that were given."""

    def __init__(self, maps: Any, pol: bool, iter: int | None, use_weights: bool, use_pixel_weights: bool,
                 datapath: Folder) -> None:
        self._given = MapSet(maps, pol)
        self._iter, self._weights = iter, (use_weights, use_pixel_weights, datapath)
        self.nside, self.pol, self.single = self._given.nside, self._given.pol, self._given.single
        self.band_limit = 3 * self.nside - 1

    def alm(self, lmax: int, mmax: int) -> NDArray[np.complex128]:
        iterations = 3 if self._iter is None else self._iter
        try:
            return analyze(self._given, Transforms(self.nside, lmax, mmax), iterations, *self._weights)
        except RuntimeError as error:
            if not self._weights[1]:
                raise
            raise RuntimeError(f"Pixel weights are required by default. {error}") from error


class _OfAlm:
    """The alm that were given."""

    def __init__(self, alm: Any, pol: bool, nside_in: int | None) -> None:
        self.nside, self._rows = _checked_alm(alm, nside_in)
        self.pol, self.single = pol and len(self._rows) == 3, len(self._rows) == 1
        self._lmax = layout_of(self._rows.shape[1], None, None)[0]
        self.band_limit = min(3 * self.nside - 1, self._lmax)

    def alm(self, lmax: int, mmax: int) -> NDArray[np.complex128]:
        return np.array(resize_alm(list(self._rows), self._lmax, self._lmax, lmax, mmax))


def _note_ignored(**given: bool) -> None:
    for name in (name for name, is_given in given.items() if is_given):
        warn([f"{name} is about the analysis of maps: ignored with input_type='alm'"], UserWarning)


def _checked_alm(alm: Any, nside_in: int | None) -> tuple[int, NDArray[np.complex128]]:
    if nside_in is None:
        raise ValueError("nside_in must be provided with input_type = 'alm': it is the nside of the maps that the alm are of")
    check_nside(nside_in)
    n = 1 if np.ndim(alm[0]) == 0 else len(alm)
    if n not in (1, 3):
        raise ValueError(f"map_in: has {n} rows, but input_type = 'alm' supports a single 1D alm array or a TEB triplet: "
                         "give a 2D ndarray with 1 or 3 rows, or a list of 3 arrays")
    if n == 3 and len({len(row) for row in alm}) > 1:
        raise ValueError(f"map_in: T, E and B must have the same size, not {[len(row) for row in alm]}")
    return integer("nside_in", nside_in), alm_rows("map_in", alm)[0]


def _beams(name: str, beam_window: Any, fwhm: float, lmax: int, is_polarized: bool) -> tuple[Window, ...] | None:
    """Returns the window of T, [lmax + 1], and if is_polarized that of E and B; None if they are 1."""
    if beam_window is None and fwhm == 0:
        return None
    gauss = gauss_beam(fwhm, lmax, pol=True) if beam_window is None else None
    if beam_window is not None:
        if len(beam_window) <= lmax:
            raise ValueError(f"{name}: has the length {len(beam_window)}: must be at least lmax + 1 = {lmax + 1}")
        if is_polarized and np.ndim(beam_window) == 1:
            raise ValueError(f"{name}: is 1D: must be [lmax + 1, 2], with a column for polarization")
        beam_window = np.asarray(beam_window, np.float64)[:lmax + 1]
    windows = [_resolve_beam(beam_window, gauss, polar_component=part > 0) for part in range(1 + is_polarized)]
    return tuple(window for window in windows if window is not None)


def _resolve_beam(beam_window: Any, gauss_bl: Any, polar_component: bool) -> Window | None:
    """Returns the window of T, or with polar_component of E and B, from beam_window or else gauss_bl; else None."""
    if beam_window is None and gauss_bl is None:
        return None
    name, source = ("gauss_bl", gauss_bl) if beam_window is None else ("beam_window", beam_window)
    columns = np.asarray(source, np.float64)
    if columns.ndim == 1 and not polar_component:
        return columns
    if columns.ndim == 1:
        raise ValueError(f"polar_component=True but {name} is 1D: it needs a second column, for the polarization")
    if columns.ndim != 2 or columns.shape[1] <= polar_component:
        raise ValueError(f"{name}: has shape {columns.shape}: must have two columns or more for the polarization")
    return columns[:, int(polar_component)]


def _transfer(lmax: int, divide: list[Any], multiply_by: list[Any], part: int) -> Window:
    """Returns the product of some windows over that of others, [lmax + 1], for T (part 0) or E and B (part 1)."""
    ratio, below = np.ones(lmax + 1), np.ones(lmax + 1)
    for windows in multiply_by:
        ratio = ratio if windows is None else ratio * windows[part]
    for windows in divide:
        below = below if windows is None else below * windows[part]
    with np.errstate(divide="ignore", over="ignore"):
        ratio = np.divide(ratio, below, out=np.zeros(lmax + 1), where=(ratio != 0) | (below != 0))
    if not np.isfinite(ratio).all():
        raise ValueError(f"fwhm_in, beam_window_in: leave nothing at l = {np.argmax(~np.isfinite(ratio))}: choose a "
                         "smaller lmax")
    return ratio


def _apply_harmonic_transfer(alm: Any, fl_T: Window, fl_P: Window | None = None, mmax: int | None = None) -> Any:
    """Returns new alm, or a list of several: alm times fl_T, but E and B of three alm times fl_P if it is given."""
    if np.ndim(alm[0]) == 0:
        return _apply_harmonic_transfer([alm], fl_T, None, mmax)[0]
    changed = []
    for i, row in enumerate(alm):
        result = np.array(row, np.complex128)
        lmax, m = layout_of(result.size, len(fl_T) - 1, mmax)
        multiply(result, fl_P if fl_P is not None and len(alm) == 3 and i > 0 else fl_T, lmax, m)
        changed.append(result)
    return changed

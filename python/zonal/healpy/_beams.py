"""Windows of beams and pixels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import io
from .._arrays import integer
from ..kernel import computed_pixel_window
from ._checked import checked
from ._sizes import check_nside

MAX_NSIDE = 8192
"""The largest nside for which healpy has files. Zonal has no such limit."""

MAX_LMAX = 10_000_000
"""The largest lmax of a beam: far beyond what a transform reaches."""

Windows = tuple[NDArray[np.float64], NDArray[np.float64]]

_FWHM_OF_SIGMA = float(np.sqrt(8 * np.log(2)))


def _require_width(name: str, width: float, most: float) -> None:
    """Refuses widths that no beam has, and most of those that were meant in degrees."""
    if not 0 <= width <= most * (1 + 1e-12):
        raise ValueError(f"{name} = {width:g} rad ({np.degrees(width):g} deg): must be from 0 to {most:g} rad "
                         f"({np.degrees(most):g} deg); np.radians turns degrees into radians")


@checked
def gauss_beam(fwhm: float, lmax: int = 512, pol: bool = False) -> NDArray[np.float64]:
    """Returns the window of a Gaussian, [lmax + 1]; with pol the windows of T, E, B and TE, [lmax + 1, 4].

    fwhm: full width at half maximum, rad, from 0 to pi. b_l = exp(-(l (l + 1) - s) sigma^2 / 2) for all l
    from 0 on, with s = 0 for T, 4 for E and B, and 2 for TE.
    """
    _require_width("fwhm", fwhm, np.pi)
    sigma = fwhm / _FWHM_OF_SIGMA
    if integer("lmax", lmax) > MAX_LMAX:
        raise ValueError(f"lmax = {lmax}: must be at most {MAX_LMAX}")
    window = _gaussian(sigma, lmax)
    if pol:
        window = window[:, None] * np.exp(0.5 * sigma**2 * np.array([0, _OF_SPIN_2, _OF_SPIN_2, _OF_SPIN_2 / 2]))
    return window


# Challinor et al. (2000): spin 2 adds spin^2 sigma^2 / 2 to the exponent.
_OF_SPIN_2 = 4


def _gaussian(sigma: float, lmax: int) -> NDArray[np.float64]:
    l = np.arange(lmax + 1.0)
    window: NDArray[np.float64] = np.exp(-0.5 * l * (l + 1) * sigma**2)
    return window


def beam_windows(lmax: int, fwhm: float, sigma: float | None, beam_window: Any) -> Windows | None:
    """Returns the windows, [lmax + 1], for fields of spin 0 and of spin 2, or None if they are 1."""
    if beam_window is not None:
        window = np.asarray(beam_window, np.float64)
        if window.ndim != 1:
            raise ValueError(f"beam_window: has shape {window.shape}: must be [lmax + 1]")
        padded = np.zeros(lmax + 1)
        padded[:window.size] = window[:lmax + 1]
        return padded, padded
    if sigma is not None:
        _require_width("sigma", sigma, np.pi / _FWHM_OF_SIGMA)
    width = fwhm if sigma is None else sigma * _FWHM_OF_SIGMA
    if width == 0:
        return None
    _require_width("fwhm", width, np.pi)
    beam = _gaussian(width / _FWHM_OF_SIGMA, lmax)
    return beam, beam * np.exp(0.5 * (width / _FWHM_OF_SIGMA)**2 * _OF_SPIN_2)


@checked
def beam2bl(beam: Any, theta: Any, lmax: int) -> NDArray[np.float64]:
    """Returns b_l = 2 pi int beam(theta) P_l(cos theta) sin theta d theta, [lmax + 1], by the trapezoidal rule.

    beam: the profile, [n]. theta: the angles at which it is given, [n], rad, ascending or descending.
    """
    beam, theta = np.asarray(beam, np.float64), np.asarray(theta, np.float64)
    if beam.shape != theta.shape or beam.ndim != 1:
        raise ValueError(f"beam and theta: have shapes {beam.shape} and {theta.shape}: must both be [n]")
    order = np.argsort(theta, kind="stable")
    beam, theta = beam[order], theta[order]
    steps = np.diff(theta, prepend=theta[:1], append=theta[-1:])
    weights = np.pi * (steps[1:] + steps[:-1]) * beam * np.sin(theta)
    return np.array([weights @ values for values in _legendre(np.cos(theta), integer("lmax", lmax))])


def bl2beam(bl: Any, theta: Any) -> NDArray[np.float64]:
    """Returns the profile sum_l (2l + 1) / (4 pi) b_l P_l(cos theta) of a window at theta, rad, [...]."""
    window, angles = np.asarray(bl, np.float64), np.asarray(theta, np.float64)
    if window.ndim != 1:
        raise ValueError(f"bl: has shape {window.shape}: must be [lmax + 1]")
    profile = np.zeros(angles.shape)
    for l, values in enumerate(_legendre(np.cos(angles), window.size - 1)):
        profile += (2 * l + 1) / (4 * np.pi) * window[l] * values
    return profile


def _legendre(x: NDArray[np.float64], lmax: int) -> Any:
    """Yields P_0(x) to P_lmax(x)."""
    before, now = np.zeros_like(x), np.ones_like(x)
    for l in range(lmax + 1):
        yield now
        before, now = now, ((2 * l + 1) * x * now - l * before) / (l + 1)


@checked
def blm_gauss(fwhm: float, lmax: int, pol: bool = False) -> NDArray[np.complex128]:
    """Returns alm of a Gaussian beam at the north pole: [1, lmax + 1] with mmax = 0; with pol T, E, B up to mmax = 2.

    T has the beam of gauss_beam. E and B have a beam that is linearly polarised along the meridian of longitude 0.
    """
    if lmax < (2 if pol else 0):
        raise ValueError(f"lmax = {lmax}: must be {2 if pol else 0} or more")
    l = np.arange(lmax + 1.0)
    beam = np.sqrt((2 * l + 1) / (4 * np.pi)) * gauss_beam(fwhm, lmax)
    if not pol:
        return beam[None].astype(np.complex128)
    blm = np.zeros((3, 3 * lmax), np.complex128)
    # Q + iU has the power of T. Half of the power is E and half is B, and half of each is at m = -2.
    polarised = beam[2:] / np.sqrt(8)
    blm[0, :lmax + 1] = beam
    blm[1, 2 * lmax + 1:] = polarised
    blm[2, 2 * lmax + 1:] = 1j * polarised
    return blm


@checked
def effective_resolution_fwhm(nside: Any, arcmin: bool = False) -> Any:
    """Returns the width of a Gaussian beam that suits an nside: 160 arcmin times 64 / nside (Planck 2015 results X).

    The width is in rad, or in arcmin with arcmin = True.
    """
    check_nside(nside)
    width = 160.0 * 64 / np.float64(nside)
    return width if arcmin else np.radians(width / 60)


@checked
def pixwin(nside: int, pol: bool = False, lmax: int | None = None,
           datapath: str | os.PathLike[str] | None = None) -> Any:
    """Returns the pixel window, [lmax + 1]; with pol a pair, the window of T and that of E and B.

    A window is the rms over all pixels. It is computed, for any nside.

    lmax: at most 4 nside, by default 3 nside - 1. datapath: a folder from which HEALPix's file pixel_window_n*.fits is
    read instead; the file may be in its subfolder pixel_window_functions.
    """
    check_nside(nside)
    nside = integer("nside", nside)
    lmax = 3 * nside - 1 if lmax is None else integer("lmax", lmax)
    if datapath is None:
        windows = computed_pixel_window(nside, lmax)
    else:
        read = io.read_beam(_pixel_window_file(os.fspath(datapath), nside), pixel_window=True)
        windows = read[0, :lmax + 1], read[1, :lmax + 1]
        if len(windows[0]) <= lmax:
            raise ValueError(f"lmax = {lmax}: the file of nside = {nside} ends at {len(windows[0]) - 1}")
    return (np.array(windows[0]), np.array(windows[1])) if pol else np.array(windows[0])


def _pixel_window_file(folder: str, nside: int) -> str:
    name = f"pixel_window_n{nside:04d}.fits"
    inner = os.path.join(folder, "pixel_window_functions", name)
    return inner if os.path.exists(inner) else os.path.join(folder, name)


@checked
def check_max_nside(nside: int) -> int:
    """Returns 0 for an nside up to MAX_NSIDE, else raises ValueError. No function of Zonal has this limit."""
    if nside > MAX_NSIDE:
        raise ValueError(f"nside = {nside}: must be at most {MAX_NSIDE}")
    return 0


__all__ = ["MAX_NSIDE", "beam2bl", "bl2beam", "blm_gauss", "check_max_nside", "effective_resolution_fwhm", "gauss_beam",
           "pixwin"]

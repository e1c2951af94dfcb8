"""Coefficients: their layout, products with functions of l, spectra and rotations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import complex_input, copied, integer
from .._threads import resolve
from ..coefficients import resize_alm as native_resize_alm
from ..rotation import Rotation
from ..rotation import rotate_alm as native_rotate_alm
from ._beams import beam_windows
from ._checked import checked
from .cookbook import is_seq_of_seq
from .utils.deprecation import note_verbose


class Alm:
    """The place of a_lm in an array of coefficients with m >= 0: all l for m = 0, then all l for m = 1, and so on."""

    @staticmethod
    @checked
    def getsize(lmax: int, mmax: int | None = None) -> int:
        """Returns the number of coefficients. mmax: lmax by default, and if it is not from 0 to lmax."""
        lmax = integer("lmax", lmax)
        mmax = lmax if mmax is None or not 0 <= mmax <= lmax else integer("mmax", mmax)
        return (mmax + 1) * (2 * lmax + 2 - mmax) // 2

    @staticmethod
    def getidx(lmax: Any, l: Any, m: Any) -> Any:
        """Returns the place of a_lm; l, m: integers or arrays. Raises ValueError unless 0 <= m <= l <= lmax."""
        if isinstance(l, int) and isinstance(m, int):
            outside = not 0 <= m <= l <= lmax
        else:
            l, m = np.asarray(l), np.asarray(m)
            outside = bool(((m < 0) | (l < m) | (l > lmax)).any())
        if outside:
            raise ValueError(f"l = {l}, m = {m}: must be 0 <= m <= l <= lmax = {lmax}")
        return m * (2 * lmax + 1 - m) // 2 + l

    @staticmethod
    @checked
    def getlm(lmax: int, i: Any = None) -> tuple[Any, Any]:
        """Returns l and m of the places i, by default of all with mmax = lmax.

        Raises AssertionError, as healpy does, for places that such an array does not have.
        """
        if i is None:
            lengths = np.arange(lmax + 1, 0, -1)
            m = np.repeat(np.arange(lmax + 1), lengths)
            return np.arange(m.size) - m * (2 * lmax + 1 - m) // 2, m
        place = np.asarray(i)
        n = Alm.getsize(lmax)
        if not ((place >= 0) & (place < n)).all():
            raise AssertionError(f"i = {i}: must be from 0 to {n - 1} for lmax = {lmax}")
        starts = np.arange(lmax + 1) * (2 * lmax + 1 - np.arange(lmax + 1)) // 2 + np.arange(lmax + 1)
        m = np.searchsorted(starts, place, side="right") - 1
        return (place - m * (2 * lmax + 1 - m) // 2)[()], m[()]

    @staticmethod
    @checked
    def getlmax(s: int, mmax: int | None = None) -> int:
        """Returns the lmax of s coefficients up to mmax, by default lmax; -1 if there is none."""
        if mmax is None or mmax < 0:
            return _lmax_of(s)
        lmax = (2 * s + mmax * mmax - mmax - 2) / (2 * mmax + 2)
        return int(lmax) if lmax == math.floor(lmax) else -1


def _lmax_of(n_alm: int) -> int:
    """Returns the lmax = mmax of n_alm coefficients; -1 if there is none."""
    lmax = (math.isqrt(1 + 8 * n_alm) - 3) // 2
    return lmax if (lmax + 1) * (lmax + 2) == 2 * n_alm else -1


def layout_of(n_alm: int, lmax: int | None, mmax: int | None) -> tuple[int, int]:
    """Returns lmax and mmax of n_alm coefficients. Raises TypeError, as healpy does, if they do not fit."""
    if lmax is None and mmax is None:  # the usual case
        lmax = _lmax_of(n_alm)
        if lmax >= 0:
            return lmax, lmax
    if lmax is None or lmax < 0:
        lmax = Alm.getlmax(n_alm, mmax)
    lmax = integer("lmax", lmax)
    mmax = lmax if mmax is None or mmax < 0 else integer("mmax", mmax)
    if lmax < 0 or mmax > lmax or Alm.getsize(lmax, mmax) != n_alm:
        raise TypeError(f"alm: has {n_alm} coefficients, which do not fit lmax = {lmax} and mmax = {mmax}; "
                        "give both if they differ")
    return lmax, mmax


def alm_rows(name: str, alms: Any) -> tuple[NDArray[np.complex128], bool]:
    """Returns [row, n_alm], and whether one array, [n_alm], was given. Raises ValueError if rows differ in length."""
    single = not is_seq_of_seq(alms)
    if not single and len({len(row) for row in alms}) > 1:
        raise ValueError(f"{name}: has rows of different lengths, {sorted({len(row) for row in alms})}: must be alike")
    rows = np.atleast_2d(complex_input(name, alms)).astype(np.complex128, copy=False)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"{name}: has shape {np.shape(alms)}: must be [n_alm], or a sequence of such arrays")
    return rows, single


@checked
def almxfl(alm: Any, fl: Any, mmax: int | None = None, inplace: bool = False) -> NDArray[Any]:
    """Returns alm, [n_alm], times f_l, real or complex; f_l is 0 beyond the end of fl.

    inplace: changes and returns alm itself if it is a contiguous array of complex128; otherwise changes a copy.
    """
    if np.shape(alm) == (0,):  # as healpy
        return array_to_change(alm, inplace)
    rows, single = alm_rows("alm", alm)
    if not single:
        raise ValueError(f"alm: has shape {np.shape(alm)}: must be [n_alm]")
    result = array_to_change(alm, inplace)
    lmax, mmax = layout_of(result.size, None, mmax)
    factors = np.zeros(lmax + 1, np.result_type(np.asarray(fl).dtype, np.float64))
    given = np.ravel(fl)[:lmax + 1]
    factors[:given.size] = given
    multiply(result, factors, lmax, mmax)
    return result


def multiply(alm: NDArray[np.complex128], factors: NDArray[Any], lmax: int, mmax: int) -> None:
    """Multiplies alm, [n_alm], by factors, [lmax + 1], in place."""
    if factors.dtype.kind != "c":
        _core.multiply_alm(lmax, mmax, factors, alm)
        return
    start = 0
    for m in range(mmax + 1):
        alm[start:start + lmax + 1 - m] *= factors[m:]
        start += lmax + 1 - m


def array_to_change(alm: Any, inplace: bool) -> NDArray[np.complex128]:
    """Returns alm itself if it may be changed, else a copy."""
    own = inplace and isinstance(alm, np.ndarray) and alm.dtype == np.complex128 and alm.flags.c_contiguous
    return alm if own else copied(complex_input("alm", alm), np.complex128)


@checked
def smoothalm(alms: Any, fwhm: float = 0.0, sigma: float | None = None, beam_window: Any = None, pol: bool = True,
              mmax: int | None = None, verbose: Any = None, inplace: bool = True) -> Any:
    """Returns alm, or a sequence of them, smoothed by a Gaussian of fwhm or sigma (rad), or by beam_window.

    pol: three alm are T, E and B, and E and B get the Gaussian of spin 2. inplace: changes alm that are contiguous
    arrays of complex128, and copies of all others. beam_window: counts as 0 beyond its end.
    """
    note_verbose(verbose)
    single = not is_seq_of_seq(alms)
    rows = [alms] if single else alms
    layouts = [layout_of(len(row), None, mmax) for row in rows]
    windows = beam_windows(max(lmax for lmax, _ in layouts), fwhm, sigma, beam_window)
    changed = [array_to_change(row, inplace) for row in rows]
    for i, (row, (lmax, m)) in enumerate(zip(changed, layouts)):
        if windows is not None:
            multiply(row, windows[1 if pol and len(rows) == 3 and i > 0 else 0][:lmax + 1], lmax, m)
    if single:
        return changed[0]
    kept = isinstance(alms, (list, tuple)) and all(new is old for new, old in zip(changed, alms))
    return alms if kept else np.array(changed)


@checked
def alm2cl(alms1: Any, alms2: Any = None, lmax: int | None = None, mmax: int | None = None,
           lmax_out: int | None = None, nspec: int | None = None) -> NDArray[np.float64]:
    """Returns C_l, [lmax + 1], of alm, or [n (n + 1) / 2, lmax + 1] of n alm, by diagonals: TT, EE, BB, TE, EB, TB.

    alms2: gives cross spectra; XY is that of X in alms1 and Y in alms2. lmax, mmax: of the alm. lmax_out: where the
    spectra end, at most lmax. nspec: the number of spectra to return.
    """
    first, single = alm_rows("alms1", alms1)
    second = first if alms2 is None else alm_rows("alms2", alms2)[0]
    if second.shape != first.shape:
        raise ValueError(f"alms2: has shape {second.shape}: must be that of alms1, {first.shape}")
    lmax, mmax = layout_of(first.shape[1], lmax, mmax)
    end = lmax if lmax_out is None or not 0 <= lmax_out <= lmax else integer("lmax_out", lmax_out)
    if single and nspec is not None:
        raise ValueError(f"nspec = {nspec}: is for several alm; one alm has one spectrum")
    n = len(first)
    pairs = [(i, i + apart) for apart in range(n) for i in range(n - apart)]
    pairs = pairs if nspec is None else pairs[:nspec]
    cl = np.array([_core.spectra(lmax, mmax, first[i:i + 1], second[j:j + 1])["TT"][:end + 1] for i, j in pairs])
    return cl[0] if single else cl


@checked
def resize_alm(alm: Any, lmax: int, mmax: int, lmax_out: int, mmax_out: int) -> Any:
    """Returns alm, or a list of them, up to another lmax and mmax. Missing coefficients are 0, and types are kept."""
    if is_seq_of_seq(alm):
        return [resize_alm(row, lmax, mmax, lmax_out, mmax_out) for row in alm]
    values = np.asarray(alm)
    resized = native_resize_alm(complex_input("alm", values), lmax_out, mmax_out, lmax=lmax, mmax=mmax)
    if values.dtype.kind == "c":
        return resized.astype(values.dtype, copy=False)
    return resized.real.astype(values.dtype)


@checked
def rotate_alm(alm: Any, psi: float = 0.0, theta: float = 0.0, phi: float = 0.0, matrix: Any = None,
               lmax: int | None = None, mmax: int | None = None) -> None:
    """Rotates alm, [n_alm], [k, n_alm] or a list of arrays, in place.

    The rotation turns by psi about the z-axis, then by theta about the y-axis, then by phi about the z-axis (rad; the
    axes stay fixed), or is given by a matrix, [3, 3]. mmax must be lmax. Raises ValueError unless the arrays are
    complex128.
    """
    rotation: Rotation = (psi, theta, phi) if matrix is None else np.asarray(matrix, np.float64)
    for row in alm if is_seq_of_seq(alm) else [alm]:
        if not isinstance(row, np.ndarray) or row.dtype != np.complex128:
            raise ValueError("alm: must be an array of complex128, which is rotated in place")
        found, m = layout_of(len(row), lmax, mmax)
        if m != found:
            raise ValueError(f"mmax = {m}: must be lmax = {found} (see resize_alm, or zonal.rotate_alm, which "
                             "gives alm of other orders)")
        if row.flags.c_contiguous:
            native_rotate_alm(row, rotation, found, inplace=True, threads=resolve(None))
        else:
            row[:] = native_rotate_alm(row, rotation, found, threads=resolve(None))


__all__ = ["Alm", "alm2cl", "almxfl", "resize_alm", "rotate_alm", "smoothalm"]

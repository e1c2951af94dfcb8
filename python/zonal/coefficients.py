"""Arithmetic of coefficients, and the monopole and dipole of a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import complex_input, copied, sequence, vector
from ._checked import arguments_as, checked
from ._kinds import Maps
from ._maps import MapRows, weights_of
from ._units import quantity_unit, with_unit
from .grid import Grid
from .sht import alm_size
from .skies import lmax_of
from .sky_map import Map


@checked
def almxfl(alm: ArrayLike, window: ArrayLike, lmax: int | None = None, mmax: int | None = None) -> NDArray[Any]:
    """Returns alm, [n_alm] or [row, n_alm], times window_l, [lmax + 1] or longer.

    lmax: by default it follows from the number of coefficients, with mmax = lmax. Raises ValueError if the window is
    shorter.

    >>> zonal.almxfl(np.ones(3), [1, 2]).real.tolist()
    [1.0, 2.0, 2.0]
    """
    result = copied(_rows("alm", alm))
    lmax = lmax_of(result.shape[-1], lmax, mmax)
    for row in np.atleast_2d(result):
        _core.multiply_alm(lmax, lmax if mmax is None else mmax, vector("window", window), row)
    return with_unit(result, quantity_unit(alm))


@checked
def resize_alm(alm: ArrayLike, lmax_out: int, mmax_out: int | None = None, *, lmax: int | None = None,
               mmax: int | None = None) -> NDArray[Any]:
    """Returns alm, [n_alm] or [row, n_alm], up to another lmax and mmax; coefficients that alm does not have are 0.

    mmax_out: by default lmax_out. lmax, mmax: those of alm; by default they follow from the number of coefficients.

    >>> zonal.resize_alm(np.arange(6), 1).real.tolist()
    [0.0, 1.0, 3.0]
    """
    rows = _rows("alm", alm)
    lmax = lmax_of(rows.shape[-1], lmax, mmax)
    with arguments_as({"lmax": "lmax_out", "mmax": "mmax_out"}):
        n_alm = alm_size(lmax_out, mmax_out)
    result = np.empty((*rows.shape[:-1], n_alm), rows.dtype)
    for row, out in zip(np.atleast_2d(rows), np.atleast_2d(result)):
        _core.copy_alm(lmax, lmax if mmax is None else mmax, row, lmax_out, lmax_out if mmax_out is None else mmax_out,
                       out)
    return with_unit(result, quantity_unit(alm))


@checked
def wavelet_transform(alm: ArrayLike, windows: Sequence[ArrayLike], lmax: int | None = None,
                      mmax: int | None = None) -> NDArray[np.complex128]:
    """Splits alm, [n_alm], into scales, [scale, n_alm]: alm times each window, [lmax + 1] or longer.

    windows: from `needlet_windows` or `scale_discretised_windows`, or your own. lmax, mmax: those of alm; by default
    they follow from the number of coefficients. Raises ValueError if a window is shorter.

    >>> alm = zonal.synalm(np.ones(33), seed=1)
    >>> windows = zonal.needlet_windows(2.0, 32)
    >>> scales = zonal.wavelet_transform(alm, windows)
    >>> scales.shape == (len(windows), len(alm))
    True
    >>> bool(np.allclose(zonal.inverse_wavelet_transform(scales, windows), alm))
    True
    """
    rows = np.asarray(complex_input("alm", alm), np.complex128, order="C")
    if rows.ndim != 1:
        raise ValueError(f"alm: has shape {rows.shape}: must be [n_alm]")
    lmax = lmax_of(len(rows), lmax, mmax)
    factors = _windows(windows)
    scales = np.empty((len(factors), len(rows)), np.complex128)
    with arguments_as({"window": "windows"}):
        _core.wavelet_transform(lmax, lmax if mmax is None else mmax, factors, rows, scales)
    return with_unit(scales, quantity_unit(alm))


@checked
def inverse_wavelet_transform(scales: ArrayLike, windows: Sequence[ArrayLike], lmax: int | None = None,
                              mmax: int | None = None) -> NDArray[np.complex128]:
    """Returns the sum of scales, [scale, n_alm], each times its window.

    If the squares of the windows sum to 1, this is the inverse of `wavelet_transform`.
    """
    rows = np.asarray(complex_input("scales", scales), np.complex128, order="C")
    if rows.ndim != 2:
        raise ValueError(f"scales: has shape {rows.shape}: must be [scale, n_alm]")
    lmax = lmax_of(rows.shape[1], lmax, mmax, "scales")
    factors = _windows(windows)
    if len(factors) != len(rows):
        raise ValueError(f"scales, windows: have {len(rows)} and {len(factors)} parts: must have as many")
    alm = np.empty(rows.shape[1], np.complex128)
    with arguments_as({"window": "windows"}):
        _core.inverse_wavelet_transform(lmax, lmax if mmax is None else mmax, factors, rows, alm)
    return with_unit(alm, quantity_unit(scales))


def _windows(windows: Sequence[ArrayLike]) -> list[list[float]]:
    parts = [vector(f"windows[{i}]", window).tolist() for i, window in enumerate(sequence("windows", windows))]
    if not parts:
        raise ValueError("windows: has none: must have one for each scale")
    return parts


@checked
def fit_dipole(map: ArrayLike, *, mask: ArrayLike | None = None, nest: bool | None = None,
               grid: Grid | None = None) -> tuple[float, NDArray[np.float64]]:
    """Returns the monopole and the dipole vector, [3], for which monopole + dipole . n fits a map best.

    map: [pixel]; those of a Quantity are Quantities, those of a `zonal.Map` numbers in its unit. mask: [pixel], >= 0; each pixel is weighted by its area times the mask. Pixels that are UNSEEN or not
    finite do not count. Raises ValueError if the pixels do not determine the fit.

    >>> monopole, dipole = zonal.fit_dipole(np.full(12, 2.0))
    >>> round(monopole, 9)
    2.0
    """
    given = _one_map(map, grid, nest)
    monopole, dipole = _core.fit_monopole_dipole(given.grid._grid, np.ascontiguousarray(given.rows[0], np.float64),
                                                 weights_of("mask", mask, given.rows.shape[1], given.nest, coordinates=given.kind.coordinates), True)
    return given.kind.numbers(monopole), given.kind.numbers(np.array(dipole))


@overload
def remove_dipole(map: Maps, *, mask: ArrayLike | None = None, monopole_only: bool = False, nest: bool | None = None,
                  grid: Grid | None = None) -> Maps: ...
@overload
def remove_dipole(map: ArrayLike, *, mask: ArrayLike | None = None, monopole_only: bool = False, nest: bool | None = None,
                  grid: Grid | None = None) -> Any: ...
@checked
def remove_dipole(map: ArrayLike, *, mask: ArrayLike | None = None, monopole_only: bool = False,
                  nest: bool | None = None, grid: Grid | None = None) -> Any:
    """Returns a map, [pixel], a `zonal.Map` or a Quantity, without the monopole and dipole of `fit_dipole`, or without the monopole alone.

    They are fitted where the mask is not 0, and subtracted everywhere; UNSEEN pixels stay UNSEEN.
    """
    given = _one_map(map, grid, nest)
    rows = copied(given.rows, np.float64)
    fit = _core.fit_monopole_dipole(given.grid._grid, rows[0], weights_of("mask", mask, rows.shape[1], given.nest, coordinates=given.kind.coordinates),
                                    not monopole_only)
    _core.subtract_monopole_dipole(given.grid._grid, *fit, rows[0])
    return given.give_back(rows, np.empty(rows.shape[1]) if given.nest else rows[0])


def _one_map(map: ArrayLike, grid: Grid | None, nest: bool | None) -> MapRows:
    if isinstance(map, Map) and map.ndim == 2 and len(map) == 1:  # as files of one map have it
        map = map[0]
    given = MapRows(map, grid, nest, False, "map")
    if not given.is_single:
        raise ValueError(f"map: has shape {given.rows.shape}: must be one map, [pixel]")
    return given


def _rows(name: str, alm: ArrayLike) -> NDArray[Any]:
    rows = complex_input(name, alm)
    if rows.ndim not in (1, 2):
        raise ValueError(f"{name}: has shape {rows.shape}: must be [n_alm] or [row, n_alm]")
    return rows


__all__ = ["almxfl", "fit_dipole", "remove_dipole", "resize_alm"]

"""Simulated skies, spectra, rotations, and changes of resolution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import AngleLike, width
from ._arrays import complex_input, doubles, integer, required_finite, shown, spectrum, type_of
from ._checked import Seed, arguments_as, checked, takes_options_of
from ._devices import DeviceLike, resolve_device
from ._kinds import Maps, kind_of, spectra_unit
from ._maps import MapRows, require_same_coordinates, ring_weights_of, weights_of
from ._notes import warn
from ._progress import Progress, reporting
from ._smoothing import choice_of
from ._threads import resolve
from ._units import quantity_unit, with_unit
from .grid import Grid
from .sht import SHT, alm_size, healpix_sht
from .sky_map import Map

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import AnalysisOptions

Spectra = ArrayLike | Mapping[str, ArrayLike]
"""C_l of one field, [lmax + 1], or a mapping of the names TT, EE, BB, TE, TB, EB (each from l = 0 on)."""

_NAMES = ("TT", "EE", "BB", "TE", "TB", "EB")

@checked
def synalm(c_l: Spectra, lmax: int | None = None, mmax: int | None = None, *, seed: Seed, dtype: Any = np.complex128,
           threads: int | None = None) -> NDArray[Any]:
    """Draws Gaussian alm with these spectra, <|a_lm|^2> = C_l: [n_alm], or T, E, B as [3, n_alm] if there is an EE.

    c_l: see Spectra; they must reach lmax, which by default is the last l of them all. Quantities give a Quantity.
    seed: from 0 to 2^64 - 1. A coefficient depends on nothing but seed, l, m and C_l: not on lmax, threads or machine,
    but for the last bits; and T is the same with and without polarisation. dtype: complex128 or complex64.

    Raises ValueError, which names l, for spectra that no sky can have and those that end before lmax.

    >>> alm = zonal.synalm(np.ones(9), seed=1)
    >>> bool(np.allclose(zonal.synalm(np.ones(9), lmax=4, seed=1)[:5], alm[:5]))
    True
    """
    named = named_spectra(c_l)
    if lmax is None:
        lmax = min(len(values) for values in named.values()) - 1
    shape = (3 if "EE" in named else 1, alm_size(lmax, mmax))
    alm = np.empty(shape, type_of("dtype", dtype, np.complex128, np.complex64))
    with arguments_as({"spectra": "c_l"}):
        _core.realize(sky_spectra(named), seed, lmax, lmax if mmax is None else mmax, alm, resolve(threads))
    return with_unit(alm if len(alm) == 3 else alm[0], _unit_of_fields(c_l))


@overload
def synfast(c_l: Spectra, grid: Grid | int, lmax: int | None = None, mmax: int | None = None, *, seed: Seed,
            fwhm: AngleLike | None = None, window: ArrayLike | None = None, dtype: Any = np.float64,
            return_alm: Literal[True], threads: int | None = None, device: DeviceLike = "cpu",
            progress: Progress = False) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def synfast(c_l: Spectra, grid: Grid | int, lmax: int | None = None, mmax: int | None = None, *, seed: Seed,
            fwhm: AngleLike | None = None, window: ArrayLike | None = None, dtype: Any = np.float64,
            return_alm: Literal[False] = False, threads: int | None = None, device: DeviceLike = "cpu",
            progress: Progress = False) -> NDArray[Any]: ...
@checked
def synfast(c_l: Spectra, grid: Grid | int, lmax: int | None = None, mmax: int | None = None, *, seed: Seed,
            fwhm: AngleLike | None = None, window: ArrayLike | None = None, dtype: Any = np.float64,
            return_alm: bool = False, threads: int | None = None, device: DeviceLike = "cpu",
            progress: Progress = False) -> Any:
    """Simulates a Gaussian sky: a map, [n_pixels], or I, Q, U, [3, n_pixels], if there is an EE spectrum.

    c_l: see Spectra; Quantities give Quantities. grid: any Grid, or the nside of HEALPix. lmax: by default 3 nside - 1 on HEALPix, else as far as
    the spectra reach, and never further than that. mmax: by default lmax. seed: see `synalm`.
    fwhm: of a Gaussian beam. window: multiplies the alm, such as `pixel_window`: [lmax + 1] for all, or [2, lmax + 1] for T and for E and
    B, or [3, lmax + 1]. dtype: float64 or float32.
    device: as in `zonal.convolve`. With return_alm it returns the map and the alm that it was made from, windows included.

    >>> sky = zonal.synfast(np.ones(33), 16, seed=3)
    >>> sky.shape
    (3072,)
    """
    nside = grid.nside if isinstance(grid, Grid) else integer("grid", grid)
    if nside is not None and nside < 1:
        raise ValueError(f"grid = {nside}: must be from 1 to 2^29")
    named = named_spectra(c_l)
    if lmax is None:
        lmax = min(len(values) for values in named.values()) - 1
        if nside is not None:
            lmax = min(lmax, 3 * nside - 1)
    complex_type = np.complex128 if type_of("dtype", dtype, np.float64, np.float32) == np.float64 else np.complex64
    alm = synalm(named, lmax, mmax, seed=seed, dtype=complex_type, threads=threads)
    multiply_alm(alm, lmax, fwhm, window, partial(_core.apply_beam, lmax, lmax if mmax is None else mmax))
    sky = alm2map(alm, grid, lmax, mmax, threads=threads, device=device, progress=progress)
    unit = _unit_of_fields(c_l)
    return (with_unit(sky, unit), with_unit(alm, unit)) if return_alm else with_unit(sky, unit)


@checked
def alm2map(alm: ArrayLike, grid: Grid | int, lmax: int | None = None, mmax: int | None = None, *,
            threads: int | None = None, device: DeviceLike = "cpu", progress: Progress = False) -> NDArray[Any]:
    """Returns the map of alm, [n_alm], or I, Q, U of T, E, B, [3, n_alm]. For many maps of one kind use zonal.SHT.
    A Quantity gives a Quantity.

    grid: any Grid, or the nside of HEALPix. lmax: by default what the number of coefficients tells, with mmax = lmax.
    device: as in `zonal.convolve`.
    """
    kind, device = kind_of(alm), resolve_device(device)
    alm = complex_input("alm", alm)
    if alm.ndim not in (1, 2):
        raise ValueError(f"alm: has shape {alm.shape}: must be [n_alm], or [3, n_alm] for T, E and B")
    lmax = lmax_of(alm.shape[-1], lmax, mmax)
    scalar = _sht(grid, lmax, mmax, 0, threads, device)
    if alm.ndim == 1:
        return kind.numbers(scalar.synthesize(alm, progress=progress))
    if alm.shape[:-1] != (3,):
        raise ValueError(f"alm: has shape {alm.shape}: must be [n_alm], or [3, n_alm] for T, E and B")
    maps = np.zeros((3, scalar.grid.n_pixels), np.float64 if alm.dtype == np.complex128 else np.float32)
    scalar.synthesize(alm[0], maps[0], progress=progress)
    _sht(grid, lmax, mmax, 2, threads, device).synthesize(alm[1:], maps[1:], progress=progress)
    return kind.numbers(maps)


@checked
def map2alm(maps: ArrayLike, lmax: int | None = None, mmax: int | None = None, *, grid: Grid | None = None,
            nest: bool | None = None, pol: bool | None = None, iterations: int | None = None, tolerance: float | None = None,
            ring_weights: ArrayLike | None = None, pixel_weights: ArrayLike | None = None,
            mask: ArrayLike | None = None, mask_mode: Literal["zero", "error"] = "zero",
            remove: Literal["monopole", "dipole"] | None = None, threads: int | None = None, device: DeviceLike = "cpu",
            progress: Progress = False) -> NDArray[np.complex128]:
    """Returns the alm of maps, [n_alm] or [row, n_alm]; those of T, E, B (or E, B) for pol=True.

    maps: [pixel], or [row, pixel]; with pol=True the rows are I, Q, U or Q, U. The alm of a Quantity are a Quantity;
    those of a `zonal.Map` are a plain array in its unit, and pol is by default what it says. UNSEEN pixels count as masked.
    lmax: by default 3 nside - 1, which is also the most. grid, nest, mask, device: as in `zonal.convolve`.
    iterations: Jacobi iterations, as healpy's iter, by default 3; tolerance: conjugate gradients instead, as in SHT.analyze.
    mask_mode: masked pixels count as 0 ("zero") or are refused ("error"). remove: the monopole, or it and the dipole,
    are fitted outside the mask and subtracted from I before the analysis.

    >>> alm = zonal.synalm(np.ones(17), seed=1)
    >>> bool(np.allclose(zonal.map2alm(zonal.alm2map(alm, 16), 16), alm, atol=1e-4))
    True
    """
    given = MapRows(maps, grid, nest, pol)
    n_pixels = given.rows.shape[1]
    for name, value in (("lmax", lmax), ("mmax", mmax)):
        if value is not None and value < 0:
            raise ValueError(f"{name} = {value}: must be 0 or more")
    how = analysis_options(iterations, tolerance)
    how.lmax = _core.default_smoothing_lmax(given.grid._grid) if lmax is None else lmax
    how.mmax = how.lmax if mmax is None else mmax
    how.ring_weights = ring_weights_of(ring_weights)
    how.mask_mode = choice_of("mask_mode", mask_mode, _core.MaskMode)
    how.remove = None if remove is None else choice_of("remove", remove, _core.FitTerms)
    how.threads, how.device = resolve(threads), resolve_device(device)
    rows = _core.Maps(given.rows.astype(np.float64, copy=False), given.pixels, given.fields)
    weights = weights_of("mask", mask, n_pixels, given.nest, coordinates=given.kind.coordinates)
    required_finite("maps", given.rows, weights)
    with reporting(progress, "analysis") as report:
        areas = weights_of("pixel_weights", pixel_weights, n_pixels, given.nest, coordinates=given.kind.coordinates)
        alm, notes = _core.analyze_maps(rows, how, weights, areas, report)
    warn(notes)
    found: NDArray[np.complex128] = alm
    return given.kind.numbers(found[0] if given.is_single else found)


def analysis_options(iterations: int | None, tolerance: float | None) -> Any:
    """How maps are analysed: by 3 iterations, unless others or a tolerance are given."""
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance = {tolerance}: must be above 0")
    if tolerance and iterations is not None:
        raise ValueError("tolerance, iterations: exclude each other")
    how = _core.MapAnalysisOptions()
    how.iterations = 0 if tolerance else 3 if iterations is None else integer("iterations", iterations)
    how.tolerance = tolerance or 0.0
    return how


@checked
def alm2cl(alm: ArrayLike, alm2: ArrayLike | None = None, lmax: int | None = None, mmax: int | None = None) -> Any:
    """Returns C_l = 1/(2l+1) sum_m a_lm conj(b_lm), [lmax + 1], of alm [n_alm] with themselves or with alm2.

    For [2, n_alm] (E, B) and [3, n_alm] (T, E, B) it returns a dict: TT, EE, BB, TE, TB, EB, and with alm2 ET, BT, BE
    too, of which XY is the X of the first with the Y of the second. The spectra of Quantities have the unit squared.

    >>> zonal.alm2cl(np.array([1, 2, 3j])).tolist()
    [1.0, 7.333333333333333]
    """
    first = complex_input("alm", alm)
    second = None if alm2 is None else complex_input("alm2", alm2)
    if second is not None:
        both = np.result_type(first, second)
        first, second = first.astype(both, copy=False), second.astype(both, copy=False)
    if second is not None and second.shape != first.shape:
        raise ValueError(f"alm2: has shape {second.shape}: must be that of alm, {first.shape}")
    if first.ndim not in (1, 2):
        raise ValueError(f"alm: has shape {first.shape}: must be [n_alm], [2, n_alm] or [3, n_alm]")
    lmax = lmax_of(first.shape[-1], lmax, mmax)
    spectra = _core.spectra(lmax, lmax if mmax is None else mmax, np.atleast_2d(first),
                            None if second is None else np.atleast_2d(second))
    return with_unit(spectra["TT"] if first.ndim == 1 else spectra, spectra_unit(alm, alm2))


@takes_options_of(map2alm)
@checked
def anafast(maps: ArrayLike, maps2: ArrayLike | None = None, lmax: int | None = None, mmax: int | None = None,
            **options: Unpack[AnalysisOptions]) -> Any:
    """Returns the power spectrum of a map, [lmax + 1], or the cross spectrum of two; for pol=True a dict of all spectra
    (see `alm2cl`). Nothing is divided by the part of the sky that a mask leaves.

    maps, maps2: [pixel], or I, Q, U (or Q, U) with pol=True. The options are those of `map2alm`. The spectra of
    Quantities have the unit squared; those of `zonal.Map` are plain arrays in its unit squared.

    >>> sky = zonal.synfast(np.ones(33), 16, seed=3)
    >>> cl = zonal.anafast(sky, lmax=32)
    >>> bool(abs(cl.mean() - 1) < 0.2)
    True
    """
    kinds = kind_of(maps), kind_of(maps2)
    if any(kind.map is not None for kind in kinds) and any(kind.unit is not None for kind in kinds):
        raise TypeError("maps, maps2: are a zonal.Map and a Quantity: give two of one kind")
    if isinstance(maps, Map) and options.get("pol") is None:
        options["pol"] = maps.pol
    if not options.get("pol"):
        maps, maps2 = _without_rows(maps), _without_rows(maps2)
    if np.ndim(maps) != (2 if options.get("pol") else 1):
        raise ValueError(f"maps: has shape {np.shape(maps)}: must be one map [pixel], or I, Q, U with pol = True")
    first = map2alm(maps, lmax, mmax, **options)
    second = None
    if maps2 is not None:
        MapRows(maps2, options.get("grid"), options.get("nest"), options.get("pol"), "maps2")  # errors say this name
        require_same_coordinates("maps2", kinds[1].coordinates, kinds[0].coordinates, "those of maps")
        second = map2alm(maps2, lmax, mmax, **options)
    if lmax is None:
        grid = maps.grid if isinstance(maps, Map) else options.get("grid") or Grid.healpix(round((np.shape(maps)[-1] / 12) ** 0.5))
        lmax = _core.default_smoothing_lmax(grid._grid)
    if second is not None and second.shape != first.shape:
        raise ValueError(f"maps2: its alm have shape {second.shape}: must be that of maps, {first.shape}; give lmax if their "
                         "nside differ")
    return alm2cl(first, second, lmax, mmax)


def _without_rows(maps: Any) -> Any:
    """A single row, as files of one map have it, as one map."""
    return maps[0] if np.ndim(maps) == 2 and len(maps) == 1 else maps


@overload
def udgrade(maps: Maps, nside: int, *, nest: bool | None = None, combine: Literal["mean", "sum"] = "mean",
            pessimistic: bool = False) -> Maps: ...
@overload
def udgrade(maps: ArrayLike, nside: int, *, nest: bool | None = None, combine: Literal["mean", "sum"] = "mean",
            pessimistic: bool = False) -> Any: ...
@checked
def udgrade(maps: ArrayLike, nside: int, *, nest: bool | None = None, combine: Literal["mean", "sum"] = "mean",
            pessimistic: bool = False) -> Any:
    """Changes the nside of HEALPix maps, [pixel] or [row, pixel], and returns the same kind: an array, a `zonal.Map` or
    a Quantity. Both nside are powers of 2.

    combine: a coarser pixel is the mean of its good ones, or their sum, for counts; a finer one repeats the coarse one,
    or shares it equally. pessimistic: a pixel is UNSEEN when any pixel in it is, and not only when all are. Q and U
    are combined as they stand, without parallel transport.

    >>> float(zonal.udgrade(np.arange(12.0), 2, combine="sum").sum())
    66.0
    """
    given = MapRows(maps, None, nest, False)
    if not isinstance(combine, str) or combine not in ("mean", "sum"):
        raise ValueError(f"combine = {shown(combine)}: must be 'mean' or 'sum'")
    grid = Grid.healpix(nside)
    result, written = given.new_output(None, grid)
    for row, out in zip(given.rows, written):
        made = out if out.dtype == np.float64 else np.empty(grid.n_pixels)
        _core.udgrade(np.ascontiguousarray(row, np.float64), made, combine == "sum", pessimistic)
        if made is not out:
            out[...] = made
    return given.give_back(written, result)


def _sht(grid: Grid | int, lmax: int, mmax: int | None, spin: int, threads: int | None, device: str) -> SHT:
    if isinstance(grid, Grid):
        return SHT(grid, lmax, mmax, spin, threads, device=device)
    with arguments_as({"nside": "grid"}):
        return healpix_sht(integer("grid", grid), lmax, mmax, spin, threads, device)


def lmax_of(n_alm: int, lmax: int | None, mmax: int | None, name: str = "alm") -> int:
    """lmax of an array of coefficients where it is not given: that of their number for this mmax, by default lmax."""
    if n_alm == 0:
        raise ValueError(f"{name}: is empty")
    if lmax is None:
        if mmax is None:
            lmax = round((8 * n_alm + 1) ** 0.5 - 3) // 2
        else:
            lmax = (n_alm + mmax * (mmax + 1) // 2) // (mmax + 1) - 1 if mmax >= 0 else 0
    if n_alm != alm_size(lmax, mmax):
        is_map = n_alm == 12 * round((n_alm / 12) ** 0.5) ** 2
        raise ValueError(f"{name}: has {n_alm} coefficients, which are not those of lmax = {lmax} and mmax = "
                         f"{lmax if mmax is None else mmax}{'; a map has as many pixels: map2alm finds its alm' if is_map else ''}")
    return lmax


def named_spectra(c_l: Spectra) -> dict[str, NDArray[np.float64]]:
    named = c_l if isinstance(c_l, Mapping) else {"TT": c_l}
    if not isinstance(c_l, Mapping) and np.ndim(c_l) == 2:
        raise ValueError(f"c_l: has shape {np.shape(c_l)}: must be [lmax + 1], or a mapping of names, such as "
                         "{'TT': c_l[0], 'EE': c_l[1], 'BB': c_l[2], 'TE': c_l[3]}")
    unknown = set(named) - set(_NAMES)
    if unknown or "TT" not in named:
        raise ValueError(f"c_l: has the names {', '.join(named)}: must have TT, and may have {', '.join(_NAMES[1:])}")
    spectra = {name: spectrum(f"c_l[{name!r}]" if isinstance(c_l, Mapping) else "c_l", values) for name, values in named.items()}
    for name, values in spectra.items():
        if not values.size:
            raise ValueError(f"c_l: {name} is empty: must begin at l = 0")
    return spectra


def _unit_of_fields(c_l: Spectra) -> Any:
    """The unit of fields with these spectra, None where they are no Quantities."""
    units = [quantity_unit(values) for values in (c_l.values() if isinstance(c_l, Mapping) else [c_l])]
    if any(unit != units[0] for unit in units):
        raise ValueError(f"c_l: are in {', '.join(str(unit or 'no unit') for unit in units)}: must all be in one unit")
    return None if units[0] is None else units[0] ** 0.5


def sky_spectra(named: dict[str, NDArray[np.float64]]) -> _core.SkySpectra:
    return _core.SkySpectra(*(named[name].tolist() if name in named else [] for name in _NAMES))


def multiply_alm(alm: NDArray[Any], lmax: int, fwhm: AngleLike | None, window: ArrayLike | None,
                 apply_beam: Callable[[_core.Beam, NDArray[Any]], None]) -> None:
    """Multiplies T (and E, B) by a beam and a window, in place."""
    rows = np.atleast_2d(alm)
    if window is not None:
        values = doubles("window", window)
        if values.ndim not in (1, 2) or values.ndim == 2 and len(values) not in (2, 3):
            raise ValueError(f"window: has shape {values.shape}: must be [lmax + 1], [2, lmax + 1] for T and for E and B, or [3, lmax + 1]")
        if values.ndim == 2 and len(rows) == 1:
            raise ValueError(f"window: has {len(values)} rows: must be [lmax + 1], as there is no polarisation")
        if values.shape[-1] <= lmax:
            raise ValueError(f"window: has {values.shape[-1]} values: must have at least lmax + 1 = {lmax + 1}")
        columns = [values] * 3 if values.ndim == 1 else [values[0], values[1], values[-1]]
        apply_beam(_core.Beam(*(column.tolist() for column in columns)), rows)
    if fwhm is not None:
        apply_beam(_core.gaussian_beam(width(fwhm, "fwhm"), lmax), rows)


__all__ = ["alm2cl", "alm2map", "anafast", "map2alm", "synalm", "synfast", "udgrade"]

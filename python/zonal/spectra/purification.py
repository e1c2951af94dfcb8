"""E and B of masked skies that do not mix, and the coupling matrices of their spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import integer, real_input, shown
from .._checked import checked
from .._devices import DeviceLike, resolve_device
from .._maps import weights_of
from .._notes import warn
from .._pixels import grid_of_length, reordered, required_grid
from .._threads import resolve
from .._units import quantity_unit, with_unit
from ..grid import Grid
from ..sky_map import Map, agreed
from .coupling import matrices_of

__all__ = ["pure_alm", "pure_coupling_matrices"]

_PURE = {"B": (False, True), "E": (True, False), "EB": (True, True)}
_KINDS = ("0p", "2p", "pp")  # in the order of PureCouplingKind


@checked
def pure_alm(maps: ArrayLike, mask: ArrayLike, lmax: int | None = None, *, pure: Literal["B", "E", "EB"] = "B",
             mask_lmax: int | None = None, iterations: int = 0, grid: Grid | None = None, nest: bool | None = None,
             threads: int | None = None, device: DeviceLike = "cpu") -> NDArray[np.complex128]:
    """Returns the alm of E and B of masked Q and U, [2, n_alm] or [row, 2, n_alm], without the E that a mask brings into B.

    maps: [2, pixel] or [row, 2, pixel], not multiplied by the mask yet, or a `zonal.Map` of Q and U; a Quantity gives a Quantity. mask:
    [pixel], in the same order; pixels where it is 0 count as 0, whatever they hold. pure: the part from which the other is kept out,
    "B", "E" or both, "EB"; a part that is not pure is that of the masked map. lmax: by default 3 nside - 1 on HEALPix, else the highest
    that the grid holds. grid: HEALPix by default. nest: whether pixels are in nest order; a Map knows.

    What the mask's first and second derivatives make of the map is subtracted (Smith 2006, doi:10.1103/PhysRevD.74.083002). They come from
    the mask's alm up to mask_lmax, by default 2 nside on HEALPix, else as far as the grid goes. iterations: of the analyses, which are
    none by default: the matrices of `pure_coupling_matrices` are for that.

    A mask must be smooth. One with jumps raises ValueError, and one with kinks gives a warning, with two numbers: by how much the
    power of its second derivatives grows in the last octave up to mask_lmax, which is below 1 for smooth masks, and by how much its alm
    miss it. `zonal.masks.apodize` makes masks smooth.

    >>> mask = zonal.masks.apodize((zonal.Grid.healpix(32).angles()[0] < 1).astype(float), "40deg")
    >>> e = zonal.synalm(np.ones(49), seed=1)
    >>> e[[0, 1, 49]] = 0  # l below 2
    >>> sky = zonal.SHT(zonal.Grid.healpix(32), 48, spin=2).synthesize([e, 0 * e])
    >>> pure = zonal.alm2cl(zonal.spectra.pure_alm(sky, mask, 32)[1])
    >>> plain = zonal.alm2cl(zonal.map2alm(mask * sky, 32, pol=True)[1])
    >>> bool(pure[8:].sum() < 1e-2 * plain[8:].sum())
    True
    """
    if not isinstance(pure, str) or pure not in _PURE:
        raise ValueError(f"pure = {shown(pure)}: must be one of {', '.join(map(repr, _PURE))}")
    if isinstance(maps, Map):
        grid, nest = agreed("maps", maps, grid, nest)
    values = real_input("maps", maps)
    if values.ndim not in (2, 3) or values.shape[-2] != 2:
        raise ValueError(f"maps: has shape {values.shape}: must be [2, pixel] or [row, 2, pixel], Q and U")
    on = grid_of_length("maps", values.shape[-1]) if grid is None else required_grid("grid", grid)
    if values.shape[-1] != on.n_pixels:
        raise ValueError(f"maps: has {values.shape[-1]} pixels: must be {on.n_pixels} for {on.name}")
    if nest and on.nside is None:
        raise ValueError(f"nest = True: is for HEALPix alone, not for {on.name}")
    rows = np.asarray(values, np.float64).reshape(-1, on.n_pixels)
    rows = reordered(rows, to_nest=False) if nest else np.ascontiguousarray(rows)
    if lmax is None:
        lmax = _core.default_smoothing_lmax(on._grid)
    options = _core.PurificationOptions(integer("lmax", lmax), -1 if mask_lmax is None else _not_negative("mask_lmax", mask_lmax),
                                        *_PURE[pure], _not_negative("iterations", iterations), resolve(threads), resolve_device(device))
    alm = np.empty((len(rows) // 2, 2, options.n_alm), np.complex128)
    weights = weights_of("mask", mask, on.n_pixels, bool(nest))
    if weights is None:
        raise TypeError("mask = None: must be [pixel]; Q and U of the whole sky are pure without")
    growth, remainder, has_kinks = _core.pure_alm(on._grid, rows.reshape(-1, 2, on.n_pixels), weights, alm, options)
    if has_kinks:
        warn([f"mask: has kinks: the power of its second derivatives grows {growth:.3g} times in the last octave (smooth masks: below 1), "
              f"and its alm miss it by {remainder:.2g}: E and B mix by more than with a smoother or wider apodisation"])
    return with_unit(alm.reshape(*values.shape[:-1], -1), quantity_unit(maps))


@checked
def pure_coupling_matrices(mask_spectra: ArrayLike, lmax: int, kinds: str | Sequence[str] = _KINDS, *, threads: int | None = None,
                           device: DeviceLike = "cpu") -> NDArray[np.float64]:
    """Returns the matrices M by which masks mix the degrees of spectra with pure E or B, [kind, l, l'].

    Kinds are "0p": T with pure E or B; "2p": plain E or B with pure E or B; "pp": pure E or B twice. They are M of "00", "02" and "00"
    times N_l' / N_l, for "pp" twice, with N_l = sqrt((l+2)(l+1)l(l-1)), and need no sums of their own. Nothing goes from EE to BB. As M
    grows as l'^4 along a row for "pp", a mask must be smooth for low degrees to mean anything. Other arguments and the shape are those
    of `coupling_matrices`; the mask's spectrum is that of the mask itself.

    >>> whole_sky = [4 * np.pi]
    >>> zonal.spectra.pure_coupling_matrices(whole_sky, 3, "pp").round(12).diagonal().tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    return matrices_of(_core.pure_coupling_matrices, mask_spectra, lmax, kinds, _KINDS, threads, device)


def _not_negative(name: str, value: int) -> int:
    number = integer(name, value)
    if number < 0:
        raise ValueError(f"{name} = {number}: must be 0 or more")
    return number

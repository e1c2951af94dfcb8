"""Band powers as FITS files."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._astropy_fits import astropy_fits, write_tables
from .bins import Bins
from .blocks import Key, Spectra


class Saved(NamedTuple):
    """What a file holds of band powers."""

    bins: Bins
    lmax_sky: int
    condition: float
    bands: Spectra
    pseudo: Spectra
    noise: Spectra
    windows: Spectra
    units: list[str]
    mask_spectra: NDArray[np.float64]
    mask_of: dict[tuple[int, str], int]
    error: Spectra | None
    covariance: NDArray[np.float64] | None


def write(powers: Saved, path: str | os.PathLike[str], overwrite: bool) -> None:
    """BANDS, PSEUDO, MASK, and an image of windows for each pair of spectra."""
    fits = astropy_fits()

    def column(name: str, values: Any, unit: str = "") -> Any:
        return fits.Column(name, "K" if values.dtype.kind == "i" else "D", unit=unit or None, array=values)

    bins = powers.bins
    bands = fits.BinTableHDU.from_columns(
        [column("L_MIN", bins.first), column("L_MAX", bins.last), column("L_EFF", bins.l_eff)]
        + [column(_name(key), values, _unit(powers, key)) for key, values in powers.bands.items()]
        + [column("ERROR_" + _name(key), values, _unit(powers, key)) for key, values in (powers.error or {}).items()], name="BANDS")
    bands.header["DL"] = bins.dl, "bands are of D_l = l(l+1)/2pi C_l"
    bands.header["LMAX_SKY"] = powers.lmax_sky, "last degree of the windows"
    bands.header["CONDITIO"] = powers.condition, "largest condition of K"
    pseudo = fits.BinTableHDU.from_columns(
        [column("L", np.arange(bins.lmax + 1))]
        + [column(prefix + _name(key), values, _unit(powers, key)) for prefix, each in (("", powers.pseudo), ("NOISE_", powers.noise))
           for key, values in each.items()], name="PSEUDO")
    n = len(powers.mask_spectra)
    masks = fits.BinTableHDU.from_columns([column(f"W_{i}x{j}", powers.mask_spectra[i, j]) for i in range(n) for j in range(i, n)], name="MASK")
    for (field, letter), number in powers.mask_of.items():
        masks.header[f"MASK{letter}{field}"] = number, f"mask of {letter} of field {field}"
    windows = [fits.ImageHDU(np.ascontiguousarray(values), name=f"WINDOWS {_name(key)}") for key, values in powers.windows.items()]
    covariance = [] if powers.covariance is None else [fits.ImageHDU(powers.covariance, name="COVARIANCE")]
    write_tables(path, [bands, pseudo, masks, *windows, *covariance], overwrite)


def _name(key: Key) -> str:
    """TE, or TE_0x1 for the fields 0 and 1."""
    return key if isinstance(key, str) else f"{key[0]}_{key[1]}x{key[2]}"


def _unit(powers: Saved, key: Key) -> str:
    i, j = powers.bands.pair(key)
    one, other = powers.units[i], powers.units[j]
    return f"({one})^2" if one and one == other else f"({one}) ({other})" if one and other else ""

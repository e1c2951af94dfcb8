"""Band powers as SACC has them, the format of two-point data of LSST DESC and of the Simons Observatory."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bins import Bins
from .blocks import Spectra

_SPIN = {"T": 0, "E": 2, "B": 2}


def data_of(names: list[str], bins: Bins, lmax_sky: int, bands: Spectra, windows: Spectra, mask_of: dict[tuple[int, str], int],
            units: list[str], covariance: NDArray[np.float64] | None) -> Any:
    """Returns a sacc.Sacc with the spectra in the order of `bands`, which is that of the covariance."""
    sacc = _package()
    data = sacc.Sacc()
    l = np.arange(lmax_sky + 1)
    for i, letter in mask_of:
        spin = 0 if letter == "T" else 2
        data.add_tracer("Map", f"{names[i]}_s{spin}", spin, l, np.ones(l.size), map_unit=units[i] or "none")
    for key, values in bands.items():
        ends = list(zip(key if isinstance(key, str) else key[0], bands.pair(key)))
        ends.sort(key=lambda end: _SPIN[end[0]])  # ET is TE with the fields in the other order; EB and BE stay as they are
        kind = "cl_" + "".join("0" if letter == "T" else letter.lower() for letter, _ in ends)
        of_fields = [f"{names[i]}_s{_SPIN[letter]}" for letter, i in ends]
        data.add_ell_cl(kind, *of_fields, bins.l_eff, values, window=sacc.BandpowerWindow(l, windows[key].T))
    if covariance is not None:
        data.add_covariance(covariance)
    data.metadata.update(creator="zonal", dl=bins.dl)
    return data


def _package() -> Any:
    try:
        return importlib.import_module("sacc")
    except ImportError as error:
        raise ImportError("BandPowers.to_sacc needs the package sacc: pip install sacc; BandPowers.save works without it") from error

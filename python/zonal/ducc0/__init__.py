"""The names and arguments of ducc0 0.42, so that programs that use ducc0 run on Zonal: `import zonal.ducc0 as ducc0`.

There are `sht`, `totalconvolve`, `healpix.Healpix_Base`, what packages use of `misc`, and `fft.good_size`. What is
missing raises AttributeError.

>>> import numpy as np
>>> import zonal.ducc0 as ducc0
>>> rings = ducc0.healpix.Healpix_Base(4, "RING").sht_info()
>>> alm = np.zeros((1, 6), complex)
>>> alm[0, 0] = np.sqrt(4 * np.pi)
>>> ducc0.sht.synthesis(alm=alm, lmax=2, spin=0, **rings).round(9).min()
np.float64(1.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._names import no_attribute
from . import fft, healpix, misc, sht, totalconvolve

__version__ = "0.42.0"  # of the ducc0 that this stands for

__all__ = ["__version__", "fft", "healpix", "misc", "sht", "totalconvolve"]

if not TYPE_CHECKING:
    _ABSENT = {"nufft", "pointingprovider", "wgridder"}  # of which Zonal has nothing

    def __getattr__(name: str) -> Any:
        raise no_attribute("zonal.ducc0", name, __all__, "Zonal has nothing of it; take that of ducc0" if name in _ABSENT else "")

"""Zonal under the names of healpy: `import zonal.healpy as hp`.

Functions have healpy's arguments and defaults, and results have healpy's shapes, orders and types. "Coming from healpy"
in the documentation lists what differs; `zonal.healpy.pixelfunc` says what the pixel functions do differently.
`__version__` is that of the healpy whose functions these are, as programs ask it whether a function is there; the
version of Zonal is `zonal.__version__`.

>>> import zonal.healpy as hp
>>> hp.ang2pix(16, np.pi / 2, [0.0, 1.0]).tolist()
[1440, 1514]
"""

import importlib
from typing import Any

from ._hotspots import hotspots
from ._masktools import dist2holes
from ._pixelfunc import pix2ring, ringinfo
from ._query_disc import boundaries, query_disc, query_polygon, query_strip
from .fitsfunc import read_alm, read_cl, read_map, write_alm, write_cl, write_map
from .pixelfunc import (
    UNSEEN,
    ang2pix,
    ang2vec,
    fit_dipole,
    fit_monopole,
    get_all_neighbours,
    get_interp_val,
    get_interp_weights,
    get_map_size,
    get_min_valid_nside,
    get_nside,
    isnpixok,
    isnsideok,
    ma,
    maptype,
    mask_bad,
    mask_good,
    max_pixrad,
    nest2ring,
    npix2nside,
    npix2order,
    nside2npix,
    nside2order,
    nside2pixarea,
    nside2resol,
    order2npix,
    order2nside,
    pix2ang,
    pix2vec,
    pix2xyf,
    remove_dipole,
    remove_monopole,
    reorder,
    ring2nest,
    ud_grade,
    vec2ang,
    vec2pix,
    xyf2pix,
)
from .rotator import Rotator, dir2vec, vec2dir
from .sphtfunc import (
    Alm,
    alm2cl,
    alm2map,
    alm2map_der1,
    alm2map_spin,
    almxfl,
    anafast,
    beam2bl,
    bl2beam,
    blm_gauss,
    check_max_nside,
    effective_resolution_fwhm,
    gauss_beam,
    harmonic_ud_grade,
    map2alm,
    map2alm_lsq,
    map2alm_spin,
    pixwin,
    resize_alm,
    rotate_alm,
    smoothalm,
    smoothing,
    synalm,
    synfast,
)
from .utils.deprecation import disable_warnings, enable_warnings
from .version import __version__
from .visufunc import (
    azeqview,
    cartview,
    delgraticules,
    gnomview,
    graticule,
    mollview,
    orthview,
    projplot,
    projscatter,
    projtext,
)
from .zoomtool import mollzoom, set_g_clim

__all__ = [
    "UNSEEN", "Alm", "Rotator", "__version__", "alm2cl", "alm2map", "alm2map_der1", "alm2map_spin", "almxfl",
    "anafast", "ang2pix", "ang2vec", "azeqview", "beam2bl", "bl2beam", "blm_gauss", "boundaries", "cartview",
    "check_max_nside", "delgraticules", "dir2vec", "disable_warnings", "dist2holes", "effective_resolution_fwhm",
    "enable_warnings", "fit_dipole", "fit_monopole", "gauss_beam", "get_all_neighbours", "get_interp_val",
    "get_interp_weights", "get_map_size", "get_min_valid_nside", "get_nside", "gnomview", "graticule",
    "harmonic_ud_grade", "hotspots", "isnpixok", "isnsideok", "ma", "map2alm", "map2alm_lsq", "map2alm_spin",
    "maptype", "mask_bad", "mask_good", "max_pixrad", "mollview", "mollzoom", "nest2ring", "npix2nside",
    "npix2order", "nside2npix", "nside2order", "nside2pixarea", "nside2resol", "order2npix", "order2nside",
    "orthview", "pix2ang", "pix2ring", "pix2vec", "pix2xyf", "pixwin", "projplot", "projscatter", "projtext",
    "query_disc", "query_polygon", "query_strip", "read_alm", "read_cl", "read_map", "remove_dipole",
    "remove_monopole", "reorder", "resize_alm", "ring2nest", "ringinfo", "rotate_alm", "set_g_clim", "smoothalm",
    "smoothing", "synalm", "synfast", "ud_grade", "vec2ang", "vec2dir", "vec2pix", "write_alm", "write_cl",
    "write_map", "xyf2pix",
]

# These modules import matplotlib, which takes a while, so they are loaded when they are first used.
_LATER = {"newvisufunc": "newvisufunc", "projaxes": "projaxes", "projector": "projector", "projview": "newvisufunc",
          "newprojplot": "newvisufunc"}

_ABSENT = {
    "line_integral_convolution": "line integral convolutions",
    "load_sample_spectra": "sample spectra",
}


def __dir__() -> list[str]:
    """Its functions and modules."""
    return sorted({name for name in globals() if not name.startswith("_")} - {"Any", "importlib"} | {*__all__, *_LATER})


def __getattr__(name: str) -> Any:
    if name in _LATER:
        module = importlib.import_module(f"{__name__}.{_LATER[name]}")
        return module if name == _LATER[name] else getattr(module, name)
    what = f"has no {_ABSENT[name]}" if name in _ABSENT else "has no such name"
    raise AttributeError(f"zonal.healpy.{name}: Zonal {what}; 'Coming from healpy' in its documentation says what is "
                         "absent", name=name)

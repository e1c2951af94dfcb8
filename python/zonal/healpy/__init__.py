"""Zonal under the names of healpy: `import zonal.healpy as hp`.

Arguments, defaults, shapes, orders and types of results are healpy's. What the pixel functions do otherwise is said in
`zonal.healpy.pixelfunc`.

>>> import zonal.healpy as hp
>>> hp.ang2pix(16, np.pi / 2, [0.0, 1.0]).tolist()
[1440, 1514]
"""

import importlib
from typing import Any

from ._regions import boundaries, query_disc, query_polygon, query_strip
from .pixelfunc import UNSEEN, ang2pix, ang2vec, get_all_neighbours, get_interp_val, get_interp_weights, get_map_size
from .pixelfunc import get_min_valid_nside, get_nside, isnpixok, isnsideok, ma, maptype, mask_bad, mask_good, max_pixrad
from .pixelfunc import nest2ring, npix2nside, npix2order, nside2npix, nside2order, nside2pixarea, nside2resol
from .pixelfunc import order2npix, order2nside, pix2ang, pix2vec, pix2xyf, reorder, ring2nest, ud_grade, vec2ang
from .pixelfunc import vec2pix, xyf2pix
from .rotator import Rotator, dir2vec, vec2dir
from .visufunc import azeqview, cartview, delgraticules, gnomview, graticule, mollview, orthview, projplot, projscatter
from .visufunc import projtext
from .zoomtool import mollzoom, set_g_clim

# What imports matplotlib, which takes a while, is loaded when it is asked for.
_LATER = {"newvisufunc": "newvisufunc", "projaxes": "projaxes", "projector": "projector", "projview": "newvisufunc",
          "newprojplot": "newvisufunc"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_LATER[name]}")
    return module if name == _LATER[name] else getattr(module, name)


__all__ = [
    "Rotator", "UNSEEN", "ang2pix", "ang2vec", "azeqview", "boundaries", "cartview", "delgraticules", "dir2vec",
    "get_all_neighbours", "get_interp_val", "get_interp_weights", "get_map_size", "get_min_valid_nside",
    "get_nside", "gnomview", "graticule", "isnpixok", "isnsideok", "ma", "maptype", "mask_bad", "mask_good",
    "max_pixrad", "mollview", "mollzoom", "nest2ring", "npix2nside", "npix2order", "nside2npix", "nside2order",
    "nside2pixarea", "nside2resol", "order2npix", "order2nside", "orthview", "pix2ang", "pix2vec", "pix2xyf",
    "projplot", "projscatter", "projtext", "query_disc", "query_polygon", "query_strip", "reorder", "ring2nest",
    "set_g_clim", "ud_grade", "vec2ang", "vec2dir", "vec2pix", "xyf2pix",
]

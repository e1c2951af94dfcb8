"""Zonal under the names of healpy: `import zonal.healpy as hp`.

Arguments, defaults, shapes, orders and types of results are healpy's. What the pixel functions do otherwise is said in
`zonal.healpy.pixelfunc`.

>>> import zonal.healpy as hp
>>> hp.ang2pix(16, np.pi / 2, [0.0, 1.0]).tolist()
[1440, 1514]
"""

from ._regions import boundaries, query_disc, query_polygon, query_strip
from .pixelfunc import UNSEEN, ang2pix, ang2vec, get_all_neighbours, get_interp_val, get_interp_weights, get_map_size
from .pixelfunc import get_min_valid_nside, get_nside, isnpixok, isnsideok, ma, maptype, mask_bad, mask_good, max_pixrad
from .pixelfunc import nest2ring, npix2nside, npix2order, nside2npix, nside2order, nside2pixarea, nside2resol
from .pixelfunc import order2npix, order2nside, pix2ang, pix2vec, pix2xyf, reorder, ring2nest, ud_grade, vec2ang
from .pixelfunc import vec2pix, xyf2pix
from .rotator import Rotator, dir2vec, vec2dir

__all__ = [
    "Rotator", "UNSEEN", "ang2pix", "ang2vec", "boundaries", "dir2vec", "get_all_neighbours", "get_interp_val",
    "get_interp_weights",
    "get_map_size", "get_min_valid_nside", "get_nside", "isnpixok", "isnsideok", "ma", "maptype", "mask_bad",
    "mask_good", "max_pixrad", "nest2ring", "npix2nside", "npix2order", "nside2npix", "nside2order", "nside2pixarea",
    "nside2resol", "order2npix", "order2nside", "pix2ang", "pix2vec", "pix2xyf", "query_disc", "query_polygon",
    "query_strip", "reorder", "ring2nest", "ud_grade", "vec2ang", "vec2dir", "vec2pix", "xyf2pix",
]

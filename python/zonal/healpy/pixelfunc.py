"""Pixels of HEALPix maps with the names, arguments and results of healpy.pixelfunc.

All arguments broadcast, even nside. Angles are rad; with lonlat, theta and phi are longitude and latitude, deg. nest
chooses nest order in place of ring order; nside must then be a power of 2. Masked arguments give masked results.

What stands for nothing is handed on: -1 for no pixel, and NaN for no direction. ValueError is raised where healpy warns
or returns meaningless numbers: for other pixels beyond the ends of the map, and for vectors of length 0.
"""

from .._pixels import UNSEEN
from ._dipole import fit_dipole, fit_monopole, remove_dipole, remove_monopole
from ._directions import check_theta_valid, lonlat2thetaphi, thetaphi2lonlat
from ._interpolation import get_interp_val, get_interp_weights
from ._maps import (
    accept_ma,
    get_map_size,
    get_nside,
    is_ma,
    ma,
    ma_to_array,
    maptype,
    mask_bad,
    mask_good,
    reorder,
    ud_grade,
)
from ._pixel_numbers import (
    ang2pix,
    ang2vec,
    get_all_neighbours,
    nest2ring,
    pix2ang,
    pix2vec,
    pix2xyf,
    ring2nest,
    vec2ang,
    vec2pix,
    xyf2pix,
)
from ._sizes import MAX_NSIDE as max_nside
from ._sizes import (
    check_nside,
    get_min_valid_nside,
    isnpixok,
    isnsideok,
    max_pixrad,
    npix2nside,
    npix2order,
    nside2npix,
    nside2order,
    nside2pixarea,
    nside2resol,
    order2npix,
    order2nside,
)

__all__ = [
    "UNSEEN", "accept_ma", "ang2pix", "ang2vec", "check_nside", "check_theta_valid", "fit_dipole", "fit_monopole",
    "get_all_neighbours", "get_interp_val", "get_interp_weights", "get_map_size", "get_min_valid_nside", "get_nside",
    "is_ma", "isnpixok", "isnsideok", "lonlat2thetaphi", "ma", "ma_to_array", "maptype", "mask_bad", "mask_good",
    "max_nside", "max_pixrad", "nest2ring", "npix2nside", "npix2order", "nside2npix", "nside2order", "nside2pixarea",
    "nside2resol", "order2npix", "order2nside", "pix2ang", "pix2vec", "pix2xyf", "remove_dipole", "remove_monopole",
    "reorder", "ring2nest", "thetaphi2lonlat", "ud_grade", "vec2ang", "vec2pix", "xyf2pix",
]

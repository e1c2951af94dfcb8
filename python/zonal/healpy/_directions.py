"""Directions as the functions of pixels take them: their units, the poles, and what stands for no direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arguments import check_range, floats

Angles = tuple[NDArray[np.float64], NDArray[np.float64]]

BEYOND_POLE = 1e-5
"""How far, rad, theta may lie beyond a pole, as pi does when it is rounded to float32."""


def angles_of(theta: Any, phi: Any, lonlat: bool, latauto: bool = False, latbounce: bool = True,
              may_be_nan: bool = False) -> Angles:
    """Returns theta and phi, rad, from the arguments with these names. Latitudes may miss a pole by BEYOND_POLE."""
    if lonlat:
        if not latauto:
            most = 90 + np.degrees(BEYOND_POLE)
            lat = floats("lat", phi)
            check_range("lat", lat[~np.isnan(lat)] if may_be_nan else lat, -most, most, "-90 to 90")
        return lonlat2thetaphi(theta, phi, latauto, latbounce)
    if latauto or not latbounce:
        raise ValueError("latauto and latbounce: need lonlat = True")
    return floats("theta", theta), floats("phi", phi)


def check_theta_valid(theta: Any) -> None:
    """Raises ValueError unless all colatitudes lie from 0 to pi, or at most BEYOND_POLE beyond."""
    check_range("theta", theta, -BEYOND_POLE, np.pi + BEYOND_POLE, "0 to pi")


def mended(theta: NDArray[np.float64], phi: NDArray[np.float64],
           may_be_nan: bool = False) -> tuple[Angles, NDArray[np.bool_]]:
    """Returns directions that functions of pixels take, and where there is none: phi, or with may_be_nan theta, is not
    finite.

    What lies up to BEYOND_POLE beyond a pole is put on the meridian of the other side.
    """
    missing = ~np.isfinite(phi) | np.isnan(theta) if may_be_nan else ~np.isfinite(phi) & np.ones(theta.shape, bool)
    theta, phi = np.where(missing, 0, theta), np.where(missing, 0, phi)
    north, south = (theta < 0) & (theta >= -BEYOND_POLE), (theta > np.pi) & (theta <= np.pi + BEYOND_POLE)
    theta = np.where(north, -theta, np.where(south, 2 * np.pi - theta, theta))
    return (theta, np.where(north | south, phi + np.pi, phi)), missing


def is_mendable(theta: float, phi: float, lonlat: bool, may_be_nan: bool = False) -> bool:
    """Whether a single direction, which was refused, is one that `mended` changes."""
    theta, phi = float(theta), float(phi)  # float32 compares as float32
    if lonlat:
        theta, phi = np.pi / 2 - np.radians(phi), theta
    beyond = -BEYOND_POLE <= theta < 0 or np.pi < theta <= np.pi + BEYOND_POLE
    return beyond or not np.isfinite(phi) or (may_be_nan and np.isnan(theta))


def lonlat2thetaphi(lon: Any, lat: Any, latauto: bool = False, latbounce: bool = True) -> tuple[Any, Any]:
    """Returns colatitude and longitude, rad, of longitude and latitude, deg. Latitudes beyond a pole stay beyond it.

    latauto: latitudes beyond a pole continue a great circle over it. latbounce: such a path turns back at the pole and
    keeps its longitude; otherwise it goes on at the longitude of the other side.
    """
    if not latbounce and not latauto:
        raise ValueError("latbounce = False: needs latauto = True")
    lon, lat = floats("lon", lon), floats("lat", lat)
    if latauto:
        from_south = np.mod(lat + 90, 360)
        beyond = from_south > 180
        lat = np.where(beyond, 360 - from_south, from_south) - 90
        if not latbounce:
            lon = lon + np.where(beyond, 180.0, 0.0)
    return np.radians(90 - lat), np.radians(lon)


def thetaphi2lonlat(theta: Any, phi: Any) -> tuple[Any, Any]:
    """Returns longitude and latitude, deg, of colatitude and longitude, rad."""
    return np.degrees(phi), 90 - np.degrees(theta)

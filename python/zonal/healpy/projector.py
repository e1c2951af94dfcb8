"""Projections of the sphere under the names of healpy.projector; the formulas are those of zonal.plot.projections.

A projector rotates directions, so that `rot` is in the middle, and projects them. Points outside the picture are NaN.
Angles are theta and phi, rad, or with lonlat longitude and latitude, deg. `direct` leaves out the rotation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plot import projections
from ..plot.projections import Extent, Projection
from ..plot.view import View
from ._arguments import floats
from ._rotations import dir2vec, normalise_coord, rotateVector, vectors
from .pixelfunc import UNSEEN
from .rotator import Rotator

Pair = tuple[Any, Any]


class SphericalProj:
    """The base class of projectors.

    rot: up to three angles, deg: longitude and latitude of the middle, and a turn; see Rotator. coord: the coordinates
    of the picture; of two, the second counts. flipconv: 'astro' (east to the left; the default) or 'geo'. The other
    arguments are those of set_proj_plane_info, which sets the size of the picture.
    """

    name = "None"

    def __init__(self, rot: Any = None, coord: Any = None, flipconv: str | None = None, **kwds: Any) -> None:
        self.rotator = Rotator(rot=rot, eulertype="ZYX")
        self.coordsys = normalise_coord(coord)[1]
        self.set_flip(flipconv)
        self._info: dict[str, Any] = {}
        self._size = 1, 1  # columns and rows
        self.set_proj_plane_info(**kwds)

    def set_flip(self, flipconv: str | None) -> None:
        """Chooses 'astro' (east to the left) or 'geo'; None means 'astro'."""
        if flipconv not in (None, "astro", "geo"):
            raise ValueError(f"flip, flipconv = {flipconv!r}: must be 'astro', 'geo' or None")
        self._flip = flipconv or "astro"
        if hasattr(self, "_info"):
            self.set_proj_plane_info(**{name: self._info[name] for name in self._info if name != "ratio"})

    def set_proj_plane_info(self, *args: Any, **kwds: Any) -> None:
        """Sets the size of the picture."""
        raise NotImplementedError("SphericalProj: has no projection; use one of its subclasses")

    def _set(self, projection: Projection, size: tuple[int, int], **info: Any) -> None:
        if min(size) < 1:
            raise ValueError(f"xsize, ysize = {size}: must be 1 or more")
        self._projection, self._size, self._info = projection, size, info

    @property
    def _east_left(self) -> bool:
        return self._flip == "astro"

    def get_proj_plane_info(self) -> dict[str, Any]:
        """Returns the current arguments of set_proj_plane_info."""
        return self._info

    arrayinfo = property(get_proj_plane_info, doc="The current arguments of set_proj_plane_info.")

    @property
    def view(self) -> View:
        """This projector as a view of zonal.plot."""
        return View(self._projection, self.rotator.mat, (self.coordsys, self.coordsys))

    def __eq__(self, a: object) -> bool:
        return isinstance(a, SphericalProj) and (self.name, self._info, self._flip, self.coordsys) == \
            (a.name, a._info, a._flip, a.coordsys) and self.rotator == a.rotator

    __hash__ = None  # type: ignore[assignment]

    def vec2xy(self, vx: Any, vy: Any = None, vz: Any = None, direct: bool = False) -> Pair:
        """Returns x and y of vectors, [3] or [3, ...], or of their components."""
        given = vectors(vx, vy, vz)
        with np.errstate(invalid="ignore"):
            unit = given / np.linalg.norm(given, axis=0)
        x, y = self._projection.forward(unit) if direct else self.view.forward(unit)
        return x[()], y[()]

    def ang2xy(self, theta: Any, phi: Any = None, lonlat: bool = False, direct: bool = False) -> Pair:
        """Returns x and y of directions: theta and phi, or both as theta, [2] or [2, ...]."""
        return self.vec2xy(dir2vec(theta, phi, lonlat), direct=direct)

    def xy2vec(self, x: Any, y: Any = None, direct: bool = False) -> NDArray[np.float64]:
        """Returns unit vectors, [3] or [3, ...], of points: x and y, or both as x."""
        across, up = (x, y) if y is not None else x
        across, up = floats("x", across), floats("y", up)
        return self._projection.inverse(across, up) if direct else self.view.inverse(across, up)

    def xy2ang(self, x: Any, y: Any = None, lonlat: bool = False, direct: bool = False) -> NDArray[np.float64]:
        """Returns the angles, [2] or [2, ...], of points: x and y, or both as x."""
        v = self.xy2vec(x, y, direct)
        theta, phi = np.arctan2(np.hypot(v[0], v[1]), v[2]), np.arctan2(v[1], v[0])
        return np.array([np.degrees(phi), 90 - np.degrees(theta)] if lonlat else [theta, phi])

    def xy2ij(self, x: Any, y: Any = None) -> Pair:
        """Returns the rows and columns, from below and left, of the raster pixels at points.

        Where there is no sky they are masked, and NaN for a single point.
        """
        across, up = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in ((x, y) if y is not None else x)))
        x0, x1, y0, y1 = self.get_extent()
        columns, rows = self._size
        beyond = np.isnan(self._projection.inverse(across, up)[0])
        places = [np.rint((part - first) / (last - first) * (count - 1)) for part, first, last, count in
                  ((up, y0, y1, rows), (across, x0, x1, columns))]
        if across.ndim == 0:
            return (np.nan, np.nan) if beyond else (np.int64(places[0]), np.int64(places[1]))
        i, j = (np.ma.MaskedArray(np.where(beyond, 0, place).astype(np.int64), beyond) for place in places)
        return i, j

    def ij2xy(self, i: Any = None, j: Any = None) -> Pair:
        """Returns x and y of raster pixels by row and column; without i or j, of all rows or columns, [row, column].

        Where there is no sky they are masked, and NaN for a single pixel.
        """
        across, up = self.view.raster(*self._size, ends=True)
        rows = np.arange(self._size[1])[:, None] if i is None else np.asarray(i)
        columns = np.arange(self._size[0]) if j is None else np.asarray(j)
        x, y = np.broadcast_arrays(across[columns], up[rows])
        beyond = np.isnan(self._projection.inverse(x, y)[0])
        if x.ndim == 0:
            return (np.nan, np.nan) if beyond else (x[()], y[()])
        return (np.ma.MaskedArray(x, beyond), np.ma.MaskedArray(y, beyond)) if beyond.any() else (x.copy(), y.copy())

    def projmap(self, map: Any, vec2pix_func: Callable[..., Any], rot: Any = None, coord: Any = None) -> Any:
        """Returns the picture, [row, column] from below, of a map; -inf where there is no sky.

        vec2pix_func: returns pixels for x, y and z. rot: a rotation of the map before it is drawn. coord: the
        coordinates of the map, which are changed to those of the picture.
        """
        across, up = self.view.raster(*self._size, ends=True)
        v = self.xy2vec(across[None, :], up[:, None])
        shown = np.isfinite(v[0])
        turned = rotateVector(Rotator(rot=rot, coord=self.mkcoord(coord)).mat.T, v[:, shown])
        picture = np.full(shown.shape, -np.inf)
        picture[shown] = np.ma.filled(np.ma.asarray(map, np.float64), UNSEEN)[vec2pix_func(*turned)]
        return picture

    def get_extent(self) -> Extent:
        """Returns the edges of the picture: left, right, bottom, top."""
        return self._projection.extent

    def get_fov(self) -> float:
        """Returns the diameter of the sky shown, rad: twice the largest angle from its middle to its edges."""
        if getattr(self._projection, "both_sides", False):
            return 2 * np.pi
        x0, x1, y0, y1 = self.get_extent()
        edge = np.linspace(0, 1, 11)
        x = np.concatenate([x0 + (x1 - x0) * edge, 0 * edge + x1, x0 + (x1 - x0) * edge, 0 * edge + x0])
        y = np.concatenate([0 * edge + y0, y0 + (y1 - y0) * edge, 0 * edge + y1, y0 + (y1 - y0) * edge])
        v = self._projection.inverse(x, y)
        if np.isnan(v).any():
            return float(2 * getattr(self._projection, "max_angle", np.pi))
        middle = dir2vec(self.get_center())
        angles = np.arccos(np.clip(np.sum(rotateVector(self.rotator.mat.T, v) * middle[:, None], axis=0), -1, 1))
        return float(2 * angles.max())

    def get_center(self, lonlat: bool = False) -> NDArray[np.float64]:
        """Returns the direction, [2], of the middle."""
        return self.rotator.I(0.0, 0.0, lonlat=True) if lonlat else self.rotator.I(np.pi / 2, 0.0)

    def mkcoord(self, coord: Any) -> tuple[str | None, str | None]:
        """Returns the coordinate systems from and to, for things in coord, by default the picture's."""
        first = self.coordsys if coord is None else normalise_coord(coord)[0]
        return first, first if self.coordsys is None else self.coordsys


class MollweideProj(SphericalProj):
    """The whole sky in an ellipse. xsize: columns."""

    name = "Mollweide"

    def set_proj_plane_info(self, xsize: int = 800) -> None:
        self._set(projections.Mollweide(self._east_left), (xsize, xsize // 2), xsize=xsize)


class CartesianProj(SphericalProj):
    """Longitude against latitude.

    xsize, ysize: columns and rows. lonra, latra: ranges relative to the middle, deg.
    """

    name = "Cartesian"

    def set_proj_plane_info(self, xsize: int = 800, ysize: int | None = None, lonra: Any = None,
                            latra: Any = None) -> None:
        lon = (-180.0, 180.0) if lonra is None else tuple(float(end) for end in lonra)
        lat = (-90.0, 90.0) if latra is None else tuple(float(end) for end in latra)
        if len(lon) != 2 or not 0 < lon[1] - lon[0] <= 360:
            raise ValueError(f"lonra = {lonra}: must be two angles, deg, the first below the second by up to 360")
        if len(lat) != 2 or not -90 <= lat[0] < lat[1] <= 90:
            raise ValueError(f"latra = {latra}: must be two angles, deg, from -90 to 90, the first below the second")
        shape = (lat[1] - lat[0]) / (lon[1] - lon[0])
        rows = round(xsize * shape) if ysize is None else ysize
        self._set(projections.Cartesian(self._east_left, (lon[0], lon[1]), (lat[0], lat[1])), (xsize, max(1, rows)),
                  xsize=xsize, lonra=np.array(lon), latra=np.array(lat), ysize=rows, ratio=shape)

    def __eq__(self, a: object) -> bool:
        return isinstance(a, CartesianProj) and self._flip == a._flip and self._size == a._size and \
            self.get_extent() == a.get_extent() and self.rotator == a.rotator and self.coordsys == a.coordsys

    __hash__ = None

    def get_center(self, lonlat: bool = False) -> NDArray[np.float64]:
        x0, x1, y0, y1 = self.get_extent()
        return self.xy2ang((x0 + x1) / 2, (y0 + y1) / 2, lonlat=lonlat)


class GnomonicProj(SphericalProj):
    """Great circles are straight.

    xsize, ysize: columns and rows; reso: the size of a raster pixel in the middle, arcmin.
    """

    name = "Gnomonic"

    def set_proj_plane_info(self, xsize: int | None = 200, ysize: int | None = None, reso: float | None = 1.5) -> None:
        size, step, half = _square(200, xsize, ysize, reso)
        self._set(projections.Gnomonic(self._east_left, *half), size, xsize=size[0], ysize=size[1], reso=step)


class OrthographicProj(SphericalProj):
    """Both sides of the sphere as seen from afar. xsize: columns; half_sky: shows only the near side."""

    name = "Orthographic"

    def set_proj_plane_info(self, xsize: int = 800, half_sky: bool = False) -> None:
        size = (xsize, xsize) if half_sky else (xsize, xsize // 2)
        self._set(projections.Orthographic(self._east_left, not half_sky), size, xsize=xsize, half_sky=half_sky)


class AzimuthalProj(SphericalProj):
    """Keeps directions from the middle, and distances from it, or with lamb areas.

    xsize, ysize: columns and rows; reso: the size of a raster pixel in the middle, arcmin; half_sky: shows only the
    near side.
    """

    name = "Azimuthal"

    def set_proj_plane_info(self, xsize: int | None = 800, ysize: int | None = None, reso: float | None = 1.5,
                            lamb: bool | None = True, half_sky: bool | None = False) -> None:
        size, step, half = _square(800, xsize, ysize, reso)
        kind = projections.Equidistant if lamb is False else projections.EqualArea
        self._set(kind(self._east_left, *half, max_angle=np.pi / 2 if half_sky else None), size, xsize=size[0],
                  ysize=size[1], reso=step, lamb=lamb is not False, half_sky=bool(half_sky))


def _square(columns: int, xsize: int | None, ysize: int | None,
            reso: float | None) -> tuple[tuple[int, int], float, tuple[float, float]]:
    """Returns columns and rows, the size of a pixel, arcmin, and half of each side of the picture."""
    columns = columns if xsize is None else xsize
    rows = columns if ysize is None else ysize
    step = 1.5 if reso is None else reso
    if not step > 0:
        raise ValueError(f"reso = {reso}: must be above 0")
    width, height = ((count - 1) / 2 * np.radians(step / 60) for count in (columns, rows))
    return (columns, rows), step, (float(width), float(height))


__all__ = ["AzimuthalProj", "CartesianProj", "GnomonicProj", "MollweideProj", "OrthographicProj", "SphericalProj"]

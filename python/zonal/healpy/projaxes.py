"""Axes that show the sky, with the names and arguments of healpy.projaxes. This module imports matplotlib.

Axes have a projector, `proj`. Directions are theta and phi, rad, as one argument or two; with lonlat they are longitude
and latitude, deg.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from .._pixels import is_bad
from ..plot.frame import rim
from ..plot.view import directions
from ..rotation import rotation_matrix
from . import projector
from ._checked import checked
from ._maps import get_nside, mask_bad
from ._norms import (
    BoundaryLocator,
    HistEqNorm,
    LinNorm2,
    LogNorm2,
    create_colormap,
    get_color_table,
    symlog_backward,
    symlog_forward,
)
from ._rotations import NAMES, dir2vec, rotateVector
from .pixelfunc import UNSEEN, vec2pix
from .rotator import Rotator

# Steps between the lines of a graticule, deg.
_STEPS = np.array([1 / 60, 2 / 60, 5 / 60, 10 / 60, 15 / 60, 30 / 60, 1, 2, 5, 10, 15, 30])


class SphericalProjAxes(Axes):
    """Axes that show the sky through a projector.

    ProjClass: a class of zonal.healpy.projector. args: the figure and the place, as for matplotlib's Axes. rot, coord,
    flipconv: those of the projector. format: of values under the mouse. coordprec: the number of digits of angles
    under the mouse.
    """

    @checked
    def __init__(self, ProjClass: Any, *args: Any, rot: Any = None, coord: Any = None, flipconv: str | None = None,
                 format: str = "%g", coordprec: int = 2, **kwds: Any) -> None:
        if not (isinstance(ProjClass, type) and issubclass(ProjClass, projector.SphericalProj)):
            raise TypeError("ProjClass: must be a class derived from SphericalProj")
        self.proj: projector.SphericalProj = ProjClass(rot=rot, coord=coord, flipconv=flipconv)
        self._value_format, self._digits = format, coordprec
        self._picture: NDArray[np.float64] | None = None
        super().__init__(*args, **kwds)
        self.axis("off")
        self.set_autoscale_on(False)
        self.graticules: list[Any] = []
        self._frame_sky()

    def _frame_sky(self) -> None:
        x0, x1, y0, y1 = self.proj.get_extent()
        margin = 0.01 if self.proj.name in ("Mollweide", "Orthographic") else 0.0
        self.set(xlim=(x0 - margin, x1 + margin), ylim=(y0 - margin, y1 + margin), aspect="equal")

    @checked
    def set_format(self, f: str) -> None:
        """Sets how values under the mouse are written, such as '%g'."""
        self._value_format = f

    @checked
    def set_coordprec(self, n: int) -> None:
        """Sets how many digits angles under the mouse have."""
        self._digits = n

    @checked
    def format_coord(self, x: float, y: float) -> str:
        """The text that matplotlib shows for the place under the mouse."""
        lon, lat = self.get_lonlat(x, y)
        if not np.isfinite(lon):
            return ""
        value = self.get_value(x, y)
        shown = "" if value is None else f" value: {self._value_format % value}"
        return f"({lon:.{self._digits}f}, {lat:.{self._digits}f}) deg{shown}"

    @checked
    def get_lonlat(self, x: float, y: float) -> NDArray[np.float64]:
        """Returns longitude and latitude, deg, of a point on the picture; NaN where there is no sky."""
        return self.proj.xy2ang(x, y, lonlat=True)

    @checked
    def get_value(self, x: float, y: float) -> float | None:
        """Returns the value drawn at a point, or None if there is none."""
        i, j = self.proj.xy2ij(x, y)
        if self._picture is None or not np.isfinite(i) or not (0 <= i < len(self._picture)
                                                               and 0 <= j < self._picture.shape[1]):
            return None
        value = float(self._picture[int(i), int(j)])
        return None if is_bad(np.array(value)) else value

    @checked
    def projmap(self, map: Any, vec2pix_func: Callable[..., Any], vmin: float | None = None, vmax: float | None = None,
                badval: float = UNSEEN, badcolor: Any = "gray", bgcolor: Any = "white", cmap: Any = None,
                norm: Any = None, rot: Any = None, coord: Any = None, alpha: Any = None, **kwds: Any) -> Any:
        """Draws a map, and returns the picture, [row, column] from below, -inf where there is no sky.

        vec2pix_func: returns pixels of the map for x, y and z. vmin, vmax: the ends of the colours. badval: a value
        that gets the badcolor, as UNSEEN and NaN do. norm: see get_color_table. rot, coord: see projector.projmap.
        alpha: a map of opacities, or None. kwds: those of the projector's set_proj_plane_info.
        """
        self.proj.set_proj_plane_info(**kwds)
        self._frame_sky()
        picture = self.proj.projmap(map, vec2pix_func, rot=rot, coord=coord)
        sky = ~np.isneginf(picture)
        bad = sky & (is_bad(picture) | mask_bad(picture, badval))
        values = np.ma.MaskedArray(np.where(bad, UNSEEN, picture), bad, fill_value=UNSEEN)
        colors, scale = get_color_table(vmin, vmax, values[sky & ~bad], cmap=cmap, norm=norm, badcolor=badcolor,
                                        bgcolor=bgcolor)
        opacity = sky.astype(np.float64)  # matplotlib takes -inf as bad, not as below the range
        if alpha is not None:
            opacity[sky] = np.clip(self.proj.projmap(alpha, vec2pix_func, rot=rot, coord=coord)[sky], 0, 1)
        x0, x1, y0, y1 = self.proj.get_extent()
        self.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=bgcolor, edgecolor="none", zorder=-1))
        self.imshow(values, cmap=colors, norm=scale, origin="lower", interpolation="nearest", extent=(x0, x1, y0, y1),
                    aspect="equal", alpha=opacity)
        self._frame_sky()
        self._picture = picture
        return values

    def _xy(self, theta: Any, phi: Any, lonlat: bool, coord: Any, rot: Any, direct: bool) -> tuple[Any, Any]:
        """x and y of directions in the frame of rot and in coord, one-dimensional."""
        vectors = dir2vec(theta, phi, lonlat).reshape(3, -1)
        if rot is not None:
            lon, lat, turn = np.radians((*np.atleast_1d(rot), 0.0, 0.0)[:3])
            vectors = rotation_matrix((turn, np.pi / 2 - lat, lon)) @ vectors
        vectors = rotateVector(Rotator(coord=self.proj.mkcoord(coord)).mat, vectors)
        return self.proj.vec2xy(vectors, direct=direct)

    @checked
    def projplot(self, *args: Any, lonlat: bool = False, coord: Any = None, rot: Any = None, direct: bool = False,
                 **kwds: Any) -> list[Any]:
        """Draws a line through directions, and returns matplotlib's lines.

        Call it with theta and phi, or both as one argument; a format such as 'bo' may follow.

        coord: the coordinates of the directions, which are changed to those of the axes, if these have any. rot: (lon,
        lat, psi), deg: the place of the z axis of the directions, and a turn about it. direct: leaves out the rotation
        to the middle. kwds: those of matplotlib's plot.
        """
        theta, phi, rest = _directions(args)
        x, y = self._xy(theta, phi, lonlat, coord, rot, direct)
        return list(self.plot(*self.proj.view.breaks(x, y), *rest, **kwds))

    @checked
    def projscatter(self, theta: Any, phi: Any = None, *args: Any, lonlat: bool = False, coord: Any = None,
                    rot: Any = None, direct: bool = False, **kwds: Any) -> Any:
        """Draws points, and returns matplotlib's collection; see projplot. kwds: those of matplotlib's scatter."""
        x, y = self._xy(theta, phi, lonlat, coord, rot, direct)
        return self.scatter(x, y, *args, **kwds)

    @checked
    def projtext(self, theta: Any, phi: Any, s: str, lonlat: bool = False, coord: Any = None, rot: Any = None,
                 direct: bool = False, **kwds: Any) -> Any:
        """Writes a text at a direction, and returns it; see projplot. Nothing shows outside the picture."""
        x, y = self._xy(theta, phi, lonlat, coord, rot, direct)
        return self.text(float(x[0]), float(y[0]), s, **kwds)

    @checked
    def graticule(self, dpar: float | None = None, dmer: float | None = None, coord: Any = None,
                  local: bool | None = None, verbose: bool = False, fontsize: Any = None, **kwds: Any) -> None:
        """Draws parallels and meridians, dpar and dmer deg apart, by default steps that suit the picture.

        coord: the coordinate system, G, E or C, by default that of the axes. local: draws the graticule around the
        middle of the picture. verbose: prints the steps. fontsize: of the name of the coordinates. kwds: those of
        matplotlib's plot.
        """
        parallel, meridian = self._steps(dpar, dmer)
        if verbose:
            print(f"graticule: parallels every {parallel:g} deg, meridians every {meridian:g} deg")
        style: dict[str, Any] = {"color": "k", "linewidth": 1.0} | kwds
        up, around = np.linspace(-90, 90, 361), np.linspace(-180, 180, 1441)
        lines = [(lon, up) for lon in np.arange(0, 360, meridian)] + \
            [(around, lat) for lat in _multiples(parallel, 90)]
        for lon, lat in lines:
            main = np.ndim(lon) == 0 and lon == 0 or np.ndim(lat) == 0 and lat == 0
            self._grid_line(lon, lat, coord, bool(local), {"linestyle": "-" if main else ":"} | style)
        if self.proj.name == "Mollweide":
            for x, y in rim(self.proj.view):
                self.graticules += self.plot(x, y, **({"linestyle": "-"} | style))
        self._name_system(coord, fontsize)

    def _grid_line(self, lon: Any, lat: Any, coord: Any, local: bool, style: dict[str, Any]) -> None:
        vectors = directions(np.radians(lon), np.radians(lat))
        if not local:
            vectors = rotateVector(Rotator(coord=self.proj.mkcoord(coord)).mat, vectors)
        x, y = self.proj.view.breaks(*self.proj.vec2xy(vectors, direct=local))
        x0, x1, y0, y1 = self.proj.get_extent()
        if np.any((x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)):
            self.graticules += self.plot(x, y, **style)

    def _steps(self, dpar: float | None, dmer: float | None) -> tuple[float, float]:
        """Returns the steps between parallels and between meridians, deg."""
        seen = np.degrees(self.proj.get_fov())
        latitude = np.radians(min(abs(self.proj.get_center(lonlat=True)[1]), 85))
        steps = []
        for name, given, stretch in (("dpar", dpar, 1.0), ("dmer", dmer, 1 / np.cos(latitude))):
            if given is not None and not 0 < given <= 360:
                raise ValueError(f"{name} = {given}: must be above 0 and at most 360 deg")
            fit = _STEPS[_STEPS <= max(seen * stretch / 5, _STEPS[0])][-1]
            steps.append(float(fit if given is None else given))
        return steps[0], steps[1]

    def _name_system(self, coord: Any, fontsize: Any) -> None:
        system = None if coord is None else self.proj.mkcoord(coord)[0]
        if system is not None:
            name = self.text(0.86, 0.1, NAMES[system], fontsize="large" if fontsize is None else fontsize,
                             transform=self.transAxes)
            self.graticules.append(name)

    def delgraticules(self) -> None:
        """Removes all graticules."""
        for artist in self.graticules:
            artist.remove()
        self.graticules = []


def _multiples(step: float, end: float) -> NDArray[np.float64]:
    """The multiples of step above -end and below end."""
    n = int(np.ceil(end / step)) - 1
    return np.float64(step) * np.arange(-n, n + 1)


def _directions(args: tuple[Any, ...]) -> tuple[Any, Any, tuple[Any, ...]]:
    """Returns theta, phi (None if theta holds both), and the arguments after them."""
    if not args or isinstance(args[0], str):
        raise TypeError("projplot: needs theta and phi, or both as one argument")
    if len(args) == 1 or isinstance(args[1], str):
        return args[0], None, args[1:]
    return args[0], args[1], args[2:]


class GnomonicAxes(SphericalProjAxes):
    """Axes with a GnomonicProj."""

    def __init__(self, *args: Any, **kwds: Any) -> None:
        super().__init__(projector.GnomonicProj, *args, **{"coordprec": 3} | kwds)


class MollweideAxes(SphericalProjAxes):
    """Axes with a MollweideProj."""

    def __init__(self, *args: Any, **kwds: Any) -> None:
        super().__init__(projector.MollweideProj, *args, **kwds)


class CartesianAxes(SphericalProjAxes):
    """Axes with a CartesianProj."""

    def __init__(self, *args: Any, **kwds: Any) -> None:
        super().__init__(projector.CartesianProj, *args, **kwds)


class OrthographicAxes(SphericalProjAxes):
    """Axes with an OrthographicProj."""

    def __init__(self, *args: Any, **kwds: Any) -> None:
        super().__init__(projector.OrthographicProj, *args, **kwds)


class AzimuthalAxes(SphericalProjAxes):
    """Axes with an AzimuthalProj."""

    def __init__(self, *args: Any, **kwds: Any) -> None:
        super().__init__(projector.AzimuthalProj, *args, **kwds)


class _HealpixMap(SphericalProjAxes):
    """Axes that draw HEALPix maps."""

    def projmap(self, map: Any, nest: bool = False, **kwds: Any) -> Any:  # type: ignore[override]
        """Draws a HEALPix map in ring or nest order; the other arguments are those of SphericalProjAxes.projmap."""
        nside = get_nside(map)
        return super().projmap(map, lambda x, y, z: vec2pix(nside, x, y, z, nest=nest), **kwds)


class HpxGnomonicAxes(_HealpixMap, GnomonicAxes):
    """GnomonicAxes for HEALPix maps."""


class HpxMollweideAxes(_HealpixMap, MollweideAxes):
    """MollweideAxes for HEALPix maps."""


class HpxCartesianAxes(_HealpixMap, CartesianAxes):
    """CartesianAxes for HEALPix maps."""


class HpxOrthographicAxes(_HealpixMap, OrthographicAxes):
    """OrthographicAxes for HEALPix maps."""


class HpxAzimuthalAxes(_HealpixMap, AzimuthalAxes):
    """AzimuthalAxes for HEALPix maps."""


__all__ = [
    "AzimuthalAxes", "BoundaryLocator", "CartesianAxes", "GnomonicAxes", "HistEqNorm", "HpxAzimuthalAxes",
    "HpxCartesianAxes", "HpxGnomonicAxes", "HpxMollweideAxes", "HpxOrthographicAxes", "LinNorm2", "LogNorm2",
    "MollweideAxes", "OrthographicAxes", "SphericalProjAxes", "create_colormap", "get_color_table", "symlog_backward",
    "symlog_forward",
]

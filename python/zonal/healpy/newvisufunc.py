"""Draws HEALPix maps on matplotlib's own projections, with the names and arguments of healpy.newvisufunc.

Longitudes and latitudes on these axes are rad. With flip = 'astro' east is on the left, and x is minus the longitude.
This module imports matplotlib.

Arguments of projview that its docstring leaves out:

- rot, coord, nest, flip, min, max, norm, cmap, badcolor, bgcolor, remove_dip, remove_mono, gal_cut, hold, sub, margins,
  reuse_axes: see zonal.healpy.visufunc. invRot: False turns the sky the other way. norm_dict: linthresh, base and
  linscale of norm = 'symlog'. xsize: columns of the mesh, with half as many rows.
- graticule: draws the picture's graticule, every longitude_grid_spacing and latitude_grid_spacing deg.
  graticule_labels: labels it in degrees. Longitudes count as phi_convention says (counterclockwise, clockwise or
  symmetrical), and from the middle if rot has more than a longitude. custom_xtick_labels, custom_ytick_labels: replace
  the labels.
- rot_graticule: draws the graticule of the sky, in the coordinates graticule_coord, by default those of the map.
  override_rot_graticule_properties: its g_linestyle, g_linewidth, g_color, g_alpha, and t_step and p_step, deg.
- cbar, unit, format, cb_orientation, cbar_ticks, extend: the colour bar. show_tickmarkers: keeps matplotlib's marks on it,
  with labels at cbar_ticks alone.
- title, xlabel, ylabel, llabel, rlabel, fontname, xtick_label_color, ytick_label_color, graticule_color: texts and
  colours. fontsize: a dict with the sizes of xlabel, ylabel, title, xtick_label, ytick_label, cbar_label and
  cbar_tick_label.
- width: of the figure, inches. dpi: dots per inch of the figure. fig: number of the figure.
- override_plot_properties: a dict with cbar_shrink, cbar_pad, cbar_label_pad, cbar_tick_direction,
  vertical_tick_rotation, figure_width and figure_size_ratio.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import Formatter
from numpy.typing import NDArray

from .._pixels import is_bad
from ..plot.view import directions
from ._checked import checked
from ._maps import maptype, stacked
from ._norms import create_colormap, get_color_table
from ._projview import FONT_KEYS, PROPERTIES, Picture, new_axes
from ._rotations import dir2vec, vec2dir
from .pixelfunc import UNSEEN, ang2pix, npix2nside, thetaphi2lonlat
from .rotator import Rotator
from .visufunc import fitted_out


class _DegreeFormatter(Formatter):
    """Writes angles, rad, as degrees rounded to a step."""

    sign, all_positive = 1, True

    def __init__(self, round_to: float = 1.0, rot_offset: float = 0.0) -> None:
        self._step, self._offset = round_to, rot_offset

    def __call__(self, x: float, pos: int | None = None) -> str:
        degrees = self.sign * round(float(np.degrees(x)) / self._step) * self._step + self._offset
        turned = degrees % 360
        if not self.all_positive and turned > 180:
            turned -= 360
        return f"{turned:g}°"


class ThetaFormatterCounterclockwisePhi(_DegreeFormatter):
    """Longitudes from 0 to 360 deg that grow to the left. round_to: deg; rot_offset: the longitude at 0."""

    sign = -1


class ThetaFormatterClockwisePhi(_DegreeFormatter):
    """Longitudes from 0 to 360 deg that grow to the right."""


class ThetaFormatterSymmetricPhi(_DegreeFormatter):
    """Longitudes from -180 to 180 deg that grow to the right."""

    all_positive = False


class ThetaFormatterTheta(_DegreeFormatter):
    """Latitudes."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{round(float(np.degrees(x)) / self._step) * self._step + self._offset:g}°"


_PHI = {"counterclockwise": ThetaFormatterCounterclockwisePhi, "clockwise": ThetaFormatterClockwisePhi,
        "symmetrical": ThetaFormatterSymmetricPhi}
_GRATICULE = {"g_linestyle": "-", "g_linewidth": 1.5, "g_color": "gray", "g_alpha": 0.75, "t_step": 30, "p_step": 30}
_NORM = {"linthresh": 1, "base": 10, "linscale": 0.1}


@checked
def projview(m: Any = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str = "", xsize: int = 1000,
             width: float | None = None, nest: bool = False, min: float | None = None, max: float | None = None,
             flip: str = "astro", format: str = "%g", cbar: bool = True, cmap: Any = "viridis", badcolor: Any = "grey",
             bgcolor: Any = "white", norm: Any = None, norm_dict: dict[str, Any] | None = None,
             graticule: bool = False, graticule_labels: bool = False, rot_graticule: bool = False,
             graticule_coord: Any = None, override_rot_graticule_properties: dict[str, Any] | None = None,
             return_only_data: bool = False, projection_type: str = "mollweide", cb_orientation: str = "horizontal",
             xlabel: str | None = None, ylabel: str | None = None, longitude_grid_spacing: float = 60,
             latitude_grid_spacing: float = 30, override_plot_properties: dict[str, Any] | None = None,
             title: str | None = None, rlabel: str | None = None, llabel: str | None = None,
             xtick_label_color: Any = "black", ytick_label_color: Any = "black", graticule_color: Any = None,
             fontname: str | None = None, fontsize: dict[str, Any] | None = None,
             phi_convention: str = "counterclockwise", custom_xtick_labels: Any = None, custom_ytick_labels: Any = None,
             cbar_ticks: Any = None, show_tickmarkers: bool = False, extend: str | None = None, invRot: bool = True,
             sub: Any = 111, reuse_axes: bool = False, margins: Any = None, hold: bool = False,
             remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0, latra: Any = None,
             lonra: Any = None, dpi: float | None = None, **kwargs: Any) -> Any:
    """Draws a map, [pixel], or for None an empty sky, on one of matplotlib's projections, and returns the mesh.

    projection_type: mollweide, hammer, aitoff, lambert, cart, polar or 3d. lonra (only cart) and latra (cart and
    lambert): ranges, deg. return_only_data: draws nothing and returns longitudes and latitudes, rad, as they would be
    drawn, and the values, [latitude, longitude]. kwargs: those of matplotlib's pcolormesh, or of plot_surface for 3d.
    The docstring of this module describes the other arguments, from rot to dpi.
    """
    ask = Picture(**{name: value for name, value in locals().items() if name in Picture.names()})
    ask.check()
    x, y, values = _sampled(m, ask, xsize, nest, fitted=(remove_dip, remove_mono, gal_cut))
    if return_only_data:
        return x, y, values
    fonts = _checked("fontsize", dict.fromkeys(FONT_KEYS), fontsize)
    properties = _properties(ask, width, override_plot_properties)
    style = _checked("override_rot_graticule_properties", _GRATICULE, override_rot_graticule_properties)
    options = _checked("norm_dict", _NORM, norm_dict)
    if norm_dict and norm != "symlog":
        raise ValueError(f"norm_dict: is for norm = 'symlog', not for {norm!r}")
    if width is not None and not 0 < width < np.inf:
        raise ValueError(f"width = {width}: must be above 0 and finite, in inches")
    if width is not None and (hold or reuse_axes):
        raise ValueError("width: has no effect with hold or reuse_axes; leave one of them out")
    ax = new_axes(ask, fig, sub, hold, reuse_axes, margins, dpi, properties)
    mesh = None
    if m is not None:
        colors, scale = get_color_table(min, max, values, cmap=cmap, norm=norm, badcolor=badcolor, bgcolor=bgcolor,
                                        **options)
        mesh = _mesh(ax, ask, (x, y, values), colors, scale, kwargs)
    elif kwargs:
        raise ValueError(f"{', '.join(kwargs)}: are for the mesh, which needs a map")
    ask.frame(ax)
    formatter = _formatter(ask)
    ask.grid(ax, formatter, ThetaFormatterTheta(latitude_grid_spacing if ask.on_globe else 1.0), fonts)
    if rot_graticule or graticule_coord is not None:
        _draw_sky_lines(ax, ask, style)
    ask.texts(ax, fonts)
    if cbar and mesh is not None:
        ask.colorbar(ax, mesh, properties, fonts)
    plt.sca(ax)
    return mesh


def _checked(name: str, defaults: dict[str, Any], given: dict[str, Any] | None) -> dict[str, Any]:
    """Returns the defaults, updated by what is given. Raises ValueError for unknown keys."""
    return update_dictionary(defaults, given or {}, name)


@checked
def update_dictionary(main_dict: dict[str, Any], update_dict: dict[str, Any],
                      name: str = "update_dict") -> dict[str, Any]:
    """Returns a copy of main_dict, updated by update_dict. Raises ValueError for keys that main_dict does not have."""
    unknown = set(update_dict) - set(main_dict)
    if unknown:
        raise ValueError(f"{name}: has {', '.join(map(str, sorted(unknown)))}: its keys must be among "
                         f"{', '.join(main_dict)}")
    return {**main_dict, **update_dict}


def _properties(ask: Picture, width: float | None, override: dict[str, Any] | None) -> dict[str, Any]:
    properties = PROPERTIES[ask.cb_orientation] | ({"figure_width": 12.0} if ask.projection_type == "polar" else {}) | \
        ({"figure_width": 14.0} if ask.projection_type == "3d" else {})
    if width is not None:
        properties["figure_width"] = width
    return _checked("override_plot_properties", properties, override)


def _sampled(m: Any, ask: Picture, xsize: int, nest: bool,
             fitted: tuple[bool, bool, float]) -> tuple[Any, Any, np.ma.MaskedArray[Any, Any]]:
    """x and y of the mesh, and the map's values there, [y, x], masked where they are bad."""
    x, y = ask.places(xsize)
    values = np.ma.MaskedArray(np.full((y.size, x.size), UNSEEN), True)
    if m is None:
        return x, y, values
    if maptype(m) > 1:
        raise TypeError(f"m: holds {maptype(m)} maps: must be one")
    sky = fitted_out(stacked(m).reshape(-1), fitted[0], fitted[1], fitted[2], nest)
    sky = np.ma.filled(np.ma.asarray(sky, np.float64), UNSEEN)
    picture = directions(*np.meshgrid(-x if ask.flip == "astro" else x, y))
    theta, phi = vec2dir(np.tensordot(_rotation(ask).mat.T, picture, axes=1))
    found = sky[ang2pix(npix2nside(sky.size), theta, phi, nest=nest)]
    return x, y, np.ma.MaskedArray(found, is_bad(found))


def _rotation(ask: Picture) -> Rotator:
    """Returns the rotation from the map to the picture."""
    turn = Rotator(rot=ask.rot, coord=ask.coord)
    return turn if ask.invRot else turn.get_inverse()


def _mesh(ax: Any, ask: Picture, data: tuple[Any, Any, Any], colors: Any, scale: Any, kwargs: dict[str, Any]) -> Any:
    x, y, values = data
    if ask.projection_type == "3d":
        options: dict[str, Any] = {"rcount": 100, "ccount": 200, "linewidth": 0} | kwargs
        across, up = np.meshgrid(x, y)
        return ax.plot_surface(across, up, values.filled(np.nan), cmap=colors, norm=scale, **options)
    if "shading" not in kwargs:
        x, y = _edges(x), _edges(y)
    return ax.pcolormesh(x, y, values, cmap=colors, norm=scale, **({"rasterized": True} | kwargs))


def _edges(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """The edges of cells. The first and the last cell end at their centres, as nothing lies beyond the poles."""
    return np.concatenate([centres[:1], (centres[1:] + centres[:-1]) / 2, centres[-1:]])


def _formatter(ask: Picture) -> Formatter:
    """The formatter of longitudes. They count from the longitude in the middle if the poles are at top and bottom."""
    angles = np.zeros(3)
    if ask.rot is not None:
        given = np.atleast_1d(np.asarray(ask.rot, float))
        angles[:given.size] = given
    offset = float(angles[0]) * (1 if ask.invRot else -1) if np.all(angles[1:] == 0) else 0.0
    return _PHI[ask.phi_convention](1.0, rot_offset=offset)


def _draw_sky_lines(ax: Any, ask: Picture, style: dict[str, Any]) -> None:
    for lon, lat in _sky_lines(ask, style):
        ax.plot(lon, lat, linestyle=style["g_linestyle"], linewidth=style["g_linewidth"], color=style["g_color"],
                alpha=style["g_alpha"])


def _sky_lines(ask: Picture, style: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The lines of the sky's graticule, as x and y on the axes."""
    if ask.projection_type in ("3d", "polar"):
        raise ValueError(f"rot_graticule: cannot be drawn for projection_type = {ask.projection_type!r}")
    if ask.graticule_coord is not None and ask.coord is None:
        raise ValueError(f"graticule_coord = {ask.graticule_coord!r}: needs the map's coordinates, coord")
    matrix = _rotation(ask).mat
    if ask.graticule_coord is not None:
        first = Rotator(coord=ask.coord).coordin
        matrix = matrix @ Rotator(coord=[ask.graticule_coord, first]).mat
    lines = _graticule_lines(matrix, style["t_step"], style["p_step"])
    return [(-x if ask.flip == "astro" else x, y) for x, y in lines]


def _graticule_lines(matrix: NDArray[np.float64], t_step: float, p_step: float) -> list[tuple[Any, Any]]:
    """x and y, rad, of turned parallels, t_step deg apart, and meridians, p_step apart; NaN where they are cut."""
    for name, step in (("t_step", t_step), ("p_step", p_step)):
        if not 0 < step <= 180:
            raise ValueError(f"{name} = {step}: must be above 0 and at most 180 deg")
    around, up = np.radians(np.linspace(-180, 180, 721)), np.radians(np.linspace(-90, 90, 361))
    lines = [directions(around, lat) for lat in np.radians(np.arange(-90 + t_step, 90, t_step))] + \
        [directions(lon, up) for lon in np.radians(np.arange(-180, 180, p_step))]
    found = []
    for line in lines:
        x, y, z = matrix @ line
        lon, lat = np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))
        cut = np.flatnonzero(np.abs(np.diff(lon)) > np.pi) + 1
        found.append((np.insert(lon, cut, np.nan), np.insert(lat, cut, np.nan)))
    return found


@checked
def CreateRotatedGraticule(rot: Any, t_step: float = 30, p_step: float = 30) -> list[tuple[Any, Any]]:
    """Returns the lines of the graticule of a sky with rot (deg) in its middle, as longitudes and latitudes, rad.

    NaN separates the parts of a line where it crosses the edge of the picture.
    """
    return _graticule_lines(Rotator(rot=rot).mat, t_step, p_step)


@checked
def newprojplot(theta: Any, phi: Any, fmt: str | None = None, lonlat: bool = False, **kwargs: Any) -> list[Any]:
    """Draws a line through directions over the current axes, which projview drew, and returns matplotlib's lines.

    theta, phi: rad, or with lonlat longitude and latitude, deg, in the frame of the picture. fmt: such as 'ro'. kwargs:
    those of matplotlib's plot. Give plt.legend a loc: it takes long to find the best one on these projections.
    """
    ax = plt.gca()
    flip = getattr(ax, "healpy_flip", None)
    if flip is None:
        raise TypeError("the current axes show no sky: call projview first, or make its axes current with plt.sca")
    vectors = dir2vec(theta, phi, lonlat)
    angles, longitude = vec2dir(vectors)
    x = -longitude if flip == "astro" else longitude
    return list(ax.plot(x, np.pi / 2 - angles, *(() if fmt is None else (fmt,)), **kwargs))


__all__ = [
    "CreateRotatedGraticule", "ThetaFormatterClockwisePhi", "ThetaFormatterCounterclockwisePhi",
    "ThetaFormatterSymmetricPhi", "ThetaFormatterTheta", "create_colormap", "newprojplot", "projview",
    "thetaphi2lonlat", "update_dictionary",
]

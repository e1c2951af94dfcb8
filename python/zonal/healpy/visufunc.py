"""Draws HEALPix maps, with the names and arguments of healpy.visufunc. The first picture imports matplotlib.

All *view functions take a map, [pixel], or None for an empty sky. Their other arguments are:

- fig: a figure or its number, by default a new figure. hold: takes the place of the current axes. sub: the place in the
  current figure, as for subplot: 221 or (2, 2, 1). reuse_axes: draws into the current axes, which must be of the same
  kind. margins: (left, bottom, right, top) of the axes, in units of the figure or of the place chosen by sub.
- rot: (longitude, latitude, turn), deg, of the middle. coord: the letter (G, E, C) of the map's coordinates, or two,
  from and to. nest: the map is in nest order. flip: 'astro' (east to the left) or 'geo'.
- remove_dip, remove_mono: subtract the monopole and dipole, or the monopole. gal_cut: the fit leaves out latitudes
  below this, deg.
- min, max: the ends of the colours; values beyond them get the colours of the ends. norm: hist, log, symlog, symlog2,
  None or a matplotlib norm. cmap: the colour map. badcolor, bgcolor: the colours of bad pixels and of points off the
  sky. alpha: a map of opacities.
- title, unit, cbar, format (format2 is for values under the mouse), nlocs (ticks of the bar), notext; None is no title,
  no unit and matplotlib's format. fontsize: a dict with title, cbar_label and cbar_tick_label.
- xsize: columns of the raster. return_projected_map: returns it, [row, column] from below, -inf where there is no sky.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._notes import warn
from ..coefficients import remove_dipole
from ..plot._matplotlib import load
from ._checked import checked
from ._maps import maptype, stacked
from ._rotations import NAMES
from .pixelfunc import UNSEEN, npix2nside, pix2vec
from .rotator import Rotator

if TYPE_CHECKING:
    from .projaxes import SphericalProjAxes

_FONTS = ("title", "cbar_label", "cbar_tick_label")
_TALL = (5.8, 6.4)  # inches
_WIDE = (8.5, 5.4)


@checked
def mollview(map: Any = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str | None = "", xsize: int = 800,
             title: str | None = "Mollweide view", nest: bool = False, min: float | None = None, max: float | None = None,
             flip: str = "astro", remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0,
             format: str | None = "%g", format2: str | None = "%g", cbar: bool = True, cmap: Any = None, badcolor: Any = "gray",
             bgcolor: Any = "white", notext: bool = False, norm: Any = None, hold: bool = False,
             reuse_axes: bool = False, margins: Any = None, sub: Any = None, nlocs: int = 2,
             return_projected_map: bool = False, alpha: Any = None, fontsize: dict[str, Any] | None = None) -> Any:
    """Draws the whole sky in an ellipse. The arguments are those of all *view functions, see this module."""
    return _view("HpxMollweideAxes", locals(), {"xsize": xsize}, "Mollweide")


@checked
def gnomview(map: Any = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str | None = "", xsize: int = 200,
             ysize: int | None = None, reso: float = 1.5, title: str | None = "Gnomonic view", nest: bool = False,
             remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0, min: float | None = None,
             max: float | None = None, flip: str = "astro", format: str | None = "%.3g", cbar: bool = True, cmap: Any = None,
             badcolor: Any = "gray", bgcolor: Any = "white", norm: Any = None, hold: bool = False, sub: Any = None,
             reuse_axes: bool = False, margins: Any = None, notext: bool = False, return_projected_map: bool = False,
             no_plot: bool = False, alpha: Any = None, fontsize: dict[str, Any] | None = None) -> Any:
    """Draws a rectangle around the middle, with straight great circles.

    xsize, ysize: columns and rows; by default there are as many rows as columns. reso: the size of a raster pixel,
    arcmin. no_plot: only returns the raster. The other arguments are those of all *view functions, see this module.
    """
    return _view("HpxGnomonicAxes", locals(), {"xsize": xsize, "ysize": ysize, "reso": reso}, "Gnomonic", _TALL)


@checked
def cartview(map: Any = None, fig: Any = None, rot: Any = None, zat: Any = None, coord: Any = None, unit: str | None = "",
             xsize: int = 800, ysize: int | None = None, lonra: Any = None, latra: Any = None,
             title: str | None = "Cartesian view", nest: bool = False, remove_dip: bool = False, remove_mono: bool = False,
             gal_cut: float = 0, min: float | None = None, max: float | None = None, flip: str = "astro",
             format: str | None = "%.3g", cbar: bool = True, cmap: Any = None, badcolor: Any = "gray", bgcolor: Any = "white",
             norm: Any = None, aspect: Any = None, hold: bool = False, sub: Any = None, reuse_axes: bool = False,
             margins: Any = None, notext: bool = False, return_projected_map: bool = False, alpha: Any = None,
             fontsize: dict[str, Any] | None = None) -> Any:
    """Draws longitude against latitude.

    lonra, latra: their ranges relative to the middle, deg. ysize: rows. zat: (longitude, latitude, turn), deg, of the
    point at the top, in place of rot. aspect: of the axes, by default 'equal'. The other arguments are those of all
    *view functions, see this module.
    """
    size = {"xsize": xsize, "ysize": ysize, "lonra": lonra, "latra": latra}
    return _view("HpxCartesianAxes", locals(), size, "Cartesian")


@checked
def orthview(map: Any = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str | None = "", xsize: int = 800,
             half_sky: bool = False, title: str | None = "Orthographic view", nest: bool = False, min: float | None = None,
             max: float | None = None, flip: str = "astro", remove_dip: bool = False, remove_mono: bool = False,
             gal_cut: float = 0, format: str | None = "%g", format2: str | None = "%g", cbar: bool = True, cmap: Any = None,
             badcolor: Any = "gray", bgcolor: Any = "white", notext: bool = False, norm: Any = None,
             hold: bool = False, margins: Any = None, sub: Any = None, reuse_axes: bool = False,
             return_projected_map: bool = False, alpha: Any = None, fontsize: dict[str, Any] | None = None) -> Any:
    """Draws both sides of the sphere as seen from afar, or with half_sky only the near side.

    The arguments are those of all *view functions, see this module.
    """
    return _view("HpxOrthographicAxes", locals(), {"xsize": xsize, "half_sky": half_sky}, "Orthographic")


@checked
def azeqview(map: Any = None, fig: Any = None, rot: Any = None, zat: Any = None, coord: Any = None, unit: str | None = "",
             xsize: int = 800, ysize: int | None = None, reso: float = 1.5, lamb: bool = False, half_sky: bool = False,
             title: str | None = None, nest: bool = False, remove_dip: bool = False, remove_mono: bool = False,
             gal_cut: float = 0, min: float | None = None, max: float | None = None, flip: str = "astro",
             format: str | None = "%.3g", cbar: bool = True, cmap: Any = None, badcolor: Any = "gray", bgcolor: Any = "white",
             norm: Any = None, aspect: Any = None, hold: bool = False, sub: Any = None, reuse_axes: bool = False,
             margins: Any = None, notext: bool = False, return_projected_map: bool = False, alpha: Any = None,
             fontsize: dict[str, Any] | None = None) -> Any:
    """Draws a view that keeps directions and distances from the middle, or with lamb directions and areas.

    xsize, ysize: columns and rows. reso: the size of a raster pixel in the middle, arcmin. half_sky: shows only the
    near side. zat, aspect: see cartview. The other arguments are those of all *view functions, see this module.
    """
    size = {"xsize": xsize, "ysize": ysize, "reso": reso, "lamb": lamb, "half_sky": half_sky}
    if title is None:
        title = "Lambert azimuthal equal-area view" if lamb else "Azimuthal equidistant view"
    return _view("HpxAzimuthalAxes", locals(), size, "Azimuthal")


def _view(axes: str, given: dict[str, Any], size: dict[str, Any], name: str,
          inches: tuple[float, float] = _WIDE) -> Any:
    """Draws the picture that the arguments `given` of a *view function ask for."""
    fonts = _fonts(given["fontsize"])
    sky = _map_of(given)
    if given.get("no_plot") and sky is None:
        raise ValueError("no_plot: needs a map")
    before = load("pyplot").get_fignums()
    ax = _axes(axes, given, inches, name)
    if sky is None:
        ax.proj.set_proj_plane_info(**size)
        ax._frame_sky()
        picture = ax.proj.projmap(np.full(12, UNSEEN), lambda x, y, z: np.zeros(x.shape, np.int64))
    else:
        picture = ax.projmap(sky, vmin=given["min"], vmax=given["max"], coord=given["coord"],
                             **{key: given[key] for key in ("nest", "cmap", "badcolor", "bgcolor", "norm", "alpha")},
                             **size)
        if given["cbar"] and np.ma.count(picture[np.isfinite(picture)]):  # no bar if all pixels are bad
            _colorbar(ax, given, fonts)
    _texts(ax, given, fonts, name)
    if given.get("aspect") is not None:
        ax.set_aspect(given["aspect"])
    if given.get("no_plot"):
        ax.remove()
        for number in set(load("pyplot").get_fignums()) - set(before):
            load("pyplot").close(number)
    return picture if given["return_projected_map"] or given.get("no_plot") else None


def _fonts(fontsize: dict[str, Any] | None) -> dict[str, Any]:
    fonts = fontsize or {}
    unknown = set(fonts) - set(_FONTS)
    if unknown:
        raise ValueError(f"fontsize: has {', '.join(sorted(unknown))}: its keys must be among {', '.join(_FONTS)}")
    return {"title": None, "cbar_label": "large", "cbar_tick_label": None} | fonts


def _map_of(given: dict[str, Any]) -> Any:
    """Returns the map to draw, without its monopole and dipole if that is asked for; None for an empty sky."""
    if given["map"] is None:
        return None
    if maptype(given["map"]) > 1:
        raise TypeError(f"map: holds {maptype(given['map'])} maps: must be one")
    sky = stacked(given["map"]).reshape(-1)
    return fitted_out(sky, given["remove_dip"], given["remove_mono"], given["gal_cut"], given["nest"])


def fitted_out(sky: Any, dipole: bool, monopole: bool, gal_cut: float, nest: bool) -> Any:
    """Returns a map, minus a monopole, or monopole and dipole, that is fitted beyond latitude gal_cut, deg."""
    if not (dipole or monopole):
        if gal_cut:
            raise ValueError(f"gal_cut = {gal_cut}: has an effect only with remove_dip or remove_mono")
        return sky
    values = np.ma.filled(np.ma.asarray(sky, np.float64), UNSEEN)
    beyond = np.abs(pix2vec(npix2nside(values.size), np.arange(values.size), nest)[2]) > np.sin(np.radians(gal_cut))
    return remove_dipole(values, mask=(beyond | (gal_cut == 0)).astype(float), monopole_only=not dipole, nest=nest)


def _axes(kind: str, given: dict[str, Any], inches: tuple[float, float], name: str) -> SphericalProjAxes:
    """Returns new axes of this kind in the figure and place asked for, or the current ones to reuse."""
    pyplot = load("pyplot")
    from . import projaxes  # which imports matplotlib

    rot = given["rot"]
    if given["reuse_axes"]:
        no_effect("reuse_axes", **{name: given.get(name) for name in ("fig", "sub", "margins", "zat")},
                  hold=given["hold"] or None)
        current = pyplot.gca()
        if type(current).__name__ != kind:
            raise TypeError(f"reuse_axes: the current axes are {type(current).__name__}, not {kind}")
        if (rot is not None and Rotator(rot=rot) != current.proj.rotator) or \
                (given["flip"] == "geo" and current.proj._flip != "geo"):
            raise ValueError("rot, flip: must be those of the reused axes")
        return current  # type: ignore[no-any-return]
    if given.get("zat") is not None:
        if rot is not None:
            raise ValueError("rot, zat: must not both be given")
        lon, lat, turn = (*np.atleast_1d(given["zat"]), 0.0, 0.0)[:3]
        rot = (lon, lat - 90, turn)
    figure, place = placed(given["fig"], given["hold"], given["sub"], given["margins"], inches)
    options = {"rot": rot, "coord": given["coord"], "flipconv": given["flip"]}
    options["format"] = given.get("format2", given["format"]) or "%g"
    ax: SphericalProjAxes = getattr(projaxes, kind)(figure, place, **options)
    figure.add_axes(ax)
    pyplot.sca(ax)
    return ax


def placed(fig: Any, hold: bool, sub: Any, margins: Any,
           inches: tuple[float, float]) -> tuple[Any, tuple[float, float, float, float]]:
    """Returns the figure and the place in it (left, bottom, width, height) that a *view function was asked for."""
    pyplot = load("pyplot")
    left, bottom, right, top = (0.02, 0.05, 0.02, 0.05) if margins is None else margins
    if hold:
        no_effect("hold", fig=fig, sub=sub)
        old = pyplot.gca()
        figure, box = old.figure, old.get_position()
        old.remove()
        edges = (0.0,) * 4 if margins is None else margins
    elif sub is not None:
        figure = pyplot.gcf() if fig is None else _figure(fig, inches)
        rows, columns, number = map(int, str(sub)) if np.ndim(sub) == 0 else sub
        if not 1 <= number <= rows * columns:
            raise ValueError(f"sub = {sub}: must be (rows, columns, number), with number from 1 to rows times columns")
        width, height = 1 / columns, 1 / rows
        x0, y0 = (number - 1) % columns * width, 1 - ((number - 1) // columns + 1) * height
        box = load("transforms").Bbox([[x0, y0], [x0 + width, y0 + height]])
        edges = (left * width, bottom * height, right * width, top * height)
    else:
        figure = pyplot.figure(figsize=inches) if fig is None else _figure(fig, inches)
        box, edges = load("transforms").Bbox([[0, 0], [1, 1]]), (left, bottom, right, top)
    return figure, (box.x0 + edges[0], box.y0 + edges[1], box.width - edges[0] - edges[2],
                    box.height - edges[1] - edges[3])


def no_effect(option: str, **others: Any) -> None:
    """Raises ValueError if arguments are given that have no effect with an option."""
    names = [name for name, value in others.items() if value is not None]
    if names:
        raise ValueError(f"{', '.join(names)}: has no effect with {option}; leave one of them out")


def _figure(fig: Any, inches: tuple[float, float]) -> Any:
    pyplot = load("pyplot")
    if isinstance(fig, load("figure").Figure):
        return fig
    return pyplot.figure(fig) if pyplot.fignum_exists(fig) else pyplot.figure(fig, figsize=inches)


def _colorbar(ax: Any, given: dict[str, Any], fonts: dict[str, Any]) -> None:
    """Adds a bar below the picture, with ticks at its ends and the unit between them."""
    from .projaxes import BoundaryLocator

    image = ax.images[-1]
    ticks = BoundaryLocator(given.get("nlocs", 2), image.norm)
    bar = ax.figure.colorbar(image, ax=ax, orientation="horizontal", shrink=0.5, aspect=25, fraction=0.1,
                             pad=0.08 if ax.proj.name == "Gnomonic" else 0.05,
                             ticks=ticks, format=given["format"])
    bar.solids.set_rasterized(True)
    if fonts["cbar_tick_label"] is not None:
        bar.ax.tick_params(labelsize=fonts["cbar_tick_label"])
    bar.ax.text(0.5, -1.0, given["unit"], transform=bar.ax.transAxes, ha="center", va="center",
                fontsize=fonts["cbar_label"])
    load("pyplot").sca(ax)


def _texts(ax: Any, given: dict[str, Any], fonts: dict[str, Any], name: str) -> None:
    ax.set_title(given["title"], **({} if fonts["title"] is None else {"fontsize": fonts["title"]}))
    if given["notext"]:
        return
    if ax.proj.coordsys is not None:
        ax.text(0.86, 0.05, NAMES[ax.proj.coordsys], fontsize="large", transform=ax.transAxes)
    if name == "Gnomonic":
        info = ax.proj.arrayinfo
        lon, lat = ax.proj.get_center(lonlat=True)
        ax.text(-0.07, 0.02, f"{info['reso']:g} '/pix, {info['xsize']}x{info['ysize']} pix", rotation="vertical",
                transform=ax.transAxes, va="bottom")
        ax.text(0.5, -0.04, f"({lon:g},{lat:g})", transform=ax.transAxes, ha="center", va="center")


@checked
def graticule(dpar: float | None = None, dmer: float | None = None, coord: Any = None, local: bool | None = None,
              fontsize: Any = None, **kwds: Any) -> None:
    """Draws parallels and meridians, dpar and dmer deg apart, over all views of the sky in the current figure.

    See SphericalProjAxes.graticule of zonal.healpy.projaxes.
    """
    for ax in _views():
        ax.graticule(dpar, dmer, coord, local, fontsize=fontsize, **kwds)


def delgraticules() -> None:
    """Removes the graticules of all views of the sky in the current figure."""
    for ax in _views():
        ax.delgraticules()


def projplot(*args: Any, **kwds: Any) -> Any:
    """Draws a line over the current axes; see SphericalProjAxes.projplot."""
    return _drawn("projplot", args, kwds)


def projscatter(*args: Any, **kwds: Any) -> Any:
    """Draws points over the current axes; see SphericalProjAxes.projscatter."""
    return _drawn("projscatter", args, kwds)


def projtext(*args: Any, **kwds: Any) -> Any:
    """Writes a text over the current axes; see SphericalProjAxes.projtext."""
    return _drawn("projtext", args, kwds)


def _views() -> list[SphericalProjAxes]:
    """Returns the axes of the current figure that show a sky. Raises TypeError if there are none."""
    from .projaxes import SphericalProjAxes

    pyplot = load("pyplot")
    found = [ax for ax in pyplot.gcf().axes if isinstance(ax, SphericalProjAxes)]
    if not found:
        raise TypeError("the axes of the current figure show no sky: call mollview, gnomview, ... first")
    return found


def _drawn(name: str, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
    """Calls a method of the current axes. If these show no sky, but others do, it warns and returns None."""
    ax = _current()
    if ax is None:
        warn([f"{name}: the current axes show no sky, so nothing is drawn; plt.sca makes others current"])
        return None
    return getattr(ax, name)(*args, **kwds)


def _current() -> Any:
    """Returns the current axes, or None if these show no sky, but others of the figure do."""
    views, current = _views(), load("pyplot").gca()
    return current if current in views else None


__all__ = [
    "azeqview", "cartview", "delgraticules", "gnomview", "graticule", "mollview", "orthview", "projplot",
    "projscatter", "projtext",
]

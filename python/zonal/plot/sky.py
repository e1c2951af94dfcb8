"""Pictures of HEALPix maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._angles import AngleLike, angle, width
from .._checked import checked, takes_options_of
from .._kinds import kind_of
from .._units import text_of
from ._matplotlib import load, own_axes
from ._values import Sky, said_by
from .colors import color_map, robust_limits, scale
from .frame import is_framed, name_coordinates, new_axes
from .overlay import graticule as draw_graticule
from .overlay import outline
from .projections import Cartesian, EqualArea, Equidistant, Gnomonic, Mollweide, Orthographic, Projection
from .units import typeset
from .view import View, prepare

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._options import PictureOptions, PolarPictureOptions

@checked
def draw(map: ArrayLike | None, projection: Projection, *, nest: bool | None = None, rot: Any = None,
         coord: str | None = None, mask: ArrayLike | None = None, min: float | None = None, max: float | None = None,
         norm: Any = None, linear_width: float | None = None, cmap: Any = None, bad_color: Any = "gray",
         unit: str | None = None, title: str | None = None, colorbar: bool = True, graticule: bool = True, width: int = 1000,
         ax: Any = None) -> Any:
    """Draws a map in any projection, and returns the axes. The options are those of `zonal.plot`."""
    given = kind_of(map)
    nest, coord = said_by(given.map, nest, coord)
    if unit is None:
        unit = text_of(given.unit) if given.map is None else given.map.unit
    if title is None:
        title = given.map.columns[0] if given.map is not None and given.map.columns else ""
    view = View.of(projection, rot, coord)
    ax = new_axes(view) if ax is None else own_axes(ax)
    prepare(ax, view)
    if map is not None:
        picture = view.sampled(Sky(map, mask, nest), *view.raster(width))
        values = picture.compressed()
        if norm is None or isinstance(norm, str):
            min, max = robust_limits(values, min, max, norm and norm.lower())
        colors = scale(norm, values, min, max, linear_width)
        if isinstance(colors, load("colors").LogNorm):
            colors.clip = True  # so that what is not positive has the lowest colour, not that of bad pixels
        if cmap is None and min is not None and max is not None and min == -max:
            cmap = "coolwarm"
        image = show(ax, view, picture, colors, color_map(cmap, bad_color))
        if colorbar:
            add_colorbar(ax, image, typeset(unit), below=not is_framed(view) or projection.aspect > 1.5)
    elif mask is not None:
        raise ValueError("mask: needs a map")
    ax.set_title(title)
    outline(ax)
    if graticule:
        draw_graticule(ax)
        name_coordinates(ax, view)
    return ax


@takes_options_of(draw)
def mollweide(map: ArrayLike | None, *, flip: Literal["astro", "geo"] = "astro", **options: Unpack[PictureOptions]) -> Any:
    """Draws the whole sky in an ellipse, keeping areas, and returns the axes. The options are those of `zonal.plot`."""
    return draw(map, Mollweide(_east_left(flip)), **options)


@takes_options_of(draw)
def gnomonic(map: ArrayLike | None, *, size: AngleLike = "10deg", flip: Literal["astro", "geo"] = "astro",
             **options: Unpack[PictureOptions]) -> Any:
    """Draws a square around the middle, with straight great circles, and returns the axes.

    size: the square's side on the sky, below 180 deg. The options are those of `zonal.plot`; rot chooses the middle.
    """
    side = angle(size, "size")
    if not 0 < side < np.pi:
        raise ValueError(f"size = {size}: must be above 0 and below 180 deg")
    return draw(map, Gnomonic(_east_left(flip), np.tan(side / 2)), **options)


@takes_options_of(draw)
def cartesian(map: ArrayLike | None, *, lon: tuple[AngleLike, AngleLike] = ("-180deg", "180deg"),
              lat: tuple[AngleLike, AngleLike] = ("-90deg", "90deg"), flip: Literal["astro", "geo"] = "astro",
              **options: Unpack[PictureOptions]) -> Any:
    """Draws longitude against latitude, and returns the axes, whose units are degrees.

    lon, lat: the ranges drawn, relative to the middle of the view. The options are those of `zonal.plot`.
    """
    across, up = _range("lon", lon, 360), _range("lat", lat, 180)
    if max(-up[0], up[1]) > 90 * (1 + 1e-12):
        raise ValueError(f"lat = {up[0]:g} to {up[1]:g} deg: must lie from -90 to 90 deg")
    return draw(map, Cartesian(_east_left(flip), across, up), **options)


def _range(name: str, ends: tuple[AngleLike, AngleLike], widest: float) -> tuple[float, float]:
    """Both ends in degrees."""
    first, last = (float(np.degrees(angle(end, name))) for end in ends)
    if not 0 < last - first <= widest * (1 + 1e-12):
        raise ValueError(f"{name} = {first:g} to {last:g} deg: must grow, and span {widest:g} deg at most")
    return first, last


@takes_options_of(draw)
@checked
def orthographic(map: ArrayLike | None, *, both_sides: bool = False, flip: Literal["astro", "geo"] = "astro",
                 **options: Unpack[PictureOptions]) -> Any:
    """Draws the sphere as seen from afar, or both its sides next to each other, and returns the axes.

    The options are those of `zonal.plot`.
    """
    return draw(map, Orthographic(_east_left(flip), both_sides), **options)


@takes_options_of(draw)
@checked
def azimuthal(map: ArrayLike | None, *, radius: AngleLike = "180deg", equal_area: bool = True,
              flip: Literal["astro", "geo"] = "astro", **options: Unpack[PictureOptions]) -> Any:
    """Draws a disc of this radius around the middle, and returns the axes.

    equal_area: keeps areas (Lambert), otherwise distances from the middle. The options are those of `zonal.plot`.
    """
    most = width(radius, "radius")
    return draw(map, (EqualArea if equal_area else Equidistant)(_east_left(flip), max_angle=most), **options)


@takes_options_of(azimuthal, without=("rot",))
def polar(map: ArrayLike | None, *, pole: Literal["north", "south"] = "north", radius: AngleLike = "90deg",
          **options: Unpack[PolarPictureOptions]) -> Any:
    """Draws a disc around a pole, and returns the axes: `azimuthal` with rot = (0, 90 deg) or (0, -90 deg)."""
    if pole not in ("north", "south"):
        raise ValueError(f"pole = {pole!r}: must be 'north' or 'south'")
    return azimuthal(map, radius=radius, rot=(0, "90deg" if pole == "north" else "-90deg"), **options)


def show(ax: Any, view: View, picture: np.ma.MaskedArray[Any, Any], norm: Any, cmap: Any) -> Any:
    """Draws a raster in colours. Points off the sky stay clear; points without a value get the bad colour of cmap."""
    no_sky = np.ma.getmaskarray(picture) & ~np.isnan(picture.data)
    image = ax.imshow(picture, norm=norm, cmap=cmap, origin="lower", extent=view.projection.extent, aspect="equal",
                      interpolation="nearest")
    image.set_alpha((~no_sky).astype(np.float32))
    return image


def add_colorbar(ax: Any, image: Any, unit: str, below: bool = True) -> Any:
    """Adds a colour bar below axes or on their right. An end is pointed if there are values beyond it."""
    colors = load("colors")
    ticks = image.norm.inverse(np.linspace(0, 1, 5)) if isinstance(image.norm, (colors.AsinhNorm, colors.SymLogNorm, colors.FuncNorm)) \
        else None  # whose own ticks overlap
    if ticks is not None and not isinstance(image.norm, colors.FuncNorm):
        ticks = np.unique([float(f"{tick:.0e}") for tick in ticks])
    values = image.get_array()
    lower, above = values.min() < image.norm.vmin, values.max() > image.norm.vmax
    extend = "both" if lower and above else "min" if lower else "max" if above else "neither"
    place = {"orientation": "horizontal", "shrink": 0.6, "aspect": 30, "pad": 0.03} if below else {"aspect": 40, "pad": 0.02}
    bar = ax.figure.colorbar(image, ax=ax, label=unit, ticks=ticks, format=None if ticks is None else load("ticker").FuncFormatter(_number), extend=extend, **place)
    bar.ax.tick_params(labelsize="small")
    return bar


def _number(value: float, _: Any = None) -> str:
    return f"{value:.3g}".replace("-", "−")


def _east_left(flip: str) -> bool:
    if flip not in ("astro", "geo"):
        raise ValueError(f"flip = {flip!r}: must be 'astro' (east to the left) or 'geo' (east to the right)")
    return flip == "astro"


__all__ = ["azimuthal", "cartesian", "gnomonic", "mollweide", "orthographic", "polar"]

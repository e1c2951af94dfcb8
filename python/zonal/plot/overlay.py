"""Draws graticules, lines, points, texts and polarisation over a picture of the sky."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._angles import AngleLike, angle, angles
from .._checked import checked
from .._kinds import kind_of
from .._pixels import is_bad
from ._matplotlib import load
from ._values import masked, said_by
from .view import View, directions, view_of


@checked
def graticule(ax: Any, *, lon: AngleLike = "30deg", lat: AngleLike = "30deg", coord: str | None = None,
              labels: bool = False, **style: Any) -> list[Any]:
    """Draws meridians, parallels and the rim of the sky over a picture, and returns the lines.

    lon, lat: the steps between meridians and between parallels. coord: the coordinate system, G, E or C, by default the
    picture's. labels: writes degrees on the equator and on the meridian in the middle. style: of the lines, as for
    `line`.
    """
    view = view_of(ax)
    to_map = view.from_system(coord)
    style = {"color": "black", "linewidth": 0.6, "linestyle": ":"} | style
    steps = [_whole_steps(name, step, turn) for name, step, turn in (("lon", lon, 2 * np.pi), ("lat", lat, np.pi))]
    meridians = np.arange(steps[0]) * 2 * np.pi / steps[0]
    parallels = (np.arange(1, steps[1]) / steps[1] - 0.5) * np.pi
    drawn = [draw_line(ax, view, to_map @ circle, **style) for circle in circles(meridians, parallels)]
    for x, y in rim(view):
        drawn += ax.plot(x, y, **(style | {"linestyle": "-"}))
    if labels:
        _label(ax, view, to_map, meridians, parallels, style["color"])
    return drawn


def circles(meridians: NDArray[np.float64], parallels: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Unit vectors along meridians and parallels, [3, n] for each."""
    up, around = np.linspace(-np.pi / 2, np.pi / 2, 361), np.linspace(-np.pi, np.pi, 721)
    return [directions(lon, up) for lon in meridians] + [directions(around, lat) for lat in parallels]


def rim(view: View) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The edge of the sky on the picture, as closed lines."""
    x0, x1, y0, y1 = view.projection.extent
    turn = np.linspace(0, 2 * np.pi, 361)
    corner = view.projection.inverse(x0, y0)
    if np.isfinite(corner[0]):
        return [(np.array([x0, x1, x1, x0, x0]), np.array([y0, y0, y1, y1, y0]))]
    if getattr(view.projection, "both_sides", False):
        return [(middle + np.cos(turn), np.sin(turn)) for middle in (-1, 1)]
    return [(x1 * np.cos(turn), y1 * np.sin(turn))]


def draw_line(ax: Any, view: View, vectors: NDArray[np.float64], *args: Any, **style: Any) -> Any:
    """A line through unit vectors, [3, n], broken where it crosses a cut of the picture."""
    return ax.plot(*view.breaks(*view.forward(vectors)), *args, **style)[0]


@checked
def line(ax: Any, lon: ArrayLike, lat: ArrayLike, *, coord: str | None = None, **style: Any) -> Any:
    """Draws a line through points on a picture, and returns it.

    lon, lat: rad, or Quantities. coord: the coordinates of the points, G, E or C, by default the picture's. style: as for matplotlib's
    plot.
    """
    view = view_of(ax)
    return draw_line(ax, view, view.from_system(coord) @ np.atleast_2d(_directions(lon, lat).reshape(3, -1)), **style)


@checked
def points(ax: Any, lon: ArrayLike, lat: ArrayLike, *, coord: str | None = None, **style: Any) -> Any:
    """Draws points on a picture, and returns matplotlib's collection.

    lon, lat: rad, or Quantities. coord: see `line`. style: as for matplotlib's scatter.
    """
    view = view_of(ax)
    return ax.scatter(*view.forward(view.from_system(coord) @ _directions(lon, lat).reshape(3, -1)), **style)


@checked
def text(ax: Any, lon: AngleLike, lat: AngleLike, s: str, *, coord: str | None = None, **style: Any) -> Any:
    """Writes a text at a point on a picture, and returns it.

    lon, lat: angles. coord: see `line`. style: as for matplotlib's text. Raises ValueError for a point that is not on the
    picture.
    """
    view = view_of(ax)
    x, y = view.forward(view.from_system(coord) @ _directions(angle(lon, "lon"), angle(lat, "lat")))
    if not np.isfinite(x):
        raise ValueError(f"lon = {lon}, lat = {lat}: is not on the picture")
    return ax.text(float(x), float(y), s, **style)


@checked
def polarization(ax: Any, q: ArrayLike, u: ArrayLike, *, nest: bool | None = None, count: int = 40, length: float = 1.0,
                 convention: Literal["COSMO", "IAU"] = "COSMO", **style: Any) -> Any:
    """Draws headless lines along the polarisation over a picture, and returns the collection.

    q, u: maps, [pixel], in the coordinates of the map drawn. count: the number of lines across the picture. length: of
    the longest line, in units of the distance between lines; lengths are proportional to the polarised intensity.
    convention: of u.
    """
    view = view_of(ax)
    if convention not in ("COSMO", "IAU"):
        raise ValueError(f"convention = {convention!r}: must be 'COSMO' or 'IAU'")
    if count < 1:
        raise ValueError(f"count = {count}: must be 1 or more")
    nest, other = (said_by(kind_of(map).map, nest, None)[0] for map in (q, u))
    if nest != other:
        raise ValueError("q, u: are in different orders: use their reordered(nest)")
    x, y = view.raster(count)
    first, second = masked(q, None, nest), masked(u, None, nest)
    if first.size != second.size:
        raise ValueError(f"u: has {second.size} pixels: must have {first.size}, as q")
    pixels = view.pixels(round((first.size / 12) ** 0.5), nest, x, y)
    stokes = first[pixels] + 1j * second[pixels] * (1 if convention == "COSMO" else -1)
    shown = (pixels >= 0) & ~is_bad(first[pixels]) & ~is_bad(second[pixels])
    if not shown.any():
        raise ValueError("q, u: no pixel in view has a value")
    across, up = (part[shown] for part in np.meshgrid(x, y))
    ends = _ends(view, across, up, stokes[shown], length * (x[1] - x[0] if count > 1 else view.projection.extent[1]))
    lines = load("collections").LineCollection(ends, **({"color": "black", "linewidth": 0.8} | style))
    return ax.add_collection(lines)


def _ends(view: View, x: NDArray[Any], y: NDArray[Any], stokes: NDArray[Any], longest: float) -> NDArray[np.float64]:
    """Both ends, [line, 2, 2], of lines on the picture around x, y."""
    v = view.inverse(x, y)
    lon, across = np.arctan2(v[1], v[0]), np.hypot(v[0], v[1])
    east = np.array([-np.sin(lon), np.cos(lon), 0 * lon])
    south = np.array([v[2] * np.cos(lon), v[2] * np.sin(lon), -across])
    psi = np.angle(stokes) / 2
    ahead = view.forward(v + 1e-4 * (np.cos(psi) * south + np.sin(psi) * east))
    direction = np.array([ahead[0] - x, ahead[1] - y])
    size = np.hypot(*direction)
    amount = np.abs(stokes) / max(np.abs(stokes).max(), np.finfo(float).tiny) * longest / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        half = direction * np.where((size > 0) & (size < longest), amount / size, np.nan)
    return np.moveaxis(np.array([[x - half[0], y - half[1]], [x + half[0], y + half[1]]]), 2, 0)


def _directions(lon: Any, lat: Any) -> NDArray[np.float64]:
    """Unit vectors, [3, ...], to a caller's longitudes and latitudes."""
    up = angles("lat", lat)
    beyond = up[np.abs(up) > np.pi / 2 + 1e-9]
    if beyond.size:
        raise ValueError(f"lat: holds {beyond[0]:g} rad: must be from -pi/2 to pi/2")
    return directions(angles("lon", lon), up)


def _whole_steps(name: str, step: AngleLike, turn: float) -> int:
    """How many steps make up a turn, which they must divide."""
    size = angle(step, name)
    n = round(turn / size) if size > 0 else 0
    if n < 1 or abs(n * size - turn) > 1e-9:
        raise ValueError(f"{name} = {step}: must divide {np.degrees(turn):g} deg")
    return n


def _label(ax: Any, view: View, to_map: NDArray[np.float64], meridians: NDArray[np.float64],
           parallels: NDArray[np.float64], color: Any) -> None:
    """Writes degrees on the equator and on the meridian in the middle."""
    middle = to_map.T @ view.matrix.T @ [1, 0, 0]
    centre = np.arctan2(middle[1], middle[0])
    places = [(lon, 0.0, f"{np.degrees(lon) % 360:g}°") for lon in meridians] + \
        [(centre, lat, f"{np.degrees(lat):g}°") for lat in parallels if abs(lat) > 1e-9]
    x0, x1, y0, y1 = view.projection.extent
    for lon, lat, label in places:
        x, y = view.forward(to_map @ directions(lon, lat))
        if x0 <= x <= x1 and y0 <= y <= y1:
            ax.annotate(label, (x, y), (2, 2), textcoords="offset points", color=color, fontsize="x-small",
                        path_effects=[load("patheffects").withStroke(linewidth=2, foreground="white")])


__all__ = ["graticule", "line", "points", "polarization", "text"]

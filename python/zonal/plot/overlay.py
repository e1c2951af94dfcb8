"""Draws graticules, lines, points, texts and polarisation over a picture of the sky."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._angles import AngleLike, angle, angles
from .._checked import checked
from .._kinds import kind_of
from ._matplotlib import load
from ._values import Sky, said_by
from .frame import Seen, label, rim
from .view import View, directions, view_of

_RIM = "rim of the sky"


@checked
def graticule(ax: Any, *, lon: AngleLike | None = None, lat: AngleLike | None = None, coord: str | None = None,
              labels: bool = True, **style: Any) -> list[Any]:
    """Draws meridians, parallels and the rim of the sky over a picture, and returns the lines.

    lon, lat: the steps between meridians and between parallels, which divide a turn, by default some that suit the view.
    coord: the coordinate system, G, E or C, by default the picture's. labels: writes degrees at the sides, or on the
    equator and at the rim. style: of the lines, as for `line`.
    """
    view = view_of(ax)
    seen = Seen(view, view.from_system(coord))
    suiting = seen.steps()
    steps = (suiting[0] if lon is None else _dividing("lon", lon, 360), suiting[1] if lat is None else _dividing("lat", lat, 180))
    meridians, parallels = seen.meridians(steps[0]), seen.parallels(steps[1])
    halo = [load("patheffects").withStroke(linewidth=1.2, foreground="white", alpha=0.35)]
    look = {"color": "black", "linewidth": 0.4, "alpha": 0.5, "path_effects": halo} | style
    drawn = [draw_line(ax, view, vectors, **look) for vectors in seen.lines(meridians, parallels)]
    drawn += outline(ax, **style)
    if labels:
        label(ax, seen, meridians, parallels, steps, style.get("color", "black"))
    return drawn


def outline(ax: Any, **style: Any) -> list[Any]:
    """Draws the rim of the sky on a picture in place of the one before, and returns its lines."""
    for line in [line for line in ax.lines if line.get_gid() == _RIM]:
        line.remove()
    look = {"color": "black", "linewidth": 0.8} | style
    return [ax.plot(x, y, gid=_RIM, clip_on=False, **look)[0] for x, y in rim(view_of(ax))]


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
    skies = [Sky(map, None, nest) for map in (q, u)]
    if skies[0].n_pixels != skies[1].n_pixels:
        raise ValueError(f"u: has {skies[1].n_pixels} pixels: must have {skies[0].n_pixels}, as q")
    x, y = view.raster(count)
    first, second = (view.sampled(sky, x, y) for sky in skies)
    stokes = first.data + 1j * second.data * (1 if convention == "COSMO" else -1)
    shown = ~(np.ma.getmaskarray(first) | np.ma.getmaskarray(second))
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


def _dividing(name: str, step: AngleLike, turn: float) -> float:
    """A caller's step, degrees, which must divide a turn."""
    size = float(np.degrees(angle(step, name)))
    n = round(turn / size) if size > 0 else 0
    if n < 1 or abs(n * size - turn) > 1e-7:
        raise ValueError(f"{name} = {step}: must divide {turn:g} deg")
    return size


__all__ = ["graticule", "line", "points", "polarization", "text"]

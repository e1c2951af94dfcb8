"""What stands around a picture of the sky: its figure, its rim, and the names and numbers of its coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._matplotlib import load
from .projections import Projection
from .view import View, directions

Array = NDArray[np.float64]
SYSTEMS = {"G": "Galactic", "E": "Ecliptic", "C": "Equatorial"}
STEPS = (1, 2, 5, 10, 15, 20, 30, 45, 60)  # degrees, which divide a circle
_WIDTH_OF_NUMBER = 27.0  # points
HALO = {"linewidth": 2.0, "foreground": "white"}


def figure_size(projection: Projection, width: float | None = None) -> tuple[float, float]:
    """Inches of a figure that has room for a picture, a colour bar, a title and labels. width: by default what suits it."""
    whole = projection.aspect > 1.5
    width = (8.0 if whole else 6.6) if width is None else width
    return width, (0.925 * width / projection.aspect + 1.1 if whole else (width - 1.4) / projection.aspect + 0.6)


def new_axes(view: View) -> Any:
    """Axes that fill a new figure."""
    return load("pyplot").figure(figsize=figure_size(view.projection), layout="constrained").add_subplot()


def is_framed(view: View) -> bool:
    """Whether the sky fills the picture up to its corners, so that numbers can stand at its sides."""
    x0, _, y0, _ = view.projection.extent
    return bool(np.isfinite(view.projection.inverse(x0, y0)[0]))


def rim(view: View) -> list[tuple[Array, Array]]:
    """The edge of the sky on the picture, as closed lines."""
    x0, x1, y0, y1 = view.projection.extent
    turn = np.linspace(0, 2 * np.pi, 361)
    if is_framed(view):
        return [(np.array([x0, x1, x1, x0, x0]), np.array([y0, y0, y1, y1, y0]))]
    if getattr(view.projection, "both_sides", False):
        return [(middle + np.cos(turn), np.sin(turn)) for middle in (-1, 1)]
    return [(x1 * np.cos(turn), y1 * np.sin(turn))]


class Seen:
    """The longitudes and latitudes on a picture, degrees, in the system from which `to_map` leads to the map's."""

    def __init__(self, view: View, to_map: Array) -> None:
        self.view, self.to_map = view, to_map
        x0, x1, y0, y1 = view.projection.extent
        x, y = np.linspace(x0, x1, 41), np.linspace(y0, y1, 41)
        self.centre = float(np.degrees(np.arctan2(*(to_map.T @ view.matrix.T @ [1, 0, 0])[1::-1])))
        lon, lat = self.lon_lat(x[None, :], y[:, None])
        south, north = (self._shows(self.place(0, lat)) for lat in (-90, 90))
        self.shows_pole = south or north
        self.lat = -90.0 if south else float(np.nanmin(lat)), 90.0 if north else float(np.nanmax(lat))
        half = 180.0 if self.shows_pole else float(np.nanmax(np.abs(lon)))
        self.half_lon = 180.0 if half > 170 else half

    def _shows(self, place: Any) -> bool:
        x0, x1, y0, y1 = self.view.projection.extent
        return bool(x0 <= place[0] <= x1 and y0 <= place[1] <= y1)

    def lon_lat(self, x: Any, y: Any) -> tuple[Array, Array]:
        """Of points on the picture; longitudes relative to that of the middle, from -180 to 180."""
        v = np.tensordot(self.to_map.T, self.view.inverse(x, y), axes=1)
        lon = (np.degrees(np.arctan2(v[1], v[0])) - self.centre + 180) % 360 - 180
        return lon, np.degrees(np.arctan2(v[2], np.hypot(v[0], v[1])))

    def place(self, lon: Any, lat: Any) -> Any:
        """x and y on the picture."""
        return self.view.forward(np.tensordot(self.to_map, directions(np.radians(lon), np.radians(lat)), axes=1))

    def steps(self) -> tuple[float, float]:
        """Round steps between meridians and between parallels, of which a picture has some seven."""
        if self.half_lon == 180:
            return 30.0, 30.0 if self.lat[1] - self.lat[0] > 120 else _round_step((self.lat[1] - self.lat[0]) / 6)
        return _round_step(self.half_lon / 3.5), _round_step((self.lat[1] - self.lat[0]) / 7)

    def meridians(self, step: float) -> Array:
        """Multiples of a step, degrees, that the picture may show; each once."""
        if self.half_lon == 180:
            return np.arange(0, 360 - step / 2, step)
        return _multiples(self.centre - self.half_lon, self.centre + self.half_lon, step)

    def parallels(self, step: float) -> Array:
        found = _multiples(*self.lat, step)
        return found[np.abs(found) < 90 - 1e-9]

    def lines(self, meridians: Array, parallels: Array) -> list[Array]:
        """Unit vectors of the map along meridians and parallels, [3, n] for each."""
        up = np.radians(np.linspace(*self.lat, 361))
        around = np.radians(self.centre + np.linspace(-self.half_lon, self.half_lon, 721))
        return [self.to_map @ directions(np.radians(lon), up) for lon in meridians] + \
            [self.to_map @ directions(around, np.radians(lat)) for lat in parallels]


def _round_step(angle: float) -> float:
    """The least of 1, 2, 5, 10, 15, ... degrees, or of 1, 2, 5 times a power of ten below, that reaches an angle."""
    if angle >= 1:
        return float(next((step for step in STEPS if step >= 0.999 * angle), 90))
    power = 10.0 ** np.floor(np.log10(angle))
    return float(power * next(factor for factor in (1, 2, 5, 10) if factor * power >= 0.999 * angle))


def _multiples(first: float, last: float, step: float) -> Array:
    return step * np.arange(np.ceil(first / step - 1e-9), np.floor(last / step + 1e-9) + 1)


def degrees_text(angle: float, step: float) -> str:
    decimals = max(0, int(np.ceil(-np.log10(step) - 1e-9))) if step < 1 else 0 if step == round(step) else 1
    return f"{angle:.{decimals}f}°".replace("-", "−")


def lon_text(lon: float, step: float) -> str:
    turned = lon % 360
    return degrees_text(0.0 if 360 - turned < step / 1000 else turned, step)


def label(ax: Any, seen: Seen, meridians: Array, parallels: Array, steps: tuple[float, float], color: Any) -> None:
    """Writes the degrees of a graticule where they hide least."""
    if is_framed(seen.view):
        _label_sides(ax, seen, steps, color)
        return
    upright = np.allclose(seen.to_map.T @ seen.view.matrix.T @ [0, 0, 1], [0, 0, 1], atol=1e-9)
    aspect = seen.view.projection.aspect
    if upright and aspect == 2 and not getattr(seen.view.projection, "both_sides", False):
        for lat in parallels:
            x, y = seen.place(seen.centre + 179.999, lat)
            _write(ax, -abs(x), y, degrees_text(lat, steps[1]), (-4, 0.05 * lat), "right", "center", color, halo=False)
    else:
        _label_along_meridian(ax, seen, parallels, steps, color)
    if aspect == 1 and max(map(abs, seen.place(0, 90 if seen.lat[1] == 90 else -90))) < 1e-9:
        _label_rim(ax, seen, steps[0], color)
        return
    for lon in meridians[::_every(ax, seen, meridians)]:
        x, y = seen.place(lon, 0)
        if not _is_at_rim(seen.view, x, y):
            _write(ax, x, y, lon_text(lon, steps[0]), (0, -3), "center", "top", color)
        elif aspect == 1 and np.isfinite(x):  # a disc has room around it
            size = np.hypot(x, y)
            _write(ax, x, y, lon_text(lon, steps[0]), (12 * x / size, 9 * y / size), "center", "center", color, halo=False)


def _every(ax: Any, seen: Seen, meridians: Array) -> int:
    """How many meridians there are to each number, so that numbers on the equator do not touch."""
    x0, x1, _, _ = seen.view.projection.extent
    points = 72 * ax.figure.get_figwidth() * ax.get_position().width / (x1 - x0)
    x = np.array([seen.place(lon, 0)[0] for lon in meridians])
    gaps = np.diff(np.sort(x[np.isfinite(x)])) * points
    return 1 if not gaps.size or gaps.max() > _WIDTH_OF_NUMBER else 2


def _label_rim(ax: Any, seen: Seen, step: float, color: Any) -> None:
    """Longitudes around a disc with a pole in its middle."""
    turn = np.linspace(0, 2 * np.pi, 3601)
    radius = seen.view.projection.extent[1]
    across, up = radius * np.cos(turn), radius * np.sin(turn)
    lon = np.unwrap(seen.lon_lat(0.999 * across, 0.999 * up)[0], period=360) + seen.centre
    for angle in _multiples(min(lon), max(lon) - step / 1000, step):
        i = int(np.argmin(np.abs(lon - angle)))
        _write(ax, across[i], up[i], lon_text(angle, step), (12 * np.cos(turn[i]), 9 * np.sin(turn[i])), "center", "center", color,
               halo=False)


def _is_at_rim(view: View, x: Any, y: Any) -> bool:
    near = 0.05 * view.projection.extent[3]
    return bool(np.isfinite(x)) and any(np.hypot(x - rim_x, y - rim_y).min() < near for rim_x, rim_y in rim(view))


def _label_along_meridian(ax: Any, seen: Seen, parallels: Array, steps: tuple[float, float], color: Any) -> None:
    lon = steps[0] * round(seen.centre / steps[0])
    for lat in parallels:
        x, y = seen.place(lon, lat)
        if abs(lat) > 1e-9:
            _write(ax, x, y, degrees_text(lat, steps[1]), (2, 2), "left", "bottom", color)


def _label_sides(ax: Any, seen: Seen, steps: tuple[float, float], color: Any) -> None:
    """Longitudes at the bottom and latitudes on the left; around a pole, longitudes on all sides and latitudes inside."""
    x0, x1, y0, y1 = seen.view.projection.extent
    ax.set_axis_on()
    ax.set(xlim=(x0, x1), ylim=(y0, y1))
    ax.tick_params(labelsize="small", color=color)
    lons = list(_crossings(seen, 0, steps[0], (x0, x1), (y0, y0)))
    if not seen.shows_pole or seen.view.projection.name == "Cartesian":
        lats = list(_crossings(seen, 1, steps[1], (x0, x0), (y0, y1)))
        ax.set_xticks([x for x, _, _ in lons], [lon_text(angle, steps[0]) for *_, angle in lons])
        ax.set_yticks([y for _, y, _ in lats], [degrees_text(angle, steps[1]) for *_, angle in lats])
        return
    ax.set(xticks=[], yticks=[])
    sides = [((x0, x1), (y0, y0), (0, -4), "center", "top"), ((x0, x1), (y1, y1), (0, 4), "center", "bottom"),
             ((x0, x0), (y0, y1), (-4, 0), "right", "center"), ((x1, x1), (y0, y1), (4, 0), "left", "center")]
    for along, beside, shift, across, up in sides:
        for x, y, angle in _crossings(seen, 0, steps[0], along, beside):
            _write(ax, x, y, lon_text(angle, steps[0]), shift, across, up, color, halo=False)
    _label_along_meridian(ax, seen, seen.parallels(steps[1]), steps, color)


def _crossings(seen: Seen, which: int, step: float, x: tuple[float, float],
               y: tuple[float, float]) -> Iterator[tuple[float, float, float]]:
    """x, y and the angle, degrees, where longitude (0) or latitude (1) passes a multiple of the step along a side."""
    x0, x1, y0, y1 = seen.view.projection.extent
    t = np.linspace(-1e-6, 1 + 1e-6, 2001)  # so that a crossing right in a corner is one
    inside = 1 - 1e-9
    across = (x[0] + t * (x[1] - x[0])) if x[0] != x[1] else np.full(t.size, x[0] * inside)
    up = np.clip(y[0] + t * (y[1] - y[0]), y0 * inside if y0 else y0, y1 * inside if y1 else y1)
    angle = seen.lon_lat(across, up)[which]
    angle = (np.unwrap(angle, period=360) + seen.centre if which == 0 else angle) / step
    for i in np.flatnonzero(np.floor(angle[1:]) != np.floor(angle[:-1])):
        before, after = angle[i], angle[i + 1]
        multiple = np.floor(max(before, after))
        part = (multiple - before) / (after - before)
        yield (float(across[i] + part * (across[i + 1] - across[i])), float(up[i] + part * (up[i + 1] - up[i])),
               float(multiple * step))


def _write(ax: Any, x: float, y: float, text: str, shift: tuple[float, float], across: str, up: str, color: Any,
           halo: bool = True) -> None:
    x0, x1, y0, y1 = ax.get_xlim() + ax.get_ylim()
    if x0 <= x <= x1 and y0 <= y <= y1:
        ax.annotate(text, (x, y), shift, textcoords="offset points", ha=across, va=up, color=color, annotation_clip=False,
                    fontsize="x-small" if halo else "small", path_effects=[load("patheffects").withStroke(**HALO)] if halo else [])


def name_coordinates(ax: Any, view: View) -> None:
    """Says in which coordinates the picture is, where this is known: on its axes, or in its corner."""
    system = SYSTEMS.get(view.systems[1] or "", "")
    if not ax.axison:
        if system:
            ax.annotate(system, (1, 0), xycoords="axes fraction", ha="right", va="bottom", fontsize="small")
        return
    ax.set_xlabel("Right ascension" if system == "Equatorial" else f"{system} longitude".strip().capitalize(), fontsize="small",
                  labelpad=4.0 if len(ax.get_xticks()) else 16.0)  # around a pole, numbers are texts
    if len(ax.get_yticks()):
        ax.set_ylabel("Declination" if system == "Equatorial" else f"{system} latitude".strip().capitalize(), fontsize="small")


__all__ = ["Seen", "figure_size", "is_framed", "label", "name_coordinates", "new_axes", "rim"]

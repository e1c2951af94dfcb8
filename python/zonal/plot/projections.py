"""Projections of the sphere onto the plane, and back.

A projection takes unit vectors, [3, ...], to x and y in the plane, and back. In the frame of the vectors the x axis
points at the middle of the picture and the z axis points up. With `east_left` longitude grows to the left, as the sky
is seen from within; otherwise it grows to the right. Points that are not on the picture are NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checked import checked

Array = NDArray[np.float64]
Plane = tuple[Array, Array]
Extent = tuple[float, float, float, float]


class Projection:
    """The base of all projections. `extent` is the edges of the picture: (x0, x1, y0, y1)."""

    name = ""
    extent: Extent = (-2.0, 2.0, -1.0, 1.0)

    @checked
    def __init__(self, east_left: bool = True) -> None:
        self.east_left = east_left

    @property
    def aspect(self) -> float:
        """The width of the picture over its height."""
        return (self.extent[1] - self.extent[0]) / (self.extent[3] - self.extent[2])

    @property
    def _east(self) -> int:
        return -1 if self.east_left else 1

    def forward(self, vectors: Any) -> Plane:
        """Returns x and y, [...] each, of unit vectors [3, ...]."""
        v = np.asarray(vectors, np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            x, y = self._forward(v)
        return self._east * x, y

    def inverse(self, x: Any, y: Any) -> Array:
        """Returns unit vectors, [3, ...], of points x, y, which broadcast."""
        across, up = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._inverse(self._east * across, up)

    def cuts(self, x0: Array, y0: Array, x1: Array, y1: Array) -> NDArray[np.bool_]:
        """Whether a cut lies between neighbours on a line, which are then over a quarter of the picture apart."""
        width, height = self.extent[1] - self.extent[0], self.extent[3] - self.extent[2]
        far: NDArray[np.bool_] = np.hypot(x1 - x0, y1 - y0) > 0.25 * max(width, height)
        return far

    def _forward(self, v: Array) -> Plane:
        raise NotImplementedError

    def _inverse(self, x: Array, y: Array) -> Array:
        raise NotImplementedError


def _where_shown(shown: Any, *values: Any) -> tuple[Array, ...]:
    return tuple(np.where(shown, value, np.nan) for value in values)


def _sphere(x: Array, y: Array, z: Array) -> Array:
    return np.array(np.broadcast_arrays(x, y, z))


class Mollweide(Projection):
    """The whole sky in an ellipse; keeps areas. x = (2/pi) lon cos t, y = sin t, with 2t + sin 2t = pi sin lat."""

    name = "Mollweide"

    def _forward(self, v: Array) -> Plane:
        across = np.hypot(v[0], v[1])
        u = _solve_kepler(np.pi * across**2 / (1 + np.abs(v[2])))  # u = pi - 2|t|; 1 - |z| without cancellation
        return 2 / np.pi * np.arctan2(v[1], v[0]) * np.sin(u / 2), np.copysign(np.cos(u / 2), v[2])

    def _inverse(self, x: Array, y: Array) -> Array:
        cosine = np.sqrt((1 - y) * (1 + y))
        lon = np.where(cosine > 0, np.pi / 2 * x / cosine, 0)
        from_pole = _u_minus_sine(2 * np.arctan2(cosine, np.abs(y))) / np.pi
        across = np.sqrt(from_pole * (2 - from_pole))
        shown = (np.abs(x) <= 2 * cosine * (1 + 1e-15)) & (np.abs(y) <= 1)  # includes what forward rounds to the rim
        parts = across * np.cos(lon), across * np.sin(lon), np.copysign(1 - from_pole, y)
        return _sphere(*_where_shown(shown, *parts))


def _u_minus_sine(u: Array) -> Array:
    """u - sin u, by its series where the difference would lose digits."""
    s = u * u
    series = u * s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110))))
    return np.where(u < 0.3, series, u - np.sin(u))


def _solve_kepler(b: Array) -> Array:
    """The u from 0 to pi with u - sin u = b, by Newton's method, which comes down to u after its first step."""
    u = np.cbrt(6 * b)
    for _ in range(8):
        slope = 2 * np.sin(u / 2) ** 2
        u = np.where(slope > 0, u - (_u_minus_sine(u) - b) / slope, u)
    return np.minimum(u, np.pi)


class Cartesian(Projection):
    """Longitude against latitude, in degrees. lon, lat: the ranges shown, relative to the middle of the picture."""

    name = "Cartesian"

    @checked
    def __init__(self, east_left: bool = True, lon: tuple[float, float] = (-180, 180),
                 lat: tuple[float, float] = (-90, 90)) -> None:
        super().__init__(east_left)
        first, last = (-lon[1], -lon[0]) if east_left else lon
        self.extent = (first, last, *lat)

    def _forward(self, v: Array) -> Plane:
        lon = np.degrees(np.arctan2(v[1], v[0]))
        first, last = self.extent[:2] if not self.east_left else (-self.extent[1], -self.extent[0])
        if last > 180 or first < -180:  # the range goes over the far side
            lon = np.where(lon < first, lon + 360, np.where(lon > last, lon - 360, lon))
        return lon, np.degrees(np.arctan2(v[2], np.hypot(v[0], v[1])))

    def _inverse(self, x: Array, y: Array) -> Array:
        lon, lat = np.radians(x), np.radians(y)
        parts = np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)
        return _sphere(*_where_shown(np.abs(y) <= 90, *parts))


class Azimuthal(Projection):
    """Keeps directions from the middle; the distance r in the plane depends only on the angle c from the middle.

    half_width, half_height: of the picture, by default so large that it shows all it can. max_angle: the largest c
    that is shown.
    """

    max_angle = np.pi

    @checked
    def __init__(self, east_left: bool = True, half_width: float | None = None, half_height: float | None = None,
                 max_angle: float | None = None) -> None:
        super().__init__(east_left)
        self.max_angle = self.max_angle if max_angle is None else min(max_angle, self.max_angle)
        if half_width is None:
            half_width = float(self.radius(np.float64(self.max_angle)))
        if half_height is None:
            half_height = half_width
        self.extent = (-half_width, half_width, -half_height, half_height)

    def radius(self, c: Any) -> Any:
        """Returns r of an angle c, rad."""
        raise NotImplementedError

    def angle(self, r: Any) -> Any:
        """Returns c, rad, of r; NaN where there is none."""
        raise NotImplementedError

    def _forward(self, v: Array) -> Plane:
        across = np.hypot(v[1], v[2])
        c = np.arctan2(across, v[0])
        r = self.radius(c)
        right = np.where(across > 0, r * v[1] / across, r)  # opposite the middle any direction will do
        x, y = _where_shown(c <= self.max_angle, right, np.where(across > 0, r * v[2] / across, 0))
        return x, y

    def _inverse(self, x: Array, y: Array) -> Array:
        r = np.hypot(x, y)
        c = self.angle(r)
        scale = np.where(r > 0, np.sin(c) / r, 1)
        return _sphere(*_where_shown(c <= self.max_angle, np.cos(c), scale * x, scale * y))


class Gnomonic(Azimuthal):
    """Makes great circles straight: r = tan c. The picture ends before a quarter turn from its middle."""

    name = "Gnomonic"
    max_angle = np.nextafter(np.pi / 2, 0)

    def radius(self, c: Any) -> Any:
        return np.tan(c)

    def angle(self, r: Any) -> Any:
        return np.arctan(r)


class EqualArea(Azimuthal):
    """Lambert's azimuthal projection, which keeps areas: r = 2 sin(c/2)."""

    name = "Azimuthal"

    def radius(self, c: Any) -> Any:
        return 2 * np.sin(c / 2)

    def angle(self, r: Any) -> Any:
        return 2 * np.arcsin(r / 2)


class Equidistant(Azimuthal):
    """Keeps distances from the middle: r = c."""

    name = "Azimuthal"

    def radius(self, c: Any) -> Any:
        return c

    def angle(self, r: Any) -> Any:
        return r


class Orthographic(Azimuthal):
    """The sphere seen from afar, r = sin c. both_sides: the far side stands beside the near one."""

    name = "Orthographic"
    max_angle = np.pi / 2

    @checked
    def __init__(self, east_left: bool = True, both_sides: bool = False) -> None:
        super().__init__(east_left)
        self.both_sides = both_sides
        if both_sides:
            self.extent = (-2.0, 2.0, -1.0, 1.0)

    def radius(self, c: Any) -> Any:
        return np.sin(c)

    def angle(self, r: Any) -> Any:
        return np.arcsin(r)

    def _forward(self, v: Array) -> Plane:
        if not self.both_sides:
            return super()._forward(v)
        side = np.where(v[0] < 0, -1, 1)
        return side * v[1] - self._east * side, v[2] + 0 * v[0]

    def _inverse(self, x: Array, y: Array) -> Array:
        if not self.both_sides:
            return super()._inverse(x, y)
        side = np.where(self._east * x > 0, -1, 1)
        near = super()._inverse(x + self._east * side, y)
        return np.array([side * near[0], side * near[1], near[2]])

    def cuts(self, x0: Array, y0: Array, x1: Array, y1: Array) -> NDArray[np.bool_]:
        return x0 * x1 < 0 if self.both_sides else super().cuts(x0, y0, x1, y1)


class Hammer(Projection):
    """The whole sky in an ellipse; keeps areas. It is Lambert's projection at half the longitude, twice as wide."""

    name = "Hammer"
    _inner: Azimuthal = EqualArea(False)

    def _forward(self, v: Array) -> Plane:
        across, half = np.hypot(v[0], v[1]), np.arctan2(v[1], v[0]) / 2
        x, y = self._inner._forward(np.array([across * np.cos(half), across * np.sin(half), v[2]]))
        scale = self._inner.radius(np.pi / 2)
        return 2 * x / scale, y / scale

    def _inverse(self, x: Array, y: Array) -> Array:
        scale = self._inner.radius(np.pi / 2)
        inside = (x / 2) ** 2 + y**2 <= 1
        v = self._inner._inverse(scale * x / 2, scale * y)
        across, lon = np.hypot(v[0], v[1]), 2 * np.arctan2(v[1], v[0])
        return _sphere(*_where_shown(inside, across * np.cos(lon), across * np.sin(lon), v[2]))


class Aitoff(Hammer):
    """Like Hammer, but made from the equidistant projection, so that it does not keep areas."""

    name = "Aitoff"
    _inner = Equidistant(False)


__all__ = ["Aitoff", "Azimuthal", "Cartesian", "EqualArea", "Equidistant", "Gnomonic", "Hammer", "Mollweide",
           "Orthographic", "Projection"]

"""A view of the sky: a projection, and a rotation of the sphere before it; and the axes that show it."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._angles import AngleLike, angle
from .._arrays import PIECE
from .._checked import checked
from ..rotation import rotation_matrix
from ._values import Sky
from .projections import Plane, Projection

Array = NDArray[np.float64]


def directions(lon: Any, lat: Any) -> Array:
    """Returns unit vectors, [3, ...], to longitudes and latitudes, rad, which broadcast."""
    lon, lat = np.broadcast_arrays(np.asarray(lon, np.float64), np.asarray(lat, np.float64))
    return np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def centring_matrix(lon: AngleLike, lat: AngleLike, turn: AngleLike = 0.0) -> Array:
    """Returns the matrix, [3, 3], that takes the direction (lon, lat) to the x axis and the north pole above it.

    turn: the angle by which the picture is then turned clockwise, as seen from within the sphere.
    """
    level = rotation_matrix((-angle(lon, "rot"), angle(lat, "rot"), 0))
    cosine, sine = np.cos(angle(turn, "rot")), np.sin(angle(turn, "rot"))
    return np.array([[1, 0, 0], [0, cosine, sine], [0, -sine, cosine]]) @ level


class View:
    """A projection of a turned sphere: `matrix` takes vectors of the map to the projection's frame.

    systems: the letters of the coordinates of the map and of the picture, or None.
    """

    def __init__(self, projection: Projection, matrix: ArrayLike | None = None,
                 systems: tuple[str | None, str | None] = (None, None)) -> None:
        self.projection = projection
        self.matrix: Array = np.eye(3) if matrix is None else np.asarray(matrix, np.float64)
        self.systems = systems

    @classmethod
    @checked
    def of(cls, projection: Projection, rot: Any = None, coord: str | None = None) -> View:
        """Returns the view with the point rot = (lon, lat) or (lon, lat, turn) in the middle.

        coord: the letter of the map's coordinates, or two; the second letter is then that of the picture and of rot.
        """
        systems: tuple[str | None, str | None] = (None, None)
        matrix = np.eye(3)
        if coord is not None:
            letters = coord.upper()
            if len(letters) not in (1, 2) or not set(letters) <= set("GEC"):
                raise ValueError(f"coord = {coord!r}: must be one or two of the letters G, E and C")
            systems = (letters[0], letters[-1])
            matrix = rotation_matrix(letters) if len(letters) == 2 else matrix
        if rot is not None:
            if isinstance(rot, str) or np.ndim(rot) != 1 or len(rot) not in (2, 3):
                raise ValueError(f"rot = {rot!r}: must be (lon, lat) or (lon, lat, turn)")
            matrix = centring_matrix(*rot) @ matrix
        return cls(projection, matrix, systems)

    def forward(self, vectors: Any) -> Plane:
        """Returns x and y of unit vectors, [3, ...], of the map; NaN where they are not on the picture."""
        return self.projection.forward(np.tensordot(self.matrix, np.asarray(vectors, np.float64), axes=1))

    def inverse(self, x: Any, y: Any) -> Array:
        """Returns unit vectors of the map, [3, ...], of points on the picture; NaN where there is no sky.

        Pictures go some rows at a time, between which Ctrl-C is heard.
        """
        across, up = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        if across.ndim < 2:
            return np.tensordot(self.matrix.T, self.projection.inverse(across, up), axes=1)
        vectors = np.empty((3, *across.shape))
        n_rows = max(1, PIECE // max(1, across[0].size))
        for first in range(0, len(across), n_rows):
            here = slice(first, first + n_rows)
            vectors[:, here] = np.tensordot(self.matrix.T, self.projection.inverse(across[here], up[here]), axes=1)
        return vectors

    @checked
    def from_system(self, system: str | None) -> Array:
        """The matrix from a coordinate system, by default the picture's, to that of the map."""
        drawn = self.systems[1]
        first = drawn if system is None else system.upper()
        if first is None or self.systems[0] is None:
            if system is not None:
                raise ValueError(f"coord = {system!r}: needs the map's coordinates; give coord to the view")
            return np.eye(3)
        if first not in ("G", "E", "C"):
            raise ValueError(f"coord = {system!r}: must be G, E or C")
        return rotation_matrix(first + self.systems[0]) if first != self.systems[0] else np.eye(3)

    @checked
    def size_for(self, width: int) -> int:
        """The height of a raster of this width with square pixels. Raises ValueError for more than a picture can show."""
        if not 1 <= width <= 20_000:
            raise ValueError(f"width = {width}: must be from 1 to 20000 pixels")
        x0, x1, y0, y1 = self.projection.extent
        return max(1, round(width * (y1 - y0) / (x1 - x0)))

    @checked
    def raster(self, width: int, height: int | None = None, ends: bool = False) -> Plane:
        """x, [width], and y, [height], of the raster pixels' centres, from left to right and from below.

        ends: puts the first and the last centre on the edges of the picture.
        """
        x0, x1, y0, y1 = self.projection.extent
        height = self.size_for(width) if height is None else height
        if ends:
            return np.linspace(x0, x1, width), np.linspace(y0, y1, height)
        return (x0 + (np.arange(width) + 0.5) * (x1 - x0) / width,
                y0 + (np.arange(height) + 0.5) * (y1 - y0) / height)

    def sampled(self, sky: Sky, x: Array, y: Array) -> np.ma.MaskedArray[Any, Any]:
        """The sky's values at each point, [len(y), len(x)]: masked where there is no sky, masked and NaN where no value."""
        values = np.zeros((y.size, x.size))
        is_sky = np.empty(values.shape, np.bool_)
        n_rows = max(1, PIECE // max(1, x.size))
        for first in range(0, y.size, n_rows):
            here = slice(first, first + n_rows)
            vectors = self.inverse(x[None, :], y[here, None])
            is_sky[here] = np.isfinite(vectors[0])
            values[here][is_sky[here]] = sky.at(vectors[:, is_sky[here]])
        return np.ma.MaskedArray(values, ~is_sky | np.isnan(values))

    def breaks(self, x: Array, y: Array) -> Plane:
        """A line with NaN between neighbouring points that lie on different sides of a cut of the picture."""
        far = self.projection.cuts(x[:-1], y[:-1], x[1:], y[1:])
        places = np.flatnonzero(far) + 1
        return np.insert(x, places, np.nan), np.insert(y, places, np.nan)


_views: weakref.WeakKeyDictionary[Any, View] = weakref.WeakKeyDictionary()


def prepare(ax: Any, view: View) -> None:
    """Gives axes the edges of a view, and removes their frame, ticks and labels."""
    x0, x1, y0, y1 = view.projection.extent
    margin = 0.005 * (y1 - y0)
    ax.set(xlim=(x0 - margin, x1 + margin), ylim=(y0 - margin, y1 + margin), aspect="equal", autoscale_on=False)
    ax.set_axis_off()
    _views[ax] = view


def view_of(ax: Any) -> View:
    """The view that axes show. Raises ValueError for axes without one."""
    try:
        return _views[ax]
    except (KeyError, TypeError):
        raise ValueError("ax: shows no sky: draw a map into it first, or None in place of a map") from None


__all__ = ["View", "centring_matrix", "directions", "prepare", "view_of"]

"""Directions, vectors, the matrices that rotate them, and coordinate systems, as in healpy.rotator."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._units import quantity_unit
from ..rotation import euler_angles, rotation_matrix
from ._arguments import floats, radians
from ._checked import checked
from ._directions import lonlat2thetaphi, thetaphi2lonlat

Matrix = NDArray[np.float64]
NAMES = {"G": "Galactic", "E": "Ecliptic", "C": "Equatorial", None: ""}


@checked
def dir2vec(theta: Any, phi: Any = None, lonlat: bool = False) -> NDArray[np.float64]:
    """Returns unit vectors, [3] or [3, ...], to directions: theta and phi, or both as theta, [2] or [2, ...].

    theta, phi: may also be Quantities, unless lonlat is set.
    """
    theta, phi = _pair(theta, phi, floats if lonlat else radians)
    if lonlat:
        theta, phi = lonlat2thetaphi(theta, phi)
    sine = np.sin(theta)
    return np.array(np.broadcast_arrays(sine * np.cos(phi), sine * np.sin(phi), np.cos(theta)))


@checked
def vec2dir(vec: Any, vy: Any = None, vz: Any = None, lonlat: bool = False) -> NDArray[np.float64]:
    """Returns theta and phi, or longitude and latitude, [2] or [2, ...], of vectors [3, ...] or of three components.

    phi lies from -pi to pi. theta is NaN for a vector of length 0.
    """
    x, y, z = vectors(vec, vy, vz)
    theta = np.where((x == 0) & (y == 0) & (z == 0), np.nan, np.arctan2(np.hypot(x, y), z))
    phi = np.arctan2(y, x)
    return np.array(thetaphi2lonlat(theta, phi) if lonlat else (theta, phi))


def vectors(vec: Any, vy: Any = None, vz: Any = None) -> NDArray[np.float64]:
    """Returns [3, ...] from one argument or three. Raises TypeError for two, and for other than three components."""
    if (vy is None) != (vz is None):
        raise TypeError("vec: must hold x, y and z, or be followed by vy and vz")
    parts = _components("vec", vec) if vy is None else \
        np.array(np.broadcast_arrays(_components("vec", vec), _components("vy", vy), _components("vz", vz)))
    if parts.ndim == 0 or len(parts) != 3:
        raise TypeError(f"vec: has shape {parts.shape}: must be [3] or [3, ...]")
    return parts


def _components(name: str, values: Any) -> NDArray[np.float64]:
    """Components of vectors, of which a unit does not change the direction."""
    return floats(name, values if quantity_unit(values) is None else values.value)


def _pair(theta: Any, phi: Any, read: Callable[[str, Any], NDArray[np.float64]] = floats) -> tuple[Any, Any]:
    if phi is not None:
        return read("theta", theta), read("phi", phi)
    both = read("theta", theta)
    if both.ndim == 0 or len(both) != 2:
        raise TypeError(f"theta: has shape {both.shape}: must be [2] or [2, ...] where phi is not given")
    return both[0], both[1]


@checked
def rotateVector(rotmat: Any, vec: Any, vy: Any = None, vz: Any = None, do_rot: bool = True) -> Any:
    """Returns rotmat, [3, 3], times vectors, [3] or [3, ...], or three components; unchanged if not do_rot."""
    if not do_rot:
        return vec if vy is None else (vec, vy, vz)
    return np.tensordot(np.asarray(rotmat, np.float64), vectors(vec, vy, vz), axes=1)


@checked
def rotateDirection(rotmat: Any, theta: Any, phi: Any = None, do_rot: bool = True,
                    lonlat: bool = False) -> NDArray[np.float64]:
    """Returns directions, as angles [2] or [2, ...], after a rotation by the matrix rotmat."""
    if not do_rot:
        return np.array(np.broadcast_arrays(*_pair(theta, phi)))
    return vec2dir(rotateVector(rotmat, dir2vec(theta, phi, lonlat)), lonlat=lonlat)


def angdist(dir1: Any, dir2: Any, lonlat: Any = False) -> NDArray[np.float64]:
    """Returns the angle, rad, [1] or [n], between directions: angles, [2] or [2, n], or vectors, [3] or [3, n].

    lonlat: angles are longitude and latitude, deg; a pair has one value for each of the two arguments.
    """
    degrees = lonlat if np.ndim(lonlat) else (lonlat, lonlat)
    first, second = (_as_vectors(name, d, in_degrees)
                     for name, d, in_degrees in zip(("dir1", "dir2"), (dir1, dir2), degrees))
    x, y = np.broadcast_arrays(first, second) if first.ndim == second.ndim else \
        np.broadcast_arrays(first.reshape(3, -1), second.reshape(3, -1))
    angles = np.arctan2(np.linalg.norm(np.cross(x, y, axis=0), axis=0), np.sum(x * y, axis=0))
    return np.atleast_1d(angles)


def _as_vectors(name: str, direction: Any, lonlat: bool) -> NDArray[np.float64]:
    if np.ndim(direction) and len(direction) == 2 and not lonlat:
        return dir2vec(radians(name, direction))
    values = _components(name, direction) if np.ndim(direction) and len(direction) == 3 else floats(name, direction)
    if values.ndim == 0 or len(values) not in (2, 3):
        raise TypeError(f"{name}: has shape {values.shape}: must be [2, ...] or [3, ...]")
    return values if len(values) == 3 else dir2vec(values, lonlat=lonlat)


def normalize_vec(vec: Any) -> NDArray[np.float64]:
    """Returns vectors, [d] or [d, n], divided by their lengths. An array of floats is overwritten."""
    values: NDArray[Any] = np.asarray(vec) if np.asarray(vec).dtype.kind == "f" else floats("vec", vec)
    values /= np.sqrt(np.sum(values**2, axis=0))
    return values


def check_coord(c: Any) -> str | None:
    """Returns the letter, G, E or C, for a letter or name of a coordinate system, and None for None."""
    if c is None:
        return None
    if not isinstance(c, str):
        raise TypeError(f"coord = {c!r}: must be a text: G[alactic], E[cliptic], C[elestial] or Equatorial")
    name = c.upper()
    letter = "C" if name.startswith("EQ") else name[:1]
    if letter not in ("G", "E", "C"):
        raise ValueError(f"coord = {c!r}: must be G[alactic], E[cliptic], C[elestial] or Equatorial")
    return letter


def normalise_coord(coord: Any) -> tuple[str | None, str | None]:
    """Returns the letters of two coordinate systems, from and to. One name or letter stands for both; None for none."""
    if coord is None:
        return None, None
    names = [coord] if isinstance(coord, str) and len(coord) > 2 else list(coord)
    if len(names) == 1:
        names = 2 * names
    if len(names) != 2:
        raise TypeError(f"coord = {coord!r}: must be one coordinate system, or two: from and to")
    return check_coord(names[0]), check_coord(names[1])


@checked
def normalise_rot(rot: Any, deg: bool = False) -> NDArray[np.float64]:
    """Returns three angles, rad, from up to three, which are in deg if deg is True; those not given are 0."""
    given = np.zeros(0) if rot is None else np.atleast_1d(np.asarray(rot, np.float64))
    if given.ndim != 1 or given.size > 3:
        raise ValueError(f"rot = {rot}: must be up to three angles")
    angles = np.zeros(3)
    angles[:given.size] = np.radians(given) if deg else given
    return angles


@checked
def euler_matrix_new(a1: float, a2: float, a3: float, X: bool = True, Y: bool = False, ZYX: bool = False,
                     deg: bool = False) -> Matrix:
    """Returns the matrix for axes turned by a1 about z, then by a2 about the new x, then by a3 about the newest z.

    The matrix takes the components of a fixed vector to those along the turned axes. Angles count counter-clockwise, in
    rad, or in deg if deg is True. Y: a2 is about y. ZYX: a2 is about y and a3 about x. X: has no effect, as it is the
    default.
    """
    if Y and ZYX:
        raise ValueError("Y, ZYX: must not both be set")
    second, third = (1, 0) if ZYX else (1, 2) if Y else (0, 2)
    first, middle, last = np.radians([a1, a2, a3]) if deg else (a1, a2, a3)
    return _turned_axes(third, last) @ _turned_axes(second, middle) @ _turned_axes(2, first)


def _turned_axes(axis: int, angle: float) -> Matrix:
    """The matrix to components along axes that were turned by an angle about one of them."""
    one, other = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[one, one] = matrix[other, other] = np.cos(angle)
    matrix[one, other], matrix[other, one] = np.sin(angle), -np.sin(angle)
    return matrix


@checked
def get_rotation_matrix(rot: Any, deg: bool = False, eulertype: str = "ZYX") -> tuple[Matrix, bool, Matrix]:
    """Returns the matrix of up to three angles, whether it turns anything, and the angles, rad.

    With ZYX the angles are longitude, latitude and a turn: the direction (longitude, latitude) becomes the x axis.
    eulertype: ZYX, X or Y, see euler_matrix_new, in which the second angle has the other sign.
    """
    if eulertype.upper() not in ("ZYX", "X", "Y"):
        raise ValueError(f"eulertype = {eulertype!r}: must be 'ZYX', 'X' or 'Y'")
    angles = normalise_rot(rot, deg)
    matrix = euler_matrix_new(angles[0], -angles[1], angles[2], Y=eulertype.upper() == "Y",
                              ZYX=eulertype.upper() == "ZYX")
    return matrix, bool(np.any(angles != 0)), angles


def get_coordconv_matrix(coord: Any) -> tuple[Matrix, bool, tuple[str | None, str | None]]:
    """Returns the matrix from one coordinate system to another, whether they differ, and their letters."""
    systems = normalise_coord(coord)
    first, second = systems
    if first is None or second is None or first == second:
        return np.eye(3), False, systems
    return rotation_matrix(first + second), True, systems


def coordsys2euler_zyz(coord: Any) -> tuple[float, float, float]:
    """Returns psi, theta and phi, rad, with which rotate_alm changes from one coordinate system to another."""
    first, second = normalise_coord(coord)
    if first is None or second is None or first == second:
        return 0.0, 0.0, 0.0
    return euler_angles(first + second)


# Deg, of J2000 and B1950: right ascension and declination of the galactic pole and galactic longitude of the celestial
# pole (The Hipparcos Catalogue, ESA SP-1200, volume 1, section 1.5.3; the IAU's definition of 1958), and the obliquity.
_GALACTIC_POLE = {False: (192.85948, 27.12825, 122.93192), True: (192.25, 27.4, 123.0)}
_OBLIQUITY = {False: 84381.448 / 3600, True: 84404.84 / 3600}
_SELECTED = {1: "CG", 2: "GC", 3: "CE", 4: "EC", 5: "EG", 6: "GE"}


@checked
def euler(ai: Any, bi: Any, select: int, FK4: int = 0) -> tuple[Any, Any]:
    """Returns longitude and latitude, deg, in another coordinate system.

    select: 1 is equatorial to galactic, 3 equatorial to ecliptic, 5 ecliptic to galactic; 2, 4 and 6 are the inverses.
    FK4: equatorial and ecliptic coordinates are those of B1950, not of J2000.
    """
    if select not in _SELECTED:
        raise ValueError(f"select = {select}: must be from 1 to 6")
    first, second = (_from_equatorial(letter, bool(FK4)) for letter in _SELECTED[select])
    longitude, latitude = rotateDirection(second @ first.T, ai, bi, lonlat=True)
    return np.mod(longitude, 360), latitude


def _from_equatorial(system: str, b1950: bool) -> Matrix:
    if system == "C":
        return np.eye(3)
    if system == "E":
        return _turned_axes(0, np.radians(_OBLIQUITY[b1950]))
    right_ascension, declination, longitude = np.radians(_GALACTIC_POLE[b1950])
    return rotation_matrix((-right_ascension, declination - np.pi / 2, longitude - np.pi))

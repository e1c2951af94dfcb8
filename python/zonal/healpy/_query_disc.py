"""Pixels in a region of the sphere, and the edges of pixels, in a module with healpy's name."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import integer, real
from ._arguments import floats, integers, threads_for
from ._checked import arguments_as, checked, truth, whole
from ._directions import BEYOND_POLE
from ._hemispheres import hemisphere, pixels_of
from ._sizes import MAX_NSIDE, check_nside


def query_disc(nside: int, vec: ArrayLike, radius: float, inclusive: bool = False, fact: int = 4, nest: bool = False,
               buff: NDArray[np.int64] | None = None, return_ranges: bool = False) -> NDArray[np.int64]:
    """Returns the pixels, [n] int64, whose centres lie within radius, rad, of a direction vec, [3].

    A radius above pi is the whole sphere. One of pi / 2 is a hemisphere, and two opposite ones share no pixel; other
    discs have all pixels whose centres lie on their rim.

    inclusive: returns all pixels that overlap the disc, and some that only come near it; the larger fact, the fewer of
    these. nest: pixels are in nest order. buff: an int64 array for the result, which is then a view of it.
    return_ranges: returns [n, 2], the first pixel of each run and the one after its last.
    """
    if isinstance(radius, float) and radius == math.pi / 2 and not inclusive:
        size, ordered = integer("nside", whole("nside", nside)), truth("nest", nest)
        check_nside(size, ordered)
        found = hemisphere(size, _vector("vec", vec), ordered, truth("return_ranges", return_ranges))
        return found if buff is None else _in_buffer(found, buff, return_ranges)
    found = _core.query_disc(nside, vec, radius, inclusive, fact, nest, return_ranges)
    if found is None:  # not numbers as the extension reads them
        size = integer("nside", whole("nside", nside))
        check_nside(size)
        found = _core.query_disc(size, _vector("vec", vec), real("radius", radius), truth("inclusive", inclusive),
                                 _fact(fact, inclusive), truth("nest", nest), truth("return_ranges", return_ranges))
    return found if buff is None else _in_buffer(found, buff, return_ranges)


@checked
def query_strip(nside: int, theta1: float, theta2: float, inclusive: bool = False, nest: bool = False,
                buff: NDArray[np.int64] | None = None, return_ranges: bool = False) -> NDArray[np.int64]:
    """Returns the pixels, [n] int64, whose centres lie between two colatitudes, rad.

    Rings that lie at a bound belong to one of the two strips that meet there, as ring_above says: the sky is the union
    of disjoint strips. If theta1 >= theta2, the region is what lies north of theta2 or south of theta1.

    inclusive: returns all pixels that overlap the region. nest: returns pixels in nest order, sorted from north to
    south; ranges ascend. buff, return_ranges: as in query_disc.
    """
    check_nside(nside, nest)
    theta1, theta2 = (_colatitude(name, theta) for name, theta in (("theta1", theta1), ("theta2", theta2)))
    if inclusive:
        with arguments_as({"theta_1": "theta1", "theta_2": "theta2"}):
            found = _core.query_strip(nside, theta1, theta2, True, nest and return_ranges, return_ranges)
    else:
        strips = [(theta1, theta2)] if theta1 < theta2 else [(0.0, theta2), (theta1, math.pi)]
        runs = [_strip(nside, north, south) for north, south in strips]
        if len(runs) == 2 and runs[0][1] >= runs[1][0]:
            runs = [(0, runs[1][1])]
        if return_ranges and not nest:
            found = np.array([run for run in runs if run[0] < run[1]], np.int64).reshape(-1, 2)
        else:
            found = np.arange(*runs[0]) if len(runs) == 1 else pixels_of(np.array(runs))
        if return_ranges and nest:
            found = _runs_of(np.sort(_core.ring2nest(nside, found, threads_for(found.size))))
    if nest and not return_ranges:
        found = _core.ring2nest(nside, found, threads_for(found.size))
    return found if buff is None else _in_buffer(found, buff, return_ranges)


def _colatitude(name: str, theta: float) -> float:
    if not 0 <= theta <= math.pi + BEYOND_POLE:
        raise ValueError(f"{name} = {theta}: must be from 0 to pi")
    return min(float(theta), math.pi)


def _strip(nside: int, north: float, south: float) -> tuple[int, int]:
    """The first pixel between two colatitudes, and the one after the last."""
    first, last = (_pixels_to(nside, ring_above(nside, math.cos(theta))) for theta in (north, south))
    return first, max(first, last)


def ring_above(nside: int, z: float) -> int:
    """The number of rings that lie north of z = cos theta. A ring at z is among them unless it is in the southern cap.

    It is from the number of a ring as a function of z, equations 4 and 8 of Gorski et al. (2005), with floor.
    """
    if abs(z) <= 2 / 3:
        return math.floor(nside * (2 - 1.5 * z))
    ring = math.floor(nside * math.sqrt(3 * (1 - abs(z))))
    return ring if z > 0 else 4 * nside - ring - 1


def _pixels_to(nside: int, ring: int) -> int:
    """The number of pixels on rings up to this one."""
    if ring < nside:
        return 2 * ring * (ring + 1)
    if ring <= 3 * nside:
        return 2 * nside * (nside + 1) + 4 * nside * (ring - nside)
    south = 4 * nside - 1 - ring
    return 12 * nside**2 - 2 * south * (south + 1)


def _runs_of(pixels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ascending pixels as runs: [n, 2], the first pixel of each and the one after its last."""
    ends = np.flatnonzero(np.diff(pixels) != 1)
    if not pixels.size:
        return np.empty((0, 2), np.int64)
    return np.stack([pixels[np.append(0, ends + 1)], pixels[np.append(ends, pixels.size - 1)] + 1], axis=1)


@checked
def query_polygon(nside: int, vertices: ArrayLike, inclusive: bool = False, fact: int = 4, nest: bool = False,
                  buff: NDArray[np.int64] | None = None, return_ranges: bool = False) -> NDArray[np.int64]:
    """Returns the pixels, [n] int64, whose centres lie in a convex polygon with the vertices [vertex, 3].

    The other arguments are those of query_disc. Raises ValueError, which names the vertex, for other polygons.
    """
    corners = [_vector(f"vertices[{i}]", vertex) for i, vertex in enumerate(np.asarray(vertices))]
    found = _core.query_polygon(integer("nside", nside), corners, bool(inclusive), _fact(fact, inclusive), bool(nest),
                                bool(return_ranges))
    return found if buff is None else _in_buffer(found, buff, return_ranges)


def boundaries(nside: int, pix: Any, step: int = 1, nest: bool = False) -> NDArray[np.float64]:
    """Returns unit vectors on the edges of pixels, [3, 4 step] for one and [n, 3, 4 step] for n pixels.

    They run from the northern corner past the western, southern and eastern ones, with step points on each edge.
    """
    one: NDArray[np.float64] | None = _core.boundaries_one(nside, pix, step, nest)
    if one is not None:
        return one
    if np.asarray(pix).dtype.kind == "f":
        raise ValueError(f"pix = {pix}: must be an integer, or an array of integers")
    pixels = integers("pix", pix)
    if pixels.ndim > 1:
        raise ValueError(f"pix: has shape {pixels.shape}: must be one pixel or [n]")
    size, steps = integer("nside", whole("nside", nside)), integer("step", whole("step", step))
    if steps < 1:
        raise ValueError(f"step = {steps}: must be 1 or more")
    points = np.empty((pixels.size, 3, 4 * steps))
    _core.boundaries(size, truth("nest", nest), pixels.reshape(-1), steps, points,
                     threads_for(pixels.size * steps))
    return points if pixels.ndim else points[0]


def _vector(name: str, values: Any) -> list[float]:
    vector = floats(name, values)
    if vector.shape != (3,):
        raise ValueError(f"{name}: has shape {vector.shape}: must be [3]")
    return [float(x) for x in vector]


def _fact(fact: int, inclusive: bool) -> int:
    value = integer("fact", whole("fact", fact))
    if value < 1:
        raise ValueError(f"fact = {value}: must be 1 or more")
    if inclusive and value > MAX_NSIDE:
        raise ValueError(f"fact = {value}: must be from 1 to 2^29 / nside")
    return value if inclusive else 1  # its limit depends on nside, and centres do not need it


def _in_buffer(found: NDArray[np.int64], buff: NDArray[np.int64], ranges: bool) -> NDArray[np.int64]:
    """Returns the result in the caller's memory."""
    if ranges:
        raise ValueError("Cannot use both buff, which takes pixels, and return_ranges = True, which gives ranges: leave one of them out")
    if not isinstance(buff, np.ndarray) or buff.dtype != np.int64 or buff.ndim != 1:
        raise ValueError("buff: must be a one-dimensional array of int64")
    if buff.size < found.size:
        raise ValueError(f"buff: has {buff.size} elements: must have {found.size} or more")
    buff[:found.size] = found
    return buff[:found.size]

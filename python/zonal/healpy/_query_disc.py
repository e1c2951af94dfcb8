"""Pixels in a region of the sphere, and the edges of pixels, in a module with healpy's name."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import integer, real
from ._arguments import floats, integers, threads_for
from ._checked import arguments_as, checked, truth, whole
from ._sizes import MAX_NSIDE, check_nside


def query_disc(nside: int, vec: ArrayLike, radius: float, inclusive: bool = False, fact: int = 4, nest: bool = False,
               buff: NDArray[np.int64] | None = None, return_ranges: bool = False) -> NDArray[np.int64]:
    """Returns the pixels, [n] int64, whose centres lie within radius, rad, of a direction vec, [3].

    A radius above pi is the whole sphere. Two opposite discs that fill the sky share no pixel: a centre on the rim
    belongs to the disc if it is at the eastern end of the disc's part of its ring. So a disc of radius 0 is empty.

    inclusive: returns all pixels that overlap the disc, and some that only come near it; the larger fact, the fewer of
    these. nest: pixels are in nest order. buff: an int64 array for the result, which is then a view of it.
    return_ranges: returns [n, 2], the first pixel of each run and the one after its last.
    """
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

    A ring that lies at a bound belongs to the strip north of it, but in the southern cap to the one south of it: the
    sky is the union of disjoint strips. If theta1 >= theta2, the region is what lies north of theta2 or south of
    theta1. theta1 and theta2 are compared as given; then an angle beyond a pole is replaced by the colatitude with the
    same cosine, as in healpy.

    inclusive: returns all pixels that overlap the region. nest: returns pixels in nest order, sorted from north to
    south; ranges ascend. buff, return_ranges: as in query_disc.
    """
    check_nside(nside, nest)
    is_band = theta1 < theta2
    theta1, theta2 = (_colatitude(name, theta) for name, theta in (("theta1", theta1), ("theta2", theta2)))
    if not is_band and theta1 < theta2:
        theta1, theta2 = 0, math.pi
    with arguments_as({"theta_1": "theta1", "theta_2": "theta2"}):
        found = _core.query_strip(nside, theta1, theta2, bool(inclusive), nest and return_ranges, return_ranges)
    if is_band and theta1 >= theta2:
        found = found[:0]
    if nest and not return_ranges:
        found = _core.ring2nest(nside, found, threads_for(found.size))
    return found if buff is None else _in_buffer(found, buff, return_ranges)


def _colatitude(name: str, theta: float) -> float:
    if not math.isfinite(theta):
        raise ValueError(f"{name} = {theta}: must be a finite angle")
    return float(theta) if 0 <= theta <= math.pi else math.acos(math.cos(theta))


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

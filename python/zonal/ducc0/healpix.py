"""The HEALPix grid with the names and arguments of ducc0.healpix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import integers
from .._checked import checked, invalid
from .._names import no_attribute
from ..grid import Grid
from ._arguments import reals, threads_of, written


class Healpix_Base:
    """HEALPix pixels of one nside and order.

    nside: any integer from 1 to 2^29 in ring order, a power of 2 in nest order. scheme: "RING", or "NEST" or "NESTED".

    Arrays of directions have an axis of (theta, phi), rad, or of x, y, z last, and results the shape of the other axes.
    nthreads: 0 for as many as `zonal.threads()` says; arrays of fewer than 65,536 elements take one. out: where to write the
    result, int64 or float64. Pixels and directions outside their range raise ValueError.

    >>> base = zonal.ducc0.healpix.Healpix_Base(4, "RING")
    >>> base.ang2pix(np.array([[0.1, 0.2], [1.5, 4.0]])).tolist()
    [0, 82]
    """

    __slots__ = ("_nest", "_nside")

    @checked
    def __init__(self, nside: int, scheme: str) -> None:
        if scheme not in ("RING", "NEST", "NESTED"):
            raise invalid("scheme", repr(scheme), "must be RING, NEST or NESTED")
        self._nside, self._nest = nside, scheme != "RING"
        if not 1 <= nside <= 2**29 or self._nest and nside & (nside - 1):
            raise invalid("nside", nside, f"must be {'a power of 2' if self._nest else 'an integer'} from 1 to 2^29")

    def nside(self) -> int:
        """Returns nside."""
        return self._nside

    def npix(self) -> int:
        """Returns the number of pixels, 12 nside^2."""
        return 12 * self._nside**2

    def order(self) -> int:
        """Returns log2(nside) for a power of 2, else -1."""
        return -1 if self._nside & (self._nside - 1) else self._nside.bit_length() - 1

    def scheme(self) -> str:
        """Returns "RING" or "NEST"."""
        return "NEST" if self._nest else "RING"

    def pix_area(self) -> float:
        """Returns the area of a pixel, sr."""
        return 4 * np.pi / self.npix()

    def max_pixrad(self) -> float:
        """Returns the largest angle between the centre of a pixel and its corners, rad."""
        return _core.max_pixel_radius(self._nside)

    def sht_info(self) -> dict[str, NDArray[Any]]:
        """Returns the rings of the grid in ring order, as arguments of `zonal.ducc0.sht.synthesis` and its like: theta, phi0,
        nphi and ringstart."""
        if self._nest:
            raise invalid("scheme", repr("NEST"), "must be RING for rings")
        grid = Grid.healpix(self._nside)
        return {"theta": grid.theta, "phi0": grid.phi_0, "nphi": grid.ring_sizes.astype(np.uint64),
                "ringstart": grid.first_pixels.astype(np.uint64)}

    @checked
    def ang2pix(self, ang: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns the pixels in which directions are. ang: (.., 2), theta and phi, rad."""
        return _called(lambda theta, phi: _core.ang2pix(self._nside, self._nest, theta, phi, threads_of(nthreads)),
                       _columns("ang", _directions("ang", ang), 2), out, 0)

    @checked
    def vec2pix(self, vec: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns the pixels in which vectors of any length but 0 point. vec: (.., 3)."""
        return _called(lambda x, y, z: _core.vec2pix(self._nside, self._nest, x, y, z, threads_of(nthreads)),
                       _columns("vec", _directions("vec", vec), 3), out, 0)

    @checked
    def pix2ang(self, pix: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns theta and phi of the centres of pixels, rad, (.., 2)."""
        return _called(lambda pixels: _core.pix2ang(self._nside, self._nest, pixels, threads_of(nthreads)), _pixels("pix", pix),
                       out, 2)

    @checked
    def pix2vec(self, pix: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns unit vectors to the centres of pixels, (.., 3)."""
        return _called(lambda pixels: _core.pix2vec(self._nside, self._nest, pixels, threads_of(nthreads)), _pixels("pix", pix),
                       out, 3)

    @checked
    def pix2xyf(self, pix: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns x, y and the base pixel of pixels, (.., 3)."""
        return _called(lambda pixels: _core.pix2xyf(self._nside, self._nest, pixels, threads_of(nthreads)), _pixels("pix", pix),
                       out, 3)

    @checked
    def xyf2pix(self, xyf: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns the pixels at x, y of base pixels. xyf: (.., 3), integers."""
        return _called(lambda x, y, face: _core.xyf2pix(self._nside, self._nest, x, y, face, threads_of(nthreads)),
                       _columns("xyf", integers("xyf", xyf), 3), out, 0)

    @checked
    def neighbors(self, pix: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns the neighbours of pixels in the order SW, W, NW, N, NE, E, SE, S, -1 where there is none, (.., 8)."""
        def around(pixels: NDArray[np.int64]) -> NDArray[np.int64]:
            found = np.empty((8, len(pixels)), np.int64)
            _core.neighbours(self._nside, self._nest, pixels, found, threads_of(nthreads))
            return found
        return _called(around, _pixels("pix", pix), out, 8)

    @checked
    def ring2nest(self, ring: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns the numbers in nest order of pixels in ring order. nside must be a power of 2."""
        return _called(lambda pixels: _core.ring2nest(self._nside, pixels, threads_of(nthreads)), _pixels("ring", ring), out, 0)

    @checked
    def nest2ring(self, nest: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns the numbers in ring order of pixels in nest order. nside must be a power of 2."""
        return _called(lambda pixels: _core.nest2ring(self._nside, pixels, threads_of(nthreads)), _pixels("nest", nest), out, 0)

    @checked
    def query_disc(self, ptg: NDArray[Any], radius: float) -> NDArray[np.int64]:
        """Returns the pixels whose centres are within `radius` (rad) of the direction ptg = (theta, phi), as ranges, (n, 2):
        the first pixel of each, and the one after its last."""
        theta, phi = _one_direction(ptg)
        if not radius > 0:
            if np.isnan(radius):
                raise invalid("radius", radius, "must be a number")
            return np.empty((0, 2), np.int64)
        # By the direction itself: the centre that a disc's vector gives rounds in another way near the poles.
        sine = np.sin(theta)
        centre = (float(sine * np.cos(phi)), float(sine * np.sin(phi)), float(np.cos(theta)))
        return np.asarray(_core.query_disc(self._nside, centre, min(radius, np.pi), False, 1, self._nest, True), np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        return Healpix_Base, (self._nside, self.scheme())

    def __repr__(self) -> str:
        return f"<zonal.ducc0.healpix.Healpix_Base: nside={self._nside}, {self.scheme()}>"


@checked
def ang2vec(ang: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Returns unit vectors, (.., 3), in directions ang, (.., 2), theta and phi, rad. nthreads is checked; one does the work."""
    threads_of(nthreads)
    return _called(_vectors, _columns("ang", _directions("ang", ang), 2), out, 3)


@checked
def vec2ang(vec: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Returns theta and phi (from 0 to 2 pi), rad, (.., 2), of vectors, (.., 3). nthreads is checked; one does the work."""
    threads_of(nthreads)
    return _called(_angles, _columns("vec", _directions("vec", vec), 3), out, 2)


@checked
def v_angle(v1: NDArray[Any], v2: NDArray[Any], nthreads: int = 1, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Returns the angles between vectors, rad, accurate near 0 and pi. v1, v2: (.., 3), of one shape. nthreads is checked; one
    does the work."""
    threads_of(nthreads)
    first, second = _directions("v1", v1), _directions("v2", v2)
    if first.shape != second.shape:
        raise invalid("v2", None, f"has shape {second.shape}: must be {first.shape}, as of v1")

    def angle(*six: NDArray[np.float64]) -> NDArray[np.float64]:
        a, b = six[:3], six[3:]
        cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
        return np.arctan2(np.sqrt(sum(c * c for c in cross)), sum(x * y for x, y in zip(a, b)))
    vectors, shape = _columns("v1", first, 3)
    return _called(angle, (vectors + _columns("v2", second, 3)[0], shape), out, 0)


Columns = tuple[list[NDArray[Any]], tuple[int, ...]]


def _directions(name: str, values: Any) -> NDArray[np.float64]:
    return reals(name, values).astype(np.float64, copy=False)


def _columns(name: str, array: NDArray[Any], n: int) -> Columns:
    """The n components of the last axis as vectors, and the shape of the other axes."""
    if array.ndim < 1 or array.shape[-1] != n:
        raise invalid(name, None, f"has shape {array.shape}: must be (.., {n})")
    rows = array.reshape(-1, n)
    return [np.ascontiguousarray(rows[:, i]) for i in range(n)], array.shape[:-1]


def _pixels(name: str, values: Any) -> Columns:
    array = integers(name, values)
    return [np.ascontiguousarray(array.reshape(-1))], array.shape


def _called(function: Callable[..., Any], given: Columns, out: Any, n: int) -> NDArray[Any]:
    """function(*vectors) as an array of the other axes' shape, with n components last; 0: without that axis."""
    vectors, shape = given
    found = function(*vectors)
    result = np.stack([np.asarray(one) for one in found], -1).reshape(*shape, n) if n else np.asarray(found).reshape(shape)
    if result.dtype.kind == "i":
        result = result.view(np.int64)
    if out is None:
        return result
    written("out", out, result.shape, result.dtype)[...] = result
    return out  # type: ignore[no-any-return]


def _vectors(theta: NDArray[np.float64], phi: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    sine = np.sin(theta)
    return sine * np.cos(phi), sine * np.sin(phi), np.cos(theta)


def _angles(x: NDArray[np.float64], y: NDArray[np.float64], z: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    phi = np.arctan2(y, x)
    phi = np.where(phi < 0, phi + 2 * np.pi, phi)
    return np.arctan2(np.hypot(x, y), z), np.where(phi < 2 * np.pi, phi, 0.0)


def _one_direction(ptg: Any) -> tuple[float, float]:
    values = _directions("ptg", ptg)
    if values.shape != (2,):
        raise invalid("ptg", None, f"has shape {values.shape}: must be (2,), theta and phi")
    theta, phi = map(float, values)
    if not (0 <= theta <= np.pi and np.isfinite(phi)):
        raise invalid("ptg", f"({theta}, {phi})", "must be theta from 0 to pi and a finite phi")
    return theta, phi


__all__ = ["Healpix_Base", "ang2vec", "v_angle", "vec2ang"]

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        raise no_attribute("zonal.ducc0.healpix", name, __all__)

"""Grids of rings of constant latitude."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import AngleLike, angle, angles
from ._arrays import doubles, integer, integers, kept, sequence
from ._checked import Large, checked


class Grid:
    """An iso-latitude grid: rings in any order, with any number of pixels each.

    Use one of the factories, or bring your own rings:

    theta: [ring], colatitude from 0 to pi, rad.
    n_pixels: [ring], pixels of each ring, spread evenly in longitude.
    weight: [ring], quadrature weight of each pixel of the ring, sr.
    phi_0: [ring] or one number, longitude of the first pixel, rad.
    first_pixel: [ring], index in the map of the ring's first pixel; by default rings lie one after the other.
    n_map_pixels: length of the maps; by default the end of the furthest ring.

    A grid is immutable and can be pickled. Raises ValueError, which names the ring, for rings that are empty or
    overlap, theta outside 0 to pi, values that are not finite, or a ring past the map.

    >>> grid = zonal.Grid.healpix(64)
    >>> grid.n_pixels, grid.n_rings
    (49152, 255)
    >>> zonal.Grid.gauss_legendre(3, 5).theta.round(3).tolist()
    [0.685, 1.571, 2.457]
    """

    __slots__ = ("_grid", "_recipe")
    _grid: _core.Grid
    _recipe: tuple[Any, ...]

    @checked
    def __init__(self, theta: ArrayLike, n_pixels: ArrayLike, weight: ArrayLike, phi_0: ArrayLike = 0.0,
                 first_pixel: ArrayLike | None = None, n_map_pixels: Large | None = None) -> None:
        theta = _column("theta", theta, np.float64)
        count = len(theta)
        n_pixels = _column("n_pixels", n_pixels, np.int64, count)
        if first_pixel is None:
            first_pixel = np.concatenate([[0], np.cumsum(n_pixels)[:-1]]) if count else n_pixels
        columns = (theta, _column("phi_0", phi_0, np.float64, count), _column("weight", weight, np.float64, count),
                   n_pixels, _column("first_pixel", first_pixel, np.int64, count))
        if n_map_pixels is not None and n_map_pixels < 0:
            raise ValueError(f"n_map_pixels = {n_map_pixels}: must be 0 or more")
        self._build("of_rings", *columns, -1 if n_map_pixels is None else n_map_pixels, "custom")

    def _build(self, factory: str, *arguments: Any) -> None:
        if factory == "subset":
            parent, rings = arguments
            self._grid = parent._grid.subset(rings)
        else:
            self._grid = getattr(_core.Grid, factory)(*arguments)
        self._recipe = kept((factory, *arguments))

    @classmethod
    @checked
    def healpix(cls, nside: int) -> Grid:
        """HEALPix in ring order, 12 nside^2 pixels. nside: any integer from 1 to 2^29."""
        return healpix_grid(nside)

    @classmethod
    @checked
    def gauss_legendre(cls, n_rings: int, n_phi: int, phi_0: AngleLike = 0.0) -> Grid:
        """Gauss-Legendre nodes from north to south, each ring of n_phi pixels that begin at longitude phi_0.

        Analysis is exact for lmax <= n_rings - 1 where n_phi >= 2 lmax + 1.
        """
        return _rings("gauss_legendre", n_rings, n_phi, angle(phi_0, "phi_0"))

    @classmethod
    @checked
    def clenshaw_curtis(cls, n_rings: int, n_phi: int, phi_0: AngleLike = 0.0) -> Grid:
        """Rings at theta = i pi / (n_rings - 1), poles included; n_rings >= 2.

        Analysis is exact for lmax <= n_rings - 2 where n_phi >= 2 lmax + 1.
        """
        return _rings("clenshaw_curtis", n_rings, n_phi, angle(phi_0, "phi_0"))

    @classmethod
    @checked
    def fejer1(cls, n_rings: int, n_phi: int, phi_0: AngleLike = 0.0) -> Grid:
        """Rings at theta = (i + 1/2) pi / n_rings, Fejer's first rule.

        Analysis is exact for lmax <= n_rings - 1 where n_phi >= 2 lmax + 1.
        """
        return _rings("fejer1", n_rings, n_phi, angle(phi_0, "phi_0"))

    @classmethod
    @checked
    def fejer2(cls, n_rings: int, n_phi: int, phi_0: AngleLike = 0.0) -> Grid:
        """Rings at theta = (i + 1) pi / (n_rings + 1), without the poles, Fejer's second rule.

        Analysis is exact for lmax <= n_rings - 1 where n_phi >= 2 lmax + 1.
        """
        return _rings("fejer2", n_rings, n_phi, angle(phi_0, "phi_0"))

    @classmethod
    @checked
    def equidistant_cylindrical(cls, n_rings: int, n_phi: int) -> Grid:
        """Plate carree (CAR): the rings of fejer1, pixels centred at longitudes (j + 1/2) 2 pi / n_phi."""
        return _rings("equidistant_cylindrical", n_rings, n_phi)

    @classmethod
    @checked
    def driscoll_healy(cls, n_rings: int, n_phi: int, phi_0: AngleLike = 0.0) -> Grid:
        """Rings at theta = i pi / n_rings, with the north pole and without the south pole (Driscoll & Healy 1994).

        Analysis is exact for lmax <= n_rings - 1 where n_phi >= 2 lmax + 1. The grid that s2fft calls "dh" is fejer1.
        """
        return _rings("driscoll_healy", n_rings, n_phi, angle(phi_0, "phi_0"))

    @classmethod
    @checked
    def mcewen_wiaux(cls, n_rings: int, n_phi: int, phi_0: AngleLike = 0.0, flipped: bool = False) -> Grid:
        """Rings at theta = (2 i + 1) pi / (2 n_rings - 1), with the south pole (McEwen & Wiaux 2011), or flipped
        2 i pi / (2 n_rings - 1), with the north pole.

        Analysis is exact for lmax <= n_rings - 1 where n_phi >= 2 lmax + 1.
        """
        return _rings("mcewen_wiaux", n_rings, n_phi, angle(phi_0, "phi_0"), flipped)

    @classmethod
    @checked
    def reduced_gaussian(cls, n_phi: ArrayLike) -> Grid:
        """Reduced Gaussian grid as weather models have it: Gauss-Legendre rings with fewer pixels towards the poles.

        n_phi: [ring], pixels of each ring from north to south, as the list `pl` of a GRIB file has them; southern rings
        have as many as northern ones. Rings begin at longitude 0. Analysis is exact for lmax <= n_rings - 1 where all rings
        have 2 lmax + 1 pixels or more; rings near the poles do with fewer, because high orders are small there (see
        `octahedral` and `reduced_gauss_legendre`). Raises ValueError for rings without pixels, and for southern ones that
        have other numbers of pixels than their mirror images.

        >>> zonal.Grid.reduced_gaussian([20, 27, 27, 20]).n_pixels
        94
        """
        pixels = integers("n_phi", n_phi)
        if pixels.ndim != 1:
            raise ValueError(f"n_phi: has shape {pixels.shape}: must be [ring]")
        return _make("reduced_gaussian", pixels.tolist())

    @classmethod
    @checked
    def octahedral(cls, n: int) -> Grid:
        """Octahedral reduced Gaussian grid O_n of ECMWF: 2 n Gauss-Legendre rings, the i-th from each pole, i = 0, ...,
        n - 1, with 20 + 4 i pixels.

        Analysis without iterations errs by about 1e-12 of the alm up to lmax = n - 1 (cubic truncation), and by 1e-5 up
        to 4 n / 3 - 1 (quadratic), which two iterations take to 1e-14. lmax = 2 n - 1 (linear) is not determined.
        n: from 1 to 2^29.

        >>> zonal.Grid.octahedral(32)
        <zonal.Grid octahedral n=32: 5248 pixels on 64 rings>
        """
        return _make("octahedral", integer("n", n))

    @classmethod
    @checked
    def reduced_gauss_legendre(cls, n_rings: int, lmax: int, spin: int = 0) -> Grid:
        """Gauss-Legendre rings with as few pixels as analysis up to lmax needs to be as exact as on full rings.

        It errs by 1e-13 of the alm at lmax 127 and by 1e-12 at 1023, without iterations, for each spin from 0 to `spin`. The
        pixels are 79 % of those of full rings at lmax 127, 69 % at 1023. Ring i has 2 ceil(mlim) + 2 of them, from longitude 0,
        or as many as make its transform quick (the next 4 k without primes above 5). mlim is the highest order that is above
        rounding on the ring, lmax sin(theta) and a bit more. lmax: from spin to n_rings - 1.

        >>> reduced, full = zonal.Grid.reduced_gauss_legendre(512, 511), zonal.Grid.gauss_legendre(512, 1024)
        >>> round(reduced.n_pixels / full.n_pixels, 3)
        0.708
        """
        return _make("reduced_gauss_legendre", integer("n_rings", n_rings), integer("lmax", lmax), integer("spin", spin))

    @property
    def exact_lmax(self) -> int | None:
        """The largest lmax up to which `zonal.SHT.analyze` is exact, on grids of the factories with Gauss-Legendre or
        equidistant rings, which determine no more; else None."""
        lmax: int = self._grid.exact_lmax
        return None if lmax < 0 else lmax

    @property
    def n_pixels(self) -> int:
        """Length of a map."""
        return self._grid.n_pixels

    @property
    def n_rings(self) -> int:
        return self._grid.n_rings

    @property
    def name(self) -> str:
        """Such as "healpix nside=64"."""
        return self._grid.name

    @property
    def nside(self) -> int | None:
        """nside of a whole HEALPix grid, else None."""
        return int(self._recipe[1]) if self._recipe[0] == "healpix" else None

    @property
    def has_other_pixels(self) -> bool:
        """Whether a map has pixels in no ring, which transforms leave as they are."""
        return self._grid.has_other_pixels

    @property
    def theta(self) -> NDArray[np.float64]:
        """[ring], colatitudes, rad."""
        return self._grid.theta()

    @property
    def phi_0(self) -> NDArray[np.float64]:
        """[ring], longitudes of the first pixels, rad."""
        return self._grid.phi_0()

    @property
    def weight(self) -> NDArray[np.float64]:
        """[ring], quadrature weight of each pixel of a ring, sr."""
        return self._grid.weight()

    @property
    def ring_sizes(self) -> NDArray[np.int64]:
        """[ring], pixels of each ring."""
        return self._grid.ring_sizes()

    @property
    def first_pixels(self) -> NDArray[np.int64]:
        """[ring], index in a map of each ring's first pixel."""
        return self._grid.first_pixels()

    def angles(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns theta and phi (rad) of all pixels, [n_pixels] each; NaN for pixels in no ring.

        >>> theta, phi = zonal.Grid.healpix(1).angles()
        >>> np.rad2deg(phi[:4]).round().tolist()
        [45.0, 135.0, 225.0, 315.0]
        """
        theta, phi = np.full((2, self.n_pixels), np.nan) if self.has_other_pixels else np.empty((2, self.n_pixels))
        for first, size, colatitude, start in zip(self.first_pixels, self.ring_sizes, self.theta, self.phi_0):
            theta[first:first + size] = colatitude
            phi[first:first + size] = start + np.arange(size) * (2 * np.pi / size)
        return theta, phi

    def subset(self, rings: Sequence[int]) -> Grid:
        """Returns the grid of the rings with these indices, of maps of the same length: a part of the sky in rings
        costs only its rings."""
        return _make("subset", self, [integer("rings", ring) for ring in sequence("rings", rings)])

    def __reduce__(self) -> tuple[Callable[..., Grid], tuple[Any, ...]]:
        return _make, self._recipe

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grid):
            return NotImplemented
        return self is other or (self.n_pixels == other.n_pixels and all(
            np.array_equal(getattr(self, what), getattr(other, what))
            for what in ("theta", "phi_0", "weight", "ring_sizes", "first_pixels")))

    def __hash__(self) -> int:
        return hash((self.n_pixels, self.n_rings))

    def __repr__(self) -> str:
        return f"<zonal.Grid {self.name}: {self.n_pixels} pixels on {self.n_rings} rings>"


def healpix_grid(nside: int) -> Grid:
    """Grid.healpix for an nside that has been checked to be an integer."""
    return _make("healpix", integer("nside", nside))


def _make(factory: str, *arguments: Any) -> Grid:
    grid = Grid.__new__(Grid)
    grid._build(factory, *arguments)
    return grid


def _rings(factory: str, n_rings: int, n_phi: int, *phi_0: float) -> Grid:
    return _make(factory, integer("n_rings", n_rings), integer("n_phi", n_phi), *phi_0)


def _column(name: str, values: ArrayLike, dtype: Any, count: int | None = None) -> NDArray[Any]:
    array = integers(name, values) if dtype is np.int64 else \
        doubles(name, values) if name == "weight" else angles(name, values)
    if count is not None and array.ndim == 0:
        array = np.full(count, array)
    if array.ndim != 1 or (count is not None and len(array) != count):
        raise ValueError(f"{name}: has shape {array.shape}: must be [ring], with one value for each theta")
    return np.ascontiguousarray(array, dtype)

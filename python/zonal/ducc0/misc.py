"""What packages use of ducc0.misc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._checked import checked, invalid
from .._names import no_attribute
from .._threads import threads
from ..grid import Grid
from ._arguments import complexes, partner, reals, threads_of, vector, written
from ._layouts import RingLayout


@checked
def GL_thetas(nlat: int) -> NDArray[np.float64]:
    """Returns the colatitudes of nlat Gauss-Legendre rings from north to south, rad, [nlat]."""
    return _gauss_legendre(nlat, 1).theta


@checked
def GL_weights(nlat: int, nlon: int) -> NDArray[np.float64]:
    """Returns the quadrature weights of the pixels of nlat Gauss-Legendre rings of nlon pixels, sr, [nlat]."""
    return _gauss_legendre(nlat, nlon).weight


@checked
def get_deflected_angles(theta: NDArray[Any], phi0: NDArray[Any], nphi: NDArray[Any], ringstart: NDArray[Any],
                         deflect: NDArray[Any], calc_rotation: bool = False, res: NDArray[Any] | None = None,
                         nthreads: int = 1, dphi: NDArray[Any] | None = None) -> NDArray[Any]:
    """Returns where the pixels of rings go along a tangent field, [npix, 2]: theta and phi (from 0 to 2 pi), rad.

    theta, phi0: [ring], colatitude of a ring and longitude of its first pixel, rad. nphi: [ring], pixels. ringstart: [ring],
    index of a ring's first pixel. deflect: [npix, 2], float32 or float64, southward and eastward part of the way, rad.
    calc_rotation: adds a column with the angle that the axes turn by, so that exp(i spin angle) times a value there is seen
    in the axes of the pixel (`lensing_rotate`). res: where to write, of deflect's precision; pixels in no ring stay as they
    are (0 in a new array). dphi: [ring], longitude from a pixel to the next; without it, a ring's pixels go round once. nthreads:
    0 for as many as `zonal.threads()` says.

    >>> where = zonal.ducc0.misc.get_deflected_angles(np.array([1.5]), np.zeros(1), np.array([1]), np.array([0]),
    ...                                               np.array([[0.1, 0.0]]), calc_rotation=True)
    >>> (where.round(9) + 0.0).tolist()
    [[1.6, 0.0, 0.0]]
    """
    ways = reals("deflect", deflect)
    if ways.ndim != 2 or ways.shape[1] != 2:
        raise invalid("deflect", None, f"has shape {ways.shape}: must be (npix, 2)")
    rings = RingLayout(theta, nphi, phi0, ringstart, 1, None)
    rings.check_places()
    if len(ways) < rings.length:
        raise invalid("deflect", None, f"has {len(ways)} pixels: must be {rings.length} or more for nphi and ringstart")
    shape = (len(ways), 3 if calc_rotation else 2)
    out = np.zeros(shape, ways.dtype) if res is None else written("res", res, shape, ways.dtype)
    steps = None if dphi is None else vector("dphi", dphi, len(rings.n_phi))
    # The extension takes any strides.
    _core.deflect(rings.grid, steps, ways[:rings.length], out[:rings.length], threads_of(nthreads))
    return out


@checked
def lensing_rotate(values: NDArray[Any], gamma: NDArray[Any], spin: int, nthreads: int = 1) -> None:
    """Multiplies values by exp(i spin gamma), in place.

    values: any shape, complex64 or complex128. gamma: the same shape and precision, rad. nthreads: 0 for as many as
    `zonal.threads()` says.
    """
    given, angles = written("values", values, np.shape(values), complexes("values", values).dtype), reals("gamma", gamma)
    if angles.dtype != partner(given.dtype) or angles.shape != given.shape:
        raise invalid("gamma", None, f"has shape {angles.shape} and type {angles.dtype}: must be {given.shape} and "
                      f"{partner(given.dtype)}, as values")
    flat = np.ascontiguousarray(given).reshape(-1)
    _core.turn(spin, np.ascontiguousarray(angles).reshape(-1), flat, threads_of(nthreads))
    if not np.may_share_memory(flat, given):
        given[...] = flat.reshape(given.shape)


def available_hardware_threads() -> int:
    """Returns how many CPUs this process may use."""
    return _core.available_cpus()


def thread_pool_size() -> int:
    """Returns how many threads nthreads = 0 stands for."""
    return int(threads())


@checked
def resize_thread_pool(nthreads_new: int) -> None:
    """Sets how many threads nthreads = 0 stands for, as `zonal.threads(nthreads_new)` does for all of Zonal."""
    if nthreads_new < 1:
        raise invalid("nthreads_new", nthreads_new, "must be 1 or more")
    threads(nthreads_new)


def _gauss_legendre(nlat: int, nlon: int) -> Grid:
    for name, size in (("nlat", nlat), ("nlon", nlon)):
        if size < 1:
            raise invalid(name, size, "must be 1 or more")
    return Grid.gauss_legendre(nlat, nlon)


__all__ = ["GL_thetas", "GL_weights", "available_hardware_threads", "get_deflected_angles", "lensing_rotate",
           "resize_thread_pool", "thread_pool_size"]

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        raise no_attribute("zonal.ducc0.misc", name, __all__)

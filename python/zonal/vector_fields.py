"""Vector fields that are tangent to the sphere, and derivatives of maps."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import complex_input, integer, real, real_input
from ._checked import checked
from ._devices import DeviceLike, resolve_device
from ._kinds import ring_values
from ._notes import warn
from ._pixels import grid_of_length, required_grid
from ._progress import Progress, reporting
from ._smoothing import choice_of
from ._threads import resolve
from ._units import quantity_unit, with_unit
from .grid import Grid
from .sht import analysis_options, without_unseen
from .skies import lmax_of
from .sky_map import Map

Components = Literal["theta-phi", "east-north"]
"""v_theta (southwards) and v_phi (eastwards), or u (eastwards) and v (northwards) as in meteorology."""
Scalars = Literal["potentials", "divergence-vorticity", "spheroidal-toroidal"]
"""The two scalars that describe a vector field: velocity potential chi and stream function psi, v = grad chi + r x grad psi;
or divergence and vorticity, which are their Laplacians; or S and T of SHTns, v = grad S - r x grad T on the unit sphere."""


@checked
def gradient(alm: ArrayLike, grid: Grid | int, lmax: int | None = None, mmax: int | None = None, *, radius: Any = 1.0,
             components: Components = "theta-phi", threads: int | None = None, device: DeviceLike = "cpu",
             progress: Progress = False) -> NDArray[Any]:
    """Returns the gradient of the field with these alm on a sphere of a radius R, (1/R) (df/dtheta, (1/sin theta) df/dphi).

    alm: [n_alm], or [row, n_alm]. grid: any Grid, or the nside of HEALPix. lmax: by default what the number of
    coefficients tells, with mmax = lmax; it must be 1 or more. The result is [2, n_pixels], or [row, 2, n_pixels]: the
    components towards the south and the east, or, for components="east-north", towards the east and the north.
    radius: a number or a Quantity; by it the units of Quantities change. device, progress: as in `zonal.convolve`.

    >>> alm = np.zeros(3, complex)
    >>> alm[1] = np.sqrt(4 * np.pi / 3)  # cos(theta), which falls towards the south
    >>> grid = zonal.Grid([np.pi / 2], [4], 0.1)
    >>> zonal.gradient(alm, grid, radius=2).round(9)[0].tolist()
    [-0.5, -0.5, -0.5, -0.5]
    """
    return _of_one_scalar(alm, grid, lmax, mmax, _core.SpinParts.gradient, radius, components, threads, device, progress)


@checked
def curl(alm: ArrayLike, grid: Grid | int, lmax: int | None = None, mmax: int | None = None, *, radius: Any = 1.0,
         components: Components = "theta-phi", threads: int | None = None, device: DeviceLike = "cpu",
         progress: Progress = False) -> NDArray[Any]:
    """Returns r x grad f for the field f with these alm, r the unit vector outwards: the gradient turned by 90 degrees
    counter-clockwise as seen from outside, (1/R) (-(1/sin theta) df/dphi, df/dtheta).

    It is the flow of the stream function f. Arguments and shapes are those of `gradient`.

    >>> alm = np.zeros(3, complex)
    >>> alm[1] = -np.sqrt(4 * np.pi / 3)  # -cos(theta): turns with the Earth
    >>> grid = zonal.Grid([np.pi / 2], [4], 0.1)
    >>> (zonal.curl(alm, grid, components="east-north") + 0.0).round(9)[:, 0].tolist()
    [1.0, 0.0]
    """
    return _of_one_scalar(alm, grid, lmax, mmax, _core.SpinParts.curl, radius, components, threads, device, progress)


@checked
def hessian(alm: ArrayLike, grid: Grid | int, lmax: int | None = None, mmax: int | None = None, *, radius: Any = 1.0,
            components: Components = "theta-phi", threads: int | None = None, device: DeviceLike = "cpu",
            progress: Progress = False) -> NDArray[Any]:
    """Returns the second derivatives of the field with these alm on a sphere of a radius R: the covariant ones, grad grad f.

    alm: [n_alm] or [row, n_alm]; the result is [3, n_pixels] or [row, 3, n_pixels]. With d_t = d/dtheta, d_p = d/dphi and
    s = sin(theta) the three are d_t d_t f, (d_t d_p f - cot(theta) d_p f) / s, and d_p d_p f / s^2 + cot(theta) d_t f, each
    over R^2; for components="east-north" they are east east, east north, north north. The first and the third sum to the
    Laplacian. Other arguments are those of `gradient`.

    >>> alm = zonal.synalm(np.ones(9), seed=1)
    >>> l = np.arange(9.0)
    >>> along, across, other = zonal.hessian(alm, 8)
    >>> bool(np.allclose(along + other, zonal.alm2map(zonal.almxfl(alm, -l * (l + 1)), 8)))
    True
    """
    values = _coefficients(alm, 1)
    lmax = lmax_of(values.shape[-1], lmax, mmax)
    length, radius_unit = _radius(radius)
    where = _grid(grid)
    plan = _core.HessianPlan(where._grid, lmax, -1 if mmax is None else mmax, _components(components), length,
                             resolve(threads), resolve_device(device))
    return _synthesized(plan, values, (*values.shape[:-1], 3, where.n_pixels), _unit(alm, radius_unit, -2), progress)


@checked
def alm2vector(alm: ArrayLike, grid: Grid | int, lmax: int | None = None, mmax: int | None = None, *, scalars: Scalars,
               radius: Any = 1.0, components: Components = "theta-phi", threads: int | None = None,
               device: DeviceLike = "cpu", progress: Progress = False) -> NDArray[Any]:
    """Returns the vector field of two scalars by their alm, [2, n_alm] or [row, 2, n_alm]: [2, n_pixels] or [row, 2, n_pixels].

    scalars: "potentials", velocity potential chi and stream function psi, v = grad chi + r x grad psi, r the unit vector
    outwards; "divergence-vorticity", div v = laplacian chi and r . curl v = laplacian psi, which is positive for a turn
    that is counter-clockwise as seen from outside; or "spheroidal-toroidal", S and T of SHTns, v = grad S - r x grad T,
    which have no radius. Their a_00 count for nothing. Other arguments are those of `gradient`.

    >>> vorticity = np.zeros((2, 3), complex)
    >>> vorticity[1, 1] = 2 * np.sqrt(4 * np.pi / 3) / 6371e3  # 2 U / R sin(latitude), U = 1 m/s
    >>> grid = zonal.Grid([np.pi / 3], [4], 0.1)
    >>> wind = zonal.alm2vector(vorticity, grid, scalars="divergence-vorticity", radius=6371e3, components="east-north")
    >>> (wind[:, 0] / np.sin(np.pi / 3) + 0.0).round(9).tolist()  # U cos(latitude), 0
    [1.0, 0.0]
    """
    values = _coefficients(alm, 2)
    lmax = lmax_of(values.shape[-1], lmax, mmax)
    where = _grid(grid)
    plan, unit = _plan(where, lmax, mmax, _core.SpinParts.both, scalars, radius, components, threads, device, alm, 1)
    return _synthesized(plan, values, (*values.shape[:-1], where.n_pixels), unit, progress)


@checked
def vector2alm(vector: ArrayLike, lmax: int | None = None, mmax: int | None = None, *, scalars: Scalars,
               radius: Any = 1.0, components: Components = "theta-phi", grid: Grid | None = None,
               iterations: int | None = None, tolerance: float | None = None, max_iterations: int | None = None,
               ring_weights: ArrayLike | None = None, pixel_weights: ArrayLike | None = None, threads: int | None = None,
               device: DeviceLike = "cpu", progress: Progress = False) -> NDArray[Any]:
    """Returns the alm of the two scalars that describe a vector field, [2, n_alm] or [row, 2, n_alm], with a_00 = 0.

    vector: [2, n_pixels] or [row, 2, n_pixels], the components that `components` names, on HEALPix in ring order or on
    `grid`; or a `zonal.Map` of two rows. scalars: see `alm2vector`, of which this is the inverse. lmax: by default 3 nside - 1
    on HEALPix. iterations, tolerance, max_iterations, ring_weights, pixel_weights: as in `SHT.analyze`. UNSEEN pixels are refused.

    >>> grid = zonal.Grid.gauss_legendre(3, 5)
    >>> wind = np.stack([np.sin(grid.angles()[0]), np.zeros(grid.n_pixels)])  # u = cos(latitude)
    >>> divergence, vorticity = zonal.vector2alm(wind, 2, grid=grid, scalars="divergence-vorticity", components="east-north")
    >>> float((vorticity[1].real / np.sqrt(4 * np.pi / 3)).round(9))  # 2 sin(latitude)
    2.0
    """
    if isinstance(vector, Map):
        grid = vector.grid if grid is None else grid
        vector = ring_values("vector", vector, required_grid("grid", grid))
    values = real_input("vector", vector)
    if values.ndim not in (2, 3) or values.shape[-2] != 2:
        raise ValueError(f"vector: has shape {values.shape}: must be [2, n_pixels] or [row, 2, n_pixels]")
    where = grid_of_length("vector", values.shape[-1]) if grid is None else required_grid("grid", grid)
    if values.shape[-1] != where.n_pixels:
        raise ValueError(f"vector: has {values.shape[-1]} pixels: must be {where.n_pixels} for {where.name}")
    without_unseen(values, "vector")
    if lmax is None:
        lmax = _core.default_smoothing_lmax(where._grid)
    options = analysis_options(where, iterations, tolerance, max_iterations, ring_weights, pixel_weights)
    plan, unit = _plan(where, lmax, mmax, _core.SpinParts.both, scalars, radius, components, threads, device, vector, -1)
    alm = np.empty((*values.shape[:-1], plan.n_alm), np.complex128 if values.dtype == np.float64 else np.complex64)
    with reporting(progress, "analysis") as report:
        done = plan.analyze(values, alm, *options, report)
    warn([done.note])
    return with_unit(alm, unit)


# By which power of the radius' unit the unit of vectors differs from that of the scalars.
_POWERS = {"potentials": -1, "divergence-vorticity": 1, "spheroidal-toroidal": 0}


def _plan(grid: Grid, lmax: int, mmax: int | None, parts: Any, scalars: str, radius: Any, components: str,
          threads: int | None, device: DeviceLike, given: Any, direction: int) -> tuple[Any, Any]:
    """The plan, and the unit of what it makes. direction: 1 towards vectors, -1 from them."""
    kind = choice_of("scalars", scalars, _core.VectorScalars)
    length, radius_unit = _radius(radius)
    if scalars == "spheroidal-toroidal" and radius_unit is not None:
        raise ValueError(f"radius = {radius}: has no effect on spheroidal and toroidal parts, which are those of the unit sphere")
    plan = _core.VectorPlan(grid._grid, lmax, -1 if mmax is None else mmax, parts, kind, _components(components), length,
                            resolve(threads), resolve_device(device))
    return plan, _unit(given, radius_unit, direction * _POWERS[scalars])


def _of_one_scalar(alm: ArrayLike, grid: Grid | int, lmax: int | None, mmax: int | None, parts: Any, radius: Any,
                   components: str, threads: int | None, device: DeviceLike, progress: Progress) -> NDArray[Any]:
    values = _coefficients(alm, 1)
    lmax = lmax_of(values.shape[-1], lmax, mmax)
    where = _grid(grid)
    plan, unit = _plan(where, lmax, mmax, parts, "potentials", radius, components, threads, device, alm, 1)
    return _synthesized(plan, values, (*values.shape[:-1], 2, where.n_pixels), unit, progress)


def _synthesized(plan: Any, alm: NDArray[Any], shape: tuple[int, ...], unit: Any, progress: Progress) -> NDArray[Any]:
    maps = np.zeros(shape, np.float64 if alm.dtype == np.complex128 else np.float32)
    with reporting(progress, "synthesis") as report:
        plan.synthesize(alm, maps, report)
    return with_unit(maps, unit)


def _coefficients(alm: ArrayLike, n_scalars: int) -> NDArray[Any]:
    values = complex_input("alm", alm)
    fits = values.ndim in (1, 2) if n_scalars == 1 else values.ndim in (2, 3) and values.shape[-2] == 2
    if not fits:
        wanted = "[n_alm] or [row, n_alm]" if n_scalars == 1 else "[2, n_alm] or [row, 2, n_alm]"
        raise ValueError(f"alm: has shape {values.shape}: must be {wanted}")
    return values


def _grid(grid: Grid | int) -> Grid:
    return grid if isinstance(grid, Grid) else Grid.healpix(integer("grid", grid))


def _components(components: str) -> Any:
    return choice_of("components", components, _core.VectorComponents)


def _radius(radius: Any) -> tuple[float, Any]:
    """The number and its unit, or None."""
    unit = quantity_unit(radius)
    length = real("radius", radius if unit is None else radius.value)
    if not 0 < length < math.inf:
        raise ValueError(f"radius = {radius}: must be finite and above 0")
    return float(length), unit


def _unit(given: Any, radius_unit: Any, power: int) -> Any:
    """The unit of results; None where neither the fields nor the radius have one."""
    unit = quantity_unit(given)
    if radius_unit is None or power == 0:
        return unit
    return radius_unit**power if unit is None else unit * radius_unit**power


__all__ = ["alm2vector", "curl", "gradient", "hessian", "vector2alm"]

"""Transforms on rings that the caller lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checked import checked, invalid
from .._arguments import complexes, contiguous, partner, reals, threads_of
from .._layouts import AlmLayout, RingLayout
from .._least_squares import lsmr, product_of
from .._transforms import Transform, batch, field_of, output, write_alm, write_map


@checked
def synthesis(*, alm: NDArray[Any], theta: NDArray[Any], lmax: int, mstart: NDArray[Any] | None = None, nphi: NDArray[Any],
              phi0: NDArray[Any], ringstart: NDArray[Any], ringfactor: NDArray[Any] | None = None, spin: int, lstride: int = 1,
              pixstride: int = 1, nthreads: int = 1, map: NDArray[Any] | None = None, mmax: int | None = None,
              mode: str = "STANDARD", theta_interpol: bool = False) -> NDArray[Any]:
    """Returns the maps of coefficients on rings, map = S alm.

    alm: ([transform,] nalm, x), complex64 or complex128, nalm = 1 for spin 0 and modes other than "STANDARD", else 2. a_lm is at
    index mstart[m] + lstride l. mstart: [mmax + 1], by default orders follow one another, and the degrees within each.
    theta, phi0: [ring], float64, colatitude of a ring and longitude of its first pixel, rad. nphi: [ring], pixels, evenly
    spaced. ringstart: [ring]; pixel j of ring i is at index ringstart[i] + pixstride j of the map.
    ringfactor: [ring], what the pixels of a ring are multiplied by in the end.
    map: ([transform,] nmaps, x), of alm's precision, nmaps = 1 for spin 0, else 2; by default a new array, as short as it can
    be. It is returned, and elements that belong to no ring stay as they are (0 in a new array).
    mode: "STANDARD"; "GRAD_ONLY" for E alone, B being 0; "DERIV1", which stands for spin 1, E alone and a_lm times
    sqrt(l (l + 1)): the gradient, d/dtheta and d/(sin theta dphi).
    theta_interpol: lets rings be resampled from equidistant ones where that is quicker, to 1e-13 of the largest value.
    nthreads: 0 for as many as `zonal.threads()` says.
    """
    values, field, has_batch = _alm_and_field(alm, spin, mode, lmax)
    layout, orders = AlmLayout.of_all(lmax, mmax, mstart, lstride)
    rings = RingLayout(theta, nphi, phi0, ringstart, pixstride, ringfactor)
    transform = Transform(rings.grid, lmax, orders, field, threads_of(nthreads), theta_interpol)
    given = layout.read(values)
    shape = (len(values), field.n_map) if has_batch else (field.n_map,)
    return write_map(rings, map, shape, partner(values.dtype), lambda maps: transform.synthesize(given, maps))


@checked
def adjoint_synthesis(*, map: NDArray[Any], theta: NDArray[Any], lmax: int, mstart: NDArray[Any] | None = None,
                      nphi: NDArray[Any], phi0: NDArray[Any], ringstart: NDArray[Any], ringfactor: NDArray[Any] | None = None,
                      spin: int, lstride: int = 1, pixstride: int = 1, nthreads: int = 1, alm: NDArray[Any] | None = None,
                      mmax: int | None = None, mode: str = "STANDARD", theta_interpol: bool = False) -> NDArray[Any]:
    """Returns the coefficients alm = S^T map, a_lm = sum_p f_p conj(Y_lm(p)), without weights.

    map: ([transform,] nmaps, x), float32 or float64, whose pixels are multiplied by ringfactor at first. alm: where to write,
    ([transform,] nalm, x) of map's precision; elements that the layout does not use stay as they are. mode: as of `synthesis`,
    with E alone where it has one part. Other arguments are those of `synthesis`.
    """
    field = field_of(spin, mode, lmax)
    values, has_batch = batch("map", reals("map", map), field.n_map)
    layout, orders = AlmLayout.of_all(lmax, mmax, mstart, lstride)
    rings = RingLayout(theta, nphi, phi0, ringstart, pixstride, ringfactor)
    transform = Transform(rings.grid, lmax, orders, field, threads_of(nthreads), theta_interpol)
    given = rings.read(values)
    shape = (len(values), field.n_alm) if has_batch else (field.n_alm,)
    return write_alm(layout, alm, shape, partner(values.dtype), lambda found: transform.adjoint(given, found))


@checked
def synthesis_deriv1(*, alm: NDArray[Any], theta: NDArray[Any], lmax: int, mstart: NDArray[Any] | None = None,
                     nphi: NDArray[Any], phi0: NDArray[Any], ringstart: NDArray[Any], ringfactor: NDArray[Any] | None = None,
                     lstride: int = 1, pixstride: int = 1, nthreads: int = 1, map: NDArray[Any] | None = None,
                     mmax: int | None = None, theta_interpol: bool = False) -> NDArray[Any]:
    """Returns the derivatives of a scalar field, d/dtheta and d/(sin theta dphi): `synthesis` with mode="DERIV1".

    alm: ([transform,] 1, x). map: ([transform,] 2, x). Other arguments are those of `synthesis`.
    """
    return synthesis(alm=alm, theta=theta, lmax=lmax, mstart=mstart, nphi=nphi, phi0=phi0, ringstart=ringstart,
                     ringfactor=ringfactor, spin=1, lstride=lstride, pixstride=pixstride, nthreads=nthreads, map=map, mmax=mmax,
                     mode="DERIV1", theta_interpol=theta_interpol)


@checked
def pseudo_analysis(*, map: NDArray[Any], theta: NDArray[Any], lmax: int, mstart: NDArray[Any] | None = None,
                    nphi: NDArray[Any], phi0: NDArray[Any], ringstart: NDArray[Any], ringfactor: NDArray[Any] | None = None,
                    spin: int, lstride: int = 1, pixstride: int = 1, nthreads: int = 1, alm: NDArray[Any] | None = None,
                    maxiter: int, epsilon: float, mmax: int | None = None, theta_interpol: bool = False,
                    alm_contains_initial_guess: bool = False) -> tuple[Any, ...]:
    """Returns the coefficients whose map is nearest to this one, by LSMR, and how it went.

    maxiter: iterations at most, each of one synthesis and one adjoint. epsilon: |map - S alm| / |map| at which they end, too.
    They also end where the least-squares solution is reached to rounding. alm_contains_initial_guess: begins at alm, which is
    then to be given. ringfactor: what the map is multiplied by at first; S is without it. Other arguments are those of
    `adjoint_synthesis`.

    Returns alm; why it stopped (1: epsilon was reached, 2: least squares were, 7: maxiter were done); the iterations; the
    residual |map - S alm| / |map|; and |S^T r| / (|S| |r|), r the residual. The last four are lists where the map has an axis
    of transforms.
    """
    if maxiter < 0:
        raise invalid("maxiter", maxiter, "must be 0 or more")
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise invalid("epsilon", epsilon, "must be above 0 and finite")
    field = field_of(spin, lmax=lmax)
    values, has_batch = batch("map", reals("map", map), field.n_map)
    layout, orders = AlmLayout.of_all(lmax, mmax, mstart, lstride)
    rings = RingLayout(theta, nphi, phi0, ringstart, pixstride, ringfactor)
    if rings.overlap:
        raise invalid("ringstart", None, "puts two pixels at one place: must put each at a place of its own")
    solver = LeastSquares(Transform(rings.grid, lmax, orders, field, threads_of(nthreads), theta_interpol), rings.grid.n_pixels)
    given, guess = rings.read(values), None
    dtype = partner(values.dtype)
    shape = (len(values), field.n_alm) if has_batch else (field.n_alm,)
    if alm_contains_initial_guess:
        if alm is None:
            raise invalid("alm", None, "must be given where alm_contains_initial_guess = True")
        guess = layout.read(batch("alm", output("alm", alm, shape, layout.length, dtype), field.n_alm)[0])
    if rings.grid.has_other_pixels:
        given = np.array(given)
        given[..., ~_in_rings(rings)] = 0  # they are no part of the problem
    reports: list[Any] = []
    result = write_alm(layout, alm, shape, dtype,
                       lambda found: reports.extend(solver.solve(given, found, maxiter, epsilon, guess)))
    columns = [list(column) for column in zip(*reports)] if has_batch else reports[0]
    return (result, *columns)


class LeastSquares:
    """Least squares by a transform."""

    def __init__(self, transform: Any, n_pixels: int) -> None:
        self.transform, self.n_pixels = transform, n_pixels

    def solve(self, maps: NDArray[Any], found: NDArray[Any], max_steps: int, tolerance: float,
              guess: NDArray[Any] | None) -> list[tuple[int | float, ...]]:
        """Writes alm of each of the maps, [transform, component, ..], and returns (reason, steps, residual, quality)."""
        reports: list[tuple[int | float, ...]] = []
        for i, one in enumerate(maps):
            solution = lsmr(self._forward, self._adjoint, product_of(self.transform.lmax), one, max_steps, tolerance,
                            None if guess is None else guess[i])
            found[i] = solution.x
            reports.append(tuple(solution[1:]))
        return reports

    def _forward(self, alm: NDArray[Any]) -> NDArray[Any]:
        maps: NDArray[Any] = np.zeros((self.transform.field.n_map, self.n_pixels), partner(alm.dtype))
        self.transform.synthesize(contiguous(alm[None]), maps[None])
        return maps

    def _adjoint(self, map: NDArray[Any]) -> NDArray[Any]:
        n_alm = self.transform.plan.n_alm
        alm: NDArray[Any] = np.empty((self.transform.field.n_alm, n_alm), partner(map.dtype))
        self.transform.adjoint(contiguous(map[None]), alm[None])
        return alm


def _alm_and_field(alm: Any, spin: int, mode: str, lmax: int) -> tuple[NDArray[Any], Any, bool]:
    field = field_of(spin, mode, lmax)
    values, has_batch = batch("alm", complexes("alm", alm), field.n_alm)
    return values, field, has_batch


def _in_rings(rings: RingLayout) -> NDArray[np.bool_]:
    seen = np.zeros(rings.grid.n_pixels, bool)
    seen[rings.index()] = True
    return seen


__all__ = ["adjoint_synthesis", "pseudo_analysis", "synthesis", "synthesis_deriv1"]

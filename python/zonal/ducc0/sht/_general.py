"""Transforms at any points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checked import arguments_as, checked, invalid
from ...points import PointTransform
from .._arguments import complexes, partner, reals, threads_of, written
from .._layouts import AlmLayout
from .._least_squares import lsmr, product_of
from .._transforms import Field, field_of, multiplied, output, write_alm

# The smallest error that zonal.PointTransform takes.
LEAST_ERROR = 2e-14


@checked
def synthesis_general(*, alm: NDArray[Any], spin: int, lmax: int, loc: NDArray[Any], epsilon: float,
                      mstart: NDArray[Any] | None = None, lstride: int = 1, mmax: int | None = None, nthreads: int = 1,
                      map: NDArray[Any] | None = None, sigma_min: float = 1.1, sigma_max: float = 2.6, mode: str = "STANDARD",
                      verbose: bool = False) -> NDArray[Any]:
    """Returns the values of a function at any points, (nmaps, npix).

    alm: (nalm, x), complex64 or complex128. loc: [npix, 2], float64, theta from 0 to pi and phi of any number of turns, rad.
    epsilon: bound of max |error| / max |f| over the sphere, from 2e-14 to 0.1. map: where to write, of alm's precision.
    sigma_min, sigma_max: how much ducc0 may oversample; Zonal chooses what is quickest within epsilon. verbose: prints what was
    chosen. mode: as of `synthesis`, and so are spin, lmax, mmax, mstart, lstride and nthreads. Where points stay the same over calls,
    `zonal.PointTransform` sorts them once.
    """
    points = _Points(loc, lmax, mmax, mstart, lstride, field_of(spin, mode, lmax), epsilon, nthreads, sigma_min, sigma_max, verbose)
    values = points.of_shape("alm", complexes("alm", alm), points.field.n_alm)
    dtype = partner(values.dtype)
    shape = (points.field.n_map, points.n)
    out = np.empty(shape, dtype) if map is None else written("map", map, shape, dtype)
    out[...] = points.synthesize(points.layout.read(values))
    return out


@checked
def adjoint_synthesis_general(*, map: NDArray[Any], spin: int, lmax: int, loc: NDArray[Any], epsilon: float,
                              mstart: NDArray[Any] | None = None, lstride: int = 1, mmax: int | None = None, nthreads: int = 1,
                              alm: NDArray[Any] | None = None, sigma_min: float = 1.1, sigma_max: float = 2.6,
                              mode: str = "STANDARD", verbose: bool = False) -> NDArray[Any]:
    """Returns the coefficients alm = S^T map, a_lm = sum_p f_p conj(Y_lm(p)), of values at any points.

    map: (nmaps, npix), float32 or float64. alm: where to write, (nalm, x) of map's precision. mode: as of `synthesis`. Other
    arguments are those of `synthesis_general`.
    """
    points = _Points(loc, lmax, mmax, mstart, lstride, field_of(spin, mode, lmax), epsilon, nthreads, sigma_min, sigma_max, verbose)
    values = points.of_points(map)

    def compute(found: NDArray[Any]) -> None:
        found[0] = points.adjoint(values)

    return write_alm(points.layout, alm, (points.field.n_alm,), partner(values.dtype), compute)


@checked
def pseudo_analysis_general(*, lmax: int, map: NDArray[Any], loc: NDArray[Any], spin: int, nthreads: int = 1, maxiter: int,
                            epsilon: float, sigma_min: float = 1.1, sigma_max: float = 2.6, mstart: NDArray[Any] | None = None,
                            lstride: int = 1, mmax: int | None = None, alm: NDArray[Any] | None = None, verbose: bool = False,
                            alm_contains_initial_guess: bool = False) -> tuple[Any, ...]:
    """Returns the coefficients whose values at the points are nearest to map, by LSMR, and how it went.

    maxiter, alm_contains_initial_guess and what is returned: as of `pseudo_analysis` without an axis of transforms. epsilon:
    |map - S alm| / |map| at which it ends; the transforms err by a tenth of it at most. map, loc and other arguments are those
    of `adjoint_synthesis_general`.
    """
    if maxiter < 0:
        raise invalid("maxiter", maxiter, "must be 0 or more")
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise invalid("epsilon", epsilon, "must be above 0 and finite")
    points = _Points(loc, lmax, mmax, mstart, lstride, field_of(spin, lmax=lmax), min(max(epsilon / 10, LEAST_ERROR), 0.1), nthreads,
                     sigma_min, sigma_max, verbose)
    values = points.of_points(map)
    shape, dtype = (points.field.n_alm,), partner(values.dtype)
    guess = None
    if alm_contains_initial_guess:
        if alm is None:
            raise invalid("alm", None, "must be given where alm_contains_initial_guess = True")
        guess = np.array(points.layout.read(output("alm", alm, shape, points.layout.length, dtype)))
    solution = lsmr(points.synthesize, points.adjoint, product_of(lmax), values, maxiter, epsilon, guess)

    def compute(found: NDArray[Any]) -> None:
        found[0] = solution.x

    return (write_alm(points.layout, alm, shape, dtype, compute), *solution[1:])


class _Points:
    """A transform at points, with coefficients (component, n_alm) and values (component, point)."""

    def __init__(self, loc: Any, lmax: int, mmax: int | None, mstart: Any, lstride: int, field: Field, epsilon: float,
                 nthreads: int, sigma_min: float, sigma_max: float, verbose: bool) -> None:
        where = reals("loc", loc)
        if where.dtype != np.float64 or where.ndim != 2 or where.shape[1] != 2:
            raise invalid("loc", None, f"has shape {where.shape} and type {where.dtype}: must be (npix, 2) and float64")
        if not 1 < sigma_min < sigma_max < math.inf:
            raise invalid("sigma_min", sigma_min, f"must be above 1 and below sigma_max = {sigma_max}")
        self.layout, self.mmax = AlmLayout.of_all(lmax, mmax, mstart, lstride)
        self.lmax, self.field, self.n = lmax, field, len(where)
        with arguments_as({"error": "epsilon", "theta": "loc[:, 0]", "phi": "loc[:, 1]"}):
            self.transform = PointTransform(where[:, 0], where[:, 1], lmax, field.spin, epsilon, mmax=self.mmax,
                                            threads=threads_of(nthreads))
        if verbose:
            print(f"{self.n} points, spin {field.spin}, lmax {lmax}: {self.transform.n_samples} samples of a circle, "
                  f"{self.transform.width} of them for a value, error at most {self.transform.bound:.2g} of max |f|")

    def of_shape(self, name: str, array: NDArray[Any], components: int) -> NDArray[Any]:
        if array.ndim != 2 or len(array) != components:
            raise invalid(name, None, f"has shape {array.shape}: must be ({components}, x)")
        return array

    def of_points(self, map: Any) -> NDArray[Any]:
        values = self.of_shape("map", reals("map", map), self.field.n_map)
        if values.shape[1] != self.n:
            raise invalid("map", None, f"has {values.shape[1]} values: must be {self.n}, one for each row of loc")
        return values

    def synthesize(self, alm: NDArray[Any]) -> NDArray[Any]:
        factors = self.field.factors(self.lmax)
        if factors is not None:
            alm = multiplied(alm, self.lmax, self.mmax, factors)
        if self.field.n_alm < self.field.n_map:
            alm = np.concatenate([alm, np.zeros_like(alm)])  # B
        return np.atleast_2d(self.transform.synthesize(alm if self.field.spin else alm[0]))

    def adjoint(self, values: NDArray[Any]) -> NDArray[Any]:
        alm = np.atleast_2d(self.transform.adjoint(values if self.field.spin else values[0]))[:self.field.n_alm]
        factors = self.field.factors(self.lmax)
        return alm if factors is None else multiplied(alm, self.lmax, self.mmax, factors)


__all__ = ["adjoint_synthesis_general", "pseudo_analysis_general", "synthesis_general"]

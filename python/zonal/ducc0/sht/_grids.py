"""Transforms on grids of equal rings, which have a name in ducc0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checked import arguments_as, checked, invalid
from ...grid import Grid
from .._arguments import complexes, contiguous, partner, reals, threads_of, vector, written
from .._layouts import AlmLayout
from .._transforms import Field, Transform, field_of, write_alm

_FACTORIES = {
    "CC": Grid.clenshaw_curtis, "F1": Grid.fejer1, "MW": Grid.mcewen_wiaux, "GL": Grid.gauss_legendre, "DH": Grid.driscoll_healy,
    "F2": Grid.fejer2, "MWflip": lambda ntheta, nphi, phi0: Grid.mcewen_wiaux(ntheta, nphi, phi0, True),
}


def _grid(geometry: str, ntheta: int, nphi: int, phi0: float) -> Grid:
    if geometry not in _FACTORIES:
        raise invalid("geometry", repr(geometry), f"must be one of {', '.join(_FACTORIES)}")
    for name, size in (("ntheta", ntheta), ("nphi", nphi)):
        if size < 1:
            raise invalid(name, size, "must be 1 or more")
    if not np.isfinite(phi0):
        raise invalid("phi0", phi0, "must be finite")
    with arguments_as({"n_rings": "ntheta"}):
        return _FACTORIES[geometry](ntheta, nphi, phi0)


@checked
def synthesis_2d(*, alm: NDArray[Any], spin: int, lmax: int, geometry: str, ntheta: int | None = None, nphi: int | None = None,
                 mmax: int | None = None, nthreads: int = 1, map: NDArray[Any] | None = None, mode: str = "STANDARD",
                 phi0: float = 0.0, ringfactor: NDArray[Any] | None = None, mstart: NDArray[Any] | None = None,
                 lstride: int = 1) -> NDArray[Any]:
    """Returns the map of coefficients, (nmaps, ntheta, nphi), map = S alm.

    alm: (nalm, x), complex64 or complex128. geometry: where the rings are, "CC" (Clenshaw-Curtis, both poles), "F1" (Fejer's
    first rule), "F2" (Fejer's second rule), "MW" (McEwen & Wiaux, south pole), "MWflip" (north pole), "DH" (Driscoll & Healy,
    north pole) or "GL" (Gauss-Legendre). ntheta, nphi: rings and pixels of each, by default those of `map`, an array of alm's
    precision to write to. phi0: longitude of each ring's first pixel, rad. ringfactor: [ntheta], what the pixels of a ring are
    multiplied by in the end. mode: as of `synthesis`, and so are spin, lmax, mmax, mstart, lstride and nthreads.
    """
    return _synthesized("synthesize", alm, field_of(spin, mode, lmax), lmax, geometry, ntheta, nphi, mmax, nthreads, map, phi0,
                        ringfactor, mstart, lstride)


@checked
def synthesis_2d_deriv1(*, alm: NDArray[Any], lmax: int, geometry: str, ntheta: int | None = None, nphi: int | None = None,
                        mmax: int | None = None, nthreads: int = 1, map: NDArray[Any] | None = None, phi0: float = 0.0,
                        ringfactor: NDArray[Any] | None = None, mstart: NDArray[Any] | None = None,
                        lstride: int = 1) -> NDArray[Any]:
    """Returns the derivatives of a scalar field, d/dtheta and d/(sin theta dphi), (2, ntheta, nphi).

    alm: (1, x). Other arguments are those of `synthesis_2d`.
    """
    return _synthesized("synthesize", alm, field_of(1, "DERIV1", lmax), lmax, geometry, ntheta, nphi, mmax, nthreads, map, phi0,
                        ringfactor, mstart, lstride)


@checked
def adjoint_synthesis_2d(*, map: NDArray[Any], spin: int, lmax: int, geometry: str, mmax: int | None = None, nthreads: int = 1,
                         alm: NDArray[Any] | None = None, mode: str = "STANDARD", phi0: float = 0.0,
                         ringfactor: NDArray[Any] | None = None, mstart: NDArray[Any] | None = None,
                         lstride: int = 1) -> NDArray[Any]:
    """Returns the coefficients alm = S^T map, a_lm = sum_p f_p conj(Y_lm(p)), without weights.

    map: (nmaps, ntheta, nphi), float32 or float64, which is multiplied by ringfactor at first. alm: where to write, (nalm, x)
    of map's precision. mode: as of `synthesis`. Other arguments are those of `synthesis_2d`.
    """
    return _coefficients("adjoint", map, field_of(spin, mode, lmax), lmax, geometry, mmax, nthreads, alm, phi0, ringfactor,
                         mstart, lstride)


@checked
def analysis_2d(*, map: NDArray[Any], spin: int, lmax: int, geometry: str, mmax: int | None = None, nthreads: int = 1,
                alm: NDArray[Any] | None = None, phi0: float = 0.0, ringfactor: NDArray[Any] | None = None,
                mstart: NDArray[Any] | None = None, lstride: int = 1) -> NDArray[Any]:
    """Returns the coefficients of a map, (ncomp, x): the exact inverse of `synthesis_2d` for maps of degrees up to lmax.

    lmax: at most `maximum_safe_l(geometry, ntheta)`, and mmax at most (nphi - 1) / 2. For "DH" and "F2" that is twice what
    ducc0 allows, as Zonal interpolates in theta there, too; so what a map holds above lmax aliases in another way. Other
    arguments are those of `adjoint_synthesis_2d`.
    """
    return _coefficients("analyze", map, field_of(spin, lmax=lmax), lmax, geometry, mmax, nthreads, alm, phi0, ringfactor,
                         mstart, lstride)


@checked
def adjoint_analysis_2d(*, alm: NDArray[Any], spin: int, lmax: int, geometry: str, ntheta: int | None = None,
                        nphi: int | None = None, mmax: int | None = None, nthreads: int = 1, map: NDArray[Any] | None = None,
                        phi0: float = 0.0, ringfactor: NDArray[Any] | None = None, mstart: NDArray[Any] | None = None,
                        lstride: int = 1) -> NDArray[Any]:
    """Returns the map that the transpose of `analysis_2d` makes of coefficients, (ncomp, ntheta, nphi).

    lmax, mmax: as of `analysis_2d`. Other arguments are those of `synthesis_2d`.
    """
    return _synthesized("adjoint_analysis", alm, field_of(spin, lmax=lmax), lmax, geometry, ntheta, nphi, mmax, nthreads, map,
                        phi0, ringfactor, mstart, lstride)


@checked
def get_gridweights(geometry: str, ntheta: int) -> NDArray[Any]:
    """Returns the quadrature weights of the rings of a geometry (see `synthesis_2d`), [ntheta], whose sum is 4 pi. Divided by
    the pixels of a ring they are those of its pixels. Those of "DH" are 0 at the pole and else those of "F2"."""
    grid = _grid(geometry, ntheta, 1, 0.0)
    if geometry != "DH" or ntheta == 1:
        return grid.weight
    return np.concatenate([[0.0], Grid.fejer2(ntheta - 1, 1).weight])


@checked
def maximum_safe_l(geometry: str, ntheta: int) -> int:
    """Returns the largest lmax whose maps on ntheta rings `analysis_2d` takes back to their coefficients."""
    lmax = _grid(geometry, ntheta, 2 * ntheta + 1, 0.0).exact_lmax
    assert lmax is not None
    return lmax


def _synthesized(call: str, alm: Any, field: Field, lmax: int, geometry: str, ntheta: int | None, nphi: int | None,
                 mmax: int | None, nthreads: int, map: Any, phi0: float, ringfactor: Any, mstart: Any,
                 lstride: int) -> NDArray[Any]:
    values = _of_components("alm", complexes("alm", alm), field.n_alm, 2)
    layout, orders = AlmLayout.of_all(lmax, mmax, mstart, lstride)
    dtype = partner(values.dtype)
    there = None if map is None else _of_components("map", written("map", map, np.shape(map), dtype), field.n_map, 3)
    rings, pixels = (_size(name, given, None if there is None else there.shape[axis])
                     for axis, (name, given) in enumerate({"ntheta": ntheta, "nphi": nphi}.items(), 1))
    grid = _grid(geometry, rings, pixels, phi0)
    shape = (field.n_map, rings, pixels)
    out = np.empty(shape, dtype) if there is None else there
    factors = None if ringfactor is None else vector("ringfactor", ringfactor, rings)
    transform = Transform(grid._grid, lmax, orders, field, threads_of(nthreads))
    pixelwise = out if out.flags.c_contiguous else np.empty(shape, dtype)
    transform.synthesize(layout.read(values)[None], pixelwise.reshape(1, field.n_map, -1), getattr(transform.plan, call))
    if factors is not None:
        pixelwise *= factors[:, None].astype(dtype)
    if pixelwise is not out:
        out[...] = pixelwise
    return out


def _coefficients(call: str, map: Any, field: Field, lmax: int, geometry: str, mmax: int | None, nthreads: int, alm: Any,
                  phi0: float, ringfactor: Any, mstart: Any, lstride: int) -> NDArray[Any]:
    values = _of_components("map", reals("map", map), field.n_map, 3)
    layout, orders = AlmLayout.of_all(lmax, mmax, mstart, lstride)
    grid = _grid(geometry, values.shape[1], values.shape[2], phi0)
    if ringfactor is not None:
        values = values * vector("ringfactor", ringfactor, values.shape[1])[:, None].astype(values.dtype)
    transform = Transform(grid._grid, lmax, orders, field, threads_of(nthreads))
    given = contiguous(values.reshape(1, field.n_map, -1))
    return write_alm(layout, alm, (field.n_alm,), partner(values.dtype), lambda found: getattr(transform, call)(given, found))


def _size(name: str, given: int | None, of_map: int | None) -> int:
    """A size of a grid, as given or as of the map."""
    size = of_map if given is None else given
    if size is None:
        raise invalid(name, None, "must be given where map is not")
    if of_map is not None and size != of_map:
        raise invalid(name, size, f"must be {of_map}, as of map")
    return size


def _of_components(name: str, array: NDArray[Any], components: int, axes: int) -> NDArray[Any]:
    if array.ndim != axes or len(array) != components:
        wanted = "x" if axes == 2 else "ntheta, nphi"
        raise invalid(name, None, f"has shape {array.shape}: must be ({components}, {wanted})")
    return array


__all__ = ["adjoint_analysis_2d", "adjoint_synthesis_2d", "analysis_2d", "get_gridweights", "maximum_safe_l", "synthesis_2d",
           "synthesis_2d_deriv1"]

"""The two halves of a transform: between a_lm and the Fourier coefficients of rings, and between those and pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..._checked import checked, invalid
from .._arguments import complexes, contiguous, partner, reals, result_in, threads_of, vector, whole, written
from .._layouts import AlmLayout, RingLayout
from .._transforms import accuracy_of, field_of, write_alm, write_map


@checked
def alm2leg(*, alm: NDArray[Any], lmax: int, theta: NDArray[Any], spin: int = 0, mval: NDArray[Any] | None = None,
            mstart: NDArray[Any] | None = None, lstride: int = 1, nthreads: int = 1, leg: NDArray[Any] | None = None,
            mode: str = "STANDARD", theta_interpol: bool = False) -> NDArray[Any]:
    """Returns the Fourier coefficients of rings, F_m(theta) = sum_l a_lm lambda_lm(theta), (nleg, ntheta, nm).

    alm: (nalm, x), a_lm of the i-th order at index mstart[i] + lstride l. theta: [ntheta], colatitudes, rad. mval: the orders,
    each once, from 0 to lmax, to be given with mstart: [nm] both; by default all orders, one after the other. leg: where to
    write, nleg = 1 for spin 0, else 2, of Q and U. mode: as of `synthesis`, and so are spin, nthreads and theta_interpol.
    """
    half = _Half(lmax, theta, spin, mval, mstart, lstride, nthreads, mode, theta_interpol)
    values = complexes("alm", alm)
    if values.ndim != 2 or len(values) != half.field.n_alm:
        raise invalid("alm", None, f"has shape {values.shape}: must be ({half.field.n_alm}, x)")
    given = half.scaled(half.layout.read(values)[None])
    shape = (half.field.n_map, half.n_rings, half.n_orders)
    out = np.empty(shape, values.dtype) if leg is None else written("leg", leg, shape, values.dtype)
    modes = np.empty((1, *shape), values.dtype)
    half.plan.synthesize(given, modes)
    out[..., half.order] = modes[0]
    return out


@checked
def leg2alm(*, leg: NDArray[Any], lmax: int, theta: NDArray[Any], spin: int = 0, mval: NDArray[Any] | None = None,
            mstart: NDArray[Any] | None = None, lstride: int = 1, nthreads: int = 1, alm: NDArray[Any] | None = None,
            mode: str = "STANDARD", theta_interpol: bool = False) -> NDArray[Any]:
    """Returns the coefficients that the transpose of `alm2leg` makes of leg, a_lm = sum over rings of lambda_lm F_m.

    leg: (nleg, ntheta, nm), complex64 or complex128. alm: where to write, (nalm, x). Other arguments are those of `alm2leg`.
    """
    half = _Half(lmax, theta, spin, mval, mstart, lstride, nthreads, mode, theta_interpol)
    values, shape = complexes("leg", leg), (half.field.n_map, half.n_rings, half.n_orders)
    if values.shape != shape:
        raise invalid("leg", None, f"has shape {values.shape}: must be {shape}")
    given = np.ascontiguousarray(values[..., half.order])[None]

    def compute(found: NDArray[Any]) -> None:
        half.plan.adjoint(given, found)
        found[...] = half.scaled(found)

    return write_alm(half.layout, alm, (half.field.n_alm,), values.dtype, compute)


@checked
def alm2leg_deriv1(*, alm: NDArray[Any], lmax: int, theta: NDArray[Any], mval: NDArray[Any] | None = None,
                   mstart: NDArray[Any] | None = None, lstride: int = 1, nthreads: int = 1, leg: NDArray[Any] | None = None,
                   theta_interpol: bool = False) -> NDArray[Any]:
    """Returns the Fourier coefficients of the derivatives of a scalar field, d/dtheta and d/(sin theta dphi), (2, ntheta, nm).

    alm: (1, x). Other arguments are those of `alm2leg`.
    """
    return alm2leg(alm=alm, lmax=lmax, theta=theta, spin=1, mval=mval, mstart=mstart, lstride=lstride, nthreads=nthreads,
                   leg=leg, mode="DERIV1", theta_interpol=theta_interpol)


@checked
def leg2map(*, leg: NDArray[Any], nphi: NDArray[Any], phi0: NDArray[Any], ringstart: NDArray[Any],
            ringfactor: NDArray[Any] | None = None, pixstride: int = 1, nthreads: int = 1,
            map: NDArray[Any] | None = None) -> NDArray[Any]:
    """Returns the maps of Fourier coefficients of rings, f = Re sum_m (2 - delta_m0) F_m exp(i m phi), (ncomp, x).

    leg: (ncomp, ntheta, mmax + 1), complex64 or complex128, of the orders m = 0, 1, ... Other arguments are those of `synthesis`.
    """
    values = complexes("leg", leg)
    if values.ndim != 3 or 0 in values.shape:
        raise invalid("leg", None, f"has shape {values.shape}: must be (ncomp, ntheta, mmax + 1)")
    rings = RingLayout(_any_theta(values.shape[1]), nphi, phi0, ringstart, pixstride, ringfactor)
    plan = _core.RingPlan(rings.grid, values.shape[2] - 1, threads_of(nthreads))
    given = contiguous(values)
    return write_map(rings, map, (len(values),), partner(values.dtype), lambda maps: plan.synthesize(given, maps[0]))


@checked
def map2leg(*, map: NDArray[Any], nphi: NDArray[Any], phi0: NDArray[Any], ringstart: NDArray[Any],
            ringfactor: NDArray[Any] | None = None, mmax: int, pixstride: int = 1, nthreads: int = 1,
            leg: NDArray[Any] | None = None) -> NDArray[Any]:
    """Returns the Fourier coefficients of the rings of maps, F_m = sum_j f_j exp(-i m phi_j), (ncomp, ntheta, mmax + 1).

    map: (ncomp, x), float32 or float64, multiplied by ringfactor at first. leg: where to write. Other arguments are those of
    `adjoint_synthesis`.
    """
    values = reals("map", map)
    if values.ndim != 2:
        raise invalid("map", None, f"has shape {values.shape}: must be (ncomp, x)")
    if mmax < 0:
        raise invalid("mmax", mmax, "must be 0 or more")
    rings = RingLayout(_any_theta(np.size(nphi)), nphi, phi0, ringstart, pixstride, ringfactor)
    plan = _core.RingPlan(rings.grid, mmax, threads_of(nthreads))
    shape, dtype = (len(values), len(rings.n_phi), mmax + 1), partner(values.dtype)
    out = np.empty(shape, dtype) if leg is None else written("leg", leg, shape, dtype)
    with result_in(out) as there:
        plan.adjoint(rings.read(values), there)
    return out


class _Half:
    """What alm2leg and leg2alm have in common. order: where the columns of leg, by ascending orders, are in the caller's."""

    def __init__(self, lmax: int, theta: Any, spin: int, mval: Any, mstart: Any, lstride: int, nthreads: int, mode: str,
                 interpolates: bool) -> None:
        if lmax < 0:
            raise invalid("lmax", lmax, "must be 0 or more")
        if (mval is None) != (mstart is None):
            raise invalid("mval", None, "and mstart must be given together")
        self.field = field_of(spin, mode, lmax)
        orders = np.arange(lmax + 1) if mval is None else whole("mval", mval)
        if not len(orders) or orders.min() < 0 or orders.max() > lmax or np.unique(orders).size != len(orders):
            raise invalid("mval", None, f"must hold orders from 0 to lmax = {lmax}, each once")
        self.order = np.argsort(orders, kind="stable")
        starts = None if mstart is None else whole("mstart", mstart, len(orders))[self.order]
        ascending = orders[self.order]
        angles = vector("theta", theta)
        self.lmax, self.n_rings, self.n_orders = lmax, len(angles), len(orders)
        self.layout = AlmLayout(lmax, ascending, starts, lstride)
        self._degrees = np.concatenate([np.arange(m, lmax + 1) for m in ascending]) if self.field.is_derivative else None
        one = np.ones(len(angles), np.int64)
        rings = RingLayout(angles, one, np.zeros(len(angles)), np.arange(len(angles)), 1, None)
        self.plan = _core.LegendrePlan(rings.grid, lmax, self.field.spin, self.field.parts, threads_of(nthreads),
                                       accuracy_of(interpolates), ascending.tolist())

    def scaled(self, alm: NDArray[Any]) -> NDArray[Any]:
        """alm, [.., n_alm], or a copy times sqrt(l (l + 1))."""
        if self._degrees is None:
            return alm
        result: NDArray[Any] = alm * np.sqrt(self._degrees * (self._degrees + 1.0)).astype(partner(alm.dtype))
        return result


def _any_theta(count: int) -> NDArray[np.float64]:
    """Colatitudes of rings whose latitude does not matter, in pairs from both ends, which share a transform."""
    return np.asarray((np.arange(count) + 0.5) * (np.pi / max(count, 1)), np.float64)


__all__ = ["alm2leg", "alm2leg_deriv1", "leg2alm", "leg2map", "map2leg"]

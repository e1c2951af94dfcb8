"""zonal.jax.lens: lensed skies, with derivatives by alm and the potentials."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ..lensing import Lensing, Where, lmax_of_potential, number_of_values
from ..skies import lmax_of
from ._arrays import complex_, counts_
from ._points import check_transform

Array = Any
"""What jax.numpy takes for an array."""


def lens(alm: Array, phi: Array, where: Where, lmax: int | None = None, *, curl: Array | None = None, mmax: int | None = None,
         error: float = 1e-7, threads: int | None = None) -> jax.Array:
    """Returns the lensed sky of alm, as `zonal.lens`: I of T, [n_alm]; Q and U of E and B, [2, n_alm]; or I, Q, U of T, E, B,
    [3, n_alm].

    phi and curl, [n], are traced as alm are; where is no traced value. It has derivatives of first order, in reverse
    (jax.grad, jax.vjp), by alm, phi and curl. Points are sorted in each call; on a GPU all travels to the host and back.

    >>> import zonal.jax
    >>> with jax.enable_x64(True):
    ...     alm, phi = (jnp.asarray(zonal.synalm(np.ones(9), seed=seed)) for seed in (1, 2))
    ...     slope = jax.grad(lambda p: zonal.jax.lens(alm, 1e-3 * p, 4).sum())(phi)
    >>> slope.shape == phi.shape
    True
    """
    alm, phi = complex_(alm), complex_(phi, "phi")
    if alm.ndim not in (1, 2) or alm.ndim == 2 and alm.shape[0] not in (2, 3):
        raise ValueError(f"alm: has shape {alm.shape}: must be [n_alm] of T, [2, n_alm] of E and B, or [3, n_alm] of T, E and B")
    lmax = lmax_of(alm.shape[-1], lmax, mmax)
    fields: Any = {1: "T", 2: "EB", 3: "TEB"}[1 if alm.ndim == 1 else alm.shape[0]]
    given = [("phi", phi)] if curl is None else [("phi", phi), ("curl", complex_(curl, "curl"))]
    for name, one in given:
        if one.shape != phi.shape or one.ndim != 1:
            raise ValueError(f"{name}: has shape {one.shape}: must be [n_alm], as many as phi")
    lmax_of_phi = lmax_of_potential(phi.size)
    check_transform(lmax=lmax, mmax=mmax, error=float(error))
    like: Any = jax.ShapeDtypeStruct
    values = like((*alm.shape[:-1], number_of_values(where)), alm.real.dtype)

    def lensing(potentials: NDArray[Any]) -> Lensing:
        rows = np.asarray(potentials)
        return Lensing(rows[0], where, lmax, fields=fields, curl=rows[1] if len(rows) > 1 else None, mmax=mmax, error=float(error),
                       threads=threads)

    def forward(alm: Any, potentials: Any) -> Any:
        return jax.pure_callback(lambda a, p: lensing(p).lens(np.asarray(a)), values, alm, potentials, vmap_method="sequential")

    def backward(kept: Any, cotangent: Any) -> Any:
        def call(a: Any, p: Any, f: Any) -> Any:
            made = lensing(p)
            slopes = made.differentiate(np.asarray(a), np.asarray(f)).reshape(p.shape).astype(p.dtype)
            return made.adjoint(np.asarray(f)).astype(a.dtype), slopes

        shapes = [like(one.shape, one.dtype) for one in kept]
        by_alm, by_potentials = jax.pure_callback(call, shapes, *kept, cotangent, vmap_method="sequential")
        return counts_(lmax, by_alm) * by_alm.conj(), counts_(lmax_of_phi, by_potentials) * by_potentials.conj()

    run = jax.custom_vjp(forward)
    run.defvjp(lambda *given: (forward(*given), given), backward)
    result: jax.Array = run(alm, jnp.stack([one for _, one in given]))
    return result

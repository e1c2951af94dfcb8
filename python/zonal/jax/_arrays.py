"""Arrays that functions of zonal.jax take, and coefficients of which only m >= 0 are stored."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._units import quantity_unit


def counts_(lmax: int, alm: Any) -> Any:
    """D: how many coefficients of the sky one stands for, 1 for m = 0 and 2 for the others."""
    return jnp.where(jnp.arange(alm.shape[-1]) <= lmax, 1, 2).astype(alm.real.dtype)


def conj_over_counts_(alm: Any, lmax: int) -> Any:
    return alm.conj() / counts_(lmax, alm)


def array_(name: str, values: Any) -> jax.Array:
    unit = quantity_unit(values)
    if unit is not None:
        raise TypeError(f"{name}: has the unit {unit}, and JAX's arrays have none: give its numbers, as by to_value({str(unit)!r})")
    return jnp.asarray(values)


def real_(name: str, values: Any) -> jax.Array:
    array = array_(name, values)
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise TypeError(f"{name}: must hold real numbers, not {array.dtype}")
    return array.astype(jnp.result_type(array.dtype, np.float32))


def complex_(values: Any, name: str = "alm") -> jax.Array:
    array = array_(name, values)
    if array.ndim == 0:
        raise ValueError(f"{name}: has shape (): must be [..., n_alm]")
    return array.astype(jnp.result_type(array.dtype, np.complex64))

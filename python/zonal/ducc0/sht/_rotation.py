"""Rotations of coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..._checked import arguments_as, checked, invalid
from ...sht import alm_size
from .._arguments import complexes, contiguous, result_in, threads_of, written


@checked
def rotate_alm(alm: NDArray[Any], lmax: int, psi: float, theta: float, phi: float, nthreads: int = 1, *,
               mmax_in: int | None = None, mmax_out: int | None = None, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Returns the coefficients of turned fields, g(n) = f(R^-1 n) with R = R_z(phi) R_y(theta) R_z(psi), angles in rad.

    alm: ([ncomp,] n_alm(lmax, mmax_in)), complex64 or complex128, orders one after the other. mmax_in, mmax_out: highest orders
    of alm and of the result, lmax by default; a rotation fills all orders, and those above mmax_out are left out. out: where
    to write; alm itself, or an array that does not overlap it. nthreads: 0 for as many as `zonal.threads()` says.
    """
    values = complexes("alm", alm)
    sizes = []
    for name, mmax in (("mmax_in", mmax_in), ("mmax_out", mmax_out)):
        with arguments_as({"mmax": name}):
            sizes.append(alm_size(lmax, mmax))
    if values.ndim not in (1, 2) or values.shape[-1] != sizes[0]:
        raise invalid("alm", None, f"has shape {values.shape}: must be ([ncomp,] {sizes[0]}) for lmax and mmax_in")
    shape = (*values.shape[:-1], sizes[1])
    result = np.empty(shape, values.dtype) if out is None else written("out", out, shape, values.dtype)
    is_inplace = out is not None and out.ctypes.data == alm.ctypes.data and out.strides == alm.strides and out.shape == alm.shape
    if np.may_share_memory(result, values) and not is_inplace:
        raise invalid("out", None, "shares memory with alm: must be alm itself or an array apart")
    with result_in(result) as there:
        rows, turned = (contiguous(array if array.ndim == 2 else array[None]) for array in (values, there))
        _core.rotate_alm(lmax, lmax if mmax_in is None else mmax_in, rows, _core.EulerAngles(psi, theta, phi),
                         lmax if mmax_out is None else mmax_out, turned, threads_of(nthreads), None)
    return result


__all__ = ["rotate_alm"]

"""How masks mix the degrees of power spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import integer, real_input, sequence, shown
from .._checked import checked
from .._devices import DeviceLike, resolve_device
from .._threads import resolve

__all__ = ["coupling_matrices"]

_KINDS = ("00", "02", "++", "--")  # in the order of CouplingKind


@checked
def coupling_matrices(mask_spectra: ArrayLike, lmax: int, kinds: str | Sequence[str] = _KINDS, *, threads: int | None = None,
                      device: DeviceLike = "cpu") -> NDArray[np.float64]:
    """Returns the matrices M by which masks mix the degrees of power spectra, [kind, l, l'].

    A field X times a mask u, and Y times a mask w, have the pseudo-spectrum C~_l, whose mean over skies is sum_l' M[l, l'] C_l'.
    With kinds "00": TT to TT; "02": TE to TE and TB to TB; "++": EE to EE, BB to BB and EB to EB; "--": EE to BB, BB to EE, and -BE to
    EB. For one kind, given as a string, the result is [l, l'].

    mask_spectra: W_L = 1/(2L+1) sum_m u_Lm conj(w_Lm), [L], as `zonal.anafast` gives it; it should have degrees up to 2 lmax, and those
    that it does not have count as 0. For several masks, [mask, L], the result has a first axis for them.
    device: what computes them, a GPU one mask after the other; the result is a NumPy array in either case.

    All elements are right to some 1e-15 of themselves, also far off the diagonal, where they are small; those of "02" to 1e-15 of what
    their sum's terms add up to without signs. Closed forms of 3j symbols: no recurrence, no quadrature (Hivon et al. 2002,
    doi:10.1086/338126, define the matrices).

    >>> whole_sky = [4 * np.pi]  # a mask of ones
    >>> zonal.spectra.coupling_matrices(whole_sky, 2, "00").round(12).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return matrices_of(_core.coupling_matrices, mask_spectra, lmax, kinds, _KINDS, threads, device)


def matrices_of(make: Any, mask_spectra: ArrayLike, lmax: int, kinds: str | Sequence[str], known: tuple[str, ...], threads: int | None,
                device: DeviceLike) -> NDArray[np.float64]:
    """Returns [mask, kind, l, l'], without the axes of one mask [L] and of one kind.

    make: a function of _core. known: the kinds that it has, in its order.
    """
    spectra = np.ascontiguousarray(real_input("mask_spectra", mask_spectra), np.float64)
    if spectra.ndim not in (1, 2) or spectra.shape[-1] == 0:
        raise ValueError(f"mask_spectra: has shape {spectra.shape}: must be [L] or [mask, L], with one degree or more")
    names = [kinds] if isinstance(kinds, str) else sequence("kinds", kinds)
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise ValueError(f"kinds = {shown(kinds)}: must be of {', '.join(map(repr, known))}")
    lmax = integer("lmax", lmax)
    if lmax < 0:
        raise ValueError(f"lmax = {lmax}: must be 0 or more")
    masks = spectra.reshape(-1, spectra.shape[-1])
    matrices = np.empty((len(masks), len(names), lmax + 1, lmax + 1))
    make(masks, [known.index(name) for name in names], matrices, resolve(threads), resolve_device(device))
    of_kinds: NDArray[np.float64] = matrices[:, 0] if isinstance(kinds, str) else matrices
    return of_kinds[0] if spectra.ndim == 1 else of_kinds

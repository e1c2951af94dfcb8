"""Spectra of masked skies by way of correlation functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import doubles, shown, vector
from .._checked import checked, invalid
from .._threads import resolve
from ..grid import Grid
from .coupling import coupling_matrices

__all__ = ["CorrelationMatrices", "correlation_matrices"]


class CorrelationMatrices(NamedTuple):
    """What `correlation_matrices` returns."""

    estimator: NDArray[np.float64]
    """[kind, l, l'], l to lmax and l' to lmax_pseudo: times a pseudo-spectrum it is an estimate of C_l"""
    kernel: NDArray[np.float64]
    """[kind, l, l'], of the same shape: times C_l it is the mean of that estimate"""


@checked
def correlation_matrices(mask_spectrum: ArrayLike, lmax: int, apodisation: Callable[[NDArray[np.float64]], Any],
                         kinds: str | Sequence[str] = ("00", "02", "++", "--"), *, lmax_pseudo: int | None = None,
                         threads: int | None = None) -> CorrelationMatrices:
    """Returns how PolSpice estimates spectra: the correlation function of a masked sky, divided by the mask's and multiplied
    by f(theta), gives back a spectrum. Both steps, and the mean of what comes out, are matrices.

    mask_spectrum: W_L, [L], as in `coupling_matrices`. apodisation: f, which takes colatitudes [n], rad, and returns f there, [n]; it must
    be 0 where the mask has no pairs of pixels at that distance: a mask's correlation function is small there, but not 0, if W_L ends somewhere,
    and estimates would be noise. Best it falls to 0 smoothly. kinds: as in `coupling_matrices`, of
    which EE, BB and EB need "++" and "--". lmax_pseudo: of the pseudo-spectrum, by default twice lmax.

    The mean of estimator @ pseudo is kernel @ C_l to rounding, for EE and BB with both kinds as in `coupling_matrices`, if lmax_pseudo is at
    least the sky's lmax plus that of the mask. For the whole sky and f = 1 both are unit matrices.

    Raises ValueError for f that is not 0 where the mask's correlation function is below 1e-10 of that at 0.

    >>> whole_sky = [4 * np.pi]
    >>> found = zonal.spectra.correlation_matrices(whole_sky, 3, lambda theta: np.cos(theta / 2) ** 2, "00")
    >>> found.kernel.shape, found.kernel[0, :3].round(4).tolist()  # f = (1 + cos(theta)) / 2
    ((4, 7), [0.5, 0.5, 0.0])
    """
    spectrum = vector("mask_spectrum", mask_spectrum)
    if lmax < 0:
        raise invalid("lmax", lmax, "must be 0 or more")
    top = 2 * lmax if lmax_pseudo is None else lmax_pseudo
    if top < lmax:
        raise invalid("lmax_pseudo", top, f"must be lmax = {lmax} or more")
    if not callable(apodisation):
        raise TypeError(f"apodisation = {shown(apodisation)}: must be a function of theta")
    nodes = lmax + top + 1  # integrates products of two Legendre polynomials with as smooth an f exactly
    theta = Grid.gauss_legendre(nodes, 1).theta
    f = doubles("apodisation", apodisation(theta))
    if f.shape != theta.shape:
        raise ValueError(f"apodisation: returns shape {f.shape} for theta of shape {theta.shape}: must be the same")
    kernel, estimator = np.empty(2 * top + 1), np.empty(2 * top + 1)
    _core.correlation_spectra(spectrum, f, kernel, estimator, resolve(threads))
    both = coupling_matrices(np.stack([estimator, kernel]), top, kinds, threads=threads)
    return CorrelationMatrices(*(np.ascontiguousarray(part[..., :lmax + 1, :]) for part in both))

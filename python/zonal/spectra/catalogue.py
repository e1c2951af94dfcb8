"""Pseudo-spectra of what is known at points, such as galaxies, without pixels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._angles import angles
from .._arrays import doubles, integer, vector
from .._checked import checked, invalid
from .._threads import resolve
from ..sht import alm_size

__all__ = ["CatalogueAlm", "catalogue_counts", "catalogue_field"]


class CatalogueAlm(NamedTuple):
    """The pseudo-alm of a catalogue and of its mask, and what pairs of a point with itself add to their spectra."""

    alm: NDArray[np.complex128]
    """[n_alm], or [2, n_alm] (E, B), up to lmax"""
    mask: NDArray[np.complex128]
    """[n_alm], up to mask_lmax"""
    noise: float
    """To be subtracted from C~_l: of TT, or from l = 2 on of EE and of BB."""
    mask_noise: float
    """To be subtracted from W_L."""


@checked
def catalogue_field(theta: ArrayLike, phi: ArrayLike, values: ArrayLike, lmax: int, *, weights: ArrayLike | None = None,
                    mask_lmax: int | None = None, error: float = 1e-10, threads: int | None = None) -> CatalogueAlm:
    """Returns the pseudo-alm of values at points, sum_i w_i f_i conj(Y_lm(i)), and of the mask that the points are, sum_i w_i conj(Y_lm(i)).

    theta, phi: [point], rad. values: f, [point], or [2, point] for Q and U along e_theta and e_phi; such as the shapes of galaxies.
    weights: w, [point], by default ones. mask_lmax: by default twice lmax. error: of the transforms, as in `zonal.PointTransform`.

    With C~ = `zonal.alm2cl(alm)` and W = `zonal.alm2cl(mask)`, the mean of C~ - noise at fixed points is M C, for the M of
    `coupling_matrices(W - mask_noise, lmax)`, exactly, also with noise in each value of its own. There are no pixels, no pixel
    window and no aliasing: only sky above what M reaches leaks in. Cross spectra of catalogues without common points have no noise
    to subtract (Wolz, Alonso & Nicola 2025, doi:10.1088/1475-7516/2025/01/028).

    >>> theta, phi = zonal.Grid.healpix(8).angles()
    >>> sky = zonal.synfast(np.ones(9), 8, seed=1)
    >>> found = zonal.spectra.catalogue_field(theta, phi, sky, 8, weights=np.full(768, 4 * np.pi / 768))
    >>> spectrum = zonal.alm2cl(found.alm) - found.noise
    >>> spectrum.shape, found.mask.shape
    ((9,), (153,))
    """
    f = doubles("values", values)
    if f.ndim not in (1, 2):
        raise ValueError(f"values: has shape {f.shape}: must be [point], or [2, point] for Q and U")
    rows = np.atleast_2d(f)
    made, how = _new(lmax, mask_lmax, error, threads, len(rows))
    noise = _core.catalogue_field(_points(theta, phi, weights), rows, how, *made)
    return CatalogueAlm(made[0][0] if f.ndim == 1 else made[0], made[1], *noise)


@checked
def catalogue_counts(theta: ArrayLike, phi: ArrayLike, random_theta: ArrayLike, random_phi: ArrayLike, lmax: int, *,
                     weights: ArrayLike | None = None, random_weights: ArrayLike | None = None, mask_lmax: int | None = None,
                     error: float = 1e-10, threads: int | None = None) -> CatalogueAlm:
    """Returns the pseudo-alm of the overdensity of points over a random catalogue, which is where points might have been.

    theta, phi: [point], rad; random_theta, random_phi: [random point], best many times as many. weights: [point], random_weights:
    [random point], by default ones. The pseudo-alm are sum w conj(Y) of the points less alpha times that of the random ones, with
    alpha = sum w / sum w_r; the mask is alpha times that of the random ones. The other arguments and the result are those of
    `catalogue_field`; noise is the shot noise of both catalogues.

    >>> rng = np.random.default_rng(1)
    >>> where = [(np.arccos(rng.uniform(-1, 1, n)), rng.uniform(0, 2 * np.pi, n)) for n in (1000, 10000)]
    >>> found = zonal.spectra.catalogue_counts(*where[0], *where[1], 16)
    >>> bool(abs(found.alm[0]) < 1e-6), round(4 * np.pi * found.noise)
    (True, 1100)
    """
    made, how = _new(lmax, mask_lmax, error, threads, 1)
    noise = _core.catalogue_counts(_points(theta, phi, weights), _points(random_theta, random_phi, random_weights, "random_"), how, *made)
    return CatalogueAlm(made[0][0], made[1], *noise)


def _points(theta: ArrayLike, phi: ArrayLike, weights: ArrayLike | None, prefix: str = "") -> Any:
    both = _line(f"{prefix}theta", theta), _line(f"{prefix}phi", phi)
    return _core.CataloguePoints(both[0], both[1], None if weights is None else vector(f"{prefix}weights", weights))


def _line(name: str, values: ArrayLike) -> NDArray[np.float64]:
    radians = angles(name, values)
    if radians.ndim != 1:
        raise ValueError(f"{name}: has shape {radians.shape}: must be [point]")
    return np.ascontiguousarray(radians)


def _new(lmax: int, mask_lmax: int | None, error: float, threads: int | None, parts: int) -> tuple[tuple[NDArray[Any], NDArray[Any]], Any]:
    """Arrays for alm and mask, and the options."""
    if lmax < 0:
        raise invalid("lmax", lmax, "must be 0 or more")
    if mask_lmax is not None and mask_lmax < 0:
        raise invalid("mask_lmax", mask_lmax, "must be 0 or more")
    high = integer("mask_lmax", 2 * lmax if mask_lmax is None else mask_lmax)
    _core.require_memory(16.0 * (parts * alm_size(lmax) + alm_size(high)), f"a catalogue with lmax = {lmax} and mask_lmax = {high}")
    made = np.empty((parts, alm_size(lmax)), complex), np.empty(alm_size(high), complex)
    return made, _core.CatalogueOptions(lmax, high, error, resolve(threads))

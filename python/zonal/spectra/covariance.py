"""How the pseudo-spectra of masked skies, and what is made of them, scatter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import doubles, integer, sequence, shown, vector
from .._checked import Seed, checked, invalid
from .._notes import warn
from .._pixels import grid_of_length, has_unseen, required_grid
from .._progress import Progress, reporting
from .._threads import resolve
from ..grid import Grid

__all__ = ["ChiSquared", "CovarianceReport", "chi_squared", "covariance", "hartlap_factor", "mean_pseudo_spectra", "sample_covariance",
           "simulated_spectra"]


class CovarianceReport(NamedTuple):
    """What `covariance` has done."""

    exact_lmax: int
    """It is exact for pairs of degrees up to it; -1: nowhere."""
    exact_sky_lmax: int
    """The sky that the exact part has."""
    lost_share: float
    """The largest share of a mean pseudo-spectrum up to exact_lmax that comes from the sky above exact_sky_lmax."""


def warn_of_loss(report: CovarianceReport, remedy: str) -> None:
    """remedy: the arguments that let the exact part have more of the sky."""
    note = _core.note_of_loss(*report, remedy)
    if note:
        warn([note])


class ChiSquared(NamedTuple):
    """What `chi_squared` has found."""

    value: float
    """d^T C^-1 d, times the factor of Hartlap et al. where the covariance is from samples."""
    p: float
    """The share of Gaussian residuals with as large a value or a larger one."""


@checked
def mean_pseudo_spectra(c_l: ArrayLike, masks: ArrayLike, lmax: int, spins: int | Sequence[int] = 0, *, noise: ArrayLike | None = None,
                        grid: Grid | None = None, threads: int | None = None) -> NDArray[np.float64]:
    """Returns the mean pseudo-spectra of masked skies, with noise: [component, component, lmax + 1], or [lmax + 1] for a
    vector c_l. The arguments are those of `covariance`.

    It is exact, for any mask, for a sky that ends where c_l does and is sampled at the centres of pixels.

    >>> zonal.spectra.mean_pseudo_spectra(np.ones(6), np.full(12 * 16**2, 0.5), 2).round(4).tolist()
    [0.25, 0.25, 0.25]
    """
    sky, _ = _sky(c_l, masks, spins, noise, grid)
    n = sky.n_components
    out = np.empty((n, n, _degrees(lmax)))
    _core.mean_pseudo_spectra(sky.arrays, out, resolve(threads))
    return out[0, 0] if sky.is_single else out


@checked
def covariance(c_l: ArrayLike, masks: ArrayLike, lmax: int, spins: int | Sequence[int] = 0, *, noise: ArrayLike | None = None,
               spectra: Sequence[tuple[int, int]] | None = None, values: ArrayLike | None = None, exact_lmax: int = 32,
               exact_sky_lmax: int | None = None, grid: Grid | None = None, threads: int | None = None, return_report: bool = False) -> Any:
    """Returns the Gaussian covariance of pseudo-spectra of masked skies, or of values that are linear in them.

    spins: of the maps, 0 or 2 each; a number for one map. A map of spin 0 has one component (T), one of spin 2 has two (E, B), which are
    numbered through all maps: spins = (0, 2) has T, E, B = 0, 1, 2. masks: [pixel] for all maps, or [map, pixel], in ring order, any
    weights. c_l: of the sky as it is in the maps, beams included, [component, component, l], symmetric; or [l] for one map of spin 0.
    There is no sky above its last degree. noise: the variance of each pixel's noise, [map, pixel], or [pixel] for one map, the same for Q
    and U. grid: HEALPix by default.

    spectra: pairs (a, b) of components, by default all with a <= b, in the order (0, 0), (0, 1), ..., (1, 1), ... The result is
    [spectrum, l, spectrum, l']; for c_l [l] and no spectra [l, l']. values: W, [value, spectrum, lmax + 1], or [value, lmax + 1] for one
    spectrum; the result then is W Cov W^T, [value, value], and the whole of Cov is never held: band powers are such values.

    Pseudo-spectra are C~_l = 1/(2l+1) sum_m a_lm conj(b_lm) of a_lm = sum over pixels of mask times map times area times
    conj(Y_lm), as `zonal.map2alm(mask * map, iterations=0)` makes them.

    Where both degrees are at most exact_lmax (-1: nowhere), the covariance is exact, for the sky up to exact_sky_lmax: by default the
    lowest degree without which no more than 1e-3 of a mean pseudo-spectrum is lost, but not above max(128, 4 exact_lmax). A ZonalWarning
    says where more than 1e-2 is lost. Its time and memory do not depend on the number of pixels, but grow as exact_lmax^4.
    Elsewhere it is the improved narrow-kernel approximation (Nicola et al. 2021, doi:10.1088/1475-7516/2021/03/067) with the
    kernels of spin 0, in which EE and BB are not correlated. What is spliced so need not be positive definite where spectra are strongly
    correlated. With return_report the result is (covariance, CovarianceReport).

    Raises ValueError for what does not fit, and OutOfMemory.

    >>> whole_sky = zonal.spectra.covariance(np.ones(9), np.ones(12 * 4**2), 2)
    >>> whole_sky.shape, (whole_sky.diagonal() * [1, 3, 5]).round(2).tolist()  # 2 C_l^2 / (2l + 1)
    ((3, 3), [2.0, 2.0, 2.0])
    """
    sky, pairs = _sky(c_l, masks, spins, noise, grid, spectra)
    n, degrees = len(pairs), _degrees(lmax)
    if exact_sky_lmax is not None and exact_sky_lmax < 0:
        raise invalid("exact_sky_lmax", exact_sky_lmax, "must be 0 or more")
    how = exact_lmax, -1 if exact_sky_lmax is None else exact_sky_lmax
    if values is None:
        _core.require_memory(8.0 * (n * degrees) ** 2, "the covariance of all pseudo-spectra")
        out = np.empty((n, degrees, n, degrees))
        report = CovarianceReport(*_core.pseudo_covariance(sky.arrays, pairs, *how, out, resolve(threads)))
        if sky.is_single and spectra is None:
            out = out[0, :, 0]
    else:
        weights = _values(values, n, degrees)
        out = np.empty((len(weights), len(weights)))
        report = CovarianceReport(*_core.value_covariance(sky.arrays, pairs, weights, *how, out, resolve(threads)))
    warn_of_loss(report, "give a larger exact_sky_lmax, or exact_lmax = -1")
    return (out, report) if return_report else out


@checked
def simulated_spectra(c_l: ArrayLike, masks: ArrayLike, lmax: int, n: int, spins: int | Sequence[int] = 0, *, noise: ArrayLike | None = None,
                      spectra: Sequence[tuple[int, int]] | None = None, values: ArrayLike | None = None, seed: Seed = 1,
                      grid: Grid | None = None, threads: int | None = None, progress: Progress = False) -> NDArray[np.float64]:
    """Returns pseudo-spectra of n random masked skies, [sky, spectrum, l], or values that are linear in them, [sky, value].

    The skies have the seeds seed, seed + 1, ...; a sky depends on nothing but its own, so that processes can share them out. With one map
    of each spin at most, it is the one of `zonal.synfast` with that seed. The other arguments are those of `covariance`; for
    c_l [l] and no spectra the result is [sky, l]. `sample_covariance` makes a mean and a covariance of it.

    Raises ValueError for c_l that no sky has, and as `covariance` does.

    >>> whole_sky = zonal.spectra.simulated_spectra(np.ones(9), np.ones(12 * 8**2), 8, 100)
    >>> whole_sky.shape, bool(abs(whole_sky.mean() - 1) < 0.05)
    ((100, 9), True)
    """
    _, n = _core.share_of_skies(n, 0, 1)
    sky, pairs = _sky(c_l, masks, spins, noise, grid, spectra)
    degrees = _degrees(lmax)
    weights = None if values is None else _values(values, len(pairs), degrees)
    out = np.empty((n, len(pairs) * degrees if weights is None else len(weights)))
    with reporting(progress, "skies") as report:
        _core.simulate_spectra(sky.arrays, pairs, lmax, weights, seed, out, resolve(threads), report)
    if weights is not None or (sky.is_single and spectra is None):
        return out
    return out.reshape(n, len(pairs), degrees)


@checked
def sample_covariance(samples: ArrayLike, *, threads: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the mean, [value], and the covariance, [value, value], of samples, [sample, value]: sums over n - 1.

    Further axes of samples, such as [sky, spectrum, l], count as one. Sums do not depend on the number of threads. The inverse of the
    covariance is too large by 1 / `hartlap_factor`; `chi_squared` takes care of that.

    >>> mean, covariance = zonal.spectra.sample_covariance([[0.0, 1.0], [2.0, 5.0]])
    >>> mean.tolist(), covariance.tolist()
    ([1.0, 3.0], [[2.0, 4.0], [4.0, 8.0]])
    """
    rows = doubles("samples", samples)
    if rows.ndim < 2 or rows.size == 0:
        raise ValueError(f"samples: has shape {rows.shape}: must be [sample, value]")
    rows = rows.reshape(len(rows), -1)
    mean, found = np.empty(rows.shape[1]), np.empty((rows.shape[1],) * 2)
    _core.sample_covariance(rows, mean, found, resolve(threads))
    return mean, found


@checked
def hartlap_factor(n_samples: int, n_values: int) -> float:
    """Returns (n_samples - n_values - 2) / (n_samples - 1), by what the inverse of a covariance of samples is to be multiplied
    so that its mean is right (Hartlap, Simon & Schneider 2007, doi:10.1051/0004-6361:20066170).

    Raises ValueError unless n_samples > n_values + 2: such an inverse has no mean.

    >>> zonal.spectra.hartlap_factor(102, 10)
    0.8910891089108911
    """
    return _core.hartlap_factor(n_samples, n_values)


@checked
def chi_squared(residual: ArrayLike, covariance: ArrayLike, *, n_samples: int | None = None) -> ChiSquared:
    """Returns d^T C^-1 d of a residual d, [value], and the share p of Gaussian residuals with as much or more.

    covariance: C, [value, value]. n_samples: where C is from so many samples, the result is multiplied by `hartlap_factor`; p, which
    holds for a known C, is then an approximation. Raises ValueError for a C that is not positive definite.

    >>> value, p = zonal.spectra.chi_squared([1.0, 2.0], np.diag([1.0, 4.0]))
    >>> round(value, 9), round(p, 9)
    (2.0, 0.367879441)
    """
    d, c = vector("residual", residual), doubles("covariance", covariance)
    if c.shape != (d.size, d.size):
        raise ValueError(f"covariance: has shape {c.shape}: must be [{d.size}, {d.size}], as residual has {d.size} values")
    factor = 1.0 if n_samples is None else _core.hartlap_factor(n_samples, d.size)
    return ChiSquared(*_core.chi_squared(d, c, factor))


class _Sky(NamedTuple):
    arrays: Any  # _core.MaskedSky
    n_components: int
    is_single: bool  # c_l is a vector


def _sky(c_l: ArrayLike, masks: ArrayLike, spins: int | Sequence[int], noise: ArrayLike | None, grid: Grid | None,
         spectra: Sequence[tuple[int, int]] | None = None) -> tuple[_Sky, list[tuple[int, int]]]:
    """The sky that arguments describe, and pairs of its components."""
    of_maps = [integer("spins", spin) for spin in (sequence("spins", spins) if np.ndim(spins) else [spins])]
    if not of_maps or any(spin not in (0, 2) for spin in of_maps):
        raise ValueError(f"spins = {shown(spins)}: must be 0 or 2 for each map")
    n = sum(1 if spin == 0 else 2 for spin in of_maps)
    levels = doubles("c_l", c_l)
    is_single = levels.ndim == 1
    if is_single:
        levels = levels.reshape(1, 1, -1)
    if levels.ndim != 3 or levels.shape[:2] != (n, n):
        raise ValueError(f"c_l: has shape {np.shape(c_l)}: must be [{n}, {n}, l] for spins = {shown(spins)}"
                         + (", or [l]" if n == 1 else ""))
    rows = _maps("masks", masks, len(of_maps))
    if len(rows) not in (1, len(of_maps)):
        raise ValueError(f"masks: has {len(rows)} rows: must be 1 or {len(of_maps)}, one for each map")
    on = grid_of_length("masks", rows.shape[1]) if grid is None else required_grid("grid", grid)
    if rows.shape[1] != on.n_pixels:
        raise ValueError(f"masks: has {rows.shape[1]} pixels: must be {on.n_pixels} for {on.name}")
    distinct: list[NDArray[np.float64]] = []
    numbers = []
    for row in rows:
        numbers.append(next((k for k, other in enumerate(distinct) if np.array_equal(row, other)), len(distinct)))
        if numbers[-1] == len(distinct):
            distinct.append(row)
    variances = None if noise is None else _maps("noise", noise, len(of_maps))
    if variances is not None and variances.shape != (len(of_maps), on.n_pixels):
        raise ValueError(f"noise: has {len(variances)} rows of {variances.shape[1]} pixels: must be [{len(of_maps)}, {on.n_pixels}]")
    maps = [(spin, numbers[k if len(rows) > 1 else 0]) for k, spin in enumerate(of_maps)]
    arrays = _core.MaskedSky(on._grid, np.ascontiguousarray(distinct), maps, levels, variances)
    pairs = list(combinations_with_replacement(range(n), 2)) if spectra is None else [_pair(pair, n) for pair in sequence("spectra", spectra)]
    return _Sky(arrays, n, is_single), pairs


def _maps(name: str, maps: ArrayLike, n: int) -> NDArray[np.float64]:
    rows = doubles(name, maps)
    if rows.ndim not in (1, 2) or rows.size == 0:
        raise ValueError(f"{name}: has shape {rows.shape}: must be [pixel] or [{n}, pixel]")
    if has_unseen(rows):
        raise ValueError(f"{name}: has UNSEEN pixels: must be 0 where nothing is seen")
    return rows.reshape(-1, rows.shape[-1])


def _pair(pair: Any, n: int) -> tuple[int, int]:
    both = [integer("spectra", one) for one in sequence("spectra", pair)]
    if len(both) != 2 or not all(0 <= one < n for one in both):
        raise ValueError(f"spectra: has {shown(pair)}: must be pairs of components from 0 to {n - 1}")
    return both[0], both[1]


def _degrees(lmax: int) -> int:
    if lmax < 0:
        raise invalid("lmax", lmax, "must be 0 or more")
    return lmax + 1


def _values(values: ArrayLike, n: int, degrees: int) -> NDArray[np.float64]:
    weights = doubles("values", values)
    if weights.ndim == 2 and n == 1:
        weights = weights[:, None]
    if weights.ndim != 3 or weights.shape[1:] != (n, degrees) or not len(weights):
        raise ValueError(f"values: has shape {np.shape(values)}: must be [value, {n}, {degrees}], as there are {n} spectra with "
                         f"{degrees} degrees" + (f", or [value, {degrees}]" if n == 1 else ""))
    return weights

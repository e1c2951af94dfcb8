"""Radially symmetric kernels, and the windows of filters and wavelets."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import AngleLike, angles, width
from ._arrays import alike, kept, real, spectrum, vector
from ._checked import checked
from ._threads import resolve


class Kernel:
    """A radially symmetric kernel: a profile K(theta), in 1/sr, and a window

        K_l = 2 pi int K(theta) P_l(cos theta) d cos theta,   K(theta) = sum_l (2l+1)/(4 pi) K_l P_l(cos theta).

    Convolution multiplies a_lm by K_l; K_0 is the integral over the sphere. A kernel is immutable, and can be pickled,
    multiplied by a number and truncated. Make one by a factory:

    >>> beam = zonal.Kernel.gaussian("1deg")
    >>> float(beam.window(100)[100].round(4))
    0.7577
    >>> bool(beam.profile(0.0) > 0)
    True
    """

    __slots__ = ("_kernel", "_recipe")
    _kernel: _core.RadialKernel
    _recipe: tuple[Any, ...]

    def __init__(self) -> None:
        raise TypeError("zonal.Kernel: use a factory, such as zonal.Kernel.gaussian(\"1deg\")")

    @classmethod
    def gaussian(cls, fwhm: AngleLike) -> Kernel:
        """The Gaussian with the window exp(-l(l+1) sigma^2 / 2), sigma = fwhm / sqrt(8 ln 2). fwhm: above 0, at most pi."""
        return _make("gaussian", width(fwhm, "fwhm"))

    @classmethod
    def top_hat(cls, radius: AngleLike) -> Kernel:
        """Constant up to the radius (above 0, at most pi), with the integral 1."""
        return _make("top_hat", width(radius, "radius"))

    @classmethod
    def from_window(cls, window: ArrayLike) -> Kernel:
        """The kernel of these K_l, l = 0 .. len(window) - 1, finite; K_l is 0 above."""
        return _make("from_window", vector("window", window))

    @classmethod
    def from_profile(cls, theta: ArrayLike, value: ArrayLike) -> Kernel:
        """The kernel of these values (1/sr) at two or more theta (rad, ascending from 0 to at most pi), by monotone
        cubic interpolation in chord^2 = 4 sin^2(theta/2). It is 0 beyond the last theta."""
        at, values = angles("theta", theta), vector("value", value)
        if at.ndim != 1 or len(at) != len(values) or len(at) < 2:
            raise ValueError(f"theta, value: have {at.size} and {len(values)} values: must have as many, 2 or more")
        return _make("from_profile", at, values)

    @classmethod
    def mexican_hat(cls, radius: AngleLike) -> Kernel:
        """The stereographic Mexican hat of Cayon et al. (2001), whose square integrates to 1 and whose integral is 0.
        radius: above 0, at most 1 rad."""
        return _make("mexican_hat", width(radius, "radius", 1))

    def profile(self, theta: ArrayLike) -> Any:
        """Returns K(theta), in 1/sr, in the shape of theta (rad, 0 to pi); it is 0 beyond `support`."""
        at = angles("theta", theta)
        values = self._kernel.profile(at.reshape(-1)).reshape(at.shape)
        return values if values.ndim else float(values)

    @checked
    def window(self, lmax: int) -> NDArray[np.float64]:
        """Returns K_l, [lmax + 1], for smooth profiles to 1e-12 of the largest."""
        return self._kernel.window(lmax)

    @property
    def support(self) -> float:
        """Where the profile ends, rad; pi if it does not end."""
        return self._kernel.support

    @property
    def band_limit(self) -> int:
        """The last degree with K_l != 0 (0 if all are 0), or -1 if the window does not end."""
        return self._kernel.band_limit

    @property
    def name(self) -> str:
        """Such as "gaussian fwhm=0.0174533 rad"."""
        return self._kernel.name

    def truncated(self, theta_cut: AngleLike) -> Kernel:
        """Returns the kernel with this profile up to theta_cut (above 0, at most pi) and 0 beyond."""
        return _make("truncated", self, width(theta_cut, "theta_cut"))

    @checked
    def support_for_error(self, error: float, c_l: ArrayLike = ()) -> float:
        """Returns the smallest angle (rad) at which the kernel may be truncated if this may cost `error` times the rms
        of the convolved map. c_l: [lmax + 1], the map's spectrum; white noise where it is empty. error: in (0, 1)."""
        return self._kernel.support_for_error(spectrum("c_l", c_l), error)

    def truncation_error(self, theta_cut: AngleLike, c_l: ArrayLike = ()) -> float:
        """Returns what truncating at theta_cut costs, rms over the rms of the convolved map."""
        return self._kernel.truncation_error(spectrum("c_l", c_l), width(theta_cut, "theta_cut"))

    def __mul__(self, factor: float) -> Kernel:
        return _make("scaled", self, real("factor", factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Kernel:
        return self * (1 / divisor)

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[Any, ...]]:
        return _make, self._recipe

    def __repr__(self) -> str:
        return f"<zonal.Kernel {self.name}>"


def required_kernel(kernel: Any) -> Kernel:
    """Raises TypeError for what is no kernel."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel: must be a zonal.Kernel, such as zonal.Kernel.gaussian(\"1deg\"), not {type(kernel).__name__}")
    return kernel


def _make(factory: str, *arguments: Any) -> Kernel:
    kernel = Kernel.__new__(Kernel)
    if isinstance(arguments[0], Kernel):
        kernel._kernel = getattr(arguments[0]._kernel, factory)(*arguments[1:])
    else:
        kernel._kernel = getattr(_core.RadialKernel, factory)(*arguments)
    kernel._recipe = kept((factory, *arguments))
    return kernel


@checked
def gaussian_window(fwhm: AngleLike, lmax: int, spin: int = 0) -> NDArray[np.float64]:
    """Returns exp(-(l(l+1) - spin^2) sigma^2 / 2), [lmax + 1], sigma = fwhm / sqrt(8 ln 2), and 0 for l < spin.

    fwhm: above 0, at most pi. spin: of the field, 0 or more, such as 2 for E and B (Challinor et al. 2000).

    >>> zonal.gaussian_window("90deg", 2).round(3).tolist()
    [1.0, 0.641, 0.263]
    """
    return _core.gaussian_window(width(fwhm, "fwhm"), lmax, spin)


@checked
def pixel_window(nside: int, lmax: int | None = None, *, polarization: bool = False) -> NDArray[np.float64]:
    """Returns the pixel window of HEALPix, [lmax + 1]: by what a mean over each pixel multiplies alm, as the rms over all pixels.

    polarization: returns [2, lmax + 1], the window of T and that of E and B, which is 0 below l = 2; `synfast` takes either. It is
    computed, to 2e-10, for any nside. lmax: at most 4 nside, by default 3 nside - 1. As it is a mean over pixels of different shapes,
    what single pixels do differs from it, most of all near the poles.

    >>> zonal.pixel_window(16, 32)[[0, 16, 32]].round(4).tolist()
    [1.0, 0.9515, 0.8225]
    """
    if nside < 1:
        raise ValueError(f"nside = {nside}: must be from 1 to 2^29")
    windows = computed_pixel_window(nside, 3 * nside - 1 if lmax is None else lmax)
    return np.array(windows if polarization else windows[0])


@lru_cache(maxsize=8)
def computed_pixel_window(nside: int, lmax: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of T, and of E and B; not to be written to."""
    return _core.pixel_window(nside, lmax, resolve(None))


@checked
def needlet_windows(base: float, lmax: int) -> list[NDArray[np.float64]]:
    """Returns standard needlets (Marinucci et al. 2008) as windows [lmax + 1] whose squares sum to 1.

    The first holds what lies below the needlets, l = 0 alone; then come needlets j = 0, 1, ..., which live in
    base^(j-1) < l < base^(j+1).
    A map convolved with each of them, and each result with the same window again, sums to the map.
    base: above 1, at most 64. `Kernel.from_window` makes kernels of them.

    >>> windows = zonal.needlet_windows(2.0, 32)
    >>> bool(np.allclose(sum(w**2 for w in windows), 1))
    True
    """
    return _core.needlet_windows(base, lmax)


@checked
def scale_discretised_windows(dilation: float, j_min: int, lmax: int) -> list[NDArray[np.float64]]:
    """Returns scale-discretised wavelets (Wiaux et al. 2008; Leistedt et al. 2013), the scaling function first, as
    windows [lmax + 1] whose squares sum to 1. dilation: above 1, at most 64; j_min: from 0 to the largest scale."""
    return _core.scale_discretised_windows(dilation, j_min, lmax)


def sky_window(c_l: ArrayLike, b_l: ArrayLike) -> NDArray[np.float64]:
    """Returns sqrt(C_l) B_l, which makes white noise of unit spectrum into a sky of spectrum C_l seen with the beam."""
    return _core.sky_window(spectrum("c_l", c_l), vector("b_l", b_l))


@checked
def deconvolution_window(target: ArrayLike, b_l: ArrayLike, floor: float) -> NDArray[np.float64]:
    """Returns target_l / b_l, which brings a map from the beam b_l to the target's. Values of b_l smaller in size than
    floor (>= 0) count as floor with their sign, so noise is amplified by target_l / floor at most."""
    return _core.deconvolution_window(vector("target", target), vector("b_l", b_l), floor)


def matched_filter_window(b_l: ArrayLike, c_l: ArrayLike, n_l: ArrayLike) -> NDArray[np.float64]:
    """Returns the filter of least variance for point sources seen with the beam b_l in a sky of spectrum C_l and noise
    N_l (Haehnelt & Tegmark 1996), with unit response: a source A K(theta), where K (1/sr) is the profile of b_l, has the
    value A at its centre in the filtered map.

    Filter by `zonal.smooth(map, beam=window, method="harmonic")`, which uses all degrees that the grid resolves. Within an
    error, smooth ends at the lmax up to which it can certify one, and so cuts a filter that is large at the highest degrees;
    a warning then says that the answer depends on lmax.

    >>> l, b_l = np.arange(48), zonal.gaussian_window("5deg", 47)
    >>> window = zonal.matched_filter_window(b_l, 1 / (1 + l) ** 2, np.full(48, 1e-3))
    >>> filtered = 7 * zonal.Kernel.from_window(b_l * window)  # of a source with A = 7
    >>> round(filtered.profile(0.0), 9)
    7.0
    """
    return _core.matched_filter_window(vector("b_l", b_l), *alike(c_l=c_l, n_l=n_l))


def wiener_window(c_l: ArrayLike, n_l: ArrayLike) -> NDArray[np.float64]:
    """Returns C_l / (C_l + N_l), and 0 where C_l = 0."""
    return _core.wiener_window(*alike(c_l=c_l, n_l=n_l))


def profile_rule(lmax: int, support: float, n_nodes: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns theta, [node], and what makes a window of a profile there by quadrature: [lmax + 1, node].

    n_nodes: by default lmax + 64.
    """
    if lmax < 0 or not 0 < support <= np.pi:
        raise ValueError(f"lmax = {lmax}, support = {support}: must be 0 or more, and above 0 and at most pi")
    if n_nodes is not None and n_nodes < 1:
        raise ValueError(f"n_nodes = {n_nodes}: must be 1 or more")
    return _profile_rule(lmax, float(support), lmax + 64 if n_nodes is None else n_nodes)


@lru_cache(maxsize=4)
def _profile_rule(lmax: int, support: float, n_nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rule = _core.Grid.gauss_legendre(n_nodes, 1, 0.0)  # whose weights have the 2 pi of longitude
    half = (1 - np.cos(support)) / 2
    x = 1 - half * (1 - np.cos(rule.theta()))
    legendre = np.empty((lmax + 1, n_nodes))
    legendre[0], older = 1, np.zeros(n_nodes)
    for l in range(lmax):
        legendre[l + 1] = ((2 * l + 1) * x * legendre[l] - l * older) / (l + 1)
        older = legendre[l]
    return np.arccos(np.clip(x, -1, 1)), half * rule.weight() * legendre

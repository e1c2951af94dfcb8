"""Kernels split between harmonic and pixel space."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import AngleLike, width
from ._arrays import alike, integer, spectrum, vector
from ._checked import arguments_as, checked
from ._devices import DeviceLike, resolve_device
from ._maps import MapRows
from ._pixels import is_bad
from ._progress import Progress, reporting
from ._smoothing import choice_of
from ._threads import resolve
from .grid import Grid
from .kernel import Kernel
from .kernel import _make as make_kernel


class Split:
    """A kernel as the sum of a window up to l_cut, for harmonic space, and a profile up to theta_cut, for pixel space.

    The profile takes the degrees above l_cut, so the alm need not go beyond l_cut: each part is computed where it is
    cheap (Sutter, Wandelt & Elsner 2015). `zonal.smooth(..., method="split")` plans such splits within an error. Make
    one yourself to keep it or to look at its parts.

    window: K_l of the kernel, [lmax + 1], lmax >= 8. theta_cut: the angle at which the profile ends.
    error: the split gets the smallest l_cut whose estimated error (rms over the rms of the convolved map) is at most
    this. l_cut: instead of error, 0 to lmax - 1.
    spin: 0, or 2 for maps of Q and U; then the window applies to both E and B.
    c_l: [lmax + 1], the spectrum of maps that weights the errors (EE + BB for spin 2), by default white.
    c_l_beyond: C_l above lmax, by default the last one.
    max_amplification: how much larger than the kernel the largest part may be. max_leakage: how much the profile may
    add above lmax, by default half of the error.

    A split is immutable and can be pickled. Raises ValueError for a kernel that cannot be split like this, and if none of
    65 l_cut, spread evenly from 0 to lmax - 1, keeps the error and the limits; one between them may.

    >>> split = zonal.Split(zonal.gaussian_window("2deg", 300), "3deg", error=1e-4)
    >>> 0 < split.l_cut < 300 and split.estimated_error <= 1e-4
    True
    """

    __slots__ = ("_split", "_kernel")
    _split: _core.KernelSplit
    _kernel: Kernel | None

    @checked
    def __init__(self, window: ArrayLike, theta_cut: AngleLike, *, error: float | None = None, l_cut: int | None = None,
                 spin: Literal[0, 2] = 0, c_l: ArrayLike = (), c_l_beyond: float = 0.0, max_amplification: float = 2.0,
                 max_leakage: float = 0.0, threads: int | None = None, progress: Progress = False) -> None:
        if (error is None) == (l_cut is None):
            raise ValueError("error, l_cut: give one of them")
        if spin not in (0, 2):
            raise ValueError(f"spin = {spin!r}: must be 0, or 2 for maps of Q and U")
        options = _core.KernelSplitOptions()
        options.theta_cut, options.spin, options.threads = width(theta_cut, "theta_cut"), spin, resolve(threads)
        options.input_spectrum, options.spectrum_beyond = spectrum("c_l", c_l), c_l_beyond
        options.max_amplification, options.max_leakage = max_amplification, max_leakage
        with reporting(progress, "splitting") as report, arguments_as({"input_spectrum": "c_l", "spectrum_beyond": "c_l_beyond"}):
            found = _core.split(vector("window", window), options, None if l_cut is None else integer("l_cut", l_cut),
                                error or 0.0, report)
        if found is None:
            lmax = np.size(window) - 1
            raise ValueError(f"error = {error:g}: no l_cut was found that keeps it with theta_cut = "
                             f"{np.rad2deg(options.theta_cut):.4g} degrees, of {min(_core.N_SPLITS_TRIED, lmax)} from 0 to "
                             f"{lmax - 1}: take a larger theta_cut or error, or max_amplification or max_leakage")
        self._split, self._kernel = found, None

    @property
    def spin(self) -> int:
        return self._split.spin

    @property
    def l_cut(self) -> int:
        """The degree at which the window ends."""
        return self._split.l_cut

    @property
    def theta_cut(self) -> float:
        """The angle at which the profile ends, rad."""
        return self._split.support

    @property
    def window(self) -> NDArray[np.float64]:
        """[l_cut + 1], the part that is applied in harmonic space."""
        return self._split.window()

    @property
    def profile_window(self) -> NDArray[np.float64]:
        """[lmax + 1], the window of the profile; it and `window` add up to the kernel's window."""
        return self._split.profile_window()

    @property
    def profile(self) -> Kernel:
        """The profile that is summed over pixels, as a kernel; only for spin 0."""
        if self.spin != 0:
            raise ValueError(f"profile: is a kernel only for spin 0, and this split has spin {self.spin}")
        if self._kernel is None:
            self._kernel = make_kernel("spline", self._split.knots(), self._split.coefficients())
        return self._kernel

    @property
    def estimated_error(self) -> float:
        """The error expected of a convolution of maps that end at lmax, rms over the rms of the convolved map, times 5
        for safety. Where maps go on above lmax, as noise on pixels does, `leakage` adds to it."""
        return self._split.estimated_error

    @property
    def actual_error(self) -> float:
        """The error of the sum of both windows: rms over the rms of the convolved map, for maps of spectrum c_l."""
        return self._split.actual_error

    @property
    def amplification(self) -> float:
        """The largest value of the profile's window, divided by the largest of the kernel's window."""
        return self._split.amplification

    @property
    def leakage(self) -> float:
        """How much the profile adds above lmax: rms over the rms of the convolved map."""
        return self._split.leakage

    @checked
    def convolve(self, maps: ArrayLike, *, grid: Grid | None = None, nest: bool | None = None,
                 precision: Literal["float32", "float64"] = "float64", accuracy: float = 0.0,
                 threads: int | None = None, device: DeviceLike = "cpu", out: NDArray[Any] | None = None,
                 progress: Progress = False) -> Any:
        """Returns maps convolved with the whole kernel, as a sum over their pixels, within the split's errors.

        maps: [pixel] or [row, pixel] for spin 0, [2, pixel] (Q and U) for spin 2, a `zonal.Map` or a Quantity;
        float32 stays float32, and a Map a Map. All pixels must hold numbers; `zonal.smooth` takes masks. grid, nest, threads, device, out, progress: as in
        `zonal.convolve`.
        precision: of the sum over pixels. accuracy: of the profile, relative to its largest value, by default 1e-7.
        """
        given = MapRows(maps, grid, nest, pol=self.spin == 2)
        if self.spin == 2 and len(given.rows) != 2:
            raise ValueError(f"maps: has {len(given.rows)} rows: must be Q, U for a split of spin 2")
        if is_bad(given.rows).any():
            raise ValueError('maps: have pixels without a number: fill them, or use zonal.smooth(..., method="split"), '
                             "which takes masks")
        result, written = given.new_output(out)
        batch = slice(None) if self.spin == 0 else None
        with reporting(progress, "convolving") as report:
            self._split.convolve(given.grid._grid, choice_of("precision", precision, _core.Precision), accuracy,
                                 resolve(threads), resolve_device(device), given.rows[batch], written[batch], report)
        return given.give_back(written, result)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        one = self._split
        return _made_of, (one.window(), one.knots(), one.coefficients(), one.profile_window(), one.l_cut,
                          one.estimated_error, one.amplification, one.leakage, one.rank, one.actual_error, one.spin)

    def __repr__(self) -> str:
        return (f"<zonal.Split l_cut={self.l_cut}, theta_cut={np.rad2deg(self.theta_cut):.4g} deg, spin={self.spin}, "
                f"estimated error {self.estimated_error:.2g}>")


def _made_of(*parts: Any) -> Split:
    split = Split.__new__(Split)
    split._split, split._kernel = _core.KernelSplit(*parts), None
    return split


def wiener_spectrum(signal: ArrayLike, noise: ArrayLike) -> NDArray[np.float64]:
    """Returns C_l^2 / (C_l + N_l), [lmax + 1], the spectrum of a Wiener-filtered map, to give to `Split(c_l=...)`.

    >>> zonal.wiener_spectrum([2.0, 0.0], [2.0, 0.0]).tolist()
    [1.0, 0.0]
    """
    c_l, n_l = alike(signal=signal, noise=noise)
    if len(c_l) != len(n_l):
        raise ValueError(f"signal, noise: have {len(c_l)} and {len(n_l)} values: must have as many")
    return _core.wiener_spectrum(c_l, n_l)

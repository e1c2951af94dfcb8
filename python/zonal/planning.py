"""Plans of convolutions: the fastest way within an error, for any grid and any number of calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import output, real_input
from ._checked import arguments_as, checked
from ._devices import DeviceLike, resolve_device
from ._kinds import kind_of, ring_values
from ._options import Costs, MaskRule, Method, Reference
from ._pixels import required_grid
from ._progress import Progress, reporting
from ._smoothing import choice_of, costs_of, mask_rule_of, optional_choice_of
from ._threads import resolve
from .grid import Grid
from .kernel import Kernel, required_kernel

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import PlanOptions


def plan(kernel: Kernel, grid: Grid, **options: Unpack[PlanOptions]) -> ConvolutionPlan:
    """Finds the fastest way to convolve maps of a grid with a kernel within an error, and makes it ready.

    kernel: a zonal.Kernel. grid: of the maps and of the results. The options are those of `zonal.ConvolutionPlan`.

    >>> p = zonal.plan(zonal.Kernel.gaussian("20deg"), zonal.Grid.gauss_legendre(48, 95), error=1e-6)
    >>> p(np.ones(48 * 95)).round(5).min()
    np.float64(1.0)
    """
    return ConvolutionPlan(kernel, grid, **options)


class ConvolutionPlan:
    """One way to convolve maps of a grid with a kernel, ready to be used, and the list that it was chosen from.

    kernel: a zonal.Kernel. grid: of the maps and of the results: HEALPix in ring order, or any other rings.
    error: the largest error, rms over the rms of the exact result, above 0 and below 1.
    lmax: of the maps, and of harmonic space; by default what the grid holds, or for the continuous reference what
    kernel and error need.
    gain: rms of the result over the rms of the map, at least. Errors are certified for all maps with this gain or
    more, and every call returns certificates for the maps at hand, which may be larger than `error` if the maps' gain
    is smaller. By default it is a little less than that of white noise.
    reference: what errors are measured from: the sum over the pixels ("discrete"), or the window on the alm that the
    map is made of ("continuous"); by default as in `zonal.convolve`.
    method: "auto", or the one that you want: "harmonic", "pixel-sum", "ring-fft", "split".
    n_maps: how many maps a call brings. allow_single: sums over pixels may be done in single precision.
    mask_mode, mask_threshold, fill_masked, costs, threads: as in `zonal.convolve`. device: where to compute, for maps of the host.

    `choices` has all ways that were looked at, those that keep the error first, fastest first; `choice` is the one that
    is taken, and `explain()` prints them. A plan may be pickled, which makes it anew from these arguments; threads
    take turns to use it.

    Raises ErrorNotKept where no way keeps the error, and ValueError for arguments that contradict each other.
    """

    __slots__ = ("_arguments", "_choice", "_choices", "_grid", "_kernel", "_n_maps", "_plan", "_request")

    @checked
    def __init__(self, kernel: Kernel, grid: Grid, *, error: float = 1e-5, lmax: int | None = None,
                 gain: float | None = None, reference: Reference | None = None,
                 method: Method = "auto", n_maps: int = 1, allow_single: bool = True, mask_mode: MaskRule = "zero", mask_threshold: float | None = None,
                 fill_masked: bool = False, costs: Costs = "default",
                 threads: int | None = None, device: DeviceLike = "cpu") -> None:
        self._arguments = {name: value for name, value in locals().items() if name not in ("self", "kernel", "grid")}
        required_kernel(kernel)
        required_grid("grid", grid)
        self._kernel, self._grid, self._n_maps = kernel, grid, n_maps
        request = _core.ConvolutionRequest()
        request.grid, request.kernel = grid._grid, kernel._kernel
        request.error, request.n_maps, request.allow_single = error, n_maps, allow_single
        request.method = choice_of("method", method, _core.ConvolutionMethod)
        request.reference = optional_choice_of("reference", reference, _core.ConvolutionReference)
        request.threads = resolve(threads)
        if lmax is not None and lmax < 0:
            raise ValueError(f"lmax = {lmax}: must be 0 or more")
        request.lmax = -1 if lmax is None else lmax
        request.gain = gain
        options = _core.ConvolutionOptions()
        options.mask = mask_rule_of(mask_mode, mask_threshold, fill_masked)
        self._request = request.completed(options)
        self._choices = self._request.choices(costs_of(costs, request.threads), resolve_device(device))
        self._choice = next((choice for choice in self._choices if method in ("auto", choice.method)), self._choices[0])
        if self._choice.excluded:
            raise _core.ErrorNotKept(f"error = {error}: no method keeps it: {self._choice.excluded}")
        with arguments_as({"mask.threshold": "mask_threshold"}):
            self._plan = _core.SharedPlan(self._request, self._choice, options)

    @property
    def kernel(self) -> Kernel:
        return self._kernel

    @property
    def grid(self) -> Grid:
        return self._grid

    @property
    def lmax(self) -> int:
        return self._request.lmax

    @property
    def choice(self) -> _core.Choice:
        """The way that is taken."""
        return self._choice

    @property
    def choices(self) -> list[_core.Choice]:
        """All ways that were looked at: those that keep the error first, fastest first."""
        return list(self._choices)

    @checked
    def __call__(self, maps: ArrayLike, out: NDArray[Any] | None = None, *, mask: ArrayLike | None = None,
                 progress: Progress = False, return_report: bool = False) -> Any:
        """Returns the convolved maps.

        maps: [n_maps, n_pixels], or [n_pixels] where n_maps is 1, a `zonal.Map` or a Quantity, as which the result
        comes; float32 stays float32. out: where to write the
        result, not the maps themselves. mask: [n_pixels] from 0 (masked) to 1. progress: as in `zonal.convolve`. With return_report it
        returns the maps and a ConvolutionResult, which has the certificates.

        Without a mask no pixel may be UNSEEN.
        """
        kind = kind_of(maps)
        if out is not None and kind.map is not None and kind.map.nest:
            raise ValueError("out: has no place for a zonal.Map in nest order: use its reordered(nest=False)")
        maps = real_input("maps", ring_values("maps", maps, self._grid))
        is_single = self._n_maps == 1 and maps.shape == (self._grid.n_pixels,)
        if not is_single and maps.shape != (self._n_maps, self._grid.n_pixels):
            raise ValueError(f"maps: has shape {maps.shape}: must be [{self._grid.n_pixels}] or "
                             f"[{self._n_maps}, {self._grid.n_pixels}]")
        out = output(out, maps.shape, maps.dtype, maps)
        known = None if mask is None else np.ascontiguousarray(
            real_input("mask", ring_values("mask", mask, self._grid)), maps.dtype)
        if known is not None and known.shape != (self._grid.n_pixels,):
            raise ValueError(f"mask: has shape {known.shape}: must be [{self._grid.n_pixels}]")
        rows = (maps, out) if maps.ndim == 2 else (maps[None], out[None])
        with reporting(progress, "convolution") as report:
            result = self._plan.convolve(rows[0], known, rows[1], report)
        convolved = kind.maps(out)
        if kind.map is not None and kind.map.nest:
            convolved = kind.maps(out, nest=False).reordered(nest=True)
        return (convolved, result) if return_report else convolved

    def explain(self) -> str:
        """Returns the list of ways as a table: * marks the one that is taken.

        >>> print(zonal.plan(zonal.Kernel.gaussian("20deg"), zonal.Grid.healpix(8)).explain())  # doctest: +ELLIPSIS
          method     precision  support/deg  iterations    seconds  error
        * ...
        """
        head = "  method     precision  support/deg  iterations    seconds  error"
        return "\n".join([head, *(_row(choice, choice is self._choice) for choice in self._choices)])

    def __reduce__(self) -> tuple[Callable[..., ConvolutionPlan], tuple[Any, ...]]:
        return _make, (self._kernel, self._grid, self._arguments)

    def __repr__(self) -> str:
        return (f"<zonal.ConvolutionPlan of {self._kernel.name} on {self._grid.name}: {self._choice.method}, "
                f"error {self._choice.error:.2g}>")


def _make(kernel: Kernel, grid: Grid, arguments: dict[str, Any]) -> ConvolutionPlan:
    return ConvolutionPlan(kernel, grid, **arguments)


def _row(choice: _core.Choice, is_taken: bool) -> str:
    is_harmonic = choice.method == "harmonic"
    support = "-" if is_harmonic else f"{np.rad2deg(choice.support):.3g}"
    iterations = str(choice.iterations) if is_harmonic else "-"
    row = (f"{'*' if is_taken else ' '} {choice.method:9}  {choice.precision:9}  {support:>11}  {iterations:>10}  "
           f"{choice.seconds:9.3g}  {choice.error:.2g}")
    return f"{row}  excluded: {choice.excluded}" if choice.excluded else row


__all__ = ["ConvolutionPlan", "plan"]

"""Smoothing and convolution within an error, for the map at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeGuard, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import AngleLike, width
from ._arrays import doubles, shown, vector
from ._checked import arguments_as, checked, takes_options_of
from ._devices import DeviceLike, resolve_device
from ._kinds import Maps, kind_of
from ._libraries import gpu_index
from ._maps import MapRowsAnywhere, fields_of, own_weights_of, pixels_of, ring_weights_of
from ._notes import warn
from ._options import Costs, MaskRule, Method, Reference
from ._progress import Progress, reporting
from ._threads import resolve
from .grid import Grid
from .kernel import Kernel, required_kernel
from .sky_map import Map, agreed

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ConvolutionOptions

SMOOTHING_NAMES = {"mask.threshold": "mask_threshold", "mask_rule.threshold": "mask_threshold", "pixels_out": "grid_out"}


@checked
def _smooth(maps: ArrayLike, window: _core.SmoothingWindow, kernels: list[_core.RadialKernel], pol: bool | None,
            grid_out: Grid | None, out: NDArray[Any] | None, *, grid: Grid | None = None, nest: bool | None = None,
            mask: ArrayLike | None = None, pixel_weights: ArrayLike | None = None, progress: Progress = False,
            return_report: bool = False, device: DeviceLike | None = None, **options: Any) -> Any:
    how = smoothing_options(**options)
    if out is None and grid_out is None and pixel_weights is None and gpu_index("mask", mask) is None and \
            can_be_smoothed_alone(maps, how):
        agreed("maps", maps, grid, nest)
        return _smooth_part(maps, window, kernels, pol, how, mask, device, progress, return_report)
    given = MapRowsAnywhere(maps, grid, nest, pol, device)
    how.device = given.device
    if grid_out is not None:
        how.pixels_out = pixels_of(grid_out, "grid_out")
    result, written = given.new_output(out, grid_out)
    with reporting(progress, "smoothing") as report, arguments_as(SMOOTHING_NAMES):
        parts = _core.smooth(given.rows, given.pixels, given.fields, window, kernels, how,
                             given.weights("mask", mask), given.weights("pixel_weights", pixel_weights), written, report)
    changes: dict[str, Any] = {}
    if isinstance(maps, Map) and maps.is_part and grid_out is None and not how.mask_rule.fill_masked:
        changes = {"partial": maps.partial, "_pixels": maps.own()[0]}
    return _returned(given.give_back(written, result, **changes), parts, return_report)


def _returned(result: Any, parts: list[_core.SmoothedPart], return_report: bool) -> Any:
    if return_report:
        return result, parts
    warn(warnings_of(parts))
    return result


def can_be_smoothed_alone(maps: Any, how: _core.MapSmoothingOptions) -> TypeGuard[Map]:
    """Whether this is a Map of a part of the sky that needs no other pixels than its own. Infinite values are refused elsewhere."""
    return isinstance(maps, Map) and maps.is_part and _core.needs_own_pixels(how) and \
        bool(np.isfinite(maps.own()[1]).all())


def _smooth_part(maps: Map, window: _core.SmoothingWindow, kernels: list[_core.RadialKernel], pol: bool | None,
                 how: _core.MapSmoothingOptions, mask: Any, device: DeviceLike | None, progress: Progress,
                 return_report: bool) -> Any:
    """Smooths a Map of a part of the sky, which the result is too, in the memory of its pixels."""
    pixels, rows = maps.own()
    how.device = resolve_device("cpu" if device is None else device)
    result = np.empty_like(rows)
    with reporting(progress, "smoothing") as report, arguments_as(SMOOTHING_NAMES):
        parts = _core.smooth_part(rows, pixels_of(maps.grid), pixels, fields_of("maps", len(rows), maps.pol if pol is None else pol),
                                  window, kernels, how, own_weights_of("mask", mask, maps, pixels), result, report)
    smoothed = kind_of(maps).maps(result[0] if maps.ndim == 1 else result, nest=False, partial=maps.partial, _pixels=pixels)
    return _returned(smoothed.reordered(maps.nest), parts, return_report)


def warnings_of(parts: list[_core.SmoothedPart]) -> list[str]:
    """What keep_missed let through, and what the parts note."""
    missed = [f"error = {part.error_bound:g}: rows {list(part.rows)}: {part!r}" for part in parts
              if part.error_bound is not None and not part.is_certified]
    return [*missed, *(note for part in parts for note in part.notes)]


@checked
def smoothing_options(*, method: Method = "auto", error: float | None = None, keep_missed: bool = False, strict: bool = False,
             reference: Reference | None = None,
             normalization: Literal["window", "pixel", "none"] = "none", cut: AngleLike | None = None,
             theta_cut: AngleLike | None = None,
             lmax: int | None = None, iterations: int | None = None, tolerance: float | None = None,
             ring_weights: ArrayLike | None = None, mask_mode: MaskRule = "zero", mask_threshold: float | None = None,
             fill_masked: bool = False, precision: Literal["float32", "float64"] | None = None,
             costs: Costs = "default",
             threads: int | None = None) -> _core.MapSmoothingOptions:
    how = _core.MapSmoothingOptions()
    how.method = choice_of("method", method, _core.ConvolutionMethod)
    how.error, how.keep_missed, how.strict = error, keep_missed, strict
    how.reference = optional_choice_of("reference", reference, _core.ConvolutionReference)
    how.normalization = choice_of("normalization", normalization, _core.Normalization)
    how.precision = optional_choice_of("precision", precision, _core.Precision)
    if cut is not None:
        how.cut = width(cut, "cut")
    if theta_cut is not None:
        how.theta_cut = width(theta_cut, "theta_cut")
    if lmax is not None and lmax < 0:
        raise ValueError(f"lmax = {lmax}: must be 0 or more")
    how.lmax = -1 if lmax is None else lmax
    how.iterations = iterations
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance = {tolerance}: must be above 0")
    how.tolerance = tolerance or 0.0
    how.ring_weights = ring_weights_of(ring_weights)
    how.mask_rule = mask_rule_of(mask_mode, mask_threshold, fill_masked)
    how.threads = resolve(threads)
    how.costs = costs_of(costs, how.threads)
    return how


@overload
def smooth(maps: Maps, fwhm: AngleLike | None = None, *, beam: ArrayLike | None = None, fwhm_in: AngleLike | None = None,
           beam_in: ArrayLike | None = None, floor: float = 0.0, pol: bool | None = None, grid_out: Grid | None = None,
           out: NDArray[Any] | None = None, return_report: Literal[True],
           **options: Unpack[ConvolutionOptions]) -> tuple[Maps, list[_core.SmoothedPart]]: ...
@overload
def smooth(maps: Maps, fwhm: AngleLike | None = None, *, beam: ArrayLike | None = None, fwhm_in: AngleLike | None = None,
           beam_in: ArrayLike | None = None, floor: float = 0.0, pol: bool | None = None, grid_out: Grid | None = None,
           out: NDArray[Any] | None = None, return_report: Literal[False] = False,
           **options: Unpack[ConvolutionOptions]) -> Maps: ...
@overload
def smooth(maps: ArrayLike, fwhm: AngleLike | None = None, *, beam: ArrayLike | None = None, fwhm_in: AngleLike | None = None,
           beam_in: ArrayLike | None = None, floor: float = 0.0, pol: bool | None = None, grid_out: Grid | None = None,
           out: NDArray[Any] | None = None, return_report: bool = False, **options: Unpack[ConvolutionOptions]) -> Any: ...
@takes_options_of(_smooth, smoothing_options)
@checked
def smooth(maps: ArrayLike, fwhm: AngleLike | None = None, *, beam: ArrayLike | None = None,
           fwhm_in: AngleLike | None = None, beam_in: ArrayLike | None = None, floor: float = 0.0,
           pol: bool | None = None, grid_out: Grid | None = None, out: NDArray[Any] | None = None, **options: Any) -> Any:
    """Smooths maps with a Gaussian or a beam, and certifies the error of the result for these very maps.

    maps: [pixel], or [row, pixel] for many, a `zonal.Map` or a Quantity; the result is of the same kind, and that of a Map of a
    part of the sky is one of the same pixels, unless grid_out or fill_masked asks for others. Sums over pixels and ring FFTs of
    such a Map take the memory of its pixels, harmonic space and splits that of the whole sky. With pol=True
    the rows are I, Q, U or Q, U (COSMO convention), by default where a Map says so; otherwise each is a field of its
    own. float32 stays float32. UNSEEN pixels (-1.6375e30) count as masked.
    fwhm: full width at half maximum, above 0 and at most pi. beam: instead of or beside it b_l, [lmax + 1], applied to all fields, or
    [3, lmax + 1] for T, E and B. fwhm_in, beam_in: what the maps have been smoothed with, which is divided out; values
    smaller than floor count as floor.
    grid_out: pixels of the result, by default those of the maps; only harmonic space can change them.
    out: where to write the result; it has the type and shape of the maps.

    The other options are those of `zonal.convolve`. Returns the smoothed maps, or with return_report=True these and a
    list of reports (SmoothedPart): one, or two where I went another way than Q and U.

    >>> sky = np.zeros(12 * 32**2)
    >>> sky[100] = 1
    >>> smoothed, (report,) = zonal.smooth(sky, "10deg", error=1e-6, return_report=True)
    >>> report.certificates[0].error <= 1e-6
    True
    """
    return _smooth(maps, smoothing_window(fwhm, beam, fwhm_in, beam_in, floor), [], pol, grid_out, out, **options)


def smoothing_window(fwhm: AngleLike | None, beam: ArrayLike | None, fwhm_in: AngleLike | None, beam_in: ArrayLike | None,
                     floor: float) -> _core.SmoothingWindow:
    """What the extension takes for these arguments of smooth."""
    if fwhm is None and beam is None and fwhm_in is None and beam_in is None:
        raise ValueError("fwhm, beam: neither is given: give one, or fwhm_in or beam_in to divide by")
    window = _core.SmoothingWindow()
    for name, value in (("fwhm", fwhm), ("fwhm_in", fwhm_in)):
        if value is not None:
            setattr(window, name, width(value, name))
    for name, values in (("beam", beam), ("beam_in", beam_in)):
        if values is not None:
            setattr(window, name, _beam(name, values))
    if not 0 <= floor < np.inf or (floor > 0 and fwhm_in is None and beam_in is None):
        raise ValueError(f"floor = {floor}: must be finite and 0 or more, and needs fwhm_in or beam_in above 0")
    window.floor = floor
    return window


@overload
def convolve(maps: Maps, kernel: Kernel, *, out: NDArray[Any] | None = None, return_report: Literal[True],
             **options: Unpack[ConvolutionOptions]) -> tuple[Maps, list[_core.SmoothedPart]]: ...
@overload
def convolve(maps: Maps, kernel: Kernel, *, out: NDArray[Any] | None = None, return_report: Literal[False] = False,
             **options: Unpack[ConvolutionOptions]) -> Maps: ...
@overload
def convolve(maps: ArrayLike, kernel: Kernel, *, out: NDArray[Any] | None = None, return_report: bool = False,
             **options: Unpack[ConvolutionOptions]) -> Any: ...
@takes_options_of(_smooth, smoothing_options)
def convolve(maps: ArrayLike, kernel: Kernel, *, out: NDArray[Any] | None = None, **options: Any) -> Any:
    """Convolves maps with a radial kernel, and certifies the error of the result for these very maps.

    maps: [pixel], or [row, pixel] for many fields of spin 0, a `zonal.Map` or a Quantity; float32 stays float32. UNSEEN pixels count as masked.
    kernel: a zonal.Kernel, applied as it is. out: where to write the result; it has the type and shape of the maps.

    Options, all by keyword:

    grid: the maps' pixels, by default HEALPix of the nside that their length tells; or cylindrical rings.
    nest: True for maps, masks and results in nest order; a Map says its own order, also as a mask.
    method: "auto" takes the fastest way within the error; "harmonic", "pixel-sum", "ring-fft" or "split" that one.
    error: the largest error of each field, rms over the rms of the exact result, by default 1e-5, certified
    for the map at hand (with method="harmonic", iterations, tolerance or cut only where it is given). ErrorNotKept is
    raised if no way keeps it, unless keep_missed=True.
    reference: what errors are measured from: "continuous" is the window on the alm up to lmax that the map is made of,
    "discrete" the sum over the pixels. By default continuous for windows and Gaussians, discrete for profiles, for sums
    that method= names, and for counts.
    strict: True raises ErrorNotKept where the answer depends on lmax by more than `error`, as measured for this map;
    otherwise the report notes it (lmax_effect).
    normalization: "none" applies the kernel as it is; "window" scales its integral to 1, "pixel" its sum over the pixels,
    for each pixel, which keeps counts.
    cut: where the profile ends, instead of where the error allows: with "pixel-sum" and "ring-fft" alone.
    theta_cut: where the profile of a split ends, by default where it is fastest.
    lmax: of harmonic space, by default what kernel and error need. iterations, tolerance: of its analysis, by default as
    the error needs. method="harmonic" without an error does as healpy: 3 iterations, and lmax as the grid resolves.
    ring_weights: [ring], pixel_weights: [pixel]: multiply the quadrature weights.
    mask: [pixel] from 0 (masked) to 1. mask_mode: masked pixels count as 0 ("zero"), or the result is divided by what
    the kernel, scaled to integral 1, makes of the mask ("renormalize", UNSEEN where that is below mask_threshold, 0.1),
    or they are refused ("error"). fill_masked: False leaves masked pixels UNSEEN, True keeps their computed values.
    precision: "float32" or "float64" of sums over pixels; by default as the error allows.
    costs: "default" plans by built-in costs, "measured" by those that `zonal calibrate` measured on this machine.
    device: where to compute, "cpu", "cuda", "cuda:1" or "auto" (see `zonal.devices`), by default where the maps are. Maps in
    the memory of a GPU (see `zonal.SHT`) are smoothed on that GPU, and the result is an array of the same library there;
    out, mask and pixel_weights may be there, too. They go by way of the host: a call copies maps and masks to its memory and
    the result back, which it waits for, and takes as much of it as for maps of the host.
    threads: by default `zonal.threads()`. progress: True shows a bar; a callable gets the share that is done, and
    stops the work if it returns False, which raises Cancelled.
    return_report: True returns the maps and a list with a report (SmoothedPart) of the way, the certificates, what was
    masked and how long it took. Otherwise what the report notes becomes a ZonalWarning.

    Raises ValueError for options that contradict each other, ErrorNotKept and Cancelled. Ctrl-C stops it.

    >>> sky = np.ones(12 * 32**2)
    >>> smoothed = zonal.convolve(sky, zonal.Kernel.gaussian("15deg"), method="ring-fft")
    >>> bool(np.allclose(smoothed, 1, atol=0.01))
    True
    """
    required_kernel(kernel)
    return _smooth(maps, _core.SmoothingWindow(), [kernel._kernel], False, None, out, **options)


def mask_rule_of(mode: str, threshold: float | None, fill_masked: bool) -> _core.MaskRule:
    """threshold: 0.1 unless it is given, which only renormalize takes."""
    if threshold is not None and mode != "renormalize":
        raise ValueError(f"mask_threshold = {threshold}: has an effect only with mask_mode = 'renormalize', "
                         f"not {mode!r}; leave it out")
    threshold = 0.1 if threshold is None else threshold
    rule = _core.MaskRule()
    rule.mode, rule.threshold, rule.fill_masked = choice_of("mask_mode", mode, _core.MaskMode), threshold, fill_masked
    return rule


def costs_of(costs: str, threads: int) -> _core.CostModel:
    if not isinstance(costs, str) or costs not in ("default", "measured"):
        raise ValueError(f"costs = {shown(costs)}: must be 'default' or 'measured'")
    notes: list[str] = []
    found = _core.costs(costs == "measured", threads, notes)
    warn(notes)
    return found


def choice_of(name: str, value: str, kind: Any) -> Any:
    """The member of an enumeration that a text names."""
    names = {member.name.replace("_", "-"): member for member in kind}
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} = {shown(value)}: must be one of {', '.join(map(repr, names))}")
    return names[value]


def optional_choice_of(name: str, value: str | None, kind: Any) -> Any:
    return None if value is None else choice_of(name, value, kind)


def _beam(name: str, values: ArrayLike) -> _core.Beam:
    array = doubles(name, values)
    columns = [array] * 3 if array.ndim == 1 else list(array) if array.ndim == 2 else []
    if len(columns) != 3:
        raise ValueError(f"{name}: has shape {array.shape}: must be [lmax + 1], or [3, lmax + 1] for T, E and B")
    if not array.size or not np.isfinite(array).all() or not array.any():
        wrong = "is empty" if not array.size else "is 0 for all l" if np.isfinite(array).all() else "has NaN or infinite values"
        raise ValueError(f"{name}: {wrong}: must be finite from l = 0 on, and not 0 throughout")
    return _core.Beam(*(vector(name, column).tolist() for column in columns))

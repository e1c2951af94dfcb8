"""The keywords that functions pass on to others, by name and type, for type checkers.

`takes_options_of` gives the functions the same keywords for help() and at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._angles import AngleLike
    from ._devices import DeviceLike
    from ._progress import Progress
    from .grid import Grid

Method = Literal["auto", "harmonic", "pixel-sum", "ring-fft", "split"]
MaskRule = Literal["zero", "renormalize", "error"]
Reference = Literal["continuous", "discrete"]
Costs = Literal["default", "measured"]


class RankSmoothingOptions(TypedDict, total=False):
    """The keywords of `zonal.mpi.SHT.smooth`, which has threads and weights of its own."""
    method: Method
    error: float | None
    keep_missed: bool
    strict: bool
    reference: Reference | None
    normalization: Literal["window", "pixel", "none"]
    cut: AngleLike | None
    theta_cut: AngleLike | None
    lmax: int | None
    iterations: int | None
    tolerance: float | None
    mask_mode: MaskRule
    mask_threshold: float | None
    fill_masked: bool
    precision: Literal["float32", "float64"] | None
    costs: Costs


class SmoothingOptions(RankSmoothingOptions, total=False):
    ring_weights: ArrayLike | None
    threads: int | None


class ConvolutionOptions(SmoothingOptions, total=False):
    """The keywords of `zonal.smooth` and `zonal.convolve`, but for return_report."""
    grid: Grid | None
    nest: bool | None
    mask: ArrayLike | None
    pixel_weights: ArrayLike | None
    progress: Progress
    device: DeviceLike | None


class PlanOptions(TypedDict, total=False):
    """The keywords of `zonal.ConvolutionPlan`."""
    error: float
    lmax: int | None
    gain: float | None
    reference: Reference | None
    method: Method
    n_maps: int
    allow_single: bool
    mask_mode: MaskRule
    mask_threshold: float | None
    fill_masked: bool
    costs: Costs
    threads: int | None
    device: DeviceLike


class AnalysisOptions(TypedDict, total=False):
    """The keywords of `zonal.map2alm`."""
    grid: Grid | None
    nest: bool | None
    pol: bool | None
    iterations: int | None
    tolerance: float | None
    ring_weights: ArrayLike | None
    pixel_weights: ArrayLike | None
    mask: ArrayLike | None
    mask_mode: Literal["zero", "error"]
    remove: Literal["monopole", "dipole"] | None
    threads: int | None
    device: DeviceLike
    progress: Progress


class _AnyPictureOptions(TypedDict, total=False):
    nest: bool | None
    coord: str | None
    mask: ArrayLike | None
    min: float | None
    max: float | None
    norm: Any
    linear_width: float | None
    cmap: Any
    bad_color: Any
    unit: str | None
    title: str | None
    colorbar: bool
    graticule: bool
    width: int
    ax: Any


class PictureOptions(_AnyPictureOptions, total=False):
    """The keywords of `zonal.plot.draw` and the views."""
    rot: Any


class PolarPictureOptions(_AnyPictureOptions, total=False):
    """The keywords of `zonal.plot.polar`, whose middle is a pole."""
    flip: Literal["astro", "geo"]
    equal_area: bool

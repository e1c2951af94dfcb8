"""Smoothing and convolution of maps that are divided among ranks."""

from __future__ import annotations

import pickle
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._angles import AngleLike
from .._arrays import boolean, real, real_input
from .._maps import pixels_of
from .._progress import Progress
from ..kernel import Kernel
from ..smoothing import Method, missed, smoothing_options, smoothing_window
from ._files import PlanFiles
from ._parts import hash_of, plain


class PlanSmoothing(PlanFiles):
    """The methods of a Plan that smooth and convolve."""

    def smooth(self, maps: ArrayLike, fwhm: AngleLike | None = None, *, beam: ArrayLike | None = None,
               fwhm_in: AngleLike | None = None, beam_in: ArrayLike | None = None, floor: float = 0.0,
               method: Method = "harmonic", error: float | None = None, reference: Literal["continuous", "discrete"] | None = None,
               iterations: int | None = None, tolerance: float | None = None, progress: Progress = False,
               return_report: bool = False) -> Any:
        """Returns this rank's part of smoothed maps.

        maps: its part of I, [n_pixels], of Q, U, [2, n_pixels], or of I, Q, U, [3, n_pixels]. UNSEEN pixels count as masked.
        fwhm, beam, fwhm_in, beam_in, floor: as in `zonal.smooth`; a beam reaches lmax.
        method: "harmonic" analyses, applies the window and synthesises; "auto", "pixel-sum", "ring-fft" and "split" are those
        of `zonal.convolve`. error, reference: as there, for the whole map; "auto" plans by the built-in costs.
        iterations, tolerance: of the analysis, 3 iterations by default. return_report: True returns the maps and a list of
        reports (SmoothedPart) of the whole map. It does not depend on the plan's spin.
        """
        with self._job.together("smooth", progress) as about:
            rows, fields = self._rows(maps)
            window = smoothing_window(fwhm, beam, fwhm_in, beam_in, real("floor", floor))
            values = _core.evaluate_window(window, self._lmax)
            parts = b"".join(part.tobytes() for part in (values.temperature(), values.gradient(), values.curl()))
            how = smoothing_options(method=method, error=error, reference=reference, iterations=iterations, tolerance=tolerance,
                                    threads=self._threads)
            how.lmax = self._lmax if how.method == _core.ConvolutionMethod.harmonic else -1
            about.append(f"{np.shape(maps)[:-1]} {rows.dtype}, {method}, {error}, {reference}, {iterations}, {tolerance}, "
                         f"by a window of hash {hash_of(parts)}")
            return_report = boolean("return_report", return_report)
        return self._convolve(maps, rows, fields, window, [], how, progress, return_report)

    def convolve(self, maps: ArrayLike, kernel: Kernel, *, method: Method = "auto", error: float | None = None,
                 reference: Literal["continuous", "discrete"] | None = None, progress: Progress = False,
                 return_report: bool = False) -> Any:
        """Returns this rank's part of maps of spin 0 that are convolved with a radial kernel, as `zonal.convolve`.

        maps: its part, [n_pixels]. The arguments are those of `zonal.convolve`; the error is that of the whole map.
        """
        with self._job.together("convolve", progress) as about:
            rows, fields = self._rows(maps)
            if len(rows) != 1:
                raise ValueError(f"maps: has shape {np.shape(maps)}: must be [{rows.shape[1]}]")
            if not isinstance(kernel, Kernel):
                raise TypeError(f"kernel: must be a zonal.Kernel, not {type(kernel).__name__}")
            how = smoothing_options(method=method, error=error, reference=reference, threads=self._threads)
            about.append(f"{rows.dtype}, {method}, {error}, {reference}, by a kernel of hash {hash_of(pickle.dumps(kernel))}")
            return_report = boolean("return_report", return_report)
        return self._convolve(maps, rows, fields, _core.SmoothingWindow(), [kernel._kernel], how, progress, return_report)

    def _rows(self, maps: ArrayLike) -> tuple[NDArray[Any], str]:
        array, n_pixels = real_input("maps", plain("maps", maps)), self._shares[self._job.rank].n_pixels
        if array.shape not in ((n_pixels,), (2, n_pixels), (3, n_pixels)):
            raise ValueError(f"maps: has shape {array.shape}: must be [{n_pixels}], [2, {n_pixels}] or [3, {n_pixels}]")
        return np.ascontiguousarray(np.atleast_2d(array)), "scalars" if array.ndim == 1 else "qu" if len(array) == 2 else "iqu"

    def _convolve(self, maps: ArrayLike, rows: NDArray[Any], fields: str, window: _core.SmoothingWindow,
                  kernels: list[_core.RadialKernel], how: _core.MapSmoothingOptions, progress: Progress, return_report: bool) -> Any:
        out = np.empty_like(rows)
        with self._job.reporting(progress, "smoothing") as report:
            parts = self._sky().smooth(rows, pixels_of(self._grid), fields, window, kernels, how, out, report)
        found = out[0] if np.ndim(maps) == 1 else out
        if return_report:
            return found, parts
        self._job.warn([*missed(parts), *(note for part in parts for note in part.notes)])
        return found

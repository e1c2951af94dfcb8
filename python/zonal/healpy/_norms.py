"""Colours like those of healpy.projaxes: values beyond the range get the colours of its ends, -inf the background's.

This module imports matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.colors import FuncNorm, Normalize, SymLogNorm
from matplotlib.ticker import Locator

from .._pixels import is_bad
from ..plot.colors import color_map, limits, scale


class _EndsNorm(Normalize):
    """A scale of zonal.plot that clips values to the range, except that -inf stays below it."""

    kind = "linear"

    def __init__(self, vmin: float | None = None, vmax: float | None = None, clip: bool = False) -> None:
        super().__init__(vmin, vmax, clip)
        self._inner: Any = None

    def __call__(self, value: Any, clip: bool | None = None) -> Any:
        values = np.ma.asarray(value, np.float64)
        if self._inner is None or (self._inner.vmin, self._inner.vmax) != (self.vmin, self.vmax):
            self.autoscale_None(values)
        finite = np.ma.MaskedArray(np.clip(values.filled(self.vmin), self.vmin, self.vmax), np.ma.getmaskarray(values))
        result = np.ma.MaskedArray(np.ma.getdata(self._inner(finite)).copy(), np.ma.getmaskarray(values))
        result[np.ma.filled(values == -np.inf, False)] = -np.inf
        return result if np.ndim(value) else result[()]

    def inverse(self, value: Any) -> Any:
        if self._inner is None:
            raise ValueError("norm: has no range yet; call autoscale")
        return self._inner.inverse(value)

    def autoscale(self, A: Any) -> None:
        self.vmin = self.vmax = None
        self.autoscale_None(A)

    def autoscale_None(self, A: Any) -> None:
        values = _good(A)
        if not values.size and (self.vmin is None or self.vmax is None):  # all values are bad: no colour is needed
            self._inner = Normalize(0.0, 1.0)
            self.vmin, self.vmax = 0.0, 1.0
            return
        first, last = limits(values, self.vmin, self.vmax, self.kind == "log")
        if self._inner is None or (self._inner.vmin, self._inner.vmax) != (first, last):
            self._inner = self._make(values, first, last)
        self.vmin, self.vmax = first, last

    def _make(self, values: Any, first: float, last: float) -> Any:
        """The scale inside the range."""
        return scale(self.kind, values, first, last)


class LinNorm2(_EndsNorm):
    """A linear scale."""


class LogNorm2(_EndsNorm):
    """A logarithmic scale."""

    kind = "log"


class HistEqNorm(_EndsNorm):
    """A scale on which each colour covers the same number of the values that autoscale gets."""

    kind = "hist"


class _SymLogNorm(_EndsNorm):
    """A scale that is logarithmic on both sides and linear around 0: SymLogNorm, or symlog_forward without options."""

    def __init__(self, vmin: float | None, vmax: float | None, **options: Any) -> None:
        super().__init__(vmin, vmax)
        self._options = options

    def _make(self, values: Any, first: float, last: float) -> Any:
        if self._options:
            return SymLogNorm(vmin=first, vmax=last, **self._options)
        return FuncNorm((symlog_forward, symlog_backward), vmin=first, vmax=last)


def _good(values: Any) -> Any:
    array = np.ma.asarray(values, np.float64)
    flat = np.atleast_1d(np.ma.getdata(array)).ravel()
    return flat[~(np.ma.getmaskarray(array).ravel() | is_bad(flat))]


def symlog_forward(m: Any) -> Any:
    """Returns log10((m + sqrt(4 + m^2)) / 2), the scale of the Planck collaboration's frequency maps."""
    return np.arcsinh(np.asarray(m, np.float64) / 2) / np.log(10)


def symlog_backward(y: Any) -> Any:
    """Returns the m of symlog_forward(m) = y."""
    return 2 * np.sinh(np.asarray(y, np.float64) * np.log(10))


def create_colormap(cmap: Any, badcolor: Any = "gray", bgcolor: Any = "white") -> Any:
    """Returns a copy of a colour map with colours for bad pixels and for points off the sky.

    cmap: a colour map; the name of one of matplotlib's; planck, planck_log or wmap; or None for matplotlib's default.
    """
    return color_map(cmap, badcolor, bgcolor)


def get_color_table(vmin: float | None, vmax: float | None, val: Any, cmap: Any = None, norm: Any = None,
                    linthresh: float = 1, base: float = 10, linscale: float = 0.1, badcolor: Any = "gray",
                    bgcolor: Any = "white") -> tuple[Any, Any]:
    """Returns a colour map and a norm for values.

    norm: hist, log, symlog, symlog2, None or 'lin' (linear), or a matplotlib norm. linthresh, base, linscale: of
    symlog.
    """
    return create_colormap(cmap, badcolor, bgcolor), _norm(norm, vmin, vmax, val, linthresh, base, linscale)


def _norm(norm: Any, vmin: float | None, vmax: float | None, val: Any, linthresh: float, base: float,
          linscale: float) -> Any:
    if norm is not None and not isinstance(norm, str):
        if norm.vmin is None or norm.vmax is None:
            norm.autoscale_None(_good(val))
        return norm
    kind = "lin" if norm is None else norm.lower()
    classes: dict[str, Callable[..., _EndsNorm]] = {
        "lin": LinNorm2, "log": LogNorm2, "hist": HistEqNorm, "symlog2": _SymLogNorm,
        "symlog": partial(_SymLogNorm, linthresh=linthresh, linscale=linscale, base=base)}
    if kind not in classes:
        raise ValueError(f"norm = {norm!r}: must be hist, log, symlog, symlog2, lin, None or a matplotlib norm")
    result = classes[kind](vmin, vmax)
    result.autoscale_None(val)
    return result


class BoundaryLocator(Locator):
    """Puts N evenly spaced ticks on a colour bar, the first and the last at its ends."""

    def __init__(self, N: int = 2, norm: Any = None) -> None:
        if N < 2:
            raise ValueError(f"N = {N}: must be 2 or more")
        self.N, self.norm = N, norm

    def __call__(self) -> Any:
        first, last = self.axis.get_view_interval()  # type: ignore[union-attr]
        return self.tick_values(first, last)

    def tick_values(self, vmin: float, vmax: float) -> Any:
        if self.norm is None or not hasattr(self.norm, "inverse"):
            return np.linspace(vmin, vmax, self.N)
        ends = np.asarray(self.norm(np.array([vmin, vmax])), float)
        return np.asarray(self.norm.inverse(np.linspace(ends[0], ends[1], self.N)))

"""Scales and colour maps, which turn values into colours."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checked import checked
from ._matplotlib import load

SCALES = ("linear", "log", "symlog", "asinh", "hist")

# planck goes from blue over parchment to red, as the Planck collaboration draws the CMB; wmap is the rainbow of WMAP.
# Both use the control points of pixell (BSD). planck_log extends planck to pale blue, as the collaboration's maps of
# frequencies do.
_PLANCK = [(0, "#0000ff"), (0.332, "#00d7ff"), (0.5, "#ffedd9"), (0.664, "#ffb400"), (0.828, "#ff4b00"), (1, "#640000")]
_WMAP = [(0, "#000080"), (0.15, "#0000ff"), (0.4, "#00ffff"), (0.7, "#ffff00"), (0.9, "#ff5500"), (1, "#800000")]
_PLANCK_LOG = [(0, "#0000ff"), (0.125, "#35d0ff"), (0.19, "#9deefc"), (0.31, "#f2f1ca"), (0.44, "#fad134"),
               (0.5, "#ef930c"), (0.56, "#c03f0a"), (0.625, "#8a0f20"), (0.69, "#7c627d"), (0.75, "#b2b2cc"),
               (1, "#fcfcff")]
COLOR_MAPS = {"planck": _PLANCK, "planck_log": _PLANCK_LOG, "wmap": _WMAP}


def color_map(cmap: Any, bad: Any = None, under: Any = None) -> Any:
    """Returns a copy of a colour map, with these colours for bad values and for values below the range.

    cmap: a colour map; the name of one of matplotlib's; planck, planck_log or wmap, or one of these with _r, which
    reverses it; or None for viridis.
    """
    name = "viridis" if cmap is None else cmap
    if not isinstance(name, str):
        return name.with_extremes(bad=bad, under=under)
    own, known = COLOR_MAPS.get(name.removesuffix("_r")), load("").colormaps
    if own is None and name not in known:
        near = get_close_matches(name, [*COLOR_MAPS, *known], 1) or ["viridis"]
        raise ValueError(f"cmap = {name!r}: must be {', '.join(COLOR_MAPS)} or a colour map of matplotlib, such as {near[0]}")
    chosen = known[name] if own is None else load("colors").LinearSegmentedColormap.from_list(name, own)
    if own is not None and name.endswith("_r"):
        chosen = chosen.reversed()
    return chosen.with_extremes(bad=bad, under=under)


@checked
def robust_limits(values: NDArray[Any], low: float | None, high: float | None, norm: Any = None) -> tuple[float, float]:
    """Returns the range of colours that shows most of the values: the ends given, and for the others these.

    Where both signs are frequent, an end is 2.33 sigma of a Gaussian sky, which is told from its median so that the plane
    of the Galaxy or sources do not widen it, and the range is symmetric about 0. Else the range has 99 % of the values,
    and begins at the least where this is nearly 0. symlog, asinh and hist show all values, log those from the lowest
    hundredth on.
    """
    shown = values[values > 0] if norm == "log" else values
    if (low is None or high is None) and shown.size:
        first, last = _robust_range(shown, norm)
        if first < last:
            low, high = first if low is None else low, last if high is None else high
    return limits(values, low, high, norm == "log")


def _robust_range(values: NDArray[Any], norm: Any) -> tuple[float, float]:
    least, most = float(values.min()), float(values.max())
    if norm == "log":
        return float(np.quantile(values, 0.01)), most
    if norm == "hist":
        return least, most
    n_signs = [np.count_nonzero(values < 0), np.count_nonzero(values > 0)]
    if min(n_signs) > 0.05 * sum(n_signs):
        end = max(-least, most)
        if norm not in ("symlog", "asinh"):
            median, high = np.quantile(np.abs(values), [0.5, 0.98])
            end = float(min(high, max(3.45 * median, high / 20)))  # 2.33 sigma of a Gaussian, whose median is 0.6745 sigma
        return -end, end
    if norm in ("symlog", "asinh"):
        return least, most
    first, last = map(float, np.quantile(values, [0.005, 0.995]))
    first = least if 0 <= least < 0.05 * last else first
    return (first, last) if first < last else (least, most)


@checked
def limits(values: NDArray[Any], low: float | None, high: float | None, log: bool = False) -> tuple[float, float]:
    """Returns the range of colours: the ends given, else the least and the greatest value (for log, positive value).

    A range of zero width is widened by a tenth of its value on each side. Raises ValueError if there is no range.
    """
    shown = values[values > 0] if log else values
    if (low is None or high is None) and not shown.size:
        raise ValueError(f"map: no pixel in view {'is positive' if log else 'has a value'}; give min and max")
    first = float(shown.min() if low is None else low)
    last = float(shown.max() if high is None else high)
    if first == last and (low is None or high is None):
        margin = abs(first) / 10 if first else 1.0
        first, last = (first - margin if low is None else first), (last + margin if high is None else last)
    if not (np.isfinite(first) and np.isfinite(last) and first < last):
        raise ValueError(f"min = {first}, max = {last}: must be two finite numbers, the first below the second")
    if log and first <= 0:
        raise ValueError(f"min = {first}: must be above 0 on a logarithmic scale")
    return first, last


@checked
def scale(name: Any, values: NDArray[Any], low: float | None = None, high: float | None = None,
          linear_width: float | None = None) -> Any:
    """Returns a matplotlib norm for linear, log, symlog, asinh or hist; a norm is returned as it is.

    values: the good values in view. linear_width: the range that symlog and asinh show linearly, by default the median
    of |value|.
    """
    if name is not None and not isinstance(name, str):
        for option, value in (("min", low), ("max", high), ("linear_width", linear_width)):
            if value is not None:
                raise ValueError(f"{option} = {value}: has no effect with norm = {name!r}, which has ends of its own: "
                                 "leave one of them out")
        return name
    kind = (name or "linear").lower()
    if kind not in SCALES:
        raise ValueError(f"norm = {name!r}: must be one of {', '.join(SCALES)}, or a matplotlib norm")
    if linear_width is not None and kind not in ("symlog", "asinh"):
        raise ValueError(f"linear_width: is for symlog and asinh, not for norm = {kind!r}")
    first, last = limits(values, low, high, kind == "log")
    colors = load("colors")
    if kind in ("symlog", "asinh"):
        width = linear_width
        if width is None:
            width = float(np.median(np.abs(values))) if values.size else 0.0
            width = max(width, 1e-6 * max(abs(first), abs(last)))
        return colors.SymLogNorm(width, vmin=first, vmax=last) if kind == "symlog" else \
            colors.AsinhNorm(width, vmin=first, vmax=last)
    if kind == "hist":
        return equalised(values, first, last)
    return colors.LogNorm(first, last) if kind == "log" else colors.Normalize(first, last)


@checked
def equalised(values: NDArray[Any], first: float, last: float) -> Any:
    """Returns a norm that gives each colour to the same number of the values from first to last."""
    inside = values[(values >= first) & (values <= last)]
    if not inside.size:
        raise ValueError(f"min = {first}, max = {last}: no pixel in view lies within, so norm = 'hist' has no colours")
    steps = np.unique(np.concatenate([[first], np.quantile(inside, np.linspace(0, 1, 1025)), [last]]))
    # Equal values share the middle of their places, so that a mask of 0 and 1 keeps two colours.
    ordered = np.sort(inside)
    places = (np.searchsorted(ordered, steps, "left") + np.searchsorted(ordered, steps, "right")) / (2 * inside.size)
    places[0], places[-1] = 0, 1
    places = np.maximum.accumulate(places) + np.linspace(0, 1e-9, places.size)  # FuncNorm can only invert what rises
    places = (places - places[0]) / (places[-1] - places[0])
    return load("colors").FuncNorm((lambda x: np.interp(x, steps, places), lambda p: np.interp(p, places, steps)),
                                   vmin=first, vmax=last)


__all__ = ["COLOR_MAPS", "SCALES", "color_map", "equalised", "limits", "scale"]

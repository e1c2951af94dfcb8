"""Pictures of power spectra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checked import checked
from .._units import quantity_unit, text_of
from ._matplotlib import axes_of, load
from .units import typeset

Spectra = ArrayLike | Mapping[str, ArrayLike]
# Okabe and Ito's, which the colour-blind tell apart.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


class Curve(NamedTuple):
    name: str
    l: NDArray[np.int64]
    values: NDArray[np.float64]
    errors: NDArray[np.float64] | None
    look: dict[str, Any]


@checked
def spectrum(cl: Spectra, theory: Spectra | None = None, *, errors: Spectra | None = None, names: tuple[str, ...] | None = None,
             lmin: int = 2, lmax: int | None = None, dl: bool = True, log_x: bool = False, log_y: bool | None = None,
             unit: str | None = None, title: str = "", ax: Any = None, **style: Any) -> Any:
    """Draws power spectra, and returns the axes.

    cl: C_l from l = 0 on, [lmax + 1], or a mapping from names (TT, EE, ...) to such spectra, as `zonal.alm2cl` returns.
    theory: spectra of the same form, drawn as lines; cl are then drawn as points. errors: one sigma of cl, of the same
    form, drawn as bars. names: the spectra to draw, by default all of cl.
    lmin, lmax: the degrees drawn, by default up to the end of each spectrum. dl: draws l(l+1)C_l/2pi in place of C_l.
    log_y: draws |C_l| on a logarithmic axis, what is negative dashed or as hollow points; by default where the spectra
    span much. unit: of C_l, by default that of Quantities. style: as for matplotlib's plot.
    """
    measured, expected = _named(cl, "cl"), {} if theory is None else _named(theory, "theory")
    sigmas = {} if errors is None else _named(errors, "errors")
    chosen = tuple(measured) if names is None else names
    for name in chosen:
        if name not in measured:
            raise ValueError(f"names = {names}: must be names of cl, which has {', '.join(measured)}")
    for given, what in ((expected, "theory"), (sigmas, "errors")):
        if given and names is None and not set(chosen) & set(given):
            raise ValueError(f"{what}: has {', '.join(given)}, and none of the spectra of cl")
    if unit is None:
        unit = text_of(quantity_unit(next(iter(cl.values()), None) if isinstance(cl, Mapping) else cl))
    points, lines = [], []
    for number, name in enumerate(chosen):
        color = style.get("color", COLORS[number % len(COLORS)])
        look = {"linestyle": "none", "marker": ".", "markersize": 3} if expected or sigmas else {"linewidth": 1.3}
        look |= {"color": color, "label": name or None} | style
        points.append(_curve(name, measured[name], sigmas.get(name), lmin, lmax, dl, look))
        if "marker" not in points[-1].look and _is_noisy(points[-1].values):  # thin, so that others are seen beneath
            points[-1].look.update({"linewidth": 0.7, "alpha": 0.6} | style)
        if name in expected:
            end = measured[name].size - 1 if lmax is None else lmax
            lines.append(_curve(name, expected[name], None, lmin, end, dl, {"color": _darkened(color), "linewidth": 1}))
    longest = max((measured[name].size for name in chosen), default=0) - 1
    if lmax is not None and lmax > longest:
        raise ValueError(f"lmax = {lmax}: must be at most {longest}, where the spectra end")
    if log_x and lmin == 0:
        raise ValueError("lmin = 0: must be at least 1 on a logarithmic axis")
    if not any((np.isfinite(curve.values) & (curve.values != 0)).any() for curve in points):
        raise ValueError("cl: has no finite value other than zero to draw")
    ax = axes_of(ax)
    is_log = _spans_much(points + lines) if log_y is None else log_y
    ax.set_yscale("log" if is_log else "linear")
    has_negative = [draw(ax, curve, is_log) for curve in points + lines]
    if is_log and any(has_negative):
        hollow = {"linestyle": "none", "marker": "o", "markersize": 3, "fillstyle": "none"}
        ax.plot([], [], color="#5a5a5a", label="negative", **hollow if expected or sigmas else {"linestyle": "--"})
    if is_log:
        ax.set_ylim(*_log_range(points + lines, log_x))
    _number_degrees(ax, lmin, max(int(curve.l[-1]) for curve in points + lines), log_x)
    ax.set_ylabel((r"$\ell(\ell+1)C_\ell/2\pi$" if dl else r"$C_\ell$") + (f"  [{typeset(unit)}]" if unit else ""))
    ax.set_title(title)
    dress(ax)
    if any(chosen):
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), framealpha=1, fontsize="small", handlelength=1.5, borderaxespad=0.3)
    return ax


def _number_degrees(ax: Any, first: int, last: int, is_log: bool) -> None:
    if is_log:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(load("ticker").LogLocator(subs=(1, 2, 5) if last < 100 * first else (1,)))
        ax.xaxis.set_major_formatter(load("ticker").ScalarFormatter())
        ax.xaxis.set_minor_formatter(load("ticker").NullFormatter())
    ax.set_xlim(first if is_log or first > 2 else 0, last)
    ax.set_xlabel(r"Multipole $\ell$")


def dress(ax: Any) -> None:
    """Gives axes of a graph a faint grid, ticks inside, and powers of ten as they are written."""
    ax.grid(color="0.88", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(which="both", direction="in", top=True, right=True)
    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_formatter(), load("ticker").ScalarFormatter):
            axis.get_major_formatter().set_useMathText(True)


def draw(ax: Any, curve: Curve, is_log: bool) -> bool:
    """Draws a curve, on a logarithmic axis its negative parts apart as |values|; whether it has such."""
    negative = curve.values < 0
    if curve.errors is not None:
        look = {key: value for key, value in curve.look.items() if key != "label"} | {"elinewidth": 0.8}
        ax.errorbar(curve.l, np.abs(curve.values) if is_log else curve.values, curve.errors, **look | {"marker": "none"})
    if not is_log:
        ax.plot(curve.l, curve.values, **curve.look)
        return False
    ax.plot(curve.l, np.where(negative, np.nan, curve.values), **curve.look)
    if negative.any():
        apart = {"fillstyle": "none"} if curve.look.get("linestyle") == "none" else {"linestyle": "--"}
        ax.plot(curve.l, np.where(negative, -curve.values, np.nan), **curve.look | apart | {"label": None})
    return bool(negative.any())


def _spans_much(curves: list[Curve]) -> bool:
    """Whether a curve of one sign spans more than 1e4, or the curves' peaks differ by more than 30."""
    sizes = [np.abs(curve.values[(curve.values != 0) & np.isfinite(curve.values)]) for curve in curves]
    steep = any(size.size and size.max() > 1e4 * size.min() and not (curve.values < 0).any() for size, curve in zip(sizes, curves))
    peaks = [size.max() for size in sizes if size.size]
    return bool(peaks) and (steep or max(peaks) > 30 * min(peaks))


def _is_noisy(values: NDArray[np.float64]) -> bool:
    """Whether a curve jumps from l to l, as an estimate from one sky does."""
    if values.size < 100:
        return False
    bends = np.abs(values[:-2] - 2 * values[1:-1] + values[2:])
    return bool(np.nanmedian(bends) > 0.01 * np.nanmedian(np.abs(values[1:-1])))


def _log_range(curves: list[Curve], log_x: bool) -> tuple[float, float]:
    """The ends of a logarithmic axis, which no zero crossing and no single small value stretches; 12 decades at most.

    log_x: low degrees take much of the picture, and are shown."""
    low, high = np.inf, 0.0
    for curve in curves:
        sizes = np.abs(curve.values[(curve.values != 0) & np.isfinite(curve.values)])
        if sizes.size:
            low = min(low, float(np.quantile(sizes, 0.03 if (curve.values < 0).any() else 0.0 if log_x else 0.005, method="lower")))
            high = max(high, float(sizes.max()))
    return max(low, 1e-12 * high) / 1.5, 2 * high


def _darkened(color: Any) -> Any:
    """Of theory, so that it is seen on its points."""
    return tuple(0.55 * part for part in load("colors").to_rgb(color))


def _named(spectra: Spectra, name: str) -> dict[str, NDArray[np.float64]]:
    if isinstance(spectra, Mapping):
        return {key: _vector(f"{name}[{key!r}]", values) for key, values in spectra.items()}
    return {"": _vector(name, spectra)}


def _vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    vector = np.asarray(values, np.float64)
    if vector.ndim != 1 or not vector.size:
        raise ValueError(f"{name}: has shape {vector.shape}: must be [lmax + 1]")
    return vector


def _curve(name: str, c_l: NDArray[np.float64], sigma: NDArray[np.float64] | None, lmin: int, lmax: int | None, dl: bool,
           look: dict[str, Any]) -> Curve:
    last = c_l.size - 1 if lmax is None else min(lmax, c_l.size - 1)
    if not 0 <= lmin <= last:
        raise ValueError(f"lmin = {lmin}, lmax = {last}: must be 0 or more, and lmin at most lmax")
    if sigma is not None and sigma.size <= last:
        raise ValueError(f"errors: end at l = {sigma.size - 1}: must reach l = {last}, as cl")
    l = np.arange(lmin, last + 1)
    factor = l * (l + 1) / (2 * np.pi) if dl else np.ones(l.size)
    return Curve(name, l, c_l[l] * factor, None if sigma is None else sigma[l] * factor, look)


__all__ = ["dress", "spectrum"]

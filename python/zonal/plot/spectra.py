"""Pictures of power spectra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checked import checked
from .._units import quantity_unit, text_of
from ._matplotlib import axes_of

Spectra = ArrayLike | Mapping[str, ArrayLike]


@checked
def spectrum(cl: Spectra, theory: Spectra | None = None, *, names: tuple[str, ...] | None = None, lmin: int = 2,
             lmax: int | None = None, dl: bool = True, log_x: bool = False, log_y: bool = False, unit: str | None = None,
             ax: Any = None, **style: Any) -> Any:
    """Draws power spectra, and returns the axes.

    cl: C_l from l = 0 on, [lmax + 1], or a mapping from names (TT, EE, ...) to such spectra, as `zonal.alm2cl` returns.
    theory: spectra of the same form, drawn as lines; cl are then drawn as points. names: the spectra to draw, by
    default all of cl.
    lmin, lmax: the degrees drawn, by default up to the end of each spectrum. dl: draws l(l+1)C_l/2pi in place of C_l.
    unit: of C_l, by default that of Quantities. style: as for matplotlib's plot.
    """
    measured, expected = _named(cl, "cl"), {} if theory is None else _named(theory, "theory")
    chosen = tuple(measured) if names is None else names
    for name in chosen:
        if name not in measured:
            raise ValueError(f"names = {names}: must be names of cl, which has {', '.join(measured)}")
    if names is None and theory is not None and not set(chosen) & set(expected):
        raise ValueError(f"theory: has {', '.join(expected)}, and none of the spectra of cl")
    if unit is None:
        unit = text_of(quantity_unit(next(iter(cl.values()), None) if isinstance(cl, Mapping) else cl))
    ax = axes_of(ax)
    for number, name in enumerate(chosen):
        color = style.get("color", f"C{number}")
        look = {"linestyle": "none", "marker": ".", "markersize": 3} if expected else {}
        _plot(ax, measured[name], lmin, lmax, dl, look | {"color": color, "label": name or None} | style)
        if name in expected:
            end = measured[name].size - 1 if lmax is None else lmax
            _plot(ax, expected[name], lmin, end, dl, {"color": color, "linewidth": 1})
    ax.set_xlabel(r"$\ell$")
    ax.set_ylabel((r"$\ell(\ell+1)C_\ell/2\pi$" if dl else r"$C_\ell$") + (f" [{unit}]" if unit else ""))
    ax.set_xscale("log" if log_x else "linear")
    ax.set_yscale("log" if log_y else "linear")
    if any(chosen):
        ax.legend()
    return ax


def _named(spectra: Spectra, name: str) -> dict[str, NDArray[np.float64]]:
    if isinstance(spectra, Mapping):
        return {key: _vector(f"{name}[{key!r}]", values) for key, values in spectra.items()}
    return {"": _vector(name, spectra)}


def _vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    vector = np.asarray(values, np.float64)
    if vector.ndim != 1 or not vector.size:
        raise ValueError(f"{name}: has shape {vector.shape}: must be [lmax + 1]")
    return vector


def _plot(ax: Any, c_l: NDArray[np.float64], lmin: int, lmax: int | None, dl: bool, style: dict[str, Any]) -> None:
    last = c_l.size - 1 if lmax is None else min(lmax, c_l.size - 1)
    if not 0 <= lmin <= last:
        raise ValueError(f"lmin = {lmin}, lmax = {last}: must be 0 or more, and lmin at most lmax")
    l = np.arange(lmin, last + 1)
    ax.plot(l, c_l[l] * (l * (l + 1) / (2 * np.pi) if dl else 1), **style)


__all__ = ["spectrum"]

"""Pictures of band powers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._matplotlib import axes_of
from .spectra import COLORS, dress
from .units import typeset

if TYPE_CHECKING:
    from ..spectra.bins import Bins

Curve = tuple[Any, NDArray[np.float64], "NDArray[np.float64] | None", "NDArray[np.float64] | None", "ArrayLike | None"]
"""Key, bands, errors, the bands' theory, and C_l."""


def draw_bands(bins: Bins, curves: list[Curve], unit: str, log_x: bool, ax: Any, style: dict[str, Any]) -> Any:
    """Draws bands with their widths; errors as bars, the bands' theory as steps, and C_l as a line."""
    ax = axes_of(ax)
    edges = np.stack([bins.first - 0.5, bins.last + 0.5])
    l_eff = bins.l_eff
    for number, (key, bands, errors, theory, c_l) in enumerate(curves):
        color = style.get("color", COLORS[number % len(COLORS)])
        label = key if isinstance(key, str) else f"{key[0]} {key[1]}x{key[2]}"
        look: dict[str, Any] = {"fmt": ".", "color": color, "label": label, "elinewidth": 0.9} | style
        ax.errorbar(l_eff, bands, errors, np.abs(edges - l_eff), **look)
        if theory is not None:
            ax.hlines(theory, *edges, color=color, alpha=0.5, linewidth=1.5)
        if c_l is not None:
            l = np.arange(bins.first[0], bins.lmax + 1)
            factor = l * (l + 1) / (2 * np.pi) if bins.dl else 1.0
            ax.plot(l, np.asarray(c_l, np.float64)[l] * factor, color=color, linewidth=0.8)
    if log_x:
        ax.set_xscale("log")
    ax.set_xlabel(r"Multipole $\ell$")
    ax.set_ylabel((r"$\ell(\ell+1)C_\ell/2\pi$" if bins.dl else r"$C_\ell$") + (f"  [{typeset(f'({unit})^2')}]" if unit else ""))
    ax.axhline(0, color="0.6", linewidth=0.6, zorder=0)
    dress(ax)
    ax.legend(fontsize="small")
    return ax

"""Graphs and pictures that the tool draws of kernel splits and of solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .colors import robust_limits
from .projections import Gnomonic, Mollweide
from .sky import draw
from .spectra import COLORS, dress

_STYLES: dict[str, dict[str, Any]] = {"line": {}, "dashes": {"linestyle": "--"},
                                      "points": {"linestyle": "none", "marker": "o", "markersize": 3}}


def draw_graph(ax: Any, graph: dict[str, Any]) -> None:
    """Draws curves into axes: {"title", "x_name", "y_name", "log_y", "y_range", "level", "curves"}."""
    if graph["log_y"]:
        ax.set_yscale("log", nonpositive="mask")
    for curve in graph["curves"]:
        ax.plot(np.array(curve["x"], float), np.array(curve["y"], float), color=COLORS[curve["color"] % len(COLORS)],
                linewidth=1.2, label=curve["name"] or None, **_STYLES[curve["style"]])
    if "level" in graph:
        ax.axhline(graph["level"], color="0.45", linestyle="--", linewidth=0.9)
    if "y_range" in graph:
        ax.set_ylim(*graph["y_range"])
    ax.set_xlabel(graph["x_name"])
    ax.set_ylabel(graph["y_name"])
    ax.set_title(graph["title"])
    dress(ax)
    if any(curve["name"] for curve in graph["curves"]):
        ax.legend(framealpha=0.85)


def draw_split(figure: Any, rows: list[list[dict[str, Any]]], maps: NDArray[np.float64]) -> None:
    """Draws rows of maps, {"title", "map", "colors_of", "size"}, and of graphs."""
    for part, row in zip(figure.subfigures(len(rows), 1), rows):
        for ax, panel in zip(part.subplots(1, len(row), squeeze=False)[0], row):
            if "map" not in panel:
                draw_graph(ax, panel)
                continue
            like = maps[panel.get("colors_of", panel["map"])]
            low, high = robust_limits(like[::1 + like.size // 1_000_000], None, None)  # a million say what the range is
            zoom = "size" in panel
            projection = Gnomonic(True, np.tan(panel["size"] / 2)) if zoom else Mollweide()
            draw(maps[panel["map"]], projection, rot=("45deg", "20deg") if zoom else None, min=low, max=high,
                 title=panel["title"], graticule=False, width=600, ax=ax)


__all__ = ["draw_graph", "draw_split"]

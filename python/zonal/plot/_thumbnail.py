"""The picture that a zonal.Map shows of itself in a notebook."""

from __future__ import annotations

import base64
import html as escapes
import io

import numpy as np

from .. import plot
from .._pixels import is_bad
from ..sky_map import Map
from ._matplotlib import load

_MOST_ROWS = 3


def png(sky: Map) -> bytes | None:
    """The first three rows of a HEALPix map by Mollweide, side by side, as a PNG file; None for other grids.

    None, too, where matplotlib is missing: a notebook then shows the text alone.
    """
    if not sky.nside:
        return None
    try:
        figure_type = load("figure").Figure
    except ImportError:
        return None
    rows = np.atleast_2d(sky.values)[:_MOST_ROWS]
    # A figure that pyplot does not know of, so that nobody shows it a second time or has to close it.
    figure = figure_type(figsize=(5.2 * len(rows), 3.6), layout="constrained")
    for i, row in enumerate(rows):
        seen = ~is_bad(row).all()
        plot.mollweide(row if seen else None, nest=sky.nest, unit=sky.units[i], title=sky.columns[i] if sky.columns else "",
                       width=600, graticule=False, ax=figure.add_subplot(1, len(rows), i + 1))
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100, bbox_inches="tight")
    return file.getvalue()


def html(sky: Map) -> str:
    """The text of a map, and the picture below it."""
    picture = png(sky)
    text = f"<div><code>{escapes.escape(repr(sky))}</code></div>"
    if picture is None:
        return text
    return f'{text}<img src="data:image/png;base64,{base64.b64encode(picture).decode()}" alt="the map in Mollweide\'s projection">'

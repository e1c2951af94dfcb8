"""Pictures of maps and spectra on matplotlib: pip install 'zonal[plot]'.

The functions return matplotlib's axes, whose figure saves itself: `ax.figure.savefig("sky.pdf")`. All views of a map,
[pixel], or of None, an empty sky to draw on, take these options:

- nest: the map is in nest order.
- flip: "astro" draws east to the left, as the sky is seen, "geo" to the right.
- rot: (lon, lat) of the middle, or (lon, lat, turn), with the picture turned clockwise. Angles are rad, or texts.
- coord: the letter (G, E or C) of the map's coordinates, or two, and the picture is in the second; rot is, too.
- mask: [pixel]; where it is 0, where the map is UNSEEN or not finite, the picture has the bad_color.
- min, max: ends of the colours, by default those of the pixels in view. cmap: a name of matplotlib's, planck or wmap.
- norm: linear, log, symlog, asinh, hist (each colour for equally many pixels), or a norm of matplotlib's;
  linear_width: what symlog and asinh show linearly.
- unit, title, colorbar, graticule (True draws one; call `graticule` for more). width: of the raster, pixels.
- ax: axes to draw into; by default those of a new figure.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .overlay import graticule, line, points, polarization, text
    from .sky import azimuthal, cartesian, draw, gnomonic, mollweide, orthographic, polar
    from .spectra import spectrum
else:
    # Programs that draw nothing should not wait for this code either.
    _HOMES = {"overlay": ("graticule", "line", "points", "polarization", "text"), "spectra": ("spectrum",),
              "sky": ("azimuthal", "cartesian", "draw", "gnomonic", "mollweide", "orthographic", "polar")}

    def __getattr__(name: str) -> Any:
        for home, names in _HOMES.items():
            if name in names:
                return getattr(importlib.import_module(f"{__name__}.{home}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = ["azimuthal", "cartesian", "draw", "gnomonic", "graticule", "line", "mollweide", "orthographic", "points",
           "polar", "polarization", "spectrum", "text"]

"""Draws maps and spectra with matplotlib: pip install 'zonal[plot]'.

Views and `spectrum` return matplotlib's axes; `ax.figure.savefig("sky.pdf")` saves the picture. All views draw a map,
[pixel], a `zonal.Map` or a Quantity of one, or for None an empty sky to draw on. They take these options:

- nest: the map is in nest order. A Map says so itself.
- flip: "astro" draws east to the left, as the sky is seen; "geo" draws it to the right.
- rot: (lon, lat) of the middle, or (lon, lat, turn), which turns the picture clockwise. Angles are rad, or strings.
- coord: the letter (G, E or C) of the map's coordinates; or two, and then the picture and rot are in the second.
  By default that of a Map.
- mask: [pixel]. The picture has bad_color where the mask is 0 and where the map is UNSEEN or not finite.
- min, max: the ends of the colours, by default those of the values in view.
- cmap: a matplotlib colour map or its name, or planck, planck_log or wmap.
- norm: linear, log, symlog, asinh, hist (each colour covers the same number of pixels), or a matplotlib norm.
- linear_width: the range around 0 that symlog and asinh show linearly.
- unit (by default that of a Map or Quantity), title, colorbar, graticule (True draws one; call `graticule` for its options).
- width: of the raster, pixels.
- ax: the axes to draw into; by default those of a new figure.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .overlay import graticule, line, points, polarization, text
    from .sky import azimuthal, cartesian, draw, gnomonic, mollweide, orthographic, polar
    from .spectra import spectrum
else:
    # Programs that draw nothing should not have to wait for this code.
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

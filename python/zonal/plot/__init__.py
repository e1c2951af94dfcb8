"""Draws maps and spectra with matplotlib: pip install 'zonal[plot]'.

Views and `spectrum` return matplotlib's axes; `ax.figure.savefig("sky.pdf")` saves the picture. All views draw a map,
[pixel], a `zonal.Map` or a Quantity of one, or for None an empty sky to draw on. They take these options:

- nest: the map is in nest order. A Map says so itself.
- flip: "astro" draws east to the left, as the sky is seen; "geo" draws it to the right.
- rot: (lon, lat) of the middle, or (lon, lat, turn), which turns the picture clockwise. Angles are rad, or strings.
- coord: the letter (G, E or C) of the map's coordinates; or two, and then the picture and rot are in the second.
  By default that of a Map.
- mask: [pixel]. The picture has bad_color where the mask is 0 and where the map is UNSEEN or not finite.
- min, max: the ends of the colours. By default they show nearly all values in view, symmetrically about 0 where both signs
  are frequent (`zonal.plot.colors.robust_limits`); the bar is pointed where values lie beyond.
- cmap: a matplotlib colour map or its name, or planck, planck_log or wmap; by default coolwarm if the range is symmetric about
  0, else viridis.
- norm: linear, log, symlog, asinh, hist (each colour covers the same number of pixels), or a matplotlib norm.
- linear_width: the range around 0 that symlog and asinh show linearly.
- unit (by default that of a Map or Quantity), title (by default the column of a Map), colorbar, graticule (True; call
  `graticule` for other lines than those that suit the view).
- width: of the raster, pixels.
- ax: the axes to draw into; by default those of a new figure.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .._names import no_attribute

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
        raise no_attribute(__name__, name, __all__, f"it is zonal.plot.{OF_HEALPY[name]}" if name in OF_HEALPY else "")

    def __dir__() -> list[str]:
        return list(__all__)


__all__ = ["azimuthal", "cartesian", "draw", "gnomonic", "graticule", "line", "mollweide", "orthographic", "points",
           "polar", "polarization", "spectrum", "text"]

OF_HEALPY = {"azeqview": "azimuthal", "cartview": "cartesian", "gnomview": "gnomonic", "graticule": "graticule", "mollview": "mollweide",
             "orthview": "orthographic", "projplot": "line", "projscatter": "points", "projtext": "text"}
"""What healpy calls them."""

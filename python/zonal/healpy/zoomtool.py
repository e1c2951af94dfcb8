"""healpy's mollzoom: the whole sky, and in another figure the part that was clicked on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plot._matplotlib import load
from ._checked import checked
from .visufunc import _current, fitted_out, gnomview, mollview

_RESOLUTIONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 30.0)  # arcmin
_last: list[ZoomTool] = []


@checked
def mollzoom(map: Any = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str | None = "", xsize: int = 800,
             title: str | None = "Mollweide view", nest: bool = False, min: float | None = None, max: float | None = None,
             flip: str = "astro", remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0,
             format: str | None = "%g", cmap: Any = None, norm: Any = None, hold: bool = False, margins: Any = None,
             sub: Any = None) -> None:
    """Draws the sky as mollview does, and in another figure a gnomonic view around the last point clicked.

    In an interactive window a click moves the view, the keys r and t make its pixels smaller and larger, and g draws or
    removes its graticule. The arguments are those of mollview.
    """
    if map is None:
        raise ValueError("map: must be given: without one there is nothing to zoom in on")
    mollview(map, fig, rot, coord, unit, xsize, title, nest, min, max, flip, remove_dip, remove_mono, gal_cut, format,
             cmap=cmap, norm=norm, hold=hold, margins=margins, sub=sub)
    sky = fitted_out(np.ma.asarray(map).reshape(-1), remove_dip, remove_mono, gal_cut, nest)
    _last[:] = [ZoomTool(sky, nest=nest, cmap=cmap, norm=norm, coord=coord)]


@checked
def set_g_clim(vmin: float, vmax: float) -> None:
    """Sets the ends of the colours of the gnomonic view of the last mollzoom."""
    if not _last:
        raise ValueError("set_g_clim: there is no view; call mollzoom first")
    if not -math.inf < vmin < vmax < math.inf:
        raise ValueError(f"vmin = {vmin}, vmax = {vmax}: must be two finite numbers, the first below the second")
    _last[0].limits = vmin, vmax
    _last[0].draw_gnom()


class ZoomTool:
    """The gnomonic view that belongs to the current axes, which show the whole map m."""

    @checked
    def __init__(self, m: Any, fig: Any = None, nest: bool = False, cmap: Any = None, norm: Any = None,
                 coord: Any = None) -> None:
        self.m, self._options = m, {"nest": nest, "cmap": cmap, "norm": norm, "coord": coord}
        self._sky = _current()
        self._flip = "astro" if self._sky.proj._east_left else "geo"
        pyplot = load("pyplot")
        self._figure = pyplot.figure(fig, figsize=(5.8, 6.4))
        self._step, self._graticule = 3, False
        self.limits: tuple[float | None, float | None] = (None, None)
        self.lon, self.lat = (float(angle) for angle in self._sky.proj.get_center(lonlat=True))
        self._marker = self._sky.projplot([self.lon], [self.lat], "k+", lonlat=True)[0]
        self.draw_gnom()
        self.connect_callbacks()
        pyplot.figure(self._sky.figure.number)
        pyplot.sca(self._sky)

    def get_reso(self) -> float:
        """Returns the size of the view's raster pixels, arcmin."""
        return _RESOLUTIONS[self._step]

    def connect_callbacks(self) -> None:
        """Starts listening to clicks on the sky and to keys."""
        canvases = self._sky.figure.canvas, self._figure.canvas
        self._callbacks = [(canvases[0], canvases[0].mpl_connect("button_press_event", self._on_click))]
        self._callbacks += [(canvas, canvas.mpl_connect("key_press_event", self._on_key)) for canvas in canvases]

    def disconnect_callbacks(self) -> None:
        """Stops listening."""
        for canvas, number in self._callbacks:
            canvas.mpl_disconnect(number)
        self._callbacks = []

    def _on_click(self, event: Any) -> None:
        if event.inaxes is self._sky:
            lon, lat = self._sky.get_lonlat(event.xdata, event.ydata)
            if np.isfinite(lon):
                self.draw_gnom(float(lon), float(lat))

    def _on_key(self, event: Any) -> None:
        if event.key in ("r", "t"):
            self._step = int(np.clip(self._step + (1 if event.key == "t" else -1), 0, len(_RESOLUTIONS) - 1))
        elif event.key == "g":
            self._graticule = not self._graticule
        else:
            return
        self.draw_gnom()

    @checked
    def draw_gnom(self, lon: float | None = None, lat: float | None = None) -> None:
        """Draws the view around a point, deg, or again around the last one."""
        pyplot = load("pyplot")
        if lon is not None and lat is not None:
            self.lon, self.lat = lon, lat
            self._marker.remove()
            self._marker = self._sky.projplot([lon], [lat], "k+", lonlat=True)[0]
        self._figure.clf()
        gnomview(self.m, fig=self._figure.number, rot=(self.lon, self.lat), reso=self.get_reso(), flip=self._flip,
                 min=self.limits[0], max=self.limits[1], **self._options)
        if self._graticule:
            _current().graticule()
        self._figure.canvas.draw_idle()
        self._sky.figure.canvas.draw_idle()
        pyplot.sca(self._sky)


__all__ = ["ZoomTool", "mollzoom", "set_g_clim"]

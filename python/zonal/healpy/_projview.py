"""The parts of projview: its axes, grid, texts and colour bar. This module imports matplotlib."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, Formatter, NullFormatter

from .visufunc import no_effect, placed

GLOBES = ("mollweide", "hammer", "aitoff", "lambert")
FONT_KEYS = ("xlabel", "ylabel", "title", "xtick_label", "ytick_label", "cbar_label", "cbar_tick_label")
_COMMON = {"cbar_tick_direction": "out", "figure_width": 8.5, "figure_size_ratio": 0.63}
PROPERTIES: dict[str, dict[str, Any]] = {
    "horizontal": {"cbar_shrink": 0.6, "cbar_pad": 0.05, "cbar_label_pad": -8, "vertical_tick_rotation": 90} | _COMMON,
    "vertical": {"cbar_shrink": 0.6, "cbar_pad": 0.03, "cbar_label_pad": -8, "vertical_tick_rotation": 90} | _COMMON,
}
_CHOICES = {
    "projection_type": (*GLOBES, "cart", "polar", "3d"), "cb_orientation": tuple(PROPERTIES),
    "flip": ("astro", "geo"), "phi_convention": ("counterclockwise", "clockwise", "symmetrical"),
    "extend": (None, "min", "max", "neither", "both"),
}


@dataclass
class Picture:
    """The arguments of projview that decide how the picture looks."""

    rot: Any
    coord: Any
    unit: str
    flip: str
    format: str
    graticule: bool
    graticule_labels: bool
    graticule_coord: Any
    projection_type: str
    cb_orientation: str
    xlabel: str | None
    ylabel: str | None
    longitude_grid_spacing: float
    latitude_grid_spacing: float
    title: str | None
    rlabel: str | None
    llabel: str | None
    xtick_label_color: Any
    ytick_label_color: Any
    graticule_color: Any
    fontname: str | None
    phi_convention: str
    custom_xtick_labels: Any
    custom_ytick_labels: Any
    cbar_ticks: Any
    show_tickmarkers: bool
    extend: str | None
    invRot: bool
    latra: Any
    lonra: Any

    @classmethod
    def names(cls) -> set[str]:
        """The names of the arguments that it holds."""
        return {field.name for field in fields(cls)}

    @property
    def on_globe(self) -> bool:
        """Whether the projection shows the whole sphere in an ellipse or a disc."""
        return self.projection_type in GLOBES

    def check(self) -> None:
        """Raises ValueError for values that do not exist or do not fit together."""
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} = {getattr(self, name)!r}: must be one of {', '.join(map(repr, allowed))}")
        for name, kinds in (("lonra", ("cart",)), ("latra", ("cart", "lambert"))):
            if getattr(self, name) is not None and self.projection_type not in kinds:
                raise ValueError(f"{name} cannot be set for projection_type='{self.projection_type}': only for "
                                 f"{' and '.join(kinds)}")
        for name, most in (("longitude_grid_spacing", 360), ("latitude_grid_spacing", 180)):
            if not 0 < getattr(self, name) <= most:
                raise ValueError(f"{name} = {getattr(self, name)}: must be above 0 and at most {most} deg")
        for name, widest in (("lonra", 180), ("latra", 90)):
            _range(name, getattr(self, name), widest)

    def places(self, xsize: int) -> tuple[Any, Any]:
        """x, [xsize], and y, [xsize / 2], of the mesh, rad; x descends if longitude grows to the left."""
        if xsize < 2:
            raise ValueError(f"xsize = {xsize}: must be 2 or more")
        first, last = _range("lonra", self.lonra, 180)
        x = np.radians(np.linspace(first, last, xsize))
        y = np.radians(np.linspace(*_range("latra", self.latra, 90), xsize // 2))
        return (-x if self.flip == "astro" else x), y

    def frame(self, ax: Any) -> None:
        """Sets the ranges of the axes, and notes for newprojplot which way longitude grows."""
        ax.healpy_flip = self.flip
        if self.projection_type == "cart":
            x, y = (np.radians(_range(name, getattr(self, name), widest)) for name, widest in (("lonra", 180),
                                                                                              ("latra", 90)))
            ax.set(xlim=-x[::-1] if self.flip == "astro" else x, ylim=y, aspect="equal")
        elif self.projection_type == "polar":
            ax.set_rlim(-np.pi / 2, np.pi / 2)
        elif self.projection_type == "3d":
            ax.set(xlim=(-np.pi, np.pi), ylim=(-np.pi / 2, np.pi / 2), box_aspect=(2, 1, 1))

    def grid(self, ax: Any, longitudes: Formatter, latitudes: Formatter, fonts: dict[str, Any]) -> None:
        """Draws lines of longitude and latitude and their labels, if they were asked for."""
        lon, lat = self.longitude_grid_spacing, self.latitude_grid_spacing
        first, last = (0, 359.999) if self.projection_type == "polar" else (-179.999, 179.999) if self.on_globe else \
            (-180, 180)
        steps = np.arange(np.ceil(first / lon), np.floor(last / lon) + 1) * lon
        pole = 89.999 if self.on_globe else 90.0
        rises = np.arange(np.ceil(-pole / lat), np.floor(pole / lat) + 1) * lat
        shown = self.graticule or self.graticule_labels
        if self.on_globe:
            ax.set_longitude_grid_ends(90)
        for axis, places, formatter, name, custom in (
                (ax.xaxis, steps, longitudes, "xtick", self.custom_xtick_labels),
                (ax.yaxis, rises, latitudes, "ytick", self.custom_ytick_labels)):
            axis.set_major_locator(FixedLocator(np.radians(places).tolist() if shown else []))
            axis.set_major_formatter(formatter if self.graticule_labels else NullFormatter())
            if custom is not None:
                axis.set_ticks(np.radians(places), custom)
            color = getattr(self, f"{name}_label_color")
            for label in axis.get_ticklabels():
                label.set(color=color, fontname=self.fontname)
            axis.set_tick_params(labelcolor=color)
            if fonts[f"{name}_label"] is not None:
                axis.set_tick_params(labelsize=fonts[f"{name}_label"])
        ax.grid(False)
        if self.graticule:
            ax.grid(True, **({} if self.graticule_color is None else {"color": self.graticule_color}))

    def texts(self, ax: Any, fonts: dict[str, Any]) -> None:
        """Writes the title and the labels of the axes and the corners."""
        for setter, text, name in ((ax.set_title, self.title, "title"), (ax.set_xlabel, self.xlabel, "xlabel"),
                                   (ax.set_ylabel, self.ylabel, "ylabel")):
            if text is not None:
                setter(text, fontsize=fonts[name], fontname=self.fontname)
        for text, x, side in ((self.llabel, 0.0, "left"), (self.rlabel, 1.0, "right")):
            if text is None:
                continue
            if self.projection_type == "3d":
                raise ValueError("llabel, rlabel: are not drawn for projection_type = '3d'")
            ax.text(x, 0.95, text, ha=side, va="center", transform=ax.transAxes, fontsize=fonts["cbar_label"],
                    fontname=self.fontname)

    def colorbar(self, ax: Any, mesh: Any, properties: dict[str, Any], fonts: dict[str, Any]) -> None:
        """The colour bar, with ticks at its ends or those asked for."""
        norm = mesh.norm
        data = np.ma.asarray(mesh.get_array())
        if not data.count():
            return  # the bar of nothing but bad pixels says nothing
        ticks = [norm.vmin, norm.vmax] if self.cbar_ticks is None else list(self.cbar_ticks)
        extend = self.extend
        if extend is None:
            low, high = min(ticks) > data.min(), max(ticks) < data.max()
            extend = "both" if low and high else "min" if low else "max" if high else "neither"
        bar = ax.figure.colorbar(mesh, ax=ax, orientation=self.cb_orientation, shrink=properties["cbar_shrink"],
                                 pad=properties["cbar_pad"], ticks=None if self.show_tickmarkers else ticks,
                                 extend=extend, format=self.format)
        if self.show_tickmarkers:  # those that matplotlib chooses stay, without labels
            marks = [mark for mark in np.union1d(bar.get_ticks(), ticks) if norm.vmin <= mark <= norm.vmax]
            bar.set_ticks(marks, labels=[self.format % mark if mark in ticks else "" for mark in marks])
        axis = bar.ax.xaxis if self.cb_orientation == "horizontal" else bar.ax.yaxis
        axis.set_tick_params(direction=properties["cbar_tick_direction"], labelfontfamily=self.fontname)
        if fonts["cbar_tick_label"] is not None:
            axis.set_tick_params(labelsize=fonts["cbar_tick_label"])
        if self.cb_orientation == "vertical":
            for label in axis.get_ticklabels():
                label.set(rotation=properties["vertical_tick_rotation"], va="center")
        bar.set_label(self.unit, labelpad=properties["cbar_label_pad"], fontsize=fonts["cbar_label"],
                      fontname=self.fontname)


def new_axes(ask: Picture, fig: Any, sub: Any, hold: bool, reuse_axes: bool, margins: Any, dpi: float | None,
             properties: dict[str, Any]) -> Any:
    """Returns new axes of the projection in the figure and place asked for, or the current ones to reuse."""
    kind = None if ask.projection_type == "cart" else ask.projection_type
    if reuse_axes or hold:
        no_effect("reuse_axes" if reuse_axes else "hold", fig=fig, dpi=dpi, sub=None if sub == 111 else sub,
                  margins=margins if reuse_axes else None, hold=hold if reuse_axes and hold else None)
    if reuse_axes:
        ax = plt.gca()
        if ax.name != (kind or "rectilinear"):
            raise TypeError(f"reuse_axes: the current axes are {ax.name}, not {kind or 'rectilinear'}")
        return ax
    inches = (properties["figure_width"], properties["figure_width"] * properties["figure_size_ratio"])
    if hold:
        figure, place = placed(None, True, None, margins, inches)
        return figure.add_axes(place, projection=kind)
    is_first = tuple(map(int, str(sub)))[2] == 1 if np.ndim(sub) == 0 else sub[2] == 1
    if fig is not None:
        figure = plt.figure(fig, figsize=inches, dpi=dpi)
    else:
        figure = plt.figure(figsize=inches, dpi=dpi) if is_first else plt.gcf()
    if margins is not None:
        figure, place = placed(figure, False, sub, margins, inches)
        return figure.add_axes(place, projection=kind)
    return figure.add_subplot(*((sub,) if np.ndim(sub) == 0 else sub), projection=kind)


def _range(name: str, given: Any, widest: float) -> tuple[float, float]:
    """Returns two angles, deg, by default the widest range."""
    if given is None:
        return -widest, widest
    if np.shape(given) != (2,) or not -widest <= given[0] < given[1] <= widest:
        raise ValueError(f"{name} = {given}: must be two angles, deg, from -{widest} to {widest}, the first below the "
                         "second")
    return float(given[0]), float(given[1])

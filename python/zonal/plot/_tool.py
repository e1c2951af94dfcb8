"""What `zonal plot` and other commands of the tool run: reads a request, draws, and answers with the picture.

The request is a line of JSON on standard input, and behind it the bytes of maps. The answer on standard output is a line of
JSON, {"notes", "report", "memory"} or {"error", "exit_code"}, and behind it the bytes of the picture.
"""

from __future__ import annotations

import io
import json
import os
import pathlib
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import ZonalWarning, _core, plot
from .. import __version__ as version
from .. import io as files
from .._notes import warn
from ..spectra.result import BandPowers
from ._graphs import draw_graph, draw_split
from ._matplotlib import load
from .frame import figure_size
from .projections import Cartesian, EqualArea, Gnomonic, Mollweide, Orthographic, Projection
from .sky import draw
from .units import typeset

_Drawn = tuple[Any, dict[str, Any], float]
"""A figure, what the report says of it, and the bytes of memory that the process will have taken."""
_DPI, _LEAST_DPI = 200, 80  # by default; narrower pictures have fewer inches
_LEAST_POINTS = 6  # of a long title
_MARGIN = 0.06  # inches
_ROWS = 64  # that are coloured together
_WRONG_USE, _FAILURE = 2, 1
# Bytes for each pixel of a picture, as measured: those of the raster's values and of what matplotlib makes of them.
_BYTES_OF_PIXEL = 70


class WrongUse(Exception):
    """What a user can put right on the command line."""


def main() -> None:
    """Answers one request."""
    answer: dict[str, Any]
    picture = b""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ZonalWarning)
        try:
            answer, picture = drawn(json.loads(sys.stdin.buffer.readline()))
            answer["notes"] = [_printable(str(warning.message)) for warning in caught]
        except (WrongUse, ValueError, TypeError) as error:
            answer = {"error": _printable(str(error)), "exit_code": _WRONG_USE}
        except (OSError, ImportError, MemoryError) as error:
            answer = {"error": _printable(str(error)) or "not enough memory", "exit_code": _FAILURE}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + picture)
    sys.stdout.buffer.flush()


def drawn(ask: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The answer to a request, and the picture."""
    if ask["version"] != version:
        raise ImportError(f"the Python package at {pathlib.Path(__file__).parents[1]} is of zonal {version}, and this is zonal "
                          f"{ask['version']}: install that of the same version")
    load("").rcParams["svg.hashsalt"] = "zonal"  # equal pictures have equal bytes
    figure, report, predicted = {"map": _map, "spectra": _spectra, "bands": _bands, "graphs": _graphs, "split": _split}[ask["draw"]](ask)
    picture = _saved(figure, ask["format"].lower(), ask.get("transparent", False))
    report |= {"width": round(figure.bbox.width), "height": round(figure.bbox.height)}
    return {"report": report, "memory": [predicted, _resident("VmHWM")]}, picture


def _map(ask: dict[str, Any]) -> _Drawn:
    path, read = _path(ask["in"]), ask["read"]
    how = {"hdu": read["hdu"] or None, "nan_is_unseen": read["nan_is_unseen"], "nest_if_absent": read.get("nest_if_absent"),
           "multi_order_nside": read.get("multi_order_nside")}
    # One column is drawn as it stands, Q alone too.
    sky = files.read_map(path, read["fields"] or ["0"], pol=read.get("pol", False), **how)[0]
    column = sky.columns[0] if sky.columns else ""
    with _usage(path):
        projection = _projection(ask)
        size = figure_size(projection, ask["inches"] or None)
        figure, predicted = _figure(ask, (size[0], 1.15 * size[1]))  # what is left, _finish takes away
        low, high = ask.get("range", (None, None))
        ax = draw(sky, projection, rot=ask.get("centre"), min=low, max=high, norm=ask["norm"], cmap=ask["cmap"] or None,
                  unit=ask["unit"] or None, title="", colorbar=ask["colorbar"], graticule=ask["graticule"],
                  width=round(figure.bbox.width), ax=figure.add_subplot())
        _color(ax.images[0])
        if ask["polarization"]:
            q, u = (files.read_map(path, ["Q", "U"], **how)[i] for i in (0, 1))
            plot.polarization(ax, q, u)
        _finish(figure, ask, _plain(pathlib.Path(path).name + (f": {column}" if column else "")))
    return figure, {"column": column, "coordinates": sky.coordinates}, predicted


def _color(image: Any) -> None:
    """Draws colours in place of values, which matplotlib would take four times the memory for."""
    picture, alpha = image.get_array(), image.get_alpha()
    colors = np.empty((*picture.shape, 4), np.uint8)
    for first in range(0, len(picture), _ROWS):
        rows = slice(first, first + _ROWS)
        colors[rows] = image.cmap(image.norm(picture[rows]), bytes=True)
        colors[rows, :, 3] *= alpha[rows].astype(np.uint8)
    image.axes.imshow(colors, origin="lower", extent=image.get_extent(), aspect="equal", interpolation="nearest",
                      zorder=image.get_zorder())
    image.remove()
    image.set_data(np.zeros((1, 1)))  # a colour bar keeps it


def _projection(ask: dict[str, Any]) -> Projection:
    name, size = ask["projection"], ask.get("size")
    if name == "mollweide":
        return Mollweide()
    if name == "orthographic":
        return Orthographic()
    most = {"gnomonic": 150, "cartesian": 180, "azimuthal": 360}[name]
    degrees = (10 if name == "gnomonic" else most) if size is None else float(np.degrees(size))
    if not 0 < degrees <= most * (1 + 1e-12):
        raise WrongUse(f"--size = {degrees:g} deg: must be above 0 and at most {most} deg with --projection {name}")
    if name == "gnomonic":
        return Gnomonic(True, np.tan(np.radians(degrees / 2)))
    if name == "cartesian":
        return Cartesian() if size is None else Cartesian(True, (-degrees / 2, degrees / 2), (-degrees / 2, degrees / 2))
    return EqualArea(True, max_angle=float(np.radians(degrees / 2)))


def _spectra(ask: dict[str, Any]) -> _Drawn:
    path, theory = _path(ask["in"]), _path(ask["theory"])
    spectra, unit = _read_spectra(path, ask, ask["read"]["hdu"], ask["read"]["dl"])
    names = ask["names"] or list(spectra)
    for name in names:
        if name not in spectra:
            raise WrongUse(f"--spectra = {name}: {path} has {', '.join(spectra)}")
    title, expected = pathlib.Path(path).name, None
    if theory:
        expected, other = _read_spectra(theory, ask, "", ask["theory_dl"])
        if not set(expected) & set(names):
            raise WrongUse(f"--theory {theory}: has no spectrum that is drawn")
        if not ask["unit"] and unit and other and typeset(unit) != typeset(other):
            raise WrongUse(f"--theory {theory}: the unit is '{other}', that of {path} is '{unit}'; --unit says that they are one")
        title += f" (points), {pathlib.Path(theory).name} (lines)"
    with _usage(path):
        width = ask["inches"] or 8.0
        figure, predicted = _figure(ask, (width, 0.625 * width))
        ax = plot.spectrum(spectra, expected, names=tuple(names), lmin=ask["lmin"], lmax=None if ask["lmax"] < 0 else ask["lmax"],
                           dl=ask["dl"], log_x=ask["log_x"], log_y=ask["log_y"] or None, unit=ask["unit"] or unit,
                           ax=figure.add_subplot())
        if "range" in ask:
            if ax.get_yscale() == "log" and ask["range"][0] <= 0:
                raise WrongUse(f"--range = {ask['range'][0]:g} to {ask['range'][1]:g}: must lie above 0 on a logarithmic axis")
            ax.set_ylim(*ask["range"])
        _finish(figure, ask, _plain(title))
    return figure, {}, predicted


def _bands(ask: dict[str, Any]) -> _Drawn:
    path, theory = _path(ask["in"]), _path(ask["theory"])
    powers = BandPowers.load(path)
    title, expected = pathlib.Path(path).name, None
    if theory:
        found, _ = _read_spectra(theory, ask, "", ask["theory_dl"])
        expected = {name: values for name, values in found.items() if name in ("TT", "EE", "BB", "TE", "TB", "EB")}
        title += f" (points), {pathlib.Path(theory).name} (lines)"
    names = {key if isinstance(key, str) else f"{key[0]}_{key[1]}x{key[2]}": key for key in powers}
    for name in ask["names"]:
        if name not in names:
            raise WrongUse(f"--spectra = {name}: {path} has {', '.join(names)}")
    with _usage(path):
        width = ask["inches"] or 8.0
        figure, predicted = _figure(ask, (width, 0.625 * width))
        ax = powers.plot(expected, names=[names[name] for name in ask["names"]] or None, log_x=ask["log_x"], ax=figure.add_subplot())
        if "range" in ask:
            ax.set_ylim(*ask["range"])
        _finish(figure, ask, _plain(title))
    return figure, {}, predicted


def _read_spectra(path: str, ask: dict[str, Any], hdu: str, dl: bool) -> tuple[dict[str, Any], str]:
    healpy = {"auto": None, "healpy": True, "f90": False}[ask["order"]]
    spectra, unit, notes = _core.read_spectrum(path, hdu, dl, healpy)
    warn(notes)
    return spectra, unit


def _graphs(ask: dict[str, Any]) -> _Drawn:
    graphs = ask["graphs"]
    figure, predicted = _figure(ask, (6.5, 3.4 * len(graphs)))
    for i, graph in enumerate(graphs):
        draw_graph(figure.add_subplot(len(graphs), 1, i + 1), graph)
    return figure, {}, predicted


def _split(ask: dict[str, Any]) -> _Drawn:
    maps = np.frombuffer(sys.stdin.buffer.read(), np.float64).reshape(-1, 12 * ask["nside"]**2)
    figure, predicted = _figure(ask | {"width": 1200}, (12, 9.75))
    draw_split(figure, ask["rows"], maps)
    return figure, {}, predicted


def _figure(ask: dict[str, Any], size: tuple[float, float]) -> tuple[Any, float]:
    """A figure, and the memory that the process will have taken when it is drawn."""
    width, height = size
    if not ask.get("inches") and ask.get("width", 0) and ask["width"] < _LEAST_DPI * width:
        width, height = ask["width"] / _LEAST_DPI, height * ask["width"] / (_LEAST_DPI * width)
    dpi = ask["width"] / width if ask.get("width") else float(_DPI)
    if not 40 <= dpi <= 2400:
        raise WrongUse(f"--width {ask['width']}, --inches {width:g}: are {dpi:.0f} pixels per inch: must be from 40 to 2400")
    needed = _BYTES_OF_PIXEL * (width * dpi) * (height * dpi)
    _core.require_memory(needed, f"{ask['out']}: the picture")
    figure = load("figure").Figure(figsize=(width, height), dpi=dpi, layout="constrained")
    load("backends.backend_agg").FigureCanvasAgg(figure)
    return figure, max(_resident("VmHWM"), _resident("VmRSS") + needed)


def _finish(figure: Any, ask: dict[str, Any], title: str) -> None:
    """Takes away what height is left, and writes the title above, in letters that fit."""
    title, renderer = ask.get("title", title), figure.canvas.get_renderer()
    for _ in range(2):  # with another height the layout is another
        figure.get_layout_engine().execute(figure)
        shown = [ax.get_tightbbox(renderer) for ax in figure.axes]
        beside = len(shown) == 2 and shown[1].x0 >= shown[0].x1  # a colour bar that is as high as the axes
        height = (shown[0].height if beside else max(box.y1 for box in shown) - min(box.y0 for box in shown)) / figure.dpi
        height += 2 * _MARGIN
        figure.set_figheight(max(height, 0.2 * figure.get_figwidth()))
    if not title:
        return
    written = figure.suptitle(title, fontsize="large")
    room = 0.97 * figure.bbox.width
    ratio = room / written.get_window_extent().width
    if ratio < 1:
        written.set_fontsize(max(_LEAST_POINTS, ratio * written.get_fontsize()))
    while len(title) > 1 and written.get_window_extent().width > room:
        title = title[:int(0.9 * len(title))]
        written.set_text(title + "…")
    figure.set_figheight(figure.get_figheight() + written.get_window_extent().height / figure.dpi + 2 * _MARGIN)


def _path(given: list[int]) -> str:
    path = os.fsdecode(bytes(given))
    if path != _printable(path):
        raise OSError(f"{_printable(path)}: the name is not UTF-8, which the package's readers need: draw a link to the file")
    return path


def _printable(text: str) -> str:
    """A text in which bytes that are no UTF-8 have become question marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _plain(text: str) -> str:
    """A text, such as a file's name, that holds no formula."""
    return _printable(text).replace("$", r"\$")


def _saved(figure: Any, kind: str, transparent: bool) -> bytes:
    if transparent:
        for shown in (figure, *figure.axes):
            shown.patch.set_alpha(0)
    file = io.BytesIO()
    if kind == "png":
        figure.canvas.print_png(file)  # savefig would draw twice, for the layout and for the picture
    else:
        figure.savefig(file, format=kind, metadata={"CreationDate" if kind == "pdf" else "Date": None})
    return file.getvalue()


@contextmanager
def _usage(path: str) -> Iterator[None]:
    """What cannot be drawn of a file is wrong use, which names the file."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise WrongUse(f"{path}: {' '.join(str(error).split())}") from None


def _resident(key: str) -> float:
    """Bytes of memory in use now (VmRSS), or at most (VmHWM)."""
    found = re.search(rf"^{key}:\s*(\d+) kB", pathlib.Path("/proc/self/status").read_text(), re.MULTILINE)
    return 1024.0 * int(found[1]) if found else 0.0

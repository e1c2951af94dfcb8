"""Keywords of pictures.

Under healpy's names the same parts of a picture change as in healpy's; the tests of values are elsewhere. zonal.plot has
no peer: what must be in the picture is stated.
"""

import healpy
import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import zonal
import zonal.healpy as hp
from keyword_cases import Case, With, outcome, split_with
from keywords_of_healpy import CL, NSIDE, RNG
from keywords_of_zonal import DEFAULT, MASK, N, of, to_nest, to_ring
from zonal import plot
from zonal.plot import projections

SKY = np.exp(RNG.standard_normal(N)) + 5 * healpy.pix2vec(NSIDE, np.arange(N))[2] + 6
SKY[300:320] = zonal.UNSEEN
Q, U = RNG.standard_normal((2, N))


def scene(result):
    """The parts of all figures, as text so that they compare."""
    parts = {"result": type(result).__name__, "figures": plt.get_fignums()}
    axes = [ax for number in plt.get_fignums() for ax in plt.figure(number).axes]
    parts["places"] = [np.round(ax.get_position().bounds, 3).tolist() for ax in axes]
    parts["texts"] = sorted(text.get_text() for ax in axes for text in (*ax.texts, ax.title) if text.get_text())
    parts["sizes"] = sorted(text.get_fontsize() for ax in axes for text in (*ax.texts, ax.title) if text.get_text())
    parts["ticks"] = [[label.get_text() for label in ax.get_xticklabels()] for ax in axes if not ax.images]
    parts["lines"] = [len(ax.lines) > 0 for ax in axes]
    images = [ax.images[0] for ax in axes if ax.images and hasattr(ax, "proj")]
    parts["shape"] = [image.get_array().shape for image in images]
    parts["values"] = [np.ma.filled(image.get_array(), -1.0).astype(np.float32).tobytes() for image in images]
    parts["range"] = [image.get_clim() for image in images]
    parts["extent"] = [(np.round(image.get_extent(), 6).tolist(), str(image.axes.get_aspect())) for image in images]
    parts["scale"] = [type(image.norm).__name__ for image in images]
    parts["colours"] = [image.cmap(np.array([0.1, 0.5, 0.9])).tolist() for image in images]
    parts["bad"] = [image.cmap.get_bad().tolist() for image in images]
    parts["background"] = [image.cmap.get_under().tolist() for image in images]
    parts["alpha"] = [[] if image.get_alpha() is None else np.unique(image.get_alpha()).tolist() for image in images]
    parts["under the mouse"] = [image.axes.format_coord(0.001, 0.001) for image in images]
    return parts


def of_view(name, base, changes):
    """Cases of a view: which parts of the picture differ from those of the call without the keyword."""
    found, kept = [], {}

    def drawn(module, options):
        plt.close("all")
        plt.figure(3).add_subplot(2, 2, 1)
        parts = scene(getattr(module, name)(SKY.copy(), **options))
        plt.close("all")
        return parts

    def differing(module, before, options):
        key = module.__name__, repr(sorted(before.items()))
        if key not in kept:
            kept[key] = drawn(module, before)
        now = drawn(module, options)
        return [part for part in now if now[part] != kept[key][part]]

    for keyword, value in changes.items():
        before, after = split_with(base, keyword, value)
        found.append(Case(f"zonal.healpy.{name}", keyword, lambda before=before, **k: differing(hp, before, k), before,
                          after,
                          lambda before=before, after=after: outcome(lambda **k: differing(healpy, before, k), after),
                          0))
    return found


ALL_VIEWS = {"fig": 7, "rot": (30, 20, 10), "coord": "GC", "unit": "mK", "xsize": 44, "title": "T", "nest": True,
             "min": 1.0, "max": 9.0, "flip": "geo",
             "remove_dip": True, "remove_mono": True, "gal_cut": With(20, remove_dip=True), "format": "%.1f",
             "cbar": False, "cmap": "jet",
             "badcolor": "red", "bgcolor": "blue", "notext": With(False, coord="G", notext=True), "norm": "log",
             "hold": True, "margins": (0.2, 0.1, 0.1, 0.2),
             "sub": (2, 2, 4), "return_projected_map": True, "alpha": np.full(N, 0.5),
             "fontsize": With({"cbar_label": 30}, unit="mK")}
VIEWS = {"mollview": {"format2": "%.2f", "nlocs": 3},
         "gnomview": {"ysize": 20, "reso": 60.0, "no_plot": With(True, return_projected_map=True)},
         "cartview": {"zat": (30, 40, 10), "ysize": 30, "lonra": [-30, 50], "latra": [-10, 20], "aspect": 2.0},
         "orthview": {"half_sky": True, "format2": "%.2f"}, "azeqview": {"ysize": 30, "reso": 60.0, "lamb": True}}


def _of_healpy():
    for name, own in VIEWS.items():
        changes = {key: value for key, value in ALL_VIEWS.items() if key != "fontsize" or name in VIEWS} | own
        yield of_view(name, {"xsize": 40} | ({"reso": 200.0} if name in ("gnomview", "azeqview") else {}), changes)


def picture(ax):
    return np.ma.filled(ax.images[0].get_array(), -1.0)


def options_of_draw(draw):
    """What is in the picture: by keyword the value, keywords of both calls, what is looked at, and what it must be."""
    bar = lambda ax: (ax.figure.axes[-1].get_xlabel() or ax.figure.axes[-1].get_ylabel()) if len(ax.figure.axes) > 1 else None
    other = to_ring(SKY)
    hidden = np.where(MASK > 0, SKY, zonal.UNSEEN)
    return {
        "nest": (True, {}, picture, lambda: picture(draw(other, width=30))),
        "mask": (MASK, {}, picture, lambda: picture(draw(hidden, width=30))),
        "min": (2.0, {}, lambda ax: ax.images[0].norm.vmin, lambda: 2.0),
        "max": (9.0, {}, lambda ax: ax.images[0].norm.vmax, lambda: 9.0),
        "norm": ("log", {}, lambda ax: type(ax.images[0].norm).__name__, lambda: "LogNorm"),
        "linear_width": (0.3, {"norm": "asinh"}, lambda ax: ax.images[0].norm.linear_width, lambda: 0.3),
        "cmap": ("wmap", {}, lambda ax: ax.images[0].cmap.name, lambda: "wmap"),
        "bad_color": ("red", {}, lambda ax: ax.images[0].cmap.get_bad(), lambda: np.array([1.0, 0, 0, 1])),
        "unit": ("mK", {}, bar, lambda: "mK"), "title": ("here", {}, lambda ax: ax.get_title(), lambda: "here"),
        "colorbar": (False, {}, lambda ax: len(ax.figure.axes), lambda: 1),
        "graticule": (False, {}, lambda ax: len(ax.lines), lambda: 1),
        "width": (50, {}, lambda ax: picture(ax).shape[1], lambda: 50),
        "ax": (True, {}, lambda ax: ax.get_gid() or "new", lambda: "given"),
    }


def _of_draws():
    shown = lambda ax: np.round(ax.images[0].get_extent(), 12).tolist()
    own = {
        "mollweide": {}, "gnomonic": {"size": ("20deg", {}, shown,
                                               lambda: [-np.tan(np.pi / 18), np.tan(np.pi / 18)] * 2)},
        "cartesian": {"lon": (("-20deg", "40deg"), {}, lambda ax: shown(ax)[:2], lambda: [-40.0, 20.0]),
                      "lat": (("-20deg", "40deg"), {}, lambda ax: shown(ax)[2:], lambda: [-20.0, 40.0])},
        "orthographic": {"both_sides": (True, {}, shown, lambda: [-2.0, 2.0, -1.0, 1.0])},
        "azimuthal": {"radius": ("60deg", {"equal_area": False}, shown, lambda: [-np.pi / 3, np.pi / 3] * 2),
                      "equal_area": (False, {}, shown, lambda: [-np.pi, np.pi] * 2)},
        "polar": {"radius": ("60deg", {"equal_area": False}, shown, lambda: [-np.pi / 3, np.pi / 3] * 2),
                  "equal_area": (False, {}, shown, lambda: [-np.pi / 2, np.pi / 2] * 2),
                  "pole": ("south", {"radius": "40deg"}, lambda ax: bool(np.ma.mean(ax.images[0].get_array()) > 5),
                           lambda: False)},
    }
    own["draw"] = {}
    stated = {("gnomonic", "size"): "10deg", ("azimuthal", "radius"): "180deg", ("polar", "radius"): "90deg",
              ("polar", "pole"): "north"}
    turned_mask, hidden = zonal.Map(to_nest(MASK), nest=True), np.where(MASK > 0, SKY, zonal.UNSEEN)
    yield of("plot.mollweide", lambda **k: _looked(plot.mollweide, picture, k), {}, within=0,
             mask=(turned_mask, DEFAULT, lambda: picture(plot.mollweide(hidden, width=30))))
    for name, extra in own.items():
        draw = getattr(plot, name) if name != "draw" else lambda sky, **options: plot.draw(sky, projections.Mollweide(), **options)
        for keyword, (value, base, look, expected) in (options_of_draw(draw) | extra).items():
            yield of(f"plot.{name}", lambda draw=draw, look=look, **k: _looked(draw, look, k), base, within=1e-9,
                     **{keyword: (value, stated.get((name, keyword), DEFAULT), lambda e=expected: _closed(e))})
        flipped = lambda ax: picture(ax)[:, ::-1]
        if name != "draw":
            yield of(f"plot.{name}", lambda draw=draw, **k: _looked(draw, picture, k), {}, within=0,
                     flip=("geo", "astro", lambda draw=draw: _looked(draw, flipped, {})))
        if name != "polar":
            yield of(f"plot.{name}", lambda draw=draw, **k: _middle(draw, k), {}, within=0,
                     rot=((1.0, 0.5), (0.0, 0.0), lambda: float(hp.ang2pix(1, np.pi / 2 - 0.5, 1.0))))
        turned = hp.Rotator(coord="GC")(0.0 if name == "polar" else np.pi / 2, 0.0)
        yield of(f"plot.{name}", lambda draw=draw, **k: _middle(draw, k), {}, within=0,
                 coord=("CG", DEFAULT, lambda turned=turned: float(hp.ang2pix(1, *turned))))


def _looked(draw, look, options):
    plt.close("all")
    if options.get("ax") is True:
        options["ax"] = plt.figure().add_subplot(gid="given")
    return look(draw(SKY, **({"width": 30} | options)))


def _closed(expected):
    plt.close("all")
    return expected()


def _middle(draw, options):
    """The pixel in the middle of the picture, of nside 1."""
    plt.close("all")
    array = picture(draw(np.arange(12.0), **({"width": 31} | options)))
    return array[array.shape[0] // 2, array.shape[1] // 2]


def _of_overlays():
    def over(function, take, *arguments):
        def call(**options):
            plt.close("all")
            ax = plot.mollweide(None, graticule=False)
            drawn = function(ax, *arguments, **options)
            return take(drawn, ax)
        return call
    count = lambda drawn, ax: len(drawn)
    at = lambda drawn, ax: np.asarray(drawn.get_offsets()[0])
    begin = lambda drawn, ax: np.array([drawn.get_xdata()[0], drawn.get_ydata()[0]])
    # The place of a direction, of which the picture does not know the coordinates otherwise.
    place = hp.Rotator(coord="CG")(np.pi / 2 - 0.3, 0.4)
    where = lambda: at(over(plot.points, lambda d, ax: d, place[1], np.pi / 2 - place[0])(), None)

    def on_galactic(function, take, *arguments):
        def call(**options):
            plt.close("all")
            ax = plot.mollweide(np.ones(12), coord="G", width=20)
            return take(function(ax, *arguments, **options), ax)
        return call
    return [
        of("plot.graticule", over(plot.graticule, count), lon=("45deg", "30deg", lambda: 8 + 5 + 1),
           lat=("45deg", "30deg", lambda: 12 + 3 + 1)),
        of("plot.graticule", over(plot.graticule, lambda drawn, ax: len(ax.texts) > 5),
           labels=(False, True, lambda: False)),
        of("plot.points", on_galactic(plot.points, at, 0.4, 0.3), {}, within=1e-12, coord=("C", "G", where)),
        of("plot.text", on_galactic(plot.text, lambda d, ax: np.array(d.get_position()), 0.4, 0.3, "s"), {},
           within=1e-12, coord=("C", "G", where)),
        of("plot.line", on_galactic(plot.line, begin, [0.4, 0.41], [0.3, 0.31]), {}, within=1e-12,
           coord=("C", "G", where)),
        of("plot.polarization", over(plot.polarization, lambda d, ax: np.array(d.get_segments()), Q, U), {},
           within=1e-12,
           nest=(True, False, lambda: over(plot.polarization, lambda d, ax: np.array(d.get_segments()), to_ring(Q),
                                           to_ring(U))()),
           convention=("IAU", "COSMO", lambda: over(plot.polarization, lambda d, ax: np.array(d.get_segments()), Q,
                                                    -U)()),
           length=(2.0, 1.0, lambda: _doubled(over(plot.polarization, lambda d, ax: np.array(d.get_segments()), Q,
                                                   U)()))),
        of("plot.polarization", over(plot.polarization, lambda d, ax: len(d.get_segments()) > 300, Q, U),
           count=(20, 40, lambda: False)),
    ]


def _doubled(segments):
    middle = segments.mean(1, keepdims=True)
    return middle + 2 * (segments - middle)


def _of_spectra():
    def drawn(take, cl=CL):
        def call(**options):
            plt.close("all")
            if options.get("ax") is True:
                options["ax"] = plt.figure().add_subplot(gid="given")
            return take(plot.spectrum(cl, **options))
        return call
    x = lambda ax: ax.lines[0].get_xdata()
    y = lambda ax: ax.lines[0].get_ydata()
    two = {"TT": CL, "EE": 2 * CL}
    return [
        of("plot.spectrum", drawn(lambda ax: [line.get_ydata() for line in ax.lines]), {"dl": False},
           theory=(2 * CL, DEFAULT, lambda: [CL[2:], 2 * CL[2:]])),
        of("plot.spectrum", drawn(lambda ax: [line.get_label() for line in ax.lines], two),
           names=(("EE",), DEFAULT, lambda: ["EE"])),
        of("plot.spectrum", drawn(x), lmin=(4, 2, lambda: np.arange(4, CL.size)),
           lmax=(6, CL.size - 1, lambda: np.arange(2, 7))),
        of("plot.spectrum", drawn(y), dl=(False, True, lambda: CL[2:])),
        of("plot.spectrum", drawn(lambda ax: ax.get_xscale()), log_x=(True, False, lambda: "log")),
        of("plot.spectrum", drawn(lambda ax: ax.get_yscale()), log_y=(True, False, lambda: "log")),
        of("plot.spectrum", drawn(lambda ax: ax.get_title()), title=("here", "", lambda: "here")),
        of("plot.spectrum", drawn(lambda ax: len(ax.containers)), errors=(0.1 * CL, DEFAULT, lambda: 1)),
        of("plot.spectrum", drawn(lambda ax: "mK" in ax.get_ylabel()), unit=("mK", DEFAULT, lambda: True)),
        of("plot.spectrum", drawn(lambda ax: ax.get_gid() or "new"), ax=(True, DEFAULT, lambda: "given")),
    ]


def cases():
    """All of them."""
    return [case for group in (*_of_healpy(), *_of_draws(), *_of_overlays(), *_of_spectra()) for case in group]

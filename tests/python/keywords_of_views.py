"""Keywords under healpy's names for which healpy cannot be asked alike: what must be in the picture or the result is stated."""

from unittest.mock import patch

import healpy
import matplotlib.pyplot as plt
import numpy as np
from astropy.io import fits
from matplotlib.colors import SymLogNorm, to_rgba
from mpi4py import MPI

import zonal
import zonal.healpy as hp
from keyword_cases import Sent, With
from keywords_of_files import _map_file, reading
from keywords_of_healpy import FULL, IQU, LMAX, NSIDE, SPECTRA, TEB, TRIANGLE
from keywords_of_plots import SKY
from keywords_of_zonal import DEFAULT, HEALPIX, PLAIN, of, raises, to_ring

TEXTS = {"llabel": "left", "rlabel": "right"}


def seen(draw, look, before=None):
    """What look(axes, result) finds after draw(**options). before: what is drawn first."""
    def call(**options):
        plt.close("all")
        if before is not None:
            before()
        result = draw(**options)
        return look(plt.gca(), result)
    return call


def _of_labels(bar):
    return {
        "xtick_label_color": ("red", {"graticule_labels": True}, lambda ax, mesh: ax.get_xticklabels()[0].get_color(),
                              "red"),
        "ytick_label_color": ("red", {"graticule_labels": True}, lambda ax, mesh: ax.get_yticklabels()[0].get_color(),
                              "red"),
        "fontname": ("DejaVu Serif", {"title": "t"}, lambda ax, mesh: ax.title.get_fontname(), "DejaVu Serif"),
        "fontsize": ({"title": 31}, {"title": "t"}, lambda ax, mesh: ax.title.get_fontsize(), 31.0),
        "phi_convention": ("symmetrical", {"graticule_labels": True}, lambda ax,
                           mesh: ax.get_xticklabels()[0].get_text(), "-120°"),
        "custom_xtick_labels": (list("ABCDE"), {"graticule_labels": True}, lambda ax,
                                mesh: [t.get_text() for t in ax.get_xticklabels()], list("ABCDE")),
        "custom_ytick_labels": (list("ABCDE"), {"graticule_labels": True}, lambda ax,
                                mesh: [t.get_text() for t in ax.get_yticklabels()], list("ABCDE")),
        "cbar_ticks": ([3.0, 5.0, 7.0], {}, lambda ax, mesh: bar(ax).get_xticks().tolist(), [3.0, 5.0, 7.0]),
        "extend": ("both", {}, lambda ax, mesh: mesh.colorbar.extend, "both"),
        "sub": (222, {"cbar": False}, lambda ax, mesh: bool(ax.get_position().x0 > 0.4), True),
        "margins": ((0.2, 0.1, 0.1, 0.2), {"cbar": False}, lambda ax,
                    mesh: round(ax.get_position(original=True).x0, 6), 0.2),
        "dpi": (50, {}, lambda ax, mesh: float(ax.figure.dpi), 50.0),
        "return_only_data": (True, {}, lambda ax, found: type(found).__name__, "tuple"),
        "rot_graticule": (True, {}, lambda ax, mesh: len(ax.lines), 5 + 12),
        "graticule_coord": ("C", {"coord": "G"}, lambda ax, mesh: len(ax.lines), 5 + 12),
        "override_rot_graticule_properties": ({"t_step": 90}, {"rot_graticule": True}, lambda ax, mesh: len(ax.lines),
                                              1 + 12),
    }


def _of_projview():
    draw = lambda **k: hp.projview(**({"m": SKY, "xsize": 20} | k))
    bar = lambda ax: ax.figure.axes[-1]
    colour = lambda mesh: mesh.cmap.get_bad().tolist()
    looks = {
        "m": (None, {}, lambda ax, mesh: mesh is None, True),
        "unit": ("mK", {}, lambda ax, mesh: bar(ax).get_xlabel(), "mK"),
        "xsize": (30, {}, lambda ax, mesh: mesh.get_array().size, 450),
        "width": (5, {}, lambda ax, mesh: ax.figure.get_figwidth(), 5.0),
        "fig": (9, {}, lambda ax, mesh: plt.get_fignums(), [9]),
        "min": (2.0, {}, lambda ax, mesh: mesh.norm.vmin, 2.0), "max": (9.0, {}, lambda ax, mesh: mesh.norm.vmax, 9.0),
        "format": ("%.3f", {"min": 2, "max": 9}, lambda ax, mesh: [t.get_text() for t in bar(ax).get_xticklabels()],
                   ["2.000", "9.000"]),
        "cbar": (False, {}, lambda ax, mesh: len(ax.figure.axes), 1),
        "cmap": ("jet", {}, lambda ax, mesh: mesh.cmap.name, "jet"),
        "badcolor": ("red", {}, lambda ax, mesh: colour(mesh), list(to_rgba("red"))),
        "bgcolor": ("blue", {}, lambda ax, mesh: mesh.cmap.get_under().tolist(), list(to_rgba("blue"))),
        "norm": ("log", {"min": 1.0, "max": 100.0}, lambda ax, mesh: round(float(mesh.norm(10.0)), 6), 0.5),
        "norm_dict": ({"linthresh": 3}, {"norm": "symlog", "min": -10.0, "max": 100.0}, lambda ax,
                      mesh: round(float(mesh.norm(1.0)), 6),
                      round(float(SymLogNorm(3, 0.1, -10, 100, base=10)(1.0)), 6)),
        "graticule": (True, {}, lambda ax, mesh: any(line.get_visible() for line in ax.get_xgridlines()), True),
        "graticule_labels": (True, {}, lambda ax, mesh: [t.get_text() for t in ax.get_yticklabels()],
                             ["-60°", "-30°", "0°", "30°", "60°"]),
        "graticule_color": ("red", {"graticule": True}, lambda ax, mesh: ax.get_xgridlines()[0].get_color(), "red"),
        "projection_type": ("hammer", {}, lambda ax, mesh: ax.name, "hammer"),
        "cb_orientation": ("vertical", {}, lambda ax,
                           mesh: bool(bar(ax).get_position().height > bar(ax).get_position().width), True),
        "xlabel": ("x", {}, lambda ax, mesh: ax.get_xlabel(), "x"),
        "ylabel": ("y", {}, lambda ax, mesh: ax.get_ylabel(), "y"),
        "title": ("t", {}, lambda ax, mesh: ax.get_title(), "t"),
        "longitude_grid_spacing": (90, {"graticule": True}, lambda ax, mesh: len(ax.get_xticks()), 3),
        "latitude_grid_spacing": (45, {"graticule": True}, lambda ax, mesh: len(ax.get_yticks()), 3),
        "override_plot_properties": ({"figure_width": 4}, {}, lambda ax, mesh: ax.figure.get_figwidth(), 4.0),
        **{name: (text, {}, lambda ax, mesh: [t.get_text() for t in ax.texts], [text]) for name, text in TEXTS.items()},
    } | _of_labels(bar)
    for axis in "xy":
        yield of("healpy.projview", seen(draw, lambda ax, mesh, axis=axis: getattr(ax, f"get_{axis}ticklabels")()[0].get_fontsize()),
                 {"graticule_labels": True}, fontsize=({f"{axis}tick_label": 21}, DEFAULT, lambda: 21.0))
    for keyword, (value, base, look, expected) in looks.items():
        yield of("healpy.projview", seen(draw, look), base, **{keyword: (value, DEFAULT, lambda e=expected: e)})
    marks = lambda ax, mesh: ([t.get_text() for t in bar(ax).get_xticklabels()], np.array(bar(ax).get_xticks()))
    marked = lambda module: seen(lambda **k: module.projview(SKY, xsize=20, min=2.0, max=9.0, **k), marks)
    yield of("healpy.projview", marked(hp), {}, show_tickmarkers=(True, False, lambda: marked(healpy)(show_tickmarkers=True)))
    again = lambda: hp.projview(SKY, xsize=20, cbar=False)
    for keyword in ("hold", "reuse_axes"):
        yield of("healpy.projview", seen(lambda **k: draw(cbar=False, **k), lambda ax,
                                         mesh: (len(plt.get_fignums()), len(ax.collections)), again),
                 **{keyword: (True, False, lambda keyword=keyword: (1, 1 if keyword == "hold" else 2))})


def _of_data_of_projview():
    data = lambda **k: np.ma.filled(hp.projview(SKY, xsize=20, return_only_data=True, **k)[2], -1.0)
    mean = lambda sky: np.mean(sky[sky > -1e30])
    shifted = lambda shift: np.where(data() == -1, -1.0, data() - shift)
    fit = lambda **k: data(remove_mono=True, **k)
    turned = lambda **k: healpy.projview(SKY, xsize=20, return_only_data=True, **k)
    inner = lambda found: np.ma.filled(found, -1.0)[1:-1, 1:-1]
    for keyword, value in {"rot": (30, 20, 10), "coord": ["G", "C"], "invRot": With(False, rot=50), "nest": True,
                           "latra": With([-10, 30], projection_type="cart")}.items():
        others = value.others if isinstance(value, With) else {}
        plain = value.value if isinstance(value, With) else value
        yield of(
            "healpy.projview", lambda keyword=keyword, plain=plain, others=others, **k:
            _share(inner(hp.projview(SKY, xsize=20, return_only_data=True, **k)[2]),
                   inner(turned(**others, **{keyword: plain})[2])),
            others, **{keyword: (plain, DEFAULT, lambda: True)})
    yield of("healpy.projview", lambda **k: hp.projview(SKY, xsize=20, return_only_data=True, **k)[0][0],
             {"projection_type": "cart", "flip": "geo"}, within=1e-12,
             lonra=([10, 50], DEFAULT, lambda: np.radians(10)))
    yield of("healpy.projview", data, within=1e-12, remove_mono=(True, False, lambda: shifted(mean(SKY))),
             remove_dip=(True, False, lambda: np.where(data() == -1, -1,
                                                       hp.projview(hp.remove_dipole(SKY), xsize=20,
                                                                   return_only_data=True)[2].filled(-1.0))))
    yield of("healpy.projview", fit, within=1e-12,
             gal_cut=(30, 0, lambda: hp.projview(hp.remove_monopole(SKY, gal_cut=30), xsize=20,
                                                 return_only_data=True)[2].filled(-1.0)),
             nest=(True, False, lambda: np.where(_nested() == -1, -1.0, _nested() - mean(SKY))))
    yield of("healpy.projview", lambda **k: hp.projview(SKY, xsize=20, return_only_data=True, **k)[0][0], within=1e-12,
             flip=("geo", "astro", lambda: -np.pi))


def _nested():
    return np.ma.filled(hp.projview(to_ring(SKY), xsize=20, return_only_data=True)[2], -1.0)


def _share(ours, theirs):
    """Whether the pictures are the same but for pixels on an edge."""
    return ours.shape == theirs.shape and bool(np.mean(ours != theirs) < 0.05)


def _of_mollzoom():
    draw = lambda **k: hp.mollzoom(SKY, **({"xsize": 40} | k))
    whole = lambda: [ax for n in plt.get_fignums() for ax in plt.figure(n).axes if type(ax).__name__.startswith("Hpx") or "Mollweide" in type(ax).__name__][0]
    images = lambda: [ax.images[0] for n in plt.get_fignums() for ax in plt.figure(n).axes if ax.images and hasattr(ax, "proj")]
    values = lambda ax, r: [np.ma.filled(image.get_array(), -1.0) for image in images()]
    same = lambda **k: lambda: seen(lambda **o: hp.mollzoom(**o, xsize=40), values)(**k)
    parts = {
        "nest": (True, {}, values, same(map=to_ring(SKY))),
        "remove_mono": (True, {}, values, same(map=hp.remove_monopole(SKY))),
        "remove_dip": (True, {}, values, same(map=hp.remove_dipole(SKY))),
        "gal_cut": (20, {"remove_mono": True}, values, same(map=hp.remove_monopole(SKY, gal_cut=20))),
        "rot": ((30, 20), {}, lambda ax, r: np.round(whole().proj.get_center(lonlat=True), 9),
                lambda: np.array([30.0, 20.0])),
        "coord": ("GC", {}, lambda ax, r: whole().proj.mkcoord("G"),
                  lambda: seen(lambda **k: hp.mollview(SKY, coord="GC", xsize=40), lambda ax,
                               r: whole().proj.mkcoord("G"))()),
        "xsize": (60, {}, lambda ax, r: images()[0].get_array().shape[1], lambda: 60),
        "title": ("T", {}, lambda ax, r: whole().get_title(), lambda: "T"),
        "min": (2.0, {}, lambda ax, r: images()[0].get_clim()[0], lambda: 2.0),
        "max": (9.0, {}, lambda ax, r: images()[0].get_clim()[1], lambda: 9.0),
        "flip": ("geo", {}, lambda ax, r: bool(whole().proj.ang2xy(30.0, 0.0, lonlat=True)[0] > 0), lambda: True),
        "cmap": ("jet", {}, lambda ax, r: [image.cmap.name for image in images()], lambda: ["jet", "jet"]),
        "fig": (7, {}, lambda ax, r: plt.get_fignums()[-1] == 7 or 7 in plt.get_fignums(), lambda: True),
        "unit": ("mK", {}, lambda ax, r: "mK" in [t.get_text() for n in plt.get_fignums() for a in plt.figure(n).axes for t in a.texts], lambda: True),
        "format": ("%.3f", {"min": 2.0, "max": 9.0}, lambda ax,
                   r: "2.000" in [t.get_text() for n in plt.get_fignums() for a in plt.figure(n).axes for t in a.get_xticklabels()], lambda: True),
        "sub": (122, {}, lambda ax, r: bool(whole().get_position().x0 > 0.4), lambda: True),
        "margins": ((0.3, 0.1, 0.1, 0.2), {}, lambda ax, r: bool(whole().get_position().x0 > 0.25), lambda: True),
    }
    for keyword, (value, base, look, expected) in parts.items():
        yield of("healpy.mollzoom", seen(draw, look), base, within=1e-9, **{keyword: (value, DEFAULT, expected)})
    yield of("healpy.mollzoom", seen(draw, lambda ax, r: round(float(images()[0].norm(10.0)), 6)),
             {"min": 1.0, "max": 100.0}, norm=("log", DEFAULT, lambda: 0.5))
    yield of("healpy.mollzoom", seen(draw, lambda ax, r: len(plt.get_fignums()), lambda: plt.figure(3).add_subplot()),
             hold=(True, False, lambda: 2))
    yield of("healpy.mollzoom", lambda **k: seen(lambda **o: hp.mollzoom(**o), lambda ax, r: len(images()))(**k),
             map=(SKY, DEFAULT, lambda: 2))


def _of_views():
    size = {"xsize": 30}
    for name in ("mollview", "gnomview", "cartview", "orthview", "azeqview"):
        view = getattr(hp, name)
        yield of(f"healpy.{name}", seen(lambda view=view, **k: view(**k, **size), lambda ax, r: len(ax.images)),
                 map=(SKY, DEFAULT, lambda: 1))
        yield of(f"healpy.{name}", seen(lambda view=view, **k: view(SKY, cbar=False, **k, **size), lambda ax,
                                        r: (len(plt.get_fignums()), len(ax.images)),
                                        lambda view=view: view(SKY, cbar=False,
                                                               **size)), reuse_axes=(True, False, lambda: (1, 2)))
    centre = lambda **k: np.round(seen(lambda **o: hp.azeqview(SKY, reso=200, xsize=30, **o), lambda ax,
                                       r: np.array(ax.proj.get_center(lonlat=True)))(**k), 9)
    yield of("healpy.azeqview", centre, zat=((30, 40, 10), DEFAULT,
                                             lambda: np.round(seen(lambda **o: hp.cartview(SKY, xsize=30, zat=(30, 40, 10)), lambda ax, r: np.array(ax.proj.get_center(lonlat=True)))(), 9)))
    yield of("healpy.azeqview", seen(lambda **k: hp.azeqview(SKY, xsize=30, **k), lambda ax, r: ax.get_aspect()),
             aspect=(2.0, DEFAULT, lambda: 2.0))
    moll = lambda: hp.mollview(SKY, xsize=30, coord="G")
    first = lambda ax, r: np.nan_to_num(np.array(ax.lines[0].get_data())[:, 3:6])
    yield of("healpy.graticule", seen(lambda **k: hp.graticule(**k) or True, first, moll), {}, within=1e-6,
             coord=("C", "G", lambda: seen(lambda: plt.gca().graticule(coord="C"), first, moll)()))
    drawn = lambda look, before: seen(lambda **k: hp.graticule(**k) or True, look, before)
    yield of("healpy.graticule", drawn(lambda ax, r: _latitudes_of(ax), moll),
             dpar=(45, 30, lambda: [-45.0, 0.0, 45.0]))
    yield of("healpy.graticule", drawn(lambda ax, r: ax.texts[-1].get_fontsize(), moll), {"coord": "C"},
             fontsize=(31, "large", lambda: 31.0))
    yield of("healpy.graticule", drawn(first, lambda: hp.mollview(SKY, xsize=30, rot=(40, 30))), {}, within=1e-12,
             local=(True, False, drawn(first, lambda: hp.mollview(SKY, xsize=30))))
    fmt = lambda **k: hp.newprojplot(np.array([60.0, 40.0]) / 57, np.array([10.0, 20.0]) / 57, **k)
    base = lambda: hp.projview(SKY, xsize=20)
    yield of("healpy.newprojplot", seen(fmt, lambda ax, r: r[0].get_color(), base), fmt=("r-", DEFAULT, lambda: "r"))
    yield of("healpy.newprojplot", seen(lambda **k: hp.newprojplot(np.array([1.0, 2.0]), np.array([0.5, 0.6]), **k),
                                        lambda ax, r: np.array(r[0].get_data()), base), {}, within=1e-12,
             lonlat=(True, False, lambda: np.radians([[-1.0, -2.0], [0.5, 0.6]])))


def _latitudes_of(ax):
    """Of the parallels of a graticule, deg."""
    found = set()
    for line in ax.lines:
        lat = ax.proj.xy2ang(*line.get_data(), lonlat=True)[1]
        lat = lat[np.isfinite(lat)]
        if lat.size and np.ptp(lat) < 1e-6:
            found.add(round(float(lat[0]), 6) + 0.0)
    return sorted(found)


def _of_regions():
    fine = 64 * NSIDE
    for name, where in (("query_disc", ((1, 0.3, 0.2), 0.7)), ("query_polygon", (TRIANGLE,))):
        query = lambda name=name, where=where, **k: getattr(hp, name)(NSIDE, *where, nest=True, **k)
        # Those that overlap have the centre of a small pixel in the region.
        overlap = set(getattr(healpy, name)(fine, *where, nest=True) // (fine // NSIDE) ** 2)
        yield of(f"healpy.{name}", lambda query=query, overlap=overlap, **k: len(overlap - set(query(**k))),
                 inclusive=(True, False, lambda: 0))
        yield of(f"healpy.{name}", lambda query=query, overlap=overlap, **k: len(set(query(inclusive=True, **k)) - overlap),
                 fact=(64, 4, lambda: 0))
    for name, where in (("query_strip", (0.3, 0.9)), ("query_polygon", (TRIANGLE,))):
        yield of(f"healpy.{name}", lambda name=name, where=where, **k: _in_memory(name, where, **k),
                 buff=(True, DEFAULT, lambda name=name, where=where: (getattr(healpy, name)(NSIDE, *where), True)))


def _in_memory(name, where, buff=False):
    """The pixels that a query finds, and whether they lie in the memory that it was given."""
    space = np.zeros(12 * NSIDE**2, np.int64)
    found = getattr(hp, name)(NSIDE, *where, **({"buff": space} if buff else {}))
    return found, bool(np.shares_memory(found, space))


def _asked_of_astropy(module, **options):
    """What read_map asks astropy for when it opens a file."""
    _map_file("keyword.fits")
    with patch.object(fits, "open", wraps=fits.open) as opened:
        module.read_map("keyword.fits", **options)
    return opened.call_args.kwargs.get("memmap")


def _of_coefficients():
    temperature, polarised = hp.pixwin(NSIDE, pol=True, lmax=LMAX)
    windowed = lambda alm: [healpy.almxfl(a, w) for a, w in zip(alm, (temperature, polarised, polarised))]
    again = lambda **k: hp.synfast(SPECTRA, NSIDE, alm=True, **k)
    lsq = lambda **k: hp.map2alm_lsq(FULL[0], 8, 8, **k)[2]
    memory = lambda **k: (lambda m: bool(np.shares_memory(hp.ma(m, **k).data, m)))(PLAIN.copy())
    return [
        of("healpy.alm2map", lambda **k: hp.alm2map(TEB, NSIDE, **k),
           pixwin=(True, False, lambda: healpy.alm2map(windowed(TEB), NSIDE))),
        of("healpy.synfast", again, {}, within=1e-12, pixwin=(True, False, lambda: _of_alm(windowed))),
        of("healpy.synalm", lambda **k: hp.synalm(SPECTRA, **k).shape,
           mmax=(4, LMAX, lambda: (3, healpy.Alm.getsize(LMAX, 4)))),  # healpy crashes
        of("healpy.synfast", lambda **k: again(**k)[1].shape, mmax=(4, LMAX, lambda: (3, healpy.Alm.getsize(LMAX, 4)))),
        of("healpy.pixwin", lambda **k: hp.pixwin(NSIDE, **k), lmax=(9, 3 * NSIDE - 1, lambda: hp.pixwin(NSIDE)[:10])),
        # HEALPix's file for nside 2
        of("healpy.pixwin", lambda **k: np.array(hp.pixwin(2, **k))[..., 2], {}, within=1e-7,
           pol=(True, False, lambda: np.array([0.93310702, 0.97751743]))),
        of("healpy.harmonic_ud_grade", lambda **k: hp.harmonic_ud_grade(PLAIN, 4, use_pixel_weights=False, **k), {},
           within=1e-12,
           pixwin=(False, True, lambda: healpy.harmonic_ud_grade(PLAIN, 4, use_pixel_weights=False, pixwin=False))),
        of("healpy.read_map", lambda **k: _asked_of_astropy(hp, **k),
           memmap=(True, False, lambda: _asked_of_astropy(healpy, memmap=True))),
        of("healpy.ma", memory, copy=(False, True, lambda: True)),
        of("healpy.map2alm_lsq", lambda **k: lsq(**k) < 4, tol=(0.1, 1e-10, lambda: True)),
        of("healpy.map2alm_lsq", lsq, maxiter=(2, 20, lambda: Sent(2, ["ZonalWarning"]))),
    ]


def _of_alm(windowed):
    np.random.seed(7)
    alm = np.array(windowed(healpy.synalm(SPECTRA, new=False)))
    return healpy.alm2map(alm, NSIDE), alm


def _of_ranks():
    made = lambda **k: zonal.mpi.SHT(MPI.COMM_SELF, HEALPIX, 8, threads=1, **k)
    whole = made()
    return [
        of("mpi.SHT.__init__", lambda **k: made(**k).n_alm, mmax=(3, 8, lambda: zonal.alm_size(8, 3))),
        of("mpi.SHT.__init__", lambda **k: made(**k).spin, spin=(2, 0, lambda: 2)),
        of("mpi.SHT.__init__", lambda **k: repr(made(**k)), speeds=([-1.0], DEFAULT, raises)),
        *(of(f"mpi.SHT.{name}", lambda name=name, given=given, **k: getattr(whole, name)(given, **k),
             root=(1, 0, raises))
          for name, given in (("scatter_map", PLAIN), ("gather_map", PLAIN), ("scatter_alm", TEB[0][:45]),
                              ("gather_alm", TEB[0][:45]))),
        of("mpi.SHT.read_map", reading(_map_file, lambda m: m, whole.read_map), {"fields": [0, 1]},
           pol=(False, DEFAULT, lambda: IQU[:2])),
        of("anafast", lambda **k: zonal.anafast(healpy.alm2map(TEB[0], NSIDE), lmax=LMAX, **k), {}, within=1e-9,
           tolerance=(1e-11, DEFAULT, lambda: healpy.alm2cl(TEB[0]))),
    ]


def cases():
    """All of them."""
    groups = [*_of_projview(), *_of_data_of_projview(), *_of_mollzoom(), *_of_views(), *_of_regions(), *_of_coefficients(),
              *_of_ranks()]
    return [case for group in groups for case in group]

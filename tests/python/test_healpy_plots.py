"""Pictures under healpy's names, against healpy's."""

import inspect
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import healpy
import healpy.projaxes
import healpy.projector
import matplotlib.pyplot as plt
import numpy as np
import pytest
from healpy import newvisufunc as their_newvisufunc

import zonal.healpy as hp
from zonal.healpy import newvisufunc, projaxes, projector, visufunc, zoomtool

EPS = np.finfo(float).eps
# Degrees go to pixels and back in some hundred roundings of 40.
CLICK = 100 * 40 * EPS

NSIDE = 16
VIEWS = ["mollview", "gnomview", "cartview", "orthview", "azeqview"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def sky(rng):
    """Noise, with UNSEEN pixels."""
    m = rng.standard_normal(12 * NSIDE**2)
    m[300:400] = hp.UNSEEN
    return m


def drawn_by(package, name, sky, **options):
    """The picture, -1e9 where a pixel is bad."""
    picture = np.ma.filled(getattr(package, name)(sky, return_projected_map=True, **options), -1e9)
    plt.close("all")
    return np.where(np.abs(picture - hp.UNSEEN) < 1e25, -1e9, np.asarray(picture, float))


PICTURES = [
    ("mollview", {}), ("mollview", {"rot": (30, 20, 10), "coord": "GC", "flip": "geo", "nest": True}),
    ("mollview", {"coord": "GE", "remove_dip": True}), ("mollview", {"remove_mono": True, "gal_cut": 20, "xsize": 111}),
    ("gnomview", {"rot": (30, 20, 10), "reso": 30}),
    ("gnomview", {"rot": (-120, -60), "coord": "CG", "reso": 20, "xsize": 150, "ysize": 80, "flip": "geo"}),
    ("cartview", {}), ("cartview", {"lonra": [-30, 50], "latra": [-10, 20], "xsize": 150}),
    ("cartview", {"rot": (100, 10), "lonra": [-90, 10], "xsize": 100, "ysize": 50}),
    ("cartview", {"zat": (30, 40, 10)}),
    ("orthview", {"rot": (10, 20)}), ("orthview", {"half_sky": True, "flip": "geo", "coord": "EG"}),
    ("azeqview", {"reso": 120, "xsize": 200}), ("azeqview", {"reso": 60, "lamb": True, "rot": (0, 90), "xsize": 200}),
    ("azeqview", {"reso": 60, "xsize": 200, "half_sky": True, "lamb": True}),
]


@pytest.mark.parametrize(("name", "options"), PICTURES, ids=lambda value: str(value))
def test_pictures_are_those_of_healpy(name, options, sky):
    size = {} if "xsize" in options or name == "gnomview" else {"xsize": 200}
    ours, theirs = (drawn_by(package, name, sky, **options, **size) for package in (hp, healpy))
    assert ours.shape == theirs.shape
    # Centres on a pole or on the edge of a pixel may fall on either side of it, by the rounding of each: a row or two.
    assert np.mean(~np.isclose(ours, theirs, rtol=1e-12, atol=1e-12)) < 0.02


@pytest.mark.parametrize("name", VIEWS)
def test_views_show_as_much_as_those_of_healpy(name, sky):
    limits = []
    for package in (hp, healpy):
        getattr(package, name)(sky, xsize=40)
        limits.append([*plt.gca().get_xlim(), *plt.gca().get_ylim()])
    np.testing.assert_allclose(*limits, rtol=1e-14)  # a few roundings


@pytest.mark.parametrize("name", [*VIEWS, "graticule", "delgraticules", "projplot", "projscatter", "projtext",
                                  "mollzoom", "projview", "newprojplot", "Rotator"])
def test_arguments_and_defaults_are_those_of_healpy(name):
    ours, theirs = (inspect.signature(getattr(package, name)).parameters for package in (hp, healpy))
    assert list(ours) == list(theirs)
    assert {n: p.default for n, p in ours.items()} == {n: p.default for n, p in theirs.items()}


PROJECTORS = [
    ("MollweideProj", {}), ("MollweideProj", {"rot": (30, 20, 10), "coord": "GC"}),
    ("MollweideProj", {"flipconv": "geo"}),
    ("GnomonicProj", {"rot": (30, 20, 10), "reso": 60, "xsize": 100, "ysize": 50}),
    ("CartesianProj", {"lonra": (-30, 50), "latra": (-10, 20), "xsize": 100}), ("CartesianProj", {"rot": (100, 0)}),
    ("OrthographicProj", {}), ("OrthographicProj", {"half_sky": True}),
    ("AzimuthalProj", {"reso": 15}), ("AzimuthalProj", {"reso": 15, "lamb": False, "half_sky": True}),
]


@pytest.mark.parametrize(("name", "options"), PROJECTORS, ids=lambda value: str(value))
def test_projectors_are_those_of_healpy(name, options, rng):
    ours, theirs = (getattr(package, name)(**{key: list(value) if isinstance(value, tuple) else value
                                              for key, value in options.items()})
                    for package in (projector, healpy.projector))
    # healpy interpolates Mollweide's angles in a table, to 4e-4; elsewhere a few ulp are lost near the rim
    atol = 5e-4 if name == "MollweideProj" else 1e-9
    v = rng.standard_normal((3, 500))
    v[1] += 0.1 * np.sign(v[1])  # away from the cut, where x jumps
    lon, lat = rng.uniform(-170, 170, 500), rng.uniform(-80, 80, 500)
    lon[np.abs(np.abs((lon - 100) % 360 - 180)) < 5] += 10
    with np.errstate(all="ignore"):
        for call, arguments, extra in (("vec2xy", tuple(v), {}), ("ang2xy", (lon, lat), {"lonlat": True}),
                                       ("ang2xy", (1.0, 0.5), {"direct": True})):
            found, expected = (np.array(getattr(p, call)(*arguments, **extra)) for p in (ours, theirs))
            expected[:, np.isnan(expected[0])] = np.nan  # healpy has a y of what is not on the picture
            np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
    x0, x1, y0, y1 = ours.get_extent()
    np.testing.assert_allclose((x0, x1, y0, y1), theirs.get_extent(), rtol=1e-14)
    x, y = rng.uniform(x0, x1, 300), rng.uniform(y0, y1, 300)
    with np.errstate(all="ignore"):
        for direct in (False, True):
            expected = np.array(theirs.xy2vec(x.copy(), y.copy(), direct=direct))  # it writes to x
            expected[:, np.isnan(expected[0])] = np.nan  # healpy has a z of what is no sky
            np.testing.assert_allclose(ours.xy2vec(x, y, direct=direct), expected, rtol=0, atol=64 * EPS)  # some ten roundings, of sides of up to 6
    np.testing.assert_allclose(ours.get_center(lonlat=True), theirs.get_center(lonlat=True), rtol=0, atol=1e-12)
    assert ours.mkcoord("G") == theirs.mkcoord("G") and ours.name == theirs.name
    for mine, other in zip(ours.ij2xy(), theirs.ij2xy()):
        np.testing.assert_array_equal(np.ma.getmaskarray(mine), np.ma.getmaskarray(other))
        np.testing.assert_allclose(np.ma.filled(mine, 0), np.ma.filled(other, 0), rtol=0, atol=64 * EPS)


@pytest.mark.parametrize(("name", "options"), PROJECTORS, ids=lambda value: str(value))
def test_projectors_know_their_pixels(name, options):
    proj = getattr(projector, name)(**options)
    x, y = proj.ij2xy()
    i, j = proj.xy2ij(np.ma.getdata(x), np.ma.getdata(y))
    shown = ~np.ma.getmaskarray(x)
    rows, columns = np.indices(x.shape)
    np.testing.assert_array_equal(i[shown], rows[shown])
    np.testing.assert_array_equal(j[shown], columns[shown])
    k = tuple(index[index.size // 2] for index in np.nonzero(shown))
    assert proj.ij2xy(*k) == (x[k], y[k]) and proj.xy2ij(x[k], y[k]) == k
    assert proj == getattr(projector, name)(**options) and proj != projector.MollweideProj(rot=(1, 2))


@pytest.mark.parametrize("options", [{}, {"lonlat": True}, {"rot": (30, 40, 50)}, {"coord": "E"}, {"direct": True}])
def test_points_lines_and_texts_are_where_healpy_puts_them(options):
    theta, phi = np.array([0.3, 0.5, 1.2]), np.array([0.2, 0.4, 0.8])
    places = []
    for package in (hp, healpy):
        package.mollview(coord="GC", rot=(20, 30))
        lines = package.projplot(theta, phi, "bo", **options)
        points = package.projscatter(theta, phi, **options).get_offsets()
        text = package.projtext(theta[0], phi[0], "here", **options).get_position()
        x, y = (np.concatenate(parts) for parts in zip(*(line.get_data() for line in lines)))
        np.testing.assert_allclose(points, np.array([x, y]).T[np.isfinite(x)], rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(text, points[0], rtol=1e-14, atol=1e-14)
        assert lines[0].get_color() == "b" and lines[0].get_marker() == "o"
        places.append(points)
    np.testing.assert_allclose(*places, rtol=0, atol=5e-4)  # of healpy's table of Mollweide's angles


def test_lines_break_at_the_edge_and_both_angles_may_come_in_one():
    hp.mollview()
    (line,) = hp.projplot(np.array([[170.0, 190.0], [0.0, 0.0]]), "r-", lonlat=True)
    assert np.isnan(line.get_xdata()[1]) and line.get_xdata()[0] * line.get_xdata()[2] < 0
    with pytest.raises(TypeError, match="needs theta and phi"):
        hp.projplot("r-")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("coord", [None, "G"])
def test_graticules_lie_on_meridians_and_parallels(view, coord):
    getattr(hp, view)(coord="C" if coord else None, rot=(50, 40))
    meridian, parallel = (1, 1) if view in ("gnomview", "azeqview") else (45, 30)
    hp.graticule(dpar=parallel, dmer=meridian, coord=coord)
    ax = plt.gca()
    turn = hp.Rotator(coord=["C", coord]) if coord else hp.Rotator()
    lines = [line for line in ax.lines if np.isfinite(ax.proj.xy2ang(*line.get_data())[0]).sum() > 10]
    assert lines
    for line in lines[:-1]:
        x, y = line.get_data()
        v = ax.proj.xy2vec(x[np.isfinite(x)], y[np.isfinite(x)])
        lon, lat = hp.vec2dir(turn(v[:, np.isfinite(v[0])]), lonlat=True)
        lon = lon[np.abs(lat) < 89]
        assert min(np.abs((angle + step / 2) % step - step / 2).max()
                   for angle, step in ((lon, meridian), (lat, parallel))) < 1e-5


def test_steps_of_graticules_suit_the_picture(capsys):
    hp.gnomview(rot=(0, 0))
    plt.gca().graticule(verbose=True)
    assert "parallels every 1 deg" in capsys.readouterr().out
    plt.gca().graticule(coord=None, local=True, dpar=0.5)
    with pytest.raises(ValueError, match="dmer = 0"):
        hp.graticule(dmer=0)


def test_colours_are_clipped_to_the_range_and_bad_pixels_are_gray(sky):
    hp.mollview(sky, min=-1, max=1, badcolor="red", bgcolor="blue", xsize=200)
    image, ax = plt.gca().images[0], plt.gca()
    colors = image.norm(np.ma.array([-5.0, -1.0, 0.0, 1.0, 5.0]))
    np.testing.assert_allclose(colors, [0, 0, 0.5, 1, 1], rtol=1e-14, atol=1e-14)
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3].reshape(-1, 3)
    red, blue = ((pixels == color).all(axis=1).sum() for color in ([255, 0, 0], [0, 0, 255]))
    assert 0.01 < red / blue < 0.5  # 100 pixels of 3072, and a fifth of the rectangle around the ellipse


@pytest.mark.parametrize("norm", [None, "log", "hist"])
def test_norms_are_those_of_healpy(norm, rng):
    values = np.exp(rng.standard_normal(2000))
    ours, theirs = (package.get_color_table(0.5, 5.0, values, norm=norm)[1] for package in (projaxes, healpy.projaxes))
    at = np.array([-3.0, 0.1, 0.5, 1.0, 2.0, 5.0, 9.0])
    # healpy puts values to be equalised into bins
    np.testing.assert_allclose(ours(at), np.asarray(theirs(at)), rtol=0, atol=0.02 if norm == "hist" else 1e-12)
    np.testing.assert_allclose(ours.inverse(ours(at[2:6])), at[2:6], rtol=64 * EPS)  # to and fro through a logarithm and a power
    assert ours(np.array([-np.inf]))[0] < 0


def test_symmetric_logarithms_are_those_of_their_formulas():
    at = np.array([-30.0, -1.0, 0.0, 0.5, 100.0])
    np.testing.assert_allclose(projaxes.symlog_forward(at), np.log10((at + np.sqrt(4 + at**2)) / 2), rtol=0, atol=1e-12)  # where the formula cancels
    np.testing.assert_allclose(projaxes.symlog_backward(projaxes.symlog_forward(at)), at, rtol=8 * EPS, atol=8 * EPS)
    ends = projaxes.symlog_forward(np.array([-100.0, 100.0]))
    expected = {"symlog": matplotlib.colors.SymLogNorm(1, 0.1, -100, 100, base=10)(at),
                "symlog2": (projaxes.symlog_forward(at) - ends[0]) / (ends[1] - ends[0])}
    for norm, places in expected.items():
        found = projaxes.get_color_table(-100.0, 100.0, at, norm=norm)[1]
        np.testing.assert_allclose(found(at), places, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found(np.array([-200.0, 200.0])), [0, 1], rtol=1e-14, atol=1e-14)
    with pytest.raises(ValueError, match="norm = 'cubic'"):
        projaxes.get_color_table(0, 1, at, norm="cubic")


def test_a_sky_of_bad_pixels_is_drawn_without_a_bar():
    hp.mollview(np.full(48, hp.UNSEEN), xsize=100)
    assert len(plt.gcf().axes) == 1 and plt.gca().images[0].get_array().mask.all()


def test_the_bar_has_ticks_at_its_ends_and_the_unit(sky):
    hp.mollview(sky, unit="mK", nlocs=3, min=-2, max=2, format="%.1f", fontsize={"cbar_label": 20}, xsize=100)
    plt.gcf().canvas.draw()
    bar = plt.gcf().axes[1]
    assert [label.get_text() for label in bar.get_xticklabels()] == ["-2.0", "0.0", "2.0"]
    assert [(text.get_text(), text.get_fontsize()) for text in bar.texts] == [("mK", 20)]
    np.testing.assert_array_equal(bar.get_xticks(), [-2, 0, 2])


def test_axes_tell_what_is_under_the_mouse(sky):
    hp.mollview(sky, xsize=200)
    ax = plt.gca()
    x, y = ax.proj.ang2xy(40, 20, lonlat=True)
    np.testing.assert_allclose(ax.get_lonlat(x, y), [40, 20], rtol=16 * EPS)
    assert ax.get_value(x, y) in sky and ax.format_coord(x, y).startswith("(40.00, 20.00) deg value: ")
    assert ax.get_value(1.99, 0.99) is None and ax.format_coord(1.99, 0.99) == ""


def test_axes_are_kept_replaced_and_reused(sky):
    hp.mollview(sky, xsize=100)
    first = plt.gca()
    hp.mollview(sky, xsize=100, reuse_axes=True, alpha=np.full(sky.size, 0.5), cbar=False)
    assert plt.gca() is first and len(first.images) == 2 and len(plt.get_fignums()) == 1
    assert np.nanmax(first.images[1].get_alpha()) == 0.5
    with pytest.raises(TypeError, match="reuse_axes"):
        hp.gnomview(sky, reuse_axes=True)
    for options, message in (({"rot": 10}, "rot, flip: must be those"), ({"sub": 111}, "sub: has no effect")):
        with pytest.raises(ValueError, match=message):
            hp.mollview(sky, reuse_axes=True, **options)
    figure, (left, right) = plt.subplots(1, 2)
    place = right.get_position().bounds
    plt.sca(right)
    hp.cartview(sky, xsize=100, hold=True, cbar=False)
    assert figure.axes == [left, plt.gca()] and plt.gca().figure is figure
    np.testing.assert_allclose(plt.gca().get_position(original=True).bounds, place, rtol=1e-14, atol=1e-14)
    before = plt.get_fignums()
    assert hp.gnomview(sky, xsize=20, no_plot=True).shape == (20, 20) and plt.get_fignums() == before


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda sky: hp.mollview(sky[:-1]), TypeError, "pixels: must have 12 nside"),
    (lambda sky: hp.mollview([sky, sky]), TypeError, "must be one"),
    (lambda sky: hp.mollview(sky, flip="west"), ValueError, "flipconv = 'west'"),
    (lambda sky: hp.mollview(sky, norm="cubic"), ValueError, "norm = 'cubic'"),
    (lambda sky: hp.mollview(sky, fontsize={"legend": 3}), ValueError, "fontsize: has legend"),
    (lambda sky: hp.mollview(sky, sub=(1, 2, 3)), ValueError, "sub = "),
    (lambda sky: hp.mollview(sky, hold=True, sub=111), ValueError, "sub: has no effect with hold"),
    (lambda sky: hp.mollview(sky, hold=True, fig=1), ValueError, "fig: has no effect with hold"),
    (lambda sky: hp.mollview(sky, gal_cut=10), ValueError, "gal_cut = 10: has an effect only with"),
    (lambda sky: hp.projview(sky, norm_dict={"base": 2}), ValueError, "norm_dict: is for"),
    (lambda sky: hp.projview(sky, hold=True, width=5), ValueError, "width: has no effect"),
    (lambda sky: hp.cartview(sky, rot=3, zat=(1, 2)), ValueError, "rot, zat"),
    (lambda sky: hp.cartview(sky, lonra=[50, -30]), ValueError, "lonra = "),
    (lambda sky: hp.gnomview(sky, reso=0), ValueError, "reso = 0"),
    (lambda sky: hp.mollzoom(None), ValueError, "map: must be given"),
    (lambda sky: hp.projview(sky, projection_type="flat"), ValueError, "projection_type = 'flat'"),
    (lambda sky: hp.projview(sky, lonra=[0, 10]), ValueError, "lonra cannot be set"),
    (lambda sky: hp.projview(sky, fontsize={"legend": 3}), ValueError, "fontsize: has legend"),
    (lambda sky: hp.projview(sky, override_plot_properties={"size": 3}), ValueError, "properties: has size"),
    (lambda sky: hp.projview(sky, graticule_coord="G"), ValueError, "graticule_coord = 'G'"),
    (lambda sky: hp.projview(sky, no_such=1), AttributeError, "no_such"),  # by matplotlib, which gets the rest
])
def test_what_cannot_be_drawn_is_refused(call, error, message, sky):
    with pytest.raises(error, match=message):
        call(sky)


@pytest.mark.parametrize("options", [
    {}, {"flip": "geo"}, {"rot": (30, 20, 10), "coord": ["G", "C"]}, {"rot": 50, "invRot": False},
    {"nest": True, "projection_type": "hammer"}, {"projection_type": "cart", "latra": [-10, 30]}])
def test_values_of_projview_are_those_of_healpy(options, sky):
    ours, theirs = (package.projview(sky, return_only_data=True, xsize=199, **options)
                    for package in (newvisufunc, their_newvisufunc))
    for mine, other in zip(ours[:2], theirs[:2]):
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-14)
    # The poles and 180 deg lie on edges of pixels, and may fall on either side of them.
    inside = [np.ma.filled(values[2], hp.UNSEEN)[1:-1, 1:-1] for values in (ours, theirs)]
    assert np.mean(inside[0] != inside[1]) < 0.02


@pytest.mark.parametrize("flip", ["astro", "geo"])
def test_a_range_of_longitudes_keeps_its_longitudes(flip):
    longitude = hp.pix2ang(64, np.arange(12 * 64**2), lonlat=True)[0]
    x, _, values = hp.projview(longitude, projection_type="cart", lonra=[10, 50], flip=flip, return_only_data=True,
                               xsize=50)
    # within a pixel of nside 64; healpy writes these longitudes in reverse for flip = 'astro'
    assert np.abs(np.degrees(x if flip == "geo" else -x) - values[12]).max() < 1.0


@pytest.mark.parametrize("kind", ["mollweide", "hammer", "aitoff", "lambert", "cart", "polar"])
def test_lines_over_projview_lie_on_the_map(kind, sky):
    for flip, sign in (("astro", -1), ("geo", 1)):
        mesh = hp.projview(sky, projection_type=kind, flip=flip, xsize=40, graticule=True, graticule_labels=True,
                           title="t", unit="u", xlabel="x", ylabel="y")
        (line,) = hp.newprojplot(np.array([1.0, 2.0]), np.array([0.5, 3.0]), "r-", label="here")
        np.testing.assert_allclose(line.get_data(), [[0.5 * sign, 3.0 * sign], np.pi / 2 - np.array([1.0, 2.0])], rtol=1e-14, atol=1e-14)
        assert mesh is plt.gca().collections[0] and np.ma.getmaskarray(mesh.get_array()).any()
        assert len(plt.gcf().axes) == 2


@pytest.mark.parametrize(("options", "labels"), [
    ({}, ["120°", "60°", "0°", "300°", "240°"]), ({"rot": 50}, ["170°", "110°", "50°", "350°", "290°"]),
    ({"flip": "geo", "phi_convention": "clockwise"}, ["240°", "300°", "0°", "60°", "120°"]),
    ({"phi_convention": "symmetrical"}, ["-120°", "-60°", "0°", "60°", "120°"]),
    ({"custom_xtick_labels": list("ABCDE")}, list("ABCDE"))])
def test_labels_of_longitude(options, labels, sky):
    hp.projview(sky, graticule=True, graticule_labels=True, xsize=40, **options)
    assert [label.get_text() for label in plt.gca().get_xticklabels()] == labels
    assert [label.get_text() for label in plt.gca().get_yticklabels()] == ["-60°", "-30°", "0°", "30°", "60°"]


def test_a_turned_graticule_follows_the_sky():
    hp.projview(rot=(40, 30), coord="G", rot_graticule=True, graticule_coord="G", xsize=40,
                override_rot_graticule_properties={"t_step": 90, "p_step": 180})
    x, y = plt.gca().lines[0].get_data()  # the equator
    shown = np.isfinite(x)
    v = hp.Rotator(rot=(40, 30)).I(hp.dir2vec(np.pi / 2 - y[shown], -x[shown]))
    assert np.abs(v[2]).max() < 64 * EPS  # a few roundings in each of five matrices
    assert len(newvisufunc.CreateRotatedGraticule((10, 20), 30, 60)) == 5 + 6


def test_a_sky_in_three_dimensions_is_a_surface(sky):
    surface = hp.projview(sky, projection_type="3d", xsize=40, cb_orientation="vertical", unit="u")
    assert type(surface).__name__ == "Poly3DCollection" and plt.gca().name == "3d"


def test_clicks_and_keys_of_mollzoom_move_its_view(sky):
    hp.mollzoom(sky, xsize=100)
    tool = zoomtool._last[0]
    ax = plt.gca()
    x, y = ax.transData.transform(ax.proj.ang2xy(40, 20, lonlat=True))
    ax.figure.canvas.draw()
    ax.figure.canvas.callbacks.process("button_press_event", matplotlib.backend_bases.MouseEvent(
        "button_press_event", ax.figure.canvas, x, y, 1))
    np.testing.assert_allclose([tool.lon, tool.lat], [40, 20], rtol=0, atol=CLICK)
    view = next(a for a in tool._figure.axes if isinstance(a, projaxes.GnomonicAxes))
    np.testing.assert_allclose(view.proj.get_center(lonlat=True), [40, 20], rtol=0, atol=CLICK)
    before = tool.get_reso()
    ax.figure.canvas.callbacks.process("key_press_event", matplotlib.backend_bases.KeyEvent(
        "key_press_event", ax.figure.canvas, "r"))
    assert tool.get_reso() < before
    hp.set_g_clim(-1, 1)
    view = next(a for a in tool._figure.axes if isinstance(a, projaxes.GnomonicAxes))
    assert view.images[0].get_clim() == (-1, 1)


def test_healpy_names_import_without_matplotlib():
    code = ("import sys, zonal.healpy as hp; hp.mollview; hp.Rotator\n"
            "print('matplotlib' in sys.modules, 'astropy' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"
    assert hp.projaxes is projaxes and visufunc.mollview is hp.mollview

"""Pictures of maps and spectra."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import zonal
import zonal.healpy
from zonal import plot
from zonal.plot import colors, projections
from zonal.plot.units import typeset
from zonal.plot.view import View, directions, view_of

NSIDE = 32
EPS = np.finfo(float).eps
RADIUS = np.radians(2)  # of nside 32, whose pixels' corners lie within 1.3 deg of their centres
VIEWS = [plot.mollweide, plot.gnomonic, plot.cartesian, plot.orthographic, plot.azimuthal, plot.polar]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def pixel_vectors(nside=NSIDE):
    theta, phi = zonal.Grid.healpix(nside).angles()
    return directions(phi, np.pi / 2 - theta)


def picture_of(ax):
    """The values drawn, and the unit vectors of the map where they lie."""
    array = ax.images[0].get_array()
    view = view_of(ax)
    x, y = view.raster(array.shape[1], array.shape[0])
    return array, view.inverse(x[None, :], y[:, None])


@pytest.mark.parametrize("draw", VIEWS)
@pytest.mark.parametrize("nest", [False, True])
def test_each_point_has_the_value_of_its_pixel(draw, nest):
    v = pixel_vectors()
    order = zonal._core.nest2ring(NSIDE, np.arange(v.shape[1]), 1) if nest else slice(None)
    for axis in range(3):
        array, places = picture_of(draw(v[axis][order], nest=nest, rot=("40deg", "20deg", "10deg"), width=80)
                                   if draw is not plot.polar else draw(v[axis][order], nest=nest, width=80))
        sky = np.isfinite(places[0])
        assert np.array_equal(~np.ma.getmaskarray(array), sky) and sky.mean() > 0.5
        assert np.abs(array[sky] - places[axis][sky]).max() < RADIUS


@pytest.mark.parametrize(("flip", "sign"), [("astro", -1), ("geo", 1)])
def test_east_is_left_in_the_sky_and_right_on_a_map(flip, sign):
    v = pixel_vectors()
    longitude = np.arctan2(v[1], v[0])
    for draw in (plot.mollweide, plot.gnomonic, plot.cartesian):
        row = picture_of(draw(longitude, flip=flip, width=100))[0][25]
        assert np.all(sign * np.diff(row.compressed()) >= 0) and np.ptp(row.compressed()) > 0.1
        column = picture_of(draw(v[2], flip=flip, width=100))[0][:, 50]
        assert np.all(np.diff(column.compressed()) >= 0)


def test_the_middle_is_where_rot_says_and_the_north_is_up():
    v = pixel_vectors()
    for lon, lat in ((0.3, 0.2), (4.0, -1.0)):
        ax = plot.gnomonic(v[2], rot=(lon, lat), size="20deg", width=51)
        middle = view_of(ax).inverse(0.0, 0.0)
        np.testing.assert_allclose(middle, directions(lon, lat), rtol=0, atol=1e-15)
        up = view_of(ax).forward(directions(lon, lat + 1e-3))
        assert abs(up[0]) < 1e-12 and up[1] > 0
        turned = View.of(projections.Gnomonic(), (lon, lat, "90deg")).forward(directions(lon, lat + 1e-3))
        assert abs(turned[1]) < 1e-12 and turned[0] < 0  # east was left, and stands where north was


@pytest.mark.parametrize("coord", ["GC", "CG", "EG"])
def test_a_turned_picture_is_that_of_the_turned_map(coord):
    v = pixel_vectors()
    smooth = 2 * v[0] - v[1] + v[2] * v[0]
    before = zonal.rotation_matrix(coord).T @ v
    turned = 2 * before[0] - before[1] + before[2] * before[0]
    one, other = (picture_of(plot.mollweide(map, width=100, **options))[0]
                  for map, options in ((smooth, {"coord": coord}), (turned, {})))
    assert np.abs(one - other).max() < 2 * 4 * RADIUS  # the gradient is below 4


def test_what_is_bad_or_masked_is_gray_and_what_is_no_sky_is_clear():
    sky = pixel_vectors()[2].copy()
    sky[:100] = zonal.UNSEEN
    sky[100:200] = np.nan
    sky[200:300] = np.float32(zonal.UNSEEN)
    mask = np.ones(sky.size)
    mask[-500:] = 0
    ax = plot.mollweide(sky, mask=mask, width=100)
    image = ax.images[0]
    places = picture_of(ax)[1]
    colors = image.to_rgba(image.get_array())
    bad = (places[2] > 0.99) | (places[2] < -0.93)
    assert np.allclose(colors[bad], [0.5, 0.5, 0.5, 1], rtol=0, atol=0.01) and bad.any()
    assert image.get_alpha()[0, 0] == 0 and image.get_alpha()[25, 50] == 1
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3].reshape(-1, 3)
    assert (np.abs(pixels.astype(int) - 128).max(axis=1) <= 1).sum() > 100  # gray is there
    masked = plot.mollweide(np.ma.MaskedArray(pixel_vectors()[2], mask == 0), width=100).images[0].get_array()
    assert masked.mask.sum() > np.isnan(places[0]).sum()


def test_colours_span_what_is_asked_for():
    z = pixel_vectors()[2]
    assert plot.mollweide(z, min=-3, max=2).images[0].get_clim() == (-3, 2)
    assert plot.mollweide(np.full(48, 5.0)).images[0].get_clim() == (4.5, 5.5)
    array = picture_of(plot.gnomonic(z + 5, size="20deg"))[0]
    first, last = plot.gnomonic(z + 5, size="20deg").images[0].get_clim()  # of what is in view
    assert array.min() <= first < last <= array.max() and last < 5.3


def test_a_gaussian_sky_is_drawn_to_two_sigma_symmetrically_and_its_plane_does_not_matter(rng):
    sky = rng.standard_normal(12 * NSIDE**2)
    sky[np.abs(pixel_vectors()[2]) < 0.02] = 1000
    image = plot.cartesian(sky, width=200).images[0]
    low, high = image.get_clim()
    # The median of 12,288 |values| is right to 1 %, and each pixel is drawn as often as it has points.
    assert low == -high and abs(high / 2.33 - 1) < 0.05
    assert image.cmap.name == "coolwarm" and image.colorbar.extend == "both"


@pytest.mark.parametrize(("norm", "of", "low", "high"), [
    (None, lambda x: 5 + x, 5.005, 5.995), (None, lambda x: x, 0, 0.995), ("log", lambda x: x, 0.01, 1),
    ("hist", lambda x: x, 0, 1), ("symlog", lambda x: x - 0.25, -0.75, 0.75), ("symlog", lambda x: x + 1, 1, 2),
    ("asinh", lambda x: 1 - 2 * x, -1, 1)])
def test_ranges_show_most_values(norm, of, low, high):
    found = colors.robust_limits(of(np.linspace(0, 1, 100_001)), None, None, norm)
    np.testing.assert_allclose(found, (low, high), rtol=0, atol=1.1e-5)


@pytest.mark.parametrize(("ends", "width"), [((-1, 2), 2e-6), ((-2, 1), 2e-6), ((-2, 0), 2e-6)])
def test_scales_of_maps_that_are_mostly_zero_are_linear_near_zero_alone(ends, width):
    values = np.array([0.0, 0, 0, 0, 0, *ends])
    assert colors.scale("symlog", values).linthresh == colors.scale("asinh", values).linear_width == width


def test_one_end_that_is_given_leaves_the_other_alone():
    values = np.linspace(0, 1, 1001)
    assert colors.robust_limits(values, -2, None) == (-2, 0.995)
    assert colors.robust_limits(values, None, 0.5) == (0, 0.5)


def test_values_of_one_sign_have_a_perceptual_colour_map():
    image = plot.mollweide(pixel_vectors()[2] ** 2 + 1).images[0]
    assert image.cmap.name == "viridis"


@pytest.mark.parametrize(("ends", "extend"), [
    ((-1, 1), "neither"), ((-0.5, 1), "min"), ((-1, 0.5), "max"), ((-0.5, 0.5), "both"), ((None, None), "both")])
def test_the_bar_is_pointed_where_values_lie_beyond_it(ends, extend):
    ax = plot.mollweide(pixel_vectors()[2], min=ends[0], max=ends[1], width=100)
    assert ax.images[0].colorbar.extend == extend


def test_hist_gives_each_colour_to_equally_many_pixels(rng):
    sky = np.exp(3 * rng.standard_normal(12 * NSIDE**2))
    image = plot.cartesian(sky, norm="hist", width=200).images[0]
    shares = np.histogram(image.norm(image.get_array()).compressed(), np.linspace(0, 1, 11))[0] / image.get_array().size
    np.testing.assert_allclose(shares, 0.1, rtol=0, atol=0.005)
    values = np.quantile(sky, [0.1, 0.5, 0.9])
    np.testing.assert_allclose(image.norm.inverse(image.norm(values)), values, rtol=8 * EPS)
    two = plot.mollweide((sky > 1).astype(float), norm="hist", width=50).images[0]
    assert len(np.unique(two.norm(two.get_array()).compressed())) == 2


@pytest.mark.parametrize("norm", ["log", "symlog", "asinh", "hist"])
def test_scales_rise_and_have_ticks(norm):
    values = np.linspace(1, 1000, 12 * NSIDE**2)
    ax = plot.mollweide(values, norm=norm, width=100, unit="K")
    scale = ax.images[0].norm
    assert np.all(np.diff(np.asarray(scale(np.linspace(10, 990, 50)))) > 0)
    bar = ax.figure.axes[1]
    ax.figure.canvas.draw()
    assert bar.get_xlabel() == "K" and len(bar.get_xticks()) >= 3


def test_graticules_lie_where_they_say():
    ax = plot.mollweide(None, coord="GC")
    lines = plot.graticule(ax, lon="90deg", lat="90deg", coord="G", labels=True)
    assert len(lines) == 4 + 1 + 1 and len(ax.texts) > 2  # meridians, the equator, the rim
    x, y = lines[4].get_data()
    shown = np.isfinite(x)
    assert np.abs(view_of(ax).inverse(x[shown], y[shown])[2]).max() < 64 * EPS  # galactic latitude, as the map's; a few roundings in each of five matrices
    lengths = np.hypot(np.diff(x), np.diff(y))
    assert np.nanmax(lengths) < 0.1  # no line across the picture where it is cut
    with pytest.raises(ValueError, match="needs the map's coordinates"):
        plot.graticule(plot.mollweide(None), coord="G")
    with pytest.raises(ValueError, match="lon = 50deg: must divide 360 deg"):
        plot.graticule(ax, lon="50deg")


def test_latitudes_stand_right_of_and_above_their_place():
    ax = plot.orthographic(None)
    plot.graticule(ax, lat="30deg", labels=True)
    assert {label.xyann for label in ax.texts if label.get_text() == "−30°"} == {(2, 2)}  # points


def test_numbers_stand_where_the_graticule_meets_the_sides():
    ax = plot.gnomonic(None, rot=("200deg", "40deg"), size="20deg", coord="G")
    view, x0, y0 = view_of(ax), ax.get_xlim()[0], ax.get_ylim()[0]
    longitude, latitude = lambda v: np.degrees(np.arctan2(v[1], v[0])) % 360, lambda v: np.degrees(np.arcsin(v[2]))
    inside = 1 - 1e-9
    for ticks, labels, place, of in (
            (ax.get_xticks(), ax.get_xticklabels(), lambda at: view.inverse(at, y0 * inside), longitude),
            (ax.get_yticks(), ax.get_yticklabels(), lambda at: view.inverse(x0 * inside, at), latitude)):
        assert 3 <= len(ticks) <= 9
        found = [float(of(place(at))) for at in ticks]
        # Between 2,000 points of a side, h = 1/100 deg apart, the angle is taken to be linear: h^2 / 8 tan(50 deg) = 3e-7 deg.
        np.testing.assert_allclose(found, [float(label.get_text()[:-1]) for label in labels], rtol=0, atol=1e-6)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Galactic longitude", "Galactic latitude")
    assert plot.gnomonic(None, size="20deg", coord="GC").get_ylabel() == "Declination"
    assert plot.gnomonic(None, size="20deg").get_xlabel() == "Longitude"


def test_numbers_around_a_pole_and_on_whole_skies():
    texts = [text.get_text() for text in plot.gnomonic(None, rot=(0, "85deg"), size="40deg").texts]
    assert {"0°", "90°", "180°", "270°", "80°"} <= set(texts)
    sky = plot.mollweide(None, coord="G")
    texts = {text.get_text(): text.xy for text in sky.texts}
    assert {"−60°", "60°", "30°", "330°", "Galactic"} <= set(texts) and "180°" not in texts
    np.testing.assert_allclose(texts["90°"], (-1, 0), rtol=0, atol=8 * EPS)
    assert not plot.mollweide(None, graticule=False).texts and "Galactic" not in [text.get_text() for text in plot.mollweide(None).texts]


@pytest.mark.parametrize(("unit", "text"), [
    ("uK", "µK"), ("muK", "µK"), ("micro-K", "µK"), ("unit", "unit"), ("MJy/sr", "MJy/sr"), ("uK^2", "µK$^{2}$"), ("uK2", "µK$^{2}$"),
    ("(uK)**2", "(µK)$^{2}$"), ("K_CMB", r"K$_{\mathrm{CMB}}$"), ("uK_CMB^2", r"µK$_{\mathrm{CMB}}^{2}$"),
    ("ph cm^-2 s^{-1} sr-1", "ph cm$^{-2}$ s$^{-1}$ sr$^{-1}$"), ("mK,thermodynamic", "mK, thermodynamic"), ("5$", r"5\$"), ("", "")])
def test_units_are_typeset(unit, text):
    assert typeset(unit) == text


def test_a_map_of_one_column_says_its_name_and_is_drawn_as_it_is():
    sky = zonal.Map(pixel_vectors()[2][None], columns=["I_STOKES"], unit="K_CMB")
    ax = plot.mollweide(sky, width=100)
    assert ax.get_title() == "I_STOKES" and "CMB" in ax.figure.axes[1].get_xlabel()
    assert plot.mollweide(sky, width=100, title="").get_title() == ""


@pytest.mark.parametrize("draw", [*VIEWS, lambda map, **o: plot.orthographic(map, both_sides=True, **o)])
def test_the_rim_of_a_graticule_is_closed_and_reaches_the_ends_of_the_picture(draw):
    ax = draw(None)
    lines = plot.graticule(ax)
    projection = view_of(ax).projection
    rims = [np.array(line.get_data()) for line in lines[-2 if getattr(projection, "both_sides", False) else -1:]]
    for rim in rims:
        np.testing.assert_allclose(rim[:, 0], rim[:, -1], rtol=0, atol=1e-14)
    x0, x1, y0, y1 = projection.extent
    together = np.concatenate(rims, axis=1)
    # To rounding; the points of ellipses are 1 deg apart, and the quarters of a turn among them.
    np.testing.assert_allclose([together.min(1), together.max(1)], [(x0, y0), (x1, y1)], rtol=1e-14)


def test_pictures_in_pieces_are_those_in_one(monkeypatch):
    sky = np.arange(12.0 * 4**2)
    whole = plot.mollweide(sky, width=60).images[0].get_array()
    monkeypatch.setattr("zonal.plot.view.PIECE", 7 * 60)
    np.testing.assert_array_equal(plot.mollweide(sky, width=60).images[0].get_array(), whole)


@pytest.mark.parametrize("draw", [*VIEWS, lambda map, **o: plot.orthographic(map, both_sides=True, **o)])
def test_graticules_do_not_cross_the_picture(draw):
    for line in plot.graticule(draw(None))[:-2]:
        x, y = line.get_data()
        x0, x1 = plt.gca().get_xlim()
        assert not np.any(np.hypot(np.diff(x), np.diff(y)) > 0.25 * (x1 - x0))


def test_points_lines_and_texts_lie_where_they_say():
    ax = plot.mollweide(None)
    found = plot.points(ax, [0.0, np.pi / 2], [0.0, 0.0], color="red").get_offsets()
    np.testing.assert_allclose(found, [[0, 0], [-1, 0]], rtol=0, atol=8 * EPS)
    x, y = plot.line(ax, np.radians([170, 190]), [0.0, 0.0]).get_data()
    np.testing.assert_allclose([x[0], x[-1]], [-2 * 170 / 180, 2 * 170 / 180], rtol=8 * EPS)
    assert np.isnan(x[1])
    assert plot.text(ax, 0.0, np.pi / 2, "N").get_position() == (0, 1)
    assert plot.text(plot.mollweide(None, coord="GC"), 0.0, 0.0, "GC", coord="G").get_position()[0] > 0.9
    with pytest.raises(ValueError, match="not on the picture"):
        plot.text(plot.gnomonic(None), np.pi, 0.0, "far side")
    for beyond in ("91deg", "-91deg"):
        with pytest.raises(ValueError, match=r"lat: holds -?1\.58825 rad"):
            plot.points(ax, 0.0, beyond)
    with pytest.raises(ValueError, match="shows no sky"):
        plot.points(plt.figure().add_subplot(), 0.0, 0.0)


@pytest.mark.parametrize(("q", "u", "convention", "angle"), [
    (1, 0, "COSMO", 90), (-1, 0, "COSMO", 0), (0, 1, "COSMO", 45), (0, -1, "COSMO", 135), (0, 1, "IAU", 135)])
def test_lines_of_polarisation_lie_along_it(q, u, convention, angle):
    # U > 0 of COSMO lies between south and east, which is left: from the lower left to the upper right
    ax = plot.gnomonic(None, size="2deg")
    found = plot.polarization(ax, np.full(48, float(q)), np.full(48, float(u)), count=5, convention=convention)
    along = np.array([segment[1] - segment[0] for segment in found.get_segments()])
    assert len(along) == 25
    wrong = np.degrees(np.arctan2(along[:, 1], along[:, 0])) - angle
    np.testing.assert_allclose((wrong + 90) % 180 - 90, 0, rtol=0, atol=0.1)  # meridians lean by (1 deg)^2 at the corners
    np.testing.assert_allclose(np.hypot(*along.T), 2 * np.tan(np.radians(1)) / 5, rtol=16 * EPS)


def test_no_line_stands_where_q_or_u_is_unseen():
    ax, hole = plot.gnomonic(None, size="90deg"), np.ones(48)
    hole[np.argmax(pixel_vectors(2)[0])] = zonal.UNSEEN
    for parts in ((hole, np.ones(48)), (np.ones(48), hole)):
        assert 0 < len(plot.polarization(ax, *parts, count=5).get_segments()) < 25


def test_spectra_are_drawn_as_points_over_theory():
    cl = {"TT": np.ones(10), "EE": np.full(10, 2.0)}
    ax = plot.spectrum(cl, {"TT": np.ones(20)}, unit="K²")
    points, other, theory = ax.lines[:3]
    np.testing.assert_allclose(points.get_data(), [np.arange(2, 10), [l * (l + 1) / (2 * np.pi) for l in range(2, 10)]], rtol=1e-14)
    assert theory.get_data()[0][-1] == 9 and theory.get_linestyle() == "-" and points.get_linestyle() == "None"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["TT", "EE"] and "K²" in ax.get_ylabel()
    single = plot.spectrum(np.ones(10), dl=False, lmin=0, ax=plt.figure().add_subplot()).lines[0]
    np.testing.assert_array_equal(single.get_data(), [np.arange(10), np.ones(10)])
    with pytest.raises(ValueError, match="names"):
        plot.spectrum(cl, names=("BB",))
    with pytest.raises(ValueError, match="none of the spectra"):
        plot.spectrum(np.ones(10), cl)
    assert plot.spectrum({"TT": np.ones(10), "EE": np.ones(15)}, dl=False).get_xlim() == (0, 14)


def test_negative_spectra_are_dashed_on_a_logarithmic_axis(rng):
    te = np.where(np.arange(50) < 20, -1.0, 1.0)
    ax = plot.spectrum({"TT": np.full(50, 1000.0), "TE": te}, dl=False)
    assert ax.get_yscale() == "log"
    solid, dashed = ax.lines[1:3]
    assert (solid.get_linestyle(), dashed.get_linestyle()) == ("-", "--")
    assert np.isnan(solid.get_ydata()[:18]).all() and (dashed.get_ydata()[:18] == 1).all() and np.isnan(dashed.get_ydata()[18:]).all()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["TT", "TE", "negative"]
    assert plot.spectrum({"TE": te}, dl=False).get_yscale() == "linear"
    assert plot.spectrum(np.geomspace(1, 1e-6, 50), dl=False).get_yscale() == "log"


def test_spectra_have_error_bars():
    cl, sigma = np.full(10, 5.0), np.linspace(0.1, 1, 10)
    ax = plot.spectrum({"TT": cl}, errors={"TT": sigma}, dl=False)
    bars = ax.containers[0][2][0].get_segments()
    np.testing.assert_allclose([(bar[0][1], bar[1][1]) for bar in bars], np.array([cl - sigma, cl + sigma]).T[2:], rtol=1e-15)
    with pytest.raises(ValueError, match="errors: end at l = 4: must reach l = 9"):
        plot.spectrum(cl, errors=sigma[:5])


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_pictures_save_themselves(tmp_path, kind):
    ax = plot.mollweide(pixel_vectors()[2], graticule=True, title="z", unit="1", width=100)
    ax.figure.savefig(tmp_path / f"sky.{kind}")
    assert (tmp_path / f"sky.{kind}").read_bytes()[:4] in (b"\x89PNG", b"%PDF", b"<?xm")


def test_axes_that_are_given_are_drawn_into():
    figure, axes = plt.subplots(1, 2)
    assert plot.mollweide(np.ones(48), ax=axes[1], colorbar=False) is axes[1]
    assert len(plt.get_fignums()) == 1 and not axes[0].images and len(axes[1].images) == 1


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"norm": "cubic"}, ValueError, "norm = 'cubic': must be one of"),
    ({"min": 2, "max": 1}, ValueError, "min = 2.0, max = 1.0"),
    ({"norm": "log", "min": -1}, ValueError, "min = -1.0: must be above 0"),
    ({"linear_width": 1}, ValueError, "linear_width: is for symlog and asinh"),
    ({"flip": "west"}, ValueError, "flip = 'west'"),
    ({"rot": 3}, ValueError, "rot = 3"),
    ({"coord": "GX"}, ValueError, "coord = 'GX'"),
    ({"mask": np.ones(12)}, ValueError, "mask: has shape"),
    ({"smooth": True}, TypeError, "smooth"),
])
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        plot.mollweide(np.linspace(0, 1, 48), **options)


def test_what_is_no_map_is_refused():
    for wrong in (np.ones(13), np.ones((2, 48)), []):
        with pytest.raises(ValueError, match="must be one HEALPix map"):
            plot.mollweide(wrong)
    with pytest.raises(ValueError, match="no pixel in view has a value"):
        plot.mollweide(np.full(48, zonal.UNSEEN))
    with pytest.raises(ValueError, match="power of 2"):
        plot.mollweide(np.ones(108), nest=True)
    for wrong in ({"size": "180deg"}, {"size": 0}):
        with pytest.raises(ValueError, match="size = "):
            plot.gnomonic(None, **wrong)
    with pytest.raises(ValueError, match="lat = "):
        plot.cartesian(None, lat=("-100deg", "0deg"))


def test_all_functions_are_there_and_documented():
    assert set(plot.__all__) <= set(dir(plot))
    assert all(getattr(plot, name).__doc__ for name in plot.__all__)
    with pytest.raises(AttributeError, match="no attribute 'mercator'"):
        _ = plot.mercator

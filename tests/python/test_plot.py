"""Pictures of maps and spectra."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import zonal
from zonal import plot
from zonal.plot import projections
from zonal.plot.view import View, directions, view_of

NSIDE = 32
RADIUS = np.radians(2)  # of nside 32, whose pixels' corners lie within 1.3 deg of their centres
ALL = [projections.Mollweide(), projections.Mollweide(False), projections.Hammer(), projections.Aitoff(),
       projections.Cartesian(), projections.Cartesian(lon=(100, 300)), projections.Gnomonic(half_width=1.0),
       projections.EqualArea(), projections.Equidistant(), projections.EqualArea(max_angle=1.0),
       projections.Orthographic(), projections.Orthographic(both_sides=True),
       projections.Orthographic(False, both_sides=True)]
every_projection = pytest.mark.parametrize("projection", ALL, ids=lambda p: f"{p.name}{p.extent}{p.east_left}")
VIEWS = [plot.mollweide, plot.gnomonic, plot.cartesian, plot.orthographic, plot.azimuthal, plot.polar]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def vectors(rng):
    """Unit vectors all over the sphere, and near its poles, its middle and the far side."""
    v = rng.standard_normal((3, 5000))
    near = np.concatenate([[axis + 10.0**-k * rng.standard_normal(3) for k in (1, 3, 6, 9)]
                           for axis in ([0, 0, 1], [0, 0, -1], [1, 0, 0], [-1, 0, 0])])
    v = np.concatenate([v, near.T, np.eye(3), -np.eye(3)], axis=1)
    return v / np.linalg.norm(v, axis=0)


def pixel_vectors(nside=NSIDE):
    theta, phi = zonal.Grid.healpix(nside).angles()
    return directions(phi, np.pi / 2 - theta)


def picture_of(ax):
    """The values drawn, and the unit vectors of the map where they lie."""
    array = ax.images[0].get_array()
    view = view_of(ax)
    x, y = view.raster(array.shape[1], array.shape[0])
    return array, view.inverse(x[None, :], y[:, None])


@every_projection
def test_projections_invert(projection, vectors):
    x, y = projection.forward(vectors)
    shown = np.isfinite(x)
    assert shown.mean() > 0.1 and np.array_equal(shown, np.isfinite(y))
    back = projection.inverse(x, y)[:, shown]
    # Half of the digits remain at the rim (arcsin r), at Mollweide's poles (u - sin u = b), and opposite to the middle.
    away = (np.abs(vectors[0]) > 1e-3) & (np.hypot(*vectors[:2]) > 1e-3) & (np.hypot(*vectors[1:]) + vectors[0] > -0.99)
    away = away[shown]
    assert np.abs(back - vectors[:, shown]).max() < 1e-7
    np.testing.assert_allclose(back[:, away], vectors[:, shown][:, away], rtol=0, atol=1e-12)


@every_projection
def test_points_on_paper_come_back(projection, rng):
    x0, x1, y0, y1 = projection.extent
    x, y = rng.uniform(1.1 * x0, 1.1 * x1, 5000), rng.uniform(1.1 * y0, 1.1 * y1, 5000)
    v = projection.inverse(x, y)
    shown = np.isfinite(v[0])
    assert 0.3 < shown.mean() and (projection.name in ("Cartesian", "Gnomonic") or shown.mean() < 0.9)
    np.testing.assert_allclose(np.linalg.norm(v[:, shown], axis=0), 1, rtol=1e-14)
    back = np.array(projection.forward(v[:, shown]))
    inside = (np.abs(back[0]) < 0.99 * max(-x0, x1)) & (x[shown] > x0) & (x[shown] < x1)
    np.testing.assert_allclose(back[:, inside], np.array([x, y])[:, shown][:, inside], rtol=0, atol=1e-10 * (x1 - x0))


@pytest.mark.parametrize("projection", [projections.Mollweide(), projections.Hammer(), projections.EqualArea()])
def test_areas_are_kept(projection):
    middle, step = np.array(np.meshgrid(np.linspace(-2, 2, 41), np.linspace(-1.2, 1.2, 31))).reshape(2, -1), 1e-5
    corners = [projection.forward(directions(middle[0] + a, middle[1] + b)) for a, b in ((step, 0), (-step, 0),
                                                                                        (0, step), (0, -step))]
    (xa, ya), (xb, yb), (xc, yc), (xd, yd) = corners
    area = np.abs((xa - xb) * (yc - yd) - (xc - xd) * (ya - yb)) / np.cos(middle[1])
    # differences of 2e-5 of numbers of order 1 have an error of 1e-10 from the third derivative and 1e-11 by rounding
    np.testing.assert_allclose(area / area[0], 1, atol=1e-6)


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
        np.testing.assert_allclose(middle, directions(lon, lat), atol=1e-15)
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
    assert np.allclose(colors[bad], [0.5, 0.5, 0.5, 1], atol=0.01) and bad.any()
    assert image.get_alpha()[0, 0] == 0 and image.get_alpha()[25, 50] == 1
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3].reshape(-1, 3)
    assert (np.abs(pixels.astype(int) - 128).max(axis=1) <= 1).sum() > 100  # gray is there
    masked = plot.mollweide(np.ma.MaskedArray(pixel_vectors()[2], mask == 0), width=100).images[0].get_array()
    assert masked.mask.sum() > np.isnan(places[0]).sum()


def test_colours_span_what_is_in_view_or_what_is_asked_for():
    z = pixel_vectors()[2]
    array = picture_of(plot.gnomonic(z, size="20deg"))[0]
    image = plot.gnomonic(z, size="20deg").images[0]
    assert image.get_clim() == (array.min(), array.max()) and array.max() < 0.3
    assert plot.mollweide(z, min=-3, max=2).images[0].get_clim() == (-3, 2)
    assert plot.mollweide(np.full(48, 5.0)).images[0].get_clim() == (4.5, 5.5)
    assert plot.mollweide(z, norm="log", width=100).images[0].norm.vmin > 0


@pytest.mark.parametrize(("ends", "extend"), [
    ((None, None), "neither"), ((-0.5, None), "min"), ((None, 0.5), "max"), ((-0.5, 0.5), "both")])
def test_the_bar_is_pointed_where_values_lie_beyond_it(ends, extend):
    ax = plot.mollweide(pixel_vectors()[2], min=ends[0], max=ends[1], width=100)
    assert ax.images[0].colorbar.extend == extend


def test_hist_gives_each_colour_to_equally_many_pixels(rng):
    sky = np.exp(3 * rng.standard_normal(12 * NSIDE**2))
    image = plot.cartesian(sky, norm="hist", width=200).images[0]
    shares = np.histogram(image.norm(image.get_array()).compressed(), np.linspace(0, 1, 11))[0] / image.get_array().size
    np.testing.assert_allclose(shares, 0.1, atol=0.005)
    values = np.quantile(sky, [0.1, 0.5, 0.9])
    np.testing.assert_allclose(image.norm.inverse(image.norm(values)), values, rtol=1e-6)
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
    assert np.abs(view_of(ax).inverse(x[shown], y[shown])[2]).max() < 1e-10  # galactic latitude, as the map's
    lengths = np.hypot(np.diff(x), np.diff(y))
    assert np.nanmax(lengths) < 0.1  # no line across the picture where it is cut
    with pytest.raises(ValueError, match="needs the map's coordinates"):
        plot.graticule(plot.mollweide(None), coord="G")
    with pytest.raises(ValueError, match="lon = 50deg: must divide 360 deg"):
        plot.graticule(ax, lon="50deg")


@pytest.mark.parametrize("draw", [*VIEWS, lambda map, **o: plot.orthographic(map, both_sides=True, **o)])
def test_graticules_do_not_cross_the_picture(draw):
    for line in plot.graticule(draw(None))[:-2]:
        x, y = line.get_data()
        x0, x1 = plt.gca().get_xlim()
        assert not np.any(np.hypot(np.diff(x), np.diff(y)) > 0.25 * (x1 - x0))


def test_points_lines_and_texts_lie_where_they_say():
    ax = plot.mollweide(None)
    found = plot.points(ax, [0.0, np.pi / 2], [0.0, 0.0], color="red").get_offsets()
    np.testing.assert_allclose(found, [[0, 0], [-1, 0]], atol=1e-14)
    x, y = plot.line(ax, np.radians([170, 190]), [0.0, 0.0]).get_data()
    np.testing.assert_allclose([x[0], x[-1]], [-2 * 170 / 180, 2 * 170 / 180])
    assert np.isnan(x[1])
    assert plot.text(ax, 0.0, np.pi / 2, "N").get_position() == (0, 1)
    assert plot.text(plot.mollweide(None, coord="GC"), 0.0, 0.0, "GC", coord="G").get_position()[0] > 0.9
    with pytest.raises(ValueError, match="not on the picture"):
        plot.text(plot.gnomonic(None), np.pi, 0.0, "far side")
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
    np.testing.assert_allclose((wrong + 90) % 180 - 90, 0, atol=0.1)  # meridians lean by (1 deg)^2 at the corners
    np.testing.assert_allclose(np.hypot(*along.T), 2 * np.tan(np.radians(1)) / 5, rtol=1e-12)


def test_spectra_are_drawn_as_points_over_theory():
    cl = {"TT": np.ones(10), "EE": np.full(10, 2.0)}
    ax = plot.spectrum(cl, {"TT": np.ones(20)}, unit="K²")
    points, theory, other = ax.lines
    np.testing.assert_allclose(points.get_data(), [np.arange(2, 10), [l * (l + 1) / (2 * np.pi) for l in range(2, 10)]])
    assert theory.get_data()[0][-1] == 9 and theory.get_linestyle() == "-" and points.get_linestyle() == "None"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["TT", "EE"] and "K²" in ax.get_ylabel()
    single = plot.spectrum(np.ones(10), dl=False, lmin=0, ax=plt.figure().add_subplot()).lines[0]
    np.testing.assert_array_equal(single.get_data(), [np.arange(10), np.ones(10)])
    with pytest.raises(ValueError, match="names"):
        plot.spectrum(cl, names=("BB",))
    with pytest.raises(ValueError, match="none of the spectra"):
        plot.spectrum(np.ones(10), cl)


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_pictures_save_themselves(tmp_path, kind):
    ax = plot.mollweide(pixel_vectors()[2], graticule=True, title="z", unit="1", width=100)
    ax.figure.savefig(tmp_path / f"sky.{kind}")
    assert (tmp_path / f"sky.{kind}").read_bytes()[:4] in (b"\x89PNG", b"%PDF")


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
        plot.mercator

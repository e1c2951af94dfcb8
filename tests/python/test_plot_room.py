"""Pictures of parts of the sky and of rings, what narrow ones have room for, and logarithmic axes of spectra."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import zonal
from test_plot import NSIDE, RADIUS, close_figures, picture_of, pixel_vectors  # noqa: F401
from zonal import plot
from zonal.plot import colors
from zonal.plot.view import directions, view_of


def test_maps_of_a_part_are_drawn_in_their_own_memory():
    v = pixel_vectors()
    own = np.flatnonzero(v[0] > 0.9)
    part = zonal.Map(v[1][own], zonal.Grid.healpix(NSIDE), pixels=own, coordinates="G")
    array, places = picture_of(plot.gnomonic(part, size="90deg", width=80))
    assert part._has_own_pixels
    inside, outside = places[0] > 0.9 + RADIUS, places[0] < 0.9 - RADIUS
    assert np.ma.getmaskarray(array)[outside].all() and np.isnan(array.data[outside]).all() and outside.any()
    assert not np.ma.getmaskarray(array)[inside].any() and np.abs(array[inside] - places[1][inside]).max() < RADIUS
    whole = plot.gnomonic(part.values, size="90deg", width=80).images[0].get_array()
    np.testing.assert_array_equal(np.ma.filled(whole, -9), np.ma.filled(array, -9))


@pytest.mark.parametrize("grid", [zonal.Grid.fejer1(45, 90, 0.01), zonal.Grid.clenshaw_curtis(46, 90)])
def test_maps_of_rings_have_the_value_of_the_nearest_pixel(grid):
    theta, phi = grid.angles()
    v = directions(phi, np.pi / 2 - theta)
    for axis in range(3):
        array, places = picture_of(plot.mollweide(zonal.Map(v[axis], grid), width=100))
        sky = np.isfinite(places[0])
        assert np.abs(array[sky] - places[axis][sky]).max() < np.radians(4) / np.sqrt(2) * 1.01  # half a diagonal of 4 deg
    with pytest.raises(ValueError, match="rings must run from north to south"):
        plot.mollweide(zonal.Map(np.ones(8), zonal.Grid([2.0, 1.0], [4, 4], [1, 1])))


def test_values_that_are_not_positive_have_the_lowest_colour_of_a_log_scale():
    sky = np.where(pixel_vectors()[1] > 0, 100.0, -1.0)
    sky[:3000] = 0
    ax = plot.mollweide(sky, norm="log", min=1, max=100, width=60)
    shown = ax.images[0].norm(ax.images[0].get_array()).compressed()
    assert set(np.unique(shown)) == {0.0, 1.0}


def test_colour_maps_can_be_reversed_and_wrong_names_are_told():
    for name in ("planck", "viridis"):
        there, back = colors.color_map(name), colors.color_map(name + "_r")
        assert there(0.0) == back(1.0) and there(1.0) == back(0.0)
    with pytest.raises(ValueError, match="cmap = 'virids': must be planck, planck_log, wmap or .* such as viridis"):
        plot.mollweide(np.arange(12.0), cmap="virids")


@pytest.mark.parametrize("norm", ["symlog", "asinh"])
def test_numbers_on_the_bar_of_both_signs_are_round_and_apart(rng, norm):
    bar = plot.mollweide(rng.normal(size=768) ** 3, norm=norm, width=60).figure.axes[1]
    bar.figure.draw_without_rendering()
    texts = [text for text in bar.get_xticklabels() if text.get_text()]
    numbers = [float(text.get_text().replace("−", "-")) for text in texts]
    assert len(numbers) >= 4 and all(f"{number:.0e}" == f"{float(f'{number:.0e}'):.0e}" for number in numbers)
    boxes = [text.get_window_extent() for text in texts]
    assert all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))


def numbers_on(ax):
    """Texts beside the map, with the boxes they take."""
    ax.figure.draw_without_rendering()
    return [(text.get_text(), text.get_window_extent()) for text in ax.texts]


@pytest.mark.parametrize("draw", [lambda ax: plot.mollweide(None, ax=ax), lambda ax: plot.polar(None, radius="30deg", ax=ax),
                                  lambda ax: plot.polar(None, pole="south", radius="80deg", ax=ax),
                                  lambda ax: plot.mollweide(None, rot=("77deg", 0), ax=ax)])
def test_numbers_do_not_touch_in_a_column_of_a_journal(draw):
    figure = plt.figure(figsize=(3.4, 3.4), layout="constrained")
    found = numbers_on(draw(figure.add_subplot()))
    assert len(found) > 8
    for i, (name, box) in enumerate(found):
        assert not any(box.overlaps(other) for _, other in found[:i]), name


def test_a_disc_around_a_pole_has_longitudes_at_its_rim():
    for pole, sign in (("north", 1), ("south", -1)):
        ax = plot.polar(None, pole=pole, radius="30deg")
        at = {text.get_text(): text.xy for text in ax.texts}
        assert {f"{lon}°" for lon in range(0, 360, 30)} <= set(at)
        radius = view_of(ax).projection.extent[1]
        np.testing.assert_allclose(at["0°"], (0, -sign * radius), rtol=0, atol=2e-3 * radius)  # steps of 0.1 deg
        np.testing.assert_allclose(at["90°"], (-radius, 0), rtol=0, atol=2e-3 * radius)


def test_logarithmic_axes_show_what_matters():
    l = np.arange(2001.0)
    c_l = 1 / (l + 1) ** 2
    c_l[700], c_l[3] = 1e-30, 0
    ax = plot.spectrum(c_l, dl=False, log_y=True)
    low, high = ax.get_ylim()
    assert 1e-8 < low < 1 / 2000**2 and 1 / 9 < high < 1  # no single small value stretches it
    ax = plot.spectrum(c_l, dl=False, log_y=True, log_x=True)
    assert ax.get_ylim()[0] <= 1e-13 and ax.get_xscale() == "log" and ax.get_xlim() == (2, 2000)
    ax.figure.draw_without_rendering()
    shown = [text.get_text() for text in ax.get_xticklabels() if 2 <= text.get_position()[0] <= 2000]
    assert [text.removeprefix(r"$\mathdefault{").removesuffix("}$") for text in shown] == ["10", "100", "1000"]


def test_spectra_of_one_sky_are_thin(rng):
    smooth = 1.0 / np.arange(1, 402) ** 2
    noisy = smooth * rng.chisquare(5, 401)
    lines = plot.spectrum({"TT": smooth, "EE": noisy}, log_y=False).lines
    assert lines[0].get_linewidth() > lines[1].get_linewidth()


@pytest.mark.parametrize(("options", "message"), [
    ({"lmax": 40}, "lmax = 40: must be at most 20, where the spectra end"), ({"lmin": 21}, "lmin = 21"),
    ({"lmin": 0, "log_x": True}, "lmin = 0: must be at least 1"), ({"names": ("XX",)}, "names = ")])
def test_wrong_degrees_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        plot.spectrum({"TT": np.ones(21)}, **options)
    with pytest.raises(ValueError, match="no finite value other than zero"):
        plot.spectrum(np.zeros(21))


def test_the_tool_and_the_package_must_be_of_one_version():
    from zonal.plot import _tool

    with pytest.raises(ImportError, match="and this is zonal 0.0.1: install that of the same version"):
        _tool.drawn({"version": "0.0.1"})

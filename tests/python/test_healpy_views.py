"""Which views of the sky healpy's functions draw over, and what views return."""

import warnings

import matplotlib

matplotlib.use("Agg")

import healpy
import matplotlib.pyplot as plt
import numpy as np
import pytest

import zonal
import zonal.healpy as hp

VIEWS = ["mollview", "gnomview", "cartview", "orthview", "azeqview"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_graticules_go_to_all_views_and_what_else_is_drawn_to_the_current_one():
    drawn = []
    for module in (healpy, hp):
        module.mollview(np.arange(48.0), sub=121, cbar=False)
        first = plt.gca()
        module.gnomview(np.arange(48.0), sub=(1, 2, 2), cbar=False)
        second = plt.gca()
        module.projscatter([0.0], [0.0], lonlat=True)
        module.graticule()
        plt.sca(first)
        module.projplot([0.1, 0.2], [0.3, 0.4])
        drawn.append([(len(ax.collections), min(len(ax.lines), 4)) for ax in (first, second)])
        other = plt.gcf().add_axes([0.0, 0.0, 0.1, 0.1])
        plt.sca(other)
        module.graticule()
        assert plt.gca() is other and not other.lines
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            assert module.projplot([0.1, 0.2], [0.3, 0.4]) is module.projtext(0.1, 0.2, "a") is None
        assert module is healpy or first.get_position().x1 <= 0.5 <= second.get_position().x0
        plt.close("all")
    assert drawn[0] == drawn[1] == [(0, 4), (1, 4)]


def test_graticules_of_all_views_are_removed():
    for place in (121, 122):
        hp.mollview(np.arange(48.0), sub=place, cbar=False)
    hp.graticule()
    hp.delgraticules()
    assert not any(ax.lines for ax in plt.gcf().axes)
    with pytest.warns(zonal.ZonalWarning, match="projplot: the current axes show no sky"):
        plt.gcf().add_subplot()
        hp.projplot(0, 0)
    plt.figure().add_subplot()
    for draw in (hp.graticule, hp.delgraticules, lambda: hp.projplot(0, 0)):
        with pytest.raises(TypeError, match="show no sky"):
            draw()


@pytest.mark.parametrize("view", VIEWS)
def test_projected_maps_are_filled_with_unseen(view):
    m = np.arange(768.0)
    m[5:50] = hp.UNSEEN
    for sky in (m, hp.ma(m), np.arange(768.0)):
        found, expected = (getattr(module, view)(sky, xsize=60, return_projected_map=True) for module in (hp, healpy))
        assert found.fill_value == expected.fill_value == hp.UNSEEN
        assert (found.filled() == hp.UNSEEN).sum() == np.ma.getmaskarray(found).sum()
        assert (np.ma.getmaskarray(found) == np.ma.getmaskarray(expected)).mean() > 0.97  # points may lie on edges of pixels
        plt.close("all")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["title", "unit", "format"])
def test_none_is_no_text(view, name):
    for module in (healpy, hp):
        getattr(module, view)(np.arange(48.0), **{name: None})
        if name == "title" and view != "azeqview":  # which has a title for None
            assert plt.gca().get_title() == ""


def test_margins_are_shares_of_the_place_on_each_side():
    def place(view=hp.mollview, **options):
        view(np.arange(48.0), xsize=20, cbar=False, margins=(0.1, 0.2, 0.05, 0.15), **options)
        return plt.gca().get_position(original=True).bounds

    # left, bottom, width, height
    np.testing.assert_allclose(place(), (0.1, 0.2, 0.85, 0.65), rtol=8 * np.finfo(float).eps)
    np.testing.assert_allclose(place(sub=(2, 4, 7)), (0.5 + 0.025, 0.1, 0.85 / 4, 0.65 / 2), rtol=8 * np.finfo(float).eps)
    np.testing.assert_allclose(place(hp.projview, sub=(1, 2, 2)), (0.5 + 0.05, 0.2, 0.85 / 2, 0.65), rtol=8 * np.finfo(float).eps)


@pytest.mark.parametrize(("latitude", "dmer"), [(0, 2), (60, 5), (-60, 5), (90, 30)])
def test_meridians_are_about_as_far_apart_as_parallels(latitude, dmer):
    hp.gnomview(np.arange(48.0), rot=(0, latitude), xsize=20, reso=30)
    assert plt.gca()._steps(None, None) == (2, dmer)  # a view of 14 deg across corners
    assert plt.gca()._steps(360, 360) == (360, 360)

"""Names that are no part of healpy's documentation, but that packages import, and its version."""

import healpy
import healpy.cookbook
import healpy.version
import numpy as np
import pytest
from astropy.io import fits

import zonal.healpy as hp
from healpy_peer import agree
from zonal.healpy import cookbook, fitsfunc, pixelfunc, rotator, sphtfunc, version
from zonal.healpy.utils.deprecation import HealpyDeprecationWarning


def test_the_version_is_that_of_the_healpy_it_stands_for():
    assert hp.__version__ == version.version
    assert hp.__version__.split(".")[:2] == healpy.__version__.split(".")[:2]


def test_the_module_of_astropy_is_there_under_its_name():
    assert fitsfunc.pf is healpy.fitsfunc.pf is fits
    with pytest.raises(AttributeError, match="fitsfunc.* has no attribute 'fp'"):
        _ = fitsfunc.fp


def test_constants_are_those_of_healpy():
    assert fitsfunc.standard_column_names == healpy.fitsfunc.standard_column_names
    assert fitsfunc.allowed_paths == healpy.fitsfunc.allowed_paths
    assert pixelfunc.max_nside == healpy.pixelfunc.max_nside
    assert rotator.coordname == healpy.rotator.coordname
    for name in ("e2g", "e2q"):
        np.testing.assert_allclose(getattr(rotator, name), getattr(healpy.rotator, name), rtol=0, atol=4e-15)
    assert sphtfunc.UNSEEN == healpy.sphtfunc.UNSEEN


def test_modules_have_the_names_that_they_import():
    for module, names in (("sphtfunc", ["ma_to_array", "accept_ma", "maptype", "pixelfunc", "cb", "FutureChangeWarning"]),
                          ("fitsfunc", ["pixelfunc", "cb"]), ("rotator", ["pixelfunc", "rotate_alm"])):
        for name in names:
            assert callable(getattr(getattr(healpy, module), name)) == callable(getattr(getattr(hp, module), name))
    assert sphtfunc.pixelfunc is pixelfunc and sphtfunc.ma_to_array is pixelfunc.ma_to_array


@pytest.mark.parametrize("o", [[1, 2], [[1, 2], [3, 4]], np.ones((2, 2)), np.ones(3), np.ones((2, 2, 2)),
                               [np.ones(2), np.ones(3)], 3, [[1, 2], [3]], (np.ones(2),)], ids=repr)
def test_what_is_like_two_dimensions(o):
    assert cookbook.is_like2d(o) == healpy.cookbook.is_like2d(o)


def test_functions_of_maps_take_masked_maps_by_accept_ma():
    m = hp.ma(np.where(np.arange(12) < 2, hp.UNSEEN, np.arange(12.0)))
    m.mask[5] = True
    for maps in (m, [m, m], m.data):
        for function in (lambda m: np.asarray(m), lambda m, by=0.0: np.where(np.asarray(m) < 0, m, np.asarray(m) + by)):
            agree(pixelfunc.accept_ma(function)(maps), healpy.pixelfunc.accept_ma(function)(maps))
    assert pixelfunc.accept_ma(hp.smoothing).__name__ == "smoothing"


def test_warnings_are_turned_on_and_off_without_effect():
    for name in ("disable_warnings", "enable_warnings"):
        with pytest.warns(HealpyDeprecationWarning, match=name):
            getattr(hp, name)()

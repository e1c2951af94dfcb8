"""Analyses with pixel weights under healpy's names, against healpy, which does not iterate with them."""

import shutil

import healpy
import numpy as np
import pytest

import zonal
import zonal.healpy as hp
from healpy_peer import agree_within

NSIDE = 16
MAPS = np.random.default_rng(6).standard_normal((3, 12 * NSIDE**2))
# As in test_healpy_harmonics, for the two transforms of a smoothing and lmax up to 47.
ROUNDING = 7 * 48 * np.finfo(float).eps


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where healpy and Zonal find the same pixel weights, those that Zonal computes."""
    path = tmp_path_factory.mktemp("weights")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(path))
        zonal.io.quadrature_weights(NSIDE)
    shutil.move(path / "zonal", path / "full_weights")
    return str(path)


@pytest.mark.parametrize("options", [{}, {"lmax": 20}, {"iter": 0}, {"iter": 5}], ids=str)
def test_pixel_weights_do_without_iterations(folder, options):
    options = {"use_pixel_weights": True, "datapath": folder, **options}
    for call in (lambda hp: hp.map2alm(MAPS[0], **options), lambda hp: hp.map2alm(MAPS, **options),
                 lambda hp: hp.anafast(MAPS, **options), lambda hp: hp.smoothing(MAPS, fwhm=0.2, **options),
                 lambda hp: hp.harmonic_ud_grade(MAPS[0], 8, pixwin=False, **options)):
        agree_within(call(hp), call(healpy), 10 * ROUNDING)


@pytest.mark.parametrize("options", [{}, {"lmax": 20}], ids=str)
@pytest.mark.parametrize("use_pixel_weights", [True, False])
def test_a_rotation_by_alm_iterates_without_pixel_weights_alone(folder, use_pixel_weights, options):
    for m in (MAPS[0], MAPS):
        found, expected = (module.Rotator(coord="GC").rotate_map_alms(m, use_pixel_weights, datapath=folder, **options)
                           for module in (hp, healpy))
        agree_within(found, expected, 10 * ROUNDING)


def test_ring_weights_iterate():
    for iterations in (0, 2):
        alm = hp.map2alm(MAPS[0], lmax=20, iter=iterations, use_weights=True)
        assert not np.allclose(alm, hp.map2alm(MAPS[0], lmax=20, iter=iterations + 1, use_weights=True), rtol=0, atol=1e-9)

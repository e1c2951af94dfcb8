"""Band powers as sacc.Sacc, for likelihoods that read such files."""

import sys

import numpy as np
import pytest

import zonal
from zonal.spectra import Bins, Field, estimate

NSIDE, LMAX = 8, 18
BINS = Bins.edges([2, 6, 10, 15])
THETA = zonal.Grid.healpix(NSIDE).angles()[0]
MASK = np.clip(np.cos(THETA) + 0.8, 0, 1)
SKY = zonal.synfast({"TT": np.ones(LMAX + 1), "EE": np.ones(LMAX + 1), "BB": np.ones(LMAX + 1)}, NSIDE, seed=1)


def test_files_hold_bands_windows_and_covariance(tmp_path):
    sacc, path = pytest.importorskip("sacc"), str(tmp_path / "bands.sacc")
    l = np.arange(LMAX + 1.0)
    theory = dict.fromkeys(("TT", "EE", "BB"), 1 / (l + 2) ** 2)
    beam = np.exp(-0.002 * l * (l + 1))
    pixels = np.stack([np.cos(0.01 * l), np.cos(0.02 * l)])
    fields = [Field(SKY, mask=MASK, beam=beam, pixel_window=pixels), Field(zonal.Map(SKY[0], unit="K"), mask=MASK)]
    found = estimate(fields, BINS, lmax_sky=LMAX, theory=theory, low_degrees=False)
    found.to_sacc(["wide", "deep"]).save_fits(path)
    data = sacc.Sacc.load_fits(path)
    tracers = {name: (tracer.spin, tracer.map_unit) for name, tracer in data.tracers.items()}
    assert tracers == {"wide_s0": (0, "none"), "wide_s2": (2, "none"), "deep_s0": (0, "K")}
    assert all(np.array_equal(tracer.ell, l) and np.all(tracer.beam == 1) for tracer in data.tracers.values())
    assert data.metadata["dl"] == 0 and len(data) == found.covariance.shape[0]
    names = {("TT", 0, 0): ("cl_00", "wide_s0", "wide_s0"), ("TE", 0, 0): ("cl_0e", "wide_s0", "wide_s2"), ("TB", 0, 0): ("cl_0b", "wide_s0", "wide_s2"),
             ("EE", 0, 0): ("cl_ee", "wide_s2", "wide_s2"), ("EB", 0, 0): ("cl_eb", "wide_s2", "wide_s2"), ("BB", 0, 0): ("cl_bb", "wide_s2", "wide_s2"),
             ("TT", 0, 1): ("cl_00", "wide_s0", "deep_s0"), ("ET", 0, 1): ("cl_0e", "deep_s0", "wide_s2"), ("BT", 0, 1): ("cl_0b", "deep_s0", "wide_s2"),
             ("TT", 1, 1): ("cl_00", "deep_s0", "deep_s0")}
    assert set(names) == set(found)
    errors = found.error
    for key, name in names.items():
        ell, bands, covariance, rows = data.get_ell_cl(*name, return_cov=True, return_ind=True)
        assert np.array_equal(ell, BINS.l_eff) and np.array_equal(bands, found[key])
        assert np.array_equal(np.sqrt(covariance.diagonal()), errors[key])
        window = data.get_bandpower_windows(rows)
        assert np.array_equal(window.values, l) and np.array_equal(window.weight.T, found.windows[key])


def test_sacc_keeps_both_spectra_of_e_with_b_and_says_where_bands_are_of_d_l():
    pytest.importorskip("sacc")
    fields = [Field(SKY[1:], mask=MASK), Field(SKY[1:], mask=MASK**2)]
    found = estimate(fields, Bins.edges([2, 6, 10], dl=True), low_degrees=False)
    data = found.to_sacc()
    for key, kind in ((("EB", 0, 1), "cl_eb"), (("BE", 0, 1), "cl_be")):
        assert np.array_equal(data.get_ell_cl(kind, "field0_s2", "field1_s2")[1], found[key])
    assert not data.has_covariance() and data.metadata["dl"]


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", "b", "c"], ["a", ""], ["a", 1], "ab"], ids=repr)
def test_names_of_fields_for_sacc_differ(names):
    found = estimate([Field(SKY[0], mask=MASK)] * 2, BINS)
    with pytest.raises((ValueError, TypeError), match="names"):
        found.to_sacc(names)


def test_without_sacc_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacc", None)
    with pytest.raises(ImportError, match="pip install sacc"):
        estimate(Field(SKY[0], mask=MASK), BINS).to_sacc()

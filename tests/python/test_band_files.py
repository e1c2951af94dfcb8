"""Band powers as files: what is loaded is what was saved."""

import pickle

import numpy as np
import pytest

import zonal
from test_band_powers import BINS, LMAX, SMOOTH, powers, sky
from zonal.spectra import Bins, Field, estimate


def test_files_hold_all_of_it(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    path = tmp_path / "bands.fits"
    powers().save(path)
    with fits.open(path) as file:
        assert np.array_equal(file["BANDS"].data["TE"], powers()["TE"])
        assert file["BANDS"].data["L_MAX"].tolist() == BINS.last.tolist()
        assert file["BANDS"].header["LMAX_SKY"] == LMAX and not file["BANDS"].header["DL"]
        assert np.array_equal(file["PSEUDO"].data["EE"], powers().pseudo["EE"])
        assert np.array_equal(file["WINDOWS EE<-BB"].data, powers().windows["EE<-BB"])
        assert np.array_equal(file["MASK"].data["W_0x0"], powers().mask_spectra[0, 0])
    with pytest.raises(OSError, match="exists"):
        powers().save(path)
    powers().save(path, overwrite=True)
    found = estimate(Field(sky()[0], mask=SMOOTH), BINS, lmax_sky=LMAX, theory=np.ones(LMAX + 1))
    found.save(path, overwrite=True)
    with fits.open(path) as file:
        assert np.array_equal(file["BANDS"].data["ERROR_TT"], found.error["TT"])
        assert np.array_equal(file["COVARIANCE"].data, found.covariance)


def assert_same(found, powers):
    """All that a file holds is the same, bit by bit."""
    assert repr(found) == repr(powers) and found.bins == powers.bins and found.units == powers.units
    assert found.lmax_sky == powers.lmax_sky and found.mask_of == powers.mask_of and list(found) == list(powers)
    assert np.array_equal(found.mask_spectra, powers.mask_spectra)
    for name in ("bands", "pseudo", "noise", "windows", "outside"):
        one, other = getattr(found, name), getattr(powers, name)
        assert list(one) == list(other) and all(np.array_equal(one[key], other[key]) for key in other), name
    for block, given in zip(found.blocks, powers.blocks, strict=True):
        assert (block.pair, block.names, block.condition, block.low_degrees) == (given.pair, given.names, given.condition, given.low_degrees)
        assert np.array_equal(block.windows, given.windows) and block.decoupling is None


def test_what_was_saved_is_loaded(tmp_path):
    path = tmp_path / "bands.fits"
    theory = {"TT": np.ones(LMAX + 1), "EE": 0.5 * np.ones(LMAX + 1), "TE": 0.1 * np.ones(LMAX + 1), "BB": 0.3 * np.ones(LMAX + 1)}
    maps = zonal.Map(sky(), pol=True, unit="uK")
    uneven = Bins.from_weights(BINS.weights * np.arange(1.0, 24), dl=True)
    one = estimate(Field(maps, mask=SMOOTH, variance=0.1), uneven, lmax_sky=LMAX, theory=theory, exact_lmax=-1)
    several = estimate([Field(sky()[0], mask=SMOOTH), Field(sky()[1:], mask=SMOOTH**2), Field(sky()[0])], BINS, lmax_sky=LMAX)
    for powers_given in (powers(), one, several):
        powers_given.save(path, overwrite=True)
        found = zonal.spectra.BandPowers.load(path)
        assert_same(found, powers_given)
        assert_same(pickle.loads(pickle.dumps(found)), powers_given)
    one.save(path, overwrite=True)
    found = zonal.spectra.BandPowers.load(path)
    assert np.array_equal(found.covariance, one.covariance) and found.chi_squared(theory) == one.chi_squared(theory)
    assert all(np.array_equal(found.theory(theory)[name], one.theory(theory)[name]) for name in one)
    found.save(tmp_path / "again.fits")
    assert (tmp_path / "again.fits").read_bytes() == path.read_bytes()
    with pytest.raises(ValueError, match="read from a file"):
        list(found.decoupling)


def test_other_files_are_no_band_powers(tmp_path):
    zonal.io.write_cl(tmp_path / "cl.fits", np.ones(9))
    with pytest.raises(OSError, match="band powers"):
        zonal.spectra.BandPowers.load(tmp_path / "cl.fits")
    with pytest.raises(OSError, match="none.fits"):
        zonal.spectra.BandPowers.load(tmp_path / "none.fits")

"""Files against healpy and astropy."""

from pathlib import Path

import healpy
import numpy as np
import pytest
from astropy import units as u
from astropy.io import fits
from astropy.wcs import WCS

import zonal

DATA = Path(__file__).parents[2] / "data" / "fermi"
NSIDE = 8
N = 12 * NSIDE**2


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.fits"


def test_a_map_of_healpy_is_read(path, rng):
    maps = rng.standard_normal((3, N))
    healpy.write_map(path, maps, nest=True, coord="G", column_units="uK", dtype=np.float64)
    with pytest.warns(zonal.ZonalWarning, match="no POLCCONV: polarisation taken as COSMO"):
        sky = zonal.io.read_map(path)
    assert sky.pol and sky.nest_in_file and not sky.nest and sky.nside == NSIDE and sky.coordinates == "galactic" and not sky.single
    assert sky.units == ["uK"] * 3
    np.testing.assert_array_equal(np.asarray(sky), healpy.reorder(maps, n2r=True))
    np.testing.assert_array_equal(sky[1], sky.values[1])


@pytest.mark.parametrize("nest", [False, True])
@pytest.mark.parametrize("letter", ["E", "D"])
@pytest.mark.parametrize("repeat", [1, 3, 1024, 12 * 64**2])  # pixels a row: rows of one, across pieces, of healpy's, one for all
def test_every_layout_of_a_table_is_read(path, rng, repeat, letter, nest):
    n = 12 * 64**2
    maps = rng.standard_normal((3, n)).astype("f4").astype(float)  # exact in both types
    maps[:, 17], maps[2, 30000] = healpy.UNSEEN, -7.5
    columns = [fits.Column(name=name, format=f"{repeat}{kind}", array=row.reshape(-1, repeat))
               for name, kind, row in (("I", letter, maps[0]), ("N_OBS", "J", np.arange(n)), ("Q", letter, maps[1]), ("U", letter, maps[2]))]
    hdu = fits.BinTableHDU.from_columns(columns)
    hdu.header.update({"PIXTYPE": "HEALPIX", "NSIDE": 64, "ORDERING": "NESTED" if nest else "RING", "POLCCONV": "IAU", "BAD_DATA": -7.5})
    hdu.writeto(path)
    expected = healpy.reorder(maps, n2r=True) if nest else maps.copy()
    bad = (expected == healpy.UNSEEN) | (expected == -7.5)
    expected[2] *= -1
    expected[bad] = zonal.UNSEEN
    np.testing.assert_array_equal(zonal.io.read_map(path, ["I", "Q", "U"]), expected)
    np.testing.assert_array_equal(zonal.io.read_map(path, ["U"], pol=False), expected[2:] * np.where(bad[2:], 1, -1))
    # By CFITSIO, with integers among the columns.
    hits = healpy.reorder(np.arange(n), n2r=True) if nest else np.arange(n)
    np.testing.assert_array_equal(zonal.io.read_map(path, ["N_OBS", "I"]), [hits, expected[0]])


@pytest.mark.parametrize("nest", [False, True])
def test_pixels_without_numbers_are_counted_and_named_as_in_the_file(path, rng, nest):
    sky = rng.standard_normal(12 * 64**2)
    sky[[40000, 20000]] = np.nan
    healpy.write_map(path, sky, nest=nest, dtype=np.float64)
    with pytest.raises(OSError, match="2 pixels are NaN, the first is pixel 20000"):
        zonal.io.read_map(path)
    with pytest.warns(zonal.ZonalWarning, match="2 NaN taken as UNSEEN"):
        found = zonal.io.read_map(path, nan_is_unseen=True)
    expected = healpy.reorder(sky, n2r=True) if nest else sky
    np.testing.assert_array_equal(found.values[0], np.where(np.isnan(expected), zonal.UNSEEN, expected))


def test_healpy_reads_what_is_written(path, rng):
    maps = rng.standard_normal((3, N))
    zonal.io.write_map(path, maps, pol=True, units=["mK"] * 3, coordinates="G", nest=True, single=False)
    read, header = healpy.read_map(path, field=(0, 1, 2), h=True)
    np.testing.assert_array_equal(read, maps)
    header = dict(header)
    assert header["ORDERING"] == "NESTED" and header["COORDSYS"] == "G" and header["TUNIT1"] == "mK"


def test_a_map_goes_through_a_file_unchanged(path, rng):
    sky = rng.standard_normal((2, N)).astype(np.float32)
    sky[:, 100:] = zonal.UNSEEN
    zonal.io.write_map(path, sky, names=["counts", "exposure"], units=["", "s"], partial=True,
                       cards=[("FWHM", 0.5, "rad"), ("ORIGIN", "here", "")])
    again = zonal.io.read_map(path)
    assert again.partial and again.single and again.names == ["counts", "exposure"] and again.units == ["", "s"]
    assert ("FWHM", 0.5, "rad") in again.cards
    np.testing.assert_array_equal(again.values, np.where(sky == np.float32(zonal.UNSEEN), zonal.UNSEEN, sky.astype(float)))
    zonal.io.write_map(path, again, overwrite=True)
    np.testing.assert_array_equal(zonal.io.read_map(path).values, again.values)
    np.testing.assert_array_equal(zonal.io.read_map(path, ["exposure"]).values, again.values[1:])


def test_a_map_goes_through_cells_of_several_nside(path, rng):
    sky = zonal.Map(np.stack([np.repeat(rng.standard_normal(48), 16), np.ones(768)]), nest=True, unit="K", columns=["A", "B"], coordinates="G")
    sky.values[:, 700:741] = zonal.UNSEEN
    zonal.io.write_map(path, sky, multi_order=True)
    with pytest.warns(zonal.ZonalWarning, match="multi-order map of .* read as nside 8, nest"):
        again = zonal.io.read_map(path)
    np.testing.assert_array_equal(again.values, sky.reordered(nest=False).values)
    assert (again.units, again.columns, again.coordinates, again.partial) == (["K", "K"], ["A", "B"], "galactic", True)
    for options, match in (({"nest": True}, "nest = True: has no effect with multi_order"), ({"maps": np.ones(108)}, "power of 2")):
        with pytest.raises(ValueError, match=match):
            zonal.io.write_map(path, **{"maps": sky, "multi_order": True, "overwrite": True} | options)


def test_a_cylindrical_map_goes_through_a_file(path, rng):
    grid = zonal.Grid.equidistant_cylindrical(10, 20)
    sky = rng.standard_normal(200)
    zonal.io.write_map(path, sky, grid=grid, single=False)
    again = zonal.io.read_map(path)
    assert again.nside == 0
    np.testing.assert_array_equal(again[0], sky)


@pytest.mark.parametrize("shape, crpix, crval, cdelt", [
    ((20, 30), (15.5, 10.5), 0, (-3, 3)),       # across longitude 0
    ((7, 11), (60, -23), 0, (-3, 3)),           # with the pole
    ((1, 40), (20, -7), 200, (-3, 3)),          # a single row
    ((12, 17), (8, 4.5), 352.4, (3, -3)),       # the other way round, on longitudes of no simple fraction
    ((15, 120), (60.5, 30), 0, (-3, 3)),        # full rings
])
def test_a_patch_of_cylindrical_pixels_is_a_partial_sky(path, shape, crpix, crval, cdelt):
    wcs = WCS(naxis=2)
    wcs.wcs.ctype, wcs.wcs.crpix, wcs.wcs.crval, wcs.wcs.cdelt = ["RA---CAR", "DEC--CAR"], crpix, (crval, 0), cdelt
    east, north = wcs.all_pix2world(*np.meshgrid(np.arange(shape[1]), np.arange(shape[0])), 0)
    fits.PrimaryHDU(np.stack([east % 360, north]), wcs.to_header()).writeto(path)
    sky = zonal.io.read_map(path)
    assert sky.partial and sky.coordinates == "equatorial"
    theta, phi = sky.grid.angles()
    seen = ~sky.unseen[0]
    assert seen.sum() == shape[0] * shape[1] and sky.grid.n_pixels == 120 * (60 if crpix[1] % 1 else 61)
    # A degree's digits: 360 x 2^-53, a few times.
    np.testing.assert_allclose((sky.values[0] - np.rad2deg(phi) + 180)[seen] % 360, 180, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sky.values[1][seen], 90 - np.rad2deg(theta)[seen], rtol=0, atol=1e-12)
    zonal.io.write_map(path, sky, overwrite=True)
    with fits.open(path) as file:
        assert file[0].data.shape == (2, *shape) and file[0].header["BAD_DATA"] == "NaN"
        again = WCS(file[0].header).celestial.all_pix2world(*np.meshgrid(np.arange(shape[1]), np.arange(shape[0])), 0)
        np.testing.assert_allclose((file[0].data[0] - again[0] + 180) % 360, 180, rtol=0, atol=1e-12)
        np.testing.assert_allclose(file[0].data[1], again[1], rtol=0, atol=1e-12)


def test_a_part_of_a_cylindrical_map_is_smoothed_as_the_whole(path, rng):
    grid = zonal.Grid.clenshaw_curtis(61, 120)
    whole = rng.standard_normal(grid.n_pixels)
    theta, phi = grid.angles()
    patch = np.where((np.abs(theta - 1.2) < 0.7) & (np.cos(phi) > 0.2), whole, zonal.UNSEEN)
    zonal.io.write_map(path, patch, grid=grid, partial=True, single=False)
    assert fits.getdata(path).shape == ((np.abs(grid.theta - 1.2) < 0.7).sum(), (np.cos(phi[:120]) > 0.2).sum())
    read = zonal.io.read_map(path)
    kernel = zonal.Kernel.top_hat("9deg")
    seen = zonal.convolve(read, kernel, method="pixel-sum")
    sky = zonal.convolve(whole, kernel, grid=grid, method="pixel-sum")
    inside = (np.abs(theta - 1.2) < 0.5) & (np.cos(phi) > 0.55)
    np.testing.assert_allclose(seen.values[0][inside], sky[inside], rtol=0, atol=1e-5 * np.abs(sky).max())
    assert seen.unseen[0][patch == zonal.UNSEEN].all()


def test_alm_go_through_a_file_and_healpy(path, random_alm):
    alm = random_alm(20, shape=(3,))
    zonal.io.write_alm(path, alm)
    for hdu in (1, 2, 3):
        np.testing.assert_array_equal(healpy.read_alm(path, hdu=hdu), alm[hdu - 1])
    read, lmax, mmax = zonal.io.read_alm(path)
    assert (lmax, mmax) == (20, 20)
    np.testing.assert_array_equal(read, alm)
    healpy.write_alm(path, alm[0], overwrite=True)
    np.testing.assert_array_equal(zonal.io.read_alm(path)[0], alm[0])


def test_spectra_go_through_a_file_and_healpy(path, rng):
    spectra = {name: rng.uniform(1, 2, 30) for name in ("TT", "EE", "BB", "TE")}
    zonal.io.write_cl(path, spectra)
    for name, values in zip(spectra, healpy.read_cl(path)):
        np.testing.assert_array_equal(values, spectra[name])
    read = zonal.io.read_cl(path)
    assert read.keys() == spectra.keys()
    np.testing.assert_array_equal(read["TE"], spectra["TE"])
    zonal.io.write_cl(path, spectra["TT"], overwrite=True)
    np.testing.assert_array_equal(zonal.io.read_cl(path)["TT"], spectra["TT"])


def test_a_beam_is_read_from_text(tmp_path):
    path = tmp_path / "beam.txt"
    np.savetxt(path, zonal.gaussian_window("1deg", 30))
    np.testing.assert_allclose(zonal.io.read_beam(path), [zonal.gaussian_window("1deg", 30)] * 3, rtol=1e-15)


def test_photons_are_counted_and_spread_by_their_psf():
    events = zonal.io.read_events(DATA / "fermi_2fhl_events_selected.fits.gz", energy="ENERGY")
    assert events.coordinates == "galactic"
    counts = zonal.io.bin_events(events, 32)
    pixels = healpy.ang2pix(32, np.rad2deg(events.longitude), np.rad2deg(events.latitude), lonlat=True)
    np.testing.assert_array_equal(counts, np.bincount(pixels, minlength=len(counts)))
    hard = zonal.io.bin_events(events, 32, (1e5, 1e9))
    assert hard.sum() == np.count_nonzero(events.energy >= 1e5)
    np.testing.assert_array_equal(zonal.io.bin_events(events, 32, ("100GeV", "1000 TeV")), hard)
    psf = zonal.io.read_psf(DATA / "fermi_2fhl_psf_gc.fits.gz", 1e5)
    for same in ("100GeV", "0.1 TeV", 100 * u.GeV, np.float32(1e5)):
        assert zonal.io.read_psf(DATA / "fermi_2fhl_psf_gc.fits.gz", same).window(5).tolist() == psf.window(5).tolist()
    assert psf.window(0)[0] == pytest.approx(1, abs=0.02)  # the table's own accuracy
    # Spread over pixels of 1.8 degrees, as a kernel that is as wide.
    seen = zonal.convolve(counts, zonal.Kernel.top_hat("4deg"), method="pixel-sum", normalization="pixel")
    # Each pixel keeps its counts to the rounding of the kernel's sum, and the sum of all pixels rounds as often as there are.
    assert seen.sum() == pytest.approx(counts.sum(), rel=2 * counts.size * np.finfo(float).eps)


def test_a_profile_is_read_from_text(tmp_path):
    path = tmp_path / "profile.txt"
    path.write_text("# theta [deg] value [1/sr]\n0 2\n1 1\n2 0\n")
    assert zonal.io.read_profile(path).profile(np.deg2rad(1)) == pytest.approx(1, rel=1e-14)


def test_files_are_kept_without_overwrite(path):
    zonal.io.write_map(path, np.ones(N))
    for write, size in ((zonal.io.write_map, 48), (zonal.io.write_alm, 45), (zonal.io.write_cl, 9)):
        with pytest.raises(OSError, match="file.fits"):
            write(path, np.ones(size))
    assert (zonal.io.read_map(path)[0] == 1).all()


def test_errors_name_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.fits"):
        zonal.io.read_map(tmp_path / "nothing.fits")
    bad = tmp_path / "bad.fits"
    bad.write_bytes(b"SIMPLE" * 1000)
    for read in (zonal.io.read_map, zonal.io.read_alm, zonal.io.read_cl):
        with pytest.raises(OSError, match="bad.fits"):
            read(bad)


def test_what_was_assumed_becomes_a_warning(path):
    table = fits.BinTableHDU.from_columns([fits.Column("TEMPERATURE", "D", array=np.arange(float(N)))])
    table.header["NSIDE"], table.header["PIXTYPE"] = NSIDE, "HEALPIX"
    table.writeto(path)
    with pytest.warns(zonal.ZonalWarning, match="ORDERING"):
        ring = zonal.io.read_map(path)
    nest = zonal.io.read_map(path, nest_if_absent=True)
    np.testing.assert_array_equal(ring[0], np.arange(N))
    np.testing.assert_array_equal(nest[0], healpy.reorder(np.arange(float(N)), n2r=True))


def test_nan_is_an_error_or_unseen(path):
    sky = np.ones(N)
    sky[3] = np.nan
    table = fits.BinTableHDU.from_columns([fits.Column("TEMPERATURE", "D", array=sky)])
    table.header["NSIDE"], table.header["PIXTYPE"], table.header["ORDERING"] = NSIDE, "HEALPIX", "RING"
    table.writeto(path)
    with pytest.raises(OSError, match="NaN"):
        zonal.io.read_map(path)
    with pytest.warns(zonal.ZonalWarning):
        assert zonal.io.read_map(path, nan_is_unseen=True)[0][3] == zonal.UNSEEN
    with pytest.raises(OSError):
        zonal.io.write_map(path, sky, overwrite=True)


def test_what_a_map_says_of_its_file_is_written(tmp_path):
    values = np.ones(12)
    values[3] = zonal.UNSEEN
    sky = zonal.Map(values, nest_in_file=True, partial=True, cards=[("TELESCOP", "none", "of the map")])
    zonal.io.write_map(tmp_path / "sky.fits", sky, cards=[("OBSERVER", "nobody", "of the call")])
    header = fits.getheader(tmp_path / "sky.fits", 1)
    assert (header["ORDERING"], header["NAXIS2"]) == ("NESTED", 11)
    assert (header["TELESCOP"], header["OBSERVER"]) == ("none", "nobody")

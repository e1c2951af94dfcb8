#!/usr/bin/env python3
"""Writes fuzz/corpus/: small files of every kind that Zonal reads, made by healpy and astropy (not by Zonal).

Run once, when a kind of file is added: fuzz/make_corpus.py. The files are kept in the repository.
"""
import bz2
import gzip
import lzma
import pathlib

import healpy as hp
import numpy as np
from astropy.io import fits

CORPUS = pathlib.Path(__file__).parent / "corpus"
CAR_KEYS = {"CTYPE1": "GLON-CAR", "CRPIX1": 4.5, "CRVAL1": 0.0, "CDELT1": -45.0,
            "CTYPE2": "GLAT-CAR", "CRPIX2": 2.5, "CRVAL2": 0.0, "CDELT2": 45.0}


def table(name, columns, primary=None, **cards):
    hdu = fits.BinTableHDU.from_columns(columns)
    for key, value in cards.items():
        hdu.header[key.replace("_", "-")] = value
    fits.HDUList([primary or fits.PrimaryHDU(), hdu]).writeto(CORPUS / name, overwrite=True)


def column(name, form, values, **options):
    return fits.Column(name=name, format=form, array=np.asarray(values), **options)


def car(name, dtype, shape, **cards):
    hdu = fits.PrimaryHDU(np.arange(np.prod(shape)).reshape(shape).astype(dtype))
    hdu.header.update({**CAR_KEYS, **cards})
    hdu.writeto(CORPUS / name, overwrite=True)


def tiled_images():
    """CAR images packed in tiles, with a table behind them."""
    for name, dtype, options in (("car_rice.fits", "i2", {}), ("car_gzip.fits", "f4", {"compression_type": "GZIP_2", "tile_shape": (2, 3)}),
                                 ("car_dithered.fits", "f8", {"quantize_method": 1, "dither_seed": 7}),
                                 ("car_hcompress.fits", "i4", {"compression_type": "HCOMPRESS_1", "tile_shape": (4, 8)}),
                                 ("car_plio.fits", "u1", {"compression_type": "PLIO_1"})):
        image = (100 * (dtype == "u1") + 100 * np.sin(np.arange(32.0)).reshape(4, 8)).astype(dtype)
        tiled = fits.CompImageHDU(image, header=fits.Header(CAR_KEYS), **options)
        fits.HDUList([fits.PrimaryHDU(), tiled, fits.open(CORPUS / "iqu.fits")[1]]).writeto(CORPUS / name, overwrite=True)


def solution(name):
    """Two fields on two time intervals and an axis in two parts."""
    hdu = fits.BinTableHDU.from_columns([column("T_LOWER", "D", [0, 1]), column("T_UPPER", "D", [1, 2]),
                                         column("ERRORS", "2D", np.zeros((2, 2))),
                                         column("COEFFICIENTS", "24D", np.arange(48.0).reshape(2, 24), dim="(3,2,2,2)")],
                                        name="SOLUTION")
    hdu.header.update({"ZONALSOL": 1, "CHEBCONV": "plain", "N_FIELDS": 2, "FIELD1": "u", "FIELD2": "v", "TMODES": 1,
                       "N_AXES": 1, "AXIS1": "x", "AXKIND1": "space", "AXLOW1": 0.0, "AXHIGH1": 1.0, "AXMODES1": 2,
                       "AXPARTS1": 2, "HIGHMODE": "tau", "TOL": 1e-12, "PROBLEM": "wave", "PARAM1": "c", "PVALUE1": 2.0})
    fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(CORPUS / name, overwrite=True)


def band_powers(name):
    """EE, EB and BB of one masked field in two bands, with errors."""
    spectra = ["EE", "EB", "BB"]
    bands = fits.BinTableHDU.from_columns(
        [column("L_MIN", "K", [2, 4]), column("L_MAX", "K", [3, 5]), column("L_EFF", "D", [2.5, 4.5])]
        + [column(prefix + name, "D", [1, 2]) for prefix in ("", "ERROR_") for name in spectra], name="BANDS")
    bands.header.update({"DL": False, "LMAX_SKY": 6, "CONDITIO": 1.5, "UNIT0": "K"})
    pseudo = fits.BinTableHDU.from_columns(
        [column("L", "K", np.arange(6)), column("WEIGHT", "D", [0, 0, 0.5, 0.5, 0.5, 0.5])]
        + [column(prefix + name, "D", np.ones(6)) for prefix in ("", "NOISE_") for name in spectra], name="PSEUDO")
    mask = fits.BinTableHDU.from_columns([column("W_0x0", "D", np.ones(12))], name="MASK")
    mask.header["MASKP0"] = 0
    windows = [fits.ImageHDU(np.ones((2, 7)), name=f"WINDOWS {name}") for name in [*spectra, "EE<-BB", "EB<-BE", "BB<-EE"]]
    for window in windows:
        window.header.update({"CONDITIO": 1.5, "LOWDEG": False})
    hdus = [fits.PrimaryHDU(), bands, pseudo, mask, *windows, fits.ImageHDU(np.eye(6), name="COVARIANCE")]
    fits.HDUList(hdus).writeto(CORPUS / name, overwrite=True)


def main():
    CORPUS.mkdir(exist_ok=True)
    ramp = np.arange(12.0)
    for name, options in {"iqu.fits": {"coord": "G"}, "iqu_nest.fits": {"nest": True}}.items():
        hp.write_map(CORPUS / name, [ramp, -ramp, ramp / 3], dtype=np.float32, overwrite=True, **options)
    partial = np.where(np.isin(np.arange(768), [3, 700]), 1, hp.UNSEEN)
    hp.write_map(CORPUS / "partial.fits", partial, partial=True, dtype=np.float64, overwrite=True)
    cl = np.arange(20.0)
    hp.write_cl(CORPUS / "cl.fits", [cl] * 6, overwrite=True)
    alm = np.arange(hp.Alm.getsize(3)) * (1 + 1j)
    hp.write_alm(CORPUS / "alm.fits", [alm] * 3, overwrite=True)
    table("ints.fits", [column("A", "I", np.arange(12), null=3), column("B", "B", np.arange(12)),
                        column("C", "K", np.arange(12)), column("HITS", "J", np.arange(12)),
                        column("MASK", "L", np.arange(12) % 2 == 0)],
          PIXTYPE="HEALPIX", ORDERING="RING", NSIDE=1, POLAR=True, BAD_DATA=5.0, POLCCONV="IAU", TSCAL2=0.5, TZERO2=1.0)
    table("vector.fits", [column("T", "48E", np.arange(48.0)[None])], PIXTYPE="HEALPIX", ORDERING="NESTED", NSIDE=2)
    table("strings.fits", [column("NAME", "8A", ["a"] * 12), column("X", "D", ramp), column("C", "C", ramp),
                           column("V", "PE()", np.array([np.ones(i % 3, "f4") for i in range(12)], dtype=object)),
                           column("BITS", "8X", np.zeros((12, 8), bool))],
          PIXTYPE="HEALPIX", ORDERING="RING", NSIDE=1)
    table("window.fits", [column("TEMPERATURE", "D", np.ones(9)), column("POLARIZATION", "D", np.ones(9))],
          EXTNAME="PIXEL WINDOW", NSIDE=2, MAX_LPOL=8)
    table("weights.fits", [column("TEMPERATURE WEIGHTS", "D", np.zeros(4))], NSIDE=2)
    table("full_weights.fits", [column("COMPRESSED PIXEL WEIGHTS", "D", np.zeros(5))], NSIDE=2)
    psf = fits.BinTableHDU.from_columns([column("Energy", "D", [1e3, 1e4]), column("Psf", "3D", np.ones((2, 3)))],
                                        name="PSF")
    theta = fits.BinTableHDU.from_columns([column("Theta", "D", [0, 1, 2])], name="THETA")
    bounds = fits.BinTableHDU.from_columns([column("E_MIN", "E", [1e6], unit="keV"),
                                            column("E_MAX", "E", [1e7], unit="keV")], name="EBOUNDS")
    fits.HDUList([fits.PrimaryHDU(), psf, theta, bounds]).writeto(CORPUS / "psf.fits", overwrite=True)
    table("events.fits", [column("ENERGY", "E", [1e5, 2e5], unit="MeV"), column("L", "E", [1.0, 359.0], unit="deg"),
                          column("B", "E", [-90.0, 3.0], unit="deg"), column("TYPE", "32X", np.zeros((2, 32), bool))],
          EXTNAME="EVENTS")
    solution("solution.fits")
    band_powers("bands.fits")
    ascii_table = fits.TableHDU.from_columns([fits.Column(name=n, format="E15.7", array=cl)
                                              for n in ("TEMPERATURE", "GRADIENT", "CURL", "TG")])
    fits.HDUList([fits.PrimaryHDU(), ascii_table]).writeto(CORPUS / "cl_ascii.fits", overwrite=True)
    car("car.fits", "f8", (4, 8))
    car("car_patch.fits", "f4", (2, 3), CRPIX1=2.0, CRPIX2=0.5)
    car("car_stokes.fits", "i2", (3, 2, 8), CRPIX2=1.5, CTYPE3="STOKES", CRVAL3=1.0, CDELT3=1.0, CRPIX3=1.0, BLANK=3)
    image = fits.CompImageHDU(np.arange(64, dtype="i2").reshape(8, 8))
    hdus = [fits.PrimaryHDU(), image, fits.open(CORPUS / "iqu.fits")[1]]
    fits.HDUList(hdus).writeto(CORPUS / "compressed_image.fits", overwrite=True)
    tiled_images()
    plain = (CORPUS / "iqu.fits").read_bytes()
    (CORPUS / "iqu.fits.gz").write_bytes(gzip.compress(plain, mtime=0))
    (CORPUS / "iqu.fits.bz2").write_bytes(bz2.compress(plain))
    (CORPUS / "iqu.fits.xz").write_bytes(lzma.compress(plain))
    cells = np.concatenate([[16, 17, 18], np.arange(76, 80), np.arange(5, 16)])  # a pixel of nside 1 in four, one of these in four
    table("multi_order.fits", [column("UNIQ", "K", cells), column("PROBDENSITY", "D", np.ones(cells.size), unit="sr-1")],
          PIXTYPE="HEALPIX", ORDERING="NUNIQ", COORDSYS="C", INDXSCHM="EXPLICIT", MOCORDER=2)
    parts = [fits.BinTableHDU.from_columns([column("PIXEL", "E", [3, -1, 5]), column("SIGNAL", "E", [0, 1, 2])], name=name)
             for name in ("TEMPERATURE", "Q-POLARISATION", "U-POLARISATION")]
    for part in parts:
        part.header.update({"PIXTYPE": "HEALPIX", "NSIDE": 2, "ORDERING": "RING", "INDXSCHM": "EXPLICIT"})
    fits.HDUList([fits.PrimaryHDU(), *parts]).writeto(CORPUS / "cut_tqu.fits", overwrite=True)
    (CORPUS / "cl.txt").write_text("# made by hand\n# 1:l 2:TT 3:EE 4:TE 5:PP\n" +
                                   "".join(f"{l} {1 / l:.7e} 1e-3 -2.5D-4 0\n" for l in range(2, 12)))
    (CORPUS / "beam.txt").write_text("".join(f"{l}\t{0.9 ** l}\n" for l in range(12)))


if __name__ == "__main__":
    main()

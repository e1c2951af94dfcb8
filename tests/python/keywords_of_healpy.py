"""Keywords under healpy's names, for which healpy itself says what is right."""

import inspect
import os
import shutil
import tempfile
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

import healpy
import numpy as np

import zonal
import zonal.healpy as hp
from keyword_cases import ROUNDING, Case, Ignored, Raised, Refused, With, named, outcome, split_with

NSIDE, LMAX = 8, 10
RNG = np.random.default_rng(20261127)
N_ALM = hp.Alm.getsize(LMAX)
FULL = 3 + RNG.standard_normal((3, 12 * NSIDE**2)) + 2 * np.array(hp.pix2vec(NSIDE, np.arange(12 * NSIDE**2)))
FULL[0, 350:380] = 50  # a bright plane
IQU = FULL.copy()
for row, first in zip(IQU, (100, 290, 300)):  # bad pixels, which are elsewhere in each map and lie apart in the other order
    row[first:first + 25] = hp.UNSEEN
SKY = IQU[0]
MASKED = np.ma.MaskedArray(SKY, SKY < -1e30, fill_value=hp.UNSEEN)
TEB = RNG.standard_normal((3, N_ALM)) + 1j * RNG.standard_normal((3, N_ALM))
TEB[:, :LMAX + 1].imag = 0
TEB[1:, [0, 1, LMAX + 1]] = 0
NARROW = TEB[0, :hp.Alm.getsize(8, 3)]
L = np.arange(LMAX + 1.0)
CL = 1 / (1 + L)
SPECTRA = [CL, 0.1 * CL, 0.05 * CL, 0.5 * CL, 0.02 * CL, 0.3 * CL]  # by rows; also possible as TT, EE, BB, TE, EB, TB
DIAGONALS = [CL, 0.5 * CL, 0.3 * CL, 0.1 * CL, 0.02 * CL, 0.05 * CL]
THETA, PHI, LON, LAT = (RNG.uniform(*ends, 40) for ends in ((0, np.pi), (0, 7), (0, 360), (-90, 90)))
PIXELS = RNG.integers(0, 12 * NSIDE**2, 40)
VECTORS = RNG.standard_normal((3, 40))
VECTORS /= np.linalg.norm(VECTORS, axis=0)
TRIANGLE = [[1, 0.2, 0.13], [0.1, 1, 0.23], [0.17, 0.2, 1]]
MATRIX = zonal.rotation_matrix((0.3, 0.7, 1.2))


@lru_cache
def folders():
    """Two folders of weights and pixel windows, which differ: those that Zonal computes with healpy's of rings, and others."""
    from astropy.io import fits
    made, before = [Path(tempfile.mkdtemp(prefix="zonal-keywords-")) for _ in range(2)], os.environ.get("XDG_CACHE_HOME")
    for folder in made:
        os.environ["XDG_CACHE_HOME"] = str(folder)
        zonal.io.quadrature_weights(NSIDE)
        (folder / "zonal").rename(folder / "full_weights")
        shutil.copy(Path(healpy.__file__).parent / "data" / f"weight_ring_n{NSIDE:05d}.fits", folder)
        windows = zip(("TEMPERATURE", "POLARIZATION"), hp.pixwin(NSIDE, pol=True))
        (folder / "pixel_window_functions").mkdir()
        fits.BinTableHDU.from_columns([fits.Column(name, "D", array=window) for name, window in windows]).writeto(
            folder / "pixel_window_functions" / f"pixel_window_n{NSIDE:04d}.fits")
    os.environ.pop("XDG_CACHE_HOME") if before is None else os.environ.update(XDG_CACHE_HOME=before)
    for file in made[1].rglob("*.fits"):
        with fits.open(file, "update") as opened:
            for column in opened[1].columns.names:
                opened[1].data[column] += 0.01
    return [str(folder) for folder in made]


def of(name, *arguments, base=None, twice=True, within=ROUNDING, **changes):
    """Cases of a function, called with these arguments. base: keywords of both calls. twice: also in nest order, where the
    function has this keyword. name: may be (name, call of a module)."""
    name, make = name if isinstance(name, tuple) else (name, lambda module: named(module, name, *arguments))
    ours, theirs, found = make(hp), make(healpy), []
    has_nest = twice and "nest" in inspect.signature(attrgetter(name)(hp)).parameters
    for keyword, value in changes.items():
        for also in ({}, {"nest": True})[:2 if has_nest and keyword != "nest" else 1]:
            before, after = split_with((base or {}) | also, keyword, value)
            refused = isinstance(value, Refused)
            found.append(Case(f"zonal.healpy.{name}", keyword, ours, before, after,
                              lambda after=after, refused=refused: Raised() if refused else outcome(theirs, after),
                              within, label="-nest" if also else "",
                              effect=not isinstance(value, Ignored)))
    return found


def changing(name, *arguments):
    """A function of which the arguments afterwards count, too."""
    def make(module):
        def call(**options):
            copies = [np.array(one) if isinstance(one, np.ndarray) else one for one in arguments]
            result = attrgetter(name)(module)(*copies, **options)
            return result, copies
        return call
    return name, make


def smoothing(maps):
    """Its bad pixels in nest order are not where healpy has them, which looks for them in ring order."""
    def make(module):
        if module is hp:
            return lambda **options: hp.smoothing(maps.copy(), **options)
        to_ring, to_nest = (change(NSIDE, np.arange(maps.shape[-1])) for change in (healpy.ring2nest, healpy.nest2ring))

        def call(nest=False, **options):
            return healpy.smoothing(maps[..., to_ring], **options)[...,
                                                                   to_nest] if nest else healpy.smoothing(maps.copy(), **options)
        return call
    return "smoothing", make


def of_rotator(name, *arguments, **options):
    """Cases of a method of Rotator."""
    def make(module):
        return lambda **options: getattr(module.Rotator(rot=(10, 20, 30), coord="GC"),
                                         name)(*map(np.copy, arguments), **options)
    return of((f"Rotator.{name}", make), **options)


A, B = folders()
WEIGHTS = {"use_weights": With(True, datapath=A), "use_pixel_weights": With(True, datapath=A)}
ANALYSIS = {"lmax": 6, "mmax": 4, "iter": 0, "pol": False, "verbose": True, **WEIGHTS}
FITS = {"nest": True, "gal_cut": 25}
BAD = {"badval": 3.0, "rtol": With(0.3, badval=3.0), "atol": With(0.5, badval=3.0)}
REGION = {"nest": True, "return_ranges": True}
BEAMS = {"fwhm": 0.3, "sigma": 0.2}
BEAM = np.cos(L / 9)


def _of_pixels():
    angles = {"nest": True, "lonlat": True}
    return [
        of("ang2pix", NSIDE, THETA, PHI, **angles), of("pix2ang", NSIDE, PIXELS, **angles),
        of("vec2pix", NSIDE, *VECTORS, nest=True),
        of("pix2vec", NSIDE, PIXELS, nest=True), of("ang2vec", THETA, PHI, lonlat=True),
        of("vec2ang", VECTORS.T, lonlat=True),
        of("pix2xyf", NSIDE, PIXELS, nest=True), of("xyf2pix", NSIDE, 1, 3, 5, nest=True),
        of("pix2ring", NSIDE, PIXELS, nest=True),
        of("get_all_neighbours", NSIDE, PIXELS, nest=True),
        of("get_all_neighbours", NSIDE, THETA, base={"phi": PHI}, **angles),
        of("get_all_neighbours", NSIDE, np.array([1.0, 2.0, 3.0]), phi=np.array([0.5, 2.0, 4.0])),
        of("get_interp_weights", NSIDE, THETA, base={"phi": PHI}, **angles),
        of("get_interp_val", FULL, THETA, PHI, **angles), of("get_interp_val", MASKED, THETA, PHI, **angles),
        of("get_interp_weights", NSIDE, np.array([1.0, 2.0, 3.0]), phi=np.array([0.5, 2.0, 4.0])),
        of("query_disc", NSIDE, (1, 0.3, 0.2), 0.4, **REGION),
        of("query_strip", NSIDE, 0.3, 0.9, inclusive=True, **REGION),
        of("query_polygon", NSIDE, TRIANGLE, **REGION),
        of("boundaries", NSIDE, PIXELS, step=3, nest=True), of("isnsideok", 24, nest=True),
        of("nside2pixarea", NSIDE, degrees=True), of("nside2resol", NSIDE, arcmin=True),
        of("max_pixrad", NSIDE, degrees=True),
        of("dir2vec", THETA, PHI, lonlat=True), of("dir2vec", np.array([0.3, 0.4]), phi=0.5),
        of("vec2dir", VECTORS, lonlat=True), of("vec2dir", 1.0, base={"vy": 2.0, "vz": 3.0}, vy=1.5, vz=0.5),
    ]


def _of_maps():
    return [
        of("fit_dipole", SKY, **FITS), of("fit_dipole", FULL[0], bad=50.0), of("fit_dipole", MASKED, **FITS),
        of("fit_monopole", SKY, base={"gal_cut": 25}, nest=True), of("fit_monopole", FULL[0], gal_cut=25, bad=50.0),
        *(of(changing(name, sky), base={"gal_cut": 25}, copy=False, fitval=True, verbose=True, nest=True, gal_cut=10)
          for name in ("remove_dipole", "remove_monopole") for sky in (SKY, FULL[0])),
        *(of((name, lambda module, name=name: lambda **k: np.ma.getdata(getattr(module, name)(FULL[0], **k))),
             bad=50.0, gal_cut=25)
          for name in ("remove_dipole", "remove_monopole")),  # only healpy leaves what is bad unmasked
        of("mask_bad", SKY, **BAD), of("mask_good", SKY, **BAD), of("ma", SKY, **BAD),
        of("reorder", IQU, base={"inp": "RING", "out": "NEST"}, inp="NEST", out="RING"),
        of("reorder", SKY, r2n=True, n2r=True),
        of("ud_grade", IQU, 4, pess=True, order_in="NESTED", order_out="NESTED", power=-2, dtype=np.float32),
        of("ud_grade", IQU, 4, base={"order_in": "NEST"}, pess=True, order_out="RING", power=-2, dtype=np.float32),
        of("ud_grade", MASKED, 4, base={"order_in": "NEST"}, pess=True, order_out="RING"),
        of("map2alm", IQU, base={"lmax": 8}, gal_cut=25, **ANALYSIS),
        of("map2alm", MASKED, base={"lmax": 8}, gal_cut=25),
        of("map2alm", SKY, base={"lmax": 8, "datapath": A, "use_pixel_weights": True}, datapath=B),
        of("map2alm", SKY, base={"lmax": 8, "datapath": A, "use_weights": True}, datapath=B),
        of(("map2alm_lsq", lambda module: lambda **k: module.map2alm_lsq(FULL, 6, 6, **k)[0]), pol=False, within=1e-9),
        of("map2alm_spin", IQU[1:], 2, lmax=6, mmax=4),
        of("anafast", IQU, base={"lmax": 8}, map2=FULL, nspec=2, alm=True, gal_cut=25,
           **{k: v for k, v in ANALYSIS.items() if k != "verbose"}),
        of("anafast", IQU, base={"lmax": 8, "map2": FULL}, alm=True, gal_cut=25, nspec=4, pol=False),
        of("anafast", SKY, base={"lmax": 8, "datapath": A, "use_pixel_weights": True}, datapath=B),
        of(smoothing(IQU), base={"lmax": 8, "fwhm": 0.2}, beam_window=BEAM, nest=True, **BEAMS, **ANALYSIS),
        of(smoothing(IQU), base={"lmax": 8, "datapath": A, "use_pixel_weights": True}, datapath=B),
        of(smoothing(MASKED), base={"lmax": 8}, **BEAMS),
        of("harmonic_ud_grade", IQU, 4, base={"pixwin": False, "use_pixel_weights": False}, lmax=6, mmax=4, iter=0,
           pol=False,
           fwhm_in=0.1, fwhm_out=0.3, beam_window_in=np.array([BEAM**2, BEAM]).T,
           beam_window_out=np.array([BEAM, BEAM**2]).T,
           dtype=np.float32, nside_in=Refused(4), **WEIGHTS),
        of("harmonic_ud_grade", TEB, 4, base={"pixwin": False, "input_type": "alm", "nside_in": 8}, nside_in=2,
           pol=False, fwhm_in=0.1),
        of("harmonic_ud_grade", SKY, 4, base={"pixwin": False, "datapath": A}, datapath=B),
        of("harmonic_ud_grade", TEB, 4, base={"pixwin": False, "nside_in": 8}, input_type="alm"),
    ]


def _of_coefficients():
    return [
        of("alm2map", TEB, NSIDE, pol=False, verbose=True, lmax=Refused(6), **BEAMS),
        of("alm2map", TEB[0], NSIDE, verbose=True, **BEAMS),
        of("alm2map", NARROW, NSIDE, base={"lmax": 8, "mmax": 3}, lmax=Refused(9), mmax=Refused(4)),
        of(changing("alm2map", TEB, NSIDE), base={"fwhm": 0.3}, inplace=True),
        of("alm2map_spin", [NARROW, NARROW * 2], NSIDE, 2, 8, base={"mmax": 3}, mmax=Refused(4)),
        of("alm2map_der1", NARROW, NSIDE, base={"lmax": 8, "mmax": 3}, lmax=Refused(9), mmax=Refused(4)),
        of("almxfl", NARROW, BEAM, mmax=3), of(changing("almxfl", TEB[0], BEAM), inplace=True),
        of(changing("smoothalm", TEB), base={"fwhm": 0.2}, beam_window=BEAM, pol=False, inplace=False, verbose=True,
           **BEAMS),
        of("smoothalm", NARROW, base={"fwhm": 0.2}, mmax=3),
        of("alm2cl", TEB, alms2=TEB[::-1], lmax=Refused(9), mmax=Refused(9), lmax_out=6, nspec=2),
        of("alm2cl", NARROW, mmax=3), of("alm2cl", NARROW, base={"mmax": 3}, lmax=Refused(7)),
        of("alm2cl", TEB, base={"alms2": TEB[::-1]}, lmax_out=6, nspec=4),
        of(changing("rotate_alm", TEB), psi=0.3, theta=0.4, phi=0.5, matrix=MATRIX, lmax=Refused(9), mmax=Refused(9)),
        of(changing("rotate_alm", TEB), base={"psi": 0.1, "theta": 0.2, "phi": 0.3}, psi=0.3, theta=0.4, phi=0.5,
           matrix=MATRIX),
        of("gauss_beam", 0.1, lmax=20, pol=True), of("blm_gauss", 0.3, 9, pol=True),
        of("effective_resolution_fwhm", 64, arcmin=True), of("pixwin", NSIDE, datapath=B),
        of("pixwin", NSIDE, base={"lmax": LMAX, "pol": True}, datapath=B),
        of("synalm", SPECTRA, lmax=8, verbose=True), of("synalm", DIAGONALS, base={"lmax": 8}, new=True),
        of("synfast", SPECTRA, NSIDE, alm=True, verbose=True, lmax=8, **BEAMS),
        of("synfast", DIAGONALS, NSIDE, new=True),
        of("synfast", SPECTRA, NSIDE, base={"alm": True}, fwhm=0.3, sigma=0.2, lmax=8),
        of("synfast", SPECTRA, NSIDE, pol=False),
        of("Alm.getsize", 8, mmax=3), of("Alm.getlm", 8, i=np.array([3, 30])), of("Alm.getlmax", 30, mmax=3),
    ]


def _of_rotations():
    vectors, angles = np.array(VECTORS), np.array([THETA, PHI])
    made = ("Rotator.__init__", lambda module: lambda **options: (lambda r: (r.mat, r.coordinstr,
                                                                             r.coordoutstr))(module.Rotator(**options)))
    return [
        of(made, base={"rot": (10, 20, 30)}, twice=False, rot=(30, 20), coord="GC", inv=True, deg=False, eulertype="X"),
        of(made, base={"rot": (10, 20, 30), "coord": ["G", "E"]}, twice=False, inv=True, eulertype="Y", deg=False,
           coord="EC"),
        of_rotator("__call__", vectors, inv=True), of_rotator("__call__", angles, lonlat=True, inv=True),
        of_rotator("I", vectors, inv=Ignored(True)), of_rotator("I", angles, lonlat=True, inv=Ignored(True)),
        of_rotator("angle_ref", vectors, inv=True), of_rotator("angle_ref", angles, lonlat=True, inv=True),
        of_rotator("rotate_alm", TEB, lmax=Refused(9), mmax=Refused(9)), of_rotator("rotate_alm", TEB, inplace=True),
        of_rotator("rotate_map_alms", FULL, base={"use_pixel_weights": False}, verbose=True),
        of("rotator.angdist", (10.0, 20.0), (30.0, 1.0), lonlat=True),
        of("rotator.rotateDirection", MATRIX, (1.0, 0.5), do_rot=False, lonlat=True),
        of("rotator.rotateDirection", MATRIX, 1.0, base={"phi": 0.5}, phi=0.7),
        of("rotator.rotateVector", MATRIX, VECTORS, do_rot=False),
        of("rotator.rotateVector", MATRIX, 0.1, base={"vy": 0.2, "vz": 0.3}, vy=0.5, vz=0.6),
        of("rotator.euler_matrix_new", 0.1, 0.2, 0.3, deg=True, X=Ignored(False), Y=With(True, X=False),
           ZYX=With(True, X=False)), of("rotator.get_rotation_matrix", (10.0, 20.0, 30.0), deg=True, eulertype="X"),
        of("rotator.normalise_rot", (10.0, 20.0), deg=True),
        of("pixelfunc.lonlat2thetaphi", np.array([10.0, 20.0]), np.array([80.0, 95.0]), latauto=True),
        of("pixelfunc.lonlat2thetaphi", np.array([10.0, 20.0]), np.array([80.0, 95.0]), base={"latauto": True},
           latbounce=False),
        of("pixelfunc.check_nside", 24, nest=True), of("cookbook.is_seq_of_seq", [None, [1, 2]], allow_none=True),
        of("ang2pix", NSIDE, np.array([10.0, 20.0]), np.array([80.0, 95.0]), base={"lonlat": True}, latauto=True),
        of("ang2pix", NSIDE, np.array([10.0, 20.0]), np.array([80.0, 95.0]), base={"lonlat": True, "latauto": True},
           latbounce=False),
        of_rotator("rotate_map_alms", FULL, base={"use_pixel_weights": False}, lmax=6, mmax=Refused(6),
                   use_pixel_weights=With(True, datapath=A)),
        of_rotator("rotate_map_alms", FULL, base={"datapath": A}, datapath=B),
    ]


def cases():
    """All of them."""
    groups = [*_of_pixels(), *_of_maps(), *_of_coefficients(), *_of_rotations()]
    return [case for group in groups for case in group]

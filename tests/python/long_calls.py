"""Calls of the public functions that can take a second, at sizes where they do.

The table has the names of functions, behind a colon what is special about the call, and what prepares the call and returns
it. Zeros of NumPy and rows that are broadcast take no memory until they are written to.
"""
import bz2
import gzip
import lzma
import tempfile
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

import zonal
from zonal import chebyshev, healpy, io, plot

FOLDER = Path(tempfile.mkdtemp(prefix="zonal-long-"))
CORNERS = [(1, 0, 0.1), (0, 1, 0.1), (0, 0, 1)]
SHORT = np.linspace(0, 1, 100_000)


def sky(nside, rows=None):
    zeros = np.zeros(12 * nside**2)
    return zeros if rows is None else np.broadcast_to(zeros, (rows, len(zeros)))


def alm(lmax, rows=None):
    zeros = np.zeros(zonal.alm_size(lmax), complex)
    return zeros if rows is None else np.broadcast_to(zeros, (rows, len(zeros)))


@lru_cache
def noise(nside):
    return np.random.default_rng(1).normal(size=12 * nside**2)


@lru_cache
def angles(n):
    return np.linspace(0.1, 3, n)


def pixels(nside):
    return np.arange(12 * nside**2)


def white(lmax):
    return np.ones(lmax + 1)


def gaussian(fwhm):
    return zonal.Kernel.gaussian(fwhm)


def sht(nside, lmax, spin=0):
    return zonal.SHT(zonal.Grid.healpix(nside), lmax, spin=spin)


def series(*shape):
    return chebyshev.Series(np.ones(shape))


def centres(nside):
    return zonal.Grid.healpix(nside).angles()


def sums(fwhm, method="ring-fft", nside=1024):
    return zonal.PixelConvolution(gaussian(fwhm), zonal.Grid.healpix(nside), method=method)


def written(name, write, *arguments):
    """Writes a file, and returns its path."""
    write(FOLDER / name, *arguments, overwrite=True)
    return FOLDER / name


def packed(name, opened, nside):
    plain = written("small.fits", io.write_map, noise(nside).astype(np.float32))
    with opened(FOLDER / name) as file:
        file.write(plain.read_bytes())
    return partial(io.read_map, FOLDER / name)


def drawing(**options):
    """A drawing, once matplotlib has been imported and knows its fonts."""
    plot.mollweide(noise(8), width=100)
    return partial(plot.mollweide, noise(256), **options)


def detector(lmax, n_pointings=0):
    """A round beam's neighbour of three orders, and a sky of zeros."""
    return partial(zonal.BeamConvolver, alm(lmax), np.ones(zonal.alm_size(lmax, 2)), n_pointings=n_pointings)


LONG = {
    "zonal.SHT.synthesize zonal.mpi.SHT.synthesize": lambda: partial(sht(1024, 3000).synthesize, alm(3000)),
    "zonal.SHT.synthesize: float, spin 2": lambda: partial(sht(1024, 2048, 2).synthesize, alm(2048, 2).astype(np.complex64)),
    "zonal.SHT.adjoint": lambda: partial(sht(1024, 2048).adjoint, sky(1024, 4)),
    "zonal.SHT.adjoint: cylindrical": lambda: partial(zonal.SHT(zonal.Grid.equidistant_cylindrical(3000, 6000), 2900).adjoint, np.zeros(18_000_000)),
    "zonal.SHT.analyze": lambda: partial(sht(1024, 1500).analyze, noise(1024)),
    "zonal.SHT.analyze: exact": lambda: partial(zonal.SHT(zonal.Grid.fejer1(1500, 3000), 1499).analyze, np.zeros(4_500_000)),
    "zonal.SHT.adjoint_analysis": lambda: partial(zonal.SHT(zonal.Grid.fejer1(1500, 3000), 1499).adjoint_analysis, alm(1499)),
    "zonal.SHT.analyze: tolerance": lambda: partial(sht(512, 1000, 2).analyze, np.stack([noise(512)] * 2), tolerance=1e-10),
    "zonal.BeamConvolver.__init__": lambda: detector(2500),
    "zonal.BeamConvolver.__call__": lambda: partial(detector(300)(), angles(4_000_000), 5 * angles(4_000_000), 1),
    "zonal.BeamConvolver.adjoint": lambda: partial(detector(300)().adjoint, angles(4_000_000), angles(4_000_000), 5 * angles(4_000_000), 1),
    "zonal.smooth_with_beam": lambda: partial(zonal.smooth_with_beam, noise(512), np.ones(zonal.alm_size(1500, 3)), lmax=1500),
    "zonal.gradient zonal.curl": lambda: partial(zonal.gradient, alm(2500), 1024),
    "zonal.hessian": lambda: partial(zonal.hessian, alm(2000), 1024),
    "zonal.alm2vector": lambda: partial(zonal.alm2vector, alm(2500, 2), 1024, scalars="divergence-vorticity"),
    "zonal.lens zonal.Lensing.__init__ zonal.Lensing.lens": lambda: partial(zonal.lens, alm(2000, 3), 1e-9 * alm(1500), 1024),
    "zonal.Lensing.adjoint": lambda: partial(zonal.Lensing(1e-9 * alm(1500), 1024, 2000).adjoint, noise(1024)),
    "zonal.Lensing.differentiate": lambda: partial(zonal.Lensing(1e-9 * alm(1500), 1024, 2000).differentiate, alm(2000), noise(1024)),
    "zonal.displace": lambda: partial(zonal.displace, *centres(2048), np.full((2, 12 * 2048**2), 1e-3)),
    "zonal.inverse_deflection": lambda: partial(zonal.inverse_deflection, 1e-10 * alm(1500), 1024),
    "zonal.vector2alm": lambda: partial(zonal.vector2alm, sky(512, 2), 1500, scalars="potentials"),
    "zonal.alm2map zonal.healpy.alm2map": lambda: partial(zonal.alm2map, alm(3000, 3), 1024),
    "zonal.map2alm zonal.healpy.map2alm": lambda: partial(zonal.map2alm, sky(1024, 4), 2000),
    "zonal.anafast zonal.healpy.anafast": lambda: partial(zonal.anafast, noise(1024), noise(1024), lmax=2000),
    "zonal.synfast zonal.healpy.synfast": lambda: partial(zonal.synfast, white(4000), 2048, seed=1),
    "zonal.synalm": lambda: partial(zonal.synalm, {"TT": white(5000), "EE": white(5000)}, seed=1),
    "zonal.healpy.synalm": lambda: partial(healpy.synalm, white(5000), lmax=5000),
    "zonal.healpy.alm2map_der1": lambda: partial(healpy.alm2map_der1, alm(2500), 1024),
    "zonal.healpy.alm2map_spin": lambda: partial(healpy.alm2map_spin, list(alm(2500, 2)), 512, 2, 2500),
    "zonal.healpy.map2alm_spin": lambda: partial(healpy.map2alm_spin, [noise(512)] * 2, 2, lmax=1700),
    "zonal.healpy.map2alm_lsq": lambda: partial(healpy.map2alm_lsq, noise(512), 1000, 1000, tol=1e-12),
    "zonal.healpy.harmonic_ud_grade": lambda: partial(healpy.harmonic_ud_grade, noise(1024), 512),
    "zonal.healpy.pixwin": lambda: partial(healpy.pixwin, 300),
    "zonal.healpy.beam2bl": lambda: partial(healpy.beam2bl, SHORT, SHORT, 5000),
    "zonal.healpy.bl2beam": lambda: partial(healpy.bl2beam, white(5000), SHORT),
    "zonal.alm2cl zonal.healpy.alm2cl": lambda: partial(zonal.alm2cl, alm(12000, 3), alm(12000, 3)),
    "zonal.almxfl zonal.healpy.almxfl": lambda: partial(zonal.almxfl, alm(8000, 4), white(8000)),
    "zonal.healpy.smoothalm": lambda: partial(healpy.smoothalm, list(alm(8000, 3)), 0.01, inplace=False),
    "zonal.resize_alm zonal.healpy.resize_alm": lambda: partial(zonal.resize_alm, alm(8000, 8), 6000),
    "zonal.rotate_alm zonal.healpy.rotate_alm zonal.healpy.Rotator.rotate_alm": lambda: partial(zonal.rotate_alm, alm(2000), (0.1, 0.2, 0.3)),
    "zonal.wavelet_transform": lambda: partial(zonal.wavelet_transform, alm(6000), [white(6000)] * 6),
    "zonal.inverse_wavelet_transform": lambda: partial(zonal.inverse_wavelet_transform, np.zeros((6, zonal.alm_size(6000)), complex), [white(6000)] * 6),
    "zonal.smooth zonal.mpi.SHT.smooth zonal.healpy.smoothing": lambda: partial(zonal.smooth, noise(1024), "30arcmin"),
    "zonal.smooth: renormalize": lambda: partial(zonal.smooth, sky(1024, 3), "1deg", pol=True, mask=sky(1024) + 1, mask_mode="renormalize"),
    "zonal.smooth: split": lambda: partial(zonal.smooth, noise(512), "40arcmin", method="split", error=1e-6),
    "zonal.convolve: ring-fft": lambda: partial(zonal.convolve, noise(1024), gaussian("1deg"), method="ring-fft"),
    "zonal.convolve: pixel-sum": lambda: partial(zonal.convolve, noise(1024), gaussian("30arcmin"), method="pixel-sum"),
    "zonal.plan zonal.ConvolutionPlan.__init__": lambda: partial(zonal.plan, gaussian("3deg"), zonal.Grid.healpix(2048), error=1e-6, lmax=4000, reference="discrete"),
    "zonal.ConvolutionPlan.__call__": lambda: partial(zonal.plan(gaussian("20deg"), zonal.Grid.healpix(1024), error=1e-3, n_maps=8), np.zeros((8, 12 * 1024**2))),
    "zonal.PointTransform.__init__": lambda: partial(zonal.PointTransform, *centres(1024), 100),
    "zonal.PointTransform.synthesize": lambda: partial(zonal.PointTransform(*centres(256), 2000).synthesize, alm(2000)),
    "zonal.PointTransform.adjoint": lambda: partial(zonal.PointTransform(*centres(256), 2000).adjoint, noise(256)),
    "zonal.PointTransform.analyze": lambda: partial(zonal.PointTransform(*centres(256), 200).analyze, noise(256)),
    "zonal.SphereFunction.__init__": lambda: partial(zonal.SphereFunction, alm(2000)),
    "zonal.SphereFunction.__call__": lambda: partial(zonal.SphereFunction(alm(100)), *centres(1024)),
    "zonal.PixelConvolution.__init__": lambda: partial(sums, "30deg", "pixel-sum", 2048),
    "zonal.PixelConvolution.__call__": lambda: partial(sums("1deg"), noise(1024)),
    "zonal.PixelConvolution.__call__: pixel-sum": lambda: partial(sums("20arcmin", "pixel-sum"), noise(1024)),
    "zonal.Split.convolve": lambda: partial(zonal.Split(zonal.gaussian_window("1deg", 1000), "2deg", l_cut=300).convolve, noise(1024)),
    "zonal.Split.__init__": lambda: partial(zonal.Split, white(700), "180deg", l_cut=300),
    "zonal.resample": lambda: partial(zonal.resample, noise(512), 512, rotation="GC", by="points", error=1e-13),
    "zonal.rotate_map zonal.healpy.Rotator.rotate_map_alms": lambda: partial(zonal.rotate_map, noise(512), "GC"),
    "zonal.healpy.Rotator.rotate_map_pixel": lambda: partial(healpy.Rotator(coord="GC").rotate_map_pixel, noise(512)),
    "zonal.Kernel.window": lambda: partial(zonal.Kernel.from_profile(SHORT[::1000], 1 - SHORT[::1000]).window, 150000),
    "zonal.Kernel.profile": lambda: partial(zonal.Kernel.from_window(white(20000)).profile, SHORT),
    "zonal.Kernel.support_for_error": lambda: partial(zonal.Kernel.from_window(zonal.gaussian_window("1arcmin", 50000)).support_for_error, 1e-6),
    "zonal.Kernel.truncation_error": lambda: partial(zonal.Kernel.from_window(zonal.gaussian_window("1arcmin", 50000)).truncation_error, "1deg"),
    "zonal.Grid.angles": lambda: zonal.Grid.healpix(2048).angles,
    "zonal.io.quadrature_weights": lambda: partial(io.quadrature_weights, 256),
    "zonal.Map.to zonal.io.Map.to": lambda: partial(zonal.Map(sky(1024, 12), unit="K").to, "uK"),
    "zonal.Map.reordered zonal.io.Map.reordered zonal.healpy.reorder": lambda: partial(zonal.Map(sky(1024, 12)).reordered, nest=True),
    "zonal.Map: arithmetic": lambda: partial(zonal.Map(sky(1024, 12), unit="K").__add__, zonal.Map(sky(1024, 12), unit="mK")),
    "zonal.spectra.coupling_matrices": lambda: partial(zonal.spectra.coupling_matrices, white(8000), 4000, "00"),
    "zonal.spectra.estimate": lambda: partial(zonal.spectra.estimate, zonal.spectra.Field(noise(1024)), zonal.spectra.Bins.linear(50, 2000)),
    "zonal.spectra.Field.__init__": lambda: partial(zonal.spectra.Field, sky(4096), mask=sky(4096)),
    "zonal.spectra.catalogue_field": lambda: partial(zonal.spectra.catalogue_field, *centres(256), noise(256), 1000),
    "zonal.spectra.catalogue_counts": lambda: partial(zonal.spectra.catalogue_counts, *centres(64), *centres(256), 1000),
    "zonal.spectra.correlation_matrices": lambda: partial(zonal.spectra.correlation_matrices, [1.0], 2000, np.cos, "00"),
    "zonal.spectra.covariance": lambda: partial(zonal.spectra.covariance, white(200), np.abs(noise(64)), 100),
    "zonal.spectra.covariance: narrow": lambda: partial(zonal.spectra.covariance, white(3000), np.abs(noise(256)), 3000, exact_lmax=-1, values=np.ones((2, 3001))),
    "zonal.spectra.mean_pseudo_spectra": lambda: partial(zonal.spectra.mean_pseudo_spectra, white(3000), np.abs(noise(256)), 3000),
    "zonal.spectra.simulated_spectra zonal.mpi.simulated_spectra": lambda: partial(zonal.spectra.simulated_spectra, white(128), np.abs(noise(64)), 128, 10000),
    "zonal.spectra.sample_covariance": lambda: partial(zonal.spectra.sample_covariance, np.broadcast_to(white(1999), (4000, 2000))),
    "zonal.spectra.chi_squared": lambda: partial(zonal.spectra.chi_squared, white(2999), np.eye(3000)),
    "zonal.spectra.pure_coupling_matrices": lambda: partial(zonal.spectra.pure_coupling_matrices, white(8000), 4000, "pp"),
    "zonal.spectra.pure_alm": lambda: partial(zonal.spectra.pure_alm, sky(1024, 2), np.ones(12 * 1024**2), 2000),
    "zonal.masks.distance": lambda: partial(zonal.masks.distance, noise(2048) > -2),
    "zonal.masks.apodize": lambda: partial(zonal.masks.apodize, noise(2048) > -2, "5deg"),
    "zonal.masks.apodize: smooth": lambda: partial(zonal.masks.apodize, np.arange(12 * 512**2) > 100, "10deg", "smooth"),
    "zonal.masks.fill_holes": lambda: partial(zonal.masks.fill_holes, noise(1024) > 0, 5),
    "zonal.masks.moments": lambda: partial(zonal.masks.moments, sky(4096)),
    "zonal.healpy.dist2holes": lambda: partial(healpy.dist2holes, noise(2048) < -2),
    "zonal.pixel_window": lambda: partial(zonal.pixel_window, 300),
    "zonal.udgrade zonal.healpy.ud_grade": lambda: partial(zonal.udgrade, sky(1024, 6), 512),
    "zonal.udgrade: finer": lambda: partial(zonal.udgrade, sky(512, 6), 1024),
    "zonal.credible_levels": lambda: partial(zonal.credible_levels, np.abs(noise(1024))),
    "zonal.fit_dipole zonal.healpy.fit_dipole zonal.healpy.fit_monopole": lambda: partial(zonal.fit_dipole, sky(4096)),
    "zonal.remove_dipole": lambda: partial(zonal.remove_dipole, sky(4096)),
    "zonal.healpy.remove_dipole zonal.healpy.remove_monopole": lambda: partial(healpy.remove_dipole, sky(2048)),
    "zonal.healpy.hotspots": lambda: partial(healpy.hotspots, noise(1024)),
    "zonal.healpy.ma": lambda: partial(healpy.ma, sky(1024, 12)),
    "zonal.healpy.ang2pix zonal.healpy.get_interp_weights": lambda: partial(healpy.ang2pix, 1024, angles(5 * 10**7), angles(5 * 10**7)),
    "zonal.healpy.vec2pix": lambda: partial(healpy.vec2pix, 1024, *[angles(5 * 10**7)] * 3),
    "zonal.healpy.pix2vec zonal.healpy.pix2ang zonal.healpy.pix2xyf zonal.healpy.pix2ring": lambda: partial(healpy.pix2vec, 2048, pixels(2048)),
    "zonal.healpy.nest2ring zonal.healpy.ring2nest zonal.healpy.xyf2pix": lambda: partial(healpy.nest2ring, 4096, pixels(4096)),
    "zonal.healpy.get_all_neighbours": lambda: partial(healpy.get_all_neighbours, 1024, pixels(1024)),
    "zonal.healpy.get_interp_val": lambda: partial(healpy.get_interp_val, noise(1024), angles(5 * 10**7), angles(5 * 10**7)),
    "zonal.healpy.boundaries": lambda: partial(healpy.boundaries, 512, pixels(512), step=4),
    "zonal.healpy.query_disc": lambda: partial(healpy.query_disc, 2**20, (1, 0, 0), 1.0, inclusive=True, fact=16, return_ranges=True),
    "zonal.healpy.query_disc: pixels": lambda: partial(healpy.query_disc, 8192, (1, 0, 0), 1.5),
    "zonal.healpy.query_polygon": lambda: partial(healpy.query_polygon, 2**18, CORNERS, inclusive=True, fact=16, return_ranges=True),
    "zonal.healpy.query_strip": lambda: partial(healpy.query_strip, 4096, 0.1, 3.0, nest=True),
    "zonal.healpy.vec2ang zonal.healpy.ang2vec": lambda: partial(healpy.vec2ang, np.broadcast_to([0.1, 0.2, 0.3], (2 * 10**7, 3))),
    "zonal.io.read_map zonal.healpy.read_map": lambda: partial(io.read_map, written("map.fits", io.write_map, sky(1024, 6))),
    "zonal.io.read_map: gzip": lambda: packed("map.fits.gz", partial(gzip.open, mode="wb", compresslevel=1), 1024),
    "zonal.io.read_map: bzip2": lambda: packed("map.fits.bz2", partial(bz2.open, mode="wb", compresslevel=1), 512),
    "zonal.io.read_map: xz": lambda: packed("map.fits.xz", partial(lzma.open, mode="wb", preset=0), 512),
    "zonal.io.write_map zonal.healpy.write_map": lambda: partial(written, "out.fits", io.write_map, sky(1024, 6)),
    "zonal.io.write_map: multi-order": lambda: partial(io.write_map, FOLDER / "out.fits", noise(512), multi_order=True, overwrite=True),
    "zonal.io.write_map: gzip, nest": lambda: partial(io.write_map, FOLDER / "out.fits.gz", noise(512), nest=True, overwrite=True),
    "zonal.io.read_alm zonal.healpy.read_alm": lambda: partial(io.read_alm, written("alm.fits", io.write_alm, alm(3000, 3))),
    "zonal.io.write_alm zonal.healpy.write_alm": lambda: partial(written, "alm-out.fits", io.write_alm, alm(3000, 3)),
    "zonal.io.bin_events": lambda: partial(io.bin_events, io.Events(angles(10**7) / 2, angles(10**7) / 2, None, "galactic"), 1024),
    "zonal.chebyshev.Series: products": lambda: partial(series(1500, 1500).__mul__, series(1500, 1500)),
    "zonal.chebyshev.sum_of_products zonal.chebyshev.sums_of_products": lambda: partial(chebyshev.sum_of_products, *[(series(135, 135, 90),) * 2] * 2),
    "zonal.chebyshev.Series.__call__": lambda: partial(series(1000), np.linspace(-1, 1, 10**6)),
    "zonal.chebyshev.Series.on_grid": lambda: partial(series(1000, 1000).on_grid, *[np.linspace(-1, 1, 2000)] * 2),
    "zonal.chebyshev.Series.from_function": lambda: partial(chebyshev.Series.from_function, lambda x, y: np.abs(x - y), [(-1, 1)] * 2, degree=2500),
    "zonal.chebyshev.Series.roots": lambda: chebyshev.Series(np.cos(np.arange(8000.0))).roots,
    "zonal.chebyshev.Series.all_roots": lambda: chebyshev.Series(np.cos(np.arange(1000.0))).all_roots,
    "zonal.chebyshev.Series.restricted": lambda: partial(series(1500, 1500).restricted, [(0, 0.5), (0, 0.5)]),
    "zonal.plot.mollweide zonal.plot.draw zonal.healpy.mollview": lambda: drawing(width=8000),
}

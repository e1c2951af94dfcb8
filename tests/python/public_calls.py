"""Every public function of the package, found by introspection, with arguments that it takes.

A new function is found here by itself. If its arguments have names that others have, nothing needs to be added.
"""
import importlib
import inspect
import tempfile
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
from mpi4py import MPI

import zonal
from zonal import chebyshev, gwrm, healpy, io, mpi, plot

matplotlib.use("Agg")

FOLDER = Path(tempfile.mkdtemp(prefix="zonal-calls-"))
GRID = zonal.Grid.healpix(4)
SKY = np.random.default_rng(1).normal(size=192)
CL = np.ones(9)
ALM = zonal.synalm(CL, seed=1)
MASK = np.where(np.arange(192) < 100, 1.0, 0.0)
KERNEL = zonal.Kernel.gaussian("40deg")
X, U = gwrm.Axis("x", modes=8), gwrm.Unknown("u")
SERIES = chebyshev.Series([1.0, 2.0, 0.5])
SURFACE = chebyshev.Series(np.ones((3, 3)))
SOLUTION = gwrm.solve({U: -U}, {U: 1}, t=(0, 1))
BINS = zonal.spectra.Bins.linear(3, 7)
FIELD = zonal.spectra.Field(SKY)
POWERS = zonal.spectra.estimate(FIELD, BINS, lmax_sky=8, theory=np.ones(9))


def _text(name, *lines):
    path = FOLDER / name
    path.write_text("\n".join(lines) + "\n")
    return path


def _psf(path):
    from astropy.io import fits
    theta = np.linspace(0, 10, 30)
    columns = [fits.Column("Energy", "D", array=[100.0, 1000.0]), fits.Column("Exposure", "D", array=[1.0, 1.0]),
               fits.Column("PSF", f"{len(theta)}D", array=np.exp(-np.array([theta, 2 * theta]) ** 2))]
    angles = fits.BinTableHDU.from_columns([fits.Column("Theta", "D", unit="deg", array=theta)], name="THETA")
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns, name="PSF"), angles]).writeto(path)
    return path


def _bands(path):
    POWERS.save(path)
    return path


def _events(path):
    from astropy.io import fits
    columns = [fits.Column(name, "D", unit="deg", array=[10.0, 20.0]) for name in ("L", "B")]
    fits.BinTableHDU.from_columns(columns, name="EVENTS").writeto(path)
    return path


@lru_cache
def _files():
    io.write_map(FOLDER / "map.fits", SKY)
    io.write_alm(FOLDER / "alm.fits", ALM)
    io.write_cl(FOLDER / "cl.fits", CL)
    return {
        "read_map": FOLDER / "map.fits", "read_alm": FOLDER / "alm.fits", "read_cl": FOLDER / "cl.fits",
        "read_beam": _text("beam.txt", *(f"{l} 1.0" for l in range(9))),
        "read_profile": _text("profile.txt", "# theta [deg] value [1/sr]", "0 1", "10 0.5", "20 0"),
        "read_psf": _psf(FOLDER / "psf.fits"), "read_events": _events(FOLDER / "events.fits"),
    }


# Values of required arguments by their names, unless FOR_FUNCTION has another.
BY_NAME = {
    "alm": ALM, "alms": ALM, "alms1": ALM, "axis": X, "b_l": CL, "base": 2.0, "beam": CL, "c_l": CL, "cl": CL, "cls": CL, "comm": MPI.COMM_SELF,
    "coefficients": [1.0, 2.0], "degree": 1, "ellipticity": 1.2, "derivative_weight": 1.0, "dilation": 2.0, "domain": (-0.5, 0.5), "end": "both",
    "equations": {U: -U}, "error": 0.1, "events": io.Events(np.zeros(3), np.zeros(3), None, "galactic"), "face": 3,
    "field": U, "fl": CL, "floor": 0.1, "function": np.sin, "fwhm": 0.5, "grid": GRID, "initial": {U: 1}, "interval": 0,
    "ipix": 5, "iring": 3, "j_min": 0, "kernel": KERNEL, "l": 2, "lat": 20.0, "lmax": 8, "lmax_out": 6, "lon": 10.0,
    "m": SKY, "map": SKY, "mask": MASK, "mask_spectra": CL, "map1": SKY, "map_in": SKY, "maps": SKY, "masks": SKY**2, "covariance": np.eye(9), "residual": CL, "samples": np.outer(CL, CL) + np.eye(9), "n_samples": 99, "n_values": 9, "mmax": 8, "mmax_out": 6, "n": 5, "n_l": CL, "n_phi": 17,
    "n_pixels": [4, 8, 4], "n_rings": 9, "name": "v", "noise": CL, "npix": 192, "nside": 4, "nside_out": 2,
    "number": 0, "order": 1, "phi": 0.4, "pix": 5, "polynomial": np.polynomial.Chebyshev([1, 2]), "projection": None,
    "psi": 0.2, "q": SKY, "radius": 0.5, "ring": 3, "rings": [0, 1], "rotation": (0.1, 0.2, 0.3), "s": 45, "scale": 0.5, "scales": ALM[None],
    "scalars": "potentials", "seed": 1, "signal": CL, "sky": ALM, "spin": 2, "t": (0, 1), "target": CL, "theta": 0.3, "theta1": 0.3, "theta2": 0.5,
    "theta_cut": 1.0, "tod": 0.5, "u": SKY, "unit": "K", "nest": True, "value": 1.0, "value_weight": 1.0, "values": SKY[None], "vec": (1, 0, 0),
    "vector": [SKY, SKY],
    "vectors": [1.0, 0.0, 0.0], "vertices": [(1, 0, 0), (0, 1, 0), (0, 0, 1)], "vmax": 1.0, "vmin": 0.0, "window": CL,
    "windows": [CL], "x": 1, "y": 1, "z": 1, "i": 3, "time_modes": 12, "axes": (), "energy": 200.0,
    "bins": BINS, "edges": [2, 5, 8], "fields": FIELD, "weights": [[0, 0, 1, 1]], "width": 3,
    "whole": SOLUTION, "solution": SOLUTION._solution,
}

# What its functions need beside these, by "function" or "Class.method".
FOR_FUNCTION = {
    "zonal.Grid.__init__": {"theta": [0.5, 1.5, 2.5], "weight": [0.1, 0.1, 0.1]},
    "zonal.Grid.reduced_gaussian": {"n_phi": [20, 24, 24, 20]},
    "zonal.Kernel.from_profile": {"theta": [0.0, 0.5, 1.0], "value": [1.0, 0.5, 0.0]},
    "zonal.PointTransform.__init__": {"theta": [0.3, 0.5], "phi": [0.4, 0.1]},
    "zonal.spectra.BandPowers.save": {"path": FOLDER / "bands.fits", "overwrite": True},
    "zonal.spectra.BandPowers.load": {"path": _bands(FOLDER / "saved.fits")},
    "zonal.Split.__init__": {"window": zonal.gaussian_window("40deg", 11), "theta_cut": 1.4, "l_cut": 3, "threads": 1},
    "zonal.alm_index": {"m": 1}, "zonal.alm2map": {"grid": 4}, "zonal.alm2vector": {"alm": [ALM, ALM]}, "zonal.synfast": {"grid": 4},
    "zonal.convolve": {"method": "ring-fft"}, "zonal.credible_levels": {"map": SKY**2}, "zonal.smooth_with_beam": {"lmax": 8, "threads": 1},
    "zonal.smooth": {"fwhm": "60deg", "lmax": 8, "error": 1e-2, "threads": 1},
    "zonal.plan": {"error": 1e-2, "threads": 1}, "zonal.ConvolutionPlan.__init__": {"error": 1e-2, "threads": 1},
    "zonal.lens": {"phi": 1e-3 * ALM, "where": GRID}, "zonal.inverse_deflection": {"phi": 1e-3 * ALM, "where": GRID},
    "zonal.Lensing.__init__": {"phi": 1e-3 * ALM, "where": GRID}, "zonal.displace": {"theta": [0.3], "phi": [0.4], "deflection": [[0.1], [0.1]]},
    "zonal.Lensing.adjoint": {"values": np.zeros(GRID.n_pixels)}, "zonal.Lensing.differentiate": {"values": np.zeros(GRID.n_pixels)},
    "zonal.spectra.catalogue_field": {"theta": [0.3, 0.5], "phi": [0.4, 0.1], "values": [1.0, 2.0]},
    "zonal.spectra.correlation_matrices": {"mask_spectrum": [1.0], "apodisation": np.cos},
    "zonal.spectra.catalogue_counts": {"theta": [0.3, 0.5], "phi": [0.4, 0.1], "random_theta": [0.3, 0.5], "random_phi": [0.4, 0.1]},
    "zonal.masks.fill_holes": {"min_pixels": 3}, "zonal.spectra.pure_alm": {"maps": [SKY, SKY], "mask": np.ones(192), "lmax": 6},
    "zonal.resample": {"where": 2}, "zonal.udgrade": {"nside": 2}, "zonal.mpi.SHT.smooth": {"fwhm": 0.5}, "zonal.mpi.SHT.cross_spectra": {"alms": ALM[None]},
    "zonal.mpi.PixelConvolution.__init__": {"sht": mpi.SHT(MPI.COMM_SELF, GRID, 8)},
    "zonal.mpi.PointTransform.__init__": {"sht": mpi.SHT(MPI.COMM_SELF, GRID, 8)},
    "zonal.io.read_psf": {"energy": 200.0}, "zonal.gwrm.periodic": {"order": 2},
    "zonal.chebyshev.Series.integrate_out": {"axis": 0},
    "zonal.gwrm.Condition.__init__": {"ends": ("lower",), "weights": (1.0, 0.0)},
    "zonal.gwrm.SolvedField.__call__": {"t": 0.5}, "zonal.gwrm.Solution.__call__": {"t": 0.5},
    "zonal.gwrm.Solution.__init__": {"names": ["u"]},
    "zonal.healpy.Alm.getidx": {"m": 1},
    "zonal.healpy.alm2map_spin": {"alms": [ALM, ALM]}, "zonal.healpy.map2alm_spin": {"maps": [SKY, SKY]},
    "zonal.healpy.bl2beam": {"bl": CL, "theta": np.linspace(0, 1, 9)},
    "zonal.healpy.beam2bl": {"beam": np.exp(-np.linspace(0, 1, 9)), "theta": np.linspace(0, 1, 9)},
    "zonal.healpy.dir2vec": {"phi": 0.4}, "zonal.healpy.get_interp_weights": {"phi": 0.4},
    "zonal.healpy.get_all_neighbours": {"phi": 0.4}, "zonal.plot.text": {"s": "here", "lat": 0.3},
    "zonal.plot.line": {"lat": 0.3}, "zonal.plot.points": {"lat": 0.3},
    "zonal.healpy.Rotator.do_rot": {"i": 0}, "zonal.healpy.xyf2pix": {"x": 0, "y": 0},
    "zonal.healpy.reorder": {"r2n": True}, "zonal.healpy.vec2dir": {"vec": [1.0, 0.0, 0.0]},
    "zonal.healpy.vec2pix": {"x": 1.0, "y": 0.5, "z": 0.5},
    "zonal.healpy.rotate_alm": {"alm": ALM.copy()},
    **{f"zonal.healpy.{name}": {"map": SKY, "xsize": 40} for name in ("azeqview", "cartview", "gnomview", "mollview", "mollzoom", "orthview")},
    **{f"zonal.plot.{name}": {"width": 40} for name in ("azimuthal", "cartesian", "draw", "gnomonic", "mollweide", "orthographic", "polar")},
}
VARIADIC = {
    "zonal.chebyshev.Series.__call__": (0.5,), "zonal.chebyshev.Series.on_grid": ([0.1, 0.2],),
    "zonal.chebyshev.sum_of_products": ((SERIES, SERIES),), "zonal.chebyshev.sums_of_products": ([(SERIES, SERIES)],),
    "zonal.gwrm.unknowns": ("a", "b"), "zonal.healpy.projplot": ([0.3, 0.4], [0.1, 0.2]),
    "zonal.healpy.projscatter": ([0.3, 0.4], [0.1, 0.2]), "zonal.healpy.projtext": (0.3, 0.4, "here"),
    **{f"zonal.healpy.Rotator.{name}": ([1.0, 0.0, 0.0],) for name in ("__call__", "I", "angle_ref")},
}
_DRAW_OVER = {f"zonal.healpy.{name}" for name in ("delgraticules", "graticule", "projplot", "projscatter", "projtext")}


@lru_cache
def _instances():
    return {
        zonal.Grid: GRID, zonal.Kernel: KERNEL, zonal.SHT: zonal.SHT(GRID, 8, threads=1), zonal.Lensing: zonal.Lensing(1e-3 * ALM, GRID, 8),
        zonal.BeamConvolver: zonal.BeamConvolver(ALM, CL, threads=1),
        zonal.PixelConvolution: zonal.PixelConvolution(KERNEL, GRID, threads=1),
        zonal.PointTransform: zonal.PointTransform(*GRID.angles(), 8, threads=1), zonal.SphereFunction: zonal.SphereFunction(ALM, threads=1),
        zonal.ConvolutionPlan: zonal.plan(KERNEL, GRID, error=1e-2, threads=1), chebyshev.Series: SERIES, gwrm.Expression: U,
        zonal.Split: zonal.Split(zonal.gaussian_window("40deg", 11), "80deg", l_cut=3, threads=1),
        mpi.SHT: mpi.SHT(MPI.COMM_SELF, GRID, 8), mpi.PixelConvolution: mpi.PixelConvolution(mpi.SHT(MPI.COMM_SELF, GRID, 8), KERNEL),
        mpi.PointTransform: mpi.PointTransform(mpi.SHT(MPI.COMM_SELF, GRID, 8), *GRID.angles()),
        zonal.Map: zonal.Map(SKY, unit="K"), gwrm.Solution: SOLUTION, gwrm.SolvedField: SOLUTION[U],
        zonal.spectra.Bins: BINS, zonal.spectra.Field: FIELD, zonal.spectra.BandPowers: POWERS,
        healpy.Rotator: healpy.Rotator(rot=(10, 20, 30)), healpy.Alm: healpy.Alm,
    }


class Call:
    """A public function and the arguments of a call that works."""

    def __init__(self, name, make):
        self.name, self.make = name, make
        self.parameters = list(inspect.signature(make).parameters.values())

    def arguments(self):
        """Of the required parameters, and of others where a call needs them."""
        special = dict(FOR_FUNCTION.get(self.name, {}))
        named = self.name.rpartition(".")[2]
        of_io = self.name.startswith(("zonal.io.", "zonal.mpi."))
        if named in _files() and of_io:
            special.setdefault("path", _files()[named])
        if self.name.startswith("zonal.healpy.read_"):
            special.setdefault("filename", _files()[named])
        if named.startswith("write_"):
            special |= {"path" if of_io else "filename": FOLDER / f"{self.name}.fits",
                        "overwrite": True}
        found = {}
        for p in self.parameters:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                continue
            if p.name in special:
                found[p.name] = special.pop(p.name)
            elif p.default is p.empty:
                found[p.name] = self.axes() if p.name == "ax" else view() if p.name == "projection" else BY_NAME[p.name]
        return found | special  # the rest are options that go on to other functions

    @staticmethod
    def axes():
        return plot.mollweide(SKY, width=40)

    def __call__(self, **other):
        arguments = self.arguments() | other
        before = VARIADIC.get(self.name, ())
        if self.name in _DRAW_OVER:
            healpy.mollview(SKY, xsize=40)
        elif self.name == "zonal.healpy.set_g_clim":
            healpy.mollzoom(SKY, xsize=40)
        elif self.name == "zonal.healpy.newprojplot":
            healpy.projview(SKY, xsize=40)
        return self.make(*before, **arguments)

    def __repr__(self):
        return self.name


def view():
    from zonal.plot.projections import Mollweide
    return Mollweide()


def public_calls():
    """All of them, as a list of Call."""
    calls = []
    for module in ("zonal", "zonal.io", "zonal.chebyshev", "zonal.gwrm", "zonal.plot", "zonal.masks", "zonal.spectra", "zonal.healpy", "zonal.mpi"):
        home = importlib.import_module(module)
        later = ["projview", "newprojplot"] if module == "zonal.healpy" else []
        for name in [*home.__all__, *later]:
            one = getattr(home, name)
            if inspect.isclass(one):
                calls += _methods(f"{module}.{name}", one)
            elif inspect.isfunction(one):
                calls.append(Call(f"{module}.{name}", one))
    return calls


def _methods(name, kind):
    if issubclass(kind, (BaseException, tuple)) or not hasattr(kind.__init__, "__code__"):
        return []  # errors, and classes of the extension, whose instances functions return
    calls = []
    parts = [base for base in kind.__mro__ if base is kind or base.__module__.startswith("zonal.mpi")]
    for method, found in [item for part in parts for item in vars(part).items()]:
        function = found.__func__ if isinstance(found, (classmethod, staticmethod)) else found
        if not inspect.isfunction(function) or method.startswith("_") and method not in ("__init__", "__call__"):
            continue
        if method == "__init__" and kind in (zonal.Kernel, gwrm.SolvedField, gwrm.Solution, gwrm.Expression, zonal.spectra.BandPowers, zonal.spectra.Bins):
            continue  # made by functions alone
        instance = SURFACE if method == "integrate_out" else _instances().get(kind)
        make = kind if method == "__init__" else getattr(kind if isinstance(found, classmethod) else instance, method)
        calls.append(Call(f"{name}.{method}", make))
    return calls

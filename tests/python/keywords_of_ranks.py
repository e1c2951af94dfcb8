"""Keywords of zonal.mpi, zonal.jax and zonal.torch, for which Zonal's own functions say what is right."""

import importlib.util

import numpy as np
from mpi4py import MPI

import keywords_of_points
import zonal
from keyword_cases import With, outcome
from keywords_of_convolutions import BUMP, KERNEL, WIDE, profile, summed
from keywords_of_files import (
    _hits,
    _map_file,
    _two_maps,
    _with_nan,
    _without_order,
    column,
    header,
    kind,
    names,
    part,
    unit_of,
)
from keywords_of_healpy import BEAM, CL, IQU, LMAX, NARROW, SKY, TEB
from keywords_of_zonal import DEFAULT, HEALPIX, MASK, NSIDE, PLAIN, N, of, raises

MOST = 3 * NSIDE - 1
RINGS = np.linspace(0.5, 1, 4 * NSIDE - 1)
SUM = 1e-12  # of the ranks' parts, whose order is another


def like(name, call, base=None, within=SUM, **changes):
    """Cases of a method of zonal.mpi.SHT on one rank, where Zonal's function of one process gives the same. call: takes either."""
    ranks = zonal.mpi.SHT(MPI.COMM_SELF, HEALPIX, MOST, threads=1)
    found = []
    for keyword, value in changes.items():
        others, plain = (value.others, value.value) if isinstance(value, With) else ({}, value)
        expected = (base or {}) | others | {keyword: plain}
        found += of(f"mpi.SHT.{name}", lambda **k: call(ranks, **k), base, within=within,
                    **{keyword: (value, DEFAULT,
                                 lambda expected=expected: outcome(lambda **k: call(None, **k), expected))})
    return found


def _either(name, *arguments, **fixed):
    """The method of the ranks, or the function of one process."""
    def call(ranks, **options):
        given = [np.array(one) if isinstance(one, np.ndarray) else one for one in arguments]
        if ranks is not None:
            return getattr(ranks, name)(*given, **(fixed | options))
        return getattr(zonal, name)(*given, **(fixed | options))
    return call


def _of_transform(name, *arguments):
    def call(ranks, **options):
        one = zonal.SHT(HEALPIX, MOST) if ranks is None else ranks
        return getattr(one, name)(*arguments, **options)
    return call


def _out_of(name, given, shape, kind):
    def call(ranks, out=None):
        one, space = zonal.SHT(HEALPIX, MOST) if ranks is None else ranks, np.zeros(shape, kind)
        result = getattr(one, name)(given, **({} if out is None else {"out": space}))
        return result, result is space
    return call


def _file(function, maps, take):
    def call(ranks, **options):
        method = getattr(zonal.io if ranks is None else ranks, function)
        return part(lambda path, **k: method(path, maps, **k), take)(**options)
    return call


def _reading(make):
    def call(ranks, **options):
        make("ranks.fits")
        found = (zonal.io.read_map if ranks is None else ranks.read_map)("ranks.fits", **options)
        found = np.asarray(found)
        return found[0] if found.ndim == 2 and len(found) == 1 else found
    return call


def _of_ranks():
    alm = zonal.synalm(np.ones(MOST + 1), seed=1)
    spectra = {"TT": np.ones(MOST + 1), "EE": np.ones(MOST + 1)}
    analysis = {"iterations": 1, "tolerance": 1e-3, "pixel_weights": 0.5 + MASK / 2, "ring_weights": RINGS,
                "max_iterations": With(2, tolerance=1e-9)}
    named = _either("map2alm", SKY)
    plain = {key: value for key, value in analysis.items() if key != "max_iterations"}
    smoothing = {"lmax": 10, "iterations": 1, "tolerance": 1e-3, "fill_masked": True, "mask": MASK,
                 "mask_mode": With("renormalize", mask=MASK),
                 "mask_threshold": With(0.5, mask=MASK, mask_mode="renormalize"), "normalization": "other",
                 "reference": "other", "strict": "yes",
                 "costs": "dear", "precision": "half", "keep_missed": "yes", "error": -1.0, "theta_cut": -1.0,
                 "cut": -1.0}
    ring = {"method": "ring-fft"}
    where = _either("smooth", SKY, 0.3)
    return [
        like("analyze", _of_transform("analyze", PLAIN), **analysis),
        like("analyze", lambda r, **k: type(_of_transform("analyze", PLAIN)(r, **k)).__name__, return_report=True),
        like("analyze", _out_of("analyze", PLAIN, alm.size, complex), out=True),
        like("adjoint", _out_of("adjoint", PLAIN, alm.size, complex), out=True),
        like("synthesize", _out_of("synthesize", alm, N, float), out=True),
        like("map2alm", named, **plain), like("anafast", _either("anafast", SKY), maps2=PLAIN, **plain),
        like("alm2cl", _either("alm2cl", alm), alm2=2 * alm),
        like("map2alm", lambda r, **k: _of_transform("map2alm" if r else "analyze", PLAIN)(r, **k),
             max_iterations=With(2, tolerance=1e-9)),
        like("anafast", lambda r, **k: r.anafast(PLAIN, **k) if r else zonal.alm2cl(_of_transform("analyze", PLAIN)(r, **k)),
             max_iterations=With(2, tolerance=1e-9)),
        like("synalm", lambda r, **k: _either("synalm", spectra)(r, **({"seed": 3} | k)), seed=4, dtype=np.complex64,
             within=1e-6),
        like("synfast", lambda r, **k: _either("synfast", spectra, *([] if r else [NSIDE]))(r, **({"seed": 3} | k)),
             seed=4, dtype=np.float32, fwhm=0.3, window=WIDE,
             return_alm=True, within=1e-6),
        like("smooth", where, {"method": "harmonic"}, beam=WIDE, fwhm_in=0.1, beam_in=WIDE,
             floor=With(0.9, fwhm_in=0.3), **smoothing),
        like("smooth", _either("smooth", SKY), {"method": "harmonic", "beam": WIDE}, fwhm=0.3),
        like("smooth", where, method="ring-fft"), like("smooth", where, ring, cut=0.3, within=1e-9),
        like("smooth", lambda r, **k: type(where(r, **k)).__name__, return_report=True),
        like("convolve", _either("convolve", SKY, KERNEL), {"method": "harmonic"}, **smoothing),
        like("convolve", _either("convolve", SKY, KERNEL), method="ring-fft"),
        like("convolve", _either("convolve", SKY, KERNEL), ring, cut=0.3, normalization="pixel", within=1e-9),
        like("convolve", lambda r, **k: type(_either("convolve", SKY, KERNEL)(r, **k)).__name__, return_report=True),
        like("read_map", _reading(_map_file), fields=[1]), like("read_map", _reading(_two_maps), hdu=2),
        like("read_map", _reading(_hits), auxiliary=True),
        like("read_map", _reading(_without_order), nest_if_absent=True),
        like("read_map", _reading(_with_nan), nan_is_unseen=True),
        like("write_map", _file("write_map", IQU, header("POLCCONV")), pol=True),
        like("write_map", _file("write_map", IQU, names), names=["A", "B", "C"]),
        like("write_map", _file("write_map", PLAIN, unit_of()), units=["mK"]),
        like("write_map", _file("write_map", PLAIN, header("COORDSYS")), coordinates="G"),
        like("write_map", _file("write_map", PLAIN, column()), nest=True),
        like("write_map", _file("write_map", PLAIN, kind), single=True),
        like("write_alm", _file("write_alm", alm, unit_of(1)), unit="mK"),
    ]


def _of_convolutions():
    ranks = zonal.mpi.SHT(MPI.COMM_SELF, HEALPIX, MOST, threads=1)
    made = lambda **k: zonal.mpi.PixelConvolution(ranks, BUMP, **k)

    def written(out=None):
        space = np.zeros(N)
        result = made()(PLAIN, **({} if out is None else {"out": space}))
        return result, result is space

    return [
        of("mpi.PixelConvolution.__init__", lambda **k: made(**k)(PLAIN), {}, method=("direct", "ring-fft", raises)),
        of("mpi.PixelConvolution.__init__", lambda **k: np.abs(made(**k)(PLAIN) - made()(PLAIN)).max() > 1e-9,
           precision=("float32", "float64", lambda: True), accuracy=(1e-2, 1e-12, lambda: True)),
        of("mpi.PixelConvolution.__init__", lambda **k: np.array_equal(made(**k)(PLAIN), made()(PLAIN)),
           method=("pixel-sum", "ring-fft", lambda: False)),
        of("mpi.PixelConvolution.__call__", written, {}, within=1e-5, out=(True, DEFAULT, lambda: (summed(PLAIN, profile), True))),
    ]


def _of_points():
    ranks = zonal.mpi.SHT(MPI.COMM_SELF, HEALPIX, keywords_of_points.LMAX, threads=1)
    alm, pair, theta, values = (getattr(keywords_of_points, name) for name in ("ALM", "PAIR", "THETA", "VALUES"))
    made = lambda **k: zonal.mpi.PointTransform(ranks, theta, keywords_of_points.PHI, **k)
    direct = keywords_of_points.direct

    def written(call, space, out=None):
        result = call(**({} if out is None else {"out": space}))
        return result, result is space

    return [
        of("mpi.PointTransform.__init__", lambda **k: made(**k).synthesize(pair if k.get("spin") else alm), {}, within=1e-8,
           spin=(2, 0, lambda: direct(pair, spin=2))),
        of("mpi.PointTransform.__init__", lambda **k: bool(np.abs(made(**k).synthesize(alm) - direct(alm)).max() > 1e-8), {},
           error=(1e-2, 1e-10, lambda: True)),
        of("mpi.PointTransform.synthesize", lambda **k: written(lambda **o: made().synthesize(alm, **o), np.zeros(len(theta)), **k), {}, within=1e-8,
           out=(True, DEFAULT, lambda: (direct(alm), True))),
        of("mpi.PointTransform.adjoint", lambda **k: written(lambda **o: made().adjoint(values, **o), np.zeros(len(alm), complex), **k), {}, within=1e-8,
           out=(True, DEFAULT, lambda: (zonal.PointTransform(theta, keywords_of_points.PHI, keywords_of_points.LMAX).adjoint(values), True))),
    ]


def _of_one_library(name, call, narrow):
    if name == "jax":
        return [of("jax.almxfl", call("almxfl", NARROW, BEAM[:8]), narrow, within=SUM,
                     lmax=(With(7, mmax=4), DEFAULT, lambda: zonal.almxfl(NARROW, BEAM, 7, 4)),
                     mmax=(With(4, lmax=7), DEFAULT, lambda: zonal.almxfl(NARROW, BEAM, 7, 4))),
                  of("jax.synalm", call("synalm", CL[:8], NARROW), narrow, within=SUM,
                     lmax=(With(7, mmax=4), DEFAULT, lambda: zonal.almxfl(NARROW, np.sqrt(CL), 7, 4)),
                     mmax=(With(4, lmax=7), DEFAULT, lambda: zonal.almxfl(NARROW, np.sqrt(CL), 7, 4))),
                  of("jax.rotate_alm", call("rotate_alm", TEB[0], (0.1, 0.2, 0.3)), {}, within=SUM,
                     lmax=(9, LMAX, raises)),
                  of("jax.rotate_alm", call("rotate_alm", NARROW, (0.1, 0.2, 0.3)), narrow, within=SUM,
                     mmax=(With(4, lmax=7), DEFAULT, lambda: zonal.rotate_alm(NARROW, (0.1, 0.2, 0.3), 7, 4)),
                     mmax_out=(2, 8, lambda: zonal.rotate_alm(NARROW, (0.1, 0.2, 0.3), 8, 3, mmax_out=2)))]
    return [of("torch.almxfl", call("almxfl", NARROW, BEAM[:8], 7), {}, within=SUM,
                 mmax=(4, DEFAULT, lambda: zonal.almxfl(NARROW, BEAM, 7, 4))),
              of("torch.synalm", call("synalm", CL[:8], NARROW, 7), {}, within=SUM,
                 mmax=(4, DEFAULT, lambda: zonal.almxfl(NARROW, np.sqrt(CL), 7, 4))),
            of("torch.rotate_alm", call("rotate_alm", NARROW, (0.1, 0.2, 0.3)), narrow, within=SUM,
                 lmax=(With(7, mmax=4), DEFAULT, lambda: zonal.rotate_alm(NARROW, (0.1, 0.2, 0.3), 7, 4)),
                 mmax=(With(4, lmax=7), DEFAULT, lambda: zonal.rotate_alm(NARROW, (0.1, 0.2, 0.3), 7, 4)),
                 mmax_out=(2, 8, lambda: zonal.rotate_alm(NARROW, (0.1, 0.2, 0.3), 8, 3, mmax_out=2)))]


def _of_libraries():
    found = []
    sht = zonal.SHT(HEALPIX, LMAX, threads=1)
    for name in ("jax", "torch"):
        if importlib.util.find_spec(name) is None:
            continue
        module = importlib.import_module(f"zonal.{name}")
        if name == "jax":
            import jax
            jax.config.update("jax_enable_x64", True)
            given = np.asarray
        else:
            import torch
            given = torch.from_numpy
        weights = 0.5 + MASK / 2
        plainly = lambda maps, **k: zonal.map2alm(maps, LMAX, **k)
        again = lambda alm, window: zonal.alm2map(zonal.almxfl(alm, window), HEALPIX)
        narrow = {"lmax": 8, "mmax": 3}

        def call(function, *arguments, module=module, given=given):
            def run(**options):
                arrays = [given(np.ascontiguousarray(one)) if isinstance(one, np.ndarray) else one for one in arguments]
                options = {key: given(value) if isinstance(value, np.ndarray) else value for key,
                           value in options.items()}
                return np.asarray(getattr(module, function)(*arrays, **options))
            return run
        gauss = zonal.gaussian_window(0.3, LMAX)
        found += [
            of(f"{name}.analyze", call("analyze", PLAIN, sht), {}, within=SUM,
               mask=(MASK, DEFAULT, lambda: plainly(PLAIN * MASK)),
               iterations=(1, 3, lambda: plainly(PLAIN, iterations=1)),
               weights=(weights, DEFAULT, lambda: plainly(PLAIN, pixel_weights=weights))),
            of(f"{name}.convolve", call("convolve", PLAIN, BEAM, sht), {}, within=SUM,
               mask=(MASK, DEFAULT, lambda: again(plainly(PLAIN * MASK), BEAM)),
               iterations=(1, 3, lambda: again(plainly(PLAIN, iterations=1), BEAM))),
            of(f"{name}.smooth", call("smooth", PLAIN, 0.3, sht), {}, within=SUM,
               mask=(MASK, DEFAULT, lambda: again(plainly(PLAIN * MASK), gauss)),
               iterations=(1, 3, lambda: again(plainly(PLAIN, iterations=1), gauss))),
            of(f"{name}.gaussian_window", call("gaussian_window", 0.3, LMAX), {}, within=SUM,
               spin=(2, 0, lambda: zonal.gaussian_window(0.3, LMAX, spin=2))),
            of(f"{name}.alm2cl", call("alm2cl", NARROW), narrow, within=SUM,
               alm2=(2 * NARROW, DEFAULT, lambda: 2 * zonal.alm2cl(NARROW, **narrow))),
            of(f"{name}.alm2cl", call("alm2cl", NARROW), narrow, within=SUM,
               lmax=(With(7, mmax=4), DEFAULT, lambda: zonal.alm2cl(NARROW, lmax=7, mmax=4))),
            of(f"{name}.alm2cl", call("alm2cl", NARROW), narrow, within=SUM,
               mmax=(With(4, lmax=7), DEFAULT, lambda: zonal.alm2cl(NARROW, lmax=7, mmax=4))),
            of(f"{name}.profile_window", call("profile_window", _cosine(name), 9), {}, within=1e-10,
               support=(1.0, np.pi, lambda: _window_of_cosine(1.0))),
            of(f"{name}.profile_window", call("profile_window", _cosine(name), 9), {}, within=1e-10,
               n_nodes=(5, 9 + 64, lambda: _window_of_cosine(np.pi, 5))),
        ]
        found += _of_one_library(name, call, narrow)
        found.append(of(f"{name}.rotate_alm", call("rotate_alm", TEB[0], (0.1, 0.2, 0.3)),
                        threads=(-1, DEFAULT, raises)))
    return found


def _cosine(name):
    if name == "jax":
        import jax.numpy as library
    else:
        import torch as library
    return lambda theta: library.exp(5 * library.cos(theta))


def _window_of_cosine(support, n_nodes=73):
    x, w = np.polynomial.legendre.leggauss(n_nodes)
    low = np.cos(support)
    x, w = (x + 1) * (1 - low) / 2 + low, w * (1 - low) / 2
    return np.array([2 * np.pi * w @ (np.exp(5 * x) * np.polynomial.legendre.Legendre.basis(l)(x)) for l in range(10)])


def cases():
    """All of them."""
    return [case for group in (*_of_ranks(), *_of_convolutions(), *_of_points(), *_of_libraries()) for case in group]

"""Keywords of smoothing and convolutions; healpy, plain sums over pixels or an identity says what is right."""

import healpy
import numpy as np

import zonal
from keyword_cases import Sent
from keywords_of_healpy import IQU, NSIDE
from keywords_of_maps import CAR, GAUSS, KERNEL, MOST, RINGS, WEIGHTS, bad_of, smoothed
from keywords_of_zonal import CENTRES, DEFAULT, HEALPIX, MASK, PLAIN, N, of, raises, to_nest, to_ring

# Transforms, and two ways to the same window
CLOSE = 1e-11
WIDE = np.cos(np.arange(MOST + 1.0) / 30)
RADIUS = 0.5


def harmonic(maps, *arguments, **fixed):
    """zonal.smooth as healpy does it: in harmonic space, without an error."""
    return lambda **k: zonal.smooth(maps, *arguments, **({"method": "harmonic"} | fixed | k))


def profile(theta):
    return np.where(theta <= RADIUS, np.cos(theta * np.pi / 2 / RADIUS) ** 2, 0.0)


def summed(sky, kernel, areas=4 * np.pi / N, to=CENTRES, at=CENTRES):
    """The plain sum over pixels."""
    return kernel(np.arccos(np.clip(to.T @ at, -1, 1))) @ (sky * areas)


NODES = np.linspace(0, RADIUS, 20001)
INTEGRAL = 2 * np.pi * np.trapezoid(profile(NODES) * np.sin(NODES), NODES)
BUMP = zonal.Kernel.from_profile(NODES[::200], profile(NODES[::200]))


def renormalised(sky, threshold, fill=False):
    """What renormalize gives with KERNEL by harmonic space."""
    above, below = smoothed(sky, mask=MASK), smoothed(np.ones(N), mask=MASK)
    kept = (below >= threshold) & (fill | (MASK > 0))
    return np.where(kept, above / below, zonal.UNSEEN)


def _written(call, maps, out=None):
    if out is None:
        return call(maps), False
    space = np.zeros(np.shape(maps))
    result = call(maps, out=space)
    return space, result is space


def _of_smoothing():
    inverse = np.maximum(GAUSS, 0.3)
    plain = lambda **k: harmonic(IQU, 0.3)(**k)
    masked = {"mask": MASK, "mask_mode": "renormalize"}
    return [
        of("smooth", harmonic(PLAIN), {"beam": np.ones(MOST + 1)}, within=CLOSE,
           fwhm=(0.3, 1e-9, lambda: smoothed(PLAIN))),
        of("smooth", harmonic(PLAIN, 0.3), {}, within=CLOSE,
           beam=(WIDE, np.ones(MOST + 1), lambda: smoothed(PLAIN, GAUSS * WIDE)),
           fwhm_in=(0.2, 1e-9, lambda: smoothed(PLAIN, GAUSS / healpy.gauss_beam(0.2, MOST))),
           beam_in=(WIDE, np.ones(MOST + 1), lambda: smoothed(PLAIN, GAUSS / WIDE)),),
        of("smooth", harmonic(PLAIN, 0.3), {"fwhm_in": 0.3}, within=CLOSE,
           floor=(0.3, 0.0, lambda: smoothed(PLAIN, GAUSS / inverse))),
        of("smooth", lambda **k: _written(lambda maps, **o: harmonic(maps, 0.3)(**o), PLAIN, **k), {}, within=CLOSE,
           out=(True, DEFAULT, lambda: (smoothed(PLAIN), True))),
        of("smooth", plain, {}, within=CLOSE, nest=(True, False, lambda: to_nest(smoothed(to_ring(IQU), fill=False))),
           pol=(True, False, lambda: polarised(IQU)),
           fill_masked=(True, False, lambda: smoothed(IQU)),
           mask=(MASK, np.ones(N), lambda: smoothed(IQU, mask=MASK, fill=False)),
           lmax=(10, MOST, lambda: smoothed(IQU, GAUSS[:11], lmax=10, fill=False)),
           iterations=(1, 3, lambda: smoothed(IQU, iter=1, fill=False)),
           mask_mode=("error", "zero", raises), precision=("float16", DEFAULT, raises)),
        of("smooth", plain, {"nest": True}, within=CLOSE,
           mask=(MASK, np.ones(N), lambda: to_nest(smoothed(to_ring(IQU), mask=to_ring(MASK), fill=False))),
           fill_masked=(True, False, lambda: to_nest(smoothed(to_ring(IQU)))),
           pol=(True, False, lambda: to_nest(polarised(to_ring(IQU)))),
           lmax=(10, MOST, lambda: to_nest(smoothed(to_ring(IQU), GAUSS[:11], lmax=10, fill=False)))),
        of("smooth", lambda **k: harmonic(IQU, 0.3, mask=MASK)(**k), {}, within=CLOSE,
           nest=(True, False, lambda: to_nest(smoothed(to_ring(IQU), mask=to_ring(MASK), fill=False)))),
        of("smooth", harmonic(PLAIN, 0.3, **masked), {}, within=CLOSE,
           mask_threshold=(0.5, 0.1, lambda: renormalised(PLAIN, 0.5)),
           fill_masked=(True, False, lambda: renormalised(PLAIN, 0.1, True))),
        of("smooth", harmonic(PLAIN, 0.3, mask=MASK, fill_masked=True), {}, within=CLOSE,
           mask_mode=("renormalize", "zero", lambda: renormalised(PLAIN, 0.1, True))),
        of("smooth", harmonic(PLAIN, 0.3, iterations=0), {}, within=CLOSE,
           pixel_weights=(WEIGHTS, np.ones(N), lambda: smoothed(PLAIN * WEIGHTS, iter=0)),
           ring_weights=(np.linspace(0.5, 1, 31), np.ones(31),
                         lambda: smoothed(PLAIN * np.linspace(0.5, 1, 31)[healpy.pix2ring(NSIDE, np.arange(N)) - 1],
                                          iter=0))),
        of("smooth", harmonic(PLAIN, 0.3, iterations=0), {"nest": True}, within=CLOSE,
           pixel_weights=(WEIGHTS, np.ones(N), lambda: to_nest(smoothed(to_ring(PLAIN * WEIGHTS), iter=0)))),
        of("smooth", harmonic(PLAIN, 0.3), {}, within=CLOSE,
           grid_out=(zonal.Grid.healpix(4), HEALPIX, lambda: smoothed(PLAIN, GAUSS[:12], lmax=11, nside=4))),
        of("smooth", harmonic(CAR, 0.5, lmax=9, iterations=0), within=CLOSE,
           grid=(RINGS, DEFAULT, lambda: _on_rings(CAR, 0.5))),
        of("smooth", _first_report(PLAIN, 0.5, "method"), method=("ring-fft", DEFAULT, lambda: "ring-fft")),
        of("smooth", lambda **k: str(zonal.smooth(PLAIN, 0.5, method="ring-fft", return_report=True,
                                                  **k)[1][0].choice.precision), precision=("float32", DEFAULT, lambda: "float32")),
        of("smooth", harmonic(PLAIN, 0.3), {"beam": 2 * np.ones(MOST + 1)}, within=CLOSE,
           normalization=("window", "none", lambda: smoothed(PLAIN))),
    ]


def _of_both():
    return [
        *(of(name, lambda call=call, **k: _error_of(call, k), error=(1e-3, 1e-5, lambda: (True, 1e-3))) for name,
          call in CALLS.items()),
        *(of(name, lambda call=call, **k: type(call(PLAIN, **k)).__name__,
             return_report=(True, False, lambda: "tuple")) for name, call in CALLS.items()),
        *(of(name, lambda call=call, **k: call(PLAIN, method="harmonic", **k).shape, {"error": 1e-13},
             keep_missed=(True, False, lambda: noted((N,))))
          for name, call in CALLS.items()),
        *(of(name, lambda call=call, **k: call(PLAIN, **k), costs=("dear", "default", raises),
             theta_cut=(0.0, DEFAULT, raises), strict=("yes", False, raises)) for name, call in CALLS.items()),
        *(of(name, lambda call=call, **k: call(PLAIN, method="harmonic", lmax=12, return_report=True, **k)[0],
             within=1e-6, tolerance=(1e-9, DEFAULT,
                                     lambda call=call: call(PLAIN, method="harmonic", lmax=12,
                                                            iterations=50))) for name, call in CALLS.items()),
        of("smooth", _first_report(PLAIN, 0.5, "reference"), {},
           reference=("discrete", "continuous", lambda: "discrete")),
    ]


def polarised(maps):
    """I, Q, U smoothed as such by healpy."""
    bad = bad_of(maps, True)
    return np.where(bad, zonal.UNSEEN, healpy.smoothing(np.where(bad, 0, maps), 0.3))


def _on_rings(sky, fwhm):
    alm = zonal.map2alm(sky, 9, grid=RINGS, iterations=0)
    return zonal.alm2map(healpy.almxfl(alm, healpy.gauss_beam(fwhm, 9)), RINGS)


CALLS = {"smooth": lambda maps, **k: zonal.smooth(maps, 0.3, **k), "convolve": lambda maps,
         **k: zonal.convolve(maps, KERNEL, **k)}


def _error_of(call, options):
    """Whether the certificate keeps the error that counts."""
    report = call(PLAIN, return_report=True, **options)[1][0]
    return report.certificates[0].error <= report.error_bound, report.error_bound


def noted(result):
    return Sent(result, ["ZonalWarning"])


def _first_report(sky, fwhm, what):
    return lambda **k: str(getattr(zonal.smooth(sky, fwhm, return_report=True, **k)[1][0], what))


def _of_convolution():
    sums = lambda kernel, **fixed: lambda **k: zonal.convolve(PLAIN, kernel, **({"method": "ring-fft"} | fixed | k))
    harmonically = lambda maps, **fixed: lambda **k: zonal.convolve(maps, KERNEL,
                                                                    **({"method": "harmonic"} | fixed | k))
    return [
        of("convolve", sums(BUMP), {}, within=1e-5,
           normalization=("window", "none", lambda: summed(PLAIN, profile) / INTEGRAL)),
        of("convolve", sums(BUMP), {}, within=1e-5, normalization=("pixel", "none", lambda: _counted(PLAIN))),
        of("convolve", sums(BUMP), {}, within=1e-5,
           pixel_weights=(WEIGHTS, np.ones(N), lambda: summed(PLAIN * WEIGHTS, profile)),
           mask=(MASK, np.ones(N), lambda: np.where(MASK > 0, summed(PLAIN * MASK, profile), zonal.UNSEEN)),
           nest=(True, False, lambda: to_nest(summed(to_ring(PLAIN), profile))), grid=(RINGS, HEALPIX, raises)),
        of("convolve", sums(BUMP), {"nest": True}, within=1e-5,
           pixel_weights=(WEIGHTS, np.ones(N), lambda: to_nest(summed(to_ring(PLAIN * WEIGHTS), profile))),
           mask=(MASK, np.ones(N), lambda: to_nest(np.where(to_ring(MASK) > 0, summed(to_ring(PLAIN * MASK), profile),
                                                            zonal.UNSEEN)))),
        of("convolve", sums(BUMP, mask=MASK), {}, within=1e-5,
           fill_masked=(True, False, lambda: summed(PLAIN * MASK, profile)), mask_mode=("error", "zero", raises)),
        of("convolve", sums(BUMP, mask=MASK, mask_mode="renormalize"), {}, within=1e-5,
           mask_threshold=(0.3, 0.1, lambda: _of_mask(0.3)), fill_masked=(True, False, lambda: _of_mask(0.1, True))),
        of("convolve", lambda **k: _written(lambda maps, **o: zonal.convolve(maps, BUMP, method="ring-fft", **o),
                                            PLAIN, **k), {}, within=1e-5,
           out=(True, DEFAULT, lambda: (summed(PLAIN, profile), True))),
        of("convolve", harmonically(PLAIN), {}, within=CLOSE,
           lmax=(10, MOST, lambda: smoothed(PLAIN, GAUSS[:11], lmax=10)),
           iterations=(1, 3, lambda: smoothed(PLAIN, iter=1))),
        of("convolve", harmonically(PLAIN, iterations=0), {}, within=CLOSE,
           ring_weights=(np.linspace(0.5, 1, 31), np.ones(31),
                         lambda: smoothed(PLAIN * np.linspace(0.5, 1, 31)[healpy.pix2ring(NSIDE, np.arange(N)) - 1],
                                          iter=0))),
        of("convolve", lambda **k: str(zonal.convolve(PLAIN, BUMP, return_report=True, **k)[1][0].method), {},
           method=("ring-fft", DEFAULT, lambda: "ring-fft")),
        of("convolve", lambda **k: str(zonal.convolve(PLAIN, BUMP, method="ring-fft", return_report=True,
                                                      **k)[1][0].choice.precision), {},
           precision=("float32", DEFAULT, lambda: "float32")),
        of("convolve", lambda **k: zonal.convolve(PLAIN, KERNEL, method="ring-fft", **k), {}, within=1e-5,
           cut=(0.3, DEFAULT, lambda: summed(PLAIN, _cut(0.3)))),
        of("smooth", lambda **k: zonal.smooth(PLAIN, 0.3, method="ring-fft", **k), {}, within=1e-5,
           cut=(0.3, DEFAULT, lambda: summed(PLAIN, _cut(0.3)))),
        of("convolve", lambda **k: str(zonal.convolve(PLAIN, KERNEL, return_report=True, **k)[1][0].reference), {},
           reference=("discrete", "continuous", lambda: "discrete")),
    ]


def _cut(theta_cut):
    """The profile of KERNEL as far as this."""
    return lambda theta: np.where(theta <= theta_cut, KERNEL.profile(theta.reshape(-1)).reshape(theta.shape), 0.0)


def _counted(sky):
    """The sum over pixels; each pixel spreads all that it has."""
    kernel = profile(np.arccos(np.clip(CENTRES.T @ CENTRES, -1, 1)))
    return (kernel / kernel.sum(0)) @ sky


def _of_mask(threshold, fill=False):
    """What renormalize gives with BUMP."""
    below = summed(MASK, profile) / INTEGRAL  # of the kernel that is scaled to 1
    return np.where((below >= threshold) & (fill | (MASK > 0)), summed(PLAIN * MASK, profile) / below,
                    zonal.UNSEEN)


def _of_plans():
    made = lambda **k: zonal.plan(KERNEL, HEALPIX, **k)
    chosen = lambda what: lambda **k: str(getattr(made(**k).choice, what))
    run = lambda **k: zonal.plan(BUMP, HEALPIX,
                                 **({"method": "ring-fft", "mask_mode": "renormalize"} | k))(PLAIN, mask=MASK)
    plan = zonal.plan(BUMP, HEALPIX, method="ring-fft", threads=1)
    found = []
    for name in ("ConvolutionPlan.__init__",):
        found += [
            of(name, chosen("method"), method=("pixel-sum", DEFAULT, lambda: "pixel-sum")),
            of(name, lambda **k: made(**k).choice.error < 1e-8, error=(1e-9, 1e-5, lambda: True)),
            of(name, lambda **k: made(**k).lmax, lmax=(12, DEFAULT, lambda: 12)),
            of(name, lambda **k: made(**k)(np.ones((2, N))).shape, n_maps=(2, 1, lambda: (2, N))),
            of(name, lambda **k: {str(c.precision) for c in made(error=1e-3, reference="discrete",
                                                                 **k).choices} >= {"float32"}, allow_single=(False, True, lambda: False)),
            of(name, run, within=1e-5, mask_threshold=(0.3, 0.1, lambda: _of_mask(0.3)),
               fill_masked=(True, False, lambda: _of_mask(0.1, True)), mask_mode=("error", DEFAULT, raises)),
            of(name, lambda **k: repr(made(**k)), gain=(-1.0, DEFAULT, raises), costs=("dear", "default", raises),
               reference=("other", DEFAULT, raises)),
        ]
    return found + [
        of("ConvolutionPlan.__call__", lambda **k: _written(plan, PLAIN, **k), {}, within=1e-5,
           out=(True, DEFAULT, lambda: (summed(PLAIN, profile), True))),
        of("ConvolutionPlan.__call__", lambda **k: plan(PLAIN, **k), {}, within=1e-5,
           mask=(MASK, np.ones(N), lambda: np.where(MASK > 0, summed(PLAIN * MASK, profile), zonal.UNSEEN))),
        of("ConvolutionPlan.__call__", lambda **k: type(plan(PLAIN, **k)).__name__,
           return_report=(True, False, lambda: "tuple")),
    ]


def _of_pixel_convolutions():
    made = lambda **k: zonal.PixelConvolution(BUMP, HEALPIX, **k)
    rings = CENTRES_OF_RINGS
    return [
        of("PixelConvolution.__init__", lambda **k: made(**k)(PLAIN), {}, within=1e-5,
           grid_out=(RINGS, HEALPIX, lambda: summed(PLAIN, profile, to=rings)),
           method=("direct", "ring-fft", raises), devices=(["cuda:99"], DEFAULT, raises),
           max_workspace_bytes=(-1, 0, raises)),
        of("PixelConvolution.__init__", lambda **k: np.abs(made(**k)(PLAIN) - made()(PLAIN)).max() > 1e-9,
           precision=("float32", "float64", lambda: True),
           accuracy=(1e-2, 1e-12, lambda: True)),
        of("PixelConvolution.__init__", lambda **k: np.array_equal(made(**k)(PLAIN), made()(PLAIN)),
           method=("pixel-sum", "ring-fft", lambda: False)),
        of("PixelConvolution.__call__", lambda **k: _written(made(), PLAIN, **k), {}, within=1e-5,
           out=(True, DEFAULT, lambda: (summed(PLAIN, profile), True))),
    ]


_THETA = np.repeat(RINGS.theta, 40)
_PHI = np.tile(2 * np.pi * np.arange(40) / 40, 20) + np.repeat(RINGS.phi_0, 40)
CENTRES_OF_RINGS = np.array([np.sin(_THETA) * np.cos(_PHI), np.sin(_THETA) * np.sin(_PHI), np.cos(_THETA)])


def _of_splits():
    window = zonal.gaussian_window(0.3, MOST)
    half = zonal.Split(window, 0.8, l_cut=9, threads=1)
    made = lambda **k: zonal.Split(window, 0.8, **({"l_cut": 9, "threads": 1} | k))
    found = lambda **k: zonal.Split(window, 1.0, threads=1, **({"error": 0.02} | k)).l_cut

    def smallest(error, amplification=2.0, most=None):
        """The smallest l_cut whose split keeps all limits."""
        splits = (zonal.Split(window, 1.0, l_cut=l, threads=1) for l in range(MOST))
        return next(split.l_cut for split in splits if split.estimated_error <= error and split.amplification <= amplification
                    and split.leakage <= (error / 2 if most is None else most))
    red = 1 / (1 + np.arange(MOST + 1.0)) ** 3
    return [
        of("Split.__init__", lambda **k: zonal.Split(window, 0.8, threads=1, **({"l_cut": 9} | k)).l_cut,
           l_cut=(7, DEFAULT, lambda: 7)),
        of("Split.__init__", found, {"max_leakage": 0.01},
           error=(1.2e-3, DEFAULT, lambda: smallest(1.2e-3, most=0.01))),
        of("Split.__init__", found, {"max_leakage": 0.01, "error": 1.2e-3},
           max_amplification=(1.02, 2.0, lambda: smallest(1.2e-3, 1.02, most=0.01))),
        of("Split.__init__", found, max_leakage=(7.3e-3, 0.01, lambda: smallest(0.02, most=7.3e-3))),
        of("Split.__init__", lambda **k: made(**k).spin, spin=(2, 0, lambda: 2)),
        of("Split.__init__", lambda **k: made(**k).actual_error < made().actual_error / 2,
           c_l=(red, np.ones(MOST + 1), lambda: True)),
        of("Split.__init__", lambda **k: 1.5 < made(**k).leakage / made().leakage <= 2,
           c_l_beyond=(4.0, 1.0, lambda: True)),
        of("Split.convolve", lambda **k: half.convolve(PLAIN, **k), {}, within=1e-5,
           nest=(True, False, lambda: to_nest(half.convolve(to_ring(PLAIN)))),
           grid=(RINGS, HEALPIX, raises), precision=("float16", "float64", raises), accuracy=(-1.0, DEFAULT, raises)),
        of("Split.convolve", lambda **k: np.abs(half.convolve(PLAIN, **k) - half.convolve(PLAIN)).max() > 1e-10,
           precision=("float32", "float64", lambda: True),
           accuracy=(1e-2, 1e-7, lambda: True)),
        of("Split.convolve", lambda **k: _written(half.convolve, PLAIN, **k), {}, within=1e-5,
           out=(True, DEFAULT, lambda: (half.convolve(PLAIN), True))),
    ]


def cases():
    """All of them."""
    groups = [*_of_smoothing(), *_of_both(), *_of_convolution(), *_of_plans(), *_of_pixel_convolutions(), *_of_splits()]
    return [case for group in groups for case in group]

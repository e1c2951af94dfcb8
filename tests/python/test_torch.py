"""zonal.torch: values of the plain functions, derivatives against differences, one graph. Runs where PyTorch is installed.

ZONAL_TEST_DEVICE=cuda runs it on a GPU.
"""

import numpy as np
import pytest

import gradient_cases
import zonal
from gradient_cases import DEVICE, ROUNDING, SAME

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

import zonal.torch as zt  # noqa: E402

LMAX = 4
SCALAR = zonal.SHT(zonal.Grid.healpix(2), LMAX, device=DEVICE)
# Fewer orders than degrees, and the exact quadrature of another grid.
PAIR = zonal.SHT(zonal.Grid.gauss_legendre(5, 9), LMAX, mmax=3, spin=2, device=DEVICE)
# Where the weights are not exact, but the analysis is.
EQUIDISTANT = zonal.SHT(zonal.Grid.driscoll_healy(5, 9), LMAX, spin=1, device=DEVICE)
BEAM = torch.exp(-torch.arange(LMAX + 1) / 5.0).double().to(DEVICE)
TURN = (0.3, 0.7, -1.1)


def arrays(sht, rng, dtype=np.float64):
    return tuple(map(tensor, gradient_cases.arrays(sht, rng, dtype)))


def tensor(values):
    return torch.from_numpy(values).to(DEVICE)


def close(made, wanted, how):
    """Of tensors or arrays."""
    made, wanted = (x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else x for x in (made, wanted))
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(made, wanted, **how)


def gradients_hold(function, *arguments):
    """Against central differences of the function, and of its gradient."""
    arguments = [argument.clone().requires_grad_() for argument in arguments]
    assert gradcheck(function, arguments) and gradgradcheck(function, arguments)


def functions(sht):
    return gradient_cases.functions_of(zt, sht, BEAM, torch.linspace(0.5, 1, sht.grid.n_pixels, device=DEVICE), TURN)


CASES = gradient_cases.cases(functions, (SCALAR, PAIR, EQUIDISTANT))


@pytest.mark.parametrize("sht, function, kind", CASES)
def test_derivatives_hold(sht, function, kind, rng):
    gradients_hold(function, arrays(sht, rng)[kind == "alm"])


@pytest.mark.parametrize("sht, function, kind", CASES)
def test_programs_are_one_graph_and_batches_one_call(sht, function, kind, rng):
    one = arrays(sht, rng)[kind == "alm"]
    batch = torch.stack([one, 2 * one.flip(-1), -one])
    wanted = torch.stack([function(x) for x in batch])
    close(torch.func.vmap(function)(batch), wanted, ROUNDING)
    close(function(batch[:, None])[:, 0], wanted, ROUNDING)
    given = one.clone().requires_grad_()
    torch._dynamo.reset()
    torch.compile(lambda x: function(x).abs().sum(), fullgraph=True, backend="aot_eager")(given).backward()
    again = one.clone().requires_grad_()
    function(again).abs().sum().backward()
    close(given.grad, again.grad, ROUNDING)


@pytest.mark.parametrize("sht", [SCALAR, PAIR])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_are_those_of_the_plain_functions(sht, dtype, rng):
    sky, alm = arrays(sht, rng, dtype)
    f, a = sky.cpu().numpy(), alm.cpu().numpy()
    for made, wanted in [(zt.synthesize(alm, sht), sht.synthesize(a)), (zt.adjoint(sky, sht), sht.adjoint(f)),
                         (zt.analyze(sky, sht), sht.analyze(f)),
                         (zt.synthesize(alm.conj(), sht), sht.synthesize(a.conj()))]:
        close(made, wanted, SAME)
    if dtype == np.float64:
        weights = np.linspace(0.5, 1, sht.grid.n_pixels)
        close(zt.analyze(sky, sht, iterations=1, weights=tensor(weights)),
              sht.analyze(f, iterations=1, pixel_weights=weights), ROUNDING)
        close(zt.gaussian_window("20deg", LMAX, sht.spin), zonal.gaussian_window("20deg", LMAX, sht.spin), ROUNDING)


def test_coefficients_are_those_of_the_plain_functions(rng):
    alm = torch.stack([arrays(SCALAR, rng)[1] for _ in range(2)])
    alm[:, : LMAX + 1] = alm[:, : LMAX + 1].real.to(alm.dtype)
    a = alm.cpu().numpy()
    close(zt.rotate_alm(alm, TURN), zonal.rotate_alm(a, TURN), SAME)
    close(zt.rotate_alm(alm, TURN, LMAX, mmax_out=2), zonal.rotate_alm(a, TURN, mmax_out=2), SAME)
    close(zt.almxfl(alm, BEAM, LMAX), zonal.almxfl(a, BEAM.cpu().numpy()), SAME)
    close(zt.alm2cl(alm[0], alm[1], lmax=LMAX), zonal.alm2cl(a[0], a[1]), ROUNDING)
    close(zt.alm2cl(alm, lmax=LMAX)[1], zonal.alm2cl(a[1]), ROUNDING)


def test_derivatives_hold_for_beams_spectra_and_masks(rng):
    sky, alm = arrays(SCALAR, rng)
    mask = tensor(rng.uniform(0.1, 1, size=sky.shape))
    gradients_hold(lambda b: zt.convolve(sky, b, SCALAR), BEAM)
    gradients_hold(lambda fwhm: zt.smooth(sky, fwhm, SCALAR), torch.tensor(0.3, dtype=torch.float64, device=DEVICE))
    gradients_hold(lambda c: zt.synthesize(zt.synalm(c, alm, LMAX), SCALAR), BEAM)
    gradients_hold(lambda w: zt.analyze(sky, SCALAR, mask=w), mask)
    gradients_hold(lambda w: zt.analyze(sky, SCALAR, weights=w, iterations=1), mask)
    gradients_hold(lambda a, b: zt.alm2cl(a, b, lmax=LMAX), alm, alm.flip(-1))
    gradients_hold(lambda k: zt.profile_window(lambda theta: torch.exp(-k * theta**2), LMAX, n_nodes=20, device=DEVICE),
                   torch.tensor(3.0, dtype=torch.float64, device=DEVICE))


def test_the_window_of_a_profile_is_that_of_the_kernel():
    """A Gaussian of 10 degrees has no features below the spacing of 104 nodes; Kernel.window is good to 1e-12."""
    kernel = zonal.Kernel.gaussian("10deg")
    made = zt.profile_window(lambda theta: torch.from_numpy(kernel.profile(theta.numpy())), 40)
    np.testing.assert_allclose(made.numpy(), kernel.window(40), rtol=0, atol=1e-12)


def test_windows_of_short_floats_are_those_of_double():
    """l (l + 1) is beyond what float16 holds. The width is exact in it.

    Exponents of up to 4 with roundings of a few 6e-8; weights of 4 pi in all, times values with roundings of 6e-8.
    """
    width = 2.0**-6
    made = zt.gaussian_window(torch.tensor(width, dtype=torch.float16), 400)
    close(made, zonal.gaussian_window(width, 400).astype(np.float32), {"rtol": 2e-6, "atol": 0})
    made = zt.profile_window(lambda theta: torch.exp(-theta.float()), LMAX)
    close(made, zt.profile_window(lambda theta: torch.exp(-theta), LMAX), {"rtol": 0, "atol": 2e-6})


def test_spectra_that_have_no_root_give_nan():
    """Every second degree has a spectrum of 0, whose derivative here is 0."""
    c_l = torch.tensor([1.0, 0.0, -1.0, 0.0, torch.nan], device=DEVICE, requires_grad=True)
    made = zt.synalm(c_l, torch.ones(15, device=DEVICE), LMAX)[:5].real
    made.sum().backward()
    assert torch.isnan(made).tolist() == [False, False, True, False, True]
    assert c_l.grad[0] == 0.5 and (c_l.grad[1::2] == 0).all()


def test_a_mask_hides_what_is_not_finite(rng):
    sky, _ = arrays(SCALAR, rng)
    mask = tensor((rng.uniform(size=sky.shape) > 0.3).astype(float))
    holes = torch.where(mask > 0, sky, torch.nan).requires_grad_()
    made = zt.analyze(holes, SCALAR, mask=mask)
    made.abs().sum().backward()
    close(made, SCALAR.analyze((sky * mask).cpu().numpy()), SAME)
    assert torch.isfinite(holes.grad).all() and (holes.grad[mask == 0] == 0).all()


@pytest.mark.parametrize("of_mask", [torch.float64, torch.float32, torch.int64, torch.bool])
def test_alm_have_the_precision_of_the_map_whatever_the_mask_has(of_mask, rng):
    sky, _ = arrays(SCALAR, rng, np.float32)
    mask = (tensor(rng.uniform(size=sky.shape)) > 0.3).to(of_mask)
    for of_map in (torch.float32, torch.float64):
        made = zt.analyze(sky.to(of_map), SCALAR, mask=mask)
        assert made.dtype == torch.promote_types(of_map, torch.complex64)
        close(made, SCALAR.analyze((sky * mask).to(of_map).cpu().numpy()), SAME)
    assert zt.smooth(sky, 0.3, SCALAR, mask=mask).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float16, torch.bfloat16])
def test_other_numbers_are_converted_to_float32(dtype):
    """Not the weights to the type of the map: as integers they would be 0. Small integers are exact in every type."""
    numbers = torch.arange(48, device=DEVICE)
    sky, weights = numbers.to(dtype), 1 / (numbers + 3)
    for call in (zt.adjoint, zt.analyze, lambda f, sht: zt.analyze(f, sht, weights=weights)):
        close(call(sky, SCALAR), call(numbers.to(torch.float32), SCALAR), SAME)
    as_float32 = numbers.to(torch.float32).requires_grad_()
    zt.adjoint(as_float32, SCALAR).abs().sum().backward()
    if dtype.is_floating_point:
        sky.requires_grad_()
        zt.adjoint(sky, SCALAR).abs().sum().backward()
        assert torch.equal(sky.grad, as_float32.grad.to(dtype))


@pytest.mark.parametrize("name", ["synthesize", "adjoint", "analyze", "rotate_alm"])
def test_operators_keep_the_rules_of_pytorch(name, rng):
    sky, alm = arrays(PAIR if name != "rotate_alm" else SCALAR, rng)
    given = {"synthesize": (alm, PAIR._number), "adjoint": (sky, PAIR._number), "analyze": (sky, PAIR._number, 1),
             "rotate_alm": (alm, *TURN, LMAX, LMAX, 2, 1)}[name]
    torch.library.opcheck(getattr(torch.ops.zonal, name), (given[0].requires_grad_(), *given[1:]))


def test_arrays_that_do_not_fit_are_refused():
    for call, message in [(lambda: zt.synthesize(torch.ones(5), SCALAR), r"alm: has shape \(5,\): must be \[..., 15\]"),
                          (lambda: zt.analyze(torch.ones(5), SCALAR), r"map: has shape \(5,\): must be \[..., 48\]"),
                          (lambda: zt.analyze(torch.ones(48), SCALAR, iterations=-1), "iterations = -1: must be"),
                          (lambda: zt.almxfl(torch.ones(15), torch.ones(3), LMAX), r"window: has shape \(3,\)"),
                          (lambda: zt.alm2cl(torch.ones(14), lmax=LMAX), "14 coefficients"),
                          (lambda: zt.alm2cl(torch.ones(15), lmax=LMAX, mmax=LMAX + 1), "mmax = 5: must be from 0 to lmax = 4"),
                          (lambda: zt.almxfl(torch.ones(15), torch.tensor(1.0), LMAX), r"window: has shape \(\)"),
                          (lambda: zt.rotate_alm(torch.tensor(1.0), TURN), r"alm: has shape \(\)"),
                          (lambda: zt.rotate_alm(torch.ones(14), TURN, LMAX), "14 coefficients"),
                          (lambda: zt.rotate_alm(torch.ones(15), TURN, mmax_out=2), "lmax: must be given with mmax or mmax_out"),
                          (lambda: zt.rotate_alm(torch.ones(15), TURN, LMAX, mmax_out=5), "mmax_out = 5: must be from 0 to lmax = 4"),
                          (lambda: zt.gaussian_window(torch.ones(LMAX + 1), LMAX), r"fwhm: has shape \(5,\)"),
                          (lambda: zt.profile_window(lambda theta: 1.0, LMAX), r"profile: returns shape \(\)")]:
        with pytest.raises(ValueError, match=message):
            call()
    sky, numbers = torch.ones(48), 1j * torch.ones(48)
    for call, name in [(lambda: zt.adjoint(numbers, SCALAR), "map"), (lambda: zt.analyze(sky, SCALAR, mask=numbers), "mask"),
                       (lambda: zt.analyze(sky, SCALAR, weights=numbers), "weights"),
                       (lambda: zt.convolve(sky, 1j * BEAM, SCALAR), "window")]:
        with pytest.raises(TypeError, match=f"{name}: must hold real numbers, not torch.complex"):
            call()
    for call, message in [(lambda: zt.analyze(np.ones(48), SCALAR), "map: must be a torch.Tensor, not ndarray"),
                          (lambda: zt.analyze(sky, SCALAR, mask=np.ones(48)), "mask: must be a torch.Tensor"),
                          (lambda: zt.convolve(sky, np.ones(LMAX + 1), SCALAR), "window: must be a torch.Tensor"),
                          (lambda: zt.synthesize([0j] * 15, SCALAR), "alm: must be a torch.Tensor, not list"),
                          (lambda: zt.analyze(sky, SCALAR.grid), "sht: must be a zonal.SHT, not Grid"),
                          (lambda: zt.synthesize(sky, sky), "sht: must be a zonal.SHT, not Tensor"),
                          (lambda: zt.analyze(sky, SCALAR, iterations=1.5), "iterations = 1.5: must be an integer")]:
        with pytest.raises(TypeError, match=message):
            call()


def test_a_transform_that_is_gone_is_named(rng):
    sht = zonal.SHT(zonal.Grid.healpix(2), LMAX)
    number = sht._number
    del sht
    with pytest.raises(ValueError, match="sht: is gone"):
        torch.ops.zonal.synthesize(arrays(SCALAR, rng)[1], number)


def test_a_result_keeps_its_transform_until_backward(rng):
    given = arrays(SCALAR, rng)[0].requires_grad_()
    wanted, = torch.autograd.grad(zt.analyze(given, SCALAR).abs().sum(), given)
    sht = zonal.SHT(SCALAR.grid, LMAX, device=DEVICE)
    made = zt.analyze(given, sht).abs().sum()
    del sht
    made.backward()
    close(given.grad, wanted, SAME)


def test_forward_mode_is_refused(rng):
    """PyTorch would return tangents of 0."""
    sky, alm = arrays(SCALAR, rng)
    for call, given in [(lambda f: zt.analyze(f, SCALAR), sky), (lambda f: zt.adjoint(f, SCALAR), sky),
                        (lambda a: zt.synthesize(a, SCALAR), alm), (lambda a: zt.rotate_alm(a, TURN), alm),
                        (lambda b: zt.convolve(sky, b, SCALAR), BEAM)]:
        with pytest.raises(NotImplementedError, match="no derivatives in forward mode"):
            torch.func.jvp(call, (given,), (given,))
        with torch.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward mode"):
            call(torch.autograd.forward_ad.make_dual(given, given))
    torch.autograd.functional.jvp(lambda f: zt.adjoint(f, SCALAR), sky, sky)  # by two passes backward


def test_plain_functions_refuse_what_they_would_drop(rng):
    sky = arrays(SCALAR, rng)[0]
    with pytest.raises(TypeError, match="map: is transformed by PyTorch"):
        torch.func.vmap(SCALAR.analyze)(sky[None])
    with torch.autograd.forward_ad.dual_level():
        with pytest.raises(TypeError, match="map: is transformed by PyTorch"):
            SCALAR.analyze(torch.autograd.forward_ad.make_dual(sky, sky))
        close(SCALAR.analyze(sky), SCALAR.analyze(sky.cpu().numpy()), SAME)
    width = torch.tensor(0.1, requires_grad=True)
    for call, name in [(zonal.Kernel.gaussian, "fwhm"), (lambda x: zonal.gaussian_window(x, LMAX), "fwhm"),
                       (lambda x: zt.rotate_alm(torch.ones(15), (x, 0.2, 0.3)), "psi")]:
        with pytest.raises(TypeError, match=f"{name}: requires gradients"):
            call(width)
        call(width.detach())

"""Arrays on a GPU go in and come out as they are, on the caller's stream and without a copy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import zonal
from libraries import ALL

GRID = zonal.Grid.healpix(32)
LMAX = 64
KERNEL = zonal.Kernel.gaussian("10deg")
# CPU and GPU sum the same terms in another order: some tens of roundings of the largest value.
TOLERANCE = {"float64": 1e-13 * LMAX, "float32": 1e-6, "complex128": 1e-13 * LMAX, "complex64": 1e-6}


def transforms(spin=0, **options):
    return zonal.SHT(GRID, LMAX, spin=spin), zonal.SHT(GRID, LMAX, spin=spin, device="cuda", **options)


def random_alm(rng, sht, shape=(), dtype=np.complex128):
    return (rng.standard_normal((*shape, sht.n_alm)) + 1j * rng.standard_normal((*shape, sht.n_alm))).astype(dtype)


def assert_close(found, expected):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    error = np.abs(found - expected).max()
    assert error <= TOLERANCE[found.dtype.name] * np.abs(expected).max(), error


def test_devices_are_listed_as_pytorch_knows_them(torch):
    gpus = zonal.devices()[1:]
    for index, gpu in enumerate(gpus):
        assert (gpu.name, gpu.model, gpu.reason) == (f"cuda:{index}", torch.xp.cuda.get_device_name(index), "")
        assert abs(gpu.memory_bytes / torch.xp.cuda.get_device_properties(index).total_memory - 1) < 0.05
    assert zonal.SHT(GRID, 4, device="auto").device == "cuda:0"


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("spin, shape", [(0, ()), (0, (3,)), (2, (2,)), (2, (3, 2))])
def test_results_are_the_cpus_in_arrays_of_the_same_library(library, rng, spin, shape, dtype):
    cpu, gpu = transforms(spin)
    alm = random_alm(rng, cpu, shape, dtype)
    map = gpu.synthesize(library.put(alm))
    assert isinstance(map, library.kind)
    expected = cpu.synthesize(alm)
    assert_close(library.get(map), expected)
    assert_close(library.get(gpu.adjoint(library.put(expected))), cpu.adjoint(expected))
    for options in ({"iterations": 0}, {"iterations": 2}, {"tolerance": 1e-5}):
        found, report = gpu.analyze(library.put(expected), return_report=True, **options)
        alone, report_cpu = cpu.analyze(expected, return_report=True, **options)
        assert isinstance(found, library.kind) and report.iterations == report_cpu.iterations
        assert_close(library.get(found), alone)


@pytest.mark.parametrize("name", ["cupy", "torch", "numba"])
def test_out_is_written_where_it_lies(name, rng):
    library = ALL[name]()
    cpu, gpu = transforms()
    alm = random_alm(rng, cpu)
    given, map = library.put(alm), library.empty(GRID.n_pixels, np.float64)
    before = library.address(map)
    assert gpu.synthesize(given, out=map) is map and library.address(map) == before
    assert_close(library.get(map), cpu.synthesize(alm))
    back = library.empty(cpu.n_alm, np.complex128)
    assert gpu.adjoint(map, out=back) is back
    assert gpu.analyze(map, out=back, iterations=0) is back
    assert np.array_equal(library.get(given), alm)


def test_pixels_in_no_ring_are_zero(library, rng):
    grid = GRID.subset(range(5, 20))
    cpu, gpu = zonal.SHT(grid, LMAX), zonal.SHT(grid, LMAX, device="cuda")
    alm = random_alm(rng, cpu)
    assert_close(library.get(gpu.synthesize(library.put(alm))), cpu.synthesize(alm))


def test_no_memory_is_taken_beyond_arrays_and_workspace(cupy):
    """A copy of a map would be 0.1 GB, of its alm 0.03 GB."""
    memory = cupy.xp.cuda.runtime.memGetInfo
    zonal.SHT(GRID, LMAX, device="cuda").synthesize(cupy.xp.zeros(zonal.alm_size(LMAX), complex))  # loads the code
    sht = zonal.SHT(zonal.Grid.healpix(1024), 2048, device="cuda")
    alm, map = cupy.xp.ones(sht.n_alm, complex), cupy.xp.empty(sht.grid.n_pixels)
    before = memory()[0]
    sht.synthesize(alm, out=map)
    sht.adjoint(map, out=alm)
    cupy.xp.cuda.Device().synchronize()
    first = memory()[0]
    assert before - first <= sht.workspace_bytes + 2**24  # the driver gives out pages of 2 MB, a few of them
    for _ in range(5):
        sht.synthesize(alm, out=map)
        sht.adjoint(map, out=alm)
    cupy.xp.cuda.Device().synchronize()
    assert memory()[0] == first


def test_work_is_on_the_stream_of_pytorch_and_calls_do_not_wait(torch, rng):
    cpu, gpu = transforms()
    alm = random_alm(rng, cpu)
    stream = torch.xp.cuda.Stream()
    given = torch.put(np.zeros_like(alm))
    final = torch.put(alm)
    with torch.xp.cuda.stream(stream):
        for values in (given.clone(), final):  # the first time it makes scratch memory, and the driver loads code
            stream.synchronize()
            torch.xp.cuda._sleep(200_000_000)  # 0.1 s
            given.copy_(values)
            map = 2 * gpu.synthesize(given)
            has_ended = stream.query()
    assert not has_ended
    stream.synchronize()
    assert_close(torch.get(map), 2 * cpu.synthesize(alm))


def test_a_stream_may_be_named(cupy, torch, rng):
    cpu, gpu = transforms()
    alm = random_alm(rng, cpu)
    stream = cupy.xp.cuda.Stream(non_blocking=True)
    for name, given in ((stream, cupy.put(alm)), (stream.ptr, cupy.put(alm)), (torch.xp.cuda.Stream(), torch.put(alm))):
        library = cupy if isinstance(given, cupy.kind) else torch
        map = gpu.synthesize(given, stream=name)
        cupy.xp.cuda.Device().synchronize()
        assert_close(library.get(map), cpu.synthesize(alm))


def test_calls_may_be_captured_in_a_graph(torch, rng):
    cpu, gpu = transforms()
    alm = random_alm(rng, cpu)
    given, map = torch.put(np.zeros_like(alm)), torch.empty(GRID.n_pixels, np.float64)
    stream = torch.xp.cuda.Stream()
    with torch.xp.cuda.stream(stream):
        gpu.synthesize(given, out=map)
    stream.synchronize()
    graph = torch.xp.cuda.CUDAGraph()
    with torch.xp.cuda.graph(graph, stream=stream):
        gpu.synthesize(given, out=map)
    given.copy_(torch.put(alm))
    graph.replay()
    torch.xp.cuda.synchronize()
    assert_close(torch.get(map), cpu.synthesize(alm))


def test_calls_may_be_captured_by_cupy(cupy, rng):
    cpu, gpu = transforms()
    alm = random_alm(rng, cpu)
    given, map, back = cupy.put(np.zeros_like(alm)), cupy.empty(GRID.n_pixels, np.float64), cupy.empty(cpu.n_alm, complex)
    with cupy.xp.cuda.Stream(non_blocking=True) as stream:
        for _ in range(2):  # in the second run from a graph of the transform's own
            gpu.synthesize(given, out=map)
            gpu.adjoint(map, out=back)
        stream.begin_capture()
        gpu.synthesize(given, out=map)
        gpu.adjoint(map, out=back)
        graph = stream.end_capture()
        given.set(alm)
        graph.launch(stream)
        stream.synchronize()
        assert_close(map.get(), cpu.synthesize(alm))
        assert_close(back.get(), cpu.adjoint(cpu.synthesize(alm)))


@pytest.mark.parametrize("n_arrays", [1, 3, 20])
def test_calls_that_come_again_read_what_is_there(cupy, rng, n_arrays):
    """Also where arrays of the same addresses come and go."""
    cpu, gpu = transforms()
    maps = [cupy.empty(GRID.n_pixels, np.float64) for _ in range(n_arrays)]
    for call in range(4 * n_arrays):
        alm = random_alm(rng, cpu)
        given, map = cupy.put(alm), maps[call % n_arrays]
        gpu.synthesize(given, out=map)
        assert_close(map.get(), cpu.synthesize(alm))
        assert_close(gpu.adjoint(map).get(), cpu.adjoint(cpu.synthesize(alm)))


def test_threads_with_streams_of_their_own_share_a_transform(cupy, rng):
    cpu, gpu = transforms()
    all_alm = [random_alm(rng, cpu) for _ in range(4)]

    def run(alm):
        with cupy.xp.cuda.Stream(non_blocking=True) as stream:
            given = cupy.put(alm)
            for _ in range(20):
                map = gpu.synthesize(given)
            stream.synchronize()
            return map.get()

    with ThreadPoolExecutor(4) as pool:
        for alm, map in zip(all_alm, pool.map(run, all_alm)):
            assert_close(map, cpu.synthesize(alm))


def test_arrays_of_the_host_go_to_a_gpu_too(torch, rng):
    cpu, gpu = transforms(2)
    alm = random_alm(rng, cpu, (2,))
    map = gpu.synthesize(alm)
    assert type(map) is np.ndarray
    assert_close(map, cpu.synthesize(alm))
    of_torch = gpu.synthesize(torch.xp.from_numpy(alm))
    assert of_torch.device.type == "cpu"
    assert_close(of_torch.numpy(), cpu.synthesize(alm))
    out = torch.xp.empty(of_torch.shape, dtype=torch.xp.float64)
    assert gpu.synthesize(alm, out=out) is out
    assert_close(gpu.analyze(map), cpu.analyze(map))


def test_what_does_not_fit_is_refused_with_what_to_do(cupy, torch, rng):
    _, gpu = transforms()
    n, pixels = gpu.n_alm, GRID.n_pixels
    alm, map = cupy.xp.zeros(n, complex), cupy.xp.zeros(pixels)
    tensor = torch.empty(n, np.complex128)
    cases = [
        (lambda: gpu.synthesize(alm.real), TypeError, "alm: holds float64: must hold complex128 or complex64 .* astype"),
        (lambda: gpu.adjoint(map.astype(int)), TypeError, "map: holds int64: must hold float64 or float32"),
        (lambda: gpu.synthesize(cupy.xp.zeros((n, 2), complex).T[0]), ValueError, "alm: must be contiguous .* cupy.ascontiguousarray"),
        (lambda: gpu.synthesize(torch.empty((n, 2), np.complex128).T[0]), ValueError, r"alm: must be contiguous .* contiguous\(\)"),
        (lambda: gpu.synthesize(alm[:-1]), ValueError, "alm: has shape"),
        (lambda: gpu.synthesize(alm, out=np.empty(pixels)), TypeError, "out: must be an array of CuPy, as alm is, not ndarray"),
        (lambda: gpu.synthesize(alm, out=torch.empty(pixels, np.float64)), TypeError, "out: must be an array of CuPy"),
        (lambda: gpu.synthesize(tensor, out=torch.xp.empty(pixels)), ValueError, "out: must be in the memory of cuda:0, as alm is"),
        (lambda: gpu.synthesize(alm, out=map[:-1]), ValueError, r"out: must have shape \(12288,\) and type float64"),
        (lambda: gpu.synthesize(alm, out=map.astype(np.float32)), ValueError, "out: must have shape .* and type float64, not .* float32"),
        (lambda: gpu.synthesize(alm, out=cupy.xp.zeros((pixels, 2)).T[0]), ValueError, "out: must be contiguous"),
        (lambda: gpu.synthesize(tensor.expand(2, n), out=torch.empty(pixels, np.float64).expand(2, pixels)), ValueError,
         "out: has elements that share memory"),
        (lambda: gpu.synthesize(tensor.requires_grad_()), TypeError, "alm: requires gradients.*detach.*zonal.torch"),
        (lambda: gpu.synthesize(torch.empty(n, np.complex128).conj()), TypeError, "alm: is still to be conjugated.*resolve_conj"),
        (lambda: gpu.synthesize(torch.empty(n, np.complex128).cpu().conj()), TypeError, "alm: is still to be conjugated.*resolve_conj"),
        (lambda: zonal.SHT(GRID, LMAX).synthesize(alm), ValueError, "alm: is in the memory of cuda:0, but this works on cpu: give device"),
        (lambda: zonal.map2alm(map), TypeError, "maps: is in the memory of cuda:0, and this call takes arrays of the host"),
        (lambda: gpu.synthesize(np.zeros(n, complex), out=map), TypeError, "out: is in the memory of cuda:0, and this call"),
        (lambda: gpu.synthesize(alm, stream="0"), TypeError, "stream = '0': must be a stream of CuPy or PyTorch"),
        (lambda: zonal.SHT(GRID, LMAX, device="cuda:64"), zonal.BackendUnavailable, "device = cuda:64: must be from cuda:0"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_arrays_of_jax_are_not_written_to(rng):
    jax = ALL["jax"]()
    _, gpu = transforms()
    alm = jax.put(random_alm(rng, gpu))
    with pytest.raises(TypeError, match="out: is an array of JAX, which never changes"):
        gpu.synthesize(alm, out=jax.put(np.zeros(GRID.n_pixels)))
    with pytest.raises(ValueError, match="stream: JAX has none"):
        gpu.synthesize(alm, stream=0)


class Unknown:
    """An array of a library that Zonal does not know, over one of CuPy."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_any_library_that_speaks_dlpack_goes_in(cupy, rng):
    cpu, gpu = transforms()
    alm = random_alm(rng, cpu)
    given, map = Unknown(cupy.put(alm)), Unknown(cupy.empty(GRID.n_pixels, np.float64))
    assert gpu.synthesize(given, out=map) is map
    assert_close(map.array.get(), cpu.synthesize(alm))
    with pytest.raises(TypeError, match="out: must be given for arrays of .*Unknown"):
        gpu.synthesize(given)


@pytest.mark.parametrize("method", ["ring-fft", "pixel-sum"])
def test_pixel_convolutions_take_them_too(library, rng, method):
    maps = rng.standard_normal((2, GRID.n_pixels))
    cpu, gpu = (zonal.PixelConvolution(KERNEL, GRID, method=method, device=device) for device in ("cpu", "cuda"))
    found = gpu(library.put(maps))
    assert isinstance(found, library.kind)
    # Both have kernels within 1e-12 of the largest value, and sum a few hundred pixels.
    assert np.abs(library.get(found) - cpu(maps)).max() < 1e-10 * np.abs(cpu(maps)).max()
    assert np.abs(gpu(maps) - cpu(maps)).max() < 1e-10 * np.abs(cpu(maps)).max()


def test_input_and_output_of_a_convolution_are_two_arrays(cupy):
    maps = cupy.xp.zeros((3, GRID.n_pixels))
    gpu = zonal.PixelConvolution(KERNEL, GRID, device="cuda")
    with pytest.raises(ValueError, match="out: must not share memory with the input"):
        gpu(maps[:2], out=maps[1:])
    assert gpu(maps[:1], out=maps[1:2]).shape == (1, GRID.n_pixels)


def test_latitude_bands_and_several_devices(rng):
    grid = zonal.Grid.healpix(256)
    maps = rng.standard_normal((1, grid.n_pixels))
    kernel = zonal.Kernel.gaussian("1deg")
    whole = zonal.PixelConvolution(kernel, grid, device="cuda")
    expected = whole(maps)
    assert whole.shares[0].n_bands == 1
    bands = zonal.PixelConvolution(kernel, grid, device="cuda", max_workspace_bytes=whole.shares[0].memory_bytes // 2)
    assert bands.shares[0].n_bands > 1 and bands.shares[0].memory_bytes <= whole.shares[0].memory_bytes // 2
    twice = zonal.PixelConvolution(kernel, grid, devices=[0, "cuda:0"])
    assert [share.device for share in twice.shares] == ["cuda:0", "cuda:0"]
    for convolution in (bands, twice):
        assert np.abs(convolution(maps) - expected).max() < 1e-10 * np.abs(expected).max()


def test_two_gpus_share_the_sky(rng):
    if sum(device.usable for device in zonal.devices()) < 3:
        pytest.skip("needs two GPUs")
    grid = zonal.Grid.healpix(256)
    maps = rng.standard_normal((1, grid.n_pixels))
    kernel = zonal.Kernel.gaussian("1deg")
    both = zonal.PixelConvolution(kernel, grid, devices=[0, 1])
    assert [share.device for share in both.shares] == ["cuda:0", "cuda:1"]
    expected = zonal.PixelConvolution(kernel, grid, device="cuda")(maps)
    assert np.abs(both(maps) - expected).max() < 1e-10 * np.abs(expected).max()


def test_transforms_in_bands(cupy, rng):
    grid, lmax = zonal.Grid.healpix(256), 512
    whole = zonal.SHT(grid, lmax, device="cuda")
    bands = zonal.SHT(grid, lmax, device="cuda", max_workspace_bytes=whole.workspace_bytes // 2)
    assert bands.workspace_bytes <= whole.workspace_bytes // 2
    alm = cupy.put(random_alm(rng, whole))
    one, other = whole.synthesize(alm).get(), bands.synthesize(alm).get()
    assert np.abs(one - other).max() < 1e-13 * lmax * np.abs(one).max()


def test_functions_for_whole_maps_work_on_a_gpu(rng):
    sky = zonal.synfast(np.ones(49), 32, seed=1)
    assert_close(zonal.synfast(np.ones(49), 32, seed=1, device="cuda"), sky)
    assert_close(zonal.map2alm(sky, 48, device="cuda"), zonal.map2alm(sky, 48))
    assert_close(zonal.rotate_map(sky, "GC", device="cuda"), zonal.rotate_map(sky, "GC"))
    assert_close(zonal.anafast(sky, lmax=48, device="cuda"), zonal.anafast(sky, lmax=48))
    for method in ("harmonic", "ring-fft", "pixel-sum"):
        smoothed, (report,) = zonal.smooth(sky, "10deg", method=method, error=1e-6, device="cuda", return_report=True)
        assert report.device == "cuda:0"
        expected, _ = zonal.smooth(sky, "10deg", method=method, error=1e-6, return_report=True)
        assert np.abs(smoothed - expected).std() <= 2e-6 * expected.std()
    plan = zonal.plan(KERNEL, GRID, error=1e-6, method="ring-fft", device="cuda")
    assert plan.choice.device == "cuda:0"
    convolved, result = plan(sky, return_report=True)
    assert result.device == "cuda:0"
    expected = zonal.plan(KERNEL, GRID, error=1e-6, method="ring-fft")(sky)
    assert np.abs(convolved - expected).std() <= 2e-6 * expected.std()


def test_equations_are_solved_on_a_gpu():
    from zonal import gwrm

    u = gwrm.Unknown("u")
    on_gpu = gwrm.solve({u: -u}, {u: 1}, t=(0, 1), device="cuda")
    assert abs(float(on_gpu(1)[0]) - np.exp(-1)) < 1e-10


def test_gradients_of_pytorch_are_the_cpus(torch, rng):
    import zonal.torch

    cpu, gpu = transforms(2)
    alm, weights = random_alm(rng, cpu, (2,)), rng.standard_normal((2, GRID.n_pixels))

    def gradient(device, sht):
        a = torch.xp.from_numpy(alm).to(device).requires_grad_()
        (torch.xp.from_numpy(weights).to(device) * zonal.torch.synthesize(a, sht) ** 3).sum().backward()
        return a.grad.cpu().numpy()

    assert_close(gradient("cuda", gpu), gradient("cpu", cpu))


def test_compiled_gradients_of_jax_are_the_cpus(rng):
    import jax

    import zonal.jax

    of_gpu = ALL["jax"]()
    cpu, gpu = transforms()
    alm, weights = random_alm(rng, cpu), rng.standard_normal(GRID.n_pixels)

    def gradient(put, sht):
        w = put(weights)
        return jax.jit(jax.grad(lambda a: (w * zonal.jax.synthesize(a, sht) ** 3).sum()))(put(alm))

    expected = np.asarray(gradient(lambda array: jax.device_put(array, jax.devices("cpu")[0]), cpu))
    assert_close(of_gpu.get(gradient(of_gpu.put, gpu)), expected)

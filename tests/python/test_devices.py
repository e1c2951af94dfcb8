"""Devices, and arrays of other libraries than NumPy. What needs a GPU is in tests/python_gpu."""

import os
import pickle
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import zonal
from zonal import _core, healpy

GRID = zonal.Grid.healpix(8)
NO_GPU = all(device.name == "cpu" or not device.usable for device in zonal.devices())
without_gpu = pytest.mark.skipif(not NO_GPU, reason="is about machines without a GPU")


class OnGpu:
    """An array of a library that nobody knows, in the memory of a GPU. Its values must not be touched."""

    def __init__(self, *shape, dtype=np.float64, index=0):
        self.shape, self.dtype, self.ndim = shape, np.dtype(dtype), len(shape)
        self.index = index

    def __dlpack_device__(self):
        return 2, self.index

    def __dlpack__(self, **options):
        raise AssertionError("was read")


class OnHost:
    """An array of such a library in the memory of the host, over that of a NumPy array."""

    def __init__(self, values):
        self.values = values

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __array__(self, dtype=None, copy=None):
        return self.values


class OfJax(OnHost):
    def devices(self):
        return {self}

    def block_until_ready(self):
        return self


OfJax.__module__ = "jaxlib._jax"


@pytest.fixture
def jax(monkeypatch):
    """The little of JAX that calls on the host use."""
    class Tracer:
        pass

    found = SimpleNamespace(core=SimpleNamespace(Tracer=Tracer), device_put=lambda values, device: OfJax(values))
    monkeypatch.setitem(sys.modules, "jax", found)
    OfJax.device = "cpu"
    return found


@pytest.fixture
def sht():
    return zonal.SHT(GRID, 16)


def test_the_cpu_is_the_first_device_and_can_be_used():
    cpu, *others = zonal.devices()
    assert cpu.name == "cpu" and cpu.usable and cpu.memory_bytes > 2**20 and cpu.model
    assert [device.name for device in others] == [f"cuda:{i}" for i in range(len(others))]


@without_gpu
def test_a_gpu_that_cannot_be_used_is_refused_with_what_to_do():
    for make in (lambda: zonal.SHT(GRID, 16, device="cuda"), lambda: zonal.smooth(np.ones(768), "10deg", device="cuda:1"),
                 lambda: zonal.plan(zonal.Kernel.gaussian(0.1), GRID, device="cuda"),
                 lambda: zonal.PixelConvolution(zonal.Kernel.gaussian(0.1), GRID, devices=[0, 1]),
                 lambda: zonal.map2alm(np.ones(768), device="cuda"), lambda: zonal.alm2map(np.ones(6), GRID, device="cuda"),
                 lambda: zonal.rotate_map(np.ones(768), "GC", device="cuda"),
                 lambda: zonal.BeamConvolver(np.ones(6), np.ones(3), device="cuda")):
        with pytest.raises(zonal.BackendUnavailable, match=r"device = cuda:\d: .*(pip install zonal-cuda13|CUDA|driver)"):
            make()


@without_gpu
def test_auto_is_the_cpu_where_there_is_no_gpu(sht, random_alm):
    alm = random_alm(16)
    auto = zonal.SHT(GRID, 16, device="auto")
    assert auto.device == sht.device == "cpu"
    assert np.array_equal(auto.synthesize(alm), sht.synthesize(alm))


@pytest.mark.parametrize("device, error", [("gpu", ValueError), ("cuda:", ValueError), ("cuda:-1", ValueError), ("cuda:1x", ValueError),
                                           (0, TypeError), (None, TypeError)])
def test_names_of_devices_are_checked(device, error):
    with pytest.raises(error, match="device = .*must be.*cuda"):
        zonal.SHT(GRID, 16, device=device)


def test_limits_of_scratch_memory_are_for_gpus():
    with pytest.raises(ValueError, match="max_workspace_bytes = 1000: must be 0 on the CPU"):
        zonal.SHT(GRID, 16, max_workspace_bytes=1000)
    with pytest.raises(ValueError, match="max_workspace_bytes = -1: must be 0"):
        zonal.PixelConvolution(zonal.Kernel.gaussian(0.1), GRID, max_workspace_bytes=-1)
    with pytest.raises(ValueError, match="device, devices: give one"):
        zonal.PixelConvolution(zonal.Kernel.gaussian(0.1), GRID, device="cpu", devices=["cpu"])


def test_arrays_on_another_device_are_refused_with_what_to_do(sht):
    convolution = zonal.PixelConvolution(zonal.Kernel.gaussian(0.1), GRID)
    alm, map = OnGpu(sht.n_alm, dtype=complex, index=2), OnGpu(768, index=2)
    for call in (lambda: sht.synthesize(alm), lambda: sht.adjoint(map), lambda: sht.analyze(map), lambda: convolution(map)):
        with pytest.raises(ValueError, match="is in the memory of cuda:2, but this works on cpu: give device = 'cuda:2'"):
            call()


def test_calls_that_work_on_the_host_refuse_arrays_of_a_gpu(sht, random_alm):
    map, alm = OnGpu(768), OnGpu(sht.n_alm, dtype=complex)
    for call in (lambda: zonal.map2alm(map), lambda: zonal.alm2map(alm, 8), lambda: zonal.alm2cl(alm),
                 lambda: zonal.plan(zonal.Kernel.gaussian("20deg"), GRID)(map), lambda: zonal.almxfl(alm, np.ones(17)),
                 lambda: sht.synthesize(random_alm(16), out=map), lambda: zonal.remove_dipole(map),
                 lambda: zonal.smooth(np.ones(768), "10deg", out=map), lambda: zonal.smooth(np.ones(768), "10deg", mask=map)):
        with pytest.raises(TypeError, match="is in the memory of cuda:0, and this call takes arrays of the host: bring it"):
            call()


class Copied(OnGpu):
    """An array that says to be in the memory of a GPU, and is in that of the host. It follows the array API standard."""

    def __init__(self, values):
        super().__init__(*values.shape, dtype=values.dtype)
        self.values, self.streams, self.device = values, [], "cuda:0"

    def __dlpack__(self, stream=None, **options):
        self.streams.append(stream)
        return self.values.__dlpack__()

    def __array_namespace__(self):
        return SimpleNamespace(empty=lambda shape, dtype, device: Copied(np.empty(shape, dtype)), float64=np.float64, float32=np.float32)


@pytest.fixture
def asked(monkeypatch):
    """The devices that smoothing was to compute on. The CPU does it."""
    devices, smooth = [], _core.smooth

    def on_cpu(*arguments):
        options, = (one for one in arguments if isinstance(one, _core.MapSmoothingOptions))
        devices.append(options.device)
        options.device = "cpu"
        return smooth(*arguments)

    monkeypatch.setattr(_core, "smooth", on_cpu)
    monkeypatch.setattr("zonal._maps.resolve_device", lambda device: device)
    return devices


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_maps_on_a_gpu_are_smoothed_there_and_come_back_as_such(asked, rng, dtype):
    maps, mask = rng.standard_normal((2, 768)).astype(dtype), np.ones(768)
    mask[:100] = 0
    kernel, on_gpu = zonal.Kernel.gaussian("60deg"), Copied(maps)
    for call in (lambda maps, **options: zonal.smooth(maps, "60deg", method="harmonic", **options),
                 lambda maps, **options: zonal.convolve(maps, kernel, error=1e-3, reference="discrete", **options)):
        found = call(on_gpu)
        assert type(found) is Copied and np.array_equal(found.values, call(maps))
        assert asked[-2:] == ["cuda:0", "cpu"]
        nested = call(Copied(maps[0]), nest=True, device="cuda:0", mask=Copied(mask), fill_masked=True)
        assert np.array_equal(nested.values, call(maps[0], nest=True, mask=mask, fill_masked=True))
        out = Copied(np.empty((2, 768), dtype))
        assert call(on_gpu, out=out) is out and np.array_equal(out.values, found.values)
        assert {*on_gpu.streams, *out.streams} == {1}  # the default stream, by DLPack's name
    finer, reports = zonal.smooth(Copied(maps[0]), "60deg", method="harmonic", grid_out=zonal.Grid.healpix(16), return_report=True)
    assert finer.shape == (3072,) and len(reports) == 1


def test_maps_on_a_gpu_are_refused_with_what_to_do_where_they_do_not_fit(asked):
    map = Copied(np.ones(768))
    for error, message, options in [(ValueError, "this works on cpu: give device = 'cuda:0'", {"device": "cpu"}),
                                    (TypeError, "out: must be an array of its library, as maps is, not ndarray", {"out": np.empty(768)}),
                                    (ValueError, r"out: must have shape \(768,\)", {"out": Copied(np.empty(12))}),
                                    (TypeError, "mask: must be in the memory of cuda:0, as maps is", {"mask": OnGpu(768, index=1)}),
                                    (TypeError, "mask: holds int64: must hold float64 or float32", {"mask": Copied(np.ones(768, int))})]:
        with pytest.raises(error, match=message):
            zonal.smooth(map, "10deg", **options)
    with pytest.raises(TypeError, match="maps: holds int64: must hold float64 or float32"):
        zonal.smooth(Copied(np.ones(768, int)), "10deg")
    assert not asked


@without_gpu
def test_maps_on_a_gpu_need_a_gpu_to_smooth_them():
    with pytest.raises(zonal.BackendUnavailable, match="device = cuda:0: "):
        zonal.smooth(OnGpu(768), "10deg")


def test_other_memories_are_refused(sht):
    alm = OnGpu(sht.n_alm, dtype=complex)
    alm.__class__ = type("OnRocm", (OnGpu,), {"__dlpack_device__": lambda self: (10, 0)})
    with pytest.raises(TypeError, match="alm: is neither in the memory of the host nor in that of a CUDA device"):
        sht.synthesize(alm)


def test_a_stream_is_for_arrays_of_a_gpu(sht, random_alm):
    with pytest.raises(ValueError, match="stream: has an effect only on arrays in the memory of a GPU"):
        sht.synthesize(random_alm(16), stream=0)


def test_streams_are_numbers_or_objects_of_cupy_and_pytorch():
    from zonal._device_arrays import stream_number

    numba = SimpleNamespace(__cuda_stream__=lambda: (0, 9))
    assert [stream_number(s) for s in (5, 1, 0, SimpleNamespace(ptr=7), SimpleNamespace(cuda_stream=8), numba)] == [5, 0, 0, 7, 8, 9]
    for wrong in (-1, "0", True, 1.5):
        with pytest.raises(TypeError, match="stream = .*: must be a stream of CuPy or PyTorch"):
            stream_number(wrong)


def test_arrays_of_the_host_go_in_without_a_copy(sht, random_alm):
    alm, out = random_alm(16), np.empty(768)
    assert np.array_equal(sht.synthesize(OnHost(alm), out), sht.synthesize(alm))
    target = OnHost(np.empty(768))
    assert sht.synthesize(alm, out=target) is target
    assert np.array_equal(target.values, out)


def test_arrays_of_jax_come_back_as_such_and_are_never_written_to(jax, sht, random_alm):
    alm = random_alm(16)
    map = sht.synthesize(OfJax(alm))
    assert type(map) is OfJax and np.array_equal(map.values, sht.synthesize(alm))
    assert np.array_equal(sht.analyze(map).values, sht.analyze(map.values))
    smoothed = zonal.smooth(map, "20deg", method="harmonic")
    assert type(smoothed) is OfJax and np.array_equal(smoothed.values, zonal.smooth(map.values, "20deg", method="harmonic"))
    with pytest.raises(TypeError, match="out: is an array of JAX, which never changes: leave it out"):
        sht.synthesize(alm, out=map)


def test_traced_and_spread_arrays_of_jax_are_refused(jax, sht, random_alm):
    spread = OfJax(random_alm(16))
    spread.__class__ = type("Spread", (OfJax,), {"__module__": "jaxlib._jax", "devices": lambda self: {1, 2}})
    with pytest.raises(ValueError, match="JAX: has spread this array over several devices"):
        sht.synthesize(spread)
    traced = type("Traced", (jax.core.Tracer, OfJax), {"__module__": "jax._src.core"})(random_alm(16))
    with pytest.raises(TypeError, match="JAX: traces this call.*zonal.jax"):
        sht.synthesize(traced)


def test_a_pixel_convolution_is_the_sum_over_pixels(rng):
    map = rng.standard_normal((2, 768))
    kernel = zonal.Kernel.gaussian("20deg")
    theta, phi = healpy.pix2ang(8, np.arange(768))
    n = np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    distance = np.arctan2(np.linalg.norm(np.cross(n[:, :, None], n[:, None], axis=0), axis=0), n.T @ n)
    expected = map @ (kernel.profile(distance.ravel()).reshape(768, 768) * 4 * np.pi / 768)
    for method in ("ring-fft", "pixel-sum"):
        convolution = zonal.PixelConvolution(kernel, GRID, method=method)
        # 768 terms, each with the kernel's accuracy of 1e-12 of its largest value, which is about the largest result.
        assert np.abs(convolution(map) - expected).max() < 768 * 1e-12 * np.abs(expected).max()
        assert np.array_equal(convolution(map[1]), convolution(map)[1])
        assert convolution.shares == [("cpu", 1, convolution.workspace_bytes)] and convolution.device == "cpu"
        again = pickle.loads(pickle.dumps(convolution))
        assert np.array_equal(again(map), convolution(map)) and repr(again) == repr(convolution)


def test_a_pixel_convolution_checks_its_arguments():
    kernel = zonal.Kernel.gaussian("20deg")
    for wrong, message in ((lambda: zonal.PixelConvolution(GRID, kernel), "kernel: must be a zonal.Kernel"),
                           (lambda: zonal.PixelConvolution(kernel, GRID, method="harmonic"), "method = 'harmonic': must be"),
                           (lambda: zonal.PixelConvolution(kernel, GRID, precision="half"), "precision = 'half': must be"),
                           (lambda: zonal.PixelConvolution(kernel, GRID)(np.ones(5)), r"maps: has shape \(5,\): must be \[768\]")):
        with pytest.raises((TypeError, ValueError), match=message):
            wrong()


def imported_with(folder, code):
    """What a new Python prints that sees this folder's packages, too."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", "import zonal; from zonal import _backend, _core\n" + code], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def cuda_package(tmp_path):
    """cuda_package(version, content) makes a package zonal-cuda13, by default with the extension at hand."""

    def make(number, content=None):
        info = tmp_path / f"zonal_cuda13-{number}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: zonal-cuda13\nVersion: {number}\n")
        (tmp_path / "zonal_cuda13").mkdir()
        own = Path(zonal._core.__file__)
        (tmp_path / "zonal_cuda13" / "_core.abi3.so").write_bytes(own.read_bytes() if content is None else content)
        libraries = own.parent / "lib"  # which an installed extension looks for beside itself
        if libraries.exists():
            (tmp_path / "zonal_cuda13" / "lib").symlink_to(libraries)
        return tmp_path

    return make


def test_the_extension_of_zonal_cuda13_is_taken_where_the_versions_agree(cuda_package):
    folder = cuda_package(version("zonal"))
    code = "print(_core.__file__, repr(_backend.why_not_cuda), zonal.SHT(zonal.Grid.healpix(4), 8).n_alm)"
    assert imported_with(folder, code) == f"{folder}/zonal_cuda13/_core.abi3.so '' 45"


def test_another_version_of_zonal_cuda13_is_explained(cuda_package):
    folder = cuda_package("0.0.9")
    code = "print(_core.__file__)\nprint(_backend.why_not_cuda)"
    file, reason = imported_with(folder, code).splitlines()
    assert file == zonal._core.__file__
    assert reason == (f"zonal-cuda13 0.0.9 does not go with zonal {version('zonal')}: install both in the same version: pip install "
                      "--upgrade zonal zonal-cuda13")


def test_an_extension_that_cannot_be_loaded_is_explained(cuda_package):
    folder = cuda_package(version("zonal"), b"not a library")
    code = "print(_core.__file__)\nprint(_backend.why_not_cuda)"
    file, reason = imported_with(folder, code).splitlines()
    assert file == zonal._core.__file__
    assert reason.startswith("zonal-cuda13 cannot be loaded: ") and "_core.abi3.so" in reason

"""What tests ask of libraries whose arrays lie on a GPU, in one way for all of them."""

import numpy as np
import pytest


class CuPy:
    name = "cupy"

    def __init__(self):
        self.xp = pytest.importorskip("cupy")
        self.kind = self.xp.ndarray

    def put(self, values):
        return self.xp.asarray(values)

    def get(self, array):
        return array.get()

    def address(self, array):
        return array.data.ptr

    def empty(self, shape, dtype):
        return self.xp.empty(shape, dtype)


class Torch(CuPy):
    name = "torch"

    def __init__(self):
        self.xp = pytest.importorskip("torch")
        self.kind = self.xp.Tensor

    def put(self, values):
        return self.xp.from_numpy(np.array(values)).cuda()

    def get(self, array):
        assert array.device.type == "cuda"
        return array.cpu().numpy()

    def address(self, array):
        return array.data_ptr()

    def empty(self, shape, dtype):
        return self.xp.empty(shape, dtype=getattr(self.xp, np.dtype(dtype).name), device="cuda")


class Jax(CuPy):
    name = "jax"

    def __init__(self):
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        self.xp, self.kind = jax.numpy, jax.Array
        self.gpu = jax.devices("gpu")[0]
        self.device_put = jax.device_put

    def put(self, values):
        return self.device_put(values, self.gpu)

    def get(self, array):
        assert array.devices() == {self.gpu}
        return np.asarray(array)

    def address(self, array):
        return array.unsafe_buffer_pointer()


class Numba(CuPy):
    name = "numba"

    def __init__(self):
        self.xp = pytest.importorskip("numba.cuda")
        self.kind = type(self.xp.device_array(1))

    def put(self, values):
        return self.xp.to_device(np.ascontiguousarray(values))

    def get(self, array):
        return array.copy_to_host()

    def address(self, array):
        return array.__cuda_array_interface__["data"][0]

    def empty(self, shape, dtype):
        return self.xp.device_array(shape, dtype)


ALL = {kind.name: kind for kind in (CuPy, Torch, Jax, Numba)}

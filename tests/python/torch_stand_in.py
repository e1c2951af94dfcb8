"""As much of PyTorch as zonal.torch calls, over arrays of NumPy: what its functions compute and what its operators register can be
tested where PyTorch is not. Autograd, vmap and torch.compile are not here: test_torch.py looks at them."""

import importlib.util
import sys
import types

import numpy as np


class Tensor(np.ndarray):
    device = types.SimpleNamespace(type="cpu")

    def numpy(self):
        return self.view(np.ndarray)

    def detach(self):
        return self

    cpu = contiguous = resolve_conj = resolve_neg = detach

    def dim(self):
        return self.ndim

    def is_complex(self):
        return self.dtype.kind == "c"

    def to(self, kind):
        """A type, a tensor with one, or a device."""
        return self if kind is self.device else self.astype(getattr(kind, "dtype", kind))

    @property
    def requires_grad(self):
        return False

    def unbind(self, axis):
        return [from_numpy(part) for part in np.moveaxis(self, axis, 0)]

    def sqrt(self):
        return np.sqrt(self)

    def movedim(self, source, destination):
        return np.moveaxis(self, source, destination)

    def index_select(self, axis, index):
        return np.take(self, index, axis)

    def index_add(self, axis, index, values):
        assert axis == -1
        result = self.copy()
        np.add.at(result, (..., index), values)
        return result

    def new_empty(self, shape, dtype=None):
        return from_numpy(np.full(shape, np.nan, dtype or self.dtype))

    def new_zeros(self, shape):
        return from_numpy(np.zeros(shape, self.dtype))


def from_numpy(array):
    return np.asarray(array).view(Tensor)


class Operator:
    """A custom operator: calls go to its function; what is registered can be asked for."""

    def __init__(self, name, call, schema):
        self.name, self.call, self.schema = name, call, schema

    def __call__(self, *arguments):
        return self.call(*arguments)

    def register_fake(self, fake):
        self.fake = fake

    def register_autograd(self, backward, setup_context):
        self.backward, self.setup = backward, setup_context

    def register_vmap(self, batched):
        self.batched = batched

    def gradients(self, grad, *arguments):
        """By all arguments, None for those that have none."""
        context = types.SimpleNamespace(needs_input_grad=[isinstance(one, Tensor) for one in arguments])
        context.save_for_backward = lambda *kept: setattr(context, "saved_tensors", kept)
        self.setup(context, arguments, None)
        return self.backward(context, grad)

    def gradient(self, grad, *arguments):
        """By the first argument; the others have none."""
        first, *others = self.gradients(grad, *arguments)
        assert others == [None] * (len(arguments) - 1)
        return first


def module():
    operators = {}

    def custom_op(name, call, *, mutates_args, schema):
        assert mutates_args == ()
        operators[name] = Operator(name, call, schema)
        return operators[name]

    torch = types.ModuleType("torch")
    torch.operators = operators
    torch.Tensor, torch.from_numpy, torch.exp = Tensor, from_numpy, np.exp
    torch.stack = lambda parts, axis=0: from_numpy(np.stack(parts, axis))
    torch.library = types.SimpleNamespace(custom_op=custom_op)
    torch.compiler = types.SimpleNamespace(assume_constant_result=lambda function: function)
    torch.autograd = types.SimpleNamespace(forward_ad=types.SimpleNamespace(_current_level=-1))
    torch.promote_types = np.promote_types
    for name in ("float32", "float64", "complex64", "complex128"):
        setattr(torch, name, np.dtype(name))
    torch.tensor = torch.as_tensor = lambda values, dtype=None: from_numpy(np.asarray(values, dtype))
    torch.where = lambda mask, yes, no: from_numpy(np.where(mask, yes, no))
    torch.arange = lambda n, device=None: from_numpy(np.arange(n))
    torch.triu_indices = lambda rows, columns, device=None: from_numpy(np.array(np.triu_indices(rows, 0, columns)))
    return torch


def zonal_torch(monkeypatch):
    """A zonal.torch of its own that has this in PyTorch's place, and this. Nobody else sees them."""
    torch, spec = module(), importlib.util.find_spec("zonal.torch")
    made = importlib.util.module_from_spec(spec)
    parts = ["zonal.torch", *(f"zonal.torch._{part}" for part in ("arrays", "lensing", "points"))]
    kept = {name: sys.modules.pop(name) for name in parts if name in sys.modules}
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "torch", torch)
        sys.modules["zonal.torch"] = made  # whose parts are imported now
        try:
            spec.loader.exec_module(made)
        finally:
            for name in parts:
                sys.modules.pop(name, None)
            sys.modules.update(kept)
    return made, torch

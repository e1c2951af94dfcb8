"""Products of Chebyshev series beside NumPy, in the same run, and what `zonal-bench chebyshev` says of errors and of
fused sums. JSON on standard output.

    OPENBLAS_NUM_THREADS=2 python bench/chebyshev.py --threads 2 --output FILE

In 1-D the peer is numpy.polynomial.chebyshev.chebmul, cut off at N, on one thread; in more dimensions products of dense
cosine matrices with NumPy (there is no peer that multiplies such series), 3/2 N points per axis.
"""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess

# OpenBLAS's threads otherwise wait for work at full speed, on the CPUs of what is timed next.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
import numpy as np  # noqa: E402
from numpy.polynomial.chebyshev import chebmul  # noqa: E402

import machine  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
ZONAL_BENCH = os.environ.get("ZONAL_BENCH", str(ROOT / "build/bin/zonal-bench"))
LIBRARY = ctypes.CDLL(os.environ.get("ZONAL_SHIM", str(ROOT / "build/lib/libzonal_shim.so")))
LIBRARY.zonal_chebyshev_plan.restype = ctypes.c_void_p
LIBRARY.zonal_chebyshev_multiply.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64]
LIBRARY.zonal_chebyshev_free.argtypes = [ctypes.c_void_p]


class Products:
    def __init__(self, shape, threads):
        extents = (ctypes.c_int64 * len(shape))(*shape)
        self._plan = LIBRARY.zonal_chebyshev_plan(len(shape), extents, 0, threads)
        self.product = np.empty(shape)

    def __del__(self):
        LIBRARY.zonal_chebyshev_free(self._plan)

    def multiply(self, a, b, times):
        if LIBRARY.zonal_chebyshev_multiply(self._plan, a.ctypes.data, b.ctypes.data, self.product.ctypes.data, times):
            raise ValueError("product failed")


def chebmul_primed(a, b):
    """What chebmul, which has plain coefficients, does for primed ones, outside of the time that is taken."""
    plain = chebmul(np.r_[a[0] / 2, a[1:]], np.r_[b[0] / 2, b[1:]])[:a.size]
    plain[0] *= 2
    return plain


def cosine_matrices(n):
    """Values at m = 3 n / 2 Gauss points, and back; primed."""
    m = -(-3 * n // 2)
    k, j = np.arange(n), np.arange(m)
    values = np.cos(np.pi * np.outer(2 * j + 1, k) / (2 * m))
    back = values.T * (2 / m)
    values[:, 0] /= 2
    return np.ascontiguousarray(values), np.ascontiguousarray(back)


def dense_product(a, b):
    """A function that multiplies by matrix products along every axis."""
    values, back = zip(*(cosine_matrices(n) for n in a.shape))

    def along_all(series, matrices):
        for axis, matrix in enumerate(matrices):
            series = np.moveaxis(np.tensordot(matrix, series, (1, axis)), 0, axis)
        return series

    if a.ndim == 2:
        return lambda: back[0] @ ((values[0] @ a @ values[1].T) * (values[0] @ b @ values[1].T)) @ back[1].T
    return lambda: along_all(along_all(a, values) * along_all(b, values), back)


def measure(shape, times, threads, runs):
    generator = np.random.default_rng(1)
    a, b = generator.normal(size=shape), generator.normal(size=shape)
    products = Products(shape, threads)
    if len(shape) == 1:
        exact, peer = chebmul_primed(a, b), lambda: [chebmul(a, b)[:a.size] for _ in range(times)]
    else:
        once = dense_product(a, b)
        exact, peer = once(), lambda: [once() for _ in range(times)]
    result = machine.paired(lambda: products.multiply(a, b, times), peer, runs)
    result["seconds"] /= times
    result["peer_seconds"] /= times
    difference = float(np.abs(products.product - exact).max() / np.abs(exact).max())
    return {"shape": shape, "threads": threads, "products_per_run": times, **result, "difference": difference}


def zonal(*arguments):
    done = subprocess.run([ZONAL_BENCH, "chebyshev", *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    report = json.loads(done.stdout)
    return {key: value for key, value in report.items() if key not in ("machine", "notes", "command", "version")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options, kept = machine.parse_options(parser)
    if os.environ.get("OPENBLAS_NUM_THREADS", "") != str(options.threads):
        parser.error(f"set OPENBLAS_NUM_THREADS={options.threads}, which is how NumPy takes its threads")
    record = {"what": "products of Chebyshev series", "options": kept, "machine": machine.describe("numpy")}
    record["paired"] = [measure(shape, times, threads, options.runs) for shape, times, threads in (
        ((200,), 1000, 1), ((400,), 500, 1), ((200, 200), 4, options.threads), ((64, 64, 64), 1, options.threads))]
    record["residual"] = zonal("--shape", "100x100", "--terms", "residual", "--threads", options.threads, "--repeat", 50)
    record["residual_one_thread"] = zonal("--shape", "100x100", "--terms", "residual", "--threads", 1, "--repeat", 50)
    record["direct"] = [zonal("--shape", shape, "--method", "direct", "--threads", options.threads, "--repeat", 3)
                        for shape in ("200", "400", "60x60", "200x200", "12x12x12")]
    record["transform"] = [zonal("--shape", shape, "--batch", batch, "--method", "transform", "--threads",
                                 options.threads, "--repeat", repeat) for shape, batch, repeat in
                           (("200", 1000, 20), ("400", 1000, 20), ("3200", 100, 20), ("100x100", 1, 300),
                            ("200x200", 1, 300), ("200x200", 10, 50), ("800x800", 1, 10), ("64x64x64", 1, 50))]
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

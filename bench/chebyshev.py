"""Products of Chebyshev series by `zonal-bench chebyshev` beside NumPy in turn, and what it says of errors and of fused sums.
JSON on standard output.

    OPENBLAS_NUM_THREADS=2 python bench/chebyshev.py --threads 2 --output FILE

In 1-D the peer is numpy.polynomial.chebyshev.chebmul, cut off at N, on one thread; in more dimensions products of dense
cosine matrices with NumPy (there is no peer that multiplies such series), 3/2 N points per axis. Seconds are those of the fastest
of some calls, of the library and of NumPy: calls of a few microseconds from Python would take longer than the products.
"""
import os

# OpenBLAS's threads otherwise wait for work at full speed, on the CPUs of what is timed next.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
import numpy as np
from numpy.polynomial.chebyshev import chebmul

import machine
import programs


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
    peer = (lambda: chebmul(a, b)[:a.size]) if len(shape) == 1 else dense_product(a, b)
    pairs = []
    for _ in range(runs):
        ours = zonal("--shape", "x".join(map(str, shape)), "--threads", threads, "--repeat", 10)
        pairs.append((ours["seconds_per_product"], min(machine.in_turn({"": peer}, 10 * times)[""])))
    return {"shape": shape, "threads": threads, **machine.of_pairs(pairs),
            **{key: ours[key] for key in ("method", "componentwise_error", "normwise_error")}}


def zonal(*arguments):
    report = programs.report(programs.ZONAL_BENCH, "chebyshev", *arguments)
    return {key: value for key, value in report.items() if key not in ("machine", "notes", "command", "version")}


def main():
    parser = machine.parser(__doc__)
    options, kept = machine.parse_options(parser)
    if os.environ.get("OPENBLAS_NUM_THREADS", "") != str(options.threads):
        parser.error(f"set OPENBLAS_NUM_THREADS={options.threads}, which is how NumPy takes its threads")
    record = {"what": "products of Chebyshev series", "options": kept, "machine": machine.describe("numpy")}
    record["paired"] = [measure(shape, times, threads, options.runs) for shape, times, threads in (
        ((200,), 100, 1), ((400,), 50, 1), ((200, 200), 4, options.threads), ((64, 64, 64), 1, options.threads))]
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

"""What transforms in compiled JAX programs cost beside calls of the library, and beside s2fft and jax-healpy. JSON on standard output.

    python bench/gradients.py --nside 16 512 --threads 1 --runs 101 --output FILE
    python bench/gradients.py --device cuda --nside 512 2048 --peers

Run it with the Python that has zonal and JAX installed. On a GPU, plain calls take PyTorch's tensors, whose stream is then waited
for, as JAX's arrays are.
"""
import argparse
import importlib.metadata
import json
import statistics
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import machine
import zonal
import zonal.jax

jax.config.update("jax_enable_x64", True)


def waiting(function, *arguments):
    compiled = jax.jit(function)
    return lambda: jax.block_until_ready(compiled(*arguments))


class Way:
    """A call, and what waits for what it returned."""

    def __init__(self, call, wait=lambda made: made):
        self.call, self.wait = call, wait

    def __call__(self):
        self.wait(self.call())

    def row(self, n):
        """Seconds of each of n calls, of which the last is waited for."""
        start = time.perf_counter()
        for _ in range(n):
            made = self.call()
        self.wait(made)
        return (time.perf_counter() - start) / n


def compiled(function, argument):
    program = jax.jit(function)
    return Way(lambda: program(argument), jax.block_until_ready)


def plain_ways(sht, alm, sky, device):
    """The package's own calls on arrays that are there. They make an array for the result, as JAX does."""
    if device == "cpu":
        return Way(lambda: sht.synthesize(alm)), Way(lambda: sht.adjoint(sky))
    import torch

    alm, sky = torch.from_numpy(alm).to(device), torch.from_numpy(sky).to(device)

    def wait(made):
        torch.cuda.synchronize()

    return Way(lambda: sht.synthesize(alm), wait), Way(lambda: sht.adjoint(sky), wait)


def overheads(nside, options):
    """Medians of calls in turn, each waited for, and of the differences of neighbours; and of calls in a row with one wait."""
    lmax = 2 * nside
    device = {} if options.device == "cpu" else {"device": options.device}
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, threads=options.threads, **device)
    alm = zonal.synalm(np.ones(lmax + 1), seed=1)
    sky = zonal.alm2map(alm, nside)
    synthesize, adjoint = plain_ways(sht, alm, sky, options.device)
    ways = {"synthesize": synthesize, "synthesize in jit": compiled(lambda a: zonal.jax.synthesize(a, sht), jnp.asarray(alm)),
            "adjoint": adjoint, "adjoint in jit": compiled(lambda f: zonal.jax.adjoint(f, sht), jnp.asarray(sky))}
    seconds = machine.in_turn(ways, options.runs)
    n = 50 if nside <= 512 else 20
    rows = {name: [way.row(n) for _ in range(6)][1:] for name, way in ways.items()}
    record = {"nside": nside, "lmax": lmax, "calls_in_a_row": n}
    for name in ("synthesize", "adjoint"):
        pairs = list(zip(seconds[name], seconds[f"{name} in jit"]))
        record[name] = {"seconds": statistics.median(a for a, _ in pairs), "in_jit_seconds": statistics.median(b for _, b in pairs),
                        "more_seconds": statistics.median(b - a for a, b in pairs),
                        "in_a_row_seconds": statistics.median(rows[name]),
                        "in_jit_in_a_row_seconds": statistics.median(rows[f"{name} in jit"])}
    if options.device != "cpu":
        record["jax_alone"] = product_as_long(record["synthesize"]["in_a_row_seconds"], n, options)
    return record


def product_as_long(seconds, n_calls, options):
    """What waiting for a program of JAX alone costs that keeps the GPU at work for as long: a product of two matrices of float64."""
    def product(n):
        return compiled(lambda a: a @ a, jnp.ones((n, n)))

    rows = 2048
    for _ in range(3):
        way = product(rows)
        way()
        rows = int(64 * round(rows * (seconds / min(way.row(n_calls) for _ in range(3))) ** (1 / 3) / 64))
    way = product(rows)
    each = statistics.median(machine.in_turn({"": way}, options.runs)[""])
    in_a_row = statistics.median([way.row(n_calls) for _ in range(6)][1:])
    return {"rows": rows, "seconds": each, "in_a_row_seconds": in_a_row, "more_seconds": each - in_a_row}


def latencies(options):
    """Medians of the smallest program of JAX, and on a GPU of PyTorch's smallest operation: waiting alone."""
    one = jnp.ones(1)
    ways = {"jax": waiting(lambda x: x + 1, one)}
    if options.device != "cpu":
        import torch

        number = torch.ones(1, device=options.device)
        ways["torch"] = lambda: (number + 1, torch.cuda.synchronize())
    return {name: statistics.median(seconds) for name, seconds in machine.in_turn(ways, 10 * options.runs).items()}


def of_zonal(alm, nside, lmax, options):
    device = {} if options.device == "cpu" else {"device": options.device}
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, threads=options.threads, **device)
    return (lambda a: zonal.jax.synthesize(a, sht)), (lambda f: zonal.jax.analyze(f, sht, iterations=0)), alm, lambda found: found


def of_jax_healpy(alm, nside, lmax, options):
    import jax_healpy

    given = {"lmax": lmax, "healpy_ordering": True, "method": options.peer_method}
    return (lambda a: jax_healpy.alm2map(a, nside, **given)), (lambda f: jax_healpy.map2alm(f, iter=0, **given)), alm, lambda found: found


def of_s2fft(alm, nside, lmax, options):
    """With coefficients of the recurrence made beforehand, which is what s2fft recommends."""
    import s2fft

    full = {"L": lmax + 1, "nside": nside, "sampling": "healpix", "reality": True,
            "use_healpix_custom_primitive": options.peer_method == "jax_cuda"}
    ahead = [jax.block_until_ready(s2fft.generate_precomputes_jax(lmax + 1, 0, "healpix", nside, forward)) for forward in (False, True)]
    return (lambda a: s2fft.inverse_jax(a, precomps=ahead[0], **full), lambda f: s2fft.forward_jax(f, precomps=ahead[1], **full),
            s2fft.sampling.reindex.flm_hp_to_2d_fast(alm, lmax + 1),
            lambda found: s2fft.sampling.reindex.flm_2d_to_hp_fast(found, lmax + 1))


def beside_peer(name, nside, lmax, options):
    """Synthesis and analysis without iterations, in float64, of Zonal and of a peer in turn, and what they differ by."""
    alm = jnp.asarray(zonal.synalm(np.ones(lmax + 1), seed=1))
    sky = jax.block_until_ready(of_zonal(alm, nside, lmax, options)[0](alm))
    calls, record = {}, {"version": importlib.metadata.version(name.replace("_", "-")), "method": options.peer_method}
    for package, make in (("zonal", of_zonal), (name, {"jax_healpy": of_jax_healpy, "s2fft": of_s2fft}[name])):
        to_map, to_alm, given, as_alm = make(alm, nside, lmax, options)
        for what, function, array, as_zonals in (("alm2map", to_map, given, lambda found: found.real), ("map2alm", to_alm, sky, as_alm)):
            call = waiting(function, array)
            start = time.perf_counter()
            found = np.asarray(as_zonals(call()))
            calls[what, package] = call, found, time.perf_counter() - start
    for what in ("alm2map", "map2alm"):
        (ours, wanted, our_first), (theirs, found, their_first) = calls[what, "zonal"], calls[what, name]
        record[what] = {**machine.paired(ours, theirs, options.peer_runs), "first_seconds": our_first, "peer_first_seconds": their_first,
                        "difference": float(abs(found - wanted).max() / abs(wanted).max())}
    return record


def peers(nside, lmax, options):
    """beside_peer, each in a process of its own, which is ended if it takes too long."""
    record = {"nside": nside, "lmax": lmax}
    for name in ("s2fft", "jax_healpy"):
        command = [sys.executable, __file__, "--peer", name, "--peers", str(nside), str(lmax), "--device", options.device, "--threads",
                   str(options.threads), "--peer-runs", str(options.peer_runs), "--peer-method", options.peer_method]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.peer_seconds)
            record[name] = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"error": done.stderr.splitlines()[-1][:300]}
        except subprocess.TimeoutExpired:
            record[name] = {"method": options.peer_method, "error": f"stopped after {options.peer_seconds} s, compilation included"}
        print(name, record[name], file=sys.stderr, flush=True)
    return record


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--nside", type=int, nargs="*", default=[16, 64, 512])
    parser.add_argument("--peers", type=int, nargs=2, metavar=("NSIDE", "LMAX"))
    parser.add_argument("--peer-runs", type=int, default=3)
    parser.add_argument("--peer-method", default="jax", help="of s2fft and jax-healpy: jax, or jax_cuda where s2fft was built with CUDA")
    parser.add_argument("--peer-seconds", type=int, default=600, help="for each peer")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options, kept = machine.parse_options(parser)
    if options.peer:
        print(json.dumps(beside_peer(options.peer, *options.peers, options)))
        return
    # First, as this process takes most of a GPU's memory once it has used it.
    beside = peers(*options.peers, options) if options.peers else None
    record = {"program": "bench/gradients.py", "options": kept, "machine": machine.describe("numpy", "jax", "jaxlib"),
              "devices": [device.device_kind for device in jax.devices()], "zonal": zonal.__version__, "latency_seconds": latencies(options),
              "results": [overheads(nside, options) for nside in options.nside]}
    if beside:
        record["peers"] = beside
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

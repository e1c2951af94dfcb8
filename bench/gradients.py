"""What transforms in compiled JAX programs cost beside calls of the library, and beside s2fft and jax-healpy. JSON on standard output.

    python bench/gradients.py --nside 16 512 --threads 1 --runs 101 --output FILE
    python bench/gradients.py --device cuda --nside 512 2048 --peers

Run it with the Python that has zonal and JAX installed. On a GPU, plain calls take PyTorch's tensors, whose stream is then waited
for, as JAX's arrays are.
"""
import argparse
import statistics
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


def plain_calls(sht, alm, sky, device):
    """The package's own calls on arrays that are there. They make an array for the result, as JAX does."""
    if device == "cpu":
        return lambda: sht.synthesize(alm), lambda: sht.adjoint(sky)
    import torch

    alm, sky = torch.from_numpy(alm).to(device), torch.from_numpy(sky).to(device)

    def waited(call, array):
        call(array)
        torch.cuda.synchronize()

    return lambda: waited(sht.synthesize, alm), lambda: waited(sht.adjoint, sky)


def overheads(nside, options):
    """Medians of calls in turn, and of the differences of neighbours."""
    lmax = 2 * nside
    device = {} if options.device == "cpu" else {"device": options.device}
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, threads=options.threads, **device)
    alm = zonal.synalm(np.ones(lmax + 1), seed=1)
    sky = zonal.alm2map(alm, nside)
    on_device = jnp.asarray(alm), jnp.asarray(sky)
    ways = dict(zip(("synthesize", "adjoint"), plain_calls(sht, alm, sky, options.device)))
    ways["synthesize in jit"] = waiting(lambda a: zonal.jax.synthesize(a, sht), on_device[0])
    ways["adjoint in jit"] = waiting(lambda f: zonal.jax.adjoint(f, sht), on_device[1])
    in_turn = {"synthesize": None, "synthesize in jit": None, "adjoint": None, "adjoint in jit": None}
    seconds = machine.in_turn({name: ways[name] for name in in_turn}, options.runs)
    record = {"nside": nside, "lmax": lmax}
    for name in ("synthesize", "adjoint"):
        pairs = list(zip(seconds[name], seconds[f"{name} in jit"]))
        record[name] = {"seconds": statistics.median(a for a, _ in pairs), "in_jit_seconds": statistics.median(b for _, b in pairs),
                        "more_seconds": statistics.median(b - a for a, b in pairs)}
    return record


def latencies(options):
    """Medians of the smallest program of JAX, and on a GPU of PyTorch's smallest operation: waiting alone."""
    one = jnp.ones(1)
    ways = {"jax": waiting(lambda x: x + 1, one)}
    if options.device != "cpu":
        import torch

        number = torch.ones(1, device=options.device)
        ways["torch"] = lambda: (number + 1, torch.cuda.synchronize())
    return {name: statistics.median(seconds) for name, seconds in machine.in_turn(ways, 10 * options.runs).items()}


def first_and_best(call, runs):
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    return {"first_seconds": first, "seconds": min(machine.in_turn({"": call}, runs)[""])}


def peers(nside, lmax, options):
    """Synthesis and analysis without iterations in float64 of each package that is installed, and what they differ from Zonal by."""
    device = {} if options.device == "cpu" else {"device": options.device}
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, threads=options.threads, **device)
    alm = jnp.asarray(zonal.synalm(np.ones(lmax + 1), seed=1))
    sky = jax.block_until_ready(zonal.jax.synthesize(alm, sht))
    ways = {"zonal": (lambda a: zonal.jax.synthesize(a, sht), lambda f: zonal.jax.analyze(f, sht, iterations=0), alm)}
    try:
        import jax_healpy as jhp

        ways["jax_healpy"] = (lambda a: jhp.alm2map(a, nside, lmax=lmax, healpy_ordering=True),
                              lambda f: jhp.map2alm(f, lmax=lmax, iter=0, healpy_ordering=True), alm)
    except ImportError as error:
        print(error)
    try:
        import s2fft

        full = {"L": lmax + 1, "nside": nside, "sampling": "healpix", "reality": True}
        flm = s2fft.sampling.reindex.flm_hp_to_2d_fast(alm, lmax + 1)
        ways["s2fft"] = (lambda a: s2fft.inverse_jax(a, **full), lambda f: s2fft.forward_jax(f, **full), flm)
    except ImportError as error:
        print(error)
    record = {"nside": nside, "lmax": lmax}
    expected = np.asarray(sky)
    for name, (to_map, to_alm, given) in ways.items():
        try:
            call = waiting(to_map, given)
            record[name] = {"alm2map": first_and_best(call, options.peer_runs),
                            "map2alm": first_and_best(waiting(to_alm, sky), options.peer_runs),
                            "difference": float(abs(np.asarray(call()).real - expected).max() / abs(expected).max())}
        except Exception as error:  # a peer that fails is part of the record
            record[name] = {"error": str(error)[:300]}
        print(name, record[name], flush=True)
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--nside", type=int, nargs="*", default=[16, 64, 512])
    parser.add_argument("--peers", type=int, nargs=2, metavar=("NSIDE", "LMAX"))
    parser.add_argument("--peer-runs", type=int, default=3)
    options, kept = machine.parse_options(parser)
    record = {"program": "bench/gradients.py", "options": kept, "machine": machine.describe("numpy", "jax", "jaxlib"),
              "devices": [device.device_kind for device in jax.devices()], "zonal": zonal.__version__, "latency_seconds": latencies(options),
              "results": [overheads(nside, options) for nside in options.nside]}
    if options.peers:
        record["peers"] = peers(*options.peers, options)
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

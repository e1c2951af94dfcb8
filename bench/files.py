"""Reading files of I, Q, U beside healpy, each call in a process of its own, in turn. JSON on standard output.

    python bench/files.py --nside 2048 --runs 7 --output FILE

The files are healpy's, with columns of float32 or float64 in ring or nest order, and lie in the page cache. zonal.io.read_map returns
float64 in ring order. So does healpy.read_map with dtype=np.float64 ("peer"); as it is called by default ("peer_default") it
returns the file's type, also in ring order. Seconds and the processor's (cpu_seconds) are those of the call; peak_bytes are what
the process had in memory at most, with its imports. Medians.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import healpy
import numpy as np

import machine

CALL = """
import json, re, sys, time
import numpy as np
import {module}
path = sys.argv[1]
start, cpu = time.perf_counter(), time.process_time()
sky = {call}
seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
peak = int(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024  # ru_maxrss has the parent's, too
assert len(sky) == 3, sky
print(json.dumps({{"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_bytes": peak}}))
"""


def readers():
    """{name: code} of a call that reads `path`."""
    return {"ours": CALL.format(module="zonal.io", call="zonal.io.read_map(path)"),
            "peer": CALL.format(module="healpy", call="healpy.read_map(path, field=(0, 1, 2), dtype=np.float64)"),
            "peer_default": CALL.format(module="healpy", call="healpy.read_map(path, field=(0, 1, 2))")}


def in_turn(codes, path, runs):
    """{name: medians} of the processes, A B C A B C ..., after one uncounted run each."""
    found = {name: [] for name in codes}
    for run in range(runs + 1):
        for name, code in codes.items():
            result = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
            if run > 0:
                found[name].append(json.loads(result.stdout))
    return {name: {key: statistics.median(one[key] for one in results) for key in results[0]} for name, results in found.items()}


def compared(found):
    """Adds what ours takes of each peer's seconds and memory."""
    ours = found["ours"]
    return {**found, "ratios": {name: {key: ours[key] / peer[key] for key in ours} for name, peer in found.items() if name != "ours"}}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--folder", help="for the files; by default the system's for temporary ones")
    options, settings = machine.parse_options(parser)
    record = {"what": "files of I, Q, U beside healpy", "machine": machine.describe("healpy", "numpy"), **settings, "reading": []}
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = pathlib.Path(folder, "sky.fits")
        sky = rng.normal(size=(3, 12 * options.nside**2))
        for kind in ("float32", "float64"):
            for nest in (False, True):
                healpy.write_map(path, sky, nest=nest, dtype=getattr(np, kind), overwrite=True)
                found = compared(in_turn(readers(), path, options.runs))
                record["reading"].append({"type": kind, "nest": nest, "bytes": os.path.getsize(path), **found})
    machine.write(record, options.output)


if __name__ == "__main__":
    main()

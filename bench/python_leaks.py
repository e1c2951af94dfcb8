"""Memory that 10,000 calls of each public function of the Python package leave behind. JSON on standard output.

    python bench/python_leaks.py --seconds 2 --output FILE

Each function is called with small arguments for some seconds, or 10,000 times, after as many calls that fill caches. Of
slow ones the growth is that of 10,000 calls by the rate of those that were made. What then looks like a leak is measured
again for fifty times as long: the allocator of the system grows in steps, a leak grows on. Pictures that matplotlib alone
makes seem to leak in short runs, too.
"""
import ctypes
import gc
import json
import os
import pathlib
import sys
import tempfile
import time
import warnings

import machine
import programs

sys.path.insert(0, str(programs.ROOT / "tests/python"))
from public_calls import public_calls

WANTED = 10_000
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_bytes():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # glibc keeps what is freed
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * PAGE


def run(call, seconds):
    """Calls it until the time is over, and returns how often."""
    end, count = time.perf_counter() + seconds, 0
    while count < WANTED and time.perf_counter() < end:
        call()
        count += 1
    return count


def growth(call, seconds):
    """(calls, bytes that WANTED calls would add)."""
    import matplotlib.pyplot as plt
    run(call, seconds)
    plt.close("all")
    before = resident_bytes()
    count = run(call, seconds)
    plt.close("all")
    return count, (resident_bytes() - before) * WANTED / count


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--output", default="", help="a file for the record")
    parser.add_argument("--only", default="", help="a part of the functions' names")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.chdir(tempfile.mkdtemp())
    functions = []
    for call in public_calls():
        if options.only not in call.name:
            continue
        arguments = call.arguments()
        # What is drawn over axes stays in them, so that those must be new ones for each call.
        arguments = {} if "ax" in arguments else arguments

        def again(call=call, arguments=arguments):
            call(**arguments)
            if "matplotlib.pyplot" in sys.modules and sys.modules["matplotlib.pyplot"].get_fignums():
                sys.modules["matplotlib.pyplot"].close("all")

        count, added = growth(again, options.seconds)
        if added > 1e6:
            count, added = growth(again, 50 * options.seconds)
        functions.append({"function": call.name, "calls": count, "bytes_of_10000_calls": round(added)})
        print(json.dumps(functions[-1]), file=sys.stderr, flush=True)
    largest = max(functions, key=lambda f: f["bytes_of_10000_calls"])
    machine.write({"what": "memory that calls leave behind", "machine": machine.describe("numpy", "matplotlib"),
                   "seconds": options.seconds, "n_functions": len(functions), "largest": largest,
                   "functions": functions}, options.output)


if __name__ == "__main__":
    main()

"""What a running program, and the programs that have ended, say of themselves to the system."""

import os
import resource
import time


def computed_by_children():
    """What those that have ended computed, CPU seconds. Unlike their time, it hardly depends on what else the machine does."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def computed_by(pid):
    """What it computed so far, and the programs that it has begun and that run, CPU seconds."""
    with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/task/{pid}/children") as children:
        user, system = stat.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") + sum(map(computed_by, children.read().split()))


def interrupt(process, number, after):
    """Sends a signal when the program has computed for `after` seconds of a CPU, by when it answers signals; what it prints, and
    how much it computes after that."""
    before, computed = computed_by_children(), 0
    while process.poll() is None and computed < after:
        computed = computed_by(process.pid)
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=600)
    return out, err, computed_by_children() - before - computed

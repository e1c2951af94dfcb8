"""Jobs of the tool that fail: they end soon, with one message, a status that is not 0, and no file of theirs.

ZONAL_FAULTS=50 repeats each fault 50 times, and each signal comes a little later every time.
"""

import os
import pathlib
import signal
import sys
import time

import pytest

from jobs import BIN, FLAGS, IS_OPEN_MPI, MPIRUN, call, finish, mpirun, start

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from processes import computed_by, computed_by_children

ZONAL = BIN / "zonal"
pytestmark = pytest.mark.skipif(not ZONAL.exists(), reason="this build has no tool")
REPEAT = int(os.environ.get("ZONAL_FAULTS", "0"))
TIMES = range(REPEAT or 1)
MOST_AFTER = 9.0  # seconds that a job's three ranks may compute until it has ended, waiting included; what goes on takes much longer


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    (folder / "cl.txt").write_text("# l TT\n" + "".join(f"{l} {1 / (1 + l) ** 2}\n" for l in range(65)))
    (folder / "elsewhere").mkdir()
    (folder / "other").mkdir()
    for nside, lmax, at in ((64, 64, folder), (32, 40, folder / "other")):
        code, out, err = call(ZONAL, "synfast", folder / "cl.txt", "map.fits", "--nside", nside, "--lmax", lmax, "--seed", 1,
                              "--alm-out", "alm.fits", cwd=at)
        assert code == 0, out + err
    code, out, err = call(ZONAL, "synfast", folder / "cl.txt", "long.fits", "--nside", 512, "--extend", "zero", "--seed", 1, cwd=folder)
    assert code == 0, out + err
    (folder / "other" / "cl.txt").write_text("# TT\n1\n1\n1\n")
    return folder


@pytest.fixture
def folder(inputs):
    """Expects after the test what was there before."""
    before = sorted(inputs.rglob("*"))
    yield inputs
    assert sorted(inputs.rglob("*")) == before


def messages(err):
    return [line for line in err.splitlines() if line.startswith("zonal")]


def start_long_job(folder, *options):
    """Three ranks that would compute for minutes on any machine."""
    return start(MPIRUN, *FLAGS, "-n", 3, ZONAL, "map2alm", "long.fits", "out.fits", "--iter", 1000, *options, cwd=folder)


def ranks_of(job):
    """Their process ids, by rank: mpirun starts them in that order."""
    found = []
    while job.poll() is None and len(found) < 3:
        found = sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_rank_of(job, pid))
        time.sleep(0.02)
    assert len(found) == 3
    return found


def wait_until_it_computes(rank):
    """It has begun with MPI, before which there is no timeout, when it has more than this much of a CPU."""
    while computed_by(rank) < 0.4:
        time.sleep(0.02)


def is_rank_of(job, pid):
    try:
        with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline") as line:
            return stat.read().rpartition(")")[2].split()[1] == str(job.pid) and "map2alm" in line.read() and pid != str(job.pid)
    except OSError:
        return False  # it has ended


@pytest.mark.skipif(not IS_OPEN_MPI, reason="looks for children of Open MPI's mpirun")
@pytest.mark.parametrize("time_of_fault", TIMES)
@pytest.mark.parametrize("how, whom", [(signal.SIGKILL, "the first"), (signal.SIGKILL, "another"), (signal.SIGINT, "the first"),
                                       (signal.SIGINT, "another"), (signal.SIGINT, "mpirun"), (signal.SIGTERM, "another")])
def test_a_signal_ends_all_ranks(folder, how, whom, time_of_fault):
    before = computed_by_children()
    job = start_long_job(folder)
    ranks = ranks_of(job)
    for rank in ranks:
        wait_until_it_computes(rank)
    time.sleep(0.02 * time_of_fault)
    until_fault = sum(map(computed_by, ranks))
    os.kill({"the first": ranks[0], "another": ranks[2], "mpirun": job.pid}[whom], how)
    code, _, err = finish(job)
    assert computed_by_children() - before - until_fault < MOST_AFTER
    assert code != 0
    assert messages(err) in (["zonal map2alm: interrupted"], []), err
    if how != signal.SIGKILL:
        assert messages(err) or "signal" in err, err


@pytest.mark.skipif(not IS_OPEN_MPI, reason="looks for children of Open MPI's mpirun")
@pytest.mark.parametrize("time_of_fault", TIMES)
@pytest.mark.parametrize("silent", [0, 2])
def test_a_timeout_names_the_rank_that_is_silent(folder, silent, time_of_fault):
    before = computed_by_children()
    job = start_long_job(folder, "--timeout", 2)
    ranks = ranks_of(job)
    wait_until_it_computes(ranks[silent])
    time.sleep(0.3 + 0.02 * time_of_fault)
    begin, until_fault = time.monotonic(), sum(map(computed_by, ranks))
    os.kill(ranks[silent], signal.SIGSTOP)
    code, _, err = finish(job)
    assert time.monotonic() - begin > 2
    assert computed_by_children() - before - until_fault < MOST_AFTER
    assert code != 0
    assert len(messages(err)) == 1 and f"rank {silent} has not answered for 2 s" in messages(err)[0], err


@pytest.mark.skipif(not IS_OPEN_MPI, reason="--timeout takes longer to be seen where ranks share CPUs")
def test_a_timeout_that_is_kept_changes_nothing(folder):
    command = [ZONAL, "anafast", "map.fits", "out.fits", "--lmax", 40]
    one, two = mpirun(3, *command, cwd=folder), mpirun(3, *command, "--timeout", 60, "--overwrite", cwd=folder)
    os.remove(folder / "out.fits")
    assert one[0] == two[0] == 0, one[2] + two[2]


@pytest.mark.skipif(not IS_OPEN_MPI, reason="-wdir is Open MPI's")
@pytest.mark.parametrize("time_of_fault", TIMES)
def test_a_rank_that_fails_while_others_compute_has_the_only_message(folder, time_of_fault):
    """It ends the job after 1.5 s, by signals that the first rank must not report."""
    command = [ZONAL, "synfast", "cl.txt", "out.fits", "--nside", 2048, "--extend", "zero", "--seed", 1]
    limited = 'ulimit -v 700000; exec "$@"'
    code, _, err = call(MPIRUN, *FLAGS, "-n", 2, *command, ":", "-n", 1, "bash", "-c", limited, "bash", *command, cwd=folder)
    assert code != 0
    assert len(messages(err)) == 1 and "rank 2: " in messages(err)[0], err


@pytest.mark.parametrize("time_of_fault", TIMES)
@pytest.mark.parametrize("n_ranks", [2, 4])
def test_different_options_are_an_error(folder, n_ranks, time_of_fault):
    one = [ZONAL, "alm2map", "alm.fits", "out.fits", "--nside"]
    code, _, err = call(MPIRUN, *FLAGS, "-n", n_ranks - 1, *one, 32, ":", "-n", 1, *one, 64, cwd=folder)
    assert code != 0
    assert len(messages(err)) == 1
    assert "all must make the same calls, but rank 0 makes zonal alm2map alm.fits out.fits --nside 32, and rank" in messages(err)[0]


def run_in(folder, of_rank_1, arguments):
    """Two ranks in folders of their own."""
    command = [ZONAL, *arguments.split()]
    return call(MPIRUN, *FLAGS, "-n", 1, "-wdir", folder, *command, ":", "-n", 1, "-wdir", folder / of_rank_1, *command, cwd=folder)


@pytest.mark.skipif(not IS_OPEN_MPI, reason="-wdir is Open MPI's")
@pytest.mark.parametrize("time_of_fault", TIMES)
@pytest.mark.parametrize("arguments, message", [
    ("alm2map alm.fits out.fits --nside 32", "rank 1: alm.fits: cannot be opened"),
    ("smooth map.fits out.fits --fwhm 1deg", "rank 1: map.fits: cannot be opened"),
    ("synfast cl.txt out.fits --nside 16 --lmax 40", "rank 1: "),
])
def test_what_fails_on_one_rank_fails_on_all(folder, arguments, message, time_of_fault):
    code, _, err = run_in(folder, "elsewhere", arguments)
    assert code != 0
    assert len(messages(err)) == 1 and message in messages(err)[0], err


@pytest.mark.skipif(not IS_OPEN_MPI, reason="-wdir is Open MPI's")
@pytest.mark.parametrize("arguments, found", [
    ("alm2map alm.fits out.fits --nside 32", ["alm.fits", "alm in 2145 rows", "861 rows"]),
    ("synfast cl.txt out.fits --nside 32 --lmax 2", ["rank 1: cl.txt: has other bytes than on rank 0"]),
    ("smooth map.fits out.fits --fwhm 1deg", ["map.fits", "nside 64, ring, ", "nside 32, ring, "]),
    ("udgrade map.fits out.fits --nside 8", ["map.fits", "nside 64, ring, ", "nside 32, ring, "]),
])
def test_ranks_must_read_the_same_file(folder, arguments, found):
    code, _, err = run_in(folder, "other", arguments)
    (message,) = messages(err)
    assert code == 1 and "all ranks must read the same file" in message and all(word in message for word in found), err


@pytest.mark.parametrize("time_of_fault", TIMES)
@pytest.mark.parametrize("full_rank", [0, 1])
def test_a_full_disk_on_one_rank(folder, full_rank, time_of_fault):
    """One rank may write as far as MPI needs for its shared memory, and not all of the file's 37 MB."""
    limited = f'if [ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = {full_rank} ]; then ulimit -f 24000; fi; exec "$@"'
    code, _, err = mpirun(2, "bash", "-c", limited, "bash", ZONAL, "synfast", "cl.txt", "out.fits", "--nside", 640, "--lmax", 64, cwd=folder)
    assert code != 0
    assert len(messages(err)) == 1 and f"rank {full_rank}: out.fits: cannot be written: " in messages(err)[0], err


@pytest.mark.parametrize("time_of_fault", TIMES)
@pytest.mark.parametrize("arguments, message", [
    ("alm2map map.fits out.fits --nside 32", "map.fits: holds no table of alm"),
    ("map2alm cl.txt out.fits", "cl.txt: "),
    ("smooth none.fits out.fits --fwhm 1deg", "none.fits: cannot be opened"),
    ("anafast map.fits map.fits", "map.fits: exists already"),
    ("convert map.fits nowhere/out.fits --order nest", "nowhere/out.fits: cannot be written"),
])
def test_wrong_files(folder, arguments, message, time_of_fault):
    code, out, err = mpirun(3, ZONAL, *arguments.split(), cwd=folder)
    assert code != 0 and out == ""
    assert len(messages(err)) == 1 and message in messages(err)[0], err


@pytest.mark.parametrize("arguments, message", [
    ("rotate map.fits out.fits --euler 1deg,2deg,3deg", "works in one process, not in the 2 of this job"),
    ("calibrate --threads 1", "works in one process, not in the 2 of this job"),
    ("plan --nside 16 --fwhm 20deg", "works in one process, not in the 2 of this job"),
    ("split --kernel gaussian --fwhm 20deg", "works in one process, not in the 2 of this job"),
    ("smooth map.fits out.fits --fwhm 1deg --nside-out 32", "map2alm, smooth for the alm, and alm2map --nside do it in steps"),
    ("synfast cl.txt out.fits --nside 16 --lmax 40 --method split", "--method: not over several ranks: "),
    ("alm2map alm.fits out.fits --car 20x40", "over several ranks maps are HEALPix maps"),
    ("alm2map alm.fits out.fits.gz --nside 16", "a gzip file is one stream"),
    ("alm2map alm.fits out.fits --nside 16 --shares 1,2,3", "--shares = 1,2,3: must be auto, or 2 numbers"),
    ("alm2map alm.fits out.fits --nside 16 --shares 1,,2", "--shares = 1,,2: must be auto, or 2 numbers"),
    ("alm2map alm.fits out.fits --nside 16 --shares AUTO", "--shares = AUTO: must be auto, or 2 numbers"),
    ("alm2map alm.fits out.fits --nside 16 --shares 1,0", "--shares = 1,0: must be auto, or 2 numbers from 1e-6 to 1e6"),
    ("alm2map alm.fits out.fits --nside 4", "ranks: 2 are too many for healpix nside=4: must be at most 1"),
    ("anafast map.fits alm.fits out.fits", "map.fits, alm.fits: not over several ranks: both must be maps of the same nside"),
    ("map2alm map.fits out.fits --weights pixel", "--weights pixel: not over several ranks: "),
    ("smooth alm.fits out.fits --fwhm 1deg --explain", "--shares, --explain: alm.fits holds alm, which are not transformed"),
    ("anafast alm.fits out.fits --shares 1,2", "--shares, --explain: alm.fits holds alm, which are not transformed"),
    ("convert map.fits out.fits --partial", "--partial: not over several ranks: "),
    ("convert map.fits out.fits --nside 32", "--nside, --car: not over several ranks: "),
])
def test_what_ranks_cannot_do_is_refused(folder, arguments, message):
    code, out, err = mpirun(2, ZONAL, *arguments.split(), cwd=folder)
    assert code == 2 and out == ""
    assert len(messages(err)) == 1 and message in messages(err)[0], err


@pytest.mark.parametrize("arguments", ["synfast cl.txt out.fits --nside 524288 --lmax 40", "alm2map alm.fits out.fits --nside 524288"])
def test_skies_that_do_not_fit_in_memory_are_refused_before_they_are_made(folder, arguments):
    code, out, err = mpirun(2, ZONAL, *arguments.split(), cwd=folder)
    assert code == 1 and out == "" and not (folder / "out.fits").exists()
    (message,) = messages(err)
    assert "healpix nside=524288 to lmax = " in message and "GB left: use more machines, or a smaller map" in message


def test_a_gpu_that_is_not_there_is_one_failure_of_all_ranks(folder):
    code, out, err = mpirun(2, ZONAL, "alm2map", "alm.fits", "out.fits", "--nside", 16, "--device", "cuda", cwd=folder)
    if code == 0:
        pytest.skip("there is a GPU")
    assert out == "" and len(messages(err)) == 1 and "--device = cuda: " in messages(err)[0], err


def test_options_of_jobs_are_refused_without_one(folder):
    for option in (["--shares", "1,2"], ["--explain"]):
        code, _, err = call(ZONAL, "alm2map", "alm.fits", "out.fits", "--nside", 16, *option, cwd=folder)
        assert code == 2 and "only over several ranks, which mpirun starts" in err

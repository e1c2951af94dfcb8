"""zonal.mpi with ranks on GPUs: each on one of its own, and several on one."""

import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")
if shutil.which("mpirun") is None:
    pytest.skip("mpirun is not installed", allow_module_level=True)
sys.path.append(str(Path(__file__).parents[1] / "mpi"))
from jobs import FLAGS, MPIRUN, finish, start


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_ranks_on_gpus_agree_with_one_process(n_ranks):
    script = Path(__file__).with_name("gpu_rank.py")
    code, out, err = finish(start(MPIRUN, *FLAGS, "-n", n_ranks, sys.executable, "-B", "-m", "mpi4py", script))
    assert code == 0 and out.count("ok") == 1, out + err

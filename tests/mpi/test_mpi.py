"""Programs that talk over MPI, with 1 to 7 ranks."""

import shutil

import pytest

from jobs import BIN, IS_OPEN_MPI, call, mpirun

# MPICH's ranks spin while they wait, so that more of them than CPUs take minutes.
RANKS = [1, 2, 3, 4, 7] if IS_OPEN_MPI else [1, 2, 3]


@pytest.mark.parametrize("n_ranks", RANKS)
def test_transport(n_ranks):
    code, out, err = mpirun(n_ranks, BIN / "zonal_mpi_tests", "--gtest_brief=1")
    assert code == 0, out + err
    assert out.count("[  PASSED  ]") == n_ranks, out + err


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_a_program_without_mpi_joins_the_job(n_ranks):
    ranks = " ".join(str(rank) for rank in range(n_ranks))
    assert mpirun(n_ranks, BIN / "zonal_mpi_rank")[:2] == (0, f"ranks {ranks} \n")


def test_a_program_that_was_started_alone_is_no_job():
    assert call(BIN / "zonal_mpi_rank") == (0, "alone\n", "")


@pytest.mark.parametrize("what, message", [("throw", "error: rank 1 gives up"), ("abort", ""), ("die", "")])
def test_a_rank_that_fails_ends_all(what, message):
    code, out, err = mpirun(3, BIN / "zonal_mpi_rank", what)
    assert code != 0 and "ranks" not in out
    assert message in err
    if what == "abort":
        assert code == 7


def test_ranks_that_do_not_see_each_other_are_an_error():
    """As under the mpirun of another MPI, where each rank would take itself for all of the job."""
    code, out, err = mpirun(1, BIN / "zonal_mpi_rank", OMPI_COMM_WORLD_SIZE="3") if not IS_OPEN_MPI else call(
        BIN / "zonal_mpi_rank", PMI_SIZE="3")
    assert code != 0 and out == ""
    assert "= 3, but MPI knows of 1 ranks: use the mpirun of the MPI with which Zonal was built" in err


def test_says_what_to_build_where_the_library_is_missing(tmp_path):
    (tmp_path / "bin").mkdir()
    shutil.copy(BIN / "zonal_mpi_rank", tmp_path / "bin")
    library = next((BIN.parent / "lib").glob("libzonal.so.*.*.*"))
    shutil.copy(library, tmp_path / ".".join(library.name.split(".")[:4]))
    code, out, err = call(tmp_path / "bin" / "zonal_mpi_rank", PMIX_RANK="0", LD_LIBRARY_PATH=str(tmp_path))
    assert code == 3 and out == ""
    assert "CommunicationError: PMIX_RANK is set" in err and "build Zonal with -DZONAL_WITH_MPI=ON" in err

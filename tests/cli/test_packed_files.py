"""Files packed by gzip, bzip2 and xz."""

import bz2
import gzip
import lzma
import resource
import zipfile

import pytest

from conftest import call

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
KINDS = {"gz": "gzip", "bz2": "bzip2", "xz": "xz"}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("name", ["packed.fits.{}", "name_says_nothing"])
def test_packed_maps_are_the_maps(ending, name, sky, zonal, tmp_path):
    name = name.format(ending)
    plain = (tmp_path / "sky.fits").read_bytes()
    (tmp_path / name).write_bytes(PACKERS[ending](plain))
    assert zonal("compare", "sky.fits", name, "--limit", "0")["within_limit"]
    # A packed file may have several streams, one after the other.
    half = len(plain) // 2 + 1
    (tmp_path / name).write_bytes(PACKERS[ending](plain[:half]) + PACKERS[ending](plain[half:]))
    assert zonal("compare", "sky.fits", name, "--limit", "0")["within_limit"]


@pytest.mark.parametrize("ending", PACKERS)
def test_packed_text_is_read(ending, zonal, sky, tmp_path):
    (tmp_path / f"beam.txt.{ending}").write_bytes(PACKERS[ending](b"".join(b"%d 1\n" % l for l in range(33))))
    zonal("smooth", "sky.fits", "out.fits", "--beam", f"beam.txt.{ending}", "--lmax", "32", "--method", "harmonic")


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 2 << 20])  # they are unpacked by pieces of 1 MiB
@pytest.mark.parametrize("ending", PACKERS)
def test_packed_text_is_read_to_its_last_line_whatever_its_size(ending, size, zonal, fails, sky, tmp_path):
    rows = b"".join(b"%d 1\n" % l for l in range(33))
    text = b"#".ljust(size - len(rows) - 1) + b"\n" + rows
    name = f"beam.txt.{ending}"
    (tmp_path / name).write_bytes(PACKERS[ending](text))
    zonal("smooth", "sky.fits", "out.fits", "--beam", name, "--lmax", "32", "--method", "harmonic")
    (tmp_path / name).write_bytes(PACKERS[ending](text + b"33 x\n"))
    assert name in fails(1, "smooth", "sky.fits", "again.fits", "--beam", name, "--lmax", "32", "--method", "harmonic")


@pytest.mark.parametrize("ending", PACKERS)
def test_damaged_packed_files_are_named_plainly(ending, sky, fails, tmp_path):
    packed = PACKERS[ending]((tmp_path / "sky.fits").read_bytes())
    name = f"cut.fits.{ending}"
    for damaged in (packed[:len(packed) // 2], packed[:200] + bytes(64) + packed[264:], packed[:-1]):
        (tmp_path / name).write_bytes(damaged)
        assert f"{name}: damaged {KINDS[ending]} file: " in fails(1, "info", name)


def test_archives_are_refused_and_named(sky, fails, tmp_path):
    with zipfile.ZipFile(tmp_path / "sky.fits.zip", "w") as archive:
        archive.write(tmp_path / "sky.fits", "sky.fits")
    assert "sky.fits.zip: is a zip archive: take the file out with unzip first" in fails(1, "info", "sky.fits.zip")


def test_unpacking_is_refused_where_memory_is_short(tmp_path):
    zeros = gzip.compress(bytes(1 << 26), 9) * 64  # 4 GiB in 4 MiB
    (tmp_path / "bomb.fits.gz").write_bytes(gzip.compress(b"SIMPLE  =                    T".ljust(80)) + zeros)
    result = call("info", "bomb.fits.gz", cwd=tmp_path, preexec_fn=limit_memory)
    assert result.code == 1
    assert "bomb.fits.gz: unpacking this file" in result.err


@pytest.mark.parametrize("ending", PACKERS)
def test_what_is_no_file_of_ours_is_not_unpacked_to_its_end(ending, fails, tmp_path):
    (tmp_path / "bomb").write_bytes(PACKERS[ending](bytes(1 << 22)) * 1000)  # 4 GiB
    assert "bomb: neither a FITS file nor text" in fails(1, "info", "bomb", preexec_fn=limit_memory)

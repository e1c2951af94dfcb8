"""Tests of tolerances.py."""

import tolerances


def test_the_closest_call_counts_and_comments_are_shown(tmp_path, monkeypatch, capsys):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.cpp").write_text("// derived\nEXPECT_LE(x, 1);\n\nEXPECT_LE(y, 1);  // so\nEXPECT_LE(z, 1);\n")
    (tmp_path / "record").write_text("../tests/a.cpp:2 1 0.001 5\n/b/tests/a.cpp:2 1 0.01 5\ntests/a.cpp:4 1 0.9 1\ntests/a.cpp:5 1 1e-9 1\n")
    monkeypatch.setattr(tolerances, "ROOT", tmp_path)
    monkeypatch.setattr(tolerances, "closest", {})
    tolerances.show([tmp_path / "record"], 50.0)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["1e+09", "100"] and lines[1].endswith("tests/a.cpp:2  derived")
    assert lines[2] == "3 assertions, 2 allow more than 50 times what is reached, 1 without a comment"
    assert tolerances.comment("tests/a.cpp:4") == "so"


def test_the_comment_of_a_constant_speaks_for_the_assertions_that_use_it(tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.py").write_text("# derived\nROUNDING = 1\nBARE = 1\nassert x < 3 * ROUNDING\nassert x < BARE\nassert f(x,\n ROUNDING)\nassert x < 2 * ROUNDING  # of two\n")
    monkeypatch.setattr(tolerances, "ROOT", tmp_path)
    assert [tolerances.comment(f"tests/a.py:{line}") for line in (4, 5, 6, 8)] == ["derived", "", "derived", "of two"]

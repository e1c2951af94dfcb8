"""Tests of check_links.py."""

import pytest

import check_links


@pytest.mark.parametrize("text, problem", [
    ("[a](missing.md)", "missing.md: no such file"),
    ("![a](images/missing.png)", "images/missing.png: no such file"),
    ("[a](#conventions)", "#conventions: no such heading"),
    ("[a](other.md#nothing)", "other.md#nothing: no such heading"),
])
def test_dead_link_is_reported(tmp_path, text, problem):
    (tmp_path / "other.md").write_text("# Some heading\n")
    assert check_links.check_page(tmp_path / "page.md", "# Page\n" + text) == [problem]


@pytest.mark.parametrize("text", [
    "[a](other.md)", "[a](other.md#some-heading-of-c)", "[a](https://example.org/x)", "[a](../)", "`[a](missing.md)`",
    "```\nv[i](missing.md)\n```\n", "no link", "[a](#page)",
])
def test_good_link_is_not_reported(tmp_path, text):
    (tmp_path / "other.md").write_text("## Some heading, of C++\n")
    page = tmp_path / "page.md"
    page.write_text("# Page\n" + text)
    assert check_links.check_page(page, page.read_text()) == []

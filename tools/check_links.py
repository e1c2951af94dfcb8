#!/usr/bin/env python3
"""Checks that every link of the Markdown pages leads somewhere, as a forge shows them: to a file of the repository
(relative to the page) or to a heading of a page. Addresses of the network are not looked at.

check_links.py [ROOT]: prints one line per dead link and exits with 1 when there is any.
"""

import pathlib
import re
import sys

from tracked_files import tracked_files

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*?)\s*$", re.MULTILINE)


def anchors(text):
    """Anchors of a page's headings, as GitHub, GitLab and Forgejo make them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def check_page(page, text):
    """The page's dead links. page: its path; files beside it are looked up on disk."""
    problems = []
    for target in LINK.findall(CODE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path
        if not file.exists():
            problems.append(f"{target}: no such file")
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8") if path else text):
            problems.append(f"{target}: no such heading")
    return problems


def pages(root):
    """Markdown files that git tracks or would track."""
    return [root / path for path in tracked_files(root, "*.md")]


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    n_problems = 0
    for page in pages(root):
        for problem in check_page(page, page.read_text(encoding="utf-8")):
            n_problems += 1
            print(f"{page.relative_to(root)}: {problem}")
    print(f"check_links: {n_problems} dead links")
    return 1 if n_problems else 0


if __name__ == "__main__":
    sys.exit(main())

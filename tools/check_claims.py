#!/usr/bin/env python3
"""Checks the figures of README.md and docs/ against the records of bench/results.

check_claims.py [ROOT]: prints one line per problem and exits with 1 when there is any.

- The claims of docs/guide/x.md are in docs/claims/guide/x.txt, those of README.md in docs/claims/README.txt
  (tools/claims.py has the notation). Each figure of a claim stands in the page, and is the record's, to the digits shown.
- A figure that says how fast or how long (`1.5 times`, `29 ms`, `0.6 s`) has a claim. The line `no record: why` excuses
  the section of the page under whose heading it stands, and `no records: why` the whole page.
- A record names the commit that it was made with, which is in the history of HEAD: a commit that was replaced when its
  branch was rebased is in no clone. Where the sources were not quite that commit's, the table of bench/results/README.md
  says what was different.
"""

import json
import pathlib
import re
import subprocess
import sys

from claims import check_section, parse_claims
from tracked_files import tracked_files

RESULTS = "bench/results"
CLAIMS = "docs/claims"
HEADING = re.compile(r"^#+ +(.*?)\s*(?:\{#[\w-]+\})?$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$|^(?: {4}|\t)[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
SPEED = re.compile(r"(?<![\w.^-])(?<!- )\d[\d.,]*(?:e-?\d+)?\s*(?:ms|us|s|times|seconds|minutes|x (?:faster|as fast))\b")


def commits_of(value):
    """All values of keys `commit` in a record."""
    if isinstance(value, list):
        return {commit for item in value for commit in commits_of(item)}
    if not isinstance(value, dict):
        return set()
    own = {value["commit"]} if isinstance(value.get("commit"), str) else set()
    return own.union(*map(commits_of, value.values()))


def known_records(text):
    """Records in the table of bench/results/README.md."""
    return set(re.findall(r"^\| `([^`]+\.json)`", text, re.MULTILINE))


def check_commits(name, record, known, has_commit):
    """Problems of what a record says of its commit. known: it stands in the table; has_commit: hash -> bool."""
    commits = commits_of(record)
    if not commits:
        return [f"{name}: names no commit"]
    odd = [commit for commit in sorted(commits) if commit.endswith("-dirty")]
    missing = [commit for commit in sorted(commits) if not has_commit(commit.removesuffix("-dirty"))]
    problems = [f"{name}: commit {commit} is not in the history" for commit in missing]
    if odd and not known:
        problems.append(f"{name}: commit {odd[0]}: say in {RESULTS}/README.md what was changed")
    if known and not odd:
        problems.append(f"{name}: stands in {RESULTS}/README.md, though it was made with a commit as it is")
    return problems


def sections(text):
    """heading -> what stands below it, with spaces in place of code. "" is the heading of what stands above the first;
    sections of one name count as one."""
    blank = CODE.sub(lambda match: re.sub(r"\S", " ", match[0]), text)
    headings = list(HEADING.finditer(blank))
    ends = [match.start() for match in headings] + [len(blank)]
    found = {"": blank[:ends[0]]}
    for match, end in zip(headings, ends[1:]):
        name = HEADING.match(text, match.start())[1]
        found[name] = found.get(name, "") + blank[match.end():end]
    return found


def check_page(text, claims, read):
    """Problems of a page. claims: the text of its file of claims, "" where there is none; read: path of a record -> record,
    or an OSError."""
    page = sections(text)
    excused, cited = parse_claims(claims)
    problems = [f"{heading!r}: the page has no such heading" for heading in cited if heading not in page]
    for heading, body in page.items():
        lines, no_record = cited.get(heading, ([], False))
        found, body = check_section(lines, body, read)
        problems += found
        if not excused and not no_record:
            problems += [f"{figure.group().strip()!r} has no claim: {context(body, figure)}"
                         for figure in SPEED.finditer(body)]
    return problems


def claims_of(page):
    """Path of the claims of README.md or of a page of docs/."""
    return f"{CLAIMS}/{page.removeprefix('docs/').removesuffix('.md')}.txt"


def context(text, match):
    return " ".join(text[max(0, match.start() - 40):match.end() + 30].split())


def commit_finder(root):
    """hash -> whether it is in the history of HEAD; always true in a shallow clone, which cannot know."""
    def git(*arguments):
        return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    if git("rev-parse", "--is-shallow-repository").stdout.strip() == "true":
        return lambda commit: True
    return lambda commit: git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    records = tracked_files(root, f"{RESULTS}/*.json", f"{RESULTS}/**/*.json")
    known = known_records((root / RESULTS / "README.md").read_text(encoding="utf-8"))
    has_commit = commit_finder(root)

    def read(path):
        return json.loads((root / path).read_text(encoding="utf-8"))

    problems = [f"{RESULTS}/README.md: {name}: no such record" for name in known if f"{RESULTS}/{name}" not in records]
    for path in records:
        name = path.removeprefix(RESULTS + "/")
        problems += check_commits(name, read(path), name in known, has_commit)
    pages = ["README.md", *tracked_files(root, "docs/*.md", "docs/**/*.md")]
    files = set(tracked_files(root, f"{CLAIMS}/*.txt", f"{CLAIMS}/**/*.txt"))
    problems += [f"{path}: there is no such page" for path in sorted(files - set(map(claims_of, pages)))]
    for page in pages:
        claims = (root / claims_of(page)).read_text(encoding="utf-8") if claims_of(page) in files else ""
        found = check_page((root / page).read_text(encoding="utf-8"), claims, read)
        problems += [f"{page}: {problem}" for problem in found]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"check_claims: {len(pages)} pages, {len(records)} records, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

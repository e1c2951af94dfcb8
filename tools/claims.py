"""Figures of the documentation and the records that they come from: the notation of check_claims.py.

The page docs/guide/x.md has

    ## Speed

    It takes 0.13 s in float, and ducc0 6.5 times as long in double. All ratios are 6 or more.

and docs/claims/guide/x.txt says where these figures come from:

    # Speed
    bench/results/radial-epyc.json
    0.13 s = results(method="pixel-sum", precision="float").seconds
    6.5 = better_over_peer_median.double
    6 <= min(r.speed_over_peer_median for r in results)

A line that begins with # is a heading of the page. A path names a record. Any other line is a figure as the page has
it, a relation and an expression of the record's values: `=` means equal to the digits shown, `<=` and `>=` mean that the
figure is a bound. The figures of a record are looked for in the order of the lines, below that heading and above the next;
the next record starts from the heading again, and no figure of the page serves two claims. `no record: why` excuses the
figures of a section that have no claim, `no records: why` at the top of the file those of the whole page.
"""

import ast
import re

UNITS = {"": 1, "times": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "%": 1e-2, "GB": 1e9, "TFLOP/s": 1e12, "GFLOP/s": 1e9, "'": 1}
NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
FIGURE = re.compile(rf"({NUMBER})\s*({'|'.join(map(re.escape, filter(None, UNITS)))})?")
LINE = re.compile(r"(?P<figure>.+?)\s+(?P<relation>=|<=|>=)\s+(?P<expression>.+)")
FUNCTIONS = {"min": min, "max": max, "sum": sum, "len": len, "abs": abs}
ALLOWED = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Call, ast.keyword, ast.Constant, ast.Name,
           ast.Subscript, ast.List, ast.GeneratorExp, ast.comprehension, ast.Load, ast.Store, ast.operator, ast.unaryop, ast.cmpop,
           ast.boolop, ast.BoolOp)


class Entry:
    """A value of a record: `entry.key` or `entry["key"]` of an object, `entry[i]` of a list, `entry(key=value)` the one object
    of a list that has these values. What is iterated over are an object's values or a list's elements."""

    def __init__(self, value):
        self._value = value

    def __getattr__(self, name):
        return entry(self._value[name])

    def __getitem__(self, index):
        return entry(self._value[index])

    def __iter__(self):
        return map(entry, self._value.values() if isinstance(self._value, dict) else self._value)

    def __len__(self):
        return len(self._value)

    def __call__(self, **wanted):
        found = [item for item in self._value if all(item.get(key) == value for key, value in wanted.items())]
        if len(found) != 1:
            raise KeyError(f"{len(found)} entries have {wanted}")
        return entry(found[0])


def entry(value):
    return Entry(value) if isinstance(value, (dict, list)) else value


def evaluate(expression, record):
    """Value of an expression of a record's values; ValueError, KeyError or TypeError where it has none."""
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED) or getattr(node, "attr", "").startswith("_"):
            raise ValueError(f"{type(node).__name__} is not permitted")
    names = {key: entry(value) for key, value in record.items()}
    value = eval(compile(tree, "claim", "eval"), {"__builtins__": {}, **FUNCTIONS, **names})  # pylint: disable=eval-used
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("is not a number")
    return value


def parse_figure(text):
    """(value, half of a unit in its last digit) of a figure such as `0.19 s`, `3.2e-13` or `12 %`."""
    match = FIGURE.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is no figure")
    number, unit = match[1].replace(",", ""), UNITS[match[2] or ""]
    mantissa, _, exponent = number.partition("e")
    digits = len(mantissa.partition(".")[2])
    return float(number) * unit, 0.5 * 10.0 ** (int(exponent or 0) - digits) * unit


def problem_of(figure, relation, expression, record):
    """What is wrong with one claim; None where it holds."""
    try:
        shown, half = parse_figure(figure)
        value = evaluate(expression, record)
    except (ValueError, KeyError, TypeError, IndexError, NameError, SyntaxError) as error:
        return f"{figure} {relation} {expression}: {type(error).__name__}: {error}"
    half *= 1 + 1e-9
    holds = {"=": abs(shown - value) <= half, "<=": shown <= value, ">=": shown >= value}[relation]
    return None if holds else f"{figure} {relation} {expression}: the record says {value:.6g}"


def find_figure(figure, text, start):
    """Match of the figure's next place in the text from start on, or None."""
    words = r"\s+".join(map(re.escape, figure.split()))
    return re.compile(rf"(?<![\w.,]){words}(?!\w|[.,]\d)").search(text, start)


def parse_claims(text):
    """(whether the whole page is excused, {heading: (its lines, whether it is excused)}) of a file of claims."""
    excused, cited, heading = False, {"": ([], False)}, ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
            cited.setdefault(heading, ([], False))
        elif line.startswith("no records: "):
            excused = True
        elif line.startswith("no record: "):
            cited[heading] = (cited[heading][0], True)
        else:
            cited[heading][0].append(line)
    return excused, cited


def check_section(lines, text, read):
    """Problems of the claims of one section, and its text without the figures that they name.

    read: path -> record, or an OSError."""
    problems, record, place = [], None, 0
    for line in lines:
        match = LINE.fullmatch(line)
        if not match:
            try:
                record, place = read(line), 0
            except (OSError, ValueError) as error:
                return problems + [f"{line}: {error}"], text
            continue
        if record is None:
            return problems + [f"{line}: name a record first"], text
        if found := find_figure(match["figure"], text, place):
            place = found.start() + 1
            text = text[:found.start()] + "#" * len(found[0]) + text[found.end():]
        else:
            problems.append(f"{match['figure']}: is not in this section, or not in this order")
        problems += filter(None, [problem_of(match["figure"], match["relation"], match["expression"], record)])
    return problems, text

"""Faults that tools/mutate.py puts into sources: where a text may have one, and what stands there then."""

import dataclasses
import difflib
import re

TEXTS = {False: r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^ *#[^\n]*",
         True: r"#[^\n]*|\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"}
OPERAND = r"[\w.]+(?:::\w+|->\w+|\([^()\n]*\)|\[[^\[\]\n]*\])*"
PAIRS = ["< <=", "> >=", "== !=", "&& ||", "and or", "+ -", "* /", "min max", "minimum maximum", "true false", "True False"]
COMMUTATIVE = r"(?:Add|Mul|And|Or|Xor|Min|Max|min|max|fmin|fmax|minimum|maximum|hypot|gcd|lcm)\("
OTHERS = {one: other for pair in PAIRS for one, other in (pair.split(), pair.split()[::-1])}


@dataclasses.dataclass
class Fault:
    """Whole lines of a file, and what is there instead."""
    path: str
    line: int  # from 1
    kind: str
    before: str
    after: str

    def diff(self):
        lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), n=0, lineterm="")
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))

    def put_into(self, text):
        """The text with the fault. The lines may have moved since it was recorded."""
        lines, before = text.split("\n"), self.before.split("\n")
        places = [i for i in range(len(lines)) if lines[i:i + len(before)] == before]
        if not places:
            raise SystemExit(f"{self.path}: these lines are not there any more: {self.before}")
        place = min(places, key=lambda i: abs(i + 1 - self.line))
        return "\n".join(lines[:place] + self.after.split("\n") + lines[place + len(before):])


def other(found, text, rng):
    return found[0].replace(found[1], OTHERS[found[1]])


def another_number(found, text, rng):
    """None for zero, which no factor changes."""
    if not found[0].strip("0."):
        return None
    factor, step = rng.choice(["0.7", "1.4"]), rng.choice("+-")
    return f"({found[0]} * {factor})" if re.search(r"[.ep]", found[0]) else f"({found[0]} {step} 1)"


def inverted(found, text, rng):
    """What follows `if (`, up to the bracket that closes it; None where it declares something."""
    depth, end = 1, found.end()
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    inner = text[found.end():end - 1]
    return None if ";" in inner or " = " in inner else (f"{found[0]}!({inner}))", end)


def nothing(found, text, rng):
    """A line without its statement, if this ends there."""
    is_whole = all(found[0].count(a) == found[0].count(b) for a, b in ("()", "[]", "{}"))
    return found[1] + (";" if found[0].endswith(";") else "pass") if is_whole else None


def swapped(found, text, rng):
    """None where the order of two arguments makes no difference."""
    if re.fullmatch(COMMUTATIVE, found[1]) and text[found.end()] == ")":
        return None
    return found[1] + text[found.start(3):found.end(3)] + ", " + text[found.start(2):found.end(2)]


def nothing_returned(found, text, rng):
    """None where that is returned already."""
    return None if found[0] in ("return 0;", "return {};", "return false;", "return nullptr;") else "return {};"


# kind, where, and what stands there instead; the second group of both languages, the third of each.
RULES = [
    ("constant", r"(?<![\w.'])(?<![ep]-)(?:0x1p-\d+|\d+\.\d+(?:e-?\d+)?|\d+e-?\d+|[1-9]\d*)(?![\w.'])", another_number),
    ("comparison", r" (<=?|>=?|==|!=|&&|\|\||and|or) (?=\S)", other),
    ("truth", r"\b([tT]rue|[fF]alse)\b", other),
    ("sign", r" ([-+*/]) (?=[\w(])", other),
    ("dropped term", rf" [-+] {OPERAND}(?=[ ;,)\]\n])", lambda found, text, rng: ""),
    ("dropped factor", rf" [*/] {OPERAND}(?=[ ;,)\]\n])", lambda found, text, rng: ""),
    ("swapped arguments", rf"(\b\w+\((?:{OPERAND}, )*)({OPERAND}), ({OPERAND})(?=[,)])", swapped),
    ("min and max", r"\b(?:std::|np\.)?f?(min|max|minimum|maximum)(?=[<(])", other),
    ("first element", r"(?<=[\w)\]])\[(?!(?:Any|str|int|float|complex|bool)\])[A-Za-z_]\w*\]", lambda found, text, rng: "[0]"),
    ("dropped function", r"\b(?:std::|np\.|math\.)?(?:sqrt|f?abs|ceil|floor|l*round|conj)(?=\()", lambda found, text, rng: ""),
]
OF_C = [
    ("condition", r"\b(?:if|while) \(", inverted),
    ("dropped statement", r"^( +)[\w.>\[\]:-]+(?:\([^\n]*\)| [-+*/|]?= [^\n]*);$", nothing),
    ("early return", r"\breturn [^\n;{]+;$", nothing_returned),
    ("early return", r"^ *(?:static |inline )*(?:void|double|bool|int|std::\w+) [\w:]+\([^;{}]*\)(?: const)?(?: noexcept)? \{$",
     lambda found, text, rng: found[0] + (" return;" if "void " in found[0] else " return {};")),
]
OF_PYTHON = [
    ("condition", r"^( *(?:el)?if )(.+):$", lambda found, text, rng: f"{found[1]}not ({text[found.start(2):found.end(2)]}):"),
    ("dropped statement", r"^( +)[\w.\[\]]+(?:\([^\n]*\)| [-+*/|]?= [^\n]*)$", nothing),
    ("early return", r"\breturn [^\n]+$", lambda found, text, rng: "return None"),
]


def faults_of(path, text, rng):
    """One fault for each place and rule."""
    is_python = path.endswith(".py")
    code = re.sub(TEXTS[is_python], lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S | re.M)
    faults = []
    for kind, pattern, change in RULES + (OF_PYTHON if is_python else OF_C):
        for found in re.finditer(pattern, code, re.M):
            changed = change(found, text, rng)
            if changed is None:
                continue
            instead, end = changed if isinstance(changed, tuple) else (changed, found.end())
            first, last = text.rfind("\n", 0, found.start()) + 1, (text + "\n").find("\n", end)
            before, after = text[first:last], text[first:found.start()] + instead + text[end:last]
            if after != before:
                faults.append(Fault(path, text.count("\n", 0, first) + 1, kind, before, after))
    return faults


def chosen(faults, count, rng):
    """So many of the faults, of each kind as many as of any other while there are."""
    kinds = {}
    for fault in faults:
        kinds.setdefault(fault.kind, []).append(fault)
    for group in kinds.values():
        rng.shuffle(group)
    picked = []
    while len(picked) < count and any(kinds.values()):
        picked += [kinds[kind].pop() for kind in rng.sample(sorted(kinds), len(kinds)) if kinds[kind]]
    return picked[:count]

"""What modules say of names that they lack."""

from collections.abc import Collection
from difflib import get_close_matches


def no_attribute(module: str, name: str, public: Collection[str], hint: str = "") -> AttributeError:
    """hint: where the name is to be found; by default the public name that is most like it."""
    if not hint and not name.startswith("_"):
        by_letters = {one.lower(): one for one in public}
        hint = "".join(f"is {module}.{by_letters[near]} meant?" for near in get_close_matches(name.lower(), by_letters, 1, 0.7))
    return AttributeError(f"module {module!r} has no attribute {name!r}{': ' + hint if hint else ''}", name=name)

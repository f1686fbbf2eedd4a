"""`python -m tests.licences`: the licences of everything that the product installs and of the tools that make it.

The product is MIT and what it imports must be as permissive. OpenViking (AGPL-3.0) is a program beside it: it may be
reached through the extra `knowledge` only, and nothing of it may be imported.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parent.parent
ALLOWED: Final = frozenset(
    {"MIT", "MIT-0", "MIT-CMU", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Apache-2.0", "PSF-2.0", "Python-2.0", "ISC"}
    | {"Unlicense", "CC0-1.0", "Zlib", "HPND"}
    # Python 1.6's own, part of `regex`: permissive, approved by the OSI.
    | {"CNRI-Python"}
    # MPL-2.0 binds the files that it covers, and only when these are changed: installed as they are, they bind nobody.
    | {"MPL-2.0"}
)
WORDS: Final = {
    "MIT": "MIT",
    "MIT License": "MIT",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "BSD 2-Clause": "BSD-2-Clause",
    "BSD 3-Clause": "BSD-3-Clause",
    "New BSD": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
"""What metadata without an SPDX expression say, in the field `License` or in a classifier."""
APPROVALS: Final = ("OSI Approved", "DFSG approved")
"""Classifiers that name who approved a licence, and no licence."""
REVIEWED: Final = {
    "pyahocorasick": ("BSD-3-Clause", "its field says `BSD-3-Clause and Public-Domain`; its LICENSE has both"),
    "tiktoken": ("MIT", "no field of its own; its LICENSE is the text of MIT"),
    "resvg-py": ("MIT", "no field; its LICENSE is the text of MIT"),
}
"""Distributions whose metadata say nothing that can be read: the licence, and where a person found it.
Metadata that do say a licence win, so a change of licence is noticed."""
BESIDE: Final = "knowledge"
"""The extra with the separate program, whose dependencies are its own affair."""
_TOKEN: Final = re.compile(r"\(|\)|[A-Za-z0-9.+\-]+")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A distribution that may not be used as it is, and why."""

    name: str
    reason: str


Find = Callable[[str], metadata.Distribution | None]


def installed(path: Iterable[str] | None = None) -> Find:
    """Finds distributions by name on `path` (None: where this interpreter looks)."""
    there: dict[str, metadata.Distribution] = {}
    for one in metadata.distributions(path=list(sys.path if path is None else path)):
        if one.metadata["Name"]:
            there.setdefault(canonicalize_name(one.metadata["Name"]), one)
    return lambda name: there.get(canonicalize_name(name))


def declared() -> dict[str, list[str]]:
    """The requirements of pyproject.toml by extra; "" is the base install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def closure(requirements: Iterable[str], find: Find) -> dict[str, metadata.Distribution | None]:
    """Everything that these requirements install here, by name; None for what is not installed."""
    found: dict[str, metadata.Distribution | None] = {}
    asked: set[tuple[str, str]] = set()
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        for extra in ("", *one.extras):
            if (name, extra) in asked:
                continue
            asked.add((name, extra))
            there = found.setdefault(name, find(name))
            for text in (there.requires or []) if there else []:
                inner = Requirement(text)
                if inner.marker is None or inner.marker.evaluate({"extra": extra}):
                    waiting.append(inner)
    return found


def licence(one: metadata.Distribution) -> str:
    """An SPDX expression by the expression field, the classifiers or the field `License`; "" when none says it."""
    about = one.metadata
    if expression := about.get("License-Expression"):
        return str(expression)
    classifiers = [text for text in about.get_all("Classifier") or () if text.startswith("License :: ")]
    named = [name for text in classifiers if (name := text.rpartition(" :: ")[2]) not in APPROVALS]
    if named:
        return " AND ".join(WORDS.get(text) or re.sub(r"[^A-Za-z0-9.+\-]+", "-", text) for text in named)
    said = " ".join(str(about.get("License") or "").split())
    return WORDS.get(said, said if said in ALLOWED else "")


def is_allowed(expression: str) -> bool:
    """Whether an SPDX expression leaves a way to use the software under an allowed licence."""
    tokens = _TOKEN.findall(expression)

    def any_of() -> bool:
        value = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            value = all_of() or value
        return value

    def all_of() -> bool:
        value = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            value = one() and value
        return value

    def one() -> bool:
        if not tokens:
            return False
        token = tokens.pop(0)
        if token == "(":
            return any_of() and tokens[:1] == [")"] and bool(tokens.pop(0))
        if tokens and tokens[0] == "WITH":
            del tokens[:2]
        return token in ALLOWED

    return any_of() and not tokens


def refusals(requirements: Iterable[str], find: Find) -> list[Refusal]:
    """What of the closure may not be used: another licence, an unknown one, or not installed and so not checked."""
    found: list[Refusal] = []
    for name, one in sorted(closure(requirements, find).items()):
        if one is None:
            found.append(Refusal(name, "is not installed, so its licence cannot be read"))
        elif not (said := licence(one) or REVIEWED.get(name, ("", ""))[0]):
            found.append(Refusal(name, "does not say its licence"))
        elif not is_allowed(said):
            found.append(Refusal(name, f"has a licence that is not allowed: {said}"))
    return found


@cache
def _owners() -> Mapping[str, list[str]]:
    """The distributions of each top-level module that is installed here."""
    return metadata.packages_distributions()


@cache
def imported(folder: Path) -> tuple[tuple[str, Path], ...]:
    """The top-level modules that the sources of a folder import, each with its file; read once."""
    return tuple(_imports(folder))


def _imports(folder: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], file) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                yield node.module.partition(".")[0], file


def unchecked(folder: Path, names: Iterable[str]) -> list[Refusal]:
    """Modules that the product imports from distributions other than these, whose licences were checked."""
    known = set(names)
    owners = _owners()
    found: dict[str, Refusal] = {}
    for module, file in imported(folder):
        owned = {canonicalize_name(one) for one in owners.get(module, ())}
        if owned and module != folder.name and module not in sys.stdlib_module_names and not owned & known:
            words = f"is imported in {file.name}, and no requirement of the product installs it"
            found.setdefault(module, Refusal(module, words))
    return list(found.values())


def problems(find: Find | None = None) -> list[Refusal]:
    """All that is wrong with what is installed here."""
    look, extras = find or installed(), declared()
    shipped = [one for extra, listed in extras.items() if extra not in (BESIDE, "dev") for one in listed]
    beside = {canonicalize_name(Requirement(one).name) for one in extras[BESIDE]}
    found = refusals(shipped, look)
    names = {one.name for one in found}
    tools = [one for one in refusals(extras["dev"], look) if look(one.name)]  # a tool that is absent is not used
    found += [one for one in tools if one.name not in names]
    found += [
        Refusal(name, f"belongs to the extra {BESIDE} and is installed without it")
        for name in sorted(beside & closure(extras[""], look).keys())
    ]
    return found + unchecked(ROOT / "flowcabal_tui", closure(shipped, look))


def main() -> int:
    """Prints what is wrong; 1 when anything is."""
    found = problems()
    for one in found:
        print(f"{one.name} {one.reason}")
    if not found:
        requirements = [one for extra, listed in declared().items() if extra != BESIDE for one in listed]
        print(f"{len(closure(requirements, installed()))} distributions, all with licences that are allowed")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

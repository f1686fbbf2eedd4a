"""Measures the structure of the product: size, forwarding methods, base classes, circles, modules and class names.

    python -m tests.structure [ROOT]

`ROOT` is another checkout, which is measured in the same way. `tests/test_structure.py` limits the figures.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

PACKAGE: Final = "flowcabal_tui"
SMALL: Final = 40
"""Lines; a smaller module with one importer belongs into that one."""
SERIES: Final = ("flowcabal_tui.store.migrations.m", "flowcabal_tui.agents.checking.rules.")
"""Modules that a registry lists, one for each migration or rule, may be small."""
FULL: Final = range(385, 401)
"""Lines of a module that was probably cut to meet the former limit of 400."""


@dataclass(frozen=True)
class FoundClass:
    """A class of the product. `bases` are the full names of those of its bases that are classes of the product."""

    name: str
    node: ast.ClassDef
    bases: tuple[str, ...]

    @property
    def lines(self) -> int:
        """The lines of its own definition."""
        return (self.node.end_lineno or self.node.lineno) - self.node.lineno + 1


class Tree:
    """The modules of a checkout by name, each parsed once."""

    def __init__(self, root: Path) -> None:
        paths = sorted((root / PACKAGE).rglob("*.py"))
        names = [path.relative_to(root).with_suffix("").as_posix().replace("/", ".") for path in paths]
        self.packages = {name.removesuffix(".__init__") for name in names if name.endswith(".__init__")}
        names = [name.removesuffix(".__init__") for name in names]
        texts = dict(zip(names, (path.read_text(encoding="utf-8") for path in paths), strict=True))
        self.lines = {name: len(text.splitlines()) for name, text in texts.items()}
        self.parsed = {name: ast.parse(text) for name, text in texts.items()}

    @cached_property
    def classes(self) -> Mapping[str, FoundClass]:
        """Every class at the top level of a module, by its full name."""
        known = {
            f"{module}.{node.name}": (module, node)
            for module, tree in self.parsed.items()
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        }
        found = {}
        for name, (module, node) in known.items():
            names = (ast.unparse(base).partition("[")[0] for base in node.bases)
            bases = (self._sources[module].get(base, f"{module}.{base}") for base in names)
            found[name] = FoundClass(name, node, tuple(base for base in bases if base in known))
        return found

    @cached_property
    def functions(self) -> Mapping[str, int]:
        """The lines of every function, by the name of its module and its own."""
        return {
            f"{module}.{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
            for module, tree in self.parsed.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }

    @cached_property
    def _sources(self) -> Mapping[str, Mapping[str, str]]:
        """For each module the full names of what it imports from the product, by the name that it uses."""
        return {
            module: {
                alias.asname or alias.name: f"{node.module}.{alias.name}"
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and node.module
                for alias in node.names
            }
            for module, tree in self.parsed.items()
        }

    def defined(self, module: str) -> set[str]:
        """The names that a module binds at its top level, imported ones included."""
        found = set()
        for node in self.parsed[module].body:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    found |= {alias.asname or alias.name for alias in names}
                case ast.Assign() | ast.AnnAssign():
                    found |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        return found

    def lines_with_bases(self, name: str) -> int:
        """The lines of a class and of all its bases."""
        found = self.classes[name]
        return found.lines + sum(map(self.lines_with_bases, found.bases))

    def hollow_bases(self) -> list[str]:
        """Base classes with one child that are never used for themselves: called, validated or named as a type."""
        children = Counter(base for found in self.classes.values() for base in found.bases)
        once = {name for name, count in children.items() if count == 1}
        used = {name for module, tree in self.parsed.items() for name in self._used(module, tree) if name in once}
        return sorted(once - used)

    def _used(self, module: str, tree: ast.Module) -> Iterator[str]:
        """Full names of what a module names anywhere but among the bases of a class."""
        bases = {id(base) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases}
        bases |= {id(part) for node in ast.walk(tree) if id(node) in bases for part in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and id(node) not in bases:
                yield self._sources[module].get(node.id, f"{module}.{node.id}")

    def forwarding(self) -> list[str]:
        """Methods whose whole body is one call of a part of the object, with the method's arguments as they are."""
        return [
            f"{found.name}.{method.name}"
            for found in self.classes.values()
            for method in found.node.body
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and _forwards(method)
        ]

    def circles(self) -> list[tuple[str, str]]:
        """Pairs of folders of one package that import each other."""
        arrows: defaultdict[str, set[str]] = defaultdict(set)
        for source, targets in self.imports.items():
            for target in targets:
                if (pair := _siblings(source, target, self.packages)) is not None:
                    arrows[pair[0]].add(pair[1])
        return sorted(
            (one, other) for one in arrows for other in arrows[one] if one < other and one in arrows.get(other, ())
        )

    def circle(self) -> list[str]:
        """The modules of one circle of imports, also of those inside a function or for types alone; [] for none."""
        graph = {module: {*_imported(ast.walk(tree), self.parsed)} - {module} for module, tree in self.parsed.items()}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            return [*error.args[1]]
        return []

    @cached_property
    def imports(self) -> Mapping[str, set[str]]:
        """The modules of the product that each module imports at its top level."""
        return {module: {*_imported(tree.body, self.parsed)} for module, tree in self.parsed.items()}

    def small_modules(self) -> list[str]:
        """Modules under `SMALL` lines with one importer, which imports them at its top level; none of a `SERIES`."""
        anywhere = Counter(
            target for tree in self.parsed.values() for target in {*_imported(ast.walk(tree), self.parsed)}
        )
        at_top = {target for targets in self.imports.values() for target in targets}
        return sorted(
            name
            for name in at_top - self.packages
            if anywhere[name] == 1 and self.lines[name] < SMALL and not name.startswith(SERIES)
        )

    def full_modules(self) -> list[str]:
        """Modules of 385 to 400 lines."""
        return sorted(name for name, lines in self.lines.items() if lines in FULL)

    def repeated_names(self) -> Mapping[str, int]:
        """Names of public classes that several modules define, and how many do."""
        counted = Counter(name.rpartition(".")[2] for name in self.classes)
        return {name: count for name, count in counted.items() if count > 1 and not name.startswith("_")}


def _forwards(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = [line for line in method.body if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
        return False
    value = body[0].value
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call):
        return False
    called, given = ast.unparse(call.func), [*call.args, *(keyword.value for keyword in call.keywords)]
    plain = all(isinstance(each, ast.Name | ast.Constant | ast.Attribute | ast.Starred) for each in given)
    return plain and called.startswith("self.") and called.count(".") >= 2


def _imported(nodes: Iterable[ast.AST], known: Mapping[str, ast.Module]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from {name if name in known else node.module for name in inner} & {*known}
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def _siblings(source: str, target: str, packages: set[str]) -> tuple[str, str] | None:
    """The folders below the package that two modules share; None where one of them is no folder."""
    one, other = source.split("."), target.split(".")
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    folders = ".".join(one[: same + 1]), ".".join(other[: same + 1])
    return folders if folders[0] != folders[1] and {*folders} <= packages else None


def table(tree: Tree) -> list[tuple[str, int]]:
    """The rows of the table, in its order."""
    return [
        ("files", len(tree.lines)),
        ("lines", sum(tree.lines.values())),
        ("methods that only forward", len(tree.forwarding())),
        ("base classes with one child", len(tree.hollow_bases())),
        ("circles between folders of one package", len(tree.circles())),
        ("modules of 385 to 400 lines", len(tree.full_modules())),
        (f"modules under {SMALL} lines with one importer", len(tree.small_modules())),
        ("longest class with its bases, lines", max(map(tree.lines_with_bases, tree.classes))),
        ("longest function, lines", max(tree.functions.values())),
        ("public class names defined more than once", len(tree.repeated_names())),
    ]


def main() -> None:
    """Prints the table, then the names behind its figures."""
    tree = Tree(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent)
    for words, figure in table(tree):
        print(f"{figure:>8,}  {words}")
    for words, names in (
        ("hollow", tree.hollow_bases()),
        ("circles", tree.circles()),
        ("circle of modules", tree.circle()),
        ("small", tree.small_modules()),
        ("full", tree.full_modules()),
        ("repeated", tree.repeated_names().items()),
    ):
        print(f"{words}:", *names)


if __name__ == "__main__":
    main()

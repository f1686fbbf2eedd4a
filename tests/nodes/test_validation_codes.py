"""Every code that is given is explained, and every explanation is of a code that is given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import flowcabal_tui
from tests.pages.codes import CODES

ROOT = Path(flowcabal_tui.__file__).parent


def given() -> Iterator[str]:
    """What is given as a code: `code=...`, `{"code": ...}`, and the first of a yielded tuple."""
    for path in [
        path for package in ("nodes", "dialects", "domain", "actions") for path in (ROOT / package).rglob("*.py")
    ]:
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for place in places(each):
                texts = (one.value for one in ast.walk(place) if isinstance(one, ast.Constant))
                yield from (text for text in texts if isinstance(text, str) and re.fullmatch(r"[A-Z]+(_[A-Z]+)*", text))


def places(each: ast.AST) -> list[ast.expr]:
    match each:
        case ast.keyword(arg="code", value=value):
            return [value]
        case ast.Assign(targets=[ast.Name(id="code")], value=value):
            return [value]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "code"]
        case ast.Call(func=ast.Attribute(attr="wrong" | "note" | "_add"), args=[first, *_]):
            return [first]
        case ast.Call(func=ast.Name(id="JinjaError"), args=[_, code]):
            return [code]
        case ast.AnnAssign(target=ast.Name(id="_CODES"), value=ast.Dict(values=values)):
            return values
        case ast.FunctionDef(args=ast.arguments(defaults=[*defaults])):
            return [one for one in defaults if isinstance(one, ast.Constant)]
        case ast.Yield(value=ast.Tuple(elts=[ast.Constant() as first, *_])):
            return [first]
    return []


def test_codes_and_their_explanations_agree():
    assert set(given()) == set(CODES)


def test_every_explanation_is_a_sentence():
    assert [words for words in CODES.values() if not words[0].isupper() or not words.endswith(".")] == []

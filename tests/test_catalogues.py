"""The Chinese catalogue is whole, fits its source, and no word gets round it."""

from __future__ import annotations

import ast
import gettext
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import IO

from babel.messages.catalog import Message
from babel.messages.mofile import read_mo

from flowcabal_tui.locale import sentences
from tests.catalogues import MO, PO, SOURCE, collected, compiled, merged, save, stored, untranslated

PLACE = re.compile(r"\{+\w[^{}]*\}+")
MARKERS = ("_", "mark", "ngettext")


@cache
def trees() -> dict[str, ast.Module]:
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


def sides(message: Message) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The English forms and the Chinese ones of an entry."""
    if message.pluralizable:
        return tuple(message.id), tuple(message.string)
    return (str(message.id),), (str(message.string),)


def entries() -> list[Message]:
    return [message for message in stored() if message.id]


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Every call that takes a word for the user."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKERS:
            yield node


def words_in(call: ast.Call) -> list[ast.expr]:
    return call.args[:2] if isinstance(call.func, ast.Name) and call.func.id == "ngettext" else call.args


def code_of_import(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported: all but the bodies of functions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from code_of_import(child)


def test_every_word_of_the_source_has_a_translation():
    catalog = stored()
    merged(catalog)
    assert untranslated(catalog) == []


def test_the_catalogue_has_every_word_that_a_call_names():
    """What extracts the words does not look into the places of an f-string."""
    known = {each for message in entries() for each in sides(message)[0]}
    missing = {
        f"{name}:{call.lineno}: {word.value}"
        for name, tree in trees().items()
        for call in calls(tree)
        for word in words_in(call)
        if isinstance(word, ast.Constant) and word.value and word.value not in known
    }
    assert missing == set()


def test_no_translation_outlives_its_word():
    assert {message.id for message in entries()} == {message.id for message in collected() if message.id}


def test_both_sides_have_the_same_places():
    for message in entries():
        english, chinese = sides(message)
        for one in english:
            for other in chinese:
                assert sorted(PLACE.findall(one)) == sorted(PLACE.findall(other)), one


def test_both_sides_have_the_same_lines_and_edges():
    for message in entries():
        english, chinese = sides(message)
        for other in chinese:
            assert english[0].count("\n") == other.count("\n"), english[0]
            assert other.rstrip() == other or english[0].rstrip() != english[0], english[0]
            assert other.lstrip() == other or english[0].startswith(" "), english[0]


def test_a_plural_has_as_many_forms_as_the_language():
    counts = stored().num_plurals
    plurals = [message for message in entries() if message.pluralizable]
    assert plurals
    assert [message.id for message in plurals if len(message.string) != counts or not all(message.string)] == []


def test_the_compiled_catalogue_is_that_of_the_written_one():
    def content(file: IO[bytes]) -> list[tuple[object, object]]:
        return [(message.id, message.string) for message in read_mo(file) if message.id]

    with MO.open("rb") as file:
        assert content(file) == content(io.BytesIO(compiled(stored())))


def test_gettext_finds_the_words():
    with MO.open("rb") as file:
        chinese = gettext.GNUTranslations(file)
    assert chinese.gettext("Approve") == "通过"
    assert chinese.ngettext("{n} contradiction", "{n} contradictions", 3) == "{n} 处矛盾"


def test_writing_the_catalogue_again_changes_nothing(tmp_path, monkeypatch):
    def text(po: Path) -> list[str]:
        return [line for line in po.read_text("utf-8").splitlines() if not line.startswith('"Generated-By')]

    catalog = stored()
    monkeypatch.setattr("tests.catalogues.PO", tmp_path / "flowcabal.po")
    monkeypatch.setattr("tests.catalogues.MO", tmp_path / "flowcabal.mo")
    save(catalog)
    assert text(tmp_path / "flowcabal.po") == text(PO)


def is_literal(word: ast.expr) -> bool:
    """Whether the catalogue can contain the word: it is not put together before it is looked up."""
    match word:
        case ast.Constant(value=str()) | ast.Name() | ast.Attribute() | ast.Subscript():
            return True
        case ast.Call(func=ast.Attribute(attr="get")):
            return True
    return False


def formats_of_words() -> Iterator[tuple[str, ast.Call, ast.Call]]:
    """Each `_("...").format(...)` with its module: the call of `format` and the call of the marker."""
    for name, tree in trees().items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="format", value=ast.Call(func=ast.Name(id=marker)) as call)):
                    if marker in MARKERS:
                        yield name, node, call


def fields(word: str) -> set[str]:
    return {field for _text, field, _spec, _how in Formatter().parse(word) if field}


def test_words_are_literals():
    assert [
        f"{name}:{call.lineno}: {ast.unparse(call)}"
        for name, tree in trees().items()
        for call in calls(tree)
        if not all(map(is_literal, words_in(call)))
    ] == []


def test_each_place_is_filled_by_the_format_behind_it():
    assert [
        f"{name}:{node.lineno}: {word.value}"
        for name, node, call in formats_of_words()
        for word in words_in(call)
        if isinstance(word, ast.Constant) and fields(word.value) != {keyword.arg for keyword in node.keywords}
    ] == []


def test_no_word_is_looked_up_before_the_language_is_known():
    """At import time a table holds marked words, so that it follows the language of the screen."""
    assert [
        f"{name}:{node.lineno}"
        for name, tree in trees().items()
        for node in code_of_import(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "ngettext")
    ] == []


def test_no_blank_follows_a_full_width_mark_between_sentences() -> None:
    assert sentences("没有任何改动。", "", "请改正后再试。") == "没有任何改动。请改正后再试。"
    assert sentences("Nothing was changed.", "Try again.") == "Nothing was changed. Try again."


def test_the_lists_in_messages_have_the_separator_of_the_language():
    """`_(", ").join(names)` in the arguments of a message; identifiers in Chinese sentences are listed with 、 too."""
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
        and isinstance(node.func.value, ast.Call)
        and isinstance(node.func.value.func, ast.Name)
        and node.func.value.func.id in MARKERS
        for given in node.keywords
        for inner in ast.walk(given.value)
        if isinstance(inner, ast.Attribute)
        and inner.attr == "join"
        and isinstance(inner.value, ast.Constant)
        and inner.value.value == ", "
    ]
    assert wrong == []

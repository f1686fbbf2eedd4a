"""Contradictions that are planted by rule into copies of a book's chapters."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.project.bench.own_plants import KINDS, OwnBook, Planted, Planter, clean_rows
from tests.agents.fakes import person

ZH = (
    "沈知微住在柳溪村，才十八岁，乌黑的头发垂到腰间。",
    "老周走了六十里山路才到渡口。\n\n沈知微的母亲在门前等他。",
    "老周病死了，葬在村后。\n\n沈知微去了白鹭渡，再没有回来。",
    "雨落了一夜。\n\n沈知微记起旧事，低头不语。",
    "天晴了。\n\n村里人都去收稻。",
)
EN = (
    "Nora Marsh lived at Saltreach, and she was a girl of eighteen with black hair that fell to her waist.",
    "Tom Webb walked thirty miles to the ferry.\n\nNora Marsh found her mother waiting at the gate of the old house.",
    "Tom Webb died in the winter and was buried behind the church.\n\nThe snow lay deep on the roofs of the village.",
    "It rained all night.\n\nNora Marsh remembered the road to Northmere and said nothing for a long while.",
    "The sky cleared.\n\nThe village went to the fields.",
)


def place(name: str) -> Entity:
    return Entity(EntityId(f"e-{name}"), "location", name)


BOOKS = {
    "zh": (ZH, (person("沈知微"), person("老周"), place("柳溪村"), place("白鹭渡"))),
    "en": (EN, (person("Nora Marsh"), person("Tom Webb"), place("Saltreach"), place("Northmere"))),
}


def planted(language: str, most: int = 20) -> tuple[Planted, ...]:
    texts, entities = BOOKS[language]
    return Planter(texts, language, entities, "book").planted(most)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_each_kind_swaps_one_value_of_an_earlier_sentence(language: str) -> None:
    texts = BOOKS[language][0]
    found = planted(language)
    assert {each.kind for each in found} == set(KINDS)
    for each in found:
        ((chapter, source),) = each.gold.sources
        sentence = texts[chapter - 1][source.start : source.end]
        draft = each.row.draft or ""
        assert chapter < each.row.now <= len(texts) and sentence and "\n" not in sentence
        assert draft[each.gold.span.start : each.gold.span.end] == each.instead
        if each.kind != "dead":
            assert draft != sentence and sentence == draft.replace(each.instead, each.own, 1)


def test_what_is_swapped_is_of_the_same_kind() -> None:
    swapped = {(each.kind, each.own, each.instead) for each in planted("zh")}
    assert {("number", "六十", "三"), ("kin", "母亲", "姨母"), ("attribute", "黑", "白")} <= swapped
    assert ("place", "柳溪村", "白鹭渡") in swapped
    (dead,) = [each for each in planted("en") if each.kind == "dead"]
    assert dead.instead.startswith("Tom Webb walked to the window") and dead.row.now == 4


def test_the_same_book_gives_the_same_plants_and_clean_chapters_are_those_they_went_into() -> None:
    assert planted("en") == planted("en")
    assert len([each for each in planted("en", most=1) if each.kind == "kin"]) == 1
    every = planted("en")
    rows = clean_rows(OwnBook(Path(), EN, every), 20)
    assert [row.now for row in rows] == sorted({each.row.now for each in every})
    assert all(row.draft is None for row in rows)


def test_a_book_of_one_chapter_gives_nothing() -> None:
    assert Planter(EN[:1], "en", BOOKS["en"][1], "book").planted(20) == ()

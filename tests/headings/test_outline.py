"""Outlines as writers write them: what their headings say, and which chapter each part belongs to."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.outline import NOWHERE, BookOutline, OutlineLink
from flowcabal_tui.domain.text import digest
from flowcabal_tui.headings.assigning import assigned, links_of
from flowcabal_tui.headings.numerals import in_chinese
from flowcabal_tui.headings.outline import read_outline
from flowcabal_tui.headings.rules import heading_of, possible_headings
from tests.effort import growth


def book(*titles: str, volumes: tuple[str, ...] = ()) -> tuple[Chapter, ...]:
    named = volumes or ("",) * len(titles)
    return tuple(
        Chapter(ChapterId(f"c{n}"), n, title, volume)
        for n, (title, volume) in enumerate(zip(titles, named, strict=True), start=1)
    )


def of(text: str, chapters: tuple[Chapter, ...], *links: OutlineLink) -> BookOutline:
    return assigned(read_outline(text), chapters, links)


def beats(text: str, *titles: str) -> list[str]:
    found = of(text, book(*titles))
    return [found.beats(chapter.id) for chapter in found.chapters]


def moved(chapters: tuple[Chapter, ...], at: int, to: int) -> tuple[Chapter, ...]:
    order = list(chapters)
    order.insert(to, order.pop(at))
    return tuple(replace(chapter, position=n) for n, chapter in enumerate(order, start=1))


@pytest.mark.parametrize(
    "text",
    [
        "# 潮灯\n总纲\n\n## 第一章 船\n- 她来了\n\n## 第二章 灯\n- 灯亮了\n",
        "总纲\n第一回 船\n她来了\n第二回 灯\n灯亮了",
        "总纲\n第一章：她来了\n第二章：灯亮了",
        "第1章 船\n- 她来了\n第2章 灯\n- 灯亮了",
        "# Tide\nPremise\n## Chapter 1: The Boat\n- She comes.\n## Chapter 2: The Lamp\n- It burns.",
        "CHAPTER I. The Boat\nShe comes.\n\nCHAPTER II. The Lamp\nIt burns.",
        "- **Chapter 1: The Boat**\n  - She comes.\n- **Chapter 2: The Lamp**\n  - It burns.",
        "1. She comes.\n2. It burns.",
        "一、她来了。\n二、灯亮了。",
        "## The Boat\n1. She comes.\n2. They talk.\n3. He stays.\n## The Lamp\n1. It burns.\n2. It dies.\n3. He knows.",
    ],
)
def test_an_outline_has_a_part_for_each_of_its_chapters(text: str) -> None:
    parts = [part for part in read_outline(text).parts if part.kind == "chapter"]
    assert len(parts) == 2
    said = of(text, book("船" if "船" in text else "The Boat", "灯" if "灯" in text else "The Lamp"))
    first, second = (said.beats(chapter.id) for chapter in said.chapters)
    assert ("她来了" in first or "She comes" in first) and ("灯亮了" in second or "It burns" in second)
    assert "灯亮了" not in first and "It burns" not in first


def test_a_volume_has_words_of_its_own_and_its_chapters_below_it() -> None:
    text = "# 大纲\n全书\n## 第一卷 雪\n雪里的话\n### 第一章 船\n- a\n## 第二卷 火\n火里的话\n### 第二章 灯\n- b\n"
    found = of(text, book("船", "灯", volumes=("雪", "火")))
    kinds = [(each.part.kind, each.volume, each.part.parent) for each in found.placed]
    assert kinds == [("book", "", -1), ("volume", "雪", 0), ("chapter", "", 1), ("volume", "火", 0), ("chapter", "", 3)]
    own = found.volume_of(ChapterId("c2"))
    assert own is not None and found.outline.body(own.part) == "火里的话"


@pytest.mark.parametrize("name", [("Book One", "Book Two"), ("第一卷", "第二卷"), ("Part I", "Part II")])
def test_numbers_that_begin_again_in_each_volume_are_counted_in_it(name: tuple[str, str]) -> None:
    one, two = name
    text = f"{one}\nChapter 1\nA\nChapter 2\nB\n{two}\nChapter 1\nC\nChapter 2\nD\n"
    found = of(text, book("a", "b", "c", "d", volumes=(one, one, two, two)))
    assert [found.beats(chapter.id) for chapter in found.chapters] == ["A", "B", "C", "D"]
    flat = of(text, book("a", "b", "c", "d"))
    assert [flat.beats(chapter.id) for chapter in flat.chapters] == ["A", "B", "C", "D"]


@pytest.mark.parametrize("name", ["Part One", "第一卷", "第一卷 雪"])
def test_a_volume_at_the_level_of_its_chapters_is_a_volume(name: str) -> None:
    text = f"# Book\n## {name}\nV\n## Chapter 1: Rain\nA\n## Chapter 2: Snow\nB\n"
    assert beats(text, "x", "y") == ["A", "B"]
    assert [part.kind for part in read_outline(text).parts] == ["book", "volume", "chapter", "chapter"]


def test_prologue_and_epilogue_are_not_counted() -> None:
    text = "## Prologue\nP\n## Chapter 1\nA\n## Chapter 2\nB\n## Epilogue\nE\n"
    assert beats(text, "Prologue", "Rain", "Snow", "Epilogue") == ["P", "A", "B", "E"]
    assert beats("楔子\nP\n第一章 雨\nA\n尾声\nE", "楔子", "雨", "尾声") == ["P", "A", "E"]


def test_a_title_wins_over_a_number() -> None:
    text = "## Chapter 1: Storm\nS\n## Chapter 2: Calm\nC\n"
    assert beats(text, "Calm", "Storm") == ["C", "S"]
    assert beats(text, "Interim", "Storm", "Calm") == ["", "S", "C"]


def test_chapters_that_the_outline_leaves_out_have_no_beats() -> None:
    assert beats("第一章 雨\nA\n第三章 风\nC", "雨", "雪", "风") == ["A", "", "C"]


def test_two_headings_of_one_chapter_are_both_its_beats() -> None:
    assert beats("## Chapter 1\nA\n## Chapter 1\nB\n## Chapter 2\nC\n", "x", "y") == ["A\n\nB", "C"]


@pytest.mark.parametrize("heading", ["Chapter {}: He comes, at last.", "Chapters {0}-{0}", "chapters 1 to {}", "{}. A"])
def test_a_number_of_thousands_of_digits_is_no_number(heading: str) -> None:
    parts = read_outline(heading.format("9" * 6_000) + "\nShe comes.\n").parts
    assert [part.number for part in parts] == [None] * len(parts)


def test_a_table_of_contents_is_no_second_outline() -> None:
    listed = "".join(f"Chapter {n}: T{n}\n" for n in range(1, 6))
    told = "".join(f"Chapter {n}: T{n}\nbeat {n}\n\n" for n in range(1, 6))
    assert beats(listed + "\n" + told, *(f"T{n}" for n in range(1, 6))) == [f"beat {n}" for n in range(1, 6)]


@pytest.mark.parametrize("heading", ["Chapters 2-3: War", "第二至三章 战", "第2-3章：战", "## 第二至三章 战"])
def test_a_heading_of_several_chapters_is_of_each_of_them(heading: str) -> None:
    first = "Chapter 1" if heading[0] == "C" else "## 第一章" if heading[0] == "#" else "第一章"
    found = of(f"{first}\nA\n{heading}\nB\n", book("x", "y", "z"))
    assert [found.beats(chapter.id)[-1:] for chapter in found.chapters] == ["A", "B", "B"]


def test_what_is_still_to_come_is_planned_and_what_fits_nothing_is_not_assigned() -> None:
    text = "## Characters\nLin.\n## Chapter 1: Rain\nA\n## Chapter 2: Snow\nB\n## Chapter 3: Wind\nC\n"
    found = of(text, book("Rain"))
    states = {each.part.title: (each.planned, each.is_unassigned, each.place) for each in found.placed[1:]}
    assert states["Characters"] == (False, True, None)
    assert states["Chapter 1: Rain"] == (False, False, 1)
    assert states["Chapter 2: Snow"] == (True, False, 2)
    assert states["Chapter 3: Wind"] == (True, False, 3)


def test_an_assignment_is_by_chapter_and_outlives_a_move_and_an_edit_of_the_heading() -> None:
    text = "## Chapter 1\nA\n## Chapter 2\nB\n## Notes\nN\n"
    chapters = book("x", "y", "z")
    hand = OutlineLink("Notes", 1, digest("N"), ChapterId("c3"))
    before = of(text, chapters, hand)
    assert [before.beats(each.id) for each in chapters] == ["A", "B", "N"]
    after = of(text, moved(chapters, 0, 2), *links_of(before))
    assert {each.id: after.beats(each.id) for each in chapters} == {"c1": "A", "c2": "B", "c3": "N"}
    renamed = of(text.replace("## Notes", "## Plans"), moved(chapters, 0, 2), *links_of(before))
    assert renamed.beats(ChapterId("c3")) == "N"
    rewritten = of(text.replace("\nN\n", "\nother\n"), chapters, *links_of(before))
    assert rewritten.beats(ChapterId("c3")) == "other"


def test_a_part_that_was_assigned_to_no_chapter_stays_so() -> None:
    link = OutlineLink("Chapter 1", 1, digest("A"), NOWHERE)
    found = of("## Chapter 1\nA\n## Chapter 2\nB\n", book("x", "y"), link)
    assert [found.beats(each.id) for each in found.chapters] == ["", "B"]
    assert [each.part.title for each in found.unassigned] == ["Chapter 1"]


def test_a_part_whose_chapter_was_deleted_is_not_assigned() -> None:
    text, chapters = "## Chapter 1: Rain\nA\n## Chapter 2: Snow\nB\n", book("Rain", "Snow")
    links = links_of(of(text, chapters))
    found = of(text, (replace(chapters[1], position=1),), *links)
    assert found.beats(ChapterId("c2")) == "B" and [each.part.words for each in found.unassigned] == ["Rain"]


WORDS = st.text("山川风月雪 ，。-#*1234567890.abcN\n", max_size=60)


@given(
    WORDS,
    st.lists(WORDS, max_size=8),
    st.sampled_from(["第{}章", "第{}回 雪", "## Chapter {}", "{}. ", "CHAPTER {}: Lamp"]),
)
def test_the_text_is_kept_byte_for_byte_and_its_parts_are_in_order(front: str, bodies: list[str], form: str) -> None:
    number = in_chinese if "第" in form else str
    text = front + "".join(f"\n{form.format(number(n))}\n{body}" for n, body in enumerate(bodies, start=1))
    outline = read_outline(text)
    assert outline.text == text
    spans = [span for part in outline.parts for span in (part.heading, part.body)]
    assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    found = assigned(outline, book("x", "y"))
    assert len(found.placed) == len(outline.parts)
    assert all(each.part.parent < at for at, each in enumerate(found.placed))


@given(st.lists(st.text("山川风月雪，、", min_size=1, max_size=20), min_size=1, max_size=40), st.booleans())
def test_the_beats_of_every_chapter_are_found_whole(told: list[str], chinese: bool) -> None:
    def heading(n: int) -> str:
        return f"第{in_chinese(n)}章 灯{n}盏" if chinese else f"## Chapter {n}: Lamp {n}"

    text = "".join(f"{heading(n)}\n- {body}\n- {body}，又\n\n" for n, body in enumerate(told, start=1))
    found = of(text, book(*(f"title {n}" for n in range(len(told)))))
    assert [found.beats(each.id) for each in found.chapters] == [f"- {body}\n- {body}，又" for body in told]


def outline_of(chapters: int) -> str:
    return "".join(f"## 第{n}章 雪\n" + "- 林黛玉在潇湘馆见了宝玉，说起旧事。\n" * 20 for n in range(1, chapters + 1))


def test_the_work_grows_with_the_outline_and_no_faster() -> None:
    texts = {n: outline_of(n) for n in (50, 200)}
    read_outline.cache_clear()
    assert growth(lambda n: assigned(read_outline(texts[n]), book(*map(str, range(n)))), 50) < 1.2


@given(st.text("第卷一二上部楔引子前言序12 IVXC.:#*-【《》（chapter Bok\n", max_size=30))
def test_no_heading_is_missed_by_the_look_for_lines_that_may_be_one(text: str) -> None:
    places = possible_headings(text)
    at = 0
    for line in text.split("\n"):
        if heading_of(line) is not None:
            assert at in places
        at += len(line) + 1


@pytest.mark.parametrize(
    "text",
    [
        "第一章：\n- A\n第二章：\n- B\n",
        "第一章、\n- A\n第二章、雪夜里，他回来了。- B\n",
        "Chapter 1:\n- A\nChapter 2:\n- B\n",
    ],
)
def test_a_heading_that_ends_with_a_colon_is_one(text: str) -> None:
    assert [said[-3:] for said in beats(text, "x", "y")] == ["- A", "- B"]

"""What a writer takes for granted is read from the book before the chapter, and from the wish."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flowcabal_tui.agents.context.expects import Requirements, expected, narrator_of, shows_pages, wished_length
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.story import Fact, RecordId, Story
from flowcabal_tui.domain.workflow import Node, Workflow
from tests.agents.fakes import FakeBook

PAST = "She was late and had no lamp. The boats came in and the men looked at her. It was cold. "
I_PRESENT = "I am late and my lamp is out. The boat comes in and I stand there. It is cold. He says no. "


@pytest.mark.parametrize(
    ("wish", "language", "length"),
    [
        ("More rain. About 2,500 words.", "en", 2_500),
        ("a 3k-word chapter", "en", 3_000),
        ("a letter of 20 words", "en", 0),
        ("Chapter 12", "en", 0),
        ("多写雨，3000字左右", "zh", 3_000),
        ("写 2.5 千字", "zh", 2_500),
        ("1万字", "zh", 10_000),
        ("留一张12个字的纸条", "zh", 0),
        ("900000字", "zh", 0),
    ],
)
def test_a_wish_may_name_the_length(wish: str, language: str, length: int) -> None:
    assert wished_length(wish, language) == length


def test_person_and_tense_are_those_of_the_narration_and_not_of_what_is_said() -> None:
    assert narrator_of(PAST * 12 + '"I am here, I say," he said. ' * 30, "en").startswith("Third person")
    assert "Past tense" in narrator_of(PAST * 12, "en")
    assert narrator_of(I_PRESENT * 12, "en") == "First person, like the earlier chapters. Present tense."
    assert narrator_of("她走过长街，没有回头。“我不去，我说过。”" * 20, "zh") == "沿用前文的第三人称叙述。"
    assert narrator_of("我走过长街，没有回头。" * 20, "zh") == "沿用前文的第一人称叙述。"
    assert narrator_of(PAST, "en") == "", "too little to say anything"


def book(language: str = "en") -> FakeBook:
    """Four chapters of twelve paragraphs."""
    texts = [(f"{n}", "\n".join(f"{PAST}{n}." for _line in range(12))) for n in range(1, 5)]
    return FakeBook(texts, language=language)


async def test_the_length_is_the_wished_one_or_the_goal_or_that_of_the_book() -> None:
    view = book().before(4)
    assert (await expected(view, "900 words", 2_000)).length == "About 900 words (the writer's wish)."
    assert (await expected(view, "", 2_000)).length == "About 2,000 words (the goal for a chapter)."
    assert "like the other chapters of this book" in (await expected(view, "", 0)).length
    assert await expected(book().before(1), "", 0) == Requirements()
    assert (await expected(book("zh").before(1), "3000字", 0)).length == "约 3000 字（作者的要求）。"


@pytest.mark.parametrize(
    ("wish", "language", "is_length"),
    [
        ("Short.", "en", True),
        ("Only what Nicholas sees. Keep it short, please.", "en", True),
        ("A very short chapter, and rain", "en", True),
        ("About 150 words.", "en", True),
        ("longer than the last", "en", True),
        ("Two pages", "en", True),
        ("A short man waits at the door.", "en", False),
        ("The long road to Dotheboys Hall.", "en", False),
        ("Ralph reads two pages of the letter.", "en", False),
        ("Say nothing about what the last name means.", "en", False),
        ("写短一些，只写他看见的。", "zh", True),
        ("篇幅尽量短", "zh", True),
        ("多写雨，一百字以内", "zh", True),
        ("这一章长一点", "zh", True),
        ("他走了很长的路。", "zh", False),
        ("短刀藏在袖中", "zh", False),
        ("末一个名字是什么意思，一个字也不要解释。", "zh", False),
    ],
)
async def test_a_wish_for_a_length_in_words_is_not_contradicted(wish: str, language: str, is_length: bool) -> None:
    for goal in (0, 4_200):
        found = await expected(book(language).before(4), wish, goal)
        assert (found.length == "") is is_length
    assert (await expected(book(language).before(4), wish, 4_200, "900")).length, "asked for this run"


async def test_samples_are_the_writers_own_pages_before_the_chapter() -> None:
    style = (await expected(book().before(4), "", 0)).style
    assert f"{PAST}1." in style and f"{PAST}3." in style and f"{PAST}4." not in style


@pytest.mark.parametrize(
    ("asked", "told"), [("650", "About 650 "), ("", "About 700 "), ("0", "About 700 "), ("99999", "About 700 ")]
)
async def test_a_length_that_was_asked_for_goes_before_that_in_the_wish(asked: str, told: str) -> None:
    found = await expected(book().before(4), "700 words, please", 1_500, asked)
    assert found.length.startswith(told)


async def test_no_sample_tells_a_secret() -> None:
    text = "\n".join(f"{PAST}1." for _line in range(12))
    words, start = f"{PAST}1.", text.index(f"{PAST}1.", len(text) // 2)
    said = Evidence(words, ChapterId("c1"), start, start + len(words))
    secret = Fact(RecordId("s"), "She stole the lamp.", since=ChapterId("c1"), secret=True, evidence=(said,))
    told = replace(book(), story=Story(facts=(secret,)))
    style = (await expected(told.before(4), "", 0)).style
    assert words not in style and f"{PAST}3." in style


async def test_samples_stay_the_same_for_ten_chapters() -> None:
    whole = FakeBook([(f"{n}", "\n".join(f"{PAST}{n}." for _line in range(12))) for n in range(1, 32)], language="en")
    styles = [(await expected(whole.before(n), "", 0)).style for n in range(21, 32)]
    assert len(set(styles[:10])) == 1 and styles[10] != styles[0]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_where_the_prompt_holds_pages_of_the_book_none_are_sent_once_more(language: str) -> None:
    style = (await expected(book(language).before(4), "", 0, has_pages=True)).style
    manner = {"en": "in the manner of the earlier chapters", "zh": "笔法与前文一致"}
    assert manner[language] in style and PAST not in style
    assert (await expected(book(language).before(1), "", 0, has_pages=True)).style == "", "nothing is before"


@pytest.mark.parametrize(
    ("params", "budget", "has"),
    [
        ({}, 25_000, True),
        ({}, 0, False),
        ({}, 2_000, False),
        ({"context": False}, 25_000, False),
        ({"context_tokens": 0}, 25_000, False),
        ({"context_tokens": 6_000}, 25_000, True),
    ],
)
def test_pages_are_in_the_prompt_where_every_node_that_asks_for_the_style_has_a_context(
    params: dict[str, Any], budget: int, has: bool
) -> None:
    style = [{"kind": "text", "text": "{{chapter.style}}"}]
    plain = Node(id=NodeId("plain"), params={"prompt": [{"kind": "text", "text": "Write."}], "context": False})
    asking = Node(id=NodeId("draft"), params={"system": style, "prompt": style, **params})
    whole = Node(id=NodeId("polish"), params={"prompt": style})
    assert shows_pages(Workflow(id="w", name="W", nodes=(plain, asking, whole)), budget) is has
    assert not shows_pages(Workflow(id="w", name="W", nodes=(plain,)), budget)

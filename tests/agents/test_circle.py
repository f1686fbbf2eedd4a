from __future__ import annotations

from flowcabal_tui.agents.context import gather
from flowcabal_tui.agents.context.circle import circle
from flowcabal_tui.agents.context.intent import read_intent
from flowcabal_tui.agents.context.relevance import Relevance
from tests.agents.fakes import FakeBook, person

FILLER = "天色已晚，众人散去，各自安歇。"
CAST = (person("林远"), person("沈青"), person("老周", "周伯"), person("苏九"))


def novel(chapters: list[str]) -> FakeBook:
    return FakeBook([(f"第{n}章", text) for n, text in enumerate(chapters, 1)], CAST, passage_size=12)


async def expected(chapters: list[str], *named: str) -> list[str]:
    view = novel(chapters).before(len(chapters) + 1)
    return [each.name for each in await circle(view, await view.chapters(), CAST, named)]


async def relevant(chapters: list[str], prompt: str) -> Relevance:
    book = await gather.read_book(novel(chapters).before(len(chapters) + 1))
    return await gather.relevance(book, read_intent(prompt, "", CAST, "zh"))


async def test_who_is_rare_is_expected_before_who_is_always_there_and_the_nearer_first() -> None:
    chapters = [f"林远来了，{FILLER}" for _ in range(12)]
    chapters[8] += "苏九走了。"
    chapters[10] += "周伯走了。"
    assert await expected(chapters) == ["老周", "苏九", "林远"]


async def test_people_named_in_the_prompt_or_long_absent_are_not_expected() -> None:
    chapters = [f"林远与老周来了，{FILLER}", *(f"林远来了，{FILLER}" for _ in range(12))]
    assert await expected(chapters) == ["林远"]
    assert await expected([f"老周来了，{FILLER}"], "周伯") == []


async def test_people_who_occur_with_named_people_come_before_recent_ones() -> None:
    chapters = [f"林远来了，{FILLER}" for _ in range(14)]
    chapters[2] = f"沈青与老周来了，{FILLER}"
    chapters[3] = f"沈青与老周走了，{FILLER}"
    chapters[13] += "苏九走了。"
    assert await expected(chapters, "沈青") == ["老周", "苏九", "林远"]


async def test_who_stood_with_somebody_once_counts_less_than_who_often_did() -> None:
    chapters = [FILLER for _ in range(14)]
    chapters[1] = chapters[2] = chapters[3] = f"沈青与老周来了，{FILLER}"
    chapters[4] = f"沈青与苏九来了，{FILLER}"
    chapters[5] = chapters[6] = f"苏九来了，{FILLER}"
    assert await expected(chapters, "沈青") == ["老周", "苏九"]


async def test_what_was_told_long_ago_of_one_who_was_just_there_comes_too() -> None:
    chapters = [FILLER * 3 for _ in range(12)]
    chapters[1] = f"老周在渡口救了人，{FILLER}"
    chapters[5] = f"沈青折了剑，{FILLER}"
    chapters[10] = f"老周来了，{FILLER}"
    found = [
        (each.place.chapter, each.found_by, each.expected) for each in (await relevant(chapters, "沈青归来。")).passages
    ]
    assert found == [("c6", ("沈青",), ()), ("c2", (), ("老周",))]


async def test_few_passages_tell_of_those_who_are_expected_alone() -> None:
    chapters = [
        *(f"老周在渡口救了人，{FILLER}" for _ in range(30)),
        *(f"老周来了，{FILLER}" for _ in range(3)),
        *[FILLER] * 40,
    ]
    chapters[50] = f"沈青折了剑，{FILLER}"
    chapters[-1] = f"老周走了，{FILLER}"
    passages = (await relevant(chapters, "沈青归来。")).passages
    assert [each.found_by for each in passages] == [("沈青",), *[()] * 12]

"""What the chapters say of the same as a draft: statements, the sentences that fit them, and how they are shown."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence

import pytest

from flowcabal_tui.agents.checking.checker import material_of, sources_at_most
from flowcabal_tui.agents.checking.draft_statements import statements_in
from flowcabal_tui.agents.checking.evidence.ranking import largest
from flowcabal_tui.agents.checking.evidence.reading import TextReader, stem
from flowcabal_tui.agents.checking.evidence.search import evidence_for
from flowcabal_tui.agents.checking.evidence.statements import statements_of
from flowcabal_tui.agents.checking.judged import JudgedDraft
from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.checking.pairs import Pairs
from flowcabal_tui.agents.context.gather import read_book
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.prompt_library import SourceText, fenced_sources
from flowcabal_tui.domain.errors import HelperFailed
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import MetaName
from flowcabal_tui.domain.run import Angle
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, as_checker, person

LIN, SU = person("林远"), person("苏九")
FILLER = "林远走过长街，听见远处有人说话。他停下来，又慢慢往前走。苏九在后面跟着，一路无话。"
SCAR = "林远左颊上有一道刀疤，是小时候留下的。"
LAMP = "苏九的灯是铜的。"


def chapters(*facts: tuple[int, str], count: int = 12) -> list[tuple[str, str]]:
    """Chapters of the same filler; each fact stands in the middle of its chapter, by number."""
    told = dict(facts)
    return [(f"第{n}章", "\n".join([FILLER] * 4 + [told.get(n, FILLER)] + [FILLER] * 4)) for n in range(1, count + 1)]


def book(*facts: tuple[int, str], meta: tuple[tuple[MetaName, str], ...] = ()) -> FakeBook:
    return FakeBook(chapters(*facts), (LIN, SU), meta, passage_size=60)


OF_PEOPLE: tuple[Angle, ...] = ("character_state", "echoes")
OF_THE_WORLD: tuple[Angle, ...] = ("timeline", "world_rules")


async def question(
    story: FakeBook, draft: str, at: int = 11, budget: int = 600, angles: tuple[Angle, ...] = OF_PEOPLE
) -> tuple[list[SourceText], Pairs]:
    seen = await read_book(story.before(at))
    evidence = tuple(await evidence_for(seen, draft))
    goal = JudgedDraft("", "", draft, seen, frozenset(), evidence=evidence, statements=statements_in(draft, "zh"))
    return await material_of(angles, goal, FakeTokens(), budget)


async def sources(story: FakeBook, draft: str, at: int = 11, budget: int = 600) -> list[SourceText]:
    """What the question about people is shown."""
    notes, pairs = await question(story, draft, at, budget)
    return [*notes, *pairs.passages]


def texts(found: Sequence[SourceText]) -> str:
    return "\n".join(each.text for each in found)


def test_a_statement_has_its_names_those_before_it_and_its_kinds() -> None:
    face = "林远的脸上有一道长长的刀疤，人人都看得见，可是没有人敢去问一问。"
    draft = f"{face}他今年已经四十岁了，还没有娶妻，家里只有一个老母亲。\n门开着。"
    first, second, last = statements_of(draft, NameIndex((LIN, SU)).find(draft), TextReader("zh"))
    assert (first.subjects, first.kinds & {"appearance", "age", "kin"}) == ({LIN.id: 1.0}, {"appearance"})
    assert {"age", "kin"} <= second.kinds
    assert 0 < second.subjects[LIN.id] < 1
    assert last.subjects == {}, "a paragraph carries nobody into the next"
    assert "刀疤" in first.words and "刀疤" in second.beside - second.words
    assert draft[first.start : first.end] + draft[second.start : second.end] == draft.split("\n")[0]


def test_english_words_are_looked_up_by_their_stems() -> None:
    assert {stem("curls"), stem("curled"), stem("curling")} == {"curl"}
    assert stem("dress") == "dress"
    reader = TextReader("en")
    assert reader.words("She looked at her curls") == {"curl"}
    assert reader.forms("curls") == {"curl": frozenset({"curl", "curls"})}
    assert {"appearance", "kin"} <= reader.content("Her uncle had a red beard.").kinds


@pytest.mark.parametrize(
    ("fact", "draft"),
    [
        (SCAR, "林远抬起头来，面皮光滑，看不见一点伤痕。"),
        ("林远今年二十三岁，尚未娶亲。", "林远叹道，自己年过五十，头发都白了。"),
        ("林远的父亲是个摆渡的。", "林远想起他爹，当年在城里做官。"),
        ("林远的母亲病死在北城，葬在河边。", "林远的娘站在门口，朝他招手。"),
    ],
)
async def test_of_somebody_who_is_everywhere_it_finds_what_is_of_the_same_kind(fact: str, draft: str) -> None:
    assert fact in texts(await sources(book((3, fact)), draft))


async def test_a_claim_in_a_long_chapter_finds_its_passage_too() -> None:
    draft = "\n".join([FILLER] * 20 + ["林远抬起头来，面皮光滑，看不见一点伤痕。"] + [FILLER] * 20)
    assert SCAR in texts(await sources(book((3, SCAR)), draft, budget=900))


async def test_nothing_later_is_shown() -> None:
    assert SCAR not in texts(await sources(book((11, SCAR), (12, SCAR)), SCAR))


async def test_pairs_stay_within_the_budget_and_in_the_order_of_the_draft_and_the_story() -> None:
    story = book((7, SCAR), (2, LAMP), (5, "林远的右手少了一根手指。"))
    draft = "林远面上有疤，手指俱全，这是人人都看得见的事情。\n他提着苏九的铜灯，在长街上走了很久，没有遇见一个人。"
    for budget in (80, 300, 2_000):
        _notes, pairs = await question(story, draft, budget=budget)
        assert FakeTokens().count(pairs.fenced.text) <= budget
        order = [(each.statement.start, each.position, each.passage.start) for each in pairs.all]
        assert order and order == sorted(order)
        assert [each.id for each in pairs.passages] == [f"p{n}" for n in range(1, len(pairs.passages) + 1)]
    for each in pairs.passages:
        whole = story.texts[int(each.uri.rpartition("c")[2]) - 1][1]
        assert whole[each.start : each.start + len(each.text)] == each.text
    wide = await question(story, draft, budget=2_000)
    assert len(wide[1].statements) == 2
    shown = wide[1].fenced.text
    assert all(shown.count(f"\n{each.id} [") == 1 for each in wide[1].passages), "a passage is shown once"


async def test_the_plan_stands_apart_from_what_is_told_of_people() -> None:
    moved = "林远的家在河的南岸，离城三十里。"
    story = book((2, SCAR), (3, moved), meta=(("outline", "林远脸上没有疤。"),))
    draft = "林远面皮光滑，没有疤。\n林远住在城北，离城十里路。"
    notes, people = await question(story, draft)
    plan, world = await question(story, draft, angles=OF_THE_WORLD)
    told = [texts(pairs.passages) for pairs in (people, world)]
    assert SCAR in told[0] and "meta/outline" not in {each.uri for each in notes}
    assert "meta/outline" in {each.uri for each in plan} and SCAR not in told[1]


def test_pieces_of_a_chapter_are_one_source_and_say_who_they_speak_of() -> None:
    pieces = [
        SourceText("s1", "manuscript/c1", "一", "他<笑>了", 0, about="林远"),
        SourceText("s1", "manuscript/c1", "一", "门开了", 40),
        SourceText("s2", "manuscript/c2", "二", "雨停了"),
    ]
    assert fenced_sources(pieces).text == (
        '<source id="s1" title="一">[林远] 他&lt;笑&gt;了\n…\n门开了</source>\n'
        '<source id="s2" title="二">雨停了</source>'
    )


def test_a_longer_draft_has_more_sources_up_to_a_bound() -> None:
    assert [sources_at_most(n) for n in (0, 100, 3_000, 9_000)] == [5_000, 5_000, 5_850, 9_600]
    assert [sources_at_most(n, "zh") for n in (0, 3_000, 5_000, 9_000)] == [5_000, 5_000, 6_400, 9_600]


async def test_where_the_search_fails_nothing_was_checked() -> None:
    async def dead(*_work: object) -> object:
        raise HelperFailed("died", "The helper process ended.")

    paid = PaidOnce(FakeModel(as_checker(lambda _request: {"findings": []})), FakeAnswers())
    monitor = Monitor(book(), lambda: paid, FakeTokens(), helper=dead)
    checks = await monitor.check_text("林远来了。", "manuscript/c11", "", ChapterId("c11"), Generation(1))
    assert {check.outcome for check in checks} == {"not checked"}
    assert "The helper process ended." in checks[0].detail


def test_the_largest_scores_are_those_of_a_whole_order_ties_too() -> None:
    chance = random.Random(7)
    for count in (1, 5, 40):
        scores = {place: chance.choice((0.5, 1.0, 1.5)) for place in chance.sample(range(100), 40)}
        whole = sorted(scores, key=lambda place: (scores[place], place), reverse=True)
        assert set(largest(scores, count)) == set(whole[:count])


_SEEDED = """
import asyncio
from flowcabal_tui.agents.checking.evidence.search import evidence_for
from flowcabal_tui.agents.context.gather import read_book
from tests.agents.test_evidence import LAMP, SCAR, book
async def main():
    seen = await read_book(book((3, SCAR), (5, LAMP)).before(11))
    print([(each.position, each.start, each.draft, each.score) for each in await evidence_for(seen, SCAR + LAMP)])
asyncio.run(main())
"""


def test_the_same_is_found_whatever_the_hash_seed() -> None:
    found = set()
    for seed in ("1", "2", "3"):
        ended = subprocess.run(
            [sys.executable, "-c", _SEEDED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(ended.stdout)
    assert len(found) == 1

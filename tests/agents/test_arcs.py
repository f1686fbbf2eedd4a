"""Arcs: how a book falls into them, and how they are told from the sentences of its chapters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flowcabal_tui.agents.arcs import arcs_of
from flowcabal_tui.agents.curation.arc_summariser import ArcGoal, ArcSummariser
from flowcabal_tui.agents.curation.curator import L0_TOKENS, Curator
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Derived, Evidence
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, person

LIN = person("林远")


def chapters(*volumes: str) -> list[Chapter]:
    return [Chapter(ChapterId(f"c{n}"), n, f"{n}", volume, version=1) for n, volume in enumerate(volumes, start=1)]


def test_volumes_are_arcs_and_the_last_one_is_open() -> None:
    first, second = arcs_of(chapters("卷一", "", "卷一", "卷二", "卷二"))
    assert (first.volume, len(first.chapters), first.closed) == ("卷一", 3, True)
    assert (second.volume, len(second.chapters), second.closed) == ("卷二", 2, False)
    assert first.title("zh") == "卷一 (第1—3章)"
    assert first.uri != second.uri


def test_without_volumes_thirty_chapters_are_an_arc_and_growing_changes_no_earlier_one() -> None:
    before, after = arcs_of(chapters(*[""] * 65)), arcs_of(chapters(*[""] * 66))
    assert [len(arc.chapters) for arc in before] == [30, 30, 5]
    assert [arc.closed for arc in before] == [True, True, False]
    assert before[:2] == after[:2]
    assert [arc.id for arc in before] == [arc.id for arc in after]


def test_a_long_volume_is_cut_and_a_name_that_returns_is_another_arc() -> None:
    arcs = arcs_of(chapters(*["卷一"] * 40, "卷二", "卷一"))
    assert [len(arc.chapters) for arc in arcs] == [30, 10, 1, 1]
    assert len({arc.id for arc in arcs}) == 4


def test_an_arc_is_told_every_ten_chapters_and_at_its_end() -> None:
    long, short = arcs_of(chapters(*["甲"] * 23, "乙", "乙"))
    assert [len(part) for part in long.parts()] == [10, 20, 23]
    assert short.parts() == ()
    (whole,) = arcs_of(chapters(*[""] * 30))
    assert [len(part) for part in whole.parts()] == [10, 20, 30]


def novel(n: int) -> FakeBook:
    """Chapters of two sentences, the first of which the L1 rests on, in other words."""
    state = FakeBook([(f"第{at}章", f"林远在第{at}天出发。天黑了{at}次。") for at in range(1, n + 1)], (LIN,))
    for at, (_title, text) in enumerate(state.texts, start=1):
        evidence = (Evidence(f"总结{at}", ChapterId(f"c{at}"), 0, text.index("。")),)
        state.derived.append(
            Derived(f"manuscript/c{at}", "L1", f"总结{at}", Digest(f"{at}"), at, Generation(1), "model", evidence)
        )
    return state


def goal(state: FakeBook, last: int, **more: Any) -> ArcGoal:
    below = tuple(f"manuscript/c{at}" for at in range(1, last + 1))
    return ArcGoal("summaries/arcs/part-1", "", below, state.before(last + 1), last, **more)


def teller(model: FakeModel | None = None) -> ArcSummariser:
    paid = PaidOnce(model, FakeAnswers()) if model else None
    return ArcSummariser(Curator((lambda: paid) if paid else None, FakeTokens()))


async def test_an_arc_is_told_from_the_books_own_sentences_and_never_from_summaries() -> None:
    model = FakeModel(
        lambda request: {
            "summary": "林远一路向北。",
            "sentences": [
                {"sentence": "林远出发。", "source_id": "s2", "quote": "林远在第2天出发"},
                {"sentence": "总结3", "source_id": "s3", "quote": "总结3"},
            ],
        }
    )
    state = novel(3)
    large, small = await teller(model).pursue(goal(state, 3))
    asked = model.requests[0].messages[1].content
    assert "林远在第1天出发。" in asked
    assert "总结" not in asked
    assert (large.text, small.text, large.position) == ("林远出发。", "林远一路向北。", 3)
    (rests,) = large.evidence
    assert state.texts[1][1][rests.start : rests.end] == "林远在第2天出发"


async def test_sentences_of_one_chapter_are_pieces_of_one_source_and_each_can_be_quoted() -> None:
    quotes = ("林远在第1天出发", "天黑了1次", "林远在第2天出发")
    said = [{"sentence": f"{each}。", "source_id": "s1", "quote": each} for each in quotes]
    model = FakeModel(lambda request: {"summary": "", "sentences": said})
    state = novel(2)
    text = state.texts[0][1]
    both = tuple(
        Evidence("总结1", ChapterId("c1"), start, end) for start, end in ((0, text.index("。")), (11, len(text)))
    )
    state.derived[0] = replace(state.derived[0], evidence=both)
    large, _small = await teller(model).pursue(goal(state, 2))
    asked = model.requests[0].messages[1].content
    assert (
        asked.count("<source id=") == 2
        and '<source id="s1" title="第1章">林远在第1天出发。\n…\n天黑了1次。</source>' in asked
    )
    assert [
        (each.chapter, state.texts[int(each.chapter[1:]) - 1][1][each.start : each.end]) for each in large.evidence
    ] == [
        (ChapterId("c1"), quotes[0]),
        (ChapterId("c1"), quotes[1]),
        (ChapterId("c2"), quotes[2]),
    ]


async def test_an_arc_is_asked_about_with_the_names_of_its_time() -> None:
    model = FakeModel(lambda request: {"summary": "", "sentences": []})
    state = novel(3)
    state.texts.append(("第4章", "林远就是蒙面人。"))
    state.people = (replace(person("林远", "蒙面人", "远在"), by="agent"),)
    await teller(model).pursue(goal(state, 3))
    asked = model.requests[0].messages[1].content
    assert "林远 | 远在" in asked and "蒙面人" not in asked


async def test_without_a_model_an_arc_is_told_by_sentences_of_all_its_parts_that_name_most() -> None:
    state = novel(30)
    state.people = (LIN, person("沈青"))
    state.texts[13] = ("第14章", "林远在渡口遇见沈青。天黑了14次。")
    large, small = await teller().pursue(goal(state, 30))
    assert large.method == "extract"
    told = [int(each.chapter[1:]) for each in large.evidence]
    assert [(n - 1) // 3 for n in told] == list(range(10))
    assert 14 in told
    assert small.text == "林远在渡口遇见沈青。"
    assert FakeTokens().count(small.text) <= L0_TOKENS


async def test_every_chapter_of_a_long_arc_has_a_sentence_before_any_has_a_second() -> None:
    texts = [
        (f"{at}", f"林远在第{at:02}天出发{'，走了很远的路' * 5}。第{at:02}天的夜里下了雨{'，一直没有停' * 5}。")
        for at in range(1, 31)
    ]
    derived = [
        Derived(
            f"manuscript/c{at}", "L1", "…", Digest(f"{at}"), at, Generation(1), "extract",
            tuple(Evidence("…", ChapterId(f"c{at}"), start, start + 5) for start in (0, text.index("。") + 1)),
        )
        for at, (_title, text) in enumerate(texts, start=1)
    ]  # fmt: skip
    seen = await teller().observe(goal(FakeBook(texts, (LIN,), derived=derived), 30))
    first = [each for each in seen.sources if "出发" in each.text]
    assert len(first) == 30 and 30 < len(seen.sources) < 60
    assert sum(FakeTokens().count(each.text) for each in seen.sources) + 11 * 30 <= 2_200


async def test_what_was_told_of_the_beginning_of_an_arc_takes_the_place_of_its_chapters() -> None:
    state = novel(12)
    told = tuple(Evidence("…", ChapterId(f"c{at}"), 0, 5) for at in (2, 7))
    earlier = Derived("summaries/arcs/part-1", "L1", "…", Digest("1"), 10, Generation(1), "model", told)
    whole = await teller().observe(goal(state, 12))
    seen = await teller().observe(goal(state, 12, earlier=earlier))
    assert [each.text for each in seen.sources] == [f"林远在第{at}天出发。" for at in (2, 7, 11, 12)]
    assert len(whole.sources) == 12 and seen.source == whole.source, "it is the same arc, of the same sentences"


async def test_the_work_is_told_from_the_evidence_of_its_arcs() -> None:
    state = novel(20)
    for first, name in ((1, "part-1"), (11, "part-2")):
        below = tuple(f"manuscript/c{at}" for at in range(first, first + 10))
        arc = ArcGoal(f"summaries/arcs/{name}", "", below, state.before(21), first + 9)
        state.derived += await teller().pursue(arc)
    work = ArcGoal("summaries/work", "", ("summaries/arcs/part-1", "summaries/arcs/part-2"), state.before(21), 20)
    large, _small = await teller().pursue(work)
    assert {int(each.chapter[1:]) > 10 for each in large.evidence} == {True, False}
    assert all("林远在第" in each.sentence for each in large.evidence)


async def test_an_arc_waits_for_the_summaries_of_its_chapters_and_changes_with_their_text() -> None:
    state = novel(3)
    source = await teller().source(goal(state, 3))
    changed = novel(3)
    changed.texts[1] = ("第2章", "林远在第2天回来。天黑了2次。")
    assert source != await teller().source(goal(changed, 3))
    changed.texts[1] = ("第2章", "林远在第2天出发。天亮了。")
    assert source == await teller().source(goal(changed, 3)), "what changed is not what the summary rests on"
    state.derived.pop()
    assert await teller().source(goal(state, 3)) == ""
    assert await teller().pursue(goal(state, 3)) == ()

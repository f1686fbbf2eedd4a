"""Profiles of all kinds: from passages, with evidence, as of a chapter."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from flowcabal_tui.agents.curation.curator import L0_TOKENS, Curator
from flowcabal_tui.agents.curation.profile_sources import ProfileGoal, evenly, whole_evidence
from flowcabal_tui.agents.curation.profiler import Profiler
from flowcabal_tui.agents.curation.samples import is_fresh
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.memory import Derived, Entity, Evidence
from flowcabal_tui.domain.story import Fact, RecordId, Story
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, person

TEXT = (
    "清晨，林远到了白鹭渡。老周正在补船，见他来，放下了锤子。\n\n"
    "“铜铃你收好。”老周说，“北城的人也在找它。”林远把铜铃藏进怀里。\n\n"
    "午后下起了雨。沈青从山上下来，说桥已经断了。三人商量到天黑，决定明日坐船去北城。"
)
LIN = person("林远")
SHEN = person("沈青")
ANSWER = {
    "summary": "林远，带着铜铃的旅人。",
    "sentences": [
        {"sentence": "林远拿着铜铃。", "source_id": "s1", "quote": "林远把铜铃藏进怀里"},
        {"sentence": "林远会飞。", "source_id": "s1", "quote": "林远飞过了山"},
    ],
}


def book(*texts: str) -> FakeBook:
    return FakeBook([(f"第{n}章", text) for n, text in enumerate(texts, start=1)], (LIN, SHEN), passage_size=40)


def profiler(reply: Any = None, model: FakeModel | None = None) -> Profiler:
    paid = PaidOnce(model or FakeModel(lambda request: reply), FakeAnswers())
    return Profiler(Curator(lambda: paid, FakeTokens()))


def by_rule() -> Profiler:
    return Profiler(Curator(None, FakeTokens()))


def goal(state: FakeBook, chapter: int, entity: Entity | None = LIN, kind: str = "characters", **more: Any) -> Any:
    at = state.chapters()[chapter - 1]
    return ProfileGoal(ProfileKinds().get(kind), entity, state.before(chapter + 1), at, **more)


async def test_a_profile_is_made_from_passages_that_name_its_subject() -> None:
    model = FakeModel(lambda request: ANSWER)
    state = book("很久以前，林远离开了北城，谁也没有告诉。", TEXT + "\n雨下了一夜。" * 20)
    large, small = await profiler(model=model).pursue(goal(state, 2))
    assert (large.uri, large.level, large.position) == ("profiles/characters/e-林远", "L1", 2)
    assert large.text == "林远拿着铜铃。"
    assert small.text == "林远，带着铜铃的旅人。"
    assert TEXT[large.evidence[0].start : large.evidence[0].end] == "林远把铜铃藏进怀里"
    system, asked = [message.content for message in model.requests[0].messages]
    assert "离开了北城" in asked
    assert "雨下了一夜。\n雨下了一夜。\n雨下了一夜。" not in asked
    assert ProfileKinds().get("characters").prompt("zh").strip() in system


async def test_the_next_profile_starts_from_the_last_one_and_its_evidence() -> None:
    model = FakeModel(lambda request: ANSWER)
    state = book(TEXT, "林远在船上睡着了。", "沈青把船靠岸。林远醒了。")
    maker = profiler(model=model)
    state.derived += await maker.pursue(goal(state, 1))
    await maker.pursue(goal(state, 3))
    asked = model.requests[-1].messages[1].content
    assert "<previous>\n林远拿着铜铃。\n</previous>" in asked
    assert "林远把铜铃藏进怀里" in asked
    assert "林远醒了" in asked


async def test_a_hands_words_of_the_same_chapter_are_what_the_next_answer_starts_from() -> None:
    model = FakeModel(lambda request: ANSWER)
    state = book(TEXT)
    state.derived.append(
        Derived("profiles/characters/e-林远", "L1", "林远怕水。", Digest("x"), 1, state.before(2).generation, "hand")
    )
    await profiler(model=model).pursue(goal(state, 1))
    assert "<previous>\n林远怕水。\n</previous>" in model.requests[-1].messages[1].content


async def test_a_profile_is_fresh_while_its_sources_are_the_same() -> None:
    maker = profiler(ANSWER)
    state = book(TEXT, "沈青与林远上了船。林远睡了。")
    for chapter in (1, 2):
        made = await maker.pursue(goal(state, chapter))
        state.derived += made
        source = await maker.source(goal(state, chapter))
        assert all(is_fresh(each, source) for each in made)
    changed = book(TEXT.replace("藏进怀里", "扔进河里"))
    assert not is_fresh(state.derived[0], await maker.source(goal(changed, 1)))


async def test_a_further_answer_is_paid_for_and_is_fresh_for_the_same_source() -> None:
    model = FakeModel(lambda request: ANSWER)
    maker = profiler(model=model)
    state = book(TEXT)
    for sample in (0, 1, 1):
        made = await maker.pursue(goal(state, 1, sample=sample))
    assert len(model.requests) == 2
    source = await maker.source(goal(state, 1))
    assert is_fresh(made[0], source)
    assert is_fresh(made[0], source, 1)
    assert not is_fresh(made[0], source, 2)


async def test_a_profile_without_evidence_is_made_of_sentences_that_name_its_subject() -> None:
    made = await profiler({"summary": "x", "sentences": []}).pursue(goal(book(TEXT), 1))
    assert made[0].method == "extract"
    assert "林远把铜铃藏进怀里。" in made[0].text
    assert all("林远" in each.sentence for each in made[0].evidence)
    assert await profiler(ANSWER).pursue(goal(book("没有人。"), 1, SHEN)) == ()


async def test_an_emotional_arc_prefers_sentences_with_feelings_and_spreads_over_the_story() -> None:
    texts = [f"林远走过第{n}条街。林远在门口哭了{n}次。" for n in range(1, 31)]
    large, small = await by_rule().pursue(goal(book(*texts), 30, kind="emotional-arcs"))
    assert large.uri == "profiles/emotional-arcs/e-林远"
    assert all("哭" in each.sentence for each in large.evidence)
    told = [int(each.chapter[1:]) for each in large.evidence]
    assert told == sorted(told)
    assert told[0] == 1
    assert told[-1] == 30
    assert max(after - before for before, after in pairwise(told)) <= 6
    assert FakeTokens().count(small.text) <= L0_TOKENS


async def test_the_state_of_the_world_is_found_by_words_and_by_names_of_places() -> None:
    harbour = person("白鹭渡", kind="location")
    state = FakeBook(
        [("一", "大旱三年，王下令禁酒。"), ("二", "有人吃饭。"), ("三", "他笑了。\n\n白鹭渡封了。")],
        (LIN, harbour),
        passage_size=5,
    )
    large, _small = await by_rule().pursue(goal(state, 3, None, "world-state"))
    assert large.uri == "profiles/world-state/book"
    assert [each.sentence for each in large.evidence] == ["大旱三年，王下令禁酒。"]
    seen = await by_rule().observe(goal(state, 3, None, "world-state"))
    assert [each.text.strip() for each in seen.sources] == ["大旱三年，王下令禁酒。", "白鹭渡封了。"]


async def test_a_chapter_without_a_kinds_words_gives_its_beginning_middle_and_end() -> None:
    state = FakeBook([("一", "".join(f"甲乙丙丁{n}。" for n in range(9)))], (LIN,), passage_size=6)
    seen = await by_rule().observe(goal(state, 1, None, "style"))
    assert [each.text for each in seen.sources] == ["甲乙丙丁0。", "甲乙丙丁4。", "甲乙丙丁8。"]


async def test_the_passages_of_a_profile_stay_within_its_tokens() -> None:
    state = FakeBook([("一", "林远说了很多很多的话。" * 600)], (LIN,), passage_size=100)
    seen = await by_rule().observe(goal(state, 1))
    used = sum(FakeTokens().count(each.text) for each in seen.sources)
    assert 500 < used <= ProfileKinds().get("characters").settings.tokens


async def test_the_whole_evidence_is_read_from_every_chapter_that_names_the_subject_and_none_after() -> None:
    state = book("林远来了。沈青没来。", "只有沈青。", "林远走了。林远又来了。林远留下了。", "林远死了。")
    told = await whole_evidence(goal(state, 3))
    assert [each.sentence for each in told] == ["林远来了。", "林远走了。", "林远又来了。"]
    texts = {f"c{n}": text for n, (_title, text) in enumerate(state.texts, start=1)}
    assert all(texts[each.chapter][each.start : each.end] == each.sentence for each in told)


def test_an_even_spread_keeps_both_ends() -> None:
    assert evenly(range(10), 4) == [0, 3, 6, 9]
    assert evenly(range(3), 5) == [0, 1, 2]
    assert evenly(range(3), 1) == [2]


async def test_a_plot_thread_without_a_name_in_the_text_is_told_from_what_the_reading_quotes() -> None:
    thread, chapter = person("失铃案", kind="plot-thread"), ChapterId("c1")
    quote = "林远把铜铃藏进怀里。"
    at = TEXT.index(quote)
    fact = Fact(
        RecordId("f"), "铃在林远手里。", (thread.id,), evidence=(Evidence(quote, chapter, at, at + len(quote)),)
    )
    state = replace(book(TEXT), people=(LIN, thread), story=Story(facts=(fact,)))
    wanted = goal(state, 1, thread, "plot-threads")
    large, _small = await by_rule().pursue(wanted)
    assert large.text.endswith(quote) and "老周" not in large.text
    model = FakeModel(lambda request: ANSWER)
    await profiler(model=model).pursue(wanted)
    assert quote in model.requests[0].messages[1].content
    assert await by_rule().pursue(goal(replace(state, story=Story()), 1, thread, "plot-threads")) == ()

"""The profiles of one chapter, asked for together."""

from __future__ import annotations

import re
from typing import Any

import pytest

from flowcabal_tui.agents.arcs import WORK
from flowcabal_tui.agents.curation.arc_summariser import ArcGoal, ArcSummariser
from flowcabal_tui.agents.curation.chapter_profiles import TASK, states_together
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.curation.profile_sources import ProfileGoal
from flowcabal_tui.agents.curation.profiler import Profiler
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.memory import Derived, Evidence
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, person

LIN, SHEN = person("林远"), person("沈青")
EARLIER = "很久以前，林远和沈青离开了北城，谁也没有告诉。"
TEXT = "清晨，林远到了白鹭渡，把铜铃藏进怀里。\n\n午后下起了雨。沈青从山上下来，说桥已经断了。"
BOOK = FakeBook([("第1章", EARLIER), ("第2章", TEXT)], (LIN, SHEN))
LINES = [
    {"profile": "p1", "sentence": "林远有铜铃。", "source_id": "chapter", "quote": "把铜铃藏进怀里"},
    {"profile": "p2", "sentence": "沈青知道桥断了。", "source_id": "chapter", "quote": "说桥已经断了"},
    {"profile": "p2", "sentence": "沈青离开了北城。", "source_id": "s1", "quote": "离开了北城"},
]
ANSWER = {"lines": LINES, "summaries": [{"profile": "p1", "summary": "林远，带着铜铃。"}]}


def model_of(reply: Any, endpoint: Endpoint | None = None) -> FakeModel:
    return FakeModel(lambda request: reply, endpoint)


async def told(
    model: FakeModel, answers: FakeAnswers | None = None, *, spend: bool = True, book: FakeBook = BOOK, arcs: int = 0
) -> Any:
    """What is told of both in the last chapter, and of so many arcs that end there."""
    paid = PaidOnce(model, answers or FakeAnswers())
    curator = Curator(lambda: paid, FakeTokens())
    goals = [
        ProfileGoal(ProfileKinds().get("characters"), each, book.before(len(book.chapters()) + 1), book.chapters()[-1])
        for each in (LIN, SHEN)
    ]
    due = [(goal, await Profiler(curator).observe(goal)) for goal in goals]
    below = tuple(f"manuscript/{each.id}" for each in book.chapters())
    view = book.before(len(below) + 1)
    found = [ArcGoal(uri, "", below, view, len(below)) for uri in ("summaries/arcs/part-1", WORK)[:arcs]]
    ending = [(goal, await ArcSummariser(curator).observe(goal)) for goal in found]
    return await states_together(curator, due, TEXT, ending, spend=spend)


async def test_each_profile_has_its_own_lines_with_their_places_in_the_chapter_and_before_it() -> None:
    found = await told(model_of(ANSWER))
    lin, shen = found["profiles/characters/e-林远"], found["profiles/characters/e-沈青"]
    assert (lin.summary, lin.text) == ("林远，带着铜铃。", "林远有铜铃。")
    assert shen.text == "沈青知道桥断了。\n沈青离开了北城。"
    first, second = BOOK.chapters()
    places = {
        each.chapter: (EARLIER if each.chapter == first.id else TEXT)[each.start : each.end] for each in shen.evidence
    }
    assert places == {second.id: "说桥已经断了", first.id: "离开了北城"}


async def test_the_chapter_comes_first_and_once_and_an_earlier_passage_of_both_once() -> None:
    model = model_of(ANSWER)
    await told(model)
    (request,) = model.requests
    asked = request.messages[1].content
    assert asked.startswith('<language>zh</language>\n<chapter title="第2章"></chapter>\n<draft>\n清晨')
    assert (asked.count("把铜铃藏进怀里"), asked.count("离开了北城")) == (1, 1)
    assert request.purpose == TASK
    assert asked.count(ProfileKinds().get("characters").prompt("zh").strip()) == 1
    assert "- `p1`, `p2`: " in asked


async def test_the_earlier_passages_stand_in_story_order_under_their_chapters() -> None:
    earlier = [("渡口", "沈青在渡口等船。"), ("山路", "林远一个人走山路。"), ("客栈", "沈青在客栈里住下。")]
    model = model_of(ANSWER)
    await told(model, book=FakeBook([*earlier, ("桥断", TEXT)], (LIN, SHEN)))
    asked = model.requests[0].messages[1].content
    assert re.findall(r"<source ([^>]*)>", asked) == ['id="s1"', 'id="s2"', 'id="s3"']


async def test_the_id_of_a_passage_has_the_number_of_its_chapter_and_no_title_is_sent_besides() -> None:
    earlier = [("渡口", "河水慢慢地流。"), ("山路", "林远一个人走山路。"), ("桥", "河水涨了。")]
    line = {"profile": "p1", "sentence": "他独行。", "source_id": "s2", "quote": "林远一个人走山路"}
    model = model_of({"lines": [line], "summaries": []})
    found = await told(model, book=FakeBook([*earlier, ("桥断", TEXT)], (LIN, SHEN)))
    asked = model.requests[0].messages[1].content
    assert '<source id="s2">林远一个人走山路。</source>' in asked and "山路</source>" not in asked
    assert [each.chapter for each in found["profiles/characters/e-林远"].evidence] == ["c2"]


def rested(name: str, words: str, start: int) -> Derived:
    """A profile as of the first chapter that rests on these words there."""
    evidence = (Evidence(words, ChapterId("c1"), start, start + len(words)),)
    uri = f"profiles/characters/e-{name}"
    return Derived(uri, "L1", words, Digest("1"), 1, Generation(1), "model", evidence)


async def test_passages_of_one_chapter_are_pieces_of_one_source() -> None:
    first, last = "沈青在渡口等船。", "林远一个人走山路。"
    earlier = "\n\n".join((first, "河水慢慢地流。" * 400, last))
    known = [rested(name, words, earlier.index(words)) for name, words in (("沈青", first), ("林远", last))]
    model = model_of(
        ANSWER | {"lines": [{"profile": "p1", "sentence": "他独行。", "source_id": "s1", "quote": "林远一个人走山路"}]}
    )
    found = await told(model, book=FakeBook([("渡口", earlier), ("第2章", TEXT)], (LIN, SHEN), derived=known))
    asked = model.requests[0].messages[1].content
    (source,) = re.findall(r"<source [^>]*>.*?</source>", asked, re.DOTALL)
    assert source.startswith('<source id="s1">沈青在渡口等船。') and "\n…\n" in source
    (rests,) = found["profiles/characters/e-林远"].evidence
    assert earlier[rests.start : rests.end] == "林远一个人走山路"


def overview(number: int, text: str, quote: str) -> Derived:
    start = text.index(quote)
    rests = (Evidence(quote, ChapterId(f"c{number}"), start, start + len(quote)),)
    return Derived(
        f"manuscript/c{number}", "L1", quote, Digest(f"{number}"), number, Generation(1), "model", evidence=rests
    )


async def test_an_arc_that_ends_with_the_chapter_has_state_in_the_same_question_from_the_earlier_chapters() -> None:
    far = "春天，有人在南坡种下了一棵梨树。"
    texts = [("第1章", far), ("第2章", EARLIER), ("第3章", TEXT)]
    quotes = ("种下了一棵梨树", "离开了北城", "午后下起了雨")
    levels = [
        overview(n, text, quote) for n, ((_title, text), quote) in enumerate(zip(texts, quotes, strict=True), start=1)
    ]
    lines = [
        {"profile": profile, "sentence": "有人种梨树。", "source_id": "s1", "quote": "种下了一棵梨树"}
        for profile in ("p3", "p4")
    ]
    model = model_of({"lines": [LINES[0], *lines], "summaries": []})
    found = await told(model, book=FakeBook(texts, (LIN, SHEN), derived=levels), arcs=2)
    assert found["summaries/arcs/part-1"].text == found[WORK].text == "有人种梨树。"
    assert found[WORK].evidence[0].chapter == "c1"
    (request,) = model.requests
    asked = request.messages[1].content
    assert [asked.count(each) for each in (far, EARLIER, "午后下起了雨")] == [1, 1, 1], "each once"
    assert "- `p3`, `p4`: Not a profile, but a summary of an arc" in asked
    assert '<profile id="p3" kind="arc"></profile>\n<profile id="p4" kind="work"></profile>' in asked


async def test_the_newest_passages_stand_beside_the_chapter_and_all_that_a_profile_rests_on() -> None:
    rest = "很久以前，林远在渡口捡到一只铜铃。"
    texts = [("1", rest), *((f"{n}", f"第{n}天，林远走了路。{'山路很长。' * 60}") for n in range(2, 9)), ("9", TEXT)]
    known = rested("林远", rest, 0)
    model = model_of(ANSWER)
    await told(model, book=FakeBook(texts, (LIN, SHEN), derived=[known]))
    asked = model.requests[0].messages[1].content
    numbers = [int(each) for each in re.findall(r'<source id="s(\d+)">', asked)]
    assert numbers[0] == 1 and numbers[-1] == 8 and len(numbers) < 6, "what it rests on, and the newest"
    assert rest in asked


async def test_no_space_around_a_passage_is_sent() -> None:
    model = model_of(ANSWER)
    await told(model, book=FakeBook([("渡口", f"\n\n{EARLIER}\n\n\n"), ("桥断", TEXT)], (LIN, SHEN)))
    assert f">{EARLIER}</source>" in model.requests[0].messages[1].content


async def test_a_profile_without_a_line_that_the_texts_bear_is_left_out() -> None:
    found = await told(model_of({"lines": [LINES[0], LINES[1] | {"quote": "桥没有断"}]}))
    assert [*found] == ["profiles/characters/e-林远"]


@pytest.mark.parametrize("fault", [ModelFault.SCHEMA, ModelFault.CONTEXT_LENGTH])
async def test_an_answer_that_cannot_be_read_leaves_out_all(fault: ModelFault) -> None:
    assert await told(model_of(ModelError(fault, "no"))) == {}


async def test_another_failure_is_raised() -> None:
    with pytest.raises(ModelError):
        await told(model_of(ModelError(ModelFault.RATE_LIMIT, "no")))


async def test_a_question_that_does_not_fit_the_window_is_not_asked() -> None:
    model = model_of(ANSWER, Endpoint(provider="openai", model="small", context_window=900))
    assert await told(model) == {}
    assert model.requests == []


async def test_without_spending_only_an_answer_that_was_paid_for_is_read() -> None:
    model, answers = model_of(ANSWER), FakeAnswers()
    assert await told(model, answers, spend=False) == {}
    assert model.requests == []
    paid = await told(model, answers)
    assert await told(model, answers, spend=False) == paid
    assert len(model.requests) == 1

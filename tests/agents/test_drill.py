"""Chapters that are opened because their L0 or L1 speaks of what the prompt asks for."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.agents.context import drill
from flowcabal_tui.agents.context.intent import read_intent
from flowcabal_tui.agents.context.relevance import _LED
from flowcabal_tui.domain.context import ContextSource, Injection
from flowcabal_tui.domain.ids import ChapterId
from tests.agents.fakes import FakeBook, person
from tests.agents.test_context import assemble, derived

CAST = (person("林远"), person("沈青"), person("老周"))
FILLER = "天色已晚，众人散去，各自安歇。"
LENGTH = 30


def make_book(*told: tuple[int, str, str]) -> FakeBook:
    """Chapters 4 to 23 name 老周 three times; `told` are chapters with their L0 and L1, others have none."""
    texts = [f"{'老周来了。' * (3 if 4 <= n < 24 else 0)}{FILLER * 20}" for n in range(1, LENGTH + 1)]
    texts[1] = f"{FILLER * 10}船夫把铜牌藏进井里。{FILLER * 10}"
    said = {n: (line, overview) for n, line, overview in told}
    states = []
    for n in range(1, LENGTH + 1):
        line, overview = said.get(n, (f"林远走了{n}里。", f"林远走了{n}里，天黑了。"))
        states += [derived(f"manuscript/c{n}", "L0", line, n), derived(f"manuscript/c{n}", "L1", overview, n)]
    return FakeBook([(f"第{n}章", text) for n, text in enumerate(texts, 1)], CAST, (), states, passage_size=60)


async def asked(book: FakeBook, prompt: str = "老周的一场戏。") -> Injection:
    return await assemble(book, prompt, 8_000, at=LENGTH)


def of_summaries(injection: Injection) -> dict[str, ContextSource]:
    return {each.uri: each for each in injection.receipt.sources if each.reason.startswith("opened from its ")}


async def test_a_chapter_whose_text_never_has_the_name_is_opened_from_its_overview() -> None:
    book = make_book((2, "铜牌藏在井里。", "老周把铜牌藏进井里。"))
    (source,) = of_summaries(await asked(book)).values()
    assert (source.uri, source.level, source.budget_class) == ("manuscript/c2", "L2", "far")
    assert source.reason == "opened from its overview: 老周"
    assert "船夫把铜牌藏进井里" in book.texts[1][1][source.start : source.end], "the passage that its overview tells of"


async def test_the_receipt_says_when_the_line_chose_it() -> None:
    book = make_book((2, "老周藏铜牌。", "老周把铜牌藏进井里。"))
    assert of_summaries(await asked(book))["manuscript/c2"].reason == "opened from its line: 老周"


async def test_what_was_opened_stands_behind_the_leading_passages_and_before_the_others() -> None:
    injection = await asked(make_book((2, "", "老周把铜牌藏进井里。")))
    far = sorted((each for each in injection.receipt.sources if each.budget_class == "far"), key=lambda each: each.rank)
    (opened,) = of_summaries(injection).values()
    assert far.index(opened) == _LED
    assert len(far) > _LED + 1


async def test_without_such_a_summary_nothing_is_said_to_be_opened() -> None:
    injection = await asked(make_book())
    assert not of_summaries(injection)
    assert len({each.uri for each in injection.receipt.sources if each.budget_class == "far"}) > _LED


async def test_a_leading_chapter_and_a_near_one_are_not_said_to_be_opened() -> None:
    leading = {f"c{n}" for n in range(4, 24)}
    book = make_book((28, "", "老周渡河。"), *((n, "", "老周来了。") for n in range(4, 24)))
    assert {uri.removeprefix("manuscript/") for uri in of_summaries(await asked(book))} < leading
    assert len(of_summaries(await asked(book))) == drill.OPENED


async def test_the_best_three_are_opened() -> None:
    book = make_book(*((n, "", f"{'沈青与' if n == 25 else ''}老周在河边。") for n in (1, 2, 3, 24, 25)))
    found = of_summaries(await asked(book, "老周与沈青的一场戏。"))
    assert len(found) == drill.OPENED
    assert found["manuscript/c25"].reason == "opened from its overview: 沈青, 老周"


async def test_a_chapter_without_words_has_nothing_to_open() -> None:
    book = make_book((2, "", "老周把铜牌藏进井里。"))
    book.texts[1] = (book.texts[1][0], "")
    assert not of_summaries(await asked(replace(book)))


async def test_a_later_chapter_is_never_opened() -> None:
    book = make_book((25, "", "老周把铜牌藏进井里。"))
    injection = await assemble(book, "老周的一场戏。", 8_000, at=20)
    assert not of_summaries(injection)


def test_one_word_opens_nothing_and_two_do() -> None:
    reading = read_intent("铜牌与井", "", (), "zh")
    told = [drill.Summary(ChapterId(f"c{n}"), n, "", "天黑了。") for n in range(1, 9)]
    told[2] = replace(told[2], overview="铜牌碎了。")
    assert drill.opened(told, reading, 20) == ()
    told[4] = replace(told[4], overview="铜牌沉在井边，渡船来了。")
    found = drill.opened(told, read_intent("铜牌，渡船。", "", (), "zh"), 20)
    assert [(each.chapter, each.found) for each in found] == [("c5", ("渡船", "铜牌"))]


def test_the_number_of_summaries_that_are_read_has_a_bound() -> None:
    chapters = FakeBook([(f"{n}", "") for n in range(1_000)]).chapters()
    looked = drill.looked_at(chapters, [ChapterId("c700"), ChapterId("c8")], [ChapterId("c700"), ChapterId("c1000")])
    assert len(looked) == drill.LOOKED_AT
    assert looked[:2] == ["c8", "c999"]

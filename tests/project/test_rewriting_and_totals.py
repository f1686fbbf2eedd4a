"""A passage is proposed whole or not at all; what was spent adds up without reading it all again."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import Usage, UsageRecord
from flowcabal_tui.project.services.surroundings import AROUND, around_passage
from flowcabal_tui.protocol.book import RewriteProposed, RewriteSelection
from flowcabal_tui.store import Store
from tests.faultserver import FaultServer
from tests.project.case import both, change, endpoint, make_one, opened
from tests.runner.fakes import NOON


async def test_a_rewriting_that_was_cut_off_is_not_proposed(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        asked = RewriteSelection(await case.chapter(1), 0, 9, "It rained.", "Shorter.")
        server.push({"content": "It", "finish": "length"})
        with pytest.raises(ModelError, match="length limit"):
            await case.project.carry_out(asked)
        assert case.told(RewriteProposed) == []
        server.push({"content": "Rain."})
        await case.project.carry_out(asked)
        assert [proposed.after for proposed in case.told(RewriteProposed)] == ["Rain."]


CALLS = (
    UsageRecord("user", "m", "node:a", Usage(100, 20), 90, Decimal("0.10"), "USD"),
    UsageRecord("user", "m", "node:a", Usage(None, None), 90, Decimal("0.20"), "USD"),
    UsageRecord("agent", "n", "curator.l1", Usage(1, 1), 1, Decimal("3"), "CNY"),
    UsageRecord("agent", "n", "curator.l1", Usage(1, 1), 1, Decimal("3"), "CNY"),
    UsageRecord("user", "m", "node:a", Usage(1, 1), 1, None, "USD"),
)


@pytest.mark.parametrize("order", [CALLS, CALLS[::-1], CALLS[:2], CALLS[4:], CALLS[2:4]])
async def test_totals_added_call_by_call_are_those_of_the_store(tmp_path: Path, order: tuple[UsageRecord, ...]) -> None:
    store = await Store.open(tmp_path, clock=lambda: NOON, language="en")
    totals = Totals()
    for call in order:
        await store.usage.add(call)
        totals = totals.plus(call)
        assert totals == await store.usage.totals()
    await store.close()


CHAPTER = "\n\n".join(f"Paragraph {number}: Mara Lind looked at the lamp and at the sea." for number in range(60))


def selected(words: str, **places: int) -> RewriteSelection:
    return RewriteSelection(ChapterId("c"), places.get("start", 0), places.get("end", 0), words, "Shorter.")


def test_the_text_around_a_passage_has_whole_lines_and_a_mark_in_its_place():
    words = "Paragraph 30: Mara Lind looked at the lamp and at the sea."
    around = around_passage(CHAPTER, selected(words))
    assert "[…]" in around and words not in around
    assert "Paragraph 29:" in around and "Paragraph 31:" in around
    assert all(not line or line == "[…]" or line.startswith("Paragraph") for line in around.splitlines())
    assert len(around) <= 2 * AROUND + 3
    assert around_passage(CHAPTER, selected("Not there.")) == "" == around_passage("Alone.", selected("Alone."))


def test_a_passage_that_stands_twice_is_the_one_at_its_place():
    text = "one\nsame\ntwo\nsame\nthree"
    assert around_passage(text, selected("same", start=13, end=17)) == "one\nsame\ntwo\n[…]\nthree"


async def test_a_rewriting_gets_the_text_around_it_names_style_and_facts(
    folder: Path, server: FaultServer, demos: dict[str, Path]
) -> None:
    shutil.copytree(demos["en"], folder)
    change(folder, "models", user=endpoint(server))
    server.push({"content": "Shorter."})
    async with opened(folder) as case:
        chapter = await case.chapter(3)
        text = await case.project.book.chapter_text(chapter)
        words = text[600:900]
        await case.project.carry_out(RewriteSelection(chapter, 600, 900, words, "Shorter."))
    (sent,) = [entry["body"] for entry in server.log if entry["path"].endswith("completions")]
    system, user = (message["content"] for message in sent["messages"])
    assert "Style guide" in system
    assert text[400:600].strip() in user and text[900:1000].strip() in user and "[…]" in user
    assert "Tobias Crane" in user.split("<style")[0], "the notes on those who are named"
    assert '<style label="The writer\'s style">' in user.replace("&#x27;", "'")
    assert user.index("<style") < user.index("<around") < user.index(words[:80])

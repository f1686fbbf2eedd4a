"""Imported chapters read by a model that takes money: quoted, capped, paused, gone on with, never paid twice."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.memory import BootstrapStatus
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.memory.bootstrap_plan import Price, quote
from flowcabal_tui.project.memory.bootstrap_words import quoted
from flowcabal_tui.protocol.book import ImportManuscript, WriteChapter
from flowcabal_tui.protocol.memory import BootstrapChanged, PauseBootstrap, StartBootstrap
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import CHAPTERS, Case, both, calls, change, endpoint, make, opened, write_chapters
from tests.waiting import until

PRICE = {"price_in": Decimal(1), "price_out": Decimal(2)}


async def imported(folder: Path, server: FaultServer, **model: Any) -> Path:
    """A project with three chapters that were read by rule."""
    await make(folder, both(endpoint(server, **model)))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "novel"))))
        await case.settled()
    return folder


async def ended(case: Case, state: str = "done") -> BootstrapStatus:
    return (await case.until(BootstrapChanged, lambda event: event.status.state == state)).status


def asked(server: FaultServer) -> Counter[str]:
    """How often each prompt was answered."""
    return Counter(
        json.dumps(entry["body"]["messages"]) for entry in server.log if entry["path"].endswith("completions")
    )


async def test_an_import_costs_nothing_and_a_reading_asks_as_often_as_was_quoted_at_most(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server, **PRICE)
    assert calls(server) == 0
    async with opened(folder) as case:
        assert await case.project.memory.bootstrap() is None
        quote = await case.project.memory.quote_bootstrap()
        assert quote.chapters == 3 and quote.cost is not None and quote.cost > 0
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
        assert (status.done, status.failed) == (status.total, 0)
        assert 9 <= calls(server) <= quote.calls
        assert status.spent.calls == calls(server)
        assert (status.spent.cost or 0) <= quote.cost
        assert max(asked(server).values()) == 1
        await case.settled()
        assert calls(server) == status.spent.calls, "nothing else was asked"


async def test_what_a_model_has_read_is_read_by_it_from_then_on(folder: Path, server: FaultServer) -> None:
    await imported(folder, server)
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap(last=2))
        await ended(case)
        read = await case.project.memory.quote_bootstrap()
        assert read.chapters == 1, "one chapter is left"
    async with opened(folder) as case:
        assert (await case.project.memory.quote_bootstrap()).chapters == 1
        with pytest.raises(RunError, match="All imported chapters"):
            await case.project.carry_out(StartBootstrap(last=2))


async def test_the_cap_stops_new_calls_and_a_higher_one_goes_on(folder: Path, server: FaultServer) -> None:
    await imported(folder, server, concurrency=1, **PRICE)
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap(max_cost=Decimal("0.000001")))
        status = await ended(case, "paused")
        assert calls(server) == 1 and "cap" in status.reason
        case.events.clear()
        await case.project.carry_out(StartBootstrap(max_cost=Decimal(9)))
        status = await ended(case)
        assert status.done == status.total
        assert max(asked(server).values()) == 1


async def test_a_cap_on_a_free_reading_is_no_reason_to_refuse_it(folder: Path, server: FaultServer) -> None:
    await imported(folder, server)
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap(max_cost=Decimal(1)))
        assert (await ended(case)).spent.cost == 0


async def test_a_cap_that_cannot_be_kept_is_refused(folder: Path, server: FaultServer) -> None:
    await imported(folder, server, price_in=Decimal(1))
    async with opened(folder) as case:
        with pytest.raises(RunError, match="price"):
            await case.project.carry_out(StartBootstrap(max_cost=Decimal(1)))
        assert calls(server) == 0


async def test_a_pause_lets_what_is_under_way_end_and_is_gone_on_with_by_the_next_process(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server)
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap())
        await case.until(BootstrapChanged, lambda event: event.status.done > 0)
        await case.project.carry_out(PauseBootstrap())
        paused = await ended(case, "paused")
        before = calls(server)
        assert paused.reason == "" and 0 < paused.done < paused.total
    async with opened(folder) as case:
        status = await case.project.memory.bootstrap()
        assert status is not None and (status.state, status.done) == ("paused", paused.done)
        assert (await case.project.memory.quote_bootstrap()).calls > 0
        await case.project.carry_out(StartBootstrap())
        await ended(case)
    assert calls(server) > before
    assert max(asked(server).values()) == 1


async def test_an_overview_that_could_not_be_read_is_not_asked_for_again_for_its_line(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server, concurrency=1)
    async with opened(folder) as case:
        server.push({}, {"content": "No.", "times": 3})  # the story, then the overview in each of the three modes
        server.push({"content": json.dumps({"sentence": "Ines Marlow waits for the ferry of Saltreach."})})
        await case.project.carry_out(StartBootstrap(last=1))
        status = await ended(case)
        assert status.failed == 1
        assert max(asked(server).values()) == 1
        (failed,) = await case.project.memory.background("failed")
        assert failed.kind == "l1"
        uri = f"manuscript/{await case.chapter(1)}"
        by_rule = await case.levels(uri)
        assert (by_rule["L1"].method, by_rule["L0"].method) == ("extract", "model")
        case.events.clear()
        quotes = re.findall(r"\w[^.]+\.", CHAPTERS["Chapter 1 The Ferry"])
        server.push(
            {"content": json.dumps({"sentences": [{"sentence": f"So: {each}", "quote": each} for each in quotes]})}
        )
        await case.project.carry_out(StartBootstrap())  # the step that failed is done again, and its line follows
        await ended(case)
        await case.settled()
        assert not await case.project.memory.background("failed")
        levels = await case.levels(uri)
        assert levels["L1"].method == "model" and levels["L0"].source != by_rule["L0"].source
        assert [row for row in await case.project.memory.background() if row.subject == failed.subject] == []


async def test_nothing_is_told_as_running_after_the_process_that_read_was_killed(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await imported(folder, server, concurrency=1)
    async with opened(folder) as case:
        server.push({"ttft": 3600})
        await case.project.carry_out(StartBootstrap())
        await until(lambda: calls(server) == 1)
        async with opened(folder, read_only=True) as reader:
            status = await reader.project.memory.bootstrap()
            assert status is not None and status.state == "running"
            assert [task.kind for task in await reader.project.memory.background("running")] == ["story"]
        killed = shutil.copytree(folder, tmp_path / "killed")  # as a kill leaves it
    async with opened(killed, read_only=True) as reader:
        status = await reader.project.memory.bootstrap()
        assert status is not None and (status.state, status.reason != "") == ("paused", True)
        assert await reader.project.memory.background("running") == ()
        assert "story" in {task.kind for task in await reader.project.memory.background("waiting")}
        assert "running" not in await reader.project.memory.background_counts()


async def test_a_project_that_is_closed_in_the_midst_pauses_and_asks_no_answered_question_again(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server)
    for _time in range(4):
        async with opened(folder) as case:
            await case.project.carry_out(StartBootstrap())
            await case.until(BootstrapChanged, lambda event: event.status.done > 0)
    async with opened(folder) as case:
        status = await case.project.memory.bootstrap()
        assert status is not None
        if status.state == "paused":
            assert status.reason
            await case.project.carry_out(StartBootstrap())
            await ended(case)
        totals = await case.project.runs.totals()
    asked = {json.dumps(entry["body"]["messages"]) for entry in server.log if entry["outcome"] == "complete"}
    arrived = totals.calls - totals.estimated_calls
    assert arrived == len(asked), "an answer that was cut off on its way is counted as an estimate"


async def test_what_is_left_of_a_paused_reading_is_given_up_and_what_was_read_stays(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server, concurrency=1)
    server.push({}, {}, {}, {"status": 401, "times": -1})  # a chapter is read with three calls, then the key is refused
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap())
        await ended(case, "paused")
        with pytest.raises(RunError, match="paused"):
            await case.project.memory.quote_bootstrap(2, 3)
        await case.project.carry_out(PauseBootstrap(drop=True))
        status = await case.project.memory.bootstrap()
        assert status is not None and status.state == "dropped"
        assert [task for task in await case.project.memory.background() if task.job] == []
        await case.settled()
        for number in (1, 2, 3):
            levels = await case.levels(f"manuscript/{await case.chapter(number)}")
            assert levels["L1"].text, "what no model tells is told by rule"
        with pytest.raises(RunError, match="No reading"):
            await case.project.carry_out(PauseBootstrap(drop=True))
    server._faults.clear()
    async with opened(folder) as case:
        assert (await case.project.memory.quote_bootstrap()).chapters == 2
        await case.project.carry_out(StartBootstrap(3, 3))
        await ended(case)
        assert (await case.project.memory.quote_bootstrap()).chapters == 1


async def test_a_reading_that_goes_on_is_given_up_when_what_is_under_way_has_ended(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server, concurrency=1)
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap())
        await case.until(BootstrapChanged, lambda event: event.status.done > 0)
        await case.project.carry_out(PauseBootstrap(drop=True))
        status = await ended(case, "dropped")
        assert 0 < status.done < status.total
        sent = calls(server)
        await case.settled()
        assert calls(server) == sent


async def test_a_key_that_is_refused_pauses_all_and_a_text_that_is_refused_fails_alone(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server, concurrency=1)
    server.push({"status": 401, "times": 2})
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap())
        assert (await ended(case, "paused")).reason
        server._faults.clear()
        server.push({"finish": "content_filter"})
        case.events.clear()
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
        assert status.failed == 1 and status.done == status.total - 1
        server._faults.clear()
        case.events.clear()
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
        assert (status.failed, status.done) == (0, status.total)
        assert (await case.project.memory.quote_bootstrap()).chapters == 0


async def test_the_offline_model_has_read_the_chapters_after_the_import(folder: Path) -> None:
    await make(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "novel"))))
        await case.settled()
        assert (await case.project.memory.quote_bootstrap()).chapters == 0


async def test_the_offline_model_reads_what_was_imported_before_it_was_chosen(folder: Path) -> None:
    await make(folder)
    chapters = CHAPTERS | {"Chapter 4 The Well": "Ines Marlow moved to Saltreach. The well was dry."}
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "novel", chapters))))
        await case.settled()
        assert (await case.project.story.all()).facts == ()
    change(folder, "models", user=OFFLINE, agent=OFFLINE)
    async with opened(folder) as case:
        quote = await case.project.memory.quote_bootstrap(2)
        assert quote.chapters == 3 and quote.cost == 0 and quote.seconds < 60
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
        assert (status.done, status.failed) == (status.total, 0)
        (fact,) = (await case.project.story.all()).facts
        assert fact.text == "Ines Marlow moved to Saltreach."
        assert f"story/{fact.since}" in {task.subject for task in await case.project.memory.background()}
        assert (await case.project.memory.quote_bootstrap()).chapters == 0


async def test_without_a_curator_nothing_is_read(folder: Path, server: FaultServer) -> None:
    await imported(folder, server)
    change(folder, "agents", curator=False)
    async with opened(folder) as case:
        assert (await case.project.memory.quote_bootstrap()).calls == 0
        with pytest.raises(RunError, match="All imported chapters"):
            await case.project.carry_out(StartBootstrap())


async def test_a_chapter_that_is_rewritten_meanwhile_leaves_the_reading(folder: Path, server: FaultServer) -> None:
    await imported(folder, server, concurrency=1)
    server.push({"ttft": 0.3, "times": 3})
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap())
        chapter = await case.chapter(3)
        await case.project.carry_out(WriteChapter(chapter, "Ines Marlow came back. " * 9))
        status = await ended(case)
        assert (status.done, status.failed) == (status.total, 0)
        await case.settled()
        prompts = [prompt for prompt in asked(server) if "touched the rope" in prompt and "curator.story" in prompt]
        assert prompts == [], "the old text of the chapter was not read"


async def test_a_reading_that_goes_on_elsewhere_is_seen_as_running(folder: Path, server: FaultServer) -> None:
    await imported(folder, server)
    server.push({"stall_after": 0, "times": -1})
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap())
        async with opened(folder, read_only=True) as other:
            status = await other.project.memory.bootstrap()
            assert status is not None and status.state == "running"


async def test_a_reading_whose_answers_are_all_cut_stays_within_the_most_of_its_quote(
    folder: Path, server: FaultServer
) -> None:
    """Long chapters in a small window are read in parts, and each part is asked for three times."""
    await make(folder, both(endpoint(server, context_window=4_096, max_output=256, **PRICE)))
    long = {f"Chapter {n} The Ferry": f"Ines Marlow waited for ferry {n} of Saltreach. " * 300 for n in (1, 2)}
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "novel", long))))
        await case.settled()
        server.push({"content": '{"entities": [], "relations": []', "finish": "length", "times": -1})
        quote = await case.project.memory.quote_bootstrap()
        assert quote.likely_calls < quote.calls and (quote.likely_cost or 0) < (quote.cost or 0)
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
        assert 35 < calls(server) <= quote.calls
        assert status.spent.input_tokens <= quote.input_tokens
        assert (status.spent.cost or 0) <= (quote.cost or 0)


async def test_a_reading_that_would_pass_the_most_of_its_quote_waits_until_somebody_goes_on(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server, concurrency=1, price_in=Decimal(1), price_out=Decimal(1))
    server.push({"usage": {"prompt_tokens": 10**8, "completion_tokens": 10}})
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap())
        status = await ended(case, "paused")
        assert "limit of its quote" in status.reason and calls(server) == 1
        case.events.clear()
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
        assert status.done == status.total


async def test_a_quote_names_a_time_only_when_a_reading_has_shown_how_fast_the_model_is(
    folder: Path, server: FaultServer
) -> None:
    await imported(folder, server)
    async with opened(folder) as case:
        before = await case.project.memory.quote_bootstrap()
        assert before.seconds is None and "about" not in quoted(before)
        await case.project.carry_out(StartBootstrap(last=2))
        await ended(case)
        after = await case.project.memory.quote_bootstrap()
        assert after.seconds is not None and "about" in quoted(after)


def test_a_quote_takes_no_cache_to_help_and_pays_for_what_is_written_into_one() -> None:
    plain = Endpoint(model="m", price_in=Decimal(1), price_out=Decimal(2))
    cheap_hits = plain.model_copy(update={"price_cached": Decimal("0.1")})
    writes = cheap_hits.model_copy(update={"provider": "anthropic"})
    counter = TokenEstimator()
    least, same, most = (
        quote(Counter(story=2), Counter(story=2), (500, 500), Price(counter, each))
        for each in (plain, cheap_hits, writes)
    )
    assert least.likely_cost == same.likely_cost is not None and least.cost == same.cost
    sent = least.likely_tokens - 2 * 2_000
    assert most.likely_cost == least.likely_cost + Decimal(sent) / 4 / 1_000_000


WORDS = " ".join(f"Ines Marlow counted post {n} of the flats and wrote it down." for n in range(40))
LINES = [{"sentence": f"{WORDS[:150]} {n}.", "source_id": "s1", "quote": WORDS[:58]} for n in range(9)]
FACT = {"text": WORDS[:90], "about": ["Ines Marlow"], "attribute": "post", "secret": False, "known_by": []}
WHOLE: dict[str, Any] = {key: [] for key in ("entities", "relations", "promises", "moments", "sequels")} | {
    "sentence": WORDS[:150],
    "sentences": LINES,
    "facts": [{**FACT, "quote": WORDS[n : n + 120]} for n in range(12)],
    "line": WORDS[:150],
    "summary": WORDS[:150],
    "keeping": [{"question": "new", "passed": True, "detail": WORDS[:100]}],
}
"""An answer of usual length to a chapter's reading and to a profile."""


@pytest.mark.parametrize("limit", [None, 320])
async def test_the_likely_price_of_five_chapters_is_near_what_they_cost(
    folder: Path, server: FaultServer, limit: int | None
) -> None:
    """With whole answers of usual length, and with answers that the endpoint's limit cuts."""
    await make(folder, both(endpoint(server, max_output=limit, **PRICE)))
    chapters = {f"Chapter {n} The Post": f"On day {n}. {WORDS}" for n in range(1, 6)}
    text, counter = json.dumps(WHOLE)[: 1_200 if limit else None], TokenEstimator()
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "novel", chapters))))
        await case.settled()
        server.push({"content": text, "finish": "length" if limit else "stop", "times": -1})
        quote = await case.project.memory.quote_bootstrap()
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
    bodies = [entry["body"]["messages"] for entry in server.log if entry["path"].endswith("completions")]
    sent = sum(counter.count(message["content"]) for messages in bodies for message in messages)
    spent = sent + counter.count(text) * len(bodies)  # the fake server counts characters
    assert spent / 1.5 <= quote.likely_tokens <= spent * 1.5, (spent, len(bodies), quote)
    assert spent <= quote.input_tokens + quote.output_tokens and status.spent.calls == len(bodies) <= quote.calls

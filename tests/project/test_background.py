"""The background work when its model fails, when agents are switched off, and what all of it costs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import FlowCabalError, HelperFailed, ProjectBusy
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import BackgroundTask, TaskKind
from flowcabal_tui.project.book.following import following
from flowcabal_tui.project.book.indexing import index_text
from flowcabal_tui.project.book.rule_checks import RuleChecks
from flowcabal_tui.project.memory import step_runner, steps
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.memory import BackgroundChanged, CancelBackground, RetryBackground
from flowcabal_tui.protocol.runs import WorkflowFailed
from flowcabal_tui.runner import limits
from flowcabal_tui.runner.limits import FAILURES, Limits
from flowcabal_tui.settings.paths import PROJECT_STATE
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from flowcabal_tui.store.book.curation import Keeping
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, change, endpoint, make_one, opened
from tests.waiting import PATIENCE

pytestmark = pytest.mark.helper_process

TEXT = "Ines Marlow rang the bell. Ines Marlow waited. Nobody answered Ines Marlow.\n\nThe river rose all night."

PLAIN = "It snowed, and all were asleep."
"""No name is found in it that would have it indexed again."""


async def failed_kinds(case: Case) -> set[TaskKind]:
    tasks = [task for task in await case.project.memory.background() if task.kind != "knowledge"]
    assert all(task.state == "failed" and task.error for task in tasks)
    return {task.kind for task in tasks}


def _one_line_failed(event: BackgroundChanged) -> bool:
    return event.task is not None and event.task.kind == "l0" and bool(event.task.error)


async def test_a_retry_waits_for_nothing_when_the_provider_was_left_alone(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(Limits.__init__.__kwdefaults__, "pause", 3_600.0)
    monkeypatch.setattr(limits, "LONGEST_PAUSE_SECONDS", 3_600.0)
    await make_one(folder, ModelsSettings(user=OFFLINE, agent=endpoint(server, "anthropic", model="agent")))
    server.push({"status": 503, "times": -1})
    async with opened(folder) as case:
        await case.keep(await case.run("quick-draft", 1), "draft")
        await case.until(BackgroundChanged, _one_line_failed)
        failed = calls(server)
        assert failed >= FAILURES, "the provider is left alone now"
        server._faults.clear()
        await case.project.carry_out(RetryBackground())
        await case.settled()
        assert [task for task in await case.project.memory.background() if task.state == "failed"] == []


async def test_when_the_agents_model_is_refused_the_writer_goes_on_and_a_retry_heals(
    folder: Path, server: FaultServer
) -> None:
    agent = endpoint(server, "anthropic", model="agent")
    await make_one(folder, ModelsSettings(user=OFFLINE, agent=agent))
    server.push({"status": 401, "times": 40})
    async with opened(folder) as case:
        run = await case.run("quick-draft", 1)
        await case.keep(run, "draft")
        await case.settled()
        assert await case.project.book.chapter_text(await case.chapter(1))
        assert {"story", "l1"} <= await failed_kinds(case)
        server._faults.clear()
        await case.project.carry_out(RetryBackground())
        await case.settled()
        assert await failed_kinds(case) == set()
        assert {"L0", "L1"} <= set(await case.levels(f"manuscript/{await case.chapter(1)}"))


async def test_a_name_that_is_found_has_only_those_chapters_indexed_anew_in_which_it_stands(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        for title in ("The Mill", "The Road"):
            await case.project.carry_out(AddChapter(title))
        first, second, third = [chapter.id for chapter in await case.project.book.chapters()]
        await case.project.carry_out(WriteChapter(first, "It snowed, and all were asleep."))
        await case.project.carry_out(WriteChapter(second, "The mill was dark, and Ines Marlow was gone."))
        await case.settled()
        await case.project.carry_out(WriteChapter(third, TEXT))
        await case.settled()
        told = [event.task for event in case.told(BackgroundChanged) if event.task and event.task.kind == "index"]
        indexed = Counter(subject for subject, _source in {(task.subject, task.source) for task in told})
        (ines,) = [each for each in await case.project.story.entities() if each.name == "Ines Marlow"]
    assert indexed == {first: 1, second: 2, third: 2}
    assert ines.first_position == 2


async def indexed_text(case: Case) -> str:
    """The text of the first chapter as the index has it."""
    view = await case.project._engine.call(case.project._parts.store.memory.view(None))
    passages = await case.project._engine.call(view.passages(await case.chapter(1)))
    return "\n\n".join(passage.text for passage in passages)


def before_each_index(monkeypatch: pytest.MonkeyPatch, act: Callable[[int], Awaitable[None]]) -> None:
    """Calls `act` when an index step has read its text, with the number of such steps before it."""
    do, indexed = Workshop.do, list[Any]()

    async def doing(self: Workshop, work: Any, *arguments: Any, **how: Any) -> Any:
        if work is index_text:
            indexed.append(arguments)
            await act(len(indexed) - 1)
        return await do(self, work, *arguments, **how)

    monkeypatch.setattr(Workshop, "do", doing)


@pytest.mark.parametrize("error", [HelperFailed("died", "The helper process ended."), ProjectBusy("busy")])
async def test_an_index_step_that_could_not_work_is_tried_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: FlowCabalError
) -> None:
    async def fail_once(before: int) -> None:
        if not before:
            raise error

    await make_one(folder, both(OFFLINE))
    monkeypatch.setattr(step_runner, "_FIRST_WAIT", 0.01)
    before_each_index(monkeypatch, fail_once)
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), PLAIN))
        await case.settled()
        assert await indexed_text(case) == PLAIN


async def test_an_index_step_that_failed_is_done_at_the_next_opening(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_before: int) -> None:
        raise HelperFailed("memory", "The work was stopped.")

    await make_one(folder, both(OFFLINE))
    with monkeypatch.context() as patched:
        before_each_index(patched, fail)
        async with opened(folder) as case:
            await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
            await case.settled()
            assert await indexed_text(case) == ""
    async with opened(folder) as again:
        await again.settled()
        assert await indexed_text(again) == TEXT


async def test_a_version_of_the_same_text_that_comes_while_the_first_is_indexed_is_indexed_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        chapter, book = await case.chapter(1), case.project._parts.store.book

        async def keep_the_same(before: int) -> None:
            if not before:
                await book.keep(Keeping(PLAIN, "chapter", "replace", chapter), following(("index",)))

        before_each_index(monkeypatch, keep_the_same)
        await case.project.carry_out(WriteChapter(chapter, PLAIN))
        await case.settled()
        assert len(await case.project.book.chapter_versions(chapter)) == 2
        assert await indexed_text(case) == PLAIN


async def test_the_checks_of_chapters_need_not_be_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless(*_given: object) -> None:
        await asyncio.Event().wait()

    await make_one(folder, both(OFFLINE))
    monkeypatch.setattr(RuleChecks, "check", endless)
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        async with asyncio.timeout(PATIENCE):
            await case.project.memory.settled(but="check")
        left = [task.kind for task in await case.project.memory.background() if task.kind != "knowledge"]
        assert left == ["check"]
        assert await case.levels(f"manuscript/{await case.chapter(1)}")


def broken(*_given: object) -> None:
    raise KeyError("boom")


async def test_a_mistake_that_raises_keyerror_fails_its_task_and_is_logged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_one(folder, both(OFFLINE))
    monkeypatch.setattr(steps, "names_found", broken)
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await case.settled()
        failed = [task for task in await case.project.memory.background() if task.state == "failed"]
        assert [(task.kind, task.error) for task in failed] == [("entities", "KeyError('boom')")]
    logged = (folder / PROJECT_STATE / "flowcabal.log").read_text("utf-8")
    assert "step entities of" in logged and "KeyError: 'boom'" in logged


def state_of(event: BackgroundChanged) -> str:
    """The state of the task for the chapter that does not exist."""
    return event.task.state if event.task and event.task.subject == "nowhere" else ""


async def test_a_task_whose_chapter_is_gone_is_done(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        task = BackgroundTask(0, "l1", "nowhere", Digest("x"), "waiting")
        await case.project._engine.call(case.project._parts.store.outbox.add([task]))
        await case.until(BackgroundChanged, lambda event: state_of(event) == "fresh")  # the event follows the row
        assert [state for event in case.told(BackgroundChanged) if (state := state_of(event))] == ["running", "fresh"]


async def test_what_was_cancelled_stays_and_can_be_taken_up(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server, first_token_timeout=60.0)))
    server.push({"stall_after": 0})
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await case.until(BackgroundChanged, lambda _event: bool(server.log))
        await case.project.carry_out(CancelBackground())
        await server.wait_for("client_closed")
        await case.settled()
        states = {task.state for task in await case.project.memory.background()}
        assert states == {"cancelled"}
        assert calls(server) == 1
        await case.project.carry_out(RetryBackground())
        await case.settled()
        assert "L0" in await case.levels(f"manuscript/{await case.chapter(1)}")


async def test_agents_that_are_switched_off_call_nobody(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    change(folder, "agents", context=False, monitor=False, curator=False)
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        run = await case.run("quick-draft", 1)
        await case.settled()
        assert calls(server) == 1
        (attempt,) = (await case.view(run, "draft")).attempts
        assert (attempt.receipt, attempt.evaluation) == (None, None)
        assert await case.project.memory.profiles() == ()


async def test_prices_add_up_to_money(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server, price_in=Decimal(2), price_out=Decimal(10), currency="EUR")))
    async with opened(folder) as case:
        await case.run("quick-draft", 1)
        totals = await case.project.runs.totals()
        assert totals.calls == calls(server) > 0
        assert totals.cost == (totals.input_tokens * Decimal(2) + totals.output_tokens * Decimal(10)) / 1_000_000
        assert totals.currency == "EUR"
    async with opened(folder) as again:
        assert await again.project.runs.totals() == totals


async def test_an_unknown_price_stays_unknown(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server, price_in=Decimal(1))))
    async with opened(folder) as case:
        await case.run("quick-draft", 1)
        assert (await case.project.runs.totals()).cost is None


async def test_a_cap_on_money_that_cannot_be_kept_stops_new_calls(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server, price_in=Decimal(1))))
    change(folder, "budget", max_cost=Decimal(100))
    async with opened(folder) as case:
        await case.run("quick-draft", 1)
        before = calls(server)
        assert await case.follow(await case.start("quick-draft", 1, again=("draft",))) == "failed"
        assert "price_in" in case.told(WorkflowFailed)[0].advice
        assert calls(server) == before


@pytest.mark.parametrize(
    "cap",
    [
        lambda spent: {"max_tokens": spent},
        lambda spent: {"max_cost": Decimal(spent) / 1_000_000},
    ],
    ids=["tokens", "money"],
)
async def test_the_hard_cap_stops_every_new_call(
    folder: Path, server: FaultServer, cap: Callable[[int], dict[str, object]]
) -> None:
    await make_one(folder, both(endpoint(server, price_in=Decimal(1), price_out=Decimal(1))))
    async with opened(folder) as case:
        await case.run("quick-draft", 1)
        totals = await case.project.runs.totals()
    change(folder, "budget", **cap(totals.input_tokens + totals.output_tokens))
    before = calls(server)
    async with opened(folder) as case:
        run = await case.start("quick-draft", 1, again=("draft",))
        assert await case.follow(run) == "failed"
        assert "[budget]" in case.told(WorkflowFailed)[0].advice
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await case.settled()
        assert await failed_kinds(case)
        assert calls(server) == before
        await case.run("quick-draft", 1, fresh_context=False)

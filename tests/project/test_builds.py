"""Builds in a project: decided change by change, edited, turned down, stopped, gone on with, purged, taken back."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.agents.builder.refused import EditRefused
from flowcabal_tui.domain.errors import RunError, UnknownName, VersionConflict
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.examples import NAMES, example
from flowcabal_tui.locale import use_language
from flowcabal_tui.project.build_words import fate_words, rows_of
from flowcabal_tui.project.builder.records import BuildRecord
from flowcabal_tui.project.runs.quotes import Quotes
from flowcabal_tui.protocol.builds import (
    AcceptBuild,
    BuildProgress,
    EditChange,
    MarkChanges,
    RejectBuild,
    RequestBuild,
    ResumeBuild,
    ReviseBuild,
    StopBuild,
    UndoBuild,
)
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.workflows import DeleteWorkflow, SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import Case, both, endpoint, make, make_demo, opened
from tests.project.case import change as change_settings

WISH = "Plan it, show me the plan, then draft and polish it."
NAMES_WISH = "Put a step between draft and polish that checks the names."
FORM = {"steps": [{"does": "plan", "pause": True}, {"does": "write"}]}


async def built(case: Case, wish: str = WISH, workflow: str = "", **how: Any) -> BuildRecord:
    how.setdefault("offline", True)
    return await case.project.builds.build(await case.project.carry_out(RequestBuild(wish, workflow, **how)))


async def now(case: Case, workflow: str = "workflow") -> Workflow:
    return await case.project.workflows.get(workflow)


async def again(case: Case, record: BuildRecord) -> BuildRecord:
    return await case.project.builds.build(record.id)


def change(record: BuildRecord, node: str, kind: str = "node_added") -> Any:
    return next(each for each in record.changes if (each.node, each.kind) == (node, kind))


async def test_the_word_on_a_change_survives_the_program(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case)
        polish = change(record, "polish")
        await case.project.carry_out(MarkChanges(record.id, (polish.id,), ticked=False))
    async with opened(folder) as case:
        record = await again(case, record)
        assert not change(record, "polish").ticked
        assert change(record, "plan").ticked
        assert await case.project.carry_out(AcceptBuild(record.id)) == "workflow@1"
        assert [node.id for node in (await now(case)).nodes] == ["plan", "write"]


async def test_a_build_plans_no_run_where_every_model_is_the_offline_one(folder: Path, monkeypatch: pytest.MonkeyPatch):
    async def quote(*_asked: Any) -> None:
        raise AssertionError("it would wait for a knowledge server that is starting")

    monkeypatch.setattr(Quotes, "quote", quote)
    await make_demo(folder)
    async with opened(folder) as case:
        assert (await built(case, form=FORM)).status == "finished"


async def test_what_needs_a_refused_change_falls_with_it(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case)
        write = change(record, "write")
        await case.project.carry_out(MarkChanges(record.id, (write.id,), ticked=False))
        record = await again(case, record)
        taken, fallen = record.taken
        assert change(record, "polish").id in fallen
        assert {change(record, "write").id, change(record, "polish").id} & taken == set()


async def test_what_is_kept_otherwise_because_of_a_refused_change_is_said(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case, "Draft it, check the names and the timeline, and polish it.")
        assert "then" not in fate_words(record)
        polish = change(record, "polish")
        await case.project.carry_out(MarkChanges(record.id, (polish.id,), ticked=False))
        words = fate_words(await again(case, record))
        assert "kept afterwards: the text of Side by side" in words
        assert "read by no node afterwards" not in words


@pytest.mark.parametrize(
    ("language", "wish", "whole", "left"),
    [
        (
            "en",
            "Plan it, draft it, check the names and polish it.",
            "Plan → Draft → Check: names → Polish",
            "Plan → Draft",
        ),
        ("zh", "先列计划，再写初稿，核对称呼，最后润色。", "计划 → 初稿 → 核查：每个人的称呼 → 润色", "计划 → 初稿"),
    ],
)
async def test_the_name_of_a_new_workflow_lists_no_refused_node(
    folder: Path, language: str, wish: str, whole: str, left: str
) -> None:
    await make(folder, language=language)
    async with opened(folder) as case:
        record = await built(case, wish)
        assert record.document["name"] == record.after["name"] == whole
        refused = (change(record, "check").id, change(record, "polish").id)
        await case.project.carry_out(MarkChanges(record.id, refused, ticked=False))
        await case.project.carry_out(AcceptBuild(record.id))
        assert (await now(case)).name == left


@pytest.mark.parametrize(("language", "last"), [("en", "About the workflow"), ("zh", "关于工作流本身")])
async def test_the_nodes_of_a_new_workflow_are_listed_before_what_is_about_the_workflow(
    folder: Path, language: str, last: str
) -> None:
    await make(folder)
    async with opened(folder) as case:
        record = await built(case)
    use_language(language)
    *groups, (title, about) = rows_of(record)
    assert title == last and {"id", "name", "language"} <= {each.field for each in about}
    assert groups[0][1][0].kind == "node_added"
    assert "meta" not in {each.kind for _title, changes in groups for each in changes}
    assert not any(each.because for each in about), "no node is the reason for the name"


async def test_an_edited_change_is_saved_as_the_writer_wrote_it(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case)
        plan = change(record, "plan")
        mine = {**plan.after, "name": "My plan"}
        await case.project.carry_out(EditChange(record.id, plan.id, mine))
        await case.project.carry_out(AcceptBuild(record.id))
        assert (await now(case)).nodes[0].name == "My plan"


@pytest.mark.parametrize(
    "value",
    [
        "no node",
        {"id": "other", "kind": "prompt"},
        {"id": "plan", "kind": "prompt", "params": {"temperature": 9}},
        {"id": "plan", "kind": "prompt", "params": {"prompt": [{"kind": "virtual", "node": "nobody"}]}},
    ],
)
async def test_an_edit_that_breaks_the_workflow_changes_nothing(folder: Path, value: Any):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case)
        with pytest.raises(EditRefused):
            await case.project.carry_out(EditChange(record.id, change(record, "plan").id, value))
        assert (await again(case, record)).document == record.document


async def test_an_edit_back_to_what_was_there_is_refused(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case, "Rename draft to Erstfassung.", "chapter", form={
            "alterations": [{"change": "rename", "node": "draft", "to": "Other"}]})  # fmt: skip
        (only,) = record.changes
        with pytest.raises(EditRefused, match="already the current value"):
            await case.project.carry_out(EditChange(record.id, only.id, only.before))


async def test_a_suggestion_that_was_turned_down_goes_on_by_another_form(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case, "", form=FORM)
        assert [each.node for each in record.changes if each.kind == "node_added"] == ["plan", "write"]
        assert record.waits
        await case.project.carry_out(ReviseBuild(record.id, form={"steps": [{"does": "write"}]}))
        record = await again(case, record)
        assert [node["id"] for node in record.document["nodes"]] == ["write"]


async def test_a_reason_goes_back_to_the_model_and_refused_changes_stay_refused(folder: Path, server: FaultServer):
    await make(folder, both(endpoint(server)))
    add = {"name": "add_node", "arguments": {"id": "names", "after": "draft", "params": {"prompt": "Check names."}}}
    read = {"name": "set_prompt", "arguments": {"node": "polish", "append": "\n{{result_of.names.text}}"}}
    cold = {"name": "set_param", "arguments": {"node": "names", "field": "temperature", "value": 0.1}}
    end = [{"name": "check", "arguments": {}}, {"name": "finish", "arguments": {"explanation": "Done."}}]
    server.push({"tool_calls": [add, read, *end]}, {"tool_calls": [cold, *end]})
    async with opened(folder) as case:
        await case.confirm()
        record = await built(case, NAMES_WISH, "chapter", offline=False)
        reads = next(each for each in record.changes if each.node == "polish")
        await case.project.carry_out(MarkChanges(record.id, (reads.id,), ticked=False))
        await case.project.carry_out(ReviseBuild(record.id, "Colder, please."))
        record = await again(case, record)
        sent = str(server.log[-1]["body"])
        assert "Colder, please." in sent and "wiring polish" in sent
        assert change(record, "names").after["params"]["temperature"] == 0.1
        assert not next(each for each in record.changes if each.node == "polish").ticked
        assert len(record.rounds) == 2
        with pytest.raises(RunError):
            await case.project.carry_out(ReviseBuild(record.id, " "))


async def test_the_cap_of_the_project_ends_a_build_and_the_copy_is_kept(folder: Path, server: FaultServer):
    await make(folder, both(endpoint(server, price_in=1, price_out=10)))
    add = {"name": "add_node", "arguments": {"id": "names", "after": "draft", "params": {"prompt": "Check names."}}}
    server.push({"tool_calls": [add], "times": -1})
    change_settings(folder, "budget", max_cost=Decimal("0.05"))
    async with opened(folder) as case:
        before = await now(case, "chapter")
        record = await built(case, NAMES_WISH, "chapter", offline=False)
        assert record.status == "stopped" and "[budget]" in record.stopped
        assert [each.node for each in record.changes] == ["names"]
        assert 0 < len(record.rounds) < 20 and all(Decimal(each["cost"]) > 0 for each in record.rounds)
        assert await now(case, "chapter") == before
        kept = await again(case, record)
        assert kept.document == record.document and kept.currency == "USD"


async def test_a_build_stops_at_once_and_goes_on(folder: Path, server: FaultServer):
    await make(folder, both(endpoint(server, first_token_timeout=60.0, idle_timeout=60.0)))
    add = {"name": "add_node", "arguments": {"id": "names", "params": {"prompt": "Check names."}}}
    server.push({"tool_calls": [add]}, {"stall_after": 0})
    async with opened(folder) as case:
        await case.confirm()
        before = await now(case, "chapter")
        work = asyncio.create_task(built(case, NAMES_WISH, "chapter", offline=False))
        progress = await case.until(BuildProgress, lambda event: event.rounds == 1)
        (row,) = await case.project.builds.build_rows()
        assert row.state == "building"
        await case.project.carry_out(StopBuild(progress.build))
        record = await work
        assert (record.status, len(record.rounds)) == ("stopped", 1)
        assert "names" in [node["id"] for node in record.document["nodes"]], "what was made is kept"
        assert await now(case, "chapter") == before
        with pytest.raises(RunError):
            await case.project.carry_out(StopBuild(progress.build))
        server.push({"tool_calls": [{"name": "check", "arguments": {}}]}, {"status": 401})
        await case.project.carry_out(ResumeBuild(record.id))
        assert len((await again(case, record)).rounds) > 1


async def test_a_build_that_the_end_of_the_program_cut_off_is_interrupted(folder: Path, server: FaultServer):
    await make(folder, both(endpoint(server, first_token_timeout=60.0, idle_timeout=60.0)))
    server.push({"stall_after": 0})
    async with opened(folder) as case:
        await case.confirm()
        work = asyncio.create_task(built(case, NAMES_WISH, "chapter", offline=False))
        await case.until(BuildProgress)
    work.cancel()
    async with opened(folder) as case:
        (row,) = await case.project.builds.build_rows()
        assert (row.state, row.workflow) == ("interrupted", "chapter")


async def test_what_was_new_is_deleted_when_it_is_taken_back_and_can_be_accepted_again(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case)
        await case.project.carry_out(AcceptBuild(record.id))
        assert [row.state for row in await case.project.builds.build_rows()] == ["accepted"]
        assert await case.project.carry_out(UndoBuild(record.id)) == ""
        assert "workflow" not in {each.id for each in await case.project.workflows.newest()}
        assert await case.project.carry_out(AcceptBuild(record.id)) == "workflow@1"
        await case.project.carry_out(SaveWorkflow((await now(case)).model_copy(update={"name": "Mine"})))
        with pytest.raises(VersionConflict):
            await case.project.carry_out(UndoBuild(record.id))


async def test_a_document_from_a_file_comes_in_when_a_change_is_accepted(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        mine = (await now(case, "chapter")).model_copy(update={"id": "mine"}).model_dump(mode="json")
        record = await built(case, NAMES_WISH, document=mine)
        assert "mine" not in {each.id for each in await case.project.workflows.newest()}
        saved = await case.project.carry_out(AcceptBuild(record.id, ("all",)))
        assert saved == "mine@1"
        with pytest.raises(RunError, match="already"):
            await built(case, NAMES_WISH, document=mine)


async def test_a_price_is_known_before_a_paid_build_and_none_is_asked_offline(folder: Path, server: FaultServer):
    await make(folder)
    async with opened(folder) as case:
        assert await case.project.builds.build_price(WISH) is None
    await make(folder / "paid", both(endpoint(server, price_in=1, price_out=10)))
    async with opened(folder / "paid") as case:
        price = await case.project.builds.build_price(NAMES_WISH, "chapter")
        assert price is not None and price.likely.cost is not None and price.most.cost is not None
        assert 0 < price.likely.cost < price.most.cost
        assert price.most.input_tokens + price.most.output_tokens > 200_000


async def test_the_checks_give_the_price_of_a_run_of_what_is_suggested(folder: Path, server: FaultServer):
    await make(folder)
    async with opened(folder) as case:
        record = await built(case, WISH, offline=True)
        assert not [note for note in record.notes if "A run" in note], "the offline model is free"
    await make(folder / "paid", both(endpoint(server, price_in=1, price_out=10)))
    async with opened(folder / "paid") as case:
        small = await built(case, "Draft the chapter.", offline=True)
        large = await built(case, WISH, offline=True)
        prices = [note for note in (*small.notes, *large.notes) if "A run" in note]
        calls = [[int(n) for n in re.findall(r"(\d+) calls?", note)] for note in prices]
        assert [each[0] for each in calls] == [1, 3] and all(each[0] <= each[1] for each in calls)
        assert server.log == []


async def test_the_form_is_filled_from_the_wish(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        form = await case.project.builds.filled_form(WISH)
        assert [step["does"] for step in form["steps"]] == ["plan", "write", "polish"]


async def test_a_purged_build_leaves_no_word_of_its_wish(folder: Path):
    await make(folder)
    secret = "Plan it with the heron at Velmar, then draft it."
    async with opened(folder) as case:
        record = await built(case, secret)
        await case.project.carry_out(RejectBuild(record.id, "no heron at Velmar"))
        await case.project.carry_out(Purge(build=record.id))
        with pytest.raises(UnknownName):
            await case.project.builds.build(record.id)
        assert await case.project.builds.build_rows() == ()
    for file in folder.rglob("*"):
        if file.is_file():
            assert b"heron at Velmar" not in file.read_bytes(), file


async def test_a_workflow_is_deleted_unless_another_calls_it(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        caller = {"id": "caller", "nodes": [{"id": "call", "kind": "subflow", "params": {"ref": "quick-draft"}}]}
        await case.project.carry_out(SaveWorkflow(Workflow.model_validate(caller)))
        with pytest.raises(RunError, match="called by caller"):
            await case.project.carry_out(DeleteWorkflow("quick-draft"))
        await case.project.carry_out(DeleteWorkflow("caller"))
        await case.project.carry_out(DeleteWorkflow("quick-draft"))
        assert not {"caller", "quick-draft"} & {each.id for each in await case.project.workflows.newest()}


async def test_an_older_version_is_deleted_and_the_newest_is_not(folder: Path):
    await make(folder)
    async with opened(folder) as case:
        chapter = await now(case, "chapter")
        await case.project.carry_out(SaveWorkflow(chapter.model_copy(update={"name": "Mine"})))
        with pytest.raises(RunError, match="newest"):
            await case.project.carry_out(DeleteWorkflow("chapter@2"))
        with pytest.raises(UnknownName):
            await case.project.carry_out(DeleteWorkflow("chapter@9"))
        await case.project.carry_out(DeleteWorkflow("chapter@1"))
        assert [each.version for each in await case.project.workflows.workflow_versions("chapter")] == [2]


async def test_examples_are_offered_and_a_new_id_is_free(folder: Path):
    await make(folder, language="zh")
    async with opened(folder) as case:
        examples = await case.project.workflows.examples()
        assert {example(name, "zh").id for name in NAMES} <= {each.id for each in examples}
        assert await case.project.workflows.free_name("chapter") == "chapter-2"
        assert await case.project.workflows.free_name("写 一章/@") == "写-一章"
        assert await case.project.workflows.free_name(" ") == "workflow"

"""Versions of outputs: listed, selected, written by hand, frozen; and the stale marks that follow."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import RunError, StaleQuestion, WorkflowError
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.domain.versions import NodeVersion
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.protocol.runs import Decide, NodeNeedsHuman
from flowcabal_tui.protocol.workflows import (
    EditOutput,
    FreezeBlock,
    FreezeNode,
    MarksChanged,
    SaveWorkflow,
    SelectVersion,
    UnfreezeNode,
)
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, endpoint, make_one, opened
from tests.runner.fakes import prompt

A, B, C = NodeId("a"), NodeId("b"), NodeId("c")
PLAIN = {"context": False, "angles": []}


def chain(first: str = "Say something.") -> Workflow:
    return Workflow(
        id="chain",
        nodes=(
            prompt("a", first, **PLAIN),
            prompt("b", "Go on: ", "@a", **PLAIN),
            prompt("c", "End: ", "@b", **PLAIN),
        ),
    )


@pytest_asyncio.fixture
async def case(folder: Path, server: FaultServer) -> AsyncIterator[Case]:
    """A project whose model says another sentence each time, and the workflow a -> b -> c, run once."""
    server.push(*({"content": f"Sentence {number}."} for number in range(1, 40)))
    async with opened(await make_one(folder, both(endpoint(server)))) as case:
        await case.project.carry_out(SaveWorkflow(chain()))
        await case.run("chain")
        yield case


async def versions(case: Case, node: NodeId) -> list[tuple[str, NodeVersion]]:
    """Texts and versions, newest first."""
    found = await case.project.workflows.versions("chain", node)
    return list(zip(await case.project.workflows.texts(found), found, strict=True))


async def stale(case: Case) -> dict[str, str]:
    return {row.node: row.stale.kind for row in await case.project.workflows.statuses("chain") if row.stale}


async def texts(case: Case, node: NodeId) -> list[str]:
    return [text for text, _version in await versions(case, node)]


async def outputs(case: Case, **wishes: object) -> list[str]:
    """What the nodes give in a new run."""
    await case.run("chain", **wishes)
    return [(await named(case, node))[0] for node in (A, B, C)]


async def named(case: Case, node: NodeId, text: str | None = None) -> tuple[str, NodeVersion]:
    """The version with this text, or the one that stands."""
    return next(found for found in await versions(case, node) if (found[0] == text if text else found[1].current))


async def test_every_sample_is_a_version_and_the_last_stands(case):
    await case.run("chain", again=(A,))
    (newest, last), (oldest, first) = await versions(case, A)
    assert (oldest, newest) == ("Sentence 1.", "Sentence 4.")
    assert (first.number, last.number) == (1, 2)
    assert (first.current, last.current) == (False, True)
    assert last.model == "mock" and last.usage.output_tokens and last.run and last.attempt == 1


async def test_what_was_served_is_no_version_of_its_own(case, server):
    await case.run("chain")
    assert calls(server) == 3
    assert await texts(case, A) == ["Sentence 1."]


async def test_versions_belong_to_a_chapter(case):
    await case.run("chain", chapter=1, again=(A,))
    chapter = await case.chapter(1)
    (version,) = await case.project.workflows.versions("chain@1", A, chapter)
    assert (await case.project.workflows.texts([version])) == ("Sentence 4.",)


async def test_a_selected_version_stands_for_equal_inputs_and_what_is_behind_runs_anew(case, server):
    await case.run("chain", again=(A,))
    before = calls(server)
    await case.project.carry_out(SelectVersion("chain", A, (await named(case, A, "Sentence 1."))[1].digest))
    assert await stale(case) == {"b": "propagated", "c": "propagated"}
    assert await outputs(case) == ["Sentence 1.", "Sentence 2.", "Sentence 3."]
    assert calls(server) == before, "all of it had been paid for"
    assert await stale(case) == {}


async def test_a_selected_version_of_other_inputs_is_marked_stale_and_not_used(case, server):
    await case.project.carry_out(SaveWorkflow(chain("Say another thing.")))
    await case.run("chain")
    await case.project.carry_out(SelectVersion("chain", A, (await named(case, A, "Sentence 1."))[1].digest))
    assert (await stale(case))["a"] == "direct"
    assert (await outputs(case))[0] == "Sentence 4."


async def test_a_text_written_by_hand_is_a_version_that_stands(case, server):
    digest = await case.project.carry_out(EditOutput("chain", B, "Mine.\x1b[2J"))
    text, version = await named(case, B)
    assert (text, version.author, version.chosen, version.digest) == ("Mine.", "human", True, digest)
    assert await stale(case) == {"c": "propagated"}
    assert await outputs(case) == ["Sentence 1.", "Mine.", "Sentence 4."]
    assert [message["content"] for message in server.log[-1]["body"]["messages"]] == ["End: Mine."]
    assert await texts(case, B) == ["Mine.", "Sentence 2."]


async def test_a_text_written_before_the_first_run_is_taken(case, server):
    await case.project.carry_out(SaveWorkflow(replace_id(chain(), "other")))
    await case.project.carry_out(EditOutput("other", A, "By hand."))
    await case.run("other")
    assert calls(server) == 5, "b and c"
    assert server.log[-2]["body"]["messages"][-1]["content"] == "Go on: By hand."


async def test_a_node_that_is_not_there_cannot_be_edited(case):
    with pytest.raises(RunError, match="nowhere"):
        await case.project.carry_out(EditOutput("chain", NodeId("nowhere"), "x"))
    with pytest.raises(RunError, match="no such output"):
        await case.project.carry_out(SelectVersion("chain", A, Digest("0" * 32)))


async def test_a_frozen_output_is_taken_by_every_later_run_whatever_its_inputs_are(case, server):
    await case.project.carry_out(FreezeNode("chain", B))
    await case.project.carry_out(SaveWorkflow(chain("Say another thing.")))
    quote = await case.project.runs.quote(RunRequest("chain"))
    assert (quote.would_run, quote.frozen, quote.stale) == (("a",), ("b",), ("a",))
    run = await case.run("chain")
    assert (await case.view(run, "b")).state == "done"
    assert await outputs(case) == ["Sentence 4.", "Sentence 2.", "Sentence 3."]
    assert (await named(case, B))[1].frozen
    await case.project.carry_out(UnfreezeNode("chain", B))
    assert await stale(case) == {"b": "direct"}, "its input has changed while it was frozen"
    assert (await outputs(case))[1] == "Sentence 5."
    with pytest.raises(RunError, match="not frozen"):
        await case.project.carry_out(UnfreezeNode("chain", B))


async def test_freezing_and_unfreezing_what_stands_changes_nothing(case):
    await case.project.carry_out(FreezeNode("chain", B))
    await case.project.carry_out(UnfreezeNode("chain", B))
    assert await stale(case) == {}


async def test_an_older_version_can_be_frozen(case):
    await case.run("chain", again=(A,))
    await case.project.carry_out(FreezeNode("chain", A, digest=(await named(case, A, "Sentence 1."))[1].digest))
    assert (await outputs(case))[0] == "Sentence 1."
    assert (await outputs(case, again=(A,)))[0] == "Sentence 1.", "frozen means frozen"


async def test_an_edit_of_a_node_marks_it_and_all_behind_it_until_they_ran(case):
    await case.project.carry_out(SaveWorkflow(chain("Say another thing.")))
    assert await stale(case) == {"a": "direct", "b": "propagated", "c": "propagated"}
    await case.run("chain", targets=(B,))
    assert await stale(case) == {"c": "propagated"}
    await case.run("chain")
    assert await stale(case) == {}


async def test_an_edit_that_is_taken_back_takes_its_marks_back(case):
    await case.project.carry_out(SaveWorkflow(chain("Say another thing.")))
    await case.project.carry_out(SaveWorkflow(chain()))
    assert await stale(case) == {}


async def test_a_new_output_of_one_node_marks_what_did_not_run_with_it(case):
    await case.run("chain", targets=(A,), again=(A,))
    assert await stale(case) == {"b": "propagated", "c": "propagated"}
    assert case.told(MarksChanged)[-1].workflow == "chain"
    (row,) = [row for row in await case.project.workflows.statuses("chain") if row.node == "c"]
    assert row.stale and row.stale.sources == (("a", "output"),)


async def test_what_is_to_do_comes_in_levels(case):
    assert await case.project.workflows.todo("chain") == ()
    assert await case.project.workflows.todo("chain", targets=(C,)) == (("c",),)
    await case.run("chain", targets=(A,), again=(A,))
    assert await case.project.workflows.todo("chain") == (("b",), ("c",))
    await case.project.carry_out(SaveWorkflow(replace_id(chain(), "new")))
    assert await case.project.workflows.todo("new", targets=(B,)) == (("a",), ("b",))


async def test_a_virtual_block_is_frozen_in_the_document_and_thawed(case, server):
    reference = await case.project.carry_out(FreezeBlock("chain", B, 1))
    assert reference == "chain@2"
    await case.project.carry_out(SaveWorkflow(changed(await case.project.workflows.get("chain"), "a", "Another.")))
    await case.run("chain")
    assert [entry["body"]["messages"][-1]["content"] for entry in server.log[3:]] == ["Another."], "b did not change"
    assert await case.project.carry_out(FreezeBlock("chain", B, 1, text="Mine")) == "chain@4"
    await case.project.carry_out(FreezeBlock("chain", B, 1, frozen=False))
    assert [version.version for version in await case.project.workflows.workflow_versions("chain")] == [5, 4, 3, 2, 1]
    with pytest.raises(WorkflowError, match="virtual"):
        await case.project.carry_out(FreezeBlock("chain", B, 0))


async def test_a_node_with_other_parameters_for_one_run(case, server):
    overrides = ((B, {"model": "larger", "temperature": 0.3}),)
    quote = await case.project.runs.quote(RunRequest("chain", overrides=overrides))
    assert (quote.would_run, quote.served) == (("b", "c"), ("a",))
    await case.run("chain", overrides=overrides)
    assert (server.log[3]["body"]["model"], server.log[3]["body"]["temperature"]) == ("larger", 0.3)
    assert (await named(case, B))[0] == "Sentence 4."
    assert (await case.project.workflows.get("chain")).version == 1
    with pytest.raises(WorkflowError, match="temprature"):
        await case.project.runs.quote(RunRequest("chain", overrides=((B, {"temprature": 1}),)))
    with pytest.raises(RunError, match="no node x"):
        await case.start("chain", overrides=((NodeId("x"), {}),))


async def test_what_was_sent_is_made_again_from_the_log(case):
    await case.run("chain", again=(B,))
    _text, version = await named(case, B)
    trace = await case.project.runs.version_trace(version.run, B)
    assert [message.content for message in trace.messages] == ["Go on: Sentence 1."]
    assert (trace.exact, trace.sample) == (True, 1)


async def test_versions_are_there_after_the_project_was_closed(case, folder):
    await case.project.carry_out(FreezeNode("chain", B))
    await case.project.close()
    async with opened(folder, read_only=True) as reader:
        assert (await named(reader, B))[1].frozen
        assert await reader.project.workflows.todo("chain") == ()


def replace_id(workflow: Workflow, name: str) -> Workflow:
    return workflow.model_copy(update={"id": name})


def changed(workflow: Workflow, node: str, text: str) -> Workflow:
    nodes = tuple(prompt(node, text, **PLAIN) if each.id == node else each for each in workflow.nodes)
    return workflow.model_copy(update={"nodes": nodes})


INNER = NodeId("each/1/x")
ROUNDS = Workflow(
    id="rounds",
    nodes=(
        Node(
            id=NodeId("each"),
            kind="loop",
            params={
                "source": ["one", "two"],
                "max_iterations": 2,
                "body": {"nodes": [prompt("x", "Say {{loop.item}}.", **PLAIN).model_dump()]},
            },
        ),
        prompt("end", "Sum up: ", "@each", **PLAIN),
    ),
)


async def test_a_node_inside_of_another_is_edited_and_frozen_by_its_path(case, server):
    await case.project.carry_out(SaveWorkflow(ROUNDS))
    await case.run("rounds")
    (version,) = await case.project.workflows.versions("rounds", INNER)
    trace = await case.project.runs.version_trace(version.run, INNER)
    assert ([message.content for message in trace.messages], trace.exact) == (["Say two."], True)
    before = calls(server)
    await case.project.carry_out(EditOutput("rounds", INNER, "Mine."))
    marked = {row.node: row.stale.kind for row in await case.project.workflows.statuses("rounds") if row.stale}
    assert marked == {"each": "direct", "end": "propagated"}
    await case.run("rounds")
    assert calls(server) == before + 1, "only what stands behind the loop"
    assert "Mine." in server.log[-1]["body"]["messages"][-1]["content"]
    await case.project.carry_out(FreezeNode("rounds", INNER))
    await case.run("rounds", again=(NodeId("each"),))
    assert "Mine." in server.log[-1]["body"]["messages"][-1]["content"]
    assert [
        row.node for row in await case.project.workflows.statuses("rounds") if row.output and row.output.frozen
    ] == [INNER]


async def test_a_quote_tells_the_price_of_the_tokens(folder, server):
    priced = endpoint(server, price_in=Decimal(1_000_000), price_out=Decimal(2_000_000), currency="EUR")
    async with opened(await make_one(folder, both(priced))) as case:
        short = {**PLAIN, "max_tokens": 10}
        await case.project.carry_out(SaveWorkflow(Workflow(id="one", nodes=(prompt("a", "Say it.", **short),))))
        quote = await case.project.runs.quote(RunRequest("one"))
        assert (quote.likely.cost, quote.currency) == (quote.likely.input_tokens + 2 * 10, "EUR")
        run = await case.run("one")
        assert (await case.project.runs.run_details(run)).totals.cost
        assert (await case.project.runs.quote(RunRequest("one"))).likely.cost == 0


async def test_a_choice_is_answered_by_its_number_only(case):
    choices = {"question": "Where to?", "choices": ["north", "south"]}
    await case.project.carry_out(SaveWorkflow(Workflow(id="game", nodes=(Node(id=A, kind="human", params=choices),))))
    run = await case.start("game")
    question = (await case.until(NodeNeedsHuman)).question
    assert [choice.label for choice in question.choices] == ["north", "south"]
    for wrong in (0, 3):
        with pytest.raises(StaleQuestion):
            await case.project.carry_out(Decide(question.id, Decision("choose", attempt=wrong)))
    assert await case.follow(run, lambda _question: Decision("choose", attempt=2)) == "done"
    (version,) = await case.project.workflows.versions("game", A)
    assert (await case.project.workflows.texts([version]), version.author) == (("south",), "human")


async def test_a_plan_that_was_edited_by_hand_stays_the_plan_until_the_writer_says_otherwise(case, server):
    plan = prompt("a", "Plan {{input.instruction}}.", **(PLAIN | {"review": "always"}))
    last = prompt("b", "Write: ", "@a", **(PLAIN | {"review": "always"}))
    await case.project.carry_out(SaveWorkflow(Workflow(id="planned", nodes=(plan, last))))

    def by_hand(question):
        return Decision("edit", attempt=1, text=f"My {question.node}.")

    async def wished(wish: str) -> list[str]:
        await case.run("planned", answer=by_hand, inputs=(("instruction", wish),))
        return [
            (await case.project.workflows.texts([(await case.project.workflows.versions("planned", node))[0]]))[0]
            for node in (A, B)
        ]

    assert await wished("rain") == ["My a.", "My b."]
    sent = calls(server)
    assert await wished("snow") == ["My a.", "My b."]
    assert calls(server) == sent, "the plan was not made again, and the text of it was there"
    frozen = {
        each.node: bool(each.output and each.output.frozen) for each in await case.project.workflows.statuses("planned")
    }
    assert frozen == {"a": True, "b": False}, "nothing is built on the last node"
    await case.project.carry_out(UnfreezeNode("planned", A))
    await wished("hail")
    assert calls(server) == sent + 1


async def test_a_plan_that_was_written_over_stays_too(case):
    plan = prompt("a", "Plan it.", **(PLAIN | {"review": "always"}))
    await case.project.carry_out(SaveWorkflow(Workflow(id="planned", nodes=(plan, prompt("b", "@a", **PLAIN)))))
    await case.project.carry_out(EditOutput("planned", A, "My plan."))
    await case.run("planned")
    (first, _other) = await case.project.workflows.statuses("planned")
    assert first.output is not None and first.output.frozen

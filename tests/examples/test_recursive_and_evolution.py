"""The examples with recursion and evolution run to their end, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from flowcabal_tui.demo import sample
from flowcabal_tui.domain.ids import Generation, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.prompt_text import RUN_VALUES, bindings
from flowcabal_tui.domain.run import Decision, Question, RunRequest
from flowcabal_tui.domain.workflow import TextBlock, Workflow
from flowcabal_tui.examples import example
from flowcabal_tui.models.offline import OfflineModel
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.nodes.validation import validate
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from flowcabal_tui.runner.fold import RunFold
from flowcabal_tui.runner.run import Run
from flowcabal_tui.runner.scope import RunScope
from tests.runner.fakes import Bench, until

NAMES = ("recursive_polish", "five_openings")
WORN = {"en": "She was very tired, and suddenly the bell rang.", "zh": "她非常累。突然钟响了。"}


async def ran(language: str, workflow: Workflow, decisions: Sequence[Decision]) -> tuple[Output, list[Question], Bench]:
    """Runs with the offline model for the next chapter of the sample novel, and answers what is asked."""
    book = sample(language)
    bench = Bench(OfflineModel(pace=0))
    values = {
        "project": {"name": book.title, "language": language, "author": ""},
        "chapter": {"label": chapter_label(len(book.chapters) + 1, book.next_title, language)},
        "input": {"instruction": book.instruction},
    }
    scope = RunScope(RunId("r1"), workflow, RunRequest(workflow.reference), Generation(1), values, bench.ports)
    run = Run(scope, RunFold())
    task = asyncio.create_task(run.execute())
    for number, decision in enumerate(decisions, 1):
        await until(lambda count=number: task.done() or len(bench.of(NodeNeedsHuman)) >= count)
        assert run.answer(bench.of(NodeNeedsHuman)[number - 1].question.id, decision)
    assert await task == "done"
    questions = [event.question for event in bench.of(NodeNeedsHuman)]
    assert len(questions) == len(decisions)
    return run.outputs[workflow.nodes[0].id], questions, bench


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_without_findings_and_reads_only_what_is_there(name, language):
    workflow = example(name, language)
    assert workflow.language == language
    assert validate(workflow) == ()
    for node in workflow.nodes:
        kind, params = kind_and_params(node)
        assert kind.check(params, node) == ()
        inner = [block for _field, body in kind.bodies(params) for each in body.nodes for block in _blocks(each)]
        paths = {path for block in inner if isinstance(block, TextBlock) for path in bindings(block.text)}
        assert paths <= {*RUN_VALUES, "input.instruction", *kind.names(params)}


def _blocks(node):
    kind, params = kind_and_params(node)
    return kind.blocks(params)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_chapter_is_polished_until_the_critic_is_done(language):
    workflow = example("recursive_polish", language)
    start = {"draft": None, "start": [{"kind": "text", "text": WORN[language]}]}
    node = workflow.nodes[0].model_copy(update={"params": {**workflow.nodes[0].params, **start}})
    workflow = workflow.model_copy(update={"nodes": (node,)})
    output, (question,), _bench = await ran(language, workflow, [Decision("approve")])
    first, second = output.value["rounds"]
    assert (first["done"], len(first["points"]), second["done"]) == (False, 2, True)
    assert output.value["stopped"] == "good"
    assert output.text == question.proposal != WORN[language]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_chapter_is_drafted_and_polished(language):
    edit = Decision("edit", text="mine")
    output, (question,), _bench = await ran(language, example("recursive_polish", language), [edit])
    assert len(question.proposal) > 150
    assert (output.text, output.value["stopped"], output.value["edited"]) == ("mine", "good", True)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_of_five_openings_one_is_picked_and_bred(language):
    picks = [Decision("choose", attempt=2, note="closer"), Decision("choose", attempt=1)]
    output, (first, second), bench = await ran(language, example("five_openings", language), picks)
    assert len({choice.text for choice in first.choices}) == 5
    assert second.choices[-1].text == first.choices[1].text
    assert output.value["round"] == 2
    assert output.text == second.choices[0].text
    parents = {line["parent"] for line in output.value["lineage"] if line["round"] == 2}
    assert parents == {line["digest"] for line in output.value["lineage"] if line["round"] == 1 and line["picked"]}
    assert bench.spend.booked == 2 * (5 + 1)

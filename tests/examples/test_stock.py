"""The business example: a VelvetFlow document, checked, converted and simulated."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui import examples
from flowcabal_tui.actions.registry import ActionRegistry
from flowcabal_tui.actions.simulation import load_simulations, simulate
from flowcabal_tui.dialects.velvetflow import check, read
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.nodes.validation import validate
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from tests.runner.fakes import Bench, FakeModel, until

FOLDER = Path(examples.__file__).parent / "stock"
LANGUAGES = ("en", "zh")


class Simulated:
    """The actions of the example as its templates answer them; what needs approval is really held back."""

    def __init__(self) -> None:
        self.registry = ActionRegistry.load([FOLDER / "actions.json"])
        self.data = load_simulations(FOLDER / "simulation.json")
        self.done: list[str] = []

    def gated(self, action):
        return self.registry.get(action).requires_approval

    async def act(self, action, params, *, approved):
        assert approved or not self.gated(action)
        self.done.append(action)
        return simulate(action, params, self.data)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_document_has_no_findings_and_loses_nothing(language):
    text = (FOLDER / f"workflow.{language}.json").read_text(encoding="utf-8")
    registry = {action.action_id: action for action in ActionRegistry.load([FOLDER / "actions.json"]).all()}
    conversion = read(text)
    assert conversion.notes == () and validate(conversion.workflow) == ()
    assert check(json.loads(text), registry) == ()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_runs_low_is_ordered_and_the_mail_waits_for_a_person(language):
    workflow = read((FOLDER / f"workflow.{language}.json").read_text(encoding="utf-8")).workflow
    actions, bench = Simulated(), Bench(FakeModel(lambda request: ""))
    bench.ports = replace(bench.ports, actions=actions)
    run = await bench.run(workflow)
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    question = bench.of(NodeNeedsHuman)[0].question
    assert question.kind == "gate" and "The Salt Road" in question.proposal
    assert actions.done == ["shop.list_stock.v1", "shop.reorder.v1", "shop.reorder.v1"]
    await bench.journal.answer(question.id, Decision("approve"))
    run.answer(question.id, Decision("approve"))
    assert await task == "done"
    mail = run.outputs["mail"].value
    assert mail["status"] == "sent" and mail["body"].count("20") == 2 and "盐路" not in mail["body"]
    assert run.outputs["each_title"].value["aggregates"] == {"orders": 2}

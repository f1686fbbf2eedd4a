"""A node kind of a plug-in that calls a model: its cost is never counted as nothing, its model is confirmed first."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, Field

from flowcabal_tui.agents.builder.changes import changes_between
from flowcabal_tui.cli.session.messages import ApiConfig
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import FlowCabalError, ProjectNotConfirmed
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.run import Quote, RunRequest
from flowcabal_tui.domain.workflow import ModelCall, Node, PromptParams, Workflow
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced
from flowcabal_tui.nodes.kinds.steps import AgentStep, WritingStep
from flowcabal_tui.nodes.registry import kind_named, kinds
from flowcabal_tui.project.runs.basis import Basis
from flowcabal_tui.project.runs.quoting import quote
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import ModelsSettings, load_project, save_project
from flowcabal_tui.tui.runs.words import asks_for_instruction, quote_words
from tests.faultserver import FaultServer
from tests.nodes.flows import node
from tests.project.case import endpoint, make_one, opened
from tests.project.test_quoting import Words
from tests.runner.fakes import Bench, FakeModel, flow, prompt


class EchoParams(BaseModel):
    """What to translate, and the model."""

    source: Any = ""
    model: str | None = None
    write: WritingStep = Field(default_factory=WritingStep)
    judge: AgentStep = Field(default_factory=AgentStep)


class Echo(NodeKind):
    """Asks until the answer repeats, as often as that takes."""

    name: ClassVar[str] = "echo"
    params: ClassVar[type[EchoParams]] = EchoParams

    def bound(self, params: EchoParams) -> Any:
        return params.source

    def model_calls(self, params: EchoParams) -> tuple[ModelCall, ...]:
        return (ModelCall(model=params.model),)

    async def run(self, context: NodeContext, params: EchoParams) -> Produced:
        text, said = str(context.bind(params.source)), ""
        if not text.startswith("Echo:"):
            raise FlowCabalError("This is no text for an echo.")
        while text != said:
            request = ModelRequest((Message("user", text),), purpose="echo")
            call = PromptParams(model=params.model, context=False)
            said, text = text, (await context.models.generate(request, call, None, number=1)).text
        return Produced(text)


@pytest.fixture(autouse=True)
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `echo` a kind."""
    monkeypatch.setitem(kinds(), "echo", Echo())
    kind_named.cache_clear()


async def quoted(*nodes: Node, model: Endpoint | None = None) -> Quote:
    fake = FakeModel(lambda _request: "x") if model is None else FakeModel(lambda _request: "x", model)
    bench = Bench(fake)
    found = await quote((await bench.run(flow(*nodes), run="quoted")).scope, Basis(Words()))
    assert bench.model.calls == []
    return found


async def test_what_reads_a_text_that_is_not_there_yet_has_no_bound() -> None:
    found = await quoted(prompt("text", "write", context=False), node("echo", "echo", source="result_of.text.text"))
    assert found.most is None and not found.is_free
    assert found.open_ends == ("It is not yet known how often echo calls a model.",)


async def test_calls_that_depend_on_answers_have_no_bound_either() -> None:
    found = await quoted(node("echo", "echo", source="Echo: ho"))
    assert (found.likely.calls, found.most) == (1, None)


async def test_a_kind_inside_another_node_has_no_bound_and_neither_price_hides_that() -> None:
    inner = node("echo", "echo", source="{{item}}").model_dump(mode="json")
    found = await quoted(node("each", "loop", source=["a"], body={"nodes": [inner]}))
    assert (found.likely.calls, found.most) == (0, None)
    assert "It is not yet known how often" in quote_words(found)


async def test_the_embedded_model_costs_nothing_however_often_it_is_called() -> None:
    free = Endpoint(provider="offline", model="offline")
    assert (await quoted(node("echo", "echo", source="no"), model=free)).is_free


async def test_its_model_is_confirmed_before_the_run(folder: Path, server: FaultServer) -> None:
    async with FaultServer() as other:
        models = ModelsSettings(user=endpoint(server, model="near"))
        await make_one(folder, models)
        async with opened(folder) as case:
            await case.confirm()
        further = models.model_copy(update={"more": {"far": endpoint(other, model="far")}})
        save_project(folder, load_project(folder).model_copy(update={"models": further}))
        text = {"id": "text", "params": {"prompt": [{"kind": "text", "text": "Write."}], "context": False}}
        echo = {"id": "echo", "kind": "echo", "params": {"source": "result_of.text.text", "model": "far"}}
        async with opened(folder) as case:
            workflow = Workflow.model_validate({"id": "mine", "nodes": [text, echo]})
            await case.project.carry_out(SaveWorkflow(workflow))
            with pytest.raises(ProjectNotConfirmed, match="far"):
                await case.start("mine")
        assert server.log == [] and other.log == []


def test_the_writer_s_instruction_can_change_its_output() -> None:
    assert asks_for_instruction(flow(node("echo", "echo", source="x")))
    assert not asks_for_instruction(flow(node("over", "end", value=1)))


def test_its_steps_are_found_by_their_class() -> None:
    before = node("echo", "echo", source="x", write={"max_tokens": 10}, judge={"max_tokens": 10})
    after = node("echo", "echo", source="x", write={"max_tokens": 20}, judge={"max_tokens": 20})
    config = ApiConfig.model_validate({"parameters": {"max_tokens": 5}})
    chosen = config.request(RunRequest("f"), flow(before), {}, (), None)  # type: ignore[arg-type]  # no error is made
    assert dict(chosen.overrides) == {"echo": {"write.max_tokens": 5}}
    documents = [each.model_dump(mode="json") for each in (flow(before), flow(after))]
    assert [each.field for each in changes_between(*documents)] == ["write.max_tokens", "judge.max_tokens"]

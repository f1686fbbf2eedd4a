"""What the recorded cases of FlowCabal are run with: a scripted model, memory agent and checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.domain.context import Injection, Receipt
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.run import Evaluation
from flowcabal_tui.domain.workflow import Node, PromptParams, Workflow
from tests.agents.fakes import FakeAnswers, FakeBook, FakeTokens, as_checker, person
from tests.agents.fakes import FakeModel as Agent
from tests.runner.fakes import Bench, FakeModel

TEXT = "三年前的冬天，林远离开北城。"
DRAFT = "十年前，林远离开北城。"


@dataclass
class Memory:
    """A Context agent that adds two texts and answers what it is asked."""

    prefix: str = ""
    suffix: str = ""
    answers: Callable[[str], str] = lambda _question: ""

    async def assemble(self, _workflow, node, _params, _prompt, chapter, generation, inquiries, _about) -> Injection:
        receipt = Receipt(node.id, chapter, generation, 0, 0)
        return Injection(self.prefix, self.suffix, receipt, tuple((each, self.answers(each)) for each in inquiries))


@dataclass
class Ran:
    """One run of a workflow: what the model was asked, what the nodes gave, how it ended."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    state: str = ""


async def ran(
    workflow: Workflow,
    says: Callable[[int, str], str | Exception],
    *,
    memory: Memory | None = None,
    pins: Mapping[NodeId, str] | None = None,
    targets: tuple[NodeId, ...] = (),
) -> Ran:
    """Runs node after node; `says` is given the number of the call and the prompt. Raises WorkflowError."""
    found = Ran()

    def answer(request: ModelRequest) -> str | Exception:
        texts = {message.role: message.content for message in request.messages}
        params = PromptParams.model_validate(workflow.node(NodeId(request.purpose.removeprefix("node:"))).params)
        said = says(len(found.calls) + 1, texts["user"])
        if isinstance(said, str):
            asked = {"system": texts.get("system", ""), "user": texts["user"], "model": params.model}
            found.calls.append({**asked, "temperature": request.temperature, "maxTokens": request.max_tokens})
        return said

    bench = Bench(FakeModel(answer), concurrency=1)
    bench.ports = replace(bench.ports, context=memory)
    frozen = {node: Output(text) for node, text in (pins or {}).items()}
    run = await bench.run(workflow, scope={"pins": frozen}, targets=targets)
    found.state = await run.execute()
    found.outputs = {node: output.text for node, output in run.outputs.items() if node not in frozen}
    return found


async def checked(finding: Mapping[str, Any] | None) -> Evaluation:
    """What our Monitor makes of a checker that reports this finding; None: an answer that nobody can read."""

    def reply(_request: ModelRequest) -> Any:
        if finding is None:
            return ModelError(ModelFault.SCHEMA, "looks fine")
        quoted = {"draft_quote": DRAFT, "source_id": "s1", "source_quote": TEXT, "explanation": ""}
        return {"findings": [{"subtype": "duration", **quoted, **finding}]}

    book = FakeBook([("第1章", TEXT), ("第2章", "")], (person("林远"),), (("notes", TEXT),))
    monitor = Monitor(
        book,
        lambda: PaidOnce(Agent(as_checker(reply, (finding or {}).get("confidence", 0.9))), FakeAnswers()),
        FakeTokens(),
    )
    node, params = Node(id=NodeId("a")), PromptParams(angles=("timeline",))
    return await monitor.evaluate(node, params, DRAFT, ChapterId("c2"), Generation(1), 1)


def refusal(read: Callable[[], object]) -> str:
    """Why a document is refused; "" when it is not."""
    try:
        read()
    except DialectError as error:
        return error.detail or error.title
    return ""

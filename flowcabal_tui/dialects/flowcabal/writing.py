"""Writes workflows as FlowCabal's documents if they consist of prompts with texts and outputs."""

from __future__ import annotations

from collections.abc import Iterator

from flowcabal_tui.dialects.flowcabal.documents import JOINS, Connection4, Form, Json, Parameters4
from flowcabal_tui.dialects.flowcabal.known import KeptBlock, KeptBlocks, KeptNode, kept
from flowcabal_tui.dialects.report import ConversionNote, DialectError, Level
from flowcabal_tui.domain.prompt_text import BINDING, node_of
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.domain.workflow import (
    Block,
    Blocks,
    InquiryBlock,
    Node,
    PromptParams,
    TextBlock,
    VirtualBlock,
    Workflow,
)
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependencies, dependents, kind_and_params


def write(workflow: Workflow, form: Form) -> tuple[Json, tuple[ConversionNote, ...]]:
    """The document as JSON, with notes on what it cannot represent.

    Raises DialectError for kinds of nodes other than prompts, and WorkflowError for bad params.
    """
    others = sorted({node.kind for node in workflow.nodes if node.kind != "prompt"})
    if others:
        raise DialectError(
            _("FlowCabal cannot represent this workflow."),
            _("It has prompts only; this workflow also contains: {kinds}").format(kinds=_(", ").join(others)),
            _("Export it in the format of this program."),
        )
    writer = _Writer(workflow, form)
    document = writer.today() if form in ("template", "workspace") else writer.first_design()
    return document, tuple(writer.notes)


class _Writer:
    """One workflow on its way into a document."""

    def __init__(self, workflow: Workflow, form: Form) -> None:
        self.whole, self.form = workflow, form
        self.today_form = form in ("template", "workspace")
        self.kept = kept(workflow)
        self.notes: list[ConversionNote] = []
        if (workflow.join, workflow.skip_empty) != (JOINS[form], self.today_form):
            self.note("changed", "join", _("FlowCabal joins blocks with {join}.").format(join=repr(JOINS[form])))
        for edge in workflow.edges:
            message = _("{source} before {target}: in FlowCabal, only references define the order.")
            self.note("lost", "edges", message.format(source=edge.source, target=edge.target))

    def note(self, level: Level, place: str, message: str) -> None:
        self.notes.append(ConversionNote(level, place, message))

    def first_design(self) -> Json:
        nodes = {node.id: self.node4(node) for node in self.whole.nodes}
        return {
            "id": self.kept.id or self.whole.id,
            "name": self.whole.name,
            "nodes": [[key, node] for key, node in nodes.items()] if self.form == "map" else nodes,
        }

    def node4(self, node: Node) -> Json:
        params = self.params(node)
        old = self.kept.nodes.get(node.id, KeptNode())
        default = Parameters4()
        given = old.parameters
        temperature = default.temperature if params.temperature is None else params.temperature
        return {
            "id": node.id,
            "name": node.name,
            "position": {"x": old.position.x, "y": old.position.y},
            "apiConfig": {
                "connection": {
                    "endpoint": old.endpoint,
                    "apiKey": "",
                    "model": params.model or Connection4().model,
                },
                "parameters": {
                    "temperature": temperature,
                    "maxTokens": params.max_tokens or default.max_tokens,
                    "topP": given.top_p,
                    "presencePenalty": given.presence_penalty,
                    "frequencyPenalty": given.frequency_penalty,
                    "stopSequences": given.stop_sequences,
                    "streaming": given.streaming,
                },
                "systemPrompt": self.list4(node, "system", params.system, old.system),
                "userPrompt": self.list4(node, "prompt", params.prompt, old.prompt),
            },
        }

    def list4(self, node: Node, field: str, blocks: Blocks, old: KeptBlocks) -> Json:
        written: list[Json] = []
        for number, block in enumerate(self.pieces(node, field, blocks)):
            row = old.blocks[number] if number < len(old.blocks) else KeptBlock()
            own = row.id or digest_of([self.whole.id, node.id, field, number])
            if isinstance(block, TextBlock):
                written.append({"type": "text", "id": own, "content": block.text})
            elif not isinstance(block, InquiryBlock):
                name = {} if row.name is None else {"displayName": row.name}
                written.append({"type": "virtual", "id": own, "sourceNodeId": block.node, **name})
        return {"id": old.id or digest_of([self.whole.id, node.id, field]), "blocks": written}

    def today(self) -> Json:
        nodes = []
        for node in self.whole.nodes:
            params = self.params(node)
            nodes.append(
                {
                    "id": node.id,
                    "label": node.title,
                    "systemPrompt": [_block(each) for each in self.pieces(node, "system", params.system)],
                    "userPrompt": [_block(each) for each in self.pieces(node, "prompt", params.prompt)],
                }
            )
        document: Json = {"name": self.whole.name or self.whole.id, "nodes": nodes}
        if self.form == "template":
            return document
        return {"id": self.kept.id or self.whole.id, **document, **self.progress()}

    def progress(self) -> Json:
        needed = {node: list(sources) for node, sources in dependencies(self.whole).items() if sources}
        every = tuple(node.id for node in self.whole.nodes)
        return {
            "outputs": self.kept.outputs,
            "upstream": needed,
            "downstream": dependents(needed),
            "target_nodes": list(every if self.kept.targets is None else self.kept.targets),
            "stale_nodes": [{"id": node, "kind": kind} for node, kind in self.kept.stale.items()],
        }

    def params(self, node: Node) -> PromptParams:
        """The node's params; notes for those that the document cannot hold."""
        _kind, params = kind_and_params(node)
        assert isinstance(params, PromptParams)
        default = PromptParams()
        lost = ["angles", "review", "role"]
        lost += ["model", "temperature", "max_tokens"] if self.today_form else ["context"]
        for name in lost:
            if getattr(params, name) != getattr(default, name):
                self.note("lost", f"{node.id}.{name}", _("FlowCabal has no such node setting."))
        return params

    def pieces(self, node: Node, field: str, blocks: Blocks) -> Iterator[Block]:
        """The blocks as the document can hold them: references in a text become blocks of their own."""
        place = f"{node.id}.{field}"
        for block in blocks:
            if isinstance(block, TextBlock):
                yield from self.text_pieces(block.text, place)
            elif isinstance(block, InquiryBlock) and not self.today_form:
                self.note("lost", place, _("A question to the Context agent: {text}").format(text=block.question))
            elif not isinstance(block, InquiryBlock) and block.frozen is not None:
                self.note("changed", place, _("The frozen output of {node} becomes a text.").format(node=block.node))
                yield TextBlock(text=block.frozen)
            else:
                yield block

    def text_pieces(self, text: str, place: str) -> Iterator[Block]:
        done = 0
        for match in BINDING.finditer(text):
            node = node_of(match[1])
            if node is None or match[1] not in (f"result_of.{node}", f"result_of.{node}.text"):
                message = _("{path} stays in the text unchanged: that format does not fill it in.")
                self.note("lost", place, message.format(path=match[0]))
                continue
            if text[done : match.start()]:
                yield TextBlock(text=text[done : match.start()])
            done = match.end()
            yield VirtualBlock(node=node)
            if JOINS[self.form]:
                self.note("changed", place, _("{path} becomes a separate block.").format(path=match[0]))
        if text[done:] or not done:
            yield TextBlock(text=text[done:])


def _block(block: Block) -> Json:
    if isinstance(block, TextBlock):
        return {"kind": "literal", "content": block.text}
    if isinstance(block, InquiryBlock):
        return {"kind": "agent-inject", "hint": block.question}
    return {"kind": "ref", "nodeId": block.node}

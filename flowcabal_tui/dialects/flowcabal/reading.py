"""Reads FlowCabal's documents as workflows, with a note for each part that changes or cannot be represented.

Texts are cleaned, and text that looks like one of our references is escaped. Ids are names, never paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from flowcabal_tui.dialects.flowcabal.dependencies import dependency_problem
from flowcabal_tui.dialects.flowcabal.documents import (
    JOINS,
    AgentInject,
    BlockList4,
    Config4,
    Connection4,
    Form,
    Json,
    LiteralBlock,
    Mistakes,
    Node4,
    NodeDef,
    Parameters4,
    Position4,
    Ref,
    Shape,
    Template,
    Workflow4,
    Workspace,
    form_of,
    node_entries,
    parsed,
    shaped,
)
from flowcabal_tui.dialects.flowcabal.known import KEY, KeptBlock, KeptBlocks, KeptNode, KeptParts
from flowcabal_tui.dialects.report import Conversion, ConversionNote, Level
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.prompt_text import BINDING
from flowcabal_tui.domain.text import clean, digest_of, slug
from flowcabal_tui.domain.workflow import Node, Problem, Workflow
from flowcabal_tui.locale import _

_MOST_IN_AN_ID: Final = 80
_UNUSED: Final = ("top_p", "presence_penalty", "frequency_penalty", "stop_sequences")
"""Parameters of a model that a prompt node does not have."""


def findings(source: str | bytes | Mapping[str, Any]) -> tuple[Problem, ...]:
    """All errors that prevent reading the document. Raises DialectError for text that is not a document."""
    try:
        read(source)
    except Mistakes as error:
        return tuple(Problem(code="INVALID_SCHEMA", field=place, message=problem) for place, problem in error.found)
    return ()


def read(source: str | bytes | Mapping[str, Any]) -> Conversion:
    """The workflow of a document in any of the four forms. Raises DialectError that lists every mistake."""
    document = parsed(source)
    form = form_of(document)
    reader = _Reader(form)
    workflow = reader.first_design(document) if form in ("map", "python") else reader.today(document)
    if reader.wrong:
        raise Mistakes(reader.wrong)
    reader.note_problem(workflow)
    return Conversion(workflow, tuple(reader.notes))


class _Reader:
    """One document on its way into a workflow."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.notes: list[ConversionNote] = []
        self.ids: dict[str, str] = {}
        self.taken: set[str] = set()
        self.wrong: list[tuple[str, str]] = []
        """The places with the errors found there."""

    def one(self, shape: type[Shape], value: Any, place: str, otherwise: Shape) -> Shape:
        """`value` in its shape; otherwise `otherwise`, and the errors are collected."""
        try:
            return shaped(shape, value, place)
        except Mistakes as error:
            self.wrong += error.found
            return otherwise

    def note(self, level: Level, place: str, message: str) -> None:
        self.notes.append(ConversionNote(level, place, message))

    def first_design(self, document: Json) -> Workflow:
        rest = {key: value for key, value in document.items() if key != "nodes"}
        top = self.one(Workflow4, rest, "", Workflow4())
        found: dict[str, tuple[Node4, str]] = {}
        for key, place, raw in node_entries(document, self.form, self.wrong):
            given = {"id": key, **raw} if isinstance(raw, dict) and key else raw
            node = self.one(Node4, given, place, Node4(id=key or place))
            if key in found:
                self.note("lost", place, _("The id {id} occurs twice; the later node is kept.").format(id=clean(key)))
            elif node.id != key:
                self.note(
                    "changed",
                    place,
                    _("Its own id is {id}; its key in the document takes precedence.").format(id=clean(node.id)),
                )
            found[key] = node, place
        self.name_nodes(found)
        self.note_unknown(top, "", skip=("nodes",))
        nodes = [self.node4(node, key, place) for key, (node, place) in found.items()]
        own = {self.ids[key]: _kept4(node) for key, (node, _place) in found.items()}
        kept = KeptParts(form=self.form, id=clean(top.id), nodes=own)
        self.note_models([node for node, _place in found.values()])
        return self.workflow(top.id, top.name, nodes, kept)

    def node4(self, node: Node4, key: str, place: str) -> Node:
        config, where = node.api_config, f"{place}.apiConfig"
        for shape, at in ((node, place), (config, where), (config.parameters, f"{where}.parameters")):
            self.note_unknown(shape, at)
        params: Json = {
            "system": self.blocks4(config.system_prompt, f"{where}.systemPrompt"),
            "prompt": self.blocks4(config.user_prompt, f"{where}.userPrompt"),
            **self.settings(config, where),
        }
        return Node(id=NodeId(self.ids[key]), name=clean(node.name).strip(), params=params)

    def settings(self, config: Config4, where: str) -> Json:
        """The connection and parameters that a prompt node can hold; notes for the rest."""
        connection, given = config.connection, config.parameters
        if connection.api_key:
            self.note("lost", f"{where}.connection.apiKey", _("The document contained a key. It was not imported."))
        if connection.endpoint not in ("", Connection4().endpoint):
            message = _("The address {url} belongs in the settings of the project.")
            self.note("lost", f"{where}.connection.endpoint", message.format(url=clean(connection.endpoint)[:200]))
        for name in _UNUSED:
            if getattr(given, name) != getattr(Parameters4(), name):
                message = _("A node has no such setting here; it is kept for an export.")
                self.note("lost", f"{where}.parameters.{name}", message)
        settings: Json = {"model": clean(connection.model)} if connection.model else {}
        for name, value, low, high in (
            ("temperature", given.temperature, 0, 2),
            ("max_tokens", given.max_tokens, 1, 10**9),
        ):
            if low <= value <= high:
                settings[name] = value
            else:
                message = _("{value} is out of range; the model's own value is used.")
                self.note("lost", f"{where}.parameters.{name}", message.format(value=value))
        return settings

    def blocks4(self, blocks: BlockList4, place: str) -> list[Json]:
        found = []
        for number, block in enumerate(blocks.blocks):
            where = f"{place}.blocks[{number}]"
            self.note_unknown(block, where)
            if block.type == "text":
                found.append(self.text(block.content, f"{where}.content"))
            elif not block.source_node_id:
                self.wrong.append((where, _("The block refers to no node.")))
            else:
                found.append(self.reference(block.source_node_id, where))
        return found

    def today(self, document: Json) -> Workflow:
        top: Template | Workspace = (
            shaped(Workspace, document) if self.form == "workspace" else shaped(Template, document)
        )
        found: dict[str, tuple[NodeDef, str]] = {}
        for number, node in enumerate(top.nodes):
            if node.id in found:
                self.wrong.append((f"nodes[{number}]", _("The id {id} occurs twice.").format(id=clean(node.id))))
            found[node.id] = node, f"nodes[{number}]"
        self.name_nodes(found)
        self.note_unknown(top, "")
        nodes = [self.node_today(node, place) for node, place in found.values()]
        if isinstance(top, Workspace):
            return self.workflow(top.id, top.name, nodes, self.progress(top))
        return self.workflow(top.name, top.name, nodes, KeptParts(form=self.form))

    def node_today(self, node: NodeDef, place: str) -> Node:
        self.note_unknown(node, place)
        asks = any(isinstance(block, AgentInject) for block in (*node.system_prompt, *node.user_prompt))
        if asks:
            message = _("The Context agent answers its questions, and adds what it finds the node must know.")
            self.note("info", place, message)
        params: Json = {
            "system": [self.block(block, f"{place}.systemPrompt[{n}]") for n, block in enumerate(node.system_prompt)],
            "prompt": [self.block(block, f"{place}.userPrompt[{n}]") for n, block in enumerate(node.user_prompt)],
            "context": asks,
        }
        return Node(id=NodeId(self.ids[node.id]), name=clean(node.label).strip(), params=params)

    def block(self, block: LiteralBlock | Ref | AgentInject, place: str) -> Json:
        self.note_unknown(block, place)
        if isinstance(block, Ref):
            return self.reference(block.node_id, place)
        if isinstance(block, AgentInject):
            return {"kind": "inquiry", "question": clean(block.hint)}
        return self.text(block.content, f"{place}.content")

    def progress(self, top: Workspace) -> KeptParts:
        """The progress in a workspace: outputs, targets, marks. The graph of references is rebuilt."""
        there = {node.id for node in top.nodes}
        named = {*top.outputs, *top.target_nodes, *(mark.id for mark in top.stale_nodes)}
        for node in sorted(named - there):
            message = _("It refers to the node {id}, which it does not contain.")
            self.note("lost", "", message.format(id=clean(node)))
        outputs = {NodeId(self.ids[node]): clean(text) for node, text in top.outputs.items() if node in there}
        if outputs:
            message = _("The outputs of {n} nodes are imported as existing results.").format(n=len(outputs))
            self.note("info", "outputs", message)
        return KeptParts(
            form=self.form,
            id=clean(top.id),
            outputs=outputs,
            targets=tuple(NodeId(self.ids[node]) for node in top.target_nodes if node in there),
            stale={NodeId(self.ids[mark.id]): mark.kind for mark in top.stale_nodes if mark.id in there},
        )

    def text(self, text: str, place: str) -> Json:
        """A literal text block: a blank breaks up text that would be one of our references."""
        safe = clean(text)
        apart = BINDING.sub(lambda match: f"{{ {{{match[0][2:-2]}}} }}", safe)
        if apart != safe:
            message = _("Double braces are a reference here; in this text they are separated by a space.")
            self.note("changed", place, message)
        return {"kind": "text", "text": apart}

    def reference(self, node: str, place: str) -> Json:
        if node not in self.ids:
            self.ids[node] = self.free_id(node)
            message = _("It refers to {id}, which is not in the document.").format(id=clean(node))
            self.note("info", place, message)
        return {"kind": "virtual", "node": self.ids[node]}

    def name_nodes(self, found: Mapping[str, tuple[Any, str]]) -> None:
        """Assigns ids to all nodes.

        An id changes only if it is too long or contains characters that would be read as a path.
        """
        for original, (_node, place) in found.items():
            self.ids[original] = self.free_id(original)
            if self.ids[original] != original:
                self.note("changed", place, _("Here its id is {id}.").format(id=self.ids[original]))

    def free_id(self, original: str) -> str:
        base = " ".join(clean(original).replace("/", "-").replace("\\", "-").split())[:_MOST_IN_AN_ID] or "node"
        number, name = 2, base
        while name in self.taken:
            name, number = f"{base[: _MOST_IN_AN_ID - 8]}-{number}", number + 1
        self.taken.add(name)
        return name

    def workflow(self, name: str, title: str, nodes: list[Node], kept: KeptParts) -> Workflow:
        today = self.form in ("template", "workspace")
        message = _("The blocks of a prompt are joined as in FlowCabal: {join}").format(join=repr(JOINS[self.form]))
        self.note("info", "", message)
        return Workflow(
            id=slug(name, fallback="flowcabal"),
            name=clean(title).strip(),
            join=JOINS[self.form],
            skip_empty=today,
            context_at="after",
            nodes=_as_answers_of_their_own(nodes),
            metadata={KEY: kept.model_dump(mode="json", exclude_defaults=True)},
        )

    def note_models(self, nodes: list[Node4]) -> None:
        if models := sorted({clean(node.api_config.connection.model) for node in nodes} - {""}):
            message = _("Its nodes ask for the models {names}: the provider of the project must have them.")
            self.note("info", "", message.format(names=_(", ").join(models[:20])))

    def note_unknown(self, shape: BaseModel, place: str, skip: tuple[str, ...] = ()) -> None:
        for name in shape.model_extra or {}:
            if name not in skip:
                where = f"{place}.{clean(name)}" if place else clean(name)
                self.note("lost", where[:200], _("Nothing here has this name."))

    def note_problem(self, workflow: Workflow) -> None:
        problem = dependency_problem(workflow)
        if problem and problem.kind == "cycle":
            message = _("These nodes form a cycle, or depend on one, and cannot run: {nodes}")
            self.note("info", "", message.format(nodes=_(", ").join(problem.nodes[:20])))


def _as_answers_of_their_own(nodes: list[Node]) -> tuple[Node, ...]:
    """FlowCabal asks nodes with equal prompts one by one; here the sample number distinguishes them."""
    seen: Counter[Digest] = Counter()
    found = []
    for node in nodes:
        prompt = digest_of(node.params)
        params = {**node.params, "sample": seen[prompt]} if seen[prompt] else node.params
        found.append(node.model_copy(update={"params": params}))
        seen[prompt] += 1
    return tuple(found)


def _kept4(node: Node4) -> KeptNode:
    config = node.api_config
    unused = {name: getattr(config.parameters, name) for name in (*_UNUSED, "streaming")}
    return KeptNode(
        position=Position4(x=node.position.x, y=node.position.y),
        endpoint=clean(config.connection.endpoint),
        parameters=Parameters4.model_validate(unused),
        system=_kept_blocks(config.system_prompt),
        prompt=_kept_blocks(config.user_prompt),
    )


def _kept_blocks(blocks: BlockList4) -> KeptBlocks:
    names = [None if block.display_name is None else clean(block.display_name) for block in blocks.blocks]
    rows = (KeptBlock(id=clean(block.id), name=name) for block, name in zip(blocks.blocks, names, strict=True))
    return KeptBlocks(id=clean(blocks.id), blocks=tuple(rows))

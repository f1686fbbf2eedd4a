"""The blocks of a node, read from a workflow document and written into a new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError
from textual.content import Content

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.sampling import SAMPLING
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
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.nodes.graph import dependencies, needed_for
from flowcabal_tui.tui.editing.places import bodies_of
from flowcabal_tui.tui.shared.words import NODE_KINDS, one_line
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words, key_words

Field = Literal["system", "prompt", "proposal", "question"]
FIELDS: Final[dict[str, tuple[Field, ...]]] = {"prompt": ("system", "prompt"), "human": ("question", "proposal")}
FIELD_WORDS: Final[dict[Field, str]] = {
    "system": mark("System"),
    "prompt": mark("Prompt"),
    "proposal": mark("Proposal"),
    "question": mark("Question"),
}
REVIEWS: Final = {
    "never": mark("no one is asked"),
    "doubt": mark("you are asked when in doubt"),
    "always": mark("you are always asked"),
}
_BLOCKS: Final[TypeAdapter[Blocks]] = TypeAdapter(Blocks)


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a block: the list of its node, and the index in it."""

    field: Field
    index: int


def blocks_of(node: Node, field: Field) -> Blocks | None:
    """The blocks of a list; a question is one text block. None if the document cannot be read there."""
    value: Any = node.params.get(field, ())
    if field == "question":
        return (TextBlock(text=value if isinstance(value, str) else ""),)
    try:
        return _BLOCKS.validate_python(value)
    except ValidationError:
        return None


def with_blocks(workflow: Workflow, node: NodeId, field: Field, blocks: Blocks) -> Workflow:
    """The document with other blocks in one list of one node; the rest is unchanged."""
    value: Any = [block.model_dump(mode="json") for block in blocks]
    if field == "question":
        value = "".join(block.text for block in blocks if isinstance(block, TextBlock))
    return with_params(workflow, node, {field: value})


def changed_params(params: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with changes; unset sampling parameters are omitted, so that digests do not change."""
    merged = {**params, **changed}
    return {name: value for name, value in merged.items() if name not in SAMPLING or value is not None}


def with_params(workflow: Workflow, node: NodeId, changed: dict[str, Any], name: str | None = None) -> Workflow:
    """The document with some parameters of one node, and optionally its name, changed."""

    def change(item: Node) -> Node:
        update: dict[str, Any] = {"params": changed_params(item.params, changed)}
        return item.model_copy(update=update if name is None else update | {"name": name})

    nodes = tuple(change(item) if item.id == node else item for item in workflow.nodes)
    return workflow.model_copy(update={"nodes": nodes})


def text_of(block: Block | None) -> str | None:
    """The editable text of a block; None for the output of a node."""
    match block:
        case TextBlock(text=text) | InquiryBlock(question=text):
            return text
    return None


def with_text(block: Block, text: str) -> Block:
    """The block with another text."""
    if isinstance(block, InquiryBlock):
        return block.model_copy(update={"question": text})
    return block.model_copy(update={"text": text})


def with_block_replaced(workflow: Workflow, node: NodeId, field: Field, old: Block, new: Block) -> Workflow:
    """The document with one block of a list replaced, at any index; unchanged if the block is not there."""
    blocks = next((blocks_of(item, field) for item in workflow.nodes if item.id == node), None) or ()
    return with_blocks(workflow, node, field, tuple(new if item == old else item for item in blocks))


def same_content(one: Workflow | None, other: Workflow | None) -> bool:
    """True when two documents are equal except for their version."""
    if one is None or other is None:
        return one is other
    return one.model_copy(update={"version": other.version}) == other


def sources_for(workflow: Workflow, node: NodeId) -> tuple[Node, ...]:
    """The nodes whose output a node can read: all others that do not need it themselves."""
    try:
        graph = dependencies(workflow)
    except WorkflowError:
        graph = {}
    return tuple(
        item
        for item in workflow.nodes
        if item.id != node and node not in needed_for(graph, (item.id,) if graph else ())
    )


def block_row(block: Block, workflow: Workflow) -> str:
    """A block on one line: its kind and its beginning."""
    if isinstance(block, TextBlock):
        return one_line(block.text, 120) or _("(empty text)")
    if isinstance(block, InquiryBlock):
        return _("[asks] {question}").format(question=one_line(block.question, 120))
    title = next((item.title for item in workflow.nodes if item.id == block.node), None)
    if title is None:
        return _("[output of {node}] is not in the workflow").format(node=one_line(block.node, 80))
    words = _("[frozen output of {node}]") if block.frozen is not None else _("[output of {node}]")
    return words.format(node=one_line(title, 80))


def block_hint(block: Block | None) -> str:
    """The purpose of a block, unless its text alone shows it."""
    if isinstance(block, InquiryBlock):
        return _("a question to the Context agent, answered here when the node runs")
    if not isinstance(block, VirtualBlock):
        return ""
    frozen = _("a frozen text of {n} characters; `f` goes back to the live output")
    return frozen.format(n=len(block.frozen)) if block.frozen is not None else _("the live output of that node")


def params_words(params: PromptParams) -> str:
    """The parameters of a prompt on one line."""
    parts = [_("model of the writer") if params.role == "user" else _("model of the agents")]
    parts += [one_line(params.model)] if params.model else []
    if params.temperature is not None:
        parts.append(_("temperature {value}").format(value=params.temperature))
    if params.max_tokens is not None:
        parts.append(_("at most {n} tokens").format(n=f"{params.max_tokens:,}"))
    parts.append(_("with context") if params.context else _("without context"))
    angles = len(params.angles)
    parts.append(
        ngettext("checked from {n} angle", "checked from {n} angles", angles).format(n=angles)
        if angles
        else _("not checked")
    )
    parts.append(_(REVIEWS[params.review]))
    return facts_words(*parts)


def no_blocks(node: Node) -> str:
    """The text shown instead of blocks, for a kind of node without any."""
    if any(bodies_of(node)):
        return _("Its steps are nested in it: Space unfolds it in the workflow.")
    return _("It has no prompt: `p` edits its parameters.")


def node_head(node: Node, *, read_only: bool) -> Iterator[Content]:
    """The lines of the heading of a node's blocks: its name and purpose, then its settings."""
    kind = one_line(_(NODE_KINDS.get(node.kind, node.kind)), 80)
    yield head_words(one_line(node.title, 80), kind, _("read-only") if read_only else "")
    if node.kind == "prompt":
        try:
            yield key_words(params_words(PromptParams.model_validate(node.params)))
        except ValidationError:
            yield Content(_("The parameters cannot be read: correct the document."))
    elif node.kind not in FIELDS:
        yield key_words(no_blocks(node))

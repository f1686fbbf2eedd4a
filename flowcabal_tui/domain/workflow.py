"""The workflow document (docs/workflow-language.md): nodes that hold prompts, joined by the references in them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.memory import EntityKind
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.prompt_parts import PartKey
from flowcabal_tui.domain.run import Angle
from flowcabal_tui.domain.sampling import FrequencyPenalty, PresencePenalty, Sampled, Seed, Stop, TopP


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class _Block(_Frozen):
    """`part` puts the block's text, escaped, into a labelled part of the prompt; an empty text adds nothing."""

    part: PartKey | None = Field(None, description="The labelled part that holds its text; default: without a label.")

    @model_serializer(mode="wrap")
    def _plain(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omits an unset `part`, so that a block without one keeps the digest that it had before parts existed."""
        dumped: dict[str, Any] = handler(self)
        if dumped.get("part") is None:
            dumped.pop("part", None)
        return dumped


class TextBlock(_Block):
    """Literal text; `{{input.name}}`, `{{chapter.title}}` and the like are filled in when the node runs."""

    kind: Literal["text"] = "text"
    text: str = ""


class VirtualBlock(_Block):
    """The output of another node; `frozen` text, when set, is used instead of the live output."""

    kind: Literal["virtual"] = "virtual"
    node: NodeId
    frozen: str | None = None


class InquiryBlock(_Block):
    """A question to the Context agent, answered at this place in the prompt."""

    kind: Literal["inquiry"] = "inquiry"
    question: str


Block = Annotated[TextBlock | VirtualBlock | InquiryBlock, Field(discriminator="kind")]
Blocks = tuple[Block, ...]
OutlineScope = Literal["before", "all", "none"]


class ModelCall(_Frozen, Sampled):
    """One call of a model: its messages, the model, and its parameters."""

    system: Blocks = Field((), description="The system message.")
    prompt: Blocks = Field((), description="The message to the model.")
    role: Role = Field("user", description="Which of the project's models: user or agent.")
    model: str | None = Field(None, description="Another configured model, or one of the same provider.")
    temperature: float | None = Field(None, ge=0, le=2, description="Between 0 and 2; default: the model's own.")
    top_p: TopP = None
    frequency_penalty: FrequencyPenalty = None
    presence_penalty: PresencePenalty = None
    stop: Stop = ()
    seed: Seed = None
    max_tokens: int | None = Field(None, ge=1, description="The longest answer, in tokens.")
    context: bool = Field(True, description="Let the Context agent add what this step must know.")


class PromptParams(ModelCall):
    """A call of a language model."""

    system: Blocks = Field((), description="The system message: who the model is, and what always applies.")
    role: Role = Field("user", description="Which of the project's models writes: user or agent.")
    context: bool = Field(True, description="Let the Context agent add what this node must know.")
    context_tokens: int | None = Field(
        None, ge=0, description="The maximum that it may add, in tokens; default: the project's setting."
    )
    point_of_view: str = Field(
        "",
        description="The point of view: an entity's id or name; what only others know is left out. Empty: everything.",
    )
    outline: OutlineScope = Field(
        "before",
        description="What it gets of the outline: the beats of its chapter and a summary of what came before; "
        "all: also what comes later; none.",
    )
    angles: tuple[Angle, ...] = Field((), description="Angles from which the Monitor checks the output.")
    review: Literal["never", "doubt", "always"] = Field(
        "doubt", description="When a human is asked: never, when the check is in doubt, or always."
    )
    sample: int = Field(0, ge=0, description="The number of this answer to the prompt; each number is paid for once.")


class Node(_Frozen):
    """One step. `id` may be Chinese; `params` depend on the kind, which checks them."""

    id: NodeId = Field(min_length=1, max_length=80, description="Its name in references, once in its graph.")
    kind: str = Field("prompt", description="Its kind: one of the kinds of nodes.")
    name: str = Field("", description="Its name on the screen; default: its id.")
    params: dict[str, Any] = Field(default_factory=dict, description="The parameters of its kind.")

    @property
    def title(self) -> str:
        return self.name or self.id


NEVER: Final = "null"
"""The condition of an edge that is never taken."""


class Edge(_Frozen):
    """An order between two nodes that no reference expresses; with a condition, one branch of its source."""

    source: NodeId = Field(description="The node that comes first.")
    target: NodeId = Field(description="The node that waits for it.")
    condition: str | None = Field(
        None,
        description='The label of the branch, such as "true"; default: always; "null": never, the branch ends there.',
    )

    @property
    def never(self) -> bool:
        """True for an edge of a branch that ends, which starts no node."""
        return self.condition == NEVER


class Body(_Frozen):
    """A graph inside a node: the body of a loop, or one branch of a parallel. It sees the nodes around it."""

    nodes: tuple[Node, ...] = Field(min_length=1, description="The nodes; at least one.")
    edges: tuple[Edge, ...] = Field((), description="Order and branches between the nodes.")
    exit: NodeId | None = Field(
        None, description="The node whose output is the output of the body; default: the last one."
    )


CHAPTER_KEEPS: Final = ("chapter", "scene")
"""Kinds of keeping that write the text of a chapter."""


class Keep(_Frozen):
    """The defaults for keeping an output."""

    kind: Literal["chapter", "scene", "outline", "note", "entity"] = Field(
        "chapter", description="What it is kept as; entity: the note of a name."
    )
    mode: Literal["replace", "append"] = Field("replace", description="Replace the existing text, or append to it.")
    entity: EntityKind | None = Field(None, description="The kind of an entity that is not listed yet.")
    name: str = Field(
        "",
        description="The entity's name; `{{input.name}}`, `{{chapter.title}}` and `{{result_of.NODE}}` are filled in.",
    )

    @property
    def names_entity(self) -> bool:
        """True when the kind of the entity and its name are declared."""
        return self.entity is not None and bool(self.name.strip())

    @model_serializer(mode="wrap")
    def _plain(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omits unset fields of the entity, so that older documents keep their digests."""
        dumped: dict[str, Any] = handler(self)
        return {name: value for name, value in dumped.items() if name not in ("entity", "name") or value}


KEEP_EXAMPLE: Final = '"keep": {"kind": "entity", "entity": "character", "name": "{{input.name}}"}'


class Workflow(_Frozen):
    """A directed acyclic graph of nodes; data edges are derived from references."""

    id: str = Field(
        min_length=1,
        max_length=80,
        pattern=r"^[^@/\\\s]+$",
        description="Its name in a project; no spaces, slashes or @.",
    )
    version: int = Field(1, ge=1, description="Counts up when it is saved; `id@version` names exactly this one.")
    name: str = Field("", description="Its name on the screen; default: its id.")
    description: str = Field("", description="What it is for.")
    language: str = Field("", description="The language of its output, such as zh; default: that of the book.")
    join: str = Field("", description="The text between the blocks of a prompt.")
    context_at: Literal["before", "after"] = Field(
        "before", description="The place of the Context agent's texts: before the blocks of the prompt, or after them."
    )
    skip_empty: bool = Field(False, description="Leave out empty blocks of a prompt, with their join.")
    nodes: tuple[Node, ...] = Field((), description="The steps.")
    edges: tuple[Edge, ...] = Field((), description="Branches, and orders that no reference expresses.")
    entry: NodeId | None = Field(None, description="The first node, for the reader; references determine what runs.")
    keep: Keep = Field(Keep(), description="How an output is kept in the book by default.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="Free data of other programs, kept unchanged.")

    @property
    def reference(self) -> str:
        """`id@version`."""
        return f"{self.id}@{self.version}"

    def node(self, node: NodeId) -> Node:
        """The node with that id. Raises Gone."""
        for candidate in self.nodes:
            if candidate.id == node:
                return candidate
        raise Gone(node)


def workflow_id(reference: str) -> str:
    """The id in `id` or `id@version`."""
    return reference.partition("@")[0]


class Problem(_Frozen):
    """A problem that validation finds in a document. `node` and `field` name the place."""

    code: str
    message: str
    node: str = ""
    field: str = ""
    severity: Literal["error", "warning"] = "error"
    fix: str = ""

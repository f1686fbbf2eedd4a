"""The shapes of FlowCabal's documents, and how to distinguish them.

`map`: the first design, nodes as entries `[id, node]`. `python`: its Python engine, nodes as an object or a list, names
in camelCase or snake_case. `template` and `workspace`: today's application.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from flowcabal_tui.dialects.reading import load
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.locale import _

Form = Literal["map", "python", "template", "workspace"]
FORMS: Final[tuple[Form, ...]] = ("map", "python", "template", "workspace")
JOINS: Final[Mapping[Form, str]] = {"map": "", "python": "\n", "template": "\n\n", "workspace": "\n\n"}
"""The separator of each form between the blocks of a prompt; today's application leaves out empty ones."""
MAX_NODES: Final = 100_000
_MOST_LISTED: Final = 50
Json = dict[str, Any]
_KINDS: Final = ("literal", "ref", "agent-inject")
"""Path parts that a validator adds for a choice; they are not in the document."""


class _Shape(BaseModel):
    model_config = ConfigDict(
        extra="allow", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, allow_inf_nan=False
    )


class Block4(_Shape):
    """A block of the first design: a text, or the output of another node."""

    type: Literal["text", "virtual"] = "text"
    id: str = ""
    content: str = ""
    source_node_id: str = ""
    display_name: str | None = None


class BlockList4(_Shape):
    """The blocks of one message."""

    id: str = ""
    blocks: list[Block4] = []


class Connection4(_Shape):
    """The address and key of a node's model."""

    endpoint: str = "https://api.openai.com/v1"
    api_key: str = ""
    model: str = "gpt-4o"


class Parameters4(_Shape):
    """The sampling parameters of a node's model."""

    temperature: float = 0.7
    max_tokens: int = 4096
    top_p: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    stop_sequences: list[str] = []
    streaming: bool = True


class Config4(_Shape):
    """The model configuration and prompts of a node."""

    connection: Connection4 = Connection4()
    parameters: Parameters4 = Parameters4()
    system_prompt: BlockList4 = BlockList4()
    user_prompt: BlockList4 = BlockList4()


class Position4(_Shape):
    """The position of a node on the canvas."""

    x: float = 0.0
    y: float = 0.0


class Node4(_Shape):
    """A node of the first design."""

    id: str = Field(min_length=1)
    name: str = ""
    position: Position4 = Position4()
    api_config: Config4 = Config4()


class Workflow4(_Shape):
    """A workflow of the first design, its nodes in order."""

    id: str = ""
    name: str = ""
    nodes: list[Node4] = []


class LiteralBlock(_Shape):
    """A block of literal text."""

    kind: Literal["literal"]
    content: str


class Ref(_Shape):
    """The output of another node."""

    kind: Literal["ref"]
    node_id: str


class AgentInject(_Shape):
    """A question to the memory agent, answered at this place."""

    kind: Literal["agent-inject"]
    hint: str


Block = Annotated[LiteralBlock | Ref | AgentInject, Field(discriminator="kind")]


class NodeDef(_Shape):
    """A node of today's application."""

    id: str = Field(min_length=1)
    label: str
    system_prompt: list[Block]
    user_prompt: list[Block]


class Template(_Shape):
    """A workflow without outputs."""

    name: str
    nodes: list[NodeDef]


class StaleNode(_Shape):
    """A node whose output is older than its inputs."""

    id: str
    kind: Literal["direct", "propagated"]


class Workspace(_Shape, alias_generator=None):
    """A workflow with outputs and marks."""

    id: str
    name: str
    nodes: list[NodeDef]
    outputs: dict[str, str]
    upstream: dict[str, list[str]]
    downstream: dict[str, list[str]]
    target_nodes: list[str]
    stale_nodes: list[StaleNode]


Shape = TypeVar("Shape", bound=BaseModel)


def parsed(source: str | bytes | Mapping[str, Any]) -> Json:
    """The document as an object. Raises DialectError, with line and column if known."""
    if isinstance(source, Mapping):
        return dict(source)
    try:
        found = load(source.decode("utf-8-sig") if isinstance(source, bytes) else source)
    except UnicodeDecodeError as error:
        raise DialectError(_("The document cannot be read."), str(error)[:300]) from error
    if not isinstance(found, dict):
        raise not_ours(_("It is not an object."))
    return found


class Mistakes(DialectError):
    """The errors in a document of FlowCabal: `found` are places with messages."""

    def __init__(self, found: Iterable[tuple[str, str]]) -> None:
        self.found = tuple(found)
        lines = [
            _("{place}: {problem}").format(place=at, problem=problem) if at else problem for at, problem in self.found
        ]
        super().__init__(
            _("This is not a FlowCabal workflow."),
            "\n".join(lines[:_MOST_LISTED]),
            _("Only its workflows, templates and workspaces are read, as JSON."),
        )


def not_ours(reason: str) -> Mistakes:
    """The error for a document that is not FlowCabal's."""
    return Mistakes([("", reason)])


def form_of(document: Json) -> Form:
    """The form of a document. Raises DialectError for an unknown form."""
    if "configs" in document and "nodes" not in document:
        raise not_ours(_("It is a list of models and contains keys: set models up in the settings of the project."))
    if "nodes" not in document:
        raise not_ours(_("It has no nodes."))
    nodes = document["nodes"]
    if not isinstance(nodes, (dict, list)):
        raise not_ours(_("nodes: it is neither a list nor an object."))
    if len(nodes) > MAX_NODES:
        raise DialectError(
            _("The document has {n} nodes.").format(n=len(nodes)), _("At most {n} are read.").format(n=MAX_NODES)
        )
    if "outputs" in document or "target_nodes" in document:
        return "workspace"
    if isinstance(nodes, dict):
        return "python"
    if nodes and all(isinstance(node, list) for node in nodes):
        return "map"
    fields = {field for node in nodes if isinstance(node, dict) for field in node}
    if fields & {"apiConfig", "api_config", "position"}:
        return "python"
    if fields & {"label", "systemPrompt", "userPrompt"}:
        return "template"
    return "python" if "id" in document or nodes else "template"


def node_entries(document: Json, form: Form, wrong: list[tuple[str, str]]) -> Iterator[tuple[str, str, Any]]:
    """The nodes of a document of the first design: id, place, node. Adds invalid entries to `wrong`."""
    nodes = document["nodes"]
    if isinstance(nodes, dict):
        yield from ((key, f"nodes.{key}", node) for key, node in nodes.items())
        return
    for number, node in enumerate(nodes):
        place = f"nodes[{number}]"
        if form == "map":
            if len(node) == 2 and isinstance(node[0], str):
                yield node[0], f"{place}[1]", node[1]
            else:
                wrong.append((place, _("It is not a pair of an id and a node.")))
        else:
            yield str(node.get("id", "")) if isinstance(node, dict) else "", place, node


def shaped(shape: type[Shape], value: Any, place: str = "") -> Shape:
    """`value` in its shape. Raises Mistakes with every invalid place."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise Mistakes(
            (_shown(place, tuple(part for part in one["loc"] if part not in _KINDS)), refusal(one))
            for one in error.errors(include_url=False)
        ) from error


def _shown(place: str, parts: tuple[str | int, ...]) -> str:
    for part in parts:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return place

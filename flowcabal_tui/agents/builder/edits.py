"""The edits that make or change a workflow: one closed type for the form, the model and VelvetFlow's planner."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, Field

MetaField = Literal["id", "name", "description", "language", "keep", "join", "context_at", "skip_empty"]
_PATH: Final = "The node's id; inside another: `loop/draft`, `parallel/branch/draft`."
_IN: Final = "The graph: empty for the workflow, `loop` for the body of a loop, `parallel/branch` for a branch."


class _Edit(BaseModel, frozen=True, extra="forbid", strict=True):
    because: str = Field("", description="The checklist item that this serves.")


class AddNode(_Edit):
    """Adds a node. A prompt that is given as text becomes one text block."""

    edit: Literal["add_node"] = "add_node"
    id: str = Field(description="Its id, unique in its graph: short, without spaces or slashes.")
    kind: str = Field("prompt", description="The kind of node.")
    name: str = Field("", description="The name that the writer sees.")
    params: dict[str, Any] = Field(default_factory=dict, description="The parameters of the kind.")
    inside: str = Field("", description=_IN)
    after: str = Field("", description="The id of the node after which it is listed; none: at the end.")


class RemoveNode(_Edit):
    """Removes a node and its edges. Change the nodes that read its output first."""

    edit: Literal["remove_node"] = "remove_node"
    node: str = Field(description=_PATH)


class ConnectNodes(_Edit):
    """Adds an edge: for an order that no reference implies, or for a branch of a condition."""

    edit: Literal["connect"] = "connect"
    source: str = Field(description="The id of the node that comes first.")
    target: str = Field(description="The id of the node that waits for it.")
    condition: str | None = Field(None, description='The branch: "true", "false" or the label of a band; none: always.')
    inside: str = Field("", description=_IN)


class DisconnectNodes(_Edit):
    """Removes an edge."""

    edit: Literal["disconnect"] = "disconnect"
    source: str = Field(description="The id of the node that comes first.")
    target: str = Field(description="The id of the node that waits for it.")
    condition: str | None = Field(None, description="The branch of the edge; none: an edge without one.")
    inside: str = Field("", description=_IN)


class SetParam(_Edit):
    """Sets a parameter other than a prompt; null removes it."""

    edit: Literal["set_param"] = "set_param"
    node: str = Field(description=_PATH)
    field: str = Field(description="Such as `review`, `temperature`, `write.model`.")
    value: Any = Field(description="A JSON value.")


class SetPrompt(_Edit):
    """Changes a prompt by exactly one of `blocks`, `append` and `find`."""

    edit: Literal["set_prompt"] = "set_prompt"
    node: str = Field(description=_PATH)
    field: str = Field("prompt", description="Such as `prompt`, `system`, `criticise.prompt`, `question`.")
    blocks: list[Any] | str | None = Field(None, description="The new prompt, complete.")
    append: list[Any] | str | None = Field(None, description="Blocks to add at the end.")
    find: str | None = Field(None, description="Words, or the id of a virtual block, that occur exactly once.")
    replace: str = Field("", description="The replacement for `find`.")


class RenameNode(_Edit):
    """Changes the name that the writer sees; the id stays, so references stay valid."""

    edit: Literal["rename"] = "rename"
    node: str = Field(description=_PATH)
    name: str = Field(min_length=1)


class SetMeta(_Edit):
    """Sets a field of the workflow itself."""

    edit: Literal["set_meta"] = "set_meta"
    field: MetaField = Field(description="The id can be set only while the workflow is new.")
    value: Any = Field(description='Such as {"kind": "scene", "mode": "replace"} for keep.')


Edit = AddNode | RemoveNode | ConnectNodes | DisconnectNodes | SetParam | SetPrompt | RenameNode | SetMeta
EDITS: Final[tuple[type[Edit], ...]] = get_args(Edit)

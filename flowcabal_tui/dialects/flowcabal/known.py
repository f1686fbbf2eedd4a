"""The parts of a document besides its nodes that the workflow stores in its metadata."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flowcabal_tui.dialects.flowcabal.documents import Connection4, Parameters4, Position4
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.versions import StaleKind
from flowcabal_tui.domain.workflow import Workflow

KEY: Final = "flowcabal"


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True)


class KeptBlock(_Kept):
    """Id and name of a block of the first design."""

    id: str = ""
    name: str | None = None


class KeptBlocks(_Kept):
    """Ids of a message of the first design."""

    id: str = ""
    blocks: tuple[KeptBlock, ...] = ()


class KeptNode(_Kept):
    """Fields of a node of the first design without a counterpart in our params. No key is kept."""

    position: Position4 = Position4()
    endpoint: str = Connection4().endpoint
    parameters: Parameters4 = Parameters4()
    system: KeptBlocks = KeptBlocks()
    prompt: KeptBlocks = KeptBlocks()


class KeptParts(_Kept):
    """The kept parts of a document; `outputs`, `targets` and `stale` come from a workspace."""

    form: str = ""
    id: str = ""
    nodes: dict[str, KeptNode] = Field(default_factory=dict)
    outputs: dict[NodeId, str] = Field(default_factory=dict)
    targets: tuple[NodeId, ...] | None = None
    stale: dict[NodeId, StaleKind] = Field(default_factory=dict)


def kept(workflow: Workflow) -> KeptParts:
    """The kept parts; empty for a workflow from elsewhere."""
    try:
        return KeptParts.model_validate(workflow.metadata.get(KEY, {}))
    except ValidationError:
        return KeptParts()

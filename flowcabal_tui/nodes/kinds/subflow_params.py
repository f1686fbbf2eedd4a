"""What a sub-flow node is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import FROM
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.locale import _


class SubflowParams(BaseModel):
    """Which workflow, what it is given, and what is taken from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str = Field(min_length=1, description="The workflow, as id@version; an id alone means its newest version.")
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="Its inputs by name; bindings are filled in. It sees nothing else."
    )
    outputs: dict[str, Any] = Field(
        default_factory=dict,
        description="Name to a binding that is read inside it (result_of.NODE..., input...); none: what its last node "
        "yields.",
    )
    share_state: bool = Field(True, description="It reads and writes the state around; false: an empty one of its own.")
    depth: Any = Field(
        None,
        description="For a workflow that calls itself: the binding input.NAME of the whole number that says how many "
        "levels may follow. The called workflow gets one less under that name; at 0 nothing is called.",
    )
    bottom: Any = Field(None, description="What this node yields where `depth` ends the calls; bindings are filled in.")

    @field_validator("depth")
    @classmethod
    def _depth_is_an_input(cls, depth: Any) -> Any:
        if depth is not None and depth_name(depth) is None:
            raise ValueError(_("depth must be the binding of an input, such as input.depth"))
        return depth


def depth_name(depth: Any) -> str | None:
    """The input that a depth binding reads: "levels" for `input.levels` in any of the three forms; None for others."""
    source = depth.get(FROM) if isinstance(depth, Mapping) and set(depth) <= {FROM} else depth
    try:
        parts = paths.parse(source).parts if isinstance(source, str) else ()
    except BindingError:
        return None
    return parts[1] if len(parts) == 2 and parts[0] == "input" and isinstance(parts[1], str) else None

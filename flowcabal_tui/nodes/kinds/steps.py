"""Model calls inside a node: each is a prompt node of its own, so it is cached, resumed and displayed like any
other.
"""

from __future__ import annotations

import json
from typing import Any, Final, Literal

from pydantic import Field

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.run import Angle
from flowcabal_tui.domain.workflow import ModelCall, Node, PromptParams, TextBlock
from flowcabal_tui.nodes.base import NodeContext

_DECODER: Final = json.JSONDecoder(strict=False)
_OPENING: Final = late(r"\{")
_MOST_OPENINGS: Final = 200
"""Maximum braces tried as the beginning of an object, which bounds the cost of a hostile answer."""


class WritingStep(ModelCall):
    """One model call: its prompt and the model."""

    def params(
        self,
        *,
        instructions: str = "",
        angles: tuple[Angle, ...] = (),
        review: Literal["never", "doubt", "always"] = "never",
        **changed: Any,
    ) -> PromptParams:
        """The params of the prompt node that makes the call; `instructions` is the end of the system message."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        if instructions:
            fields["system"] = (*self.system, TextBlock(text=f"\n\n{instructions}" if self.system else instructions))
        return PromptParams.model_validate({**fields, "angles": angles, "review": review, **changed})


class AgentStep(WritingStep):
    """A call that reads and judges facts: made by the agents' model, given only its prompt."""

    role: Role = Field("agent", description="Which of the project's models: user or agent.")
    context: bool = Field(False, description="Let the Context agent add what this step must know.")


def prompt_node(node: str, params: PromptParams, name: str = "") -> Node:
    """The prompt node with these params."""
    return Node(id=NodeId(node), name=name, params=params.model_dump(mode="json", exclude_none=True))


def identities(context: NodeContext, calls: tuple[PromptParams, ...]) -> Any:
    """The models of the calls, for a fingerprint; None when the Context agent adds to one of the prompts."""
    known = [context.models.identity(params) for params in calls]
    return None if None in known else known


def json_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a model's answer, with or without prose and fences; None when there is none."""
    for number, opening in enumerate(_OPENING.finditer(text)):
        if number == _MOST_OPENINGS:
            break
        try:
            found, _end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None

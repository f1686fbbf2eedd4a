"""The briefs of the bench for builders."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.working_copy import Known

DEV = Path(__file__).parents[3] / "shared" / "bench" / "builder" / "dev"


def rows(name: str) -> dict[str, Json]:
    """The lines of a file of the bench by id; {} where the bench is absent."""
    file = DEV / f"{name}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {row["id"]: row for row in map(json.loads, lines)}


def known_in(brief: Json) -> Known:
    """The names that a brief allows."""
    actions = {each["action_id"]: _Shape(each) for each in brief.get("actions") or ()}
    flows = {each["ref"]: tuple(each["inputs"]) for each in brief.get("subflows") or ()}
    return Known(actions=actions, flows=list(flows), models=brief.get("models") or (), flow_inputs=flows)


class _Shape(SimpleNamespace):
    def __init__(self, action: Json) -> None:
        super().__init__(arg_schema=action["arg_schema"], output_schema=action["output_schema"], enabled=True)

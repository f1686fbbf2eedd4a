"""Turns each valid state of a skeleton of VelvetFlow's planner into edits of the working copy."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Final

from pydantic import ValidationError

from flowcabal_tui.agents.builder.build_state import Build
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.edits_between import edits_between
from flowcabal_tui.agents.builder.refused import EditRefused
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.dialects.velvetflow import check, read, write
from flowcabal_tui.dialects.velvetflow.planner.skeleton import Skeleton
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.validation import Actions

_READ: Final = ("name", "description", "nodes", "edges")


class VelvetFlowDraft:
    """The skeleton of a build. The copy of the build is always its last valid version."""

    def __init__(self, build: Build) -> None:
        """Raises DialectError when the workflow holds nodes that VelvetFlow does not have."""
        self._build = build
        self.actions: Actions = build.copied.known.actions or {}
        document = build.copied.document
        self.skeleton = Skeleton()
        self._made: Json = {**document, "nodes": [], "edges": []}
        if document.get("nodes"):
            self.skeleton = Skeleton.of(write(Workflow.model_validate(document))[0])
            self._made = self._as_ours()
        self.problems: tuple[str, ...] = ()
        """The reasons why the current skeleton could not be applied."""

    def take_over(self) -> None:
        """Applies the current skeleton to the copy in one step; otherwise records the obstacles in `problems`."""
        if not self.skeleton.nodes:
            return
        try:
            ours = self._as_ours()
            edits = tuple(edits_between(self._made, ours))
            if edits:
                self._build.copied = self._build.copied.with_edits(edits)
        except (DialectError, EditRefused) as error:
            self.problems = tuple(filter(None, (error.title, *error.detail.split("\n"))))
        except (ValidationError, ValueError) as error:
            self.problems = (str(error)[:500],)
        else:
            self._made, self.problems = ours, ()

    def findings(self, but: Collection[str] = ()) -> Mapping[str, tuple[str, ...]]:
        """The errors of each node by its id; "" for the document. `but` are codes to leave out."""
        found: dict[str, list[str]] = {}
        try:
            for each in check(self.skeleton.document(derived=False), self.actions):
                if each.severity == "error" and each.code not in but:
                    found.setdefault(each.node, []).append(f"[{each.code}] {each.field}: {each.message}")
        except DialectError as error:
            found[""] = [str(error)]
        return {name: tuple(lines) for name, lines in found.items()}

    def shown(self) -> str:
        """The skeleton in the form that the model sees."""
        return json.dumps(self.skeleton.document(), ensure_ascii=False)

    def _as_ours(self) -> Json:
        workflow = read(self.skeleton.document(derived=False)).workflow
        document: Json = json.loads(workflow.model_dump_json())
        return {**self._build.copied.document, **{key: document[key] for key in _READ}}

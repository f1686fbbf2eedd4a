"""Briefs for the Builder, read from a file, and the answers to them: `bench builder`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.agents.builder.build_state import Build
from flowcabal_tui.agents.builder.builder import AnsweringModel, ModelBuilder, plain_round
from flowcabal_tui.agents.builder.checks import check
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.form_builder import build_by_form, unread_note
from flowcabal_tui.agents.builder.form_words import form_of
from flowcabal_tui.agents.builder.forms import Form
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.project.builder.simulated_runs import SimulatedRuns


@dataclass(frozen=True, slots=True)
class Brief:
    """A request with the names that the Builder may use. `workflow` is the document to change."""

    id: str
    wish: str
    language: str
    workflow: Json | None
    known: Known

    @property
    def copied(self) -> WorkingCopy:
        """The working copy."""
        return WorkingCopy.of(self.workflow, self.known, language=self.language)


def read_briefs(path: Path) -> list[Brief]:
    """The briefs of a file, one JSON object per line. Raises SettingsError."""
    return [_brief(row) for row in _rows(path)]


def read_forms(path: Path) -> dict[str, Form]:
    """Filled forms by the id of their brief: `{"id": ..., "form": {...}}` per line. Raises SettingsError."""
    try:
        return {str(row["id"]): Form.model_validate(row["form"]) for row in _rows(path)}
    except (KeyError, ValidationError) as error:
        raise SettingsError(
            _("{file} contains a form that cannot be read.").format(file=path.name), str(error)
        ) from error


async def answered(brief: Brief, form: Form | None) -> Json:
    """The answer by rule: from the form, or from one filled from the request."""
    copied = brief.copied
    form = form or form_of(brief.wish, copied, brief.language)
    built = build_by_form(form, copied, brief.language)
    if built.question:
        return {"id": brief.id, "workflow": None, "question": built.question, "explanation": ""}
    report = await check(built.copied, built.items, SimulatedRuns(brief.known))
    lines = [*(each.message for each in report.problems), *unread_note(form), *report.notes]
    return {"id": brief.id, "workflow": built.copied.document, "question": None, "explanation": " ".join(lines)}


async def answered_by_model(brief: Brief, model: AnsweringModel) -> Json:
    """The answer of a model, with its usage. A stopped build has a reason instead of a document."""
    build = Build(brief.wish, brief.language, brief.copied)

    async def keep(_build: Build) -> None:
        """Keeps nothing: only the answer matters."""

    await ModelBuilder(model, SimulatedRuns(brief.known), keep).build(build)
    done = build.status == "finished"
    return {
        "id": brief.id,
        "workflow": build.copied.document if done else None,
        "question": "\n".join(build.questions) if build.status == "asks" else None,
        "explanation": build.explanation if done else build.stopped,
        "rounds": [plain_round(each) for each in build.rounds],
        "tokens": build.tokens,
    }


def _brief(row: Mapping[str, Any]) -> Brief:
    try:
        actions = [Action.model_validate(each) for each in row.get("actions") or ()]
        flows = {str(each["ref"]): tuple(each.get("inputs") or ()) for each in row.get("subflows") or ()}
        known = Known(
            actions={action.action_id: action for action in actions},
            flows=tuple(flows),
            models=tuple(row.get("models") or ()),
            flow_inputs=flows,
        )
        return Brief(str(row["id"]), str(row["intent"]), str(row.get("lang", "en")), row.get("workflow"), known)
    except (KeyError, TypeError, ValidationError) as error:
        raise SettingsError(_("One of the briefs cannot be read."), str(error)) from error


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    except OSError as error:
        raise SettingsError(_("Cannot read {file}.").format(file=path.name), os_reason(error)) from error
    except ValueError as error:
        raise SettingsError(_("{file} is not a list of JSON objects.").format(file=path.name), str(error)) from error

"""Questions before a run: the instruction, the length of the chapter, the inputs of the workflow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.overview import LENGTH, usual_length
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.inputs import missing_inputs
from flowcabal_tui.tui.runs.inputs_form import InputsForm, values_of
from flowcabal_tui.tui.runs.words import INSTRUCTION, asks_for_length
from flowcabal_tui.tui.widgets.prompt_line import PromptLine, RunLine

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project


async def ask_instruction(
    screen: Screen[None], workbench: Project, workflow: Workflow, chapter: ChapterId | None
) -> tuple[tuple[str, str], ...] | None:
    """The instruction for a run and, if the workflow reads it, the length of the chapter; both are remembered for the
    next run.

    None when the writer cancels.
    """
    title = _("Instruction for this run of {name} (may be empty)").format(name=workflow.name or workflow.id)
    wish_key, length_key = f"{INSTRUCTION}/{chapter}", f"{LENGTH}/{chapter}"
    before = await workbench.drafts.draft(wish_key) or ""
    line = PromptLine(title, value=before)
    if chapter is not None and asks_for_length(workflow):
        usual, length = await _usual(workbench, chapter), await workbench.drafts.draft(length_key) or ""
        label = _("Length in characters:") if workbench.info.language.startswith("zh") else _("Length in words:")
        line = RunLine(title, value=before, length=length, label=label, usual=usual)
    wish = await screen.app.push_screen_wait(line)
    if wish is None:
        return None
    await workbench.drafts.put_draft(wish_key, wish)
    if not isinstance(line, RunLine):
        return ((INSTRUCTION, wish),)
    await workbench.drafts.put_draft(length_key, line.length)
    return ((INSTRUCTION, wish), *([(LENGTH, line.length)] if line.length else []))


async def _usual(workbench: Project, chapter: ChapterId) -> str:
    """The length that a chapter gets where none is given for the run, in words."""
    seen = await workbench.book.overview()
    if goal := seen.goals.chapter:
        return _("{n} (the goal of a chapter)").format(n=f"{goal:,}")
    here = next((each.chapter.position for each in seen.chapters if each.chapter.id == chapter), 0)
    written = [each.chapter.length for each in seen.chapters if each.chapter.length and each.chapter.position < here]
    if usual := usual_length(written):
        return _("{n} (as in the previous chapters)").format(n=f"{usual:,}")
    return _("not set")


async def ask_inputs(
    screen: Screen[None], workbench: Project, workflow: Workflow, targets: Sequence[NodeId]
) -> tuple[tuple[str, Any], ...] | None:
    """The inputs of a run from the writer; None when the writer cancels."""
    names = missing_inputs(workflow, (), targets)
    if not names:
        return ()
    key = f"inputs/{workflow.id}"
    title = _("{name} asks for:").format(name=workflow.name or workflow.id)
    typed = await screen.app.push_screen_wait(InputsForm(title, names, _known(await workbench.drafts.draft(key))))
    if typed is None:
        return None
    await workbench.drafts.put_draft(key, json.dumps(typed, ensure_ascii=False))
    return tuple(values_of(typed).items())


def _known(draft: str | None) -> dict[str, str]:
    """The inputs of the last run; none when they cannot be read."""
    try:
        found = json.loads(draft or "{}")
    except ValueError:
        return {}
    return {str(name): str(text) for name, text in found.items()} if isinstance(found, dict) else {}

"""Questions before a run: the instruction, the length of the chapter, the inputs of the workflow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Static

from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.json_errors import json_reason
from flowcabal_tui.domain.overview import LENGTH, usual_length
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _, mark
from flowcabal_tui.nodes.inputs import missing_inputs
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.runs.words import INSTRUCTION, asks_for_length
from flowcabal_tui.tui.shared.form import RowsForm, form_keys
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine, RunLine

JSON: str = ":="
"""The prefix of a value that is not text, as on the command line."""


class InputsForm(RowsForm[dict[str, str]]):
    """Returns the typed texts by name, or None when it was left. `values_of` converts them into values."""

    help = HelpData(
        mark("Inputs"),
        mark("The inputs of this workflow. Ctrl+s starts it with them; Esc runs nothing."),
    )
    DEFAULT_CSS = "InputsForm .wrong { height: auto; max-height: 6; }"
    BINDINGS: ClassVar[list[BindingType]] = form_keys("inputs")

    def __init__(self, title: str, names: Sequence[str], before: Mapping[str, str]) -> None:
        """`before` are the texts typed last time."""
        super().__init__()
        self._heading, self._names, self._before = title, tuple(names), before

    def compose(self) -> ComposeResult:
        """Yields one row per input."""
        with VerticalScroll(can_focus=False):
            yield Static(one_line(self._heading), markup=False)
            for number, name in enumerate(self._names):
                value = clean(str(self._before.get(name, ""))).replace("\n", " ")
                yield Horizontal(
                    Static(one_line(name, 20), markup=False), Input(value, id=f"input-{number}", compact=True)
                )
            yield Static(markup=False, classes="wrong")
            yield Static(_("Text as it is; a list, an object or a number as JSON after :="), markup=False)
            yield Static(_("Ctrl+s: apply   Esc: cancel"), markup=False)

    def on_mount(self) -> None:
        """Focuses the first input."""
        self.query_one("#input-0", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes to the next field, and submits the form in the last one."""
        event.stop()
        if event.input.id == f"input-{len(self._names) - 1}":
            self.action_take()
        else:
            self.focus_next()

    def action_take(self) -> None:
        """Returns the typed texts, or shows which JSON is invalid."""
        typed = {
            name: clean(self.query_one(f"#input-{number}", Input).value) for number, name in enumerate(self._names)
        }
        try:
            values_of(typed)
        except ValueError as error:
            self.query_one(".wrong", Static).update(clean(f"! {error}"))
        else:
            self.dismiss(typed)


def values_of(typed: Mapping[str, str]) -> dict[str, Any]:
    """The typed values: text, or JSON after `:=`. Raises ValueError that names the input."""
    found: dict[str, Any] = {}
    for name, text in typed.items():
        if not text.startswith(JSON):
            found[name] = text
            continue
        try:
            found[name] = json.loads(text.removeprefix(JSON))
            json.dumps(found[name], allow_nan=False)
        except json.JSONDecodeError as error:
            message = _("{place}: {problem}").format(place=name, problem=json_reason(error))
            raise ValueError(message) from error
        except (ValueError, RecursionError) as error:
            message = _("{place}: {problem}").format(place=name, problem=_("this JSON cannot be used."))
            raise ValueError(message) from error
    return found


async def ask_instruction(
    screen: Screen[None], project: Project, workflow: Workflow, chapter: ChapterId | None
) -> tuple[tuple[str, str], ...] | None:
    """The instruction for a run and, if the workflow reads it, the length of the chapter; both are remembered for the
    next run.

    None when the writer cancels.
    """
    title = _("Instruction for this run of {name} (may be empty)").format(name=workflow.name or workflow.id)
    wish_key, length_key = f"{INSTRUCTION}/{chapter}", f"{LENGTH}/{chapter}"
    before = await project.drafts.draft(wish_key) or ""
    line = PromptLine(title, value=before)
    if chapter is not None and asks_for_length(workflow):
        usual, length = await _usual(project, chapter), await project.drafts.draft(length_key) or ""
        label = _("Length in characters:") if project.info.language.startswith("zh") else _("Length in words:")
        line = RunLine(title, value=before, length=length, label=label, usual=usual)
    wish = await screen.app.push_screen_wait(line)
    if wish is None:
        return None
    await project.drafts.put_draft(wish_key, wish)
    if not isinstance(line, RunLine):
        return ((INSTRUCTION, wish),)
    await project.drafts.put_draft(length_key, line.length)
    return ((INSTRUCTION, wish), *([(LENGTH, line.length)] if line.length else []))


async def _usual(project: Project, chapter: ChapterId) -> str:
    """The length that a chapter gets where none is given for the run, in words."""
    seen = await project.book.overview()
    if goal := seen.goals.chapter:
        return _("{n} (the goal of a chapter)").format(n=f"{goal:,}")
    here = next((each.chapter.position for each in seen.chapters if each.chapter.id == chapter), 0)
    written = [each.chapter.length for each in seen.chapters if each.chapter.length and each.chapter.position < here]
    if usual := usual_length(written):
        return _("{n} (as in the previous chapters)").format(n=f"{usual:,}")
    return _("not set")


async def ask_inputs(
    screen: Screen[None], project: Project, workflow: Workflow, targets: Sequence[NodeId]
) -> tuple[tuple[str, Any], ...] | None:
    """The inputs of a run from the writer; None when the writer cancels."""
    names = missing_inputs(workflow, (), targets)
    if not names:
        return ()
    key = f"inputs/{workflow.id}"
    title = _("{name} asks for:").format(name=workflow.name or workflow.id)
    typed = await screen.app.push_screen_wait(InputsForm(title, names, _known(await project.drafts.draft(key))))
    if typed is None:
        return None
    await project.drafts.put_draft(key, json.dumps(typed, ensure_ascii=False))
    return tuple(values_of(typed).items())


def _known(draft: str | None) -> dict[str, str]:
    """The inputs of the last run; none when they cannot be read."""
    try:
        found = json.loads(draft or "{}")
    except ValueError:
        return {}
    return {str(name): str(text) for name, text in found.items()} if isinstance(found, dict) else {}

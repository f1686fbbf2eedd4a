"""The form from which a workflow is made without a model: its steps, pauses and alterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from flowcabal_tui.domain.run import Angle

PromptVerb = Literal["plan", "write", "polish", "revise", "check", "cut", "expand", "translate", "summarise", "do"]
Verb = (
    PromptVerb
    | Literal["candidates", "improve", "each", "together", "choose", "measure", "ask", "look", "approve"]
    | Literal["count", "remember", "workflow", "action", "filter"]
)
PROMPTS: Final[tuple[str, ...]] = get_args(PromptVerb)
Pause = Literal["none", "each", "end"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FormChoice(_Part):
    """One of several choices."""

    label: str = Field(description="The text that the writer chooses.")
    steps: tuple[Step, ...] = Field(description="The steps that run for this choice only.")


class Step(_Part):
    """One step. It reads the text of the steps before it; fields that its verb does not use are ignored."""

    does: Verb = Field(
        description="plan, write, polish, revise, check (lists faults; the next step sees them), cut, expand, "
        "translate, summarise, do (what `text` says); candidates (several, the writer picks), improve (criticise and "
        "revise in rounds), each (steps for every line before it), together (steps side by side), choose, measure "
        "(by length), ask (a question to the writer), look (the writer reads and changes), approve (yes or no), count "
        "and remember (in the story's memory), workflow, action, filter."
    )
    id: str = Field("", description="Its id; none: made from the verb.")
    name: str = Field("", description="The name that the writer sees; none: one is made.")
    text: str = Field(
        "", description="Instructions to the model after those of the verb; for a question, the question itself."
    )
    about: str = Field("", description="check: the subject; candidates: their kind, such as openings.")
    pause: bool = Field(False, description="The writer must approve its output.")
    model: str = Field("", description="Another model.")
    temperature: float | None = Field(None, ge=0, le=2)
    point_of_view: str = Field("", description="The character whose point of view is used.")
    angles: tuple[Angle, ...] = Field((), description="Facts to check in its output.")
    most: int | None = Field(None, ge=1, description="plan: the most lines; each: the most rounds.")
    lines: bool = Field(False, description="plan: one point per line and nothing else.")
    number: int = Field(5, ge=2, le=12, description="candidates: their number.")
    rounds: int = Field(3, ge=1, le=10, description="candidates, improve: the most rounds.")
    blind: bool = Field(False, description="candidates: shuffled and anonymous.")
    variations: tuple[str, ...] = Field((), description="candidates: an instruction for each.")
    at_once: int = Field(1, ge=1, le=64, description="each: how many run in parallel.")
    steps: tuple[Step, ...] = Field(
        (), description="each: for one line; together: one branch each; approve: after approval."
    )
    choices: tuple[FormChoice, ...] = Field((), description="choose: the choices.")
    longer_than: int | None = Field(None, ge=0, description="measure: the limit in characters.")
    shorter_than: int | None = Field(None, ge=0, description="measure: the limit in characters.")
    then: tuple[Step, ...] = Field((), description="measure: the steps if the condition holds.")
    otherwise: tuple[Step, ...] = Field((), description="measure: the steps if it does not hold.")
    key: str = Field("", description="count, remember: the name in the story's memory.")
    workflow: str = Field("", description="The workflow to call, such as dialogue-polish@2.")
    inputs: dict[str, Any] = Field(default_factory=dict, description="workflow: by name; {{text}} is the text so far.")
    action: str = Field(
        "", description="The id of the action; none: `text` describes it, and the writer is asked for the action."
    )
    params: dict[str, Any] = Field(
        default_factory=dict, description="action: {{text}}, {{items}} and {{count}} are the results so far."
    )
    field: str = Field("", description="filter: the field to compare.")
    above: float | None = Field(None, description="filter: keep values above this.")
    below: float | None = Field(None, description="filter: keep values below this.")
    equals: Any = Field(None, description="filter: keep values equal to this.")


def with_planned_lines(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps; a plan before steps for each of its lines has a point per line."""
    for step, following in zip_longest(steps, steps[1:]):
        if step.does == "plan" and following is not None and following.does == "each":
            yield step.model_copy(update={"lines": True, "most": step.most or following.most})
        else:
            yield step


class Alteration(_Part):
    """One change to an existing workflow."""

    change: Literal["insert", "remove", "replace", "append", "set", "pause", "rename", "keep"] = Field(
        description="insert a step; remove a node; replace words of a prompt; append words to it; set a parameter; "
        "pause for the writer after a node or before one; rename a node; keep as."
    )
    node: str = Field("", description="The path of the node; insert, pause: the node before the new one.")
    before: str = Field("", description="insert, pause: the node after the new one.")
    step: Step | None = Field(None, description="insert: the step.")
    when: Literal["", "longer_than", "shorter_than"] = Field(
        "", description="insert: run only when the text has this length."
    )
    length: int = Field(0, ge=0, description="insert: the limit for `when`, in characters.")
    also: bool | None = Field(
        None,
        description="insert: whether the next step reads it beside its present input (for a check) or instead of it.",
    )
    field: str = Field("", description="replace, append: the prompt; set: the parameter.")
    find: str = Field("", description="replace: the words to replace.")
    to: Any = Field(None, description="replace, append, set, rename, keep: the new value.")


class Form(_Part):
    """A completed form. `steps` make a new workflow, `alterations` change an existing one."""

    wish: str = Field("", description="The wish in the writer's words.")
    name: str = Field("", description="The name of the workflow.")
    id: str = Field("", description="Its id; none: `workflow`.")
    language: Literal["", "zh", "en"] = Field("", description="The language of its prompts; none: that of the book.")
    keep: Literal["chapter", "scene", "outline", "note"] = "chapter"
    mode: Literal["replace", "append"] = "replace"
    pause: tuple[Pause, ...] = Field(
        (), description="When the writer must approve. none: never; each: after each step; end: at the end."
    )
    existing: bool = Field(False, description="The steps work on the text that the chapter has.")
    steps: tuple[Step, ...] = ()
    alterations: tuple[Alteration, ...] = ()
    missing: tuple[str, ...] = Field(
        (), description="Parts of the wish that no field can hold; the writer is asked about them."
    )
    unread: tuple[str, ...] = Field((), description="Parts of the wish that were not or not fully understood.")


FormChoice.model_rebuild()
Step.model_rebuild()

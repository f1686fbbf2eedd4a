"""The form from which a workflow is made without a model: its steps, its pauses, and the changes."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from flowcabal_tui.domain.workflow import Angle

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


class Choice(_Part):
    """One of several ways."""

    label: str = Field(description="What the writer picks.")
    steps: tuple[Step, ...] = Field(description="What is done then, and only then.")


class Step(_Part):
    """One step. A step reads the text that the steps before it gave; fields that its verb does not need are ignored."""

    does: Verb = Field(
        description="plan, write, polish, revise, check (lists faults; the next step sees them), cut, expand, "
        "translate, summarise, do (what `text` says); candidates (several, the writer picks), improve (criticise and "
        "revise in rounds), each (steps for every line before it), together (steps side by side), choose, measure "
        "(by length), ask (a question to the writer), look (the writer reads and changes), approve (yes or no), count "
        "and remember (in the story's memory), workflow, action, filter."
    )
    id: str = Field("", description="Its id; none: one is made of the verb.")
    name: str = Field("", description="What the writer sees; none: one is made.")
    text: str = Field("", description="What the model is told to do, put behind what the verb says; of a question: it.")
    about: str = Field("", description="check: what is looked at; candidates: what they are, such as openings.")
    pause: bool = Field(False, description="The writer must approve what it gives.")
    model: str = Field("", description="Another model.")
    temperature: float | None = Field(None, ge=0, le=2)
    point_of_view: str = Field("", description="Whose eyes.")
    angles: tuple[Angle, ...] = Field((), description="Facts that are checked in what it gives.")
    most: int | None = Field(None, ge=1, description="plan: lines; each: rounds.")
    lines: bool = Field(False, description="plan: one a line, nothing else.")
    number: int = Field(5, ge=2, le=12, description="candidates: how many.")
    rounds: int = Field(3, ge=1, le=10, description="candidates, improve: at most so many.")
    blind: bool = Field(False, description="candidates: mixed and without names.")
    variations: tuple[str, ...] = Field((), description="candidates: a direction for each.")
    at_once: int = Field(1, ge=1, le=64, description="each: so many side by side.")
    steps: tuple[Step, ...] = Field((), description="each: for a line; together: a branch each; approve: after a yes.")
    choices: tuple[Choice, ...] = Field((), description="choose: the ways.")
    longer_than: int | None = Field(None, ge=0, description="measure: in characters.")
    shorter_than: int | None = Field(None, ge=0, description="measure: in characters.")
    then: tuple[Step, ...] = Field((), description="measure: if it is so.")
    otherwise: tuple[Step, ...] = Field((), description="measure: if it is not.")
    key: str = Field("", description="count, remember: the name in the story's memory.")
    workflow: str = Field("", description="The workflow that is called, such as dialogue-polish@2.")
    inputs: dict[str, Any] = Field(default_factory=dict, description="workflow: by name; {{text}} is the text so far.")
    action: str = Field("", description="The id of the action; none: `text` says what it should do, and you are asked.")
    params: dict[str, Any] = Field(
        default_factory=dict, description="action: {{text}}, {{items}} and {{count}} are what is there so far."
    )
    field: str = Field("", description="filter: the field of the entries.")
    above: float | None = Field(None, description="filter: only greater ones.")
    below: float | None = Field(None, description="filter: only smaller ones.")
    equals: Any = Field(None, description="filter: only equal ones.")


class Alteration(_Part):
    """One change to a workflow that is there."""

    change: Literal["insert", "remove", "replace", "append", "set", "pause", "rename", "keep"] = Field(
        description="insert a step; remove a node; replace words of a prompt; append words to it; set a parameter; "
        "pause for the writer after a node or before one; rename a node; keep as."
    )
    node: str = Field("", description="The path of the node; insert and pause: the one behind which.")
    before: str = Field("", description="insert, pause: the node that reads it.")
    step: Step | None = Field(None, description="insert: the step.")
    when: Literal["", "longer_than", "shorter_than"] = Field("", description="insert: only when the text is so.")
    length: int = Field(0, ge=0, description="insert: characters for `when`.")
    also: bool | None = Field(
        None, description="insert: the next step sees it beside what it read so far (a check), or in its place."
    )
    field: str = Field("", description="replace, append: the prompt; set: the parameter.")
    find: str = Field("", description="replace: the words that stand there.")
    to: Any = Field(None, description="replace, append, set, rename, keep: what it becomes.")


class Form(_Part):
    """A filled form. Steps make a workflow, alterations change one."""

    wish: str = Field("", description="In the writer's words.")
    name: str = Field("", description="What the workflow is called.")
    id: str = Field("", description="Its id; none: `workflow`.")
    language: Literal["", "zh", "en"] = Field("", description="Of its prompts; none: the book's.")
    keep: Literal["chapter", "scene", "outline", "note"] = "chapter"
    mode: Literal["replace", "append"] = "replace"
    pause: tuple[Pause, ...] = Field((), description="none: never; each: after each step; end: at the end.")
    steps: tuple[Step, ...] = ()
    alterations: tuple[Alteration, ...] = ()
    missing: tuple[str, ...] = Field((), description="What the wish names and the form has no field for: it is asked.")


Choice.model_rebuild()
Step.model_rebuild()

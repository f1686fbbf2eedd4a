"""The form of the Builder on the screen: steps, pauses, number of candidates, checks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import ValidationError
from textual.app import App

from flowcabal_tui.agents.builder.document import all_found
from flowcabal_tui.agents.builder.form_builder import unread_note
from flowcabal_tui.agents.builder.forms import Alteration, Form, Step
from flowcabal_tui.agents.builder.words import words
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable, names_of
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.workflows.data_editor import DataEditor

if TYPE_CHECKING:
    from flowcabal_tui.project.builder.records import BuildRecord
    from flowcabal_tui.project.project import Project

_CHANGES: Final[Mapping[str, str]] = {
    "insert": mark("add a step"),
    "remove": mark("remove a node"),
    "replace": mark("replace words of a prompt"),
    "append": mark("add words to a prompt"),
    "set": mark("set a parameter"),
    "pause": mark("wait for me"),
    "rename": mark("rename a node"),
    "keep": mark("keep it as something else"),
}
_KEPT: Final[Mapping[str, str]] = {
    "chapter": mark("a chapter"),
    "scene": mark("a scene"),
    "outline": mark("an outline"),
    "note": mark("a note"),
}
_USUAL_CANDIDATES: Final = 5


async def ask_form(
    app: App[Any], project: Project, wish: str, record: BuildRecord | None, workflow: str = ""
) -> dict[str, Any] | None:
    """The form filled in by the writer, as JSON, or None. Its initial values are those of `record`, else those read
    from the wish."""
    base = record.base if record is not None else None
    if record is None and workflow:
        base = (await project.workflows.get(workflow)).model_dump(mode="json")
    known = workflow or (str(base["id"]) if base is not None and record is not None and not record.from_file else "")
    kept = record.form if record is not None else None
    first = Form.model_validate(kept if kept is not None else await project.builds.filled_form(wish, known))
    screens = FormScreens(app, project.info.language)
    form = await (screens.steps(first) if base is None else screens.alterations(first, base))
    return None if form is None else form.model_dump(mode="json", exclude_unset=True)


class FormScreens:
    """Asks for the parts of a form; step names are those of the book's language."""

    def __init__(self, app: App[Any], language: str) -> None:
        self._app, self._names = app, dict(words(language)["names"])
        self._verbs = _verbs(language)

    async def steps(self, first: Form) -> Form | None:
        """The form for a new workflow."""
        shown = [_shown_verb(step) for step in first.steps]
        paused = [self._name(verb) for step, verb in zip(first.steps, shown, strict=True) if step.pause]
        number = next((step.number for step in first.steps if step.does == "candidates"), _USUAL_CANDIDATES)
        fields = (
            Field("name", _("Name"), first.name),
            Field("steps", _("Steps, in order"), _(", ").join(self._name(verb) for verb in shown), names=True,
                  hint=_("such as: {names}").format(names=_(", ").join(map(self._name, ("plan", "write", "polish"))))),
            Field("pause", _("Wait for me after"), _(", ").join(paused), names=True, hint=_("names of steps")),
            Field("each", _("wait after every step"), "each" in first.pause),
            Field("number", _("Candidates"), str(number)),
            Field("about", _("Check for"), _(", ").join(_abouts(first.steps)), hint=_("as: names, the timeline")),
            Field("keep", _("Kept as"), first.keep, choices=_choices(_KEPT)),
            Field("append", _("after the existing text"), first.mode == "append"),
            Field("text", _("then edit the whole form as text"), value=False),
        )  # fmt: skip
        answer: tuple[Form, bool] | None = await self._app.push_screen_wait(
            FormScreen(
                _titled(_("A new workflow"), first), fields, lambda typed: self._read_steps(first, typed), self._offered
            )
        )
        return None if answer is None else await self._as_text(*answer)

    @property
    def _offered(self) -> list[str]:
        return [self._name(verb) for verb in step_verbs() if verb in self._names]

    def _name(self, verb: str) -> str:
        return str(self._names.get(verb, verb))

    def _verb(self, typed: str) -> str:
        """The verb that is meant. Raises Unreadable."""
        known = {self._name(verb).casefold(): verb for verb in step_verbs()} | self._verbs
        verb = known.get(typed.casefold())
        if verb is None:
            there = _(", ").join(self._offered)
            raise Unreadable(_("There is no step {name}. Available: {names}").format(name=typed, names=there))
        return verb

    def _read_steps(self, first: Form, typed: Typed) -> tuple[Form, bool]:
        verbs = [self._verb(name) for name in names_of(typed.text("steps"))]
        pauses = [self._verb(name) for name in names_of(typed.text("pause"))]
        if lost := [verb for verb in pauses if verb not in verbs]:
            raise Unreadable(_("{name} is not a step of this workflow.").format(name=self._name(lost[0])))
        if not verbs:
            raise Unreadable(_("Name at least one step."))
        number = typed.text("number")
        if not number.isdecimal() or not 2 <= int(number) <= 12:
            raise Unreadable(_("Candidates: write a number from 2 to 12."))
        rest, steps = list(first.steps), []
        for verb in verbs:
            step = next((each for each in rest if _shown_verb(each) == verb), None) or Step(does=verb)
            rest = [each for each in rest if each is not step]
            step = _checking(step, names_of(typed.text("about"))) if verb == "check" else step
            given = {"number": int(number)} if verb == "candidates" else {}
            steps.append(step.model_copy(update={"pause": verb in pauses, **given}))
        update = {
            "steps": tuple(steps), "name": typed.text("name"), "keep": typed.text("keep"), "missing": (),
            "mode": "append" if typed.tick("append") else "replace", "pause": ("each",) if typed.tick("each") else (),
        }  # fmt: skip
        plain = first.model_copy(update=update).model_dump(mode="json", exclude_unset=True)
        return Form.model_validate(plain), typed.tick("text")

    async def alterations(self, first: Form, base: Mapping[str, Any]) -> Form | None:
        """The form for changes to an existing workflow, one form per change."""
        nodes = [each.path for each in all_found(dict(base))]
        waiting, more, text = list(first.alterations), True, False
        taken: list[Alteration] = []
        while waiting or more:
            given = waiting.pop(0) if waiting else Alteration(change="insert")
            title = _titled(_("Change {n}").format(n=len(taken) + 1), first)
            fields = self._alteration_fields(given, bool(waiting))
            page = FormScreen(title, fields, partial(self._read_alteration, given, nodes), nodes)
            answer: tuple[Alteration, bool, bool] | None = await self._app.push_screen_wait(page)
            if answer is None:
                return None
            alteration, more, text = answer
            taken.append(alteration)
            if not more:
                break
        form = first.model_copy(update={"alterations": tuple(taken), "missing": ()})
        return await self._as_text(form, text)

    def _alteration_fields(self, given: Alteration, more: bool) -> tuple[Field, ...]:
        step = given.step or Step(does="check")
        plain = given.to is None or isinstance(given.to, str)
        to = str(given.to or "") if plain else json.dumps(given.to, ensure_ascii=False)
        return (
            Field("change", _("What"), given.change, choices=_choices(_CHANGES)),
            Field("node", _("Node, or after it"), given.node, names=True),
            Field("before", _("Before the node"), given.before, names=True),
            Field("step", _("The step"), self._name(step.does), hint=_("for an added step")),
            Field("about", _("Check for"), step.about),
            Field("pause", _("wait for me after it"), step.pause),
            Field("field", _("Parameter or prompt"), given.field, hint="prompt"),
            Field("find", _("Words to replace"), given.find),
            Field("to", _("New words"), to),
            Field("more", _("one more change"), more),
            Field("text", _("then edit the whole form as text"), value=False),
        )

    def _read_alteration(self, given: Alteration, nodes: Sequence[str], typed: Typed) -> tuple[Alteration, bool, bool]:
        for field in ("node", "before"):
            if (name := typed.text(field)) and name not in nodes:
                there = _(", ").join(nodes)
                raise Unreadable(_("There is no node {node}. Available: {names}").format(node=name, names=there))
        change = typed.text("change")
        to: Any = typed.text("to") or None
        if change in ("set", "keep") and to is not None:
            to = _plain(to)
        step = None
        if change == "insert":
            verb = self._verb(typed.text("step"))
            update = {"does": verb, "about": typed.text("about"), "pause": typed.tick("pause")}
            changed = (given.step or Step(does="check")).model_copy(update=update)
            step = changed.model_dump(mode="json", exclude_unset=True)
        update = {
            "change": change, "node": typed.text("node"), "before": typed.text("before"), "step": step,
            "field": typed.text("field"), "find": typed.text("find"), "to": to,
        }  # fmt: skip
        try:
            made = Alteration.model_validate({**given.model_dump(mode="json", exclude_unset=True), **update})
        except ValidationError as error:
            raise Unreadable("; ".join(refusal(each) for each in error.errors())) from error
        return made, typed.tick("more"), typed.tick("text")

    async def _as_text(self, form: Form, wanted: bool) -> Form | None:
        """The form, edited as text where that is wanted."""
        if not wanted:
            return form
        plain = form.model_dump(mode="json", exclude_defaults=True)
        answer: tuple[Any] | None = await self._app.push_screen_wait(DataEditor(_("The form"), plain, _wrong))
        if answer is None or _wrong(answer[0]):
            return None
        return Form.model_validate(answer[0])


def _titled(title: str, form: Form) -> str:
    """The title, with the parts of the request for which the form has no field, and those that were not understood."""
    parts = [title]
    if form.missing:
        names = _(", ").join(form.missing)
        parts.append(_("left out, the form has no field for it: {names}").format(names=names))
    return facts_words(*parts, *unread_note(form))


def _wrong(value: Any) -> list[str]:
    try:
        Form.model_validate(value)
    except ValidationError as error:
        return [f"{'.'.join(map(str, each['loc']))}: {refusal(each)}" for each in error.errors()]
    return []


def _plain(text: str) -> Any:
    """A JSON value, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def step_verbs() -> tuple[str, ...]:
    """The verbs for a step, in the order in which they are offered."""
    found: list[str] = []
    for each in get_args(Step.model_fields["does"].annotation):
        found += get_args(each) or (each,)
    return tuple(found)


def _verbs(language: str) -> dict[str, str]:
    """The vocabulary's words for steps, and the verbs themselves."""
    table: Mapping[str, list[str]] = words(language, "vocabulary")["steps"]
    known = {verb: verb for verb in step_verbs()}
    return {word.casefold(): verb for verb, listed in table.items() for word in listed} | known


def _shown_verb(step: Step) -> str:
    """Checks side by side are one step to the writer."""
    is_check = step.does == "together" and step.steps and all(each.does == "check" for each in step.steps)
    return "check" if is_check else step.does


def _abouts(steps: Sequence[Step]) -> list[str]:
    found = [each for step in steps if _shown_verb(step) == "check" for each in (step.steps or (step,))]
    return [each.about for each in found if each.about]


def _checking(step: Step, abouts: Sequence[str]) -> Step:
    """A check of these things: one step, or several in parallel; `step` itself if it already checks them."""
    if list(abouts) == _abouts((step,)):
        return step
    if len(abouts) > 1:
        return Step(does="together", steps=tuple(Step(does="check", about=about) for about in abouts))
    return (step if step.does == "check" else Step(does="check")).model_copy(update={"about": "".join(abouts)})


def _choices(table: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((key, _(title)) for key, title in table.items())

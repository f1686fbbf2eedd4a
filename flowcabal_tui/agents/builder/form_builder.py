"""Turns a filled form into edits, by rule. Anything that the form leaves open becomes a question, never a guess."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from flowcabal_tui.agents.builder.changes import STEPS_APART
from flowcabal_tui.agents.builder.changes_by_form import alter
from flowcabal_tui.agents.builder.checks import ChecklistItem
from flowcabal_tui.agents.builder.document import all_found
from flowcabal_tui.agents.builder.edits import AddNode, ConnectNodes, SetMeta
from flowcabal_tui.agents.builder.flow import Flow, ReadOutput, There
from flowcabal_tui.agents.builder.form_steps import compile_step, finish
from flowcabal_tui.agents.builder.forms import PROMPTS, Form, Step, with_planned_lines
from flowcabal_tui.agents.builder.refused import EditRefused
from flowcabal_tui.agents.builder.words import words
from flowcabal_tui.agents.builder.working_copy import WorkingCopy
from flowcabal_tui.locale import _

_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Built:
    """The result for a form: the copy with its checklist, or a question to answer first."""

    copied: WorkingCopy
    items: tuple[ChecklistItem, ...] = ()
    question: str = ""


def build_by_form(form: Form, copied: WorkingCopy, language: str) -> Built:
    """Makes or changes the workflow as the form describes. Raises nothing for any valid form."""
    phrases = words(form.language or language)["asks"]
    language = form.language or str(copied.document.get("language") or "") or language
    if question := _question(form, copied, phrases):
        return Built(copied, question=question)
    try:
        if copied.base is not None:
            return _altered(form, copied, language)
        return _made(form, copied, language)
    except EditRefused as refused:
        return Built(copied, question=phrases["refused"].format(reason=" ".join(str(refused).split("\n"))))


def unread_note(form: Form) -> tuple[str, ...]:
    """A line with the parts of the request that were not fully understood; () if there are none."""
    if not form.unread:
        return ()
    return (_("not or not fully understood: {names}").format(names=_(", ").join(form.unread)),)


def _made(form: Form, copied: WorkingCopy, language: str) -> Built:
    flow = Flow(language, copied.known, set())
    steps, items = _paused(form), []
    names = words(language)["names"]
    _states(flow, steps)
    if form.existing:
        _begin_with_the_chapter(flow, steps)
    for number, step in enumerate(with_planned_lines(steps), 1):
        flow.step = f"s{number}"
        compile_step(flow, step)
        items.append(
            ChecklistItem(flow.step, step.name or step.about or step.text or str(names.get(step.does, step.does)))
        )
    finish(flow)
    name = form.name or STEPS_APART.join(dict.fromkeys(node["name"] for node in flow.nodes))[:60]
    meta = {"id": form.id or copied.document["id"], "name": name, "language": language}
    meta["keep"] = {"kind": form.keep, "mode": form.mode}
    for field, value in meta.items():
        copied = copied.with_edit(SetMeta.model_validate({"field": field, "value": value}))
    for node in flow.nodes:
        copied = copied.with_edit(AddNode(**node, because=flow.because[node["id"]]))
    for edge in flow.edges:
        copied = copied.with_edit(ConnectNodes(**edge, because=flow.because[edge["target"]]))
    return Built(copied, tuple(items))


def _begin_with_the_chapter(flow: Flow, steps: Sequence[Step]) -> None:
    """Begins with the chapter's text, to which steps are applied; after one that replaces it, they see the new text."""
    if steps and steps[0].does in ("translate", "do", "summarise"):
        flow.there = replace(flow.there, answers=(ReadOutput("chapter.text", "selection"),))
    else:
        flow.there = replace(flow.there, texts=(ReadOutput("chapter.text"),))


def _altered(form: Form, copied: WorkingCopy, language: str) -> Built:
    items, phrases = [], words(language)["changes"]
    for number, alteration in enumerate(form.alterations, 1):
        items.append(ChecklistItem(f"s{number}", phrases[alteration.change]))
        copied = alter(copied, alteration, language, f"s{number}")
    return Built(copied, tuple(items))


def _states(flow: Flow, steps: Sequence[Step]) -> None:
    """Reads counted or remembered values before the first step, even if they do not exist yet."""
    keys = [step.key or step.does for step in _all(steps) if step.does in ("count", "remember")]
    if not keys:
        return
    flow.step = "s1"
    made = flow.add("state_read", words(flow.language)["names"]["read"], "memory", {"keys": keys})
    path = f"result_of.{made}.items[0].state"
    flow.there = There(states=tuple((key, path) for key in keys))


def _all(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        inner = (step.steps, step.then, step.otherwise, *(choice.steps for choice in step.choices))
        for each in inner:
            yield from _all(each)


def _paused(form: Form) -> tuple[Step, ...]:
    """The steps with the pauses that the form requests for the whole workflow."""
    steps = form.steps
    if "each" in form.pause:
        steps = tuple(step.model_copy(update={"pause": True}) for step in steps)
    if "end" in form.pause and steps:
        last = max((n for n, step in enumerate(steps) if step.does in PROMPTS or step.does == "improve"), default=-1)
        end = steps[-1]
        if last == len(steps) - 1 or end.does not in ("count", "remember"):
            steps = (*steps[:-1], end.model_copy(update={"pause": True}))
        else:
            steps = (*steps[:last], steps[last].model_copy(update={"pause": True}), *steps[last + 1 :])
    return steps


def _question(form: Form, copied: WorkingCopy, phrases: dict[str, str]) -> str:
    """The question to answer before anything is built; "" for none."""
    known = copied.known
    joint = phrases["joint"]
    if form.missing:
        return phrases["missing"].format(names=joint.join(form.missing))
    paused = any(step.pause or step.does in ("look", "approve") for step in _all(form.steps))
    if "none" in form.pause and ("each" in form.pause or "end" in form.pause or (paused and "none" in form.pause)):
        return phrases["contradiction"]
    if not form.steps and not form.alterations:
        unread = phrases["unread"].format(names=joint.join(form.unread)) if form.unread else ""
        return (phrases["what"] if copied.base is None else phrases["what_change"]) + unread
    if copied.base is None and form.alterations:
        return phrases["no_workflow"]
    for step in _all((*form.steps, *(each.step for each in form.alterations if each.step))):
        if step.does == "action" and (
            not step.action or (known.actions is not None and step.action not in known.actions)
        ):
            there = joint.join(list(known.actions or ())[:_MOST_NAMED]) or phrases["none"]
            return phrases["action"].format(name=step.action or step.text, names=there)
        flows = known.callable_flows
        if step.does == "workflow" and flows is not None and not _is_flow(step.workflow, flows):
            return phrases["flow"].format(name=step.workflow or step.text, names=joint.join(flows) or phrases["none"])
    nodes = [each.path for each in all_found(copied.document)]
    for each in form.alterations:
        for name in filter(None, (each.node, each.before)):
            if name not in nodes:
                return phrases["node"].format(name=name, names=joint.join(nodes))
    return ""


def _is_flow(name: str, flows: object) -> bool:
    return isinstance(flows, (list, tuple, dict, set, frozenset)) and any(
        name in (flow, str(flow).partition("@")[0]) for flow in flows
    )

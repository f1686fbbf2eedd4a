"""The checks that must pass after the last change before a suggestion is finished; no result is reused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.agents.builder.branches import SimulatedRun, Simulator, Variant, forced, variants
from flowcabal_tui.agents.builder.changes import changes_between
from flowcabal_tui.agents.builder.document import Json, all_found, names_in
from flowcabal_tui.agents.builder.working_copy import WorkingCopy
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.inputs import missing_inputs
from flowcabal_tui.nodes.registry import kind_named
from flowcabal_tui.nodes.validation import check_document

_FAILING: Final = frozenset(("SKIPPED_JOIN", "UNREACHABLE", "STATE_NOT_WRITTEN"))
"""Warnings with which a workflow runs, but not as it is meant."""
_TEXTS: Final = frozenset(
    ("prompt", "recursive", "evolution", "llm_chat", "parallel", "split", "filter", "map", "merge", "state_read")
)
"""Kinds that do nothing but give something to read."""


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """A point of the checklist: the task, its input, and the condition under which it is done."""

    id: str
    what: str
    needs: str = ""
    done_when: str = ""


@dataclass(frozen=True, slots=True)
class CopyProblem:
    """A problem that must be solved before the suggestion is finished."""

    code: str
    message: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class CopyReport:
    """The results of the checks for one state of the copy. `runs` is the number of simulated runs."""

    problems: tuple[CopyProblem, ...] = ()
    notes: tuple[str, ...] = ()
    runs: int = 0

    @property
    def passed(self) -> bool:
        return not self.problems


async def check(copied: WorkingCopy, items: Sequence[ChecklistItem], simulate: Simulator) -> CopyReport:
    """Runs all checks on the current copy. Never raises because of the workflow."""
    problems = [*_validation(copied), *_checklist(copied, items)]
    notes = [each.message for each in copied.findings if each.severity == "warning" and each.code not in _FAILING]
    if copied.errors() or not copied.document.get("nodes"):
        return CopyReport(tuple(problems), tuple(notes))
    workflow = Workflow.model_validate(copied.document)
    if inputs := missing_inputs(workflow, ()):
        notes.append(_("Each run asks for: {names}").format(names=_(", ").join(inputs)))
    if price := await simulate.price(workflow):
        notes.append(price)
    runs = await _simulated(copied.document, simulate)
    if runs[0][1].state != "done" and await _failed_before(copied.base, simulate):
        notes.append(
            _("It could not be simulated, with or without the changes: {trouble}").format(
                trouble=runs[0][1].trouble[:300]
            )
        )
    else:
        problems += _of_runs(copied.document, runs)
    return CopyReport(tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(notes)), len(runs))


def _validation(copied: WorkingCopy) -> Iterator[CopyProblem]:
    before = {(each.code, each.node, each.field) for each in check_document(copied.base)} if copied.base else set()
    for finding in copied.findings:
        warned = finding.code in _FAILING and (finding.code, finding.node, finding.field) not in before
        if finding.severity == "error" or warned:
            yield CopyProblem(finding.code, finding.message, finding.node)


def _checklist(copied: WorkingCopy, items: Sequence[ChecklistItem]) -> Iterator[CopyProblem]:
    if copied.document.get("nodes") and not changes_between(copied.base, copied.document):
        yield CopyProblem("NOTHING_CHANGED", _("Nothing was changed."))
    served = {edit.because for edit in copied.made}
    for item in items:
        if item.id not in served:
            yield CopyProblem("OPEN_ITEM", _("No node covers {id}: {what}").format(id=item.id, what=item.what), item.id)


async def _simulated(document: Json, simulate: Simulator) -> list[tuple[Variant, SimulatedRun]]:
    runs = []
    for variant in variants(document):
        try:
            run = await simulate(Workflow.model_validate(forced(document, variant)), variant.picks)
        except (FlowCabalError, ValidationError) as error:
            run = SimulatedRun("failed", {}, str(error))
        runs.append((variant, run))
    return runs


async def _failed_before(base: Json | None, simulate: Simulator) -> bool:
    """True when the writer's workflow failed before, as one does that reads the output of another workflow."""
    if base is None:
        return False
    try:
        return (await simulate(Workflow.model_validate(base), {})).state != "done"
    except (FlowCabalError, ValidationError):
        return True


def _of_runs(document: Json, runs: Sequence[tuple[Variant, SimulatedRun]]) -> Iterator[CopyProblem]:
    for _variant, run in runs:
        if run.state != "done":
            message = _("A simulated run ended as {state}: {trouble}")
            yield CopyProblem("SIMULATION", message.format(state=run.state, trouble=run.trouble[:300]))
            return
    done = {path for _variant, run in runs for path in run.completed}
    for place in all_found(document):
        if place.path not in done and "/" not in place.path:
            message = _("It never ran in {n} simulated runs that took every branch.").format(n=len(runs))
            yield CopyProblem("NEVER_RAN", message, place.path)
    readers = _readers(document)
    kinds = {node["id"]: node.get("kind") or "prompt" for node in document["nodes"]}
    for variant, run in runs:
        yield from _skipped_joins(run.completed, readers, kinds)
        if not variant.labels:  # forced conditions can take branches together that exclude each other
            yield from _unread(run.completed, readers, kinds)


Readers = Mapping[str, frozenset[str]]


def last_texts(document: Json) -> tuple[str, ...]:
    """The nodes whose texts no other node reads, in order; the text of the last one is kept."""
    readers = _readers(document)
    nodes = document["nodes"]
    return tuple(each["id"] for each in nodes if (each.get("kind") or "prompt") in _TEXTS and not readers[each["id"]])


def _skipped_joins(done: Mapping[str, int], readers: Readers, kinds: Mapping[str, str]) -> Iterator[CopyProblem]:
    """Nodes that join branches and did not run although a branch reached them."""
    for name, kind in kinds.items():
        known = kind_named(kind)
        sources = [source for source, after in readers.items() if name in after and source in done]
        if known is not None and known.joins and name not in done and sources:
            message = _("It is skipped although {names} ran before it: an edge blocks it.").format(
                names=_(", ").join(sources)
            )
            yield CopyProblem("SKIPPED_JOIN", message, name)


def _unread(done: Mapping[str, int], readers: Readers, kinds: Mapping[str, str]) -> Iterator[CopyProblem]:
    """Outputs that no node reads, except the one that is kept."""
    unread = [
        name
        for name, kind in kinds.items()
        if name in done and kind in _TEXTS and not any(n in done for n in readers[name])
    ]
    for name in unread[:-1]:
        message = _("No node reads its output, and only {last} is kept.").format(last=unread[-1])
        yield CopyProblem("UNREAD", message, name)


def _readers(document: Json) -> Readers:
    """The readers of each node, bodies included."""
    nodes: list[dict[str, Any]] = document["nodes"]
    ids = [node["id"] for node in nodes]
    read = {node["id"]: names_in(node.get("params"), ids) for node in nodes}
    return {name: frozenset(each for each in ids if name in read[each] and each != name) for name in ids}

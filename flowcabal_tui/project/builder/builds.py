"""The builds of a project: made, kept after every round, decided change by change, taken back."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from flowcabal_tui.agents.builder.build_state import Build, BuildStatus
from flowcabal_tui.agents.builder.builder import AnsweringModel, ModelBuilder, plain_round
from flowcabal_tui.agents.builder.changes import Change, changes_between, with_changes, without_needy
from flowcabal_tui.agents.builder.checks import check
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.form_builder import build_by_form
from flowcabal_tui.agents.builder.form_words import form_of
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.domain.errors import RunError, UnknownName, VersionConflict
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.project.builder.simulated_runs import SimulatedRuns
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.builds import RequestBuild, SuggestionMade
from flowcabal_tui.store import Store

_PREFIX: Final = "build-"
_COUNT: Final = "builds"
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """A build as it is kept. `base` is the writer's document when it began; `decided` the reference that came of it."""

    id: str
    wish: str
    language: str
    base: Json | None
    document: Json
    status: BuildStatus = "building"
    offline: bool = False
    actions: tuple[str, ...] = ()
    items: tuple[tuple[str, str], ...] = ()
    assumptions: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    explanation: str = ""
    stopped: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    marks: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    """Of each change: the point of the checklist that it serves, and whether it is ticked."""
    rounds: tuple[Mapping[str, Any], ...] = ()
    tokens: int = 0
    decided: str = ""
    reason: str = ""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The difference from what the writer had."""
        found = changes_between(self.base, self.document)
        none = ("", False)
        return tuple(
            replace(each, because=self.marks.get(each.id, none)[0], ticked=self.marks.get(each.id, none)[1])
            for each in found
        )

    @property
    def waits(self) -> bool:
        """Is the writer to decide or to answer?"""
        return self.status in ("finished", "asks") and not self.decided


class Builds:
    """Makes builds on the engine's loop. Nothing is saved as a workflow before the writer accepts."""

    def __init__(
        self,
        store: Store,
        model: Callable[[], AnsweringModel | None],
        known: Callable[[Sequence[str]], Awaitable[Known]],
        template: Callable[[str], Awaitable[Workflow]],
        save: Callable[[Workflow], Awaitable[str]],
        emit: Callable[[Event], None],
        language: Callable[[], str],
    ) -> None:
        """`model`: the agents' model, None where it is offline; then the form is filled by a vocabulary.

        `known`: the names that a workflow may use, with those of further files of actions.
        """
        self._store, self._model, self._known, self._template = store, model, known, template
        self._save, self._emit, self._language = save, emit, language

    async def start(self, command: RequestBuild) -> str:
        """Builds until it is finished, asks or is stopped; gives the build's id.

        Raises UnknownName, RunError, WorkflowError.
        """
        wish = clean(command.wish).strip()
        if not wish:
            raise RunError(_("There is no wish."))
        known, language = await self._known(command.actions), self._language()
        base = await self._document(command.workflow) if command.workflow else None
        copied = WorkingCopy.of(base, known, language=language, name=await self._free_id())
        if command.template:
            template = _plain(await self._template(command.template))
            copied = WorkingCopy({**template, "id": copied.document["id"], "version": 1}, None, known)
        number = int(await self._store.values.get(_COUNT, 0)) + 1
        await self._store.values.put(_COUNT, number)
        name = f"{_PREFIX}{number}"
        record = BuildRecord(
            name, wish, language, base, copied.document, offline=command.offline, actions=tuple(command.actions)
        )
        return await self._go_on(record, copied)

    async def answer(self, identity: str, text: str) -> str:
        """Goes on with a build that asked. Raises UnknownName, RunError."""
        record = await self.get(identity)
        if record.status != "asks" or record.decided:
            raise RunError(_("{id} asks nothing.").format(id=identity))
        known = await self._known(record.actions)
        answered = replace(record, answers=(*record.answers, clean(text)), questions=())
        return await self._go_on(answered, WorkingCopy(record.document, record.base, known))

    async def _go_on(self, record: BuildRecord, copied: WorkingCopy) -> str:
        await self._keep(record)
        model = None if record.offline else self._model()
        record = await (self._by_form(record, copied) if model is None else self._by_model(record, copied, model))
        await self._keep(record)
        self._emit(SuggestionMade(record.id, record.status, len(record.changes)))
        return record.id

    async def _by_form(self, record: BuildRecord, copied: WorkingCopy) -> BuildRecord:
        wish = "\n".join((record.wish, *record.answers))
        starts = copied.base is None and bool(copied.document["nodes"])
        if starts:  # a template is changed as if it were the writer's own
            copied = replace(copied, base=copied.document)
        built = build_by_form(form_of(wish, copied, record.language), copied, record.language)
        copied = replace(built.copied, base=None) if starts else built.copied
        if built.question:
            return replace(record, status="asks", questions=(built.question,), document=copied.document, offline=True)
        report = await check(copied, built.items, SimulatedRuns(copied.known))
        changes = changes_between(copied.base, copied.document)
        return replace(
            record,
            offline=True,
            status="finished" if report.passed else "stopped",
            stopped="" if report.passed else _("The checks did not pass."),
            document=copied.document,
            items=tuple((each.id, each.what) for each in built.items),
            problems=tuple(each.message for each in report.problems),
            notes=report.notes,
            marks={each.id: ("", not each.loses_gate) for each in changes},
        )

    async def _by_model(self, record: BuildRecord, copied: WorkingCopy, model: AnsweringModel) -> BuildRecord:
        templates = (
            {each.id: _plain(each) for each in await self._store.workflows.list()} if copied.base is None else {}
        )
        build = Build(record.wish, record.language, copied, templates, answers=record.answers, asks=len(record.answers))
        earlier = (record.rounds, record.tokens)

        async def keep(build: Build) -> None:
            await self._keep(_recorded(record, build, *earlier))

        await ModelBuilder(model, SimulatedRuns(copied.known), keep).build(build)
        return _recorded(record, build, *earlier)

    async def accept(self, identity: str, chosen: Collection[str] = ()) -> str:
        """Saves the chosen changes as one new version: none named: those that are ticked; `all`: every one.

        What needs a change that is not taken falls with it. Raises VersionConflict when the workflow is not what it
        was when the build began, WorkflowError when the part is no workflow; then nothing was changed.
        """
        record = await self.get(identity)
        if record.status != "finished" or record.decided:
            raise RunError(_("{id} is not waiting for a decision.").format(id=identity))
        changes = record.changes
        ids = [each.id for each in changes]
        if lost := [name for name in chosen if name not in (*ids, ALL)]:
            raise UnknownName(_("There is no change {id}.").format(id=lost[0]), ", ".join(ids))
        wanted = set(ids) if ALL in chosen else set(chosen) or {each.id for each in changes if each.ticked}
        taken, _fallen = without_needy(changes, set(ids) - wanted)
        if not taken:
            raise RunError(_("No change is ticked."), _("Name those that you want: {ids}").format(ids=", ".join(ids)))
        await self._require_unchanged(record)
        workflow = Workflow.model_validate(with_changes(record.base, record.document, taken))
        require_valid(workflow)
        reference = await self._save(workflow)
        await self._keep(replace(record, decided=reference))
        return reference

    async def reject(self, identity: str, reason: str = "") -> None:
        """Turns a suggestion down; the copy is kept to be looked at."""
        record = await self.get(identity)
        if not record.waits:
            raise RunError(_("{id} is not waiting for a decision.").format(id=identity))
        await self._keep(replace(record, decided="rejected", reason=clean(reason)))

    async def take_back(self, identity: str) -> str:
        """Saves what the writer had before as the newest version. Raises RunError where that is not possible."""
        record = await self.get(identity)
        if record.base is None or record.decided in ("", "rejected"):
            raise RunError(_("{id} has changed no workflow that was there.").format(id=identity))
        newest = await self._store.workflows.get(record.base["id"])
        if newest.reference != record.decided:
            raise VersionConflict(_("The workflow was changed since."), newest.reference, _("Nothing was changed."))
        return await self._save(Workflow.model_validate(record.base))

    async def get(self, identity: str) -> BuildRecord:
        """A build. Raises UnknownName."""
        kept = await self._store.values.get(identity) if identity.startswith(_PREFIX) else None
        if kept is None:
            raise UnknownName(_("There is no build {id}.").format(id=clean(identity)[:60]))
        tuples = ("actions", "assumptions", "questions", "answers", "problems", "notes", "rounds")
        fields = {**kept, **{name: tuple(kept[name]) for name in tuples}}
        fields["items"] = tuple((each[0], each[1]) for each in kept["items"])
        fields["marks"] = {name: (mark[0], mark[1]) for name, mark in kept["marks"].items()}
        return BuildRecord(**fields)

    async def waiting(self) -> tuple[BuildRecord, ...]:
        """Those that the writer has to answer or to decide, oldest first."""
        count = int(await self._store.values.get(_COUNT, 0))
        found = [await self.get(f"{_PREFIX}{number}") for number in range(1, count + 1)]
        return tuple(each for each in found if each.waits)

    async def _keep(self, record: BuildRecord) -> None:
        await self._store.values.put(record.id, asdict(record))

    async def _document(self, reference: str) -> Json:
        try:
            return _plain(await self._store.workflows.get(reference))
        except KeyError:
            names = ", ".join(each.id for each in await self._store.workflows.list())
            raise UnknownName(
                _("There is no workflow {ref}.").format(ref=reference), _("There are: {names}").format(names=names)
            ) from None

    async def _require_unchanged(self, record: BuildRecord) -> None:
        try:
            now = _plain(await self._store.workflows.get(str((record.base or record.document)["id"])))
        except KeyError:
            now = None
        if now != record.base:
            raise VersionConflict(
                _("The workflow was changed since the build began."),
                _("Nothing was changed."),
                _("Build again on what it is now."),
            )

    async def _free_id(self) -> str:
        taken = {each.id for each in await self._store.workflows.list()}
        names = ("workflow", *(f"workflow-{number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)


def _plain(workflow: Workflow) -> Json:
    document: Json = json.loads(workflow.model_dump_json())
    return document


def _recorded(record: BuildRecord, build: Build, rounds: tuple[Mapping[str, Any], ...], tokens: int) -> BuildRecord:
    suggestion = build.suggestion()
    return replace(
        record,
        status=build.status,
        document=build.copied.document,
        items=tuple((each.id, each.what) for each in build.items),
        assumptions=build.assumptions,
        questions=build.questions,
        explanation=build.explanation,
        stopped=build.stopped,
        problems=tuple(each.message for each in suggestion.report.problems),
        notes=suggestion.report.notes,
        marks={each.id: (each.because, each.ticked) for each in suggestion.changes},
        rounds=(*rounds, *(plain_round(each) for each in build.rounds)),
        tokens=tokens + build.tokens,
    )

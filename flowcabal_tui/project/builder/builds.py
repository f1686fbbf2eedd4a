"""The builds of a project: made by the agents' model or by a form, stored after every round, resumable."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.agents.builder.build_state import Build
from flowcabal_tui.agents.builder.builder import USUAL, AnsweringModel, ModelBuilder
from flowcabal_tui.agents.builder.checks import check
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.form_builder import Built, build_by_form, unread_note
from flowcabal_tui.agents.builder.form_words import form_of
from flowcabal_tui.agents.builder.forms import Form
from flowcabal_tui.agents.builder.suggestion import changes_of
from flowcabal_tui.agents.builder.templates import nearest_templates, points_of
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.domain.builds import NearTemplate
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.examples import NAMES, example
from flowcabal_tui.locale import _
from flowcabal_tui.models.registry import cost
from flowcabal_tui.project.agents import AgentFactory
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.builder.decisions import BuildDecisions
from flowcabal_tui.project.builder.kept import KeptBuilds, plain
from flowcabal_tui.project.builder.known_names import known_names
from flowcabal_tui.project.builder.prices import BuildPrice, RunPrices, price_of
from flowcabal_tui.project.builder.records import BuildRecord, with_build
from flowcabal_tui.project.builder.simulated_runs import SimulatedRuns
from flowcabal_tui.project.builder.velvetflow_planner import LIMITS, VelvetFlowPlanner
from flowcabal_tui.project.runs.parts import RunParts
from flowcabal_tui.project.workflows.library import free_id
from flowcabal_tui.protocol.builds import BuildProgress, BuildWords, RequestBuild, SuggestionMade

MOST_NEAR: Final = 3
"""Maximum number of templates that are offered for a request."""


class Builds:
    """Makes builds on the engine's loop. No workflow is saved before the writer accepts."""

    def __init__(self, base: ProjectBase, agents: AgentFactory, runs: RunParts) -> None:
        self._base, self._store, self._emit, self._language = base, base.store, base.emit, base.language
        self._agents, self._actions, self._template = agents, runs.actions, runs.actions.workflow
        self._run_price = RunPrices(base, runs).words
        self._kept = KeptBuilds(base.store)
        self.decisions = BuildDecisions(base, self._kept, runs.versions.save)
        self._at_work: dict[str, asyncio.Task[BuildRecord]] = {}
        self._stopped: set[str] = set()
        self.get = self._kept.get

    @property
    def at_work(self) -> frozenset[str]:
        """The ids of the builds in progress."""
        return frozenset(self._at_work)

    def _model(self) -> AnsweringModel | None:
        """The agents' model; None if it is offline: a vocabulary then fills the form."""
        models = self._base.models
        return None if models.is_offline("agent") else models.agent()

    # Before a build

    async def price(self, wish: str, workflow: str, tools: BuildWords = "ours") -> BuildPrice | None:
        """The price of a build by the agents' model; None without one."""
        endpoint, counter = self._base.models.endpoint("agent"), self._base.models.counter
        if endpoint is None or endpoint.provider == "offline":
            return None
        build = Build(clean(wish), self._language, await self._copy(workflow), await self._templates(workflow))
        return price_of(build, endpoint, counter, USUAL if tools == "ours" else LIMITS)

    async def filled_form(self, wish: str, workflow: str) -> Json:
        """The form as the vocabulary fills it. Raises UnknownName."""
        form = form_of(clean(wish), await self._copy(workflow), self._language)
        filled: Json = form.model_dump(mode="json", exclude_unset=True)
        return filled

    async def nearest(self, wish: str, most: int | None = MOST_NEAR) -> tuple[NearTemplate, ...]:
        """The templates that cover at least half of the request, the nearest first."""
        templates = await self._templates("")
        points = points_of(clean(wish))
        near = nearest_templates(points, templates, self._language)
        return tuple(
            NearTemplate(each.name, str(templates[each.name].get("name") or each.name), len(each.covers), len(points))
            for each in near[:most]
            if 2 * len(each.covers) >= len(points) > 0
        )

    async def _copy(self, workflow: str) -> WorkingCopy:
        base = await self._kept.document(workflow) if workflow else None
        return WorkingCopy.of(base, await known_names(self._base), language=self._language)

    async def _templates(self, workflow: str) -> dict[str, Json]:
        """The possible starting points of a new workflow: the project's workflows, templates included, and the
        examples."""
        if workflow:
            return {}
        examples = (example(name, self._language) for name in NAMES)
        return {each.id: plain(each) for each in (*examples, *await self._store.workflows.list())}

    # Builds

    async def start(self, command: RequestBuild) -> str:
        """Builds until the build is finished, asks or is stopped; returns its id.

        Raises UnknownName, RunError, WorkflowError.
        """
        wish = clean(command.wish).strip()
        if not wish and command.form is None:
            raise RunError(_("The request is missing."))
        form = None if command.form is None else _form(command.form).model_dump(mode="json", exclude_unset=True)
        await known_names(self._base, command.actions)
        base = await self._kept.document(command.workflow) if command.workflow else None
        if command.document is not None:
            base = await self._foreign(command.document)
        taken = {each.id for each in await self._store.workflows.list()}
        start = WorkingCopy.of(base, Known(), language=self._language, name=free_id("", taken))
        document = start.document
        if command.template:
            document = {**plain(await self._template(command.template)), "id": document["id"], "version": 1}
        record = BuildRecord(
            await self._kept.new_id(), wish, self._language, base, document, offline=command.offline,
            actions=tuple(command.actions), form=form, from_file=command.document is not None,
            template=command.template, tools=command.tools,
        )  # fmt: skip
        return await self._go_on(record)

    async def _foreign(self, document: Any) -> Json:
        """The document to change if the project does not have it. Raises RunError."""
        try:
            workflow = Workflow.model_validate(document)
        except ValidationError as error:
            lines = "\n".join(refusal(each) for each in error.errors()[:5])
            raise RunError(_("That is not a workflow."), lines) from error
        if workflow.id in {each.id for each in await self._store.workflows.list()}:
            raise RunError(
                _("The project already has a workflow {ref}.").format(ref=workflow.id),
                _("Nothing was changed."),
                _("Update the existing one, or give the document another id."),
            )
        return plain(workflow)

    async def answer(self, identity: str, text: str) -> str:
        """Continues a build that asked a question. Raises UnknownName, RunError."""
        record = await self.get(identity)
        if record.status != "asks" or record.decided:
            raise RunError(_("{id} has no open question.").format(id=identity))
        return await self._go_on(replace(record, answers=(*record.answers, clean(text)), questions=()))

    async def revise(self, identity: str, reason: str, form: Mapping[str, Any] | None = None) -> str:
        """Rejects a suggestion with a reason or with another form; the Builder continues from there.

        Raises UnknownName, RunError.
        """
        record = await self.get(identity)
        if record.decided or record.status == "building":
            raise RunError(_("{id} is not waiting for a decision.").format(id=identity))
        if form is not None:
            return await self._go_on(replace(record, form=_form(form).model_dump(mode="json", exclude_unset=True)))
        reason = clean(reason).strip()
        if not reason:
            raise RunError(_("Give a reason: the Builder works on it."))
        refused = [f"{each.kind} {each.node} {each.field}".strip() for each in record.changes if not each.ticked]
        if refused and not self._is_by_form(record):
            reason += "\nThe writer turned down: " + "; ".join(refused)
        return await self._go_on(replace(record, answers=(*record.answers, reason), form=None))

    async def resume(self, identity: str) -> str:
        """Continues a build that was stopped or interrupted. Raises UnknownName, RunError."""
        record = await self.get(identity)
        if record.decided or record.status not in ("building", "stopped") or identity in self._at_work:
            raise RunError(_("{id} was not stopped.").format(id=identity))
        return await self._go_on(record)

    async def stop(self, identity: str) -> None:
        """Stops a build at once. Raises RunError when it is not in progress."""
        if (task := self._at_work.get(identity)) is None:
            raise RunError(_("{id} is not being built.").format(id=clean(identity)[:60]))
        self._stopped.add(identity)
        task.cancel()

    def _is_by_form(self, record: BuildRecord) -> bool:
        return record.offline or record.form is not None or self._model() is None

    async def _go_on(self, record: BuildRecord) -> str:
        if record.id in self._at_work:
            raise RunError(_("{id} is being built.").format(id=record.id))
        record = replace(record, status="building", stopped="")
        work = asyncio.create_task(self._built(record))
        self._at_work[record.id] = work
        try:
            record = await self._ended(record.id, work)
        finally:
            del self._at_work[record.id]
            self._stopped.discard(record.id)
        await self._kept.put(record)
        self._emit(SuggestionMade(record.id, record.status, len(record.changes)))
        return record.id

    async def _ended(self, identity: str, work: asyncio.Task[BuildRecord]) -> BuildRecord:
        """Awaits the end of the work; if the writer stopped it, returns the last stored state."""
        try:
            return await work
        except asyncio.CancelledError:
            if identity not in self._stopped:
                work.cancel()
                raise
        return replace(await self.get(identity), status="stopped", stopped=_("Stopped by you."))

    async def _built(self, record: BuildRecord) -> BuildRecord:
        await self._note(record)
        copied = WorkingCopy(record.document, record.base, await known_names(self._base, record.actions))
        model = None if record.offline or record.form is not None else self._model()
        return await (self._by_form(record, copied.known) if model is None else self._by_model(record, copied, model))

    async def _note(self, record: BuildRecord) -> None:
        """Stores the build and emits its progress."""
        await self._kept.put(record)
        nodes = len(record.document.get("nodes", ()))
        self._emit(BuildProgress(record.id, len(record.rounds), record.tokens, nodes))

    async def _by_form(self, record: BuildRecord, known: Known) -> BuildRecord:
        """Builds by the form, or by one filled from the request and the answers, each time from the beginning."""
        wish = "\n".join((record.wish, *record.answers))
        base = record.base or (plain(await self._template(record.template)) if record.template else None)
        if base is not None and record.base is None:  # a template is changed as if it were the writer's own
            base = {**base, "id": record.document["id"], "version": 1}
        copied = WorkingCopy.of(base, known, language=record.language, name=str(record.document["id"]))
        form = form_of(wish, copied, record.language) if record.form is None else _form(record.form)
        if record.base is None and form.steps:  # a form of steps makes its own beginning
            copied = WorkingCopy.of(None, known, language=record.language, name=str(record.document["id"]))
        is_empty = form.model_copy(update={"unread": ()}) == Form(wish=wish)
        as_it_is = record.template and is_empty and await self._covers(record.template, wish)
        built = Built(copied) if as_it_is else build_by_form(form, copied, record.language)
        copied = replace(built.copied, base=record.base)
        if built.question:
            asks = replace(record, status="asks", questions=(built.question,), document=copied.document, offline=True)
            return replace(asks, notes=await self._near_note(record))
        report = await check(copied, built.items, SimulatedRuns(known, self._run_price))
        return replace(
            record,
            offline=True,
            status="finished" if report.passed else "stopped",
            stopped="" if report.passed else _("The checks did not pass."),
            document=copied.document,
            questions=(),
            items=tuple((each.id, each.what) for each in built.items),
            problems=tuple(each.message for each in report.problems),
            notes=(*unread_note(form), *report.notes, *await self._near_note(record)),
            marks={each.id: (each.because, each.ticked) for each in changes_of(copied, wish, by_form=True)},
        )

    async def _near_note(self, record: BuildRecord) -> tuple[str, ...]:
        """The templates that a new workflow could start from, unless the writer has seen them in a list."""
        if record.base is not None or record.template or record.form is not None:
            return ()
        words = _("{name} ({n} of {all} points)")
        near = await self.nearest(record.wish)
        names = _(", ").join(words.format(name=each.name, n=each.covered, all=each.points) for each in near)
        return (_("Similar templates: {names}").format(names=names),) if names else ()

    async def _covers(self, template: str, wish: str) -> bool:
        """True when the template covers a part of the request."""
        return any(each.name == template.partition("@")[0] for each in await self.nearest(wish, None))

    async def _by_model(self, record: BuildRecord, copied: WorkingCopy, model: AnsweringModel) -> BuildRecord:
        endpoint = self._base.models.endpoint("agent")
        record = replace(record, currency="" if endpoint is None else endpoint.currency)
        templates = await self._templates(str(record.base["id"]) if record.base else "")
        build = Build(record.wish, record.language, copied, templates, answers=record.answers, asks=record.asks)
        earlier = (record.rounds, record.tokens)

        async def keep(build: Build) -> None:
            await self._note(with_build(record, build, *earlier))

        def priced(usage: Usage) -> Decimal | None:
            return None if endpoint is None else cost(endpoint, usage)

        simulate = SimulatedRuns(copied.known, self._run_price)
        builder = self._agents.of("builder", ModelBuilder)
        if record.tools == "ours":
            await builder(model, simulate, keep, priced=priced).build(build)
            return with_build(record, build, *earlier)
        try:
            search = partial(self._actions.records, copied.known.actions or {})
            planner = VelvetFlowPlanner(build, model, simulate, search)
        except DialectError as error:
            build.stop(str(error))
        else:
            await builder(model, simulate, keep, LIMITS, priced).build(build, planner)
        return with_build(record, build, *earlier)


def _form(filled: Any) -> Form:
    """The form in JSON. Raises RunError for an invalid one."""
    try:
        return Form.model_validate(filled)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, each['loc']))}: {refusal(each)}" for each in error.errors()[:5]]
        raise RunError(_("The format cannot be read."), "\n".join(lines)) from error

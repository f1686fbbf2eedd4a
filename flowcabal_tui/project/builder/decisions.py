"""The writer's decisions on a suggestion: change by change, all at once, and their undo."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Collection
from dataclasses import replace
from typing import Any, Final, Protocol

from pydantic import ValidationError

from flowcabal_tui.agents.builder.changes import Change, with_changes, without_needy
from flowcabal_tui.agents.builder.document import Json, found, set_at, with_blocks
from flowcabal_tui.agents.builder.refused import EditRefused
from flowcabal_tui.agents.builder.working_copy import WorkingCopy
from flowcabal_tui.domain.builds import REJECTED
from flowcabal_tui.domain.errors import Gone, RunError, UnknownName, VersionConflict
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.builder.kept import KeptBuilds, plain
from flowcabal_tui.project.builder.known_names import known_names
from flowcabal_tui.project.builder.records import BuildRecord, change_key
from flowcabal_tui.project.workflows.library import delete_workflow
from flowcabal_tui.protocol.builds import BuildDecided

ALL: Final = "all"


class SavesWorkflow(Protocol):
    """Saves a document; `confirms`: the user has requested everything that it may send or run."""

    def __call__(self, workflow: Workflow, *, confirms: bool = ...) -> Awaitable[str]: ...


class BuildDecisions:
    """Decides suggestions; saves no workflow before `accept`. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, kept: KeptBuilds, save: SavesWorkflow) -> None:
        self._base, self._store, self._emit, self._kept, self._save = base, base.store, base.emit, kept, save

    async def mark(self, identity: str, changes: Collection[str], *, ticked: bool) -> None:
        """Ticks or unticks changes. Raises UnknownName, RunError."""
        record = await self._kept.waiting(identity)
        known = {each.id: each for each in record.changes}
        _require(changes, known)
        marks = {change_key(known[name]): ticked for name in changes}
        await self._kept.put(replace(record, said={**record.said, **marks}))

    async def edit(self, identity: str, change: str, value: Any) -> None:
        """Replaces the value of a change by the writer's, and ticks it.

        Raises EditRefused with the reason if the workflow would be invalid; then nothing was changed.
        """
        record = await self._kept.waiting(identity)
        known = {each.id: each for each in record.changes}
        _require((change,), known)
        document = _edited(record.document, known[change], value)
        edited = replace(record, document=document)
        after = next((each for each in edited.changes if _place(each) == _place(known[change])), None)
        if after is None or len(edited.changes) != len(known):
            raise EditRefused(_("That is already the current value. Reject the change instead."))
        await self._require_sound(record, document)
        await self._kept.put(replace(edited, said={**record.said, change_key(after): True}))

    async def _require_sound(self, record: BuildRecord, document: Json) -> None:
        known = await known_names(self._base, record.actions)
        try:
            before, after = (WorkingCopy(each, record.base, known).errors() for each in (record.document, document))
        except ValidationError as error:
            raise EditRefused(
                _("That is not a workflow."), "\n".join(refusal(each) for each in error.errors())
            ) from error
        if new := [finding.message for key, finding in after.items() if key not in before]:
            raise EditRefused(_("The edit would break the workflow."), "\n".join(new[:5]))

    async def accept(self, identity: str, chosen: Collection[str] = ()) -> str:
        """Saves the chosen changes as one new version; `chosen` empty: the ticked ones; `all`: every one.

        A change that depends on one that is not chosen is left out. Raises VersionConflict when the workflow was
        changed since the build began, WorkflowError when the result is invalid; then nothing was changed.
        """
        record = await self._kept.waiting(identity)
        changes = record.changes
        ids = [each.id for each in changes]
        _require([name for name in chosen if name != ALL], {each.id: each for each in changes})
        wanted = set(ids) if ALL in chosen else set(chosen) or {each.id for each in changes if each.ticked}
        taken, _fallen = without_needy(changes, set(ids) - wanted)
        if not taken:
            names = _(", ").join(ids)
            raise RunError(_("No change is ticked."), _("Name the changes to accept: {ids}").format(ids=names))
        await self._require_unchanged(record)
        workflow = Workflow.model_validate(with_changes(record.base, record.document, taken))
        require_valid(workflow)
        reference = await self._save(workflow, confirms=record.is_own)
        await self._decide(replace(record, decided=reference))
        return reference

    async def reject(self, identity: str, reason: str = "") -> None:
        """Rejects a build for good; its copy can still be viewed."""
        record = await self._kept.get(identity)
        if record.decided or record.status == "building":
            raise RunError(_("{id} is not waiting for a decision.").format(id=identity))
        await self._decide(replace(record, decided=REJECTED, reason=clean(reason)))

    async def take_back(self, identity: str) -> str:
        """Saves the writer's earlier document as the newest version; deletes a workflow that was new.

        Raises RunError, or VersionConflict if the workflow was changed since; then nothing was changed.
        """
        record = await self._kept.get(identity)
        if not record.saved:
            raise RunError(_("{id} has not changed a workflow.").format(id=identity))
        name = record.saved.partition("@")[0]
        newest = await self._now(name)
        if newest is None or f"{name}@{newest['version']}" != record.saved:
            raise VersionConflict(_("The workflow has been changed since."), "", _("Nothing was changed."))
        if record.base is None or record.from_file:
            await delete_workflow(self._base, name)
            reference = ""
        else:
            reference = await self._save(Workflow.model_validate(record.base), confirms=record.is_own)
        await self._decide(replace(record, decided=""))
        return reference

    async def _decide(self, record: BuildRecord) -> None:
        await self._kept.put(record)
        self._emit(BuildDecided(record.id))

    async def _now(self, name: str) -> Json | None:
        try:
            return plain(await self._store.workflows.get(name))
        except Gone:
            return None

    async def _require_unchanged(self, record: BuildRecord) -> None:
        now = await self._now(str((record.base or record.document)["id"]))
        if _unversioned(now) != _unversioned(None if record.from_file else record.base):
            raise VersionConflict(
                _("The workflow has been changed since the build began."),
                _("Nothing was changed."),
                _("Build again on the current version."),
            )


def _require(names: Collection[str], known: Collection[str]) -> None:
    if lost := [name for name in names if name not in known]:
        raise UnknownName(_("There is no change {id}.").format(id=clean(lost[0])[:40]), _(", ").join(known))


def _unversioned(document: Json | None) -> Json | None:
    return document and {**document, "version": 0}


def _place(change: Change) -> tuple[str, str, str]:
    """The sort key of a change; the form of a prompt decides whether its change is one of words or of wiring."""
    return "prompt" if change.kind == "wiring" else change.kind, change.node, change.field


def _edited(document: Json, change: Change, value: Any) -> Json:
    """The document with another value at the place of a change. Raises EditRefused."""
    made = copy.deepcopy(document)
    place = found(made, change.node) if change.node else None
    if change.kind == "meta":
        made[change.field] = value
    elif place is None or change.kind in ("node_removed", "edge_added", "edge_removed"):
        raise EditRefused(_("This change cannot be edited. Accept or reject it."))
    elif change.kind == "renamed":
        place.node["name"] = clean(str(value))
    elif change.kind == "node_added":
        kept = {name: place.node.get(name) for name in ("id", "kind")}
        if not isinstance(value, dict) or {**value, **kept} != value:
            raise EditRefused(_("A new node keeps its id and its kind."))
        place.node.clear()
        place.node.update(value)
    else:
        set_at(place.node.setdefault("params", {}), change.field, with_blocks(value, change.field))
    return made

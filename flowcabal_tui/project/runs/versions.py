"""Versions of outputs: selecting, editing, freezing; and the outputs that become out of date."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from flowcabal_tui.domain.errors import Gone, RunError, WorkflowError
from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import StoredResult
from flowcabal_tui.domain.run import RunRequest, made_of
from flowcabal_tui.domain.text import clean, digest_of
from flowcabal_tui.domain.versions import CurrentOutput, NodeStatus, NodeVersion
from flowcabal_tui.domain.workflow import Workflow, workflow_id
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.marks import stale_after_edit, stale_after_run, stays_as_edited, todo
from flowcabal_tui.nodes.plan import Plan
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.runs import quoting
from flowcabal_tui.project.workflows.graphs import Graphs
from flowcabal_tui.protocol.workflows import (
    EditOutput,
    FreezeBlock,
    FreezeNode,
    MarksChanged,
    UnfreezeNode,
    WorkflowSaved,
)
from flowcabal_tui.runner.scope import RunScope
from flowcabal_tui.store.file.connection import Work
from flowcabal_tui.store.runs.current_outputs import Mark, OutputChange, forgetting_outcomes


def containers(path: NodeId) -> tuple[NodeId, ...]:
    """The nodes through which a path leads, outermost first: "a/1/b/2/c" leads through a and a/1/b."""
    parts = path.split("/")
    return tuple(NodeId("/".join(parts[:end])) for end in range(1, len(parts), 2))


class OutputVersions:
    """Commands and questions about versions of outputs and of documents. Lives on the engine's loop."""

    def __init__(
        self, base: ProjectBase, imagined: Callable[[RunRequest], Awaitable[RunScope]], graphs: Graphs
    ) -> None:
        """`imagined` returns the shared state of a run for a request, without starting one."""
        self._store, self._emit, self._trust, self._now = base.store, base.emit, base.trust, base.clock
        self._imagined, self._graphs = imagined, graphs

    # Questions

    async def of(self, workflow: str, node: NodeId, chapter: ChapterId | None) -> tuple[NodeVersion, ...]:
        """All versions, newest first."""
        name = workflow_id(workflow)
        versions = await self._store.versions.of(name, chapter, node)
        known = (await self._store.current_outputs.all(name, chapter)).get(node)
        current = known.digest if known else next((one.digest for one in reversed(versions) if one.stood), None)
        return tuple(
            replace(version, current=True, chosen=bool(known and known.chosen), frozen=bool(known and known.frozen))
            if version.digest == current
            else version
            for version in reversed(versions)
        )

    async def statuses(self, workflow: str, chapter: ChapterId | None) -> tuple[NodeStatus, ...]:
        """Every node of the document in order, then frozen or chosen nodes inside them."""
        document = await self._store.workflows.get(workflow)
        known = await self._store.current_outputs.all(document.id, chapter)
        stale = await self._store.current_outputs.stale(document.id, chapter)
        nodes = [node.id for node in document.nodes]
        inside = [node for node in known if "/" in node]
        return tuple(NodeStatus(node, known.get(node), stale.get(node)) for node in (*nodes, *inside))

    async def todo(
        self, workflow: str, chapter: ChapterId | None, targets: Sequence[NodeId]
    ) -> tuple[tuple[NodeId, ...], ...]:
        """Level by level the nodes without an output or with one out of date; with targets, those that these need."""
        document = await self._store.workflows.get(workflow)
        known = await self._store.current_outputs.all(document.id, chapter)
        stale = await self._store.current_outputs.stale(document.id, chapter)
        fresh = {node for node, output in known.items() if output.frozen or node not in stale}
        graph = self._graphs.of(document)
        wanted = targets or [node for node in graph.steps if node not in fresh]
        return todo(graph, wanted, fresh.__contains__)

    # documents

    async def save(self, workflow: Workflow, *, keep_version: bool = False, confirms: bool = True) -> str:
        """Stores a document; edited nodes and all nodes after them become out of date. Raises WorkflowError.

        With `keep_version` it keeps its own version number, if that is free; an older one than the newest changes no
        marks. Without `confirms` the user is asked before it sends or runs anything new.
        """
        require_valid(workflow)
        try:
            before = await self._store.workflows.get(workflow.id)
        except Gone:
            before = None
        hides_nothing = confirms and self._trust.confirms(before)
        saved = await self._store.workflows.save(workflow, keep_version=keep_version)
        if hides_nothing:
            await self._trust.renew_workflow(saved)
        if saved != before:
            self._emit(WorkflowSaved(saved.reference))
            if before is not None and saved.version > before.version:
                await self._mark_edits(before, saved)
        return saved.reference

    async def _mark_edits(self, before: Workflow, after: Workflow) -> None:
        old, new = self._graphs.of(before), self._graphs.of(after)
        joined = (before.join, before.skip_empty) != (after.join, after.skip_empty)
        changed = [
            node
            for node, step in new.steps.items()
            if node in old.steps
            and (
                (step.digest, step.controls) != (old.steps[node].digest, old.steps[node].controls)
                or (joined and step.kind.blocks(step.params))
            )
        ]
        if not changed:
            return
        changes: dict[ChapterId | None, OutputChange] = {}
        for chapter in await self._store.current_outputs.chapters(after.id):
            known = await self._store.current_outputs.all(after.id, chapter)
            changes[chapter] = OutputChange(
                marks=tuple(
                    (each, node, "edited")
                    for node in changed
                    for each in stale_after_edit(new, node, has_output=known.__contains__)
                )
            )
        await self._store.current_outputs.write(after.id, changes)
        await self._store.current_outputs.as_made(after.id, {node: new.steps[node].digest for node in changed})
        self._emit(MarksChanged(after.id, None, tuple(changed)))

    async def freeze_block(self, command: FreezeBlock) -> str:
        """Freezes a block. Raises RunError for a block that is missing or not virtual, or when its node has no current
        output."""
        document = await self._store.workflows.get(workflow_id(command.workflow))
        data = document.model_dump(mode="json")
        node = next((one for one in data["nodes"] if one["id"] == command.node), None)
        block = _block(node, command)
        if not command.frozen:
            block["frozen"] = None
        elif command.text is not None:
            block["frozen"] = clean(command.text)
        else:
            version = await self._version(document.id, command.chapter, NodeId(block["node"]), Digest(""))
            block["frozen"] = Output(await self._store.journal.text(version.digest), version.form).text
        return await self.save(Workflow.model_validate(data))

    # outputs

    async def select(
        self,
        workflow: str,
        node: NodeId,
        chapter: ChapterId | None,
        digest: Digest,
        *,
        frozen: bool | None = None,
        chosen: bool = True,
        beside: Sequence[Work] = (),
    ) -> None:
        """Makes this version the current output, in one transaction with the writes of `beside`.

        `frozen` None: as frozen as before. Raises RunError.
        """
        document = await self._store.workflows.get(workflow_id(workflow))
        version = await self._version(document.id, chapter, node, digest)
        text = await self._store.journal.text(version.digest)
        await self._make_current(document, chapter, version, text, frozen=frozen, chosen=chosen, beside=beside)

    async def _make_current(
        self,
        document: Workflow,
        chapter: ChapterId | None,
        version: NodeVersion,
        text: str,
        *,
        base: Digest | None = None,
        frozen: bool | None = None,
        chosen: bool = True,
        beside: Sequence[Work],
    ) -> None:
        """`base`: in whose place `text` is written by hand; None: the version is there."""
        node, graph = version.node, self._graphs.of(document)
        known = await self._store.current_outputs.all(document.id, chapter)
        before = known.get(node)
        keeps = before.frozen if frozen is None and before else bool(frozen)
        keys = await self._store.versions.keys(document.id, chapter, node, version.digest)
        if base is not None:
            keys |= await self._store.versions.keys(document.id, chapter, node, base)
        now = await self._keys_now(document, chapter, node) if "/" not in node else frozenset()
        if not keys and version.author == "human" and not version.run:
            keys = now
        current = CurrentOutput(
            node,
            version.digest,
            version.form,
            version.at,
            keeps,
            chosen,
            version.run,
            before.made if before else Digest(""),
        )
        change = self._change(graph, known, current, fits="/" in node or keeps or bool(keys & now))
        parts = (*self._remembering(version, text, keys), await self._opening_containers(document.id, chapter, node))
        await self._store.current_outputs.write(document.id, {chapter: change}, *beside, *parts)
        self._emit(MarksChanged(document.id, chapter, (node,)))

    async def edit(self, command: EditOutput) -> str:
        """Stores a person's text as the current output; returns its digest. Raises RunError for invalid JSON."""
        document = await self._store.workflows.get(workflow_id(command.workflow))
        if containers(command.node)[:1] == () and command.node not in {node.id for node in document.nodes}:
            raise Gone(command.node)
        versions = await self.of(document.id, command.node, command.chapter)
        base = next((one for one in versions if one.digest == command.base or (not command.base and one.current)), None)
        output = _written(clean(command.text), base)
        await self.write(document.id, command.node, command.chapter, output, base.digest if base else Digest(""))
        return output.digest

    async def write(
        self,
        workflow: str,
        node: NodeId,
        chapter: ChapterId | None,
        output: Output,
        base: Digest | None = None,
        beside: Sequence[Work] = (),
    ) -> None:
        """Stores the writer's output as the current one, in one transaction with the writes of `beside`.

        It replaces `base` (None: the current one).
        """
        document = await self._store.workflows.get(workflow_id(workflow))
        if base is None:
            known = (await self._store.current_outputs.all(document.id, chapter)).get(node)
            base = known.digest if known else Digest("")
        by_hand = NodeVersion(0, node, self._now(), RunId(""), digest=output.digest, form=output.form, author="human")
        versions = await self.of(document.id, node, chapter)
        version = next((one for one in versions if (one.digest, one.author) == (output.digest, "human")), by_hand)
        stays = True if stays_as_edited(self._graphs.of(document), node) else None
        written = self._store.versions.writing(document.id, chapter, node, output, base)
        await self._make_current(
            document, chapter, version, output.stored, base=base, frozen=stays, beside=(written, *beside)
        )

    async def freeze(self, command: FreezeNode) -> None:
        """Freezes a node. Raises RunError when there is no such output."""
        name = workflow_id(command.workflow)
        version = await self._version(name, command.chapter, command.node, command.digest)
        known = (await self._store.current_outputs.all(name, command.chapter)).get(command.node)
        chosen = known.chosen if known and known.digest == version.digest else bool(command.digest)
        await self.select(name, command.node, command.chapter, version.digest, frozen=True, chosen=chosen)

    async def unfreeze(self, command: UnfreezeNode) -> None:
        """Unfreezes a node. Raises RunError when the node is not frozen."""
        name = workflow_id(command.workflow)
        known = (await self._store.current_outputs.all(name, command.chapter)).get(command.node)
        if known is None or not known.frozen:
            raise RunError(_("{node} is not frozen.").format(node=command.node), _("Nothing was changed."))
        await self.select(name, command.node, command.chapter, known.digest, frozen=False, chosen=known.chosen)

    def _change(
        self, graph: Plan, known: dict[NodeId, CurrentOutput], current: CurrentOutput, *, fits: bool
    ) -> OutputChange:
        """The changes that one node's new output causes; `fits`: it was made from the current inputs."""
        top = NodeId(current.node.split("/")[0])
        before = known.get(current.node)
        other = before is None or before.digest != current.digest
        marks: list[Mark] = [
            (each, top, "output")
            for each in (
                stale_after_run(graph, top, has_output=known.__contains__) if other and top in graph.steps else ()
            )
        ]
        if not fits or top != current.node:
            marks.append((top, top, "output"))
        return OutputChange(put=(current,), fresh=(current.node,), marks=tuple(marks))

    def _remembering(self, version: NodeVersion, text: str, keys: Collection[Digest]) -> list[Work]:
        written, parts = version.author == "human", []
        for key in sorted(keys):
            own = version.key or (digest_of(["human", text]) if written else key)
            made = made_of(version) | {"key": own, "author": "human" if written else "model"}
            parts.append(self._store.journal.remembering_outcome(key, StoredResult(**made, text=text)))
        return parts

    async def _version(self, name: str, chapter: ChapterId | None, node: NodeId, digest: Digest) -> NodeVersion:
        """The version of that digest; "" is the current one. Raises RunError."""
        for version in await self.of(name, node, chapter):
            if version.digest == digest or (not digest and version.current):
                return version
        raise RunError(
            _("{node} has no such output.").format(node=node)
            if digest
            else _("{node} has no output.").format(node=node),
            _("Nothing was changed."),
            _("Run it first, or choose one of its versions."),
        )

    async def _keys_now(self, document: Workflow, chapter: ChapterId | None, node: NodeId) -> frozenset[Digest]:
        """The keys under which a run like the last one would look up the node's output."""
        last = await self._store.runs.last_request(document.id, chapter)
        request = RunRequest(document.id, chapter) if last is None else replace(last, workflow=document.id)
        return await quoting.keys(await self._imagined(replace(request, again=(), targets=(), overrides=())), node)

    async def _opening_containers(self, name: str, chapter: ChapterId | None, node: NodeId) -> Work:
        """Nodes around a changed one are not served as they are: they look inside again, which costs nothing."""
        keys: set[Digest] = set()
        for around in containers(node):
            keys |= await self._store.versions.keys(name, chapter, around, None)
        return forgetting_outcomes(keys)


def _block(node: dict[str, Any] | None, command: FreezeBlock) -> dict[str, Any]:
    found: Any = node["params"] if node else None
    for name in command.field.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    block = found[command.block] if isinstance(found, list) and 0 <= command.block < len(found) else None
    if not isinstance(block, dict) or block.get("kind") != "virtual":
        raise WorkflowError(
            _("{node} has no virtual block {n} in {field}.").format(
                node=command.node, n=command.block, field=command.field
            ),
            _("Nothing was changed."),
        )
    return block


def _written(text: str, base: NodeVersion | None) -> Output:
    if base is None or base.form == "text":
        return Output(text)
    try:
        return Output.of(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise RunError(
            _("That is not JSON, but this node outputs JSON."),
            str(error),
            _("Nothing was changed. Correct it and try again."),
        ) from error

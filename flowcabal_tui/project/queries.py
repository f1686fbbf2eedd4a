"""Answers to the questions of guests, read from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.arcs import ARCS, WORK, arcs_of
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.errors import FlowCabalError, RunError, UnknownName
from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.manuscript import ReferenceId
from flowcabal_tui.domain.memory import META_NAMES, Entity, Level
from flowcabal_tui.domain.run import UNDER_WAY, Attempt, node_state_in
from flowcabal_tui.domain.story import Relation, StoryRecord
from flowcabal_tui.domain.versions import NodeVersion, VersionTrace
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.runs.layers import kept_trace
from flowcabal_tui.project.runs.overrides import no_node
from flowcabal_tui.project.runs.tracing import trace
from flowcabal_tui.project.views import NodeView, SourceText
from flowcabal_tui.project.words import META
from flowcabal_tui.runner.fold import AttemptFold, NodeFold, fold
from flowcabal_tui.runner.scope import RunScope
from flowcabal_tui.store import Store

SUMMARIES: Final[tuple[Level, ...]] = ("L0", "L1")


class Queries:
    """Reads only; lives on the engine's loop."""

    def __init__(self, store: Store, kinds: ProfileKinds | None = None) -> None:
        """`kinds` None: only the profiles that come with the program are called by their kind."""
        self._store, self._kinds = store, kinds or ProfileKinds()

    async def node(self, run: RunId, node: NodeId) -> NodeView:
        """A node with the texts of all its attempts."""
        workflow = await self._store.runs.workflow_of(run)
        found, made = await self._made(workflow, run, node)
        attempts = [await self._attempt(run, node, each) for each in made]
        chosen, item_errors = found.chosen, tuple[str, ...]()
        if not made and found.state == "done":  # a node that makes no attempts of its own: its output is the only one
            output = Output(await self._store.runs.text(found.digest), found.form)
            item_errors = output.errors
            attempts, chosen = [Attempt(1, output.text, digest=found.digest)], 1
        asked = await self._store.runs.question(found.question) if found.question else None
        state = found.state
        if state in UNDER_WAY and await self._store.runs.is_interrupted(run):
            state = node_state_in("interrupted", state)
        return NodeView(
            run=run,
            node=node,
            title=_title(workflow, node),
            kind=next((one.kind for one in workflow.nodes if one.id == node), ""),
            state=state,
            attempts=tuple(attempts),
            chosen=chosen,
            partial=attempts[-1].text if attempts and not attempts[-1].complete else "",
            question=asked if state == "waiting" else None,
            error=found.error,
            item_errors=item_errors,
        )

    async def _made(self, workflow: Workflow, run: RunId, node: NodeId) -> tuple[NodeFold, list[AttemptFold]]:
        """What the log says of a node, or of one inside of another, and its attempts."""
        nodes = fold(await self._store.runs.node_history(run, node)).nodes
        if node not in nodes and node not in {one.id for one in workflow.nodes}:
            raise no_node(workflow, node)
        found = nodes.get(node) or NodeFold()
        return found, [each for _number, each in sorted(found.attempts.items()) if each.started or each.done]

    async def trace(self, scope: RunScope, node: NodeId, number: int) -> VersionTrace:
        """What was sent for an attempt of a run (0: the one that stood). `scope` is the run's. Raises RunError."""
        run = scope.id
        nodes = fold(await self._store.runs.history(run)).nodes
        found, made = await self._made(scope.workflow, run, node)
        wanted = next((each for each in made if each.number == (number or found.chosen)), None)
        if wanted is None:
            raise RunError(_("There is no attempt {n} to choose.").format(n=number or found.chosen))
        done = {path: known for path, known in nodes.items() if known.state == "done" and known.digest}
        texts = await self._store.runs.texts(tuple({known.digest for known in done.values()}))
        kept = await self._store.sent.of(run, f"node:{node}", wanted.number)
        try:
            made_again = await trace(
                scope,
                node,
                wanted,
                [await self._attempt(run, node, each) for each in made],
                {path: Output(texts[known.digest], known.form, known.digest) for path, known in done.items()},
            )
        except FlowCabalError:
            if kept is None:
                raise
            return kept_trace(kept, None)
        return made_again if made_again.exact or kept is None else kept_trace(kept, made_again)

    async def texts(self, versions: Sequence[NodeVersion]) -> tuple[str, ...]:
        """Their texts in this order, as a person reads them."""
        found = await self._store.runs.texts(tuple({version.digest for version in versions}))
        return tuple(Output(found[version.digest], version.form).text for version in versions)

    async def _attempt(self, run: RunId, node: NodeId, found: AttemptFold) -> Attempt:
        if found.done:
            attempt = found.attempt(await self._store.runs.text(Digest(found.done["digest"])))
            if not attempt.cached or attempt.receipt is not None:
                return attempt
            chapter = (await self._store.runs.run_request(run)).chapter
            return replace(attempt, receipt=await self._store.versions.receipt_of(node, chapter, attempt.key))
        return found.attempt(await self._store.runs.partial_text(run, node, found.number))

    async def _entity(self, uri: str) -> Entity | None:
        wanted = uri.rsplit("/", 1)[-1]
        return next((entity for entity in await self._store.memory.names() if entity.id == wanted), None)

    async def _title(self, uri: str) -> str:
        if uri.startswith("manuscript/"):
            return (await self._store.book.chapter(ChapterId(uri.removeprefix("manuscript/")))).title
        if uri == WORK:
            return _("The whole work")
        if uri.startswith(ARCS):
            view = await self._store.memory.view(None)
            titles = {arc.uri: arc.title(view.language) for arc in arcs_of(await view.chapters())}
            return titles.get(uri, uri.removeprefix(ARCS))
        kinds = {kind.uri(None): kind.title for kind in self._kinds.all()}
        return kinds.get(uri) or uri.rsplit("/", 1)[-1]

    async def source(
        self, uri: str, start: int, end: int, level: Level | None = None, receipt: Receipt | None = None
    ) -> SourceText:
        """The text behind a uri of a receipt or finding. Raises RunError for one that is not there.

        With a level, what stands of a profile in it; of a chapter, its summary in L0 and L1. With a receipt, as its
        run saw it: what was changed since would not have the cited words at their place.
        """
        root, _slash, rest = uri.partition("/")
        if level and root in ("profiles", "summaries", "manuscript"):
            seen = await self._seen(uri, level, receipt)
            if seen is not None:
                return SourceText(uri, await self.title(uri), seen, start, end)
        if root == "manuscript":
            chapter = await self._store.book.chapter(ChapterId(rest.split("/")[0]))
            return SourceText(uri, chapter.title, await self._store.book.text(chapter.id), start, end)
        if root == "meta" and (meta := next((name for name in META_NAMES if name == rest), None)):
            return SourceText(uri, _(META[meta]), await self._store.book.meta_text(meta), start, end)
        if root == "entities" and (entity := await self._entity(uri)):
            return SourceText(uri, entity.name, entity_text(entity), start, end)
        if root == "reference":
            book, _slash, number = rest.partition("/")
            title, text = await self._store.references.text(ReferenceId(book), int(number) if number.isdecimal() else 1)
            return SourceText(uri, title, text, start, end)
        if root in ("relations", "facts", "promises", "moments"):
            return await self._told(uri, root, rest)
        if root in ("profiles", "summaries") and (text := await self.summary(uri)):
            return SourceText(uri, await self.title(uri), text, start, end)
        raise _nothing_at(uri)

    async def _seen(self, uri: str, level: Level, receipt: Receipt | None) -> str | None:
        """A level of a chapter or derived text, as it stands or as the run of a receipt saw it; None if it did not."""
        memory = self._store.memory
        view = await (memory.view(receipt.chapter, receipt.generation) if receipt else memory.view(None))
        root, _slash, rest = uri.partition("/")
        if root == "manuscript" and level == "L2":
            chapter = ChapterId(rest.split("/")[0])
            known = {each.id for each in await view.chapters()}
            return await view.chapter_text(chapter) if chapter in known else None
        derived = await view.derived(uri, level)
        return derived.text if derived else None

    async def _told(self, uri: str, kind: str, identity: str) -> SourceText:
        """A record of the story, at the words of the chapter that say it. Raises RunError for one that is gone."""
        story = await (await self._store.memory.view(None)).story()
        records: Sequence[StoryRecord] = getattr(story, kind)
        record = next((each for each in records if each.id == identity), None)
        if record is None:
            raise _nothing_at(uri)
        if record.evidence:
            said = record.evidence[0]
            return await self.source(f"manuscript/{said.chapter}", said.start, said.end)
        return SourceText(uri, _("written by hand"), record.kind if isinstance(record, Relation) else record.text)

    async def summary(self, uri: str) -> str:
        """What stands as L0 and L1 of a chapter or profile; "" if there are none yet."""
        return "\n\n".join((await self.levels(uri)).values())

    async def levels(self, uri: str) -> dict[Level, str]:
        """The texts that stand for a chapter or profile, L0 before L1; nothing of what was taken out of the book."""
        view = await self._store.memory.view(None)
        found = [await view.derived(uri, level) for level in SUMMARIES]
        return {state.level: state.text for state in found if state is not None}

    async def title(self, uri: str) -> str:
        """What a uri is called: the name of its entity, or the title of its chapter."""
        entity = await self._entity(uri)
        return entity.name if entity else await self._title(uri)


def entity_text(entity: Entity) -> str:
    """All that is known of an entity by hand, as it is read and searched."""
    return f"{' · '.join(entity.names)}\n\n{entity.note}"


def _nothing_at(uri: str) -> UnknownName:
    return UnknownName(_("There is nothing at {uri}.").format(uri=uri), _("It may have been removed since."))


def _title(workflow: Workflow, node: NodeId) -> str:
    return next((one.title for one in workflow.nodes if one.id == node), node.rsplit("/", 1)[-1])

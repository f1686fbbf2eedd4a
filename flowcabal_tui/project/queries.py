"""Answers to the questions of guests, read from the store."""

from __future__ import annotations

from collections.abc import Mapping

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, NodeId, RunId
from flowcabal_tui.domain.memory import META_NAMES, Derived, Entity
from flowcabal_tui.domain.run import Attempt
from flowcabal_tui.locale import _
from flowcabal_tui.project.views import NodeView, ProfileRow, ProfileView, SourceText
from flowcabal_tui.runner.fold import AttemptFold, fold
from flowcabal_tui.store import Store


class Queries:
    """Reads only; lives on the engine's loop."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def node(self, run: RunId, node: NodeId) -> NodeView:
        """A node with the texts of all its attempts."""
        workflow = await self._store.runs.workflow_of(run)
        try:
            title, kind = workflow.node(node).title, workflow.node(node).kind
        except KeyError as error:
            raise RunError(_("The workflow {name} has no node {node}.").format(name=workflow.id, node=node)) from error
        found = fold(await self._store.runs.history(run)).node(node)
        made = [each for _number, each in sorted(found.attempts.items()) if each.started or each.done]
        attempts = [await self._attempt(run, node, each) for each in made]
        asked = await self._store.runs.question(found.question) if found.question else None
        return NodeView(
            run=run,
            node=node,
            title=title,
            kind=kind,
            state=found.state,
            attempts=tuple(attempts),
            chosen=found.chosen,
            partial=attempts[-1].text if attempts and not attempts[-1].complete else "",
            question=asked if found.state == "waiting" else None,
            error=found.error,
        )

    async def _attempt(self, run: RunId, node: NodeId, found: AttemptFold) -> Attempt:
        if found.done:
            return found.attempt(await self._store.runs.text(Digest(found.done["digest"])))
        return found.attempt(await self._store.runs.partial_text(run, node, found.number))

    async def profiles(self) -> tuple[ProfileRow, ...]:
        """One row for each profile, and one for each chapter's summaries, in story order."""
        view = await self._store.memory.view(None, await self._store.memory.generation())
        names = {entity.id: entity.name for entity in await view.entities()}
        titles = {f"manuscript/{chapter.id}": chapter.title for chapter in await view.chapters()}
        states = await self._store.memory.derived_counts("")
        rows: list[ProfileRow] = []
        for derived in await view.derived_under("profiles/", "L0"):
            _root, kind, subject = derived.uri.split("/", 2)
            rows.append(_row(kind, names.get(EntityId(subject), subject), derived, states))
        for derived in await view.derived_under("manuscript/", "L0"):
            if derived.uri in titles:
                rows.append(_row("chapters", titles[derived.uri], derived, states))
        return tuple(rows)

    async def profile(self, uri: str) -> ProfileView:
        """A profile's newest state in each level, and all its states, newest first."""
        history = await self._store.memory.derived_history(uri)
        newest: dict[str, Derived] = {}
        for state in history:
            newest.setdefault(state.level, state)
        return ProfileView(
            uri,
            await self.title(uri),
            tuple(newest[level] for level in sorted(newest)),
            history,
            await self._entity(uri),
        )

    async def _entity(self, uri: str) -> Entity | None:
        wanted = uri.rsplit("/", 1)[-1]
        return next((entity for entity in await self._store.memory.names() if entity.id == wanted), None)

    async def _title(self, uri: str) -> str:
        if uri.startswith("manuscript/"):
            return (await self._store.book.chapter(ChapterId(uri.removeprefix("manuscript/")))).title
        return uri.rsplit("/", 1)[-1]

    async def source(self, uri: str, start: int, end: int) -> SourceText:
        """The text behind a uri of a receipt or finding. Raises RunError for one that is not there."""
        root, _slash, rest = uri.partition("/")
        if root == "manuscript":
            chapter = await self._store.book.chapter(ChapterId(rest.split("/")[0]))
            return SourceText(uri, chapter.title, await self._store.book.text(chapter.id), start, end)
        if root == "meta" and rest in META_NAMES:
            return SourceText(uri, rest, await self._store.book.meta_text(rest), start, end)
        if root == "entities" and (entity := await self._entity(uri)):
            return SourceText(uri, entity.name, f"{' · '.join(entity.names)}\n\n{entity.note}", start, end)
        if root == "profiles" and (history := await self._store.memory.derived_history(uri)):
            newest = {state.level: state.text for state in reversed(history)}
            text = "\n\n".join(newest[level] for level in ("L0", "L1", "L2") if level in newest)
            return SourceText(uri, await self.title(uri), text, start, end)
        raise RunError(_("There is nothing at {uri}.").format(uri=uri), _("It may have been removed since."))

    async def summary(self, uri: str) -> str:
        """The newest L0 and L1 of a chapter or profile; "" if there are none yet."""
        newest = {state.level: state.text for state in reversed(await self._store.memory.derived_history(uri))}
        return "\n\n".join(newest[level] for level in ("L0", "L1") if level in newest)

    async def title(self, uri: str) -> str:
        """What a uri is called: the name of its entity, or the title of its chapter."""
        entity = await self._entity(uri)
        return entity.name if entity else await self._title(uri)


def _row(kind: str, name: str, derived: Derived, states: Mapping[str, int]) -> ProfileRow:
    return ProfileRow(kind, name, derived.uri, derived.text, derived.position, states[derived.uri])

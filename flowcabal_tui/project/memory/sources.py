"""Reads the texts at the uris in receipts, findings and search hits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flowcabal_tui.agents.arcs import ARCS, WORK, arcs_of
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import ReferenceId
from flowcabal_tui.domain.memory import META_NAMES, Entity, Level
from flowcabal_tui.domain.story import StoryRecord, wording
from flowcabal_tui.locale import _
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.project.words import META
from flowcabal_tui.store import Store

SUMMARIES: Final[tuple[Level, ...]] = ("L0", "L1")


class Sources:
    """Reads cited texts. Reads only; lives on the engine's loop."""

    def __init__(self, store: Store, kinds: ProfileKinds | None = None) -> None:
        """`kinds` None: only built-in profiles are titled by their kind."""
        self._store, self._kinds = store, kinds or ProfileKinds()

    async def source(
        self, uri: str, start: int, end: int, level: Level | None = None, receipt: Receipt | None = None
    ) -> OpenedSource:
        """The text at a uri of a receipt or finding. Raises RunError for an unknown one.

        With a level, returns that level of a profile, or the L0 or L1 summary of a chapter. With a receipt, the text as
        its run saw it: a later text would not have the cited words at their place.
        """
        root, _slash, rest = uri.partition("/")
        if level and root in ("profiles", "summaries", "manuscript"):
            seen = await self._seen(uri, level, receipt)
            if seen is not None:
                return OpenedSource(uri, await self.title(uri), seen, start, end)
        if root == "manuscript":
            chapter = await self._store.book.chapter(ChapterId(rest.split("/")[0]))
            return OpenedSource(uri, chapter.title, await self._store.book.text(chapter.id), start, end)
        if root == "meta" and (meta := next((name for name in META_NAMES if name == rest), None)):
            return OpenedSource(uri, _(META[meta]), await self._store.book.meta_text(meta), start, end)
        if root == "entities" and (entity := await self.entity(uri)):
            return OpenedSource(uri, entity.name, entity_text(entity), start, end)
        if root == "reference":
            book, _slash, number = rest.partition("/")
            title, text = await self._store.references.text(ReferenceId(book), int(number) if number.isdecimal() else 1)
            return OpenedSource(uri, title, text, start, end)
        if root in ("relations", "facts", "promises", "moments"):
            return await self._record_text(uri, root, rest)
        if root in ("profiles", "summaries") and (text := await self.summary(uri)):
            return OpenedSource(uri, await self.title(uri), text, start, end)
        raise _nothing_at(uri)

    async def _seen(self, uri: str, level: Level, receipt: Receipt | None) -> str | None:
        """A level of a chapter or derived text, as it is or as the run of a receipt saw it; None if it did not."""
        memory = self._store.memory
        view = await (memory.view(receipt.chapter, receipt.generation) if receipt else memory.view(None))
        root, _slash, rest = uri.partition("/")
        if root == "manuscript" and level == "L2":
            chapter = ChapterId(rest.split("/")[0])
            known = {each.id for each in await view.chapters()}
            return await view.chapter_text(chapter) if chapter in known else None
        derived = await view.derived(uri, level)
        return derived.text if derived else None

    async def _record_text(self, uri: str, kind: str, identity: str) -> OpenedSource:
        """A record of the story, at its quotation in the chapter. Raises RunError when the record no longer exists."""
        story = await (await self._store.memory.view(None)).story()
        records: Sequence[StoryRecord] = getattr(story, kind)
        record = next((each for each in records if each.id == identity), None)
        if record is None:
            raise _nothing_at(uri)
        if record.evidence:
            evidence = record.evidence[0]
            return await self.source(f"manuscript/{evidence.chapter}", evidence.start, evidence.end)
        return OpenedSource(uri, _("written by hand"), wording(record))

    async def summary(self, uri: str) -> str:
        """The current L0 and L1 of a chapter or profile; "" if there are none yet."""
        return "\n\n".join((await self.levels(uri)).values())

    async def levels(self, uri: str) -> dict[Level, str]:
        """The current texts of a chapter or profile, L0 before L1; none for one that was taken out of the book."""
        view = await self._store.memory.view(None)
        found = [await view.derived(uri, level) for level in SUMMARIES]
        return {state.level: state.text for state in found if state is not None}

    async def title(self, uri: str) -> str:
        """The title of a uri: the name of its entity, or the title of its chapter."""
        entity = await self.entity(uri)
        return entity.name if entity else await self._title(uri)

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

    async def entity(self, uri: str) -> Entity | None:
        """The entity that a uri ends with; None for any other uri."""
        wanted = uri.rsplit("/", 1)[-1]
        return next((entity for entity in await self._store.memory.names() if entity.id == wanted), None)


def entity_text(entity: Entity) -> str:
    """All information that the writer entered about an entity, as text to read and search."""
    return f"{' · '.join(entity.names)}\n\n{entity.note}"


def _nothing_at(uri: str) -> UnknownName:
    return UnknownName(_("There is nothing at {uri}.").format(uri=uri), _("It may have been removed since then."))

"""The card of a name: the known data of a person, place or thing as of a chapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.agents.sentences import sentence_at
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity, Mention
from flowcabal_tui.domain.name_card import CardPlace, CardRelation, NameCard
from flowcabal_tui.domain.story import Relation
from flowcabal_tui.store import Store
from flowcabal_tui.store.memory.view import View


class NameCards:
    """Makes cards. Reads only; lives on the engine's loop."""

    def __init__(self, store: Store, kinds: ProfileKinds) -> None:
        self._store, self._kinds = store, kinds

    async def card(self, identity: EntityId, chapter: ChapterId | None) -> NameCard:
        """The card of an entity as of a chapter (None: of the end of the book). Raises Gone if either is unknown."""
        view = await self._store.memory.view(None)
        entities = {each.id: each for each in await self._store.memory.names()}
        chapters = {each.id: each for each in await self._store.book.chapters()}
        if identity not in entities or not (chapter is None or chapter in chapters):
            raise Gone(identity if identity not in entities else chapter)
        position = len(chapters) + 1 if chapter is None else chapters[chapter].position
        mentions = await view.mentions(identity)
        last = next((each for each in reversed(mentions) if each.position < position), None)
        relations = [each for each in (await view.story()).relations if _holds(each, position, chapters)]
        profile, about = await self._profile(entities[identity], view.up_to(position))
        return NameCard(
            entities[identity],
            len(mentions),
            await _place(last, view, chapters) if last else None,
            await _place(mentions[0], view, chapters) if mentions else None,
            tuple(_relations(identity, relations, entities)),
            profile,
            about,
        )

    async def _profile(self, entity: Entity, view: View) -> tuple[str, str]:
        """The uri and the line of its profile; both "" where there is none yet."""
        for kind in self._kinds.all():
            if kind.settings.subject == entity.kind and (line := await view.derived(kind.uri(entity.id), "L0")):
                return line.uri, line.text
        return "", ""


async def _place(mention: Mention, view: View, chapters: Mapping[ChapterId, Chapter]) -> CardPlace:
    text = await view.chapter_text(mention.chapter)
    sentence = sentence_at(text, mention.start)
    title, words = chapters[mention.chapter].title, text[sentence.start : sentence.end]
    return CardPlace(mention.chapter, mention.position, title, mention.start, mention.end, words)


def _holds(relation: Relation, position: int, chapters: Mapping[ChapterId, Chapter]) -> bool:
    since, until = (chapters.get(at) if at else None for at in (relation.since, relation.until))
    return (since is None or since.position <= position) and (until is None or position < until.position)


def _relations(
    identity: EntityId, relations: list[Relation], entities: Mapping[EntityId, Entity]
) -> Iterator[CardRelation]:
    """The relations as the one on the card sees them; none to a name that was removed."""
    for each in relations:
        if identity in (each.source, each.target):
            outward = each.source == identity
            other = entities.get(each.target if outward else each.source)
            if other is not None:
                yield CardRelation(other.id, other.name, each.kind, outward if each.directed else None)

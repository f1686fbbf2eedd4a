"""Profiles as candidates: the kinds say in which kinds of scene they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from flowcabal_tui.agents.context.candidates import Candidate
from flowcabal_tui.agents.context.gather import Book
from flowcabal_tui.agents.context.intent import Reading
from flowcabal_tui.agents.context.quoted import levels
from flowcabal_tui.agents.profile_kinds import ProfileKind
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity, Level
from flowcabal_tui.locale import _

_LEVELS: Final[tuple[Level, Level]] = ("L1", "L0")


async def profiles(book: Book, reading: Reading, kinds: Iterable[ProfileKind]) -> list[Candidate]:
    """Of those in the scene, then of the book, then of everyone of a kind; L0 where L1 is too much."""
    scene, known = reading.intent.scene, tuple(kinds)
    of_scene = _("a scene of this kind: {scene}").format(scene=scene)
    wanted: list[tuple[ProfileKind, Entity | None]] = [
        (kind, entity)
        for entity in reading.cast
        for kind in known
        if kind.settings.subject == entity.kind and kind.is_read_in(scene)
    ]
    wanted += [(kind, None) for kind in known if kind.of_book and kind.is_read_in(scene)]
    uris = [kind.uri(entity.id if entity else None) for kind, entity in wanted]
    larger, smaller = [{each.uri: each for each in await book.view.derived_of(uris, level)} for level in _LEVELS]
    found: list[Candidate] = []
    for (kind, entity), uri in zip(wanted, uris, strict=True):
        title, reason = _words(kind, entity, book, of_scene, reading.reasons)
        whole = larger.get(uri) if kind.settings.level == "L1" else None
        states = (smaller.get(uri), whole)
        found += levels(uri, title, reason, "profiles", states, book.places, book.view.language)
    taken = {each.uri for each in found}
    names = {str(entity.id): entity.name for entity in book.entities}
    for kind in known:
        lines = await book.view.derived_under(f"profiles/{kind.name}/", "L0") if kind.is_read_whole_in(scene) else ()
        for line in lines:
            name = names.get(line.uri.rsplit("/", 1)[1], kind.title_in(book.view.language))
            if line.uri not in taken:
                found += levels(line.uri, name, of_scene, "profiles", [line], book.places, book.view.language)
    return found


def _words(
    kind: ProfileKind, entity: Entity | None, book: Book, of_scene: str, reasons: Mapping[EntityId, str]
) -> tuple[str, str]:
    """Title and reason."""
    title = kind.title_in(book.view.language)
    if entity is None:
        return title, of_scene
    always = "*" in kind.settings.scenes
    return (entity.name, reasons.get(entity.id, of_scene)) if always else (f"{entity.name} · {title}", of_scene)

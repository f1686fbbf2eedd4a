"""Profiles as candidates: the kinds say in which kinds of scene they are read."""

from __future__ import annotations

from collections.abc import Iterable

from flowcabal_tui.agents.context.candidates import Candidate
from flowcabal_tui.agents.context.gather import Book, levels
from flowcabal_tui.agents.context.intent import Reading
from flowcabal_tui.agents.profile_kinds import ProfileKind
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.locale import _


async def profiles(book: Book, reading: Reading, kinds: Iterable[ProfileKind]) -> list[Candidate]:
    """Of those in the scene, then of the book, then of everyone of a kind; L0 where L1 is too much."""
    scene, known = reading.intent.scene, tuple(kinds)
    of_scene = _("a scene of this kind: {scene}").format(scene=scene)
    found: list[Candidate] = []
    for entity in reading.cast:
        for kind in known:
            if kind.settings.subject == entity.kind and kind.is_read_in(scene):
                found += await _of(book, kind, entity, of_scene)
    for kind in known:
        if kind.of_book and kind.is_read_in(scene):
            found += await _of(book, kind, None, of_scene)
    taken = {each.uri for each in found}
    names = {str(entity.id): entity.name for entity in book.entities}
    for kind in known:
        lines = await book.view.derived_under(f"profiles/{kind.name}/", "L0") if kind.is_read_whole_in(scene) else ()
        for line in lines:
            name = names.get(line.uri.rsplit("/", 1)[1], kind.title_in(book.view.language))
            found += levels(line.uri, name, of_scene, "profiles", None, line) if line.uri not in taken else ()
    return found


async def _of(book: Book, kind: ProfileKind, entity: Entity | None, of_scene: str) -> list[Candidate]:
    """A profile at the highest level that its kind gives."""
    uri, title, reason = kind.uri(entity.id if entity else None), kind.title_in(book.view.language), of_scene
    if entity is not None:
        always = "*" in kind.settings.scenes
        title = entity.name if always else f"{entity.name} · {title}"
        reason = _("in the scene") if always else of_scene
    larger = await book.view.derived(uri, "L1") if kind.settings.level == "L1" else None
    return levels(uri, title, reason, "profiles", larger, await book.view.derived(uri, "L0"))

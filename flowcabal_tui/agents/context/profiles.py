"""Profiles as candidates: each kind names the kinds of scene for which it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.context.gather import BookInputs
from flowcabal_tui.agents.context.intent import SceneReading
from flowcabal_tui.agents.context.quoted import levels
from flowcabal_tui.agents.profile_kinds import ProfileKind
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Derived, Entity, Level
from flowcabal_tui.locale import _

_AS_OF: Final = {"zh": "{title}（截至第{n}章）", "en": "{title} (as of chapter {n})"}
_LEVELS: Final[tuple[Level, Level]] = ("L1", "L0")


async def profiles(
    book: BookInputs, reading: SceneReading, kinds: Iterable[ProfileKind], related: Sequence[tuple[Entity, str]] = ()
) -> list[ContextText]:
    """Profiles of the scene's people, of those `related`, of the book, of everyone of a kind; L0 if L1 is too long."""
    scene, known = reading.intent.scene, tuple(kinds)
    of_scene = _("a scene of this kind: {scene}").format(scene=scene)
    reasons = {entity.id: reason for entity, reason in related} | dict(reading.reasons)
    brought = [entity for entity, _reason in related]
    wanted: list[tuple[ProfileKind, Entity | None]] = [
        (kind, entity)
        for entity in (*reading.cast, *brought)
        for kind in known
        if kind.settings.subject == entity.kind and kind.is_read_in(scene)
    ]
    wanted += [(kind, None) for kind in known if kind.of_book and kind.is_read_in(scene)]
    uris = [kind.uri(entity.id if entity else None) for kind, entity in wanted]
    larger, smaller = [{each.uri: each for each in await book.view.derived_of(uris, level)} for level in _LEVELS]
    found: list[ContextText] = []
    for (kind, entity), uri in zip(wanted, uris, strict=True):
        title, reason = _words(kind, entity, book, of_scene, reasons)
        whole = larger.get(uri) if kind.settings.level == "L1" else None
        states = (smaller.get(uri), whole)
        title = _dated(title, whole or smaller.get(uri), book)
        found += levels(uri, title, reason, "profiles", states, book.places, book.view.language)
    taken = {each.uri for each in found}
    names = {str(entity.id): entity.name for entity in book.entities}
    for kind in known:
        lines = await book.view.derived_under(f"profiles/{kind.name}/", "L0") if kind.is_read_whole_in(scene) else ()
        for line in lines:
            name = names.get(line.uri.rsplit("/", 1)[1], kind.title_in(book.view.language))
            if line.uri not in taken:
                title = _dated(name, line, book)
                found += levels(line.uri, title, of_scene, "profiles", [line], book.places, book.view.language)
    return found


def _dated(title: str, state: Derived | None, book: BookInputs) -> str:
    """The title with the chapter as of which the state was written, unless that is the last one before the target."""
    if state is None or not book.chapters or not 0 < state.position < book.chapters[-1].position:
        return title
    return _AS_OF["zh" if book.view.language.startswith("zh") else "en"].format(title=title, n=state.position)


def _words(
    kind: ProfileKind, entity: Entity | None, book: BookInputs, of_scene: str, reasons: Mapping[EntityId, str]
) -> tuple[str, str]:
    """The title and the reason."""
    title = kind.title_in(book.view.language)
    if entity is None:
        return title, of_scene
    always = "*" in kind.settings.scenes
    return (entity.name, reasons.get(entity.id, of_scene)) if always else (f"{entity.name} · {title}", of_scene)

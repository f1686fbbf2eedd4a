"""The names of a person that are known at one point of the story."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.memory import Entity


async def as_called_here(view: MemoryView, entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """The entities without aliases that the view lacks, which would reveal later identities; the writer's own stay."""
    known = tuple(entities)
    aliases = [alias for entity in known if entity.by != "hand" for alias in entity.aliases]
    found = (await view.postings(aliases)).found if aliases else ()
    used = {alias for alias, places in zip(aliases, found, strict=True) if places}
    return tuple(
        entity
        if entity.by == "hand"
        else replace(entity, aliases=tuple(alias for alias in entity.aliases if alias in used))
        for entity in known
    )

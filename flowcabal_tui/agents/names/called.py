"""What somebody is called by the point of the story at which a text is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.memory import Entity


async def as_called_here(view: MemoryView, entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Without aliases that stand nowhere that the view sees: they would tell who somebody turns out to be later.

    Those that a hand has written stay.
    """
    known = tuple(entities)
    asked = [alias for entity in known if entity.by != "hand" for alias in entity.aliases]
    found = (await view.postings(asked)).found if asked else ()
    said = {alias for alias, places in zip(asked, found, strict=True) if places}
    return tuple(
        entity
        if entity.by == "hand"
        else replace(entity, aliases=tuple(alias for alias in entity.aliases if alias in said))
        for entity in known
    )

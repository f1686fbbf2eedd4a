"""What is called how: the writer's words for what the engine knows by an id or an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flowcabal_tui.agents.arcs import WORK, arcs_of
from flowcabal_tui.locale import _
from flowcabal_tui.project.words import META

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


async def called(workbench: Workbench) -> Mapping[str, str]:
    """Chapters, also deleted ones, and entities by id; chapters, profiles, arcs and the writer's rules by uri."""
    chapters = await workbench.chapters()
    titles = {str(at.id): at.title for at in await workbench.deleted_chapters()}
    titles |= {str(at.id): f"{at.position} {at.title}" for at in chapters}
    names = {f"meta/{name}": _(words) for name, words in META.items()}
    arcs = arcs_of(chapter for chapter in chapters if chapter.version)
    names |= {WORK: _("The whole work")} | {arc.uri: arc.title(workbench.info.language) for arc in arcs}
    for row in await workbench.profiles():
        names[row.uri] = " · ".join(dict.fromkeys(filter(None, (row.kind_title, row.name))))
    names |= {str(entity.id): entity.name for entity in await workbench.entities()}
    return names | {f"manuscript/{identity}": title for identity, title in titles.items()} | titles

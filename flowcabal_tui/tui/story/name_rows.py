"""The rows of the list of names: name, kind, number of mentions, and chapters."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.locale import _
from flowcabal_tui.project.views import Appearances
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.words import kind_words
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns

NAMES_CSS: Final = """
EntitiesScreen { background: $background; }
EntitiesScreen .filter, EntitiesScreen .filter:focus {
    height: 1; border: none; padding: 0 1; background: $boost;
}
EntitiesScreen #list { width: 1fr; height: 1fr; }
EntitiesScreen .about { width: 1fr; height: 1fr; border-left: vkey $panel; padding: 0 1; }
EntitiesScreen.-narrow Horizontal { layout: vertical; }
EntitiesScreen.-narrow .about { height: 45%; border-left: none; border-top: solid $panel; }
EntitiesScreen .details { height: auto; max-height: 60%; }
EntitiesScreen #names { height: 1fr; margin-top: 1; }
EntitiesScreen.-narrow #names { margin-top: 0; }
"""
"""The styles of the page."""


def name_columns() -> Columns:
    """State, mark, names, kind, mentions, chapters."""
    return Columns(
        Column(most=1, least=1),
        Column(most=1, least=1),
        Column(_("name"), fill=True, least=12),
        Column(_("kind"), rank=3, least=12, is_phrase=True, role="secondary"),
        Column(_("mentions"), rank=2, is_number=True, role="secondary"),
        Column(_("chapters"), rank=1, is_number=True, role="secondary"),
    )


def name_row(columns: Columns, entity: Entity, cast: Cast, *, marked: bool, shows_kind: bool) -> ColumnRow:
    """A name with its aliases; the kind where the list has several."""
    seen = cast.seen.get(entity.id)
    return columns.row(
        Cell("?" if entity.proposed else "", "waiting"),
        Cell("*" if marked else "", "focus"),
        " = ".join(one_line(name, 30) for name in entity.names),
        kind_words(entity) if shows_kind else "",
        f"{seen.mentions:,}" if seen else "—",
        _chapters(seen) if seen else "—",
    )


def _chapters(seen: Appearances) -> str:
    return f"{seen.first}" if seen.first == seen.last else f"{seen.first}-{seen.last}"

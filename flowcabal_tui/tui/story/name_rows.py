"""The rows of the list of names: name, kind, number of mentions, and chapters."""

from __future__ import annotations

from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.words import kind_words
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns


def name_columns() -> Columns:
    """State, mark, names, kind, mentions, chapters."""
    return Columns(
        Column(most=1, least=1),
        Column(most=1, least=1),
        Column(_("name"), fill=True, least=12),
        Column(rank=3, role="secondary"),
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
        f"{seen.first}-{seen.last}" if seen else "—",
    )

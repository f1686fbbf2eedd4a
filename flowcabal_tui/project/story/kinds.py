"""The writer's kinds of names, stored in the book's settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.settings.project_file import KindSettings, NamesSettings

_MOST, _LONGEST = 40, 40
"""Kinds of a book, fields of a kind; characters of their names."""


def known_kinds(base: ProjectBase) -> tuple[BookKind, ...]:
    """The kinds in the settings."""
    kinds = base.settings.names.kinds
    return tuple(BookKind(clean_line(name), each.base, each.fields) for name, each in kinds.items())


async def set_kinds(base: ProjectBase, kinds: Iterable[BookKind]) -> None:
    """Replaces the book's kinds of names. Raises RunError, SettingsError; then nothing was changed."""
    wanted = [_checked(each) for each in kinds]
    if len({each.name for each in wanted}) < len(wanted) or len(wanted) > _MOST:
        raise RunError(
            _("Each kind needs a unique name; a book has at most {n} kinds.").format(n=_MOST),
            _("Nothing was changed."),
        )
    table = NamesSettings(kinds={each.name: KindSettings(base=each.base, fields=each.fields) for each in wanted})
    await base.settings_file.change(lambda settings: settings.model_copy(update={"names": table}))


def _checked(kind: BookKind) -> BookKind:
    name = clean_line(kind.name)
    fields = tuple(dict.fromkeys(filter(None, map(clean_line, kind.fields))))
    if not name or max(map(len, (name, *fields))) > _LONGEST or len(fields) > _MOST:
        raise RunError(
            _("A kind needs a name; names have at most {n} characters, and a kind at most {most} fields.").format(
                n=_LONGEST, most=_MOST
            ),
            _("Nothing was changed."),
        )
    return replace(kind, name=name, fields=fields)

"""The kinds of names of the book with their fields: the writer's own, and fields of built-in ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.book_kinds import BookKind, of_kind
from flowcabal_tui.domain.memory import EntityKind
from flowcabal_tui.locale import _
from flowcabal_tui.project.card_words import ENTITY_KINDS
from flowcabal_tui.protocol.story import PutEntity, SetNameKinds
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable, names_of
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.story_page import StoryPage

_NEW: Final = ""


def every_kind(kinds: Sequence[BookKind]) -> tuple[BookKind, ...]:
    """The built-in kinds, then the writer's."""
    known = {each.name: each for each in kinds}
    shipped = (known.pop(name, BookKind(name, name)) for name in ENTITY_KINDS)
    return (*shipped, *known.values())


def kind_name(kind: BookKind) -> str:
    """The display name of a kind."""
    return one_line(kind.name, 40) if kind.is_own else _(ENTITY_KINDS[kind.base])


def kind_choices(kinds: Sequence[BookKind]) -> tuple[tuple[str, str], ...]:
    """All kinds as the choices of a form."""
    return tuple((each.name, kind_name(each)) for each in every_kind(kinds))


async def edit_kinds(page: StoryPage, cast: Cast) -> None:
    """Asks for a kind, then for its name and fields; refreshes the page."""
    known = {each.name: each for each in every_kind(cast.kinds)}
    rows = tuple((each.name, (kind_name(each), _(", ").join(each.fields))) for each in known.values())
    title = _("Kinds of names and their fields")
    picked: str | None = await page.app.push_screen_wait(ChooseScreen(title, (*rows, (_NEW, _("A new kind")))))
    if picked is None:
        return
    before = known.get(picked, BookKind("", "character"))
    after = await page.ask(_form(before))
    if after is None or after == before:
        return
    kept = {each.name: each for each in cast.kinds} | {before.name: after}
    kinds = tuple(each for each in kept.values() if each.name and (each.is_own or each.fields))
    await page.project.carry_out(SetNameKinds(kinds))
    await _follow(page, cast, before, after)
    await page.reload()


def _form(kind: BookKind) -> FormScreen[BookKind]:
    """Name, treatment and fields of an own kind; only the fields of another. A kind without a name is removed."""
    bases: dict[str, EntityKind] = {str(base): base for base in ENTITY_KINDS}
    fields = [
        Field("fields", _("Fields"), _(", ").join(kind.fields), _("separated by commas: looks, rank, catchphrase"))
    ]
    if kind.is_own:
        choices = tuple((base, _(words)) for base, words in ENTITY_KINDS.items())
        name = Field("name", _("Name of the kind"), kind.name, _("empty: remove the kind") if kind.name else "")
        fields = [name, Field("base", _("Agents treat it as"), kind.base, choices=choices), *fields]

    def read(typed: Typed) -> BookKind:
        if kind.is_own and not (kind.name or typed.text("name")):
            raise Unreadable(_("A name is missing."))
        after = replace(kind, fields=names_of(typed.text("fields")))
        return replace(after, name=typed.text("name"), base=bases[typed.text("base")]) if kind.is_own else after

    return FormScreen(kind_name(kind) if kind.name else _("A new kind"), fields, read)


async def _follow(page: StoryPage, cast: Cast, before: BookKind, after: BookKind) -> None:
    """The names of a kind that was renamed, removed, or is treated as another one."""
    if before.name and before.is_own and (after.name, after.base) != (before.name, before.base):
        kind = after if after.name else BookKind(after.base, after.base)
        for entity in cast.entities:
            if entity.own_kind == before.name:
                await page.project.carry_out(PutEntity(replace(of_kind(entity, kind), by="hand")))

"""Changes of names: several removed, merged or changed in kind at once; one renamed everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from flowcabal_tui.domain.book_kinds import BookKind, kind_of, of_kind
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import Rename
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.story import PutEntity, PutRecord, RemoveEntity, RemoveRecord
from flowcabal_tui.tui.shared.form import Field, FormScreen
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast, read_cast
from flowcabal_tui.tui.story.changes import merged, moved_records
from flowcabal_tui.tui.story.impact import ImpactScreen
from flowcabal_tui.tui.story.kinds import every_kind, kind_choices
from flowcabal_tui.tui.story.story_page import StoryPage, StoryPlace
from flowcabal_tui.tui.widgets.prompt_line import PromptLine

_SHOWN = 12
"""Names that a question spells out."""


async def remove_names(page: StoryPage, entities: Sequence[Entity]) -> bool:
    """Removes entities after one question. Returns True when they were removed."""
    title = _("Remove {name}?").format(name=one_line(entities[0].name, 40))
    words = _(
        "The name is removed from the memory, and its relations are no longer shown. The manuscript stays as it is."
    )
    if len(entities) > 1:
        title = ngettext("Remove {n} name?", "Remove {n} names?", len(entities)).format(n=len(entities))
        words = _(
            "They are removed from the memory, and their relations are no longer shown. The manuscript stays as it is."
        )
        words += f"\n{_spelled(entities)}"
    if not await page.confirm(title, words):
        return False
    for entity in entities:
        await page.project.carry_out(RemoveEntity(entity.id))
    return True


async def rename_name(page: StoryPage, entity: Entity | None, go: Callable[[StoryPlace | None], None]) -> None:
    """Asks for another name, and shows every place of the present one; `go` leads to a place that was chosen."""
    if entity is None:
        return
    title = _("Rename {name} everywhere to").format(name=one_line(entity.name, 40))
    typed: str | None = await page.app.push_screen_wait(PromptLine(title, value=entity.name))
    to = (typed or "").strip()
    if to and to != entity.name:
        page.app.push_screen(ImpactScreen(page.project, Rename(entity.name, to)), go)


async def join_names(page: StoryPage, entities: Sequence[Entity]) -> EntityId | None:
    """Merges entities under a name that the writer chooses; returns the remaining one, or None when nothing was
    done."""
    choices = tuple((str(each.id), one_line(each.name, 40)) for each in entities)
    row = Field("kept", _("Name"), choices[0][0], choices=choices)
    title = ngettext("Merge {n} name: which one stays?", "Merge {n} names: which one stays?", len(entities))
    kept: EntityId | None = await page.ask(
        FormScreen(title.format(n=len(entities)), (row,), lambda typed: EntityId(typed.text("kept")))
    )
    if kept is None:
        return None
    name = next(each.name for each in entities if each.id == kept)
    words = _("Their names and records move to {name}.").format(name=one_line(name, 40))
    if not await page.confirm(_("Merge {n} names?").format(n=len(entities)), f"{words}\n{_spelled(entities)}"):
        return None
    for each in entities:
        cast = await read_cast(page.project)  # each step changes the names and records of the one that stays
        gone, stays = cast.entity(each.id), cast.entity(kept)
        if each.id != kept and gone is not None and stays is not None:
            await merge_names(page.project, gone, stays, cast)
    return kept


async def merge_names(project: Project, gone: Entity, kept: Entity, cast: Cast) -> None:
    """Merges two entities: the names and records of `gone` move to `kept`.

    The records are written first, so that nothing is lost if the work is interrupted.
    """
    for record in moved_records(gone.id, kept.id, cast):
        await project.carry_out(PutRecord(record))
    for relation in cast.story.relations:
        if {relation.source, relation.target} == {gone.id, kept.id}:
            await project.carry_out(RemoveRecord(relation.id))
    await project.carry_out(RemoveEntity(gone.id))
    await project.carry_out(PutEntity(merged(gone, kept)))


async def change_kind(page: StoryPage, entities: Sequence[Entity], kinds: Sequence[BookKind]) -> bool:
    """Sets a kind chosen by the writer for all of them. Returns True when it was set."""
    known = {each.name: each for each in every_kind((*kinds, kind_of(entities[0], kinds)))}
    choices = kind_choices(tuple(known.values()))
    row = Field("kind", _("Kind"), entities[0].own_kind or entities[0].kind, choices=choices)
    title = ngettext("Which kind is {n} name?", "Which kind are {n} names?", len(entities))
    kind: BookKind | None = await page.ask(
        FormScreen(title.format(n=len(entities)), (row,), lambda typed: known[typed.text("kind")])
    )
    if kind is None:
        return False
    for entity in entities:
        if (changed := of_kind(entity, kind)) != entity:
            await page.project.carry_out(PutEntity(replace(changed, by="hand")))
    return True


def _spelled(entities: Sequence[Entity]) -> str:
    names = _(", ").join(one_line(each.name, 40) for each in entities[:_SHOWN])
    return f"{names} …" if len(entities) > _SHOWN else names

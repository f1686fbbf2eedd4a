"""All names: searched while typing, viewed, edited, merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity, EntityKind
from flowcabal_tui.domain.proposals import judged
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.card_words import ENTITY_KINDS
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.views import Appearances
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import ColumnHead, PickList
from flowcabal_tui.tui.shared.pane_tabs import PaneChosen, PaneTabs
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.changes import new_id
from flowcabal_tui.tui.story.ego import EgoScreen
from flowcabal_tui.tui.story.kinds import edit_kinds
from flowcabal_tui.tui.story.many_names import change_kind, join_names, merge_names, remove_names, rename_name
from flowcabal_tui.tui.story.mentions import MentionsScreen
from flowcabal_tui.tui.story.record_forms import entity_form, person_form
from flowcabal_tui.tui.story.records import RecordsScreen
from flowcabal_tui.tui.story.story_page import FilteredPage, StoryPlace
from flowcabal_tui.tui.story.words import entity_lines, kind_words
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.role_words import head_words, key_words

NAMES_CSS: Final = """
EntitiesScreen #list { width: 1fr; height: 1fr; }
EntitiesScreen .about { width: 1fr; height: 1fr; border-left: vkey $panel; padding: 0 1; }
EntitiesScreen.-narrow Horizontal { layout: vertical; }
EntitiesScreen.-narrow .about { height: 45%; border-left: none; border-top: solid $panel; }
EntitiesScreen .details { height: auto; max-height: 60%; }
EntitiesScreen #names { height: 1fr; margin-top: 1; }
EntitiesScreen.-narrow #names { margin-top: 0; }
"""
"""The styles of the page."""
_ALL: Final = "all"
_TABS: Final = (
    ("1", _ALL, mark("All")),
    *((str(number), kind, words) for number, (kind, words) in enumerate(ENTITY_KINDS.items(), 2)),
)
_SIGNS: Final = {"alias": "=", "proposed": "?", "rejected": "x"}


def name_columns() -> Columns:
    """The columns: state, mark, names, kind, mentions, chapters."""
    return Columns(
        Column(most=1, least=1),
        Column(most=1, least=1),
        Column(_("name"), fill=True, least=12),
        Column(_("kind"), rank=3, least=12, is_phrase=True, role="secondary"),
        Column(_("mentions"), rank=2, is_number=True, role="secondary"),
        Column(_("chapters"), rank=1, is_number=True, role="secondary"),
    )


def name_row(columns: Columns, entity: Entity, cast: Cast, *, marked: bool, shows_kind: bool) -> ColumnRow:
    """The row of a name with its aliases; with the kind if the list has several."""
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


class EntitiesScreen(FilteredPage):
    """A list, and the details of the row under the cursor beside it."""

    help = HelpData(
        mark("Names"),
        mark("Everyone and everything with a name. `/` filters as you type, digits choose a kind. `?` before a "
             "name marks aliases that you have not confirmed: `a` confirms the one under the cursor, `x` rejects "
             "it. Enter shows the places, `r` the relations. Space marks names: `D` removes the marked ones, `M` "
             "merges them, `K` changes their kind. `t` sets your own kinds and fields. `Ctrl+k` renames one "
             "everywhere."),
    )  # fmt: skip
    DEFAULT_CSS = NAMES_CSS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", mark("Find"), tooltip=mark("Type a part of a name."), id="names.filter"),
        Binding("a", "name('confirm')", mark("Confirm"), tooltip=mark("Confirm this alias."), id="names.confirm"),
        Binding("x", "name('reject')", mark("Reject"), tooltip=mark("Reject this alias: it is not proposed again."),
                id="names.reject"),
        Binding("r", "graph", mark("Relations"), tooltip=mark("People around this one, and their relations."),
                id="names.graph"),
        Binding("m", "mentions", mark("Places"), tooltip=mark("Every place in the book that names it."),
                show=False, id="names.mentions"),
        Binding("f", "facts", mark("Facts"), show=False, tooltip=mark("Facts about it."), id="names.facts"),
        Binding("ctrl+k", "rename", mark("Rename"), show=False, id="names.rename",
                tooltip=mark("Rename it everywhere: texts, titles, outline, records.")),
        Binding("plus", "add", mark("Add"), tooltip=mark("Add a name."), id="names.add"),
        Binding("e", "edit", mark("Edit"), tooltip=mark("Edit it by hand: "
                                                        "your edit takes precedence."), id="names.edit"),
        Binding("D,delete", "remove", mark("Remove"), show=False, tooltip=mark("Remove this name from the book's "
                                                                               "memory."), id="names.remove"),
        Binding("space", "mark", mark("Mark"), tooltip=mark("Mark or unmark this name: `D`, `M` and `K` then act "
                                                            "on all marked names."), id="names.mark"),
        Binding("asterisk", "mark_all", mark("Mark all"), show=False, tooltip=mark("Mark all names that are listed; "
                "again: none."), id="names.mark-all"),
        Binding("K", "change_kind", mark("Kind"), show=False, tooltip=mark("Change the kind of the marked names, or "
                                                                           "of this one."), id="names.change-kind"),
        Binding("t", "kinds", mark("Kinds and fields"), show=False, id="names.kinds",
                tooltip=mark("Your own kinds of names, and what you note of each name of a kind.")),
        Binding("M", "merge", mark("Merge"), show=False, id="names.merge",
                tooltip=mark("Merge names that mean the same: choose which one stays.")),
        *(Binding(digit, f"kind('{kind}')", words, show=False, id=f"names.{kind}") for digit, kind, words in _TABS),
    ]  # fmt: skip

    def __init__(self, project: Project, entity: EntityId | None = None) -> None:
        """`entity` is selected initially."""
        super().__init__(project)
        self._first_entity, self._kind_shown = entity, _ALL
        self._name_rows: list[tuple[str, str]] = []
        self._marked: set[EntityId] = set()

    @property
    def entity(self) -> Entity | None:
        """The entity under the cursor."""
        picked = self.listing.picked
        return self.cast.entity(EntityId(picked)) if self.cast and picked else None

    @property
    def chosen(self) -> tuple[Entity, ...]:
        """The marked entities, else the one under the cursor."""
        marked = tuple(each for each in self.cast.entities if each.id in self._marked) if self.cast else ()
        return marked or ((self.entity,) if self.entity is not None else ())

    def compose(self) -> ComposeResult:
        """Yields kinds, the line to type in, the list, and beside it the one under the cursor."""
        yield PaneTabs(_TABS)
        yield Input(placeholder=_("/ a part of a name"), select_on_focus=False)
        with Horizontal():
            with Vertical(classes="names"):
                yield ColumnHead()
                yield PickList(id="list")
            with Vertical(classes="about"):
                yield Static(markup=False, classes="details")
                yield PickList(id="names")
        yield HintLine()

    def on_mount(self) -> None:
        """Starts with all kinds."""
        self.query_one(PaneTabs).show(self._kind_shown)

    async def show_cast(self, cast: Cast) -> None:
        """Fills the list again."""
        cursor, self._first_entity = self._first_entity, None
        self.refill(cursor)

    def refill(self, cursor: str | None = None) -> None:
        """Lists the entities of the selected kind."""
        if self.cast is not None:
            columns = name_columns()
            rows = [Option(self._row(columns, each, self.cast), id=each.id) for each in self._found(self.cast)]
            self.query_one(ColumnHead).show(columns)
            self.listing.refill(rows, cursor)
            self.show_details()

    def _found(self, cast: Cast) -> Iterator[Entity]:
        """The names that match the filter, most mentioned first."""
        wanted = self.query_one(Input).value.strip()
        for each in sorted(cast.entities, key=lambda entity: (-cast.mentions(entity.id), entity.name)):
            if self._kind_shown in (_ALL, each.kind) and cast.fits(wanted, "", (each.id,)):
                yield each

    def _row(self, columns: Columns, entity: Entity, cast: Cast) -> ColumnRow:
        return name_row(columns, entity, cast, marked=entity.id in self._marked, shows_kind=self._kind_shown == _ALL)

    def show_details(self) -> None:
        """Shows the entity under the cursor, unconfirmed names first."""
        entity, cast = self.entity, self.cast
        details = self.query_one(".details", Static)
        if entity is None or cast is None:
            details.update(_nothing(cast))
            self._name_rows = []
        else:
            name, *rest = entity_lines(entity, cast)
            details.update(Content("\n").join([*self._marked_line(), head_words(name), *map(Content, rest)]))
            groups = (("proposed", entity.proposed), ("alias", entity.aliases), ("rejected", entity.rejected))
            self._name_rows = [(state, name) for state, names in groups for name in names]
        words = {"alias": "", "proposed": _("unconfirmed"), "rejected": _("rejected")}
        columns = Columns(Column(most=1, least=1), Column(fill=True), Column(rank=1, role="secondary"))
        rows = [Option(columns.row(_SIGNS[state], one_line(name, 60), words[state])) for state, name in self._name_rows]
        self.query_one("#names", PickList).set_options(rows)
        self.query_one("#names", PickList).action_first()

    def _marked_line(self) -> list[Content]:
        n = len(self.chosen) if self._marked else 0
        words = ngettext("{n} name marked", "{n} names marked", n).format(n=n)
        keys = _("`D` removes, `M` merges, `K` changes the kind")
        return [Content(f"{words}   ") + key_words(keys), Content("")] if n else []

    @on(PaneChosen)
    def choose_kind(self, message: PaneChosen) -> None:
        """Shows the clicked kind."""
        self.action_kind(message.pane)

    def action_kind(self, kind: str) -> None:
        """Shows one kind, or all."""
        self._kind_shown = kind
        self.query_one(PaneTabs).show(kind)
        self.refill()

    def action_name(self, verb: str) -> None:
        """Confirms or rejects the name under the cursor. From the list, only an unconfirmed one, so that one key too
        many does not remove a confirmed name."""
        entity, names = self.entity, self.query_one("#names", PickList)
        state, name = self._name_rows[names.highlighted] if names.highlighted is not None else ("", "")
        if entity is None or not (state == "proposed" or (state and names.has_focus)):
            self.notify(_("No alias is waiting for confirmation."), markup=False)
        else:
            self.work(self._judge(entity, name, confirms=verb == "confirm"))

    async def _judge(self, entity: Entity, name: str, *, confirms: bool) -> None:
        await self.project.carry_out(PutEntity(judged(entity, name, confirms=confirms)))
        await self.reload()

    @on(OptionList.OptionSelected)
    def action_mentions(self) -> None:
        """Lists the places that name it."""
        if (entity := self.entity) is not None and self.cast is not None:
            self.app.push_screen(MentionsScreen(self.project, entity, self.cast), self._go)

    def _go(self, place: StoryPlace | None) -> None:
        if place is not None:
            self.dismiss(place)

    def action_graph(self) -> None:
        """Opens the graph of its neighbours."""
        if (entity := self.entity) is not None:
            self.app.push_screen(EgoScreen(self.project, entity.id), self._go)

    def action_facts(self) -> None:
        """Opens the facts about it."""
        if (entity := self.entity) is not None:
            self.app.push_screen(RecordsScreen(self.project, "facts", entity.name))

    def action_rename(self) -> None:
        """Renames the entity under the cursor everywhere."""
        self.work(rename_name(self, self.entity, self._go))

    def action_add(self) -> None:
        """Opens a form for a new entity."""
        kind: EntityKind = next((kind for kind in ENTITY_KINDS if kind == self._kind_shown), "character")
        self.work(self._edit(Entity(EntityId(""), kind, "")))

    def action_edit(self) -> None:
        """Opens the form of the entity under the cursor."""
        if (entity := self.entity) is not None:
            self.work(self._edit(entity))

    async def _edit(self, entity: Entity) -> None:
        changed = await self.ask(entity_form(entity, self.cast.kinds if self.cast else ()))
        if changed is not None and self.cast is not None:
            known = changed if changed.id else replace(changed, id=new_id(changed.name, self.cast))
            await self.project.carry_out(PutEntity(known))
            self._first_entity = known.id
            await self.reload()

    def action_mark(self) -> None:
        """Marks the one under the cursor or removes its mark, and moves to the next."""
        if (entity := self.entity) is not None:
            self._marked ^= {entity.id}
            self.refill()
            self.listing.action_cursor_down()

    def action_mark_all(self) -> None:
        """Marks all listed entities, or none if all are marked."""
        if self.cast is not None:
            listed = {each.id for each in self._found(self.cast)}
            self._marked = set() if listed <= self._marked else self._marked | listed
            self.refill()

    async def _done(self, cursor: EntityId | None = None) -> None:
        self._marked, self._first_entity = set(), cursor
        await self.reload()

    def action_remove(self) -> None:
        """Removes the marked entities, or the one under the cursor, after a question."""
        if chosen := self.chosen:
            self.work(self._remove(chosen))

    async def _remove(self, chosen: tuple[Entity, ...]) -> None:
        if await remove_names(self, chosen):
            await self._done()

    def action_change_kind(self) -> None:
        """Changes the kind of the marked entities, or of the one under the cursor."""
        if chosen := self.chosen:
            self.work(self._change_kind(chosen))

    async def _change_kind(self, chosen: tuple[Entity, ...]) -> None:
        if await change_kind(self, chosen, self.cast.kinds if self.cast else ()):
            await self._done(chosen[0].id)

    def action_kinds(self) -> None:
        """Lists the kinds of the book, of which one can be edited."""
        if self.cast is not None:
            self.work(edit_kinds(self, self.cast))

    def action_merge(self) -> None:
        """Merges two entities, or all marked ones."""
        if len(self.chosen) > 1:
            self.work(self._join(self.chosen))
        elif self.chosen and self.cast is not None:
            self.work(self._merge(self.chosen[0], self.cast))

    async def _join(self, chosen: tuple[Entity, ...]) -> None:
        if (kept := await join_names(self, chosen)) is not None:
            await self._done(kept)

    async def _merge(self, entity: Entity, cast: Cast) -> None:
        title = _("Whose alias is {name}?").format(name=one_line(entity.name, 40))
        chosen = await self.ask(person_form(title, cast))
        kept = cast.entity(chosen) if chosen else None
        if kept is None or kept.id == entity.id:
            return
        words = _("Its names and records move to {name}.").format(name=one_line(kept.name, 40))
        if await self.confirm(_("Merge two names?"), words):
            await merge_names(self.project, entity, kept, cast)
            await self._done(kept.id)


def _nothing(cast: Cast | None) -> Content:
    """The text for an empty list of names."""
    if cast is not None and cast.entities:
        return key_words(_("Nothing matches: `/` changes the search."))
    return key_words(_("No names are known yet: `+` adds one."))

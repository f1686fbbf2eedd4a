"""The neighbours of an entity as of a chapter: a graph, above the relations of the pair at the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.story import Relation
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.record_forms import NEW, end_form, person_form, relation_form
from flowcabal_tui.tui.story.story_page import StoryPage
from flowcabal_tui.tui.story.words import BY, period, quoted, relation_words
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.chapter_slider import ChapterSlider
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.ego_graph import EgoGraph
from flowcabal_tui.tui.widgets.ego_layout import EgoNeighbour
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.role_words import head_words, key_words, without_backticks

Companion = tuple[EntityId, int, ChapterId]
"""A person named in the same passages: the number of passages, and the last chapter."""
MOST: Final = 16
"""Neighbours that are drawn unless all are requested; the others are counted."""
_COLUMNS: Final = (
    Column(most=1, least=1),
    Column(least=12, most=40),
    Column(least=8, most=30),
    Column(rank=2, most=24),
    Column(rank=1, least=10, role="secondary"),
    Column(rank=3, role="secondary"),
    Column(rank=4, fill=True, role="quoted"),
)
"""Direction, kind, the other one, absence, chapters, origin, quotation."""


def relations_between(relations: Iterable[Relation], one: EntityId, other: EntityId) -> tuple[Relation, ...]:
    """The relations between two entities, in either direction."""
    return tuple(each for each in relations if {each.source, each.target} == {one, other})


def neighbours(
    cast: Cast, centre: EntityId, companions: Sequence[Companion], position: int
) -> tuple[EgoNeighbour, ...]:
    """The neighbours as of a chapter: those with a relation, then companions without one, most frequent first."""
    current = [each for each in cast.story.relations if cast.holds(each, position)]
    own = [each for each in current if centre in (each.source, each.target)]
    related = dict.fromkeys(_other(each, centre) for each in own)
    rows = [_related(cast, centre, other, relations_between(own, centre, other)) for other in related]
    rest = [each for each in companions if each[0] not in related and cast.entity(each[0]) is not None]
    return (*rows, *(_together(cast, *each) for each in rest))


def _other(relation: Relation, centre: EntityId) -> EntityId:
    return relation.target if relation.source == centre else relation.source


def _related(cast: Cast, centre: EntityId, other: EntityId, relations: Sequence[Relation]) -> EgoNeighbour:
    directed = [each for each in relations if each.directed]
    return EgoNeighbour(
        other,
        cast.name(other),
        " / ".join(dict.fromkeys(one_line(each.kind, 60) for each in relations)),
        outward=any(each.source == centre for each in directed),
        inward=any(each.target == centre for each in directed),
    )


def _together(cast: Cast, other: EntityId, passages: int, last: ChapterId) -> EgoNeighbour:
    words = _("{n}×, last in {chapter}").format(n=passages, chapter=cast.position(last))
    return EgoNeighbour(other, cast.name(other), words, loose=True)


class EgoScreen(StoryPage):
    """Shows a graph whose centre can move at every step; Backspace returns to the previous one."""

    help = HelpData(
        mark("Relations"),
        mark("Their relations, as of the chapter in the line above: Left and Right change it. Enter centres the "
             "view on the neighbour, Backspace goes back. Below are the relations of the two: `+` adds one, `e` "
             "edits, `u` ends it at a chapter, `D` removes it, `v` shows the supporting text."),
    )  # fmt: skip
    DEFAULT_CSS = """
    EgoScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    EgoScreen > EgoGraph { height: 1fr; }
    EgoScreen > .details { height: 1; padding: 0 1; border: none; background: $panel; }
    EgoScreen > PickList { height: auto; max-height: 5; min-height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "chapter(-1)", mark("Previous chapter"), show=False, priority=True, id="ego.earlier"),
        Binding("right", "chapter(1)", mark("Next chapter"), show=False, priority=True, id="ego.later"),
        Binding("less_than_sign,shift+left", "chapter(-10)", mark("Ten chapters back"), show=False,
                id="ego.much-earlier"),
        Binding("greater_than_sign,shift+right", "chapter(10)", mark("Ten chapters on"), show=False,
                id="ego.much-later"),
        Binding("home", "chapter(-100000)", mark("Before the book"), show=False, id="ego.start"),
        Binding("end", "chapter(100000)", mark("End of the book"), show=False, id="ego.end"),
        Binding("backspace", "back", mark("Back one step"), tooltip=mark("Return to the previous centre."),
                id="ego.back"),
        Binding("plus", "add", mark("Add"), tooltip=mark("Add a relation between these two."), id="ego.add"),
        Binding("e", "edit", mark("Edit"), tooltip=mark("Edit the relation."), id="ego.edit"),
        Binding("u", "end", mark("End it"), tooltip=mark("End the relation at a chapter."), id="ego.until"),
        Binding("D,delete", "remove", mark("Remove"), show=False, id="ego.remove"),
        Binding("v", "evidence", mark("Words"), tooltip=mark("The text that supports it."), id="ego.evidence"),
        Binding("o", "all", mark("All"), show=False, tooltip=mark("Draw everybody, or only those who matter most."),
                id="ego.all"),
        Binding("slash", "go_to", mark("Go to"), tooltip=mark("Centre the view on anyone, by name."), id="ego.go-to"),
    ]  # fmt: skip

    def __init__(self, project: Project, centre: EntityId) -> None:
        super().__init__(project)
        self._centre_entity = centre
        self._trail: list[EntityId] = []
        self._companions: tuple[Companion, ...] = ()
        self._at_chapter: int | None = None
        self._pair: tuple[Relation, ...] = ()
        self._shows_all = False

    def compose(self) -> ComposeResult:
        """Yields the entity, the chapter, the graph, and the relations of the pair."""
        yield Static(markup=False, classes="head")
        plain = is_plain(self.app)
        yield ChapterSlider(plain=plain)
        yield EgoGraph(plain=plain)
        yield Static(markup=False, classes="details")
        yield PickList()
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the graph."""
        self.query_one(EgoGraph).focus()

    @property
    def relation(self) -> Relation | None:
        """The relation under the cursor of the list below."""
        row = self.query_one(PickList).highlighted
        return self._pair[row] if row is not None and row < len(self._pair) else None

    @property
    def neighbour(self) -> EntityId | None:
        """The neighbour under the cursor of the graph."""
        cursor = self.query_one(EgoGraph).cursor
        return EntityId(cursor) if cursor else None

    async def show_cast(self, cast: Cast) -> None:
        """Draws the graph again, without people who appear only later."""
        following = cast.at(self._position(cast) + 1)
        self._companions = await self.project.story.companions(self._centre_entity, following.id if following else None)
        self._draw(cast)

    def _position(self, cast: Cast) -> int:
        """The place of the chapter as of which all is shown."""
        return cast.written if self._at_chapter is None else self._at_chapter

    def _draw(self, cast: Cast) -> None:
        position = self._position(cast)
        chapter = cast.at(position)
        self.query_one(ChapterSlider).show(position, len(cast.chapters), cast.chapter(chapter.id if chapter else None))
        around = neighbours(cast, self._centre_entity, self._companions, position)
        drawn = around if self._shows_all else around[: max(MOST, sum(not each.loose for each in around))]
        rest = len(around) - len(drawn)
        more = _("{n} of them not drawn: `o`").format(n=rest) if rest else ""
        entity = cast.entity(self._centre_entity)
        names = " = ".join(one_line(name, 40) for name in entity.names) if entity else self._centre_entity
        counted = ngettext("{n} neighbour", "{n} neighbours", len(around)).format(n=len(around))
        self.query_one(".head", Static).update(head_words(names, counted, without_backticks(more)))
        self.query_one(EgoGraph).show(cast.name(self._centre_entity), drawn)

    @on(EgoGraph.NeighbourHighlighted)
    def show_pair(self) -> None:
        """Shows the relations of a pair: current ones first, then past and future ones."""
        cast, other = self.cast, self.neighbour
        self._pair = ()
        if cast is None or other is None:
            self.query_one(".details", Static).update(key_words(_("No relations: `+` adds one.")))
            self.query_one(PickList).set_options(())
            return
        position = self._position(cast)
        pair = relations_between(cast.story.relations, self._centre_entity, other)
        self._pair = tuple(sorted(pair, key=lambda each: not cast.holds(each, position)))
        columns = Columns(*_COLUMNS)
        rows = [Option(self._row(columns, each, cast, position)) for each in self._pair]
        self.query_one(PickList).set_options(rows or [Option(_("no relation"), disabled=True)])
        self.query_one(PickList).action_first()
        pair_names = f"{cast.name(self._centre_entity)} – {cast.name(other)}"
        self.query_one(".details", Static).update(head_words(pair_names, *self._together(cast, other)))

    def _row(self, columns: Columns, relation: Relation, cast: Cast, position: int) -> ColumnRow:
        other = _other(relation, self._centre_entity)
        sign = "─" if not relation.directed else "→" if relation.target == other else "←"
        absent = "" if cast.holds(relation, position) else _("not in this chapter")
        return columns.row(
            sign, one_line(relation.kind, 40), cast.name(other), Cell(absent, "stale"), period(relation, cast),
            _(BY[relation.by]), quoted(relation),
        )  # fmt: skip

    def _together(self, cast: Cast, other: EntityId) -> list[str]:
        found = next((each for each in self._companions if each[0] == other), None)
        if found is None:
            return [_("never named together")]
        together = ngettext("together in {n} place", "together in {n} places", found[1]).format(n=found[1])
        return [together, _("last in {chapter}").format(chapter=cast.chapter(found[2]))]

    @on(EgoGraph.NeighbourChosen)
    def move_centre(self, message: EgoGraph.NeighbourChosen) -> None:
        """Makes the neighbour the centre."""
        self._trail.append(self._centre_entity)
        self.work(self._turn_to(EntityId(message.neighbour)), exclusive=True)

    async def _turn_to(self, entity: EntityId) -> None:
        before, self._centre_entity = self._centre_entity, entity
        if self.cast is not None:
            await self.show_cast(self.cast)
            self.query_one(EgoGraph).go_to(before)

    def action_back(self) -> None:
        """Returns to the previous centre."""
        if self._trail:
            self.work(self._turn_to(self._trail.pop()), exclusive=True)

    def action_chapter(self, step: int) -> None:
        """Shows another chapter; relations begin and end."""
        if self.cast is not None:
            self._at_chapter = min(max(0, self._position(self.cast) + step), len(self.cast.chapters))
            self.work(self.show_cast(self.cast), exclusive=True)

    def action_all(self) -> None:
        """Shows everybody, or only the most important."""
        self._shows_all = not self._shows_all
        if self.cast is not None:
            self._draw(self.cast)

    def action_go_to(self) -> None:
        """Asks for anybody by name."""
        if self.cast is not None:
            self.work(self._go_to(self.cast))

    async def _go_to(self, cast: Cast) -> None:
        who = await self.ask(person_form(_("Who should be at the centre?"), cast))
        if who is not None and who != self._centre_entity:
            self._trail.append(self._centre_entity)
            await self._turn_to(who)

    def action_add(self) -> None:
        """Adds a relation of the centre and the neighbour; the form may name another one."""
        if self.cast is not None:
            new = Relation(NEW, self._centre_entity, self.neighbour or EntityId(""), "")
            self.work(self.put(relation_form(new, self.cast)))

    def action_edit(self) -> None:
        """Edits the relation under the cursor of the list below."""
        if self.relation is not None and self.cast is not None:
            self.work(self.put(relation_form(self.relation, self.cast)))

    def action_end(self) -> None:
        """Asks for the chapter at which the relation ends."""
        if self.relation is not None and self.cast is not None:
            self.work(self._end(self.relation, self.cast))

    async def _end(self, relation: Relation, cast: Cast) -> None:
        until = await self.ask(end_form(relation, self._at_chapter or cast.written, cast))
        if until is not None:
            await self.write(replace(relation, until=until))

    def action_remove(self) -> None:
        """Removes the relation after a question."""
        if self.relation is not None and self.cast is not None:
            words = relation_words(self.relation, self._centre_entity, self.cast)
            self.work(self.strike(self.relation, words))

    def action_evidence(self) -> None:
        """Shows the supporting words."""
        if self.relation is not None:
            self.work(self.open_evidence(self.relation.evidence))

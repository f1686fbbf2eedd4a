"""The comments of the book: listing, filtering, opening, editing, resolving."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.comments import COMMENT_KINDS, Comment, CommentFilter, CommentKind
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.revision import AddComment, EditComments, RemoveComments
from flowcabal_tui.tui.revision.comment_form import comment_form
from flowcabal_tui.tui.revision.marks import comment_head
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.pane_tabs import PaneChosen, PaneTabs
from flowcabal_tui.tui.shared.trouble import attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast, read_people
from flowcabal_tui.tui.story.passages import Passages, QuotedPassage
from flowcabal_tui.tui.story.story_page import FilteredPage, StoryPlace
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.role_words import head_words, key_words

_COLUMNS: Final = (
    Column(most=1, least=1),
    Column(is_number=True, role="secondary"),
    Column(fill=True, least=24),
    Column(rank=1, role="secondary"),
    Column(rank=2, least=12, role="quoted"),
    Column(rank=3, role="secondary"),
)
"""State, chapter, words, kind, quotation, remark."""
TABS: Final = (
    ("1", "open", mark("Unresolved")),
    ("2", "resolved", mark("Resolved")),
    ("3", "lost", mark("Passage gone")),
    ("4", "all", mark("All")),
)
SHOWN_STATES: Final = {
    "open": CommentFilter(),
    "resolved": CommentFilter(resolved=True),
    "lost": CommentFilter(resolved=None, lost=True),
    "all": CommentFilter(resolved=None),
}


class CommentsScreen(FilteredPage):
    """A list above the comment under the cursor with its passage."""

    project: Project
    help = HelpData(
        mark("Comments"),
        mark("What you, or a reader, noted at passages. A comment stays with its passage when the text is edited; "
             "one whose words are gone is listed under `3` and returns when they do. Enter goes to the passage, "
             "`m` edits there. `e` changes the comment, Space resolves it or opens it again, `D` removes it, `+` "
             "comments on the open chapter as a whole. `t` lists one kind only, `o` only the open chapter."),
    )  # fmt: skip
    DEFAULT_CSS = """
    CommentsScreen > .head { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    CommentsScreen > PickList { height: 1fr; min-height: 4; }
    CommentsScreen > .details { height: 4; padding: 0 1; border-top: solid $panel; }
    CommentsScreen > Passages { height: 7; }
    CommentsScreen > Passages > .there { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "go(True)", mark("Edit there"), id="comments.mend", tooltip=mark("Open the editor there.")),
        Binding("e", "change", mark("Change"), id="comments.change", tooltip=mark("Other words, or another kind.")),
        Binding("space", "resolve", mark("Resolve"), id="comments.resolve",
                tooltip=mark("Mark as resolved; again: open.")),
        Binding("plus", "add", mark("Add"), id="comments.add", tooltip=mark("Comment on the open chapter as a whole.")),
        Binding("D,delete", "remove", mark("Remove"), show=False, id="comments.remove"),
        Binding("t", "kind", mark("Kind"), id="comments.kind", tooltip=mark("List one kind only, or all.")),
        Binding("o", "chapter", mark("Chapter"), show=False, id="comments.chapter",
                tooltip=mark("Show the rows of the open chapter only, or those of all chapters.")),
        Binding("slash", "filter", mark("Find"), show=False, id="comments.filter", tooltip=mark("Type words.")),
        *(Binding(digit, f"show('{name}')", words, show=False, id=f"comments.{name}") for digit, name, words in TABS),
    ]  # fmt: skip

    def __init__(self, project: Project, chapter: ChapterId | None = None, *, only: bool = False) -> None:
        """`chapter` is the open one; `only`: initially lists only its comments."""
        super().__init__(project)
        self._open_chapter, self._only_open = chapter, only and chapter is not None
        self._shown_state, self._kind_shown = "open", ""
        self._found: dict[str, Comment] = {}
        self._texts: dict[ChapterId, str] = {}

    def compose(self) -> ComposeResult:
        """Yields states, the line to type in, how many there are, the list, and the comment under the cursor."""
        yield PaneTabs(TABS)
        yield Input(placeholder=_("/ words"), select_on_focus=False)
        yield Static(markup=False, classes="head")
        yield PickList(id="list")
        yield Static(markup=False, classes="details")
        yield Passages()
        yield HintLine()

    async def reload(self) -> None:
        """Reads the chapters, the comments, and the commented texts."""
        self.cast = await read_people(self.project)
        shown = SHOWN_STATES[self._shown_state]
        chapters = (self._open_chapter,) if self._only_open and self._open_chapter else ()
        kinds: tuple[CommentKind, ...] = tuple(kind for kind in COMMENT_KINDS if kind == self._kind_shown)
        wanted = CommentFilter(chapters, kinds, self.query_one(Input).value.strip(), shown.resolved, shown.lost)
        found = await self.project.revision.comments(wanted)
        self._texts.clear()
        self._found = {str(each.id): each for each in found}
        if self.is_attached:
            await self.show_cast(self.cast)

    async def show_cast(self, cast: Cast) -> None:
        """Fills the list."""
        self.query_one(PaneTabs).show(self._shown_state)
        columns = Columns(*_COLUMNS)
        self.listing.refill([Option(_row(columns, each, cast), id=key) for key, each in self._found.items()])
        n = len(self._found)
        parts = [ngettext("{n} comment", "{n} comments", n).format(n=n)]
        if self._kind_shown:
            parts.append(_("only: {kind}").format(kind=next(
                _(words) for kind, words in COMMENT_KINDS.items() if kind == self._kind_shown
            )))  # fmt: skip
        if self._only_open:
            parts.insert(0, cast.chapter(self._open_chapter))
        self.query_one(".head", Static).update(head_words(*parts))
        self.show_details()

    def refill(self) -> None:
        """Lists the comments that match the words, states and chapter."""
        self.work(self.reload(), exclusive=True)

    @property
    def comment(self) -> Comment | None:
        """The comment under the cursor."""
        return self._found.get(self.listing.picked or "")

    def show_details(self) -> None:
        """Shows the comment under the cursor."""
        details, comment = self.query_one(".details", Static), self.comment
        if comment is None or self.cast is None:
            words = _("Nothing is listed here. In the manuscript, Ctrl+_ comments on the selected passage.")
            details.update(key_words(words))
            self.query_one(Passages).show(None, None)
            return
        details.update(f"{comment_head(comment)}\n{one_line(comment.words, 600)}", layout=False)
        self.work(self._show_passage(comment, self.cast))

    async def _show_passage(self, comment: Comment, cast: Cast) -> None:
        if comment.chapter not in self._texts:
            self._texts[comment.chapter] = await self.project.book.chapter_text(comment.chapter)
        if self.is_attached and self.comment is comment:
            text = self._texts.get(comment.chapter, "")
            title = cast.chapter(comment.chapter)
            words = comment.quotation or _("(the whole chapter)")
            passage = QuotedPassage(title, words, text if comment.quotation else "", comment.start)
            self.query_one(Passages).show(passage, None)

    # What is shown

    @on(PaneChosen)
    def choose_state(self, message: PaneChosen) -> None:
        """Shows the state of the clicked tab."""
        self.action_show(message.pane)

    def action_show(self, name: str) -> None:
        """Shows comments of another state."""
        self._shown_state = name
        self.refill()

    def action_kind(self) -> None:
        """Filters by the next kind; after the last one, shows all."""
        kinds = ["", *COMMENT_KINDS]
        self._kind_shown = kinds[(kinds.index(self._kind_shown) + 1) % len(kinds)]
        self.refill()

    def action_chapter(self) -> None:
        """Switches between the open chapter and all."""
        self._only_open = not self._only_open and self._open_chapter is not None
        self.refill()

    # What is done

    @on(OptionList.OptionSelected)
    def go_here(self, message: OptionList.OptionSelected) -> None:
        """Goes to the passage on Enter."""
        message.stop()
        self.action_go(edit=False)

    def action_go(self, edit: bool) -> None:
        """Goes to the passage, to read or to edit it; if its words are missing, to their former place."""
        if (comment := self.comment) is not None:
            known = bool(comment.quotation) and not comment.lost
            start = comment.start if known else -1
            end = comment.end if known else -1
            place = max(start, 0)
            self.dismiss(StoryPlace(comment.chapter, place if edit else start, max(end, 0) if edit else end, edit))

    @attempted()
    async def action_add(self) -> None:
        """Adds a comment on the whole open chapter."""
        chapter = self._open_chapter
        if chapter is not None and (noted := await self.ask(comment_form(""))) is not None:
            await self._do(AddComment(chapter, noted.words, noted.kind))

    @attempted()
    async def action_change(self) -> None:
        """Edits the words or the kind."""
        if (comment := self.comment) is None:
            return
        if (noted := await self.ask(comment_form(comment.quotation, comment))) is not None:
            await self._do(EditComments((comment.id,), noted.words, noted.kind))

    @attempted()
    async def action_resolve(self) -> None:
        """Marks the comment as resolved, or reopens it."""
        if (comment := self.comment) is not None:
            await self._do(EditComments((comment.id,), resolved=not comment.resolved))

    @attempted()
    async def action_remove(self) -> None:
        """Removes it after a question."""
        if (comment := self.comment) is None:
            return
        if await self.confirm(_("Remove this comment?"), one_line(comment.words, 300)):
            await self._do(RemoveComments((comment.id,)))

    async def _do(self, command: Command) -> None:
        await self.project.carry_out(command)
        await self.reload()


def _row(columns: Columns, comment: Comment, cast: Cast) -> ColumnRow:
    sign = Cell("-", "stale") if comment.lost else Cell("=", "done") if comment.resolved else ""
    position = cast.position(comment.chapter)
    return columns.row(
        sign, f"{position}" if position else "—", one_line(comment.words, 200), _(COMMENT_KINDS[comment.kind]),
        quoted(one_line(comment.quotation, 80)) if comment.quotation else "",
        Cell(_("passage gone"), "stale") if comment.lost else "",
    )  # fmt: skip

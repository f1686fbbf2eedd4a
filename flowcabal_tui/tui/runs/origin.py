"""The origin of a chapter's lines: the version and output of each, and the context of its node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.context import ContextSource
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.origin import BlamedLine, ParagraphOrigin, Provenance, Written
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.comparison_words import maker_words
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import AUTHORS, CLASSES, level_words
from flowcabal_tui.tui.runs.receipt_screen import ReceiptScreen
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Column, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words

_LINES: Final = (
    Column(is_number=True, role="secondary"),
    Column(rank=1, most=24, least=12, role="secondary"),
    Column(fill=True, least=20, most=1_000),
)
"""Line, origin, text."""
_SOURCES: Final = (
    Column(least=16),
    Column(rank=1, role="secondary"),
    Column(rank=3, role="secondary"),
    Column(rank=2, fill=True, is_phrase=True, role="secondary"),
)
"""Title, class, level, reason."""


class BlameScreen(ModalScreen[tuple[RunId, NodeId] | None]):
    """Returns the run and node to open, or None. `lines` are those of the chapter's newest text."""

    help = HelpData(
        mark("Line origins"),
        mark("Each line with the version that introduced it. Below: who wrote the line under the cursor, its "
             "earlier text, and the sources the model was given. Enter goes to those sources and opens them at "
             "the cited place; `d` shows what that version changed, `c` the whole receipt, `o` the run."),
    )  # fmt: skip
    DEFAULT_CSS = """
    BlameScreen { background: $background; }
    BlameScreen > .head { height: 1; padding: 0 1; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
    BlameScreen > #lines { height: 1fr; }
    BlameScreen > .details { height: auto; max-height: 6; padding: 0 1; background: $boost; }
    BlameScreen > #sources { height: auto; max-height: 40%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", mark("Back"), priority=True, id="blame.back"),
        Binding("d", "changes", mark("Difference"),
                tooltip=mark("The difference made by the version that introduced the line."), id="blame.diff"),
        Binding("c", "receipt", mark("Receipt"), tooltip=mark("Everything the node was given."), id="blame.receipt"),
        Binding("o", "run", mark("Open run"), tooltip=mark("Go to the run that wrote the line."), id="blame.run"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, chapter: Chapter, lines: tuple[BlamedLine, ...], project: Project, first: int = 0) -> None:
        """`first` is the number of the line under the cursor at the start."""
        super().__init__()
        self._chapter, self._lines, self._project, self._first = chapter, lines, project, first
        self._provenance: Provenance | None = None

    def compose(self) -> ComposeResult:
        """Yields the lines, the details of one, and its context."""
        title = f"{self._chapter.position} {one_line(self._chapter.title)}"
        yield Static(head_words(title, _("line origins")), markup=False, classes="head")
        yield PickList(id="lines")
        yield Static(markup=False, classes="details")
        yield PickList(id="sources")
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the requested line."""
        names = self.query_one("#lines", PickList)
        columns = Columns(*_LINES)
        rows = (
            (line.number, columns.row(f"{line.number}", _short(line.origin), one_line(line.text)))
            for line in self._lines
        )
        names.refill([Option(row, id=str(number)) for number, row in rows], str(self._first))
        names.focus()

    @property
    def line(self) -> BlamedLine | None:
        """The line under the cursor."""
        picked = self.query_one("#lines", PickList).picked
        return next((line for line in self._lines if str(line.number) == picked), None)

    @on(OptionList.OptionHighlighted, "#lines")
    def follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        """Shows another line."""
        message.stop()
        if (line := self.line) is not None:
            attempt(self, self._show_details(line), group="line", exclusive=True)

    async def _show_details(self, line: BlamedLine) -> None:
        self._provenance = await self._project.book.provenance(self._chapter.id, line.number)
        self.query_one(".details", Static).update("\n".join(self._words(self._provenance)))
        self.query_one("#sources", PickList).set_options(self._source_rows())

    async def _written(self) -> Written | None:
        """The attempt that wrote the line under the cursor; a key may come before it is shown."""
        line = self.line
        if line is not None and (self._provenance is None or self._provenance.line.number != line.number):
            await self._show_details(line)
        return self._provenance.written if self._provenance else None

    def _words(self, known: Provenance) -> Iterator[str]:
        origin = known.line.origin
        yield self._origin_words(origin)
        for span in known.line.spans if len(known.line.spans) > 1 else ():
            if span.origin.version == origin.version and (quoted := known.line.text[span.start : span.end].strip()):
                yield _("“{text}”: {words}").format(
                    text=quotable(one_line(quoted, 60)), words=self._origin_words(span.origin)
                )
        if (part := known.line.candidate) is not None:
            yield _("from a candidate: {words}").format(words=one_line(maker_words(part.maker)))
            if part.before:
                yield _("before the change by hand: {words}").format(words=one_line(part.before, 120))
        if (written := known.written) is not None:
            words = _("written by {model}: {workflow}, {node}, attempt {n}").format(
                model=one_line(written.model) or _("a model"), workflow=one_line(written.workflow),
                node=one_line(written.title), n=written.attempt,
            )  # fmt: skip
            given = _("nothing was given besides the prompt")
            if written.receipt is not None and written.receipt.sources:
                given = _("given: {n} sources, {tokens} tokens").format(
                    n=len(written.receipt.sources), tokens=f"{written.receipt.used:,}"
                )
            yield facts_words(words, given)
        for before in origin.chain[1:]:
            yield _("before: {words}").format(words=facts_words(self._origin_words(before), one_line(before.text, 120)))

    def _origin_words(self, origin: ParagraphOrigin) -> str:
        parts = [_("version {n}").format(n=origin.version), _(AUTHORS[origin.author]), f"{origin.at:%Y-%m-%d %H:%M}"]
        if origin.chapter != self._chapter.id:
            parts.insert(0, _("another chapter"))
        if origin.model:
            words = _("rewritten by {model}: {instruction}")
            parts.append(words.format(model=one_line(origin.model), instruction=one_line(origin.instruction, 80)))
        return facts_words(*parts, one_line(origin.note, 80))

    def _sources(self) -> tuple[ContextSource, ...]:
        written = self._provenance.written if self._provenance else None
        return written.receipt.sources if written and written.receipt else ()

    def _source_rows(self) -> Iterator[Option]:
        if self._sources():
            yield Option(Text(_("what it was given"), style="bold"), disabled=True)
        columns = Columns(*_SOURCES)
        for number, source in enumerate(self._sources()):
            row = columns.row(
                one_line(source.title or source.uri), _(CLASSES[source.budget_class]), level_words(source),
                one_line(source.reason), indent=2,
            )  # fmt: skip
            yield Option(row, id=str(number))

    @on(OptionList.OptionSelected, "#lines")
    def go_to_sources(self, message: OptionList.OptionSelected) -> None:
        """Moves to the sources on Enter."""
        message.stop()
        attempt(self, self._go_to_sources())

    async def _go_to_sources(self) -> None:
        await self._written()
        if self._sources():
            sources = self.query_one("#sources", PickList)
            sources.focus()
            sources.action_first()
        else:
            self.notify(_("Nothing was given for this line: no run of this project wrote it."), markup=False)

    @on(OptionList.OptionSelected, "#sources")
    def open_source(self, message: OptionList.OptionSelected) -> None:
        """Opens the source on Enter."""
        message.stop()
        if message.option.id is not None:
            attempt(self, self._open(self._sources()[int(message.option.id)]))

    async def _open(self, source: ContextSource) -> None:
        receipt = self._provenance.written.receipt if self._provenance and self._provenance.written else None
        memory = self._project.memory
        text = await memory.source(source.uri, source.start, source.end, source.level, receipt)
        self.app.push_screen(SourceScreen(text))

    def action_changes(self) -> None:
        """Shows the changes of the version that introduced the line."""
        if (line := self.line) is not None:
            attempt(self, self._changes(line.origin))

    async def _changes(self, origin: ParagraphOrigin) -> None:
        book = self._project.book
        before = await book.chapter_text(origin.chapter, origin.version - 1) if origin.version > 1 else ""
        after = await book.chapter_text(origin.chapter, origin.version)
        title = _("from version {old} to version {new}").format(old=origin.version - 1, new=origin.version)
        self.app.push_screen(DiffScreen(title, before, after))

    @attempted()
    async def action_receipt(self) -> None:
        """Shows the receipt of the node."""
        written = await self._written()
        if written is None or written.receipt is None:
            self.notify(_("No run of this project wrote this line."), markup=False)
        else:
            title = _("{node}, attempt {n}").format(node=one_line(written.title), n=written.attempt)
            self.app.push_screen(ReceiptScreen(written.receipt, title, self._project.memory.source))

    @attempted()
    async def action_run(self) -> None:
        """Goes to the run."""
        written = await self._written()
        if written is None:
            self.notify(_("No run of this project wrote this line."), markup=False)
        else:
            self.dismiss((written.run, written.node))

    def action_leave(self) -> None:
        """Moves from the sources to the lines, then leaves."""
        lines = self.query_one("#lines", PickList)
        if lines.has_focus:
            self.dismiss(None)
        else:
            lines.focus()


def _short(origin: ParagraphOrigin) -> str:
    """The version, and the author or the node that wrote the line."""
    made = f"{one_line(origin.node)} #{origin.attempt}" if origin.run else one_line(origin.model)
    made = made or _(AUTHORS[origin.author])
    return f"v{origin.version} {made}"

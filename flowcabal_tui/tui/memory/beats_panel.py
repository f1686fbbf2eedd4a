"""The outline beside the text: the beats of the open chapter, checked off by rule and, on request, by a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.beats import Beat, BeatState, ChapterBeats, PartBeats
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.beat_words import advice_words, beat_words, part_words
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_rows import HangingRow
from flowcabal_tui.tui.widgets.role_words import head_words, key_words
from flowcabal_tui.tui.widgets.roles import role_sign

_SIGNS: Final[dict[BeatState, tuple[str, str]]] = {
    "found": (role_sign("done"), role_sign("done", plain=True)),
    "partly": ("◐", "~"),
    "missing": ("○", "o"),
    "unnamed": ("·", "."),
}
"""The sign of a state, and its ASCII form."""
_VOLUME: Final = "volume"
_EMPTY: Final = "empty"
_LONGEST: Final = 600


class _Beats(PickList):
    """Its Enter is shown among the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", mark("Go there"), id="beats-panel.go",
                tooltip=mark("The words of the text that a model quotes for the beat; without them, the place where "
                             "its names are closest together.")),
    ]  # fmt: skip


class BeatsPanel(Vertical):
    """Shows the beats of one chapter; posts requests for places and for the editor, and reads nothing itself."""

    help = HelpData(
        mark("Outline beside the text"),
        mark(
            "The beats of the open chapter, and which of their names are in its text: ● all, ◐ some, ○ none, · no name "
            "to look for. It is a rule that finds names: it does not know what happens. `m` asks the agents' model "
            "which beats the saved text covers, after it has shown the price. ✦ marks its answer, which counts only "
            "with words that it quotes from the text, and is advice. Enter goes to these words, or without them to the "
            "place where the names of the beat are closest together. `e` edits the outline beside the chapter, Esc "
            "goes back to the text. Scenes are smaller headings (####) or a numbered list in the outline of the "
            "chapter; each is compared with the scene of the same title, or of the same number."
        ),
    )
    jump_key = "o"
    DEFAULT_CSS = """
    BeatsPanel { display: none; dock: right; width: 40; height: 1fr; border-left: solid $primary; }
    BeatsPanel > Static { height: auto; padding: 0 1; }
    BeatsPanel > .head { text-style: bold; }
    BeatsPanel > .note { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", mark("Edit"), tooltip=mark("Edit the outline of the chapter beside its text."),
                id="beats-panel.edit"),
        Binding("m", "check", mark("Ask a model"), id="beats-panel.check",
                tooltip=mark("Ask the agents' model which beats of the outline the text covers; costs money.")),
        Binding("escape", "leave", mark("To the text"), id="beats-panel.leave"),
    ]  # fmt: skip

    class PlaceChosen(Request):
        """The writer goes to these characters of the text."""

        start: int
        end: int

    class EditRequested(Request):
        """Requests the outline for editing: this part of the chapter's, with `of_volume` that of its volume."""

        part: int | None
        of_volume: bool = False

    class CheckRequested(Request):
        """Requests the advice of the agents' model on the beats."""

    class Left(Request):
        """The writer returns to the text."""

    def __init__(self) -> None:
        super().__init__(id="beats")
        self._rows: dict[str, tuple[PartBeats, Beat]] = {}
        self._shown: ChapterBeats | None = None

    def compose(self) -> ComposeResult:
        """Yields the number of beats found, the beats, and a note on the limits of the rule."""
        yield Static(_("Outline"), markup=False, classes="head")
        yield _Beats()
        yield Static(key_words(_("By rule: names, not what happens. `m` asks a model.")), classes="note")

    def show(self, found: ChapterBeats) -> None:
        """Shows the beats of a chapter; the cursor stays at its row."""
        if found == self._shown:
            return
        same = self._shown is not None and self._shown.chapter == found.chapter
        self._shown = found
        self._rows = {
            str(at): row for at, row in enumerate((part, beat) for part in found.parts for beat in part.beats)
        }
        self.query_one(".head", Static).update(self._head(found))
        lines = self.query_one(PickList)
        lines.refill([*self._options(found)], lines.picked if same else None)
        if not same:
            lines.action_first()

    @staticmethod
    def _head(found: ChapterBeats) -> Content:
        if not found.beats:
            return head_words(_("Outline"))
        words = ngettext("{found} of {n} beat: all names found", "{found} of {n} beats: all names found", found.named)
        count = words.format(found=found.found, n=found.named) if found.named else _("beats without names")
        if not found.scenes:
            count = ngettext("{n} beat", "{n} beats", len(found.beats)).format(n=len(found.beats))
        advice = ""
        if found.checked:
            words = _("{sign} {brought} of {n} in the text")
            advice = words.format(sign=role_sign("model"), brought=found.brought, n=found.checked)
        return head_words(_("Outline"), count, advice, _("planned for several chapters") if found.shared else "")

    def _options(self, found: ChapterBeats) -> Iterator[Option]:
        plain = is_plain(self.app)
        rows = iter(self._rows)
        for part in found.parts:
            if head := one_line(part_words(part), 80):
                yield Option(Text(head, style="bold"), disabled=True)
            for beat in part.beats:
                words = one_line(beat_words(beat, part, found.scenes), _LONGEST) if found.scenes else ""
                if beat.advice is not None:
                    stale = role_sign("stale", plain=plain) if beat.advice.is_stale else ""
                    signs = f"{role_sign('model', plain=plain)}{stale}"
                    words = "  ".join(filter(None, (words, f"{signs} {advice_words(beat.advice)}")))
                sign = _SIGNS[beat.state][plain]
                yield Option(
                    HangingRow(f"{sign} ", one_line(beat.text, _LONGEST), f"  {words}" if words else ""), next(rows)
                )
        if not found.beats:
            yield Option(key_words(_("Nothing is planned for this chapter yet: `e` writes its beats.")), _EMPTY)
        if found.volume:
            yield Option(Text(_("Volume"), style="bold"), disabled=True)
            yield Option(HangingRow("  ", "", one_line(found.volume, _LONGEST)), _VOLUME)

    @property
    def _at(self) -> tuple[PartBeats, Beat] | None:
        return self._rows.get(self.query_one(PickList).picked or "")

    @on(OptionList.OptionSelected)
    def go(self, event: OptionList.OptionSelected) -> None:
        """Requests the place of the beat."""
        event.stop()
        if self._at is None:
            self.action_edit()
            return
        _part, beat = self._at
        place = (beat.advice.place if beat.advice else None) or beat.place
        if place is not None:
            self.post_message(self.PlaceChosen(place.start, place.end))
        else:
            words = _("No name of this beat is in the text.") if beat.names else _("This beat names nobody: a rule "
                      "cannot find it.")  # fmt: skip
            self.notify(words, markup=False)

    def action_edit(self) -> None:
        """Edits the part of the outline of the row."""
        first = next(iter(self._shown.parts), None) if self._shown else None
        of_volume = self.query_one(PickList).picked == _VOLUME
        part = self._at[0] if self._at else first
        self.post_message(self.EditRequested(part.part if part and not of_volume else None, of_volume))

    def action_check(self) -> None:
        """Requests the advice of a model."""
        self.post_message(self.CheckRequested())

    def action_leave(self) -> None:
        """Goes back to the text."""
        self.post_message(self.Left())

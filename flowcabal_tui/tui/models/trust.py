"""The hosts, keys and commands that a project asks for, and the user's answer."""

from __future__ import annotations

import re
from collections import Counter
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.trust import TRUST_KINDS, TrustItem, TrustRequest, TrustView
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData

_FEW: Final = 12
"""Items that are seen at once; of more, a line for each kind says how many there are."""
_LONG: Final = 360
"""Characters of an item in the list; of a longer one its end is shown too, and how much lies between."""
_SHORT: Final = 120
"""The same below the list."""
_END: Final = 80
_BLANKS: Final = re.compile(r"[^\S\n]{8,}|\n{3,}")


class TrustScreen(ModalScreen[tuple[Digest, ...] | None]):
    """Returns the digests of the items that the user confirms, or None when nothing is confirmed."""

    help = HelpData(
        mark("Trust"),
        mark('A project folder can send your text and keys to a host, spend money and run '
             'commands. None of this happens until you confirm it here, once. Enter shows an item '
             'in full, such as the whole text of a prompt. `y` confirms everything listed under '
             '"It asks for"; Esc confirms nothing: you can still read, edit, search and export. '
             'After a change from outside, only new items are listed.'),
    )  # fmt: skip
    DEFAULT_CSS = """
    TrustScreen { background: $background; }
    TrustScreen > .head { height: auto; max-height: 4; padding: 0 1; }
    TrustScreen > PickList { text-wrap: wrap; text-overflow: fold; }
    TrustScreen > .whole { height: auto; max-height: 6; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "dismiss", mark("Not now"), priority=True, id="trust.leave",
                tooltip=mark("Confirm nothing: the listed items stay held back.")),
        Binding("y", "confirm", mark("Confirm all"), id="trust.confirm",
                tooltip=mark("Confirm everything the project asks for.")),
        Binding("f", "confirmed", mark("Confirmed ones too"), id="trust.confirmed",
                tooltip=mark("List what you have confirmed before, or hide it.")),
        HELP_KEYS,
    ]  # fmt: skip
    shows_confirmed = var(False)

    def __init__(self, view: TrustView) -> None:
        super().__init__()
        self._view = view
        self._items: dict[str, TrustItem] = {}

    def compose(self) -> ComposeResult:
        """Yields the meaning of the state, the items, and the one under the cursor in full."""
        yield Static("\n".join(self._head()), markup=False, classes="head")
        yield PickList()
        yield Static("", markup=False, classes="whole")
        yield HintLine()

    def on_mount(self) -> None:
        """Fills the list; a trusted project shows its confirmed items."""
        self.shows_confirmed = not self._view.asked.items
        self._fill()
        self.query_one(PickList).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enables answers only for an open question."""
        return self._waits if action == "confirm" else True

    @property
    def _waits(self) -> bool:
        return self._view.state != "trusted"

    def _head(self) -> list[str]:
        match self._view.state:
            case "restricted":
                words = _("RESTRICTED: you have not confirmed this folder. Nothing is sent, spent or run; reading, "
                          "editing, search and export work.")  # fmt: skip
            case "changed":
                words = _(
                    "CHANGED outside this program: new items are held back; what you confirmed before still works."
                )
            case _:
                words = _("TRUSTED: you have confirmed everything that this project asks for.")
        problem = _("Your last answer could not be recorded, so you will be asked again: {reason}")
        return [words, *([problem.format(reason=self._view.problem)] if self._view.problem else [])]

    def _fill(self) -> None:
        self._items = {}
        rows = self._rows(_("It asks for:"), self._view.asked)
        if not self._view.asked.items and self._waits:
            nothing = _("It contains nothing that sends text, spends money or runs commands. Confirm it once to "
                        "work in it.")  # fmt: skip
            rows.append(Option(nothing, disabled=True))
        if self.shows_confirmed:
            rows += self._rows(_("You have confirmed:"), self._view.confirmed)
        self.query_one(PickList).refill(rows)
        self._show_whole()

    def _rows(self, title: str, request: TrustRequest) -> list[Option]:
        rows: list[Option] = []
        for kind, heading in TRUST_KINDS.items():
            if items := [item for item in request.items if item.kind == kind]:
                rows.append(Option(_("{title}:").format(title=_(heading)), disabled=True))
                rows += [Option(f"  {_in_sight(item.description)}", id=item.digest) for item in items]
                self._items |= {item.digest: item for item in items}
        return [Option(title, disabled=True), *_counts(request), *rows] if rows else []

    @on(OptionList.OptionHighlighted)
    def _show_whole(self) -> None:
        item = self._items.get(self.query_one(PickList).picked or "")
        words = _in_sight(item.text or item.description, _SHORT) if item else ""
        self.query_one(".whole", Static).update(words)

    @on(OptionList.OptionSelected)
    def open_whole(self, event: OptionList.OptionSelected) -> None:
        """Shows the whole item on Enter."""
        event.stop()
        if (item := self._items.get(event.option_id or "")) is not None:
            self.app.push_screen(SourceScreen(OpenedSource("", item.description, item.text or item.description)))

    def action_confirm(self) -> None:
        """Confirms all items as shown."""
        self.dismiss(tuple(item.digest for item in self._view.asked.items))

    def action_confirmed(self) -> None:
        """Shows or hides the items confirmed before."""
        self.shows_confirmed = not self.shows_confirmed
        self._fill()


def _counts(request: TrustRequest) -> list[Option]:
    """A line on items that a list longer than the screen may hide."""
    if len(request.items) <= _FEW:
        return []
    counts = Counter(item.kind for item in request.items)
    known = ((_(heading), counts[kind]) for kind, heading in TRUST_KINDS.items() if counts[kind])
    return [Option("  " + _("{title}: {n}").format(title=title, n=n), disabled=True) for title, n in known]


def _in_sight(words: str, limit: int = _LONG) -> str:
    """Untrusted text, shortened so that its end and the text after blanks stay visible."""
    words = _BLANKS.sub(lambda blanks: _(" [{n} blanks] ").format(n=len(blanks[0])), words)
    if len(words) <= limit:
        return words
    between = _(" [{n} more characters: Enter] ").format(n=len(words) - limit)
    return words[: limit - _END] + between + words[-_END:]

"""Context help: `HelpData` on widgets, and one screen that collects it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, Protocol, runtime_checkable

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.widgets.cells import cell_width, padded
from flowcabal_tui.tui.widgets.facts_text import FactsText
from flowcabal_tui.tui.widgets.role_words import key_words, wrapped


@dataclass(frozen=True, slots=True)
class HelpData:
    """The name (`title`) and use (`description`) of a widget: marked words, not yet translated."""

    title: str
    description: str
    last: bool = False
    """True for a text that is only read: its section follows that of its container."""


_MOVES: Final = frozenset(
    {"move", "page", "top", "bottom", "first", "last", "cursor_down", "cursor_up", "page_down", "page_up"}
)
"""Actions that only move a cursor or a text."""

HELP_KEYS: Final = Binding("f1,question_mark", "app.help", mark("Help"), id="app.help")
"""For a modal screen that fills the terminal: the app's own keys do not reach it."""


@runtime_checkable
class Helpful(Protocol):
    """A widget with help."""

    help: HelpData


@dataclass(frozen=True, slots=True)
class HelpSection:
    """One widget's part of the help: its words and its keys (keys as shown, with their effect)."""

    title: str
    description: str
    keys: tuple[tuple[str, str], ...]


def help_sections(chain: Iterable[DOMNode], display: Iterable[tuple[DOMNode, Binding, str]]) -> list[HelpSection]:
    """Help of the focused widget and its containers, innermost first, the keys of each beside it. What only moves a
    text follows the rest.

    `display` gives for each active key its owner, its binding and the key as shown; keys of a node without help are
    listed under the section before it, or else under the first one.
    """
    owned: dict[DOMNode, dict[str, list[str]]] = {}
    for node, binding, key in sorted(display, key=lambda each: each[1].action.partition("(")[0] in _MOVES):
        is_plain_scrolling = binding.action.startswith(("scroll_", "page_"))
        if binding.description and not (binding.system or is_plain_scrolling):
            owned.setdefault(node, {}).setdefault(binding.tooltip or binding.description, []).append(key)
    sections: list[HelpSection] = []
    loose: tuple[tuple[str, str], ...] = ()
    nodes = [*chain]
    for node in nodes:
        keys = tuple((" ".join(dict.fromkeys(shown)), _(words)) for words, shown in owned.get(node, {}).items())
        if isinstance(node, Helpful):
            sections.append(HelpSection(_(node.help.title), _(node.help.description), keys + loose))
            loose = ()
        elif sections:
            last = sections[-1]
            sections[-1] = HelpSection(last.title, last.description, last.keys + keys)
        else:
            loose += keys
    if nodes and isinstance(nodes[0], Helpful) and nodes[0].help.last:
        sections[:2] = sections[1::-1]
    return [*sections, HelpSection(_("Keys"), "", loose)] if loose else sections


class KeyTable(Static):
    """Keys and what each does; a row that is wrapped goes on under its words."""

    DEFAULT_CSS = "KeyTable { width: 1fr; margin-bottom: 1; }"

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__(markup=False)
        self._keys, self._indent = keys, 2 + max((cell_width(key) for key, _does in keys), default=0)

    def on_resize(self) -> None:
        """Wraps the words for the new width."""
        lines = []
        for key, does in self._keys:
            rows = wrapped(key_words(does), self.content_size.width - self._indent)
            lines += [Content.assemble(padded("" if at else key, self._indent), row) for at, row in enumerate(rows)]
        self.update(Content("\n").join(lines))


class HelpScreen(ModalScreen[None]):
    """Help for the widget that had the focus when help was requested."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 80%; max-width: 90; height: auto; max-height: 90%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    HelpScreen Static { height: auto; }
    HelpScreen FactsText { width: 1fr; }
    HelpScreen .help-title { text-style: bold underline; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", mark("Close"), id="help.close"),
        Binding("j,down", "move(1)", mark("Down"), show=False, id="help.down"),
        Binding("k,up", "move(-1)", mark("Up"), show=False, id="help.up"),
    ]

    def __init__(self, sections: list[HelpSection]) -> None:
        super().__init__()
        self._help_sections = sections

    def compose(self) -> ComposeResult:
        """Yields a title, a description and the keys, section by section."""
        with VerticalScroll():
            for section in self._help_sections:
                yield Static(section.title, markup=False, classes="help-title")
                if section.description:
                    yield FactsText(key_words(section.description))
                yield KeyTable(section.keys)

    def action_move(self, rows: int) -> None:
        """Scrolls by `rows`."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

"""What the book's memory knows: profiles and summaries by kind, in three levels, with evidence and history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import ContentSwitcher, OptionList, Static, Tree
from textual.widgets.option_list import Option
from textual.widgets.tree import TreeNode

from flowcabal_tui.domain.memory import Derived, Evidence, Level
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.views import ProfileRow, ProfileView
from flowcabal_tui.project.words import LEVELS
from flowcabal_tui.tui.panes.finding import ask_to_find
from flowcabal_tui.tui.panes.lists import PickList, PickTree
from flowcabal_tui.tui.panes.words import one_line
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_rows import HangingRow
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.stream_view import StreamView

KINDS: Final[dict[str, str]] = {
    "characters": mark("Characters"),
    "plot-threads": mark("Plot threads"),
    "world-state": mark("State of the world"),
    "themes": mark("Themes"),
    "style": mark("Style"),
    "chapters": mark("Chapters"),
}
METHODS: Final = {
    "model": mark("by a model"),
    "extract": mark("taken from the text"),
    "hand": mark("by hand"),
}
_ORDER: Final[tuple[Level, ...]] = ("L0", "L1", "L2")
Face = Literal["text", "sentences", "history", "changes"]


class ProfilePane(Vertical):
    """A tree of profiles above, the chosen one below."""

    help = HelpData(
        mark("Profiles"),
        mark("What the memory holds. `l` goes from one line to summary to full text, `t` shows earlier states."),
    )
    jump_key = "f"
    DEFAULT_CSS = """
    ProfilePane > PickTree { height: 45%; }
    ProfilePane > .head { height: auto; max-height: 3; padding: 0 1; text-style: bold; border-top: solid $panel; }
    ProfilePane > ContentSwitcher { height: 1fr; }
    ProfilePane StreamView, ProfilePane DiffView { height: 1fr; padding: 0 1; }
    ProfilePane #sentences { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "level", mark("Level"), tooltip=mark("One line, summary, full text."), id="profile.level"),
        Binding("t", "history", mark("History"), tooltip=mark("Earlier states."), id="profile.history"),
        Binding("d", "changes", mark("Diff"), tooltip=mark("What changed since the state before."), id="profile.diff"),
        Binding("slash", "find", mark("Find"), id="profile.find"),
        Binding("n", "find_next", mark("Find next"), show=False, id="profile.find-next"),
        Binding("escape", "leave", mark("To the tree"), show=False, priority=True, id="profile.leave"),
    ]

    @dataclass
    class ProfileChosen(Message):
        """A profile is to be shown."""

        uri: str

    @dataclass
    class SourceOpened(Message):
        """What a sentence rests on is to be shown."""

        uri: str
        start: int
        end: int

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._rows: tuple[ProfileRow, ...] | None = None
        self._leaves: dict[str, TreeNode[str]] = {}
        self._chosen = ""
        self._profile: ProfileView | None = None
        self._level: Level = "L1"
        self._evidence: tuple[Evidence, ...] = ()
        self._sought = ""

    def compose(self) -> ComposeResult:
        """The tree, the name of what is chosen, and its text, sentences, history or changes."""
        yield PickTree[str]()
        yield Static(_("Nothing is remembered yet: keep a chapter first."), markup=False, classes="head")
        with ContentSwitcher(initial="text"):
            yield StreamView(id="text")
            yield PickList(id="sentences")
            yield PickList(id="history")
            yield DiffView(id="changes")

    @property
    def _face(self) -> str | None:
        return self.query_one(ContentSwitcher).current

    def show(self, rows: Sequence[ProfileRow]) -> None:
        """Shows the tree; what was open and chosen stays so."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        tree = self.query_one(PickTree)
        closed = {str(branch.data) for branch in tree.root.children if not branch.is_expanded}
        tree.clear()
        self._leaves = {}
        kinds = [*KINDS, *dict.fromkeys(row.kind for row in self._rows if row.kind not in KINDS)]
        for kind in kinds:
            members = [row for row in self._rows if row.kind == kind]
            if members:
                words = one_line(_(KINDS.get(kind, kind)), 60)
                branch = tree.root.add(Text(f"{words} ({len(members)})", style="bold"), expand=kind not in closed)
                branch.data = kind
                for row in members:
                    self._leaves[row.uri] = branch.add_leaf(self._leaf(row), row.uri)
        if self._leaves:
            tree.place(self._leaves.get(self._chosen) or next(iter(self._leaves.values())))
            if self._profile is None:
                self.query_one(".head", Static).update(_("Choose a profile above."))

    def show_profile(self, view: ProfileView) -> None:
        """Shows a profile; the level and what was looked at stay when it is the same one."""
        same = self._profile is not None and self._profile.uri == view.uri
        if view == self._profile:
            return
        self._profile, self._chosen = view, view.uri
        levels = [item.level for item in view.levels]
        if self._level not in levels and levels:
            self._level = levels[-1]
        if not same or self._face != "history":
            self._show_level()
        else:
            self._fill_history()

    def _leaf(self, row: ProfileRow) -> Text:
        label = Text(one_line(row.name, 60), no_wrap=True)
        abstract = one_line(row.abstract, 200)
        return label.append(f" · {abstract}" if abstract else "", style="dim")

    def _derived(self) -> Derived | None:
        levels = self._profile.levels if self._profile else ()
        return next((item for item in levels if item.level == self._level), None)

    def _show_level(self) -> None:
        """The text of the level; with evidence, sentence by sentence."""
        derived = self._derived()
        self._evidence = derived.evidence if derived else ()
        if derived is None:
            self.query_one("#text", StreamView).set_text("")
            self._turn_to("text")
        elif self._evidence:
            options = [Option(self._sentence(item), id=str(n)) for n, item in enumerate(self._evidence)]
            self.query_one("#sentences", PickList).refill(options)
            self._turn_to("sentences")
        else:
            self.query_one("#text", StreamView).set_text(derived.text, follow=False)
            self._turn_to("text")
        self._refresh_head(derived)

    def _sentence(self, evidence: Evidence) -> HangingRow:
        uri = f"manuscript/{evidence.chapter}"
        title = next((row.name for row in self._rows or () if row.uri == uri), evidence.chapter)
        return HangingRow("- ", one_line(evidence.sentence, 1_000), f"  [{one_line(title, 40)}]")

    def _refresh_head(self, derived: Derived | None, note: str = "") -> None:
        if self._profile is None:
            return
        parts = [one_line(self._profile.name, 60)]
        if derived is not None:
            parts += [_(LEVELS[derived.level]), _as_of(derived)]
        else:
            parts.append(_("nothing at this level yet"))
        self.query_one(".head", Static).update(" · ".join([*parts, *([note] if note else [])]))

    def _states(self) -> tuple[Derived, ...]:
        """What the level in view was before and is, newest first."""
        return tuple(item for item in (self._profile.history if self._profile else ()) if item.level == self._level)

    def _fill_history(self) -> None:
        states = self._states()
        rows = [Option(f"{_as_of(item)} · {_(METHODS[item.method])}", id=str(n)) for n, item in enumerate(states)]
        self.query_one("#history", PickList).refill(rows)
        if states:
            self._refresh_head(states[0], _("{n} states").format(n=len(states)))

    def _turn_to(self, face: Face) -> None:
        """Shows another face; the focus stays in the lower part if it was there."""
        switcher = self.query_one(ContentSwitcher)
        was_below = switcher.has_focus_within
        switcher.current = face
        if was_below or face in ("history", "changes"):
            self.query_one(f"#{face}").focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Esc leads to the tree from below; in the tree it is another's key."""
        if action == "leave" and self.is_mounted:
            return self.query_one(ContentSwitcher).has_focus_within
        return True

    @on(Tree.NodeHighlighted)
    def _follow_cursor(self, message: Tree.NodeHighlighted[str]) -> None:
        message.stop()
        uri = message.node.data
        if uri in self._leaves and uri != self._chosen:
            self._chosen = uri
            self.post_message(self.ProfileChosen(uri))

    @on(Tree.NodeSelected)
    def _go_below(self, message: Tree.NodeSelected[str]) -> None:
        message.stop()
        if message.node.data in self._leaves:
            self.query_one(f"#{self._face}").focus()

    @on(OptionList.OptionSelected, "#sentences")
    def _open_evidence(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        evidence = self._evidence[message.option_index]
        self.post_message(self.SourceOpened(f"manuscript/{evidence.chapter}", evidence.start, evidence.end))

    @on(OptionList.OptionSelected, "#history")
    def _open_state(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        if self._profile is not None:
            state = self._states()[message.option_index]
            self.query_one("#text", StreamView).set_text(state.text, follow=False)
            self._turn_to("text")
            self._refresh_head(state)

    @on(StreamView.SearchRequested)
    def _find_words(self, message: StreamView.SearchRequested) -> None:
        message.stop()
        ask_to_find(self.app, message.stream)

    # Keys

    def action_level(self) -> None:
        """The next level, round the end."""
        levels = [item.level for item in self._profile.levels] if self._profile else []
        order = [level for level in _ORDER if level in levels]
        if order:
            self._level = order[(order.index(self._level) + 1) % len(order)] if self._level in order else order[0]
            self._show_level()

    def action_history(self) -> None:
        """The states of the profile, or back to its text."""
        if self._face == "history":
            self._show_level()
        elif self._states():
            self._fill_history()
            self._turn_to("history")
        else:
            self.notify(_("There is no earlier state."), markup=False)

    def action_changes(self) -> None:
        """What changed from the state before to the one under the cursor (the newest outside the history)."""
        states = self._states()
        at = int(self.query_one("#history", PickList).picked or 0) if self._face == "history" else 0
        older = states[at + 1] if at + 1 < len(states) else None
        if self._face == "changes":
            self._show_level()
        elif older is None:
            self.notify(_("There is no state before this one."), markup=False)
        else:
            self.query_one(DiffView).set_texts(older.text, states[at].text)
            self._turn_to("changes")
            self._refresh_head(states[at], _("compared with {state}").format(state=_as_of(older)))

    def action_leave(self) -> None:
        """To the tree."""
        if self._face in ("history", "changes"):
            self._show_level()
        self.query_one(PickTree).focus()

    def action_find(self) -> None:
        """Ask for a name or words of a one-line summary."""

        def find(words: str | None) -> None:
            if words:
                self._sought = words.casefold()
                self.action_find_next()

        self.app.push_screen(PromptLine(_("Find")), find)

    def action_find_next(self) -> None:
        """Go to the next profile with the words, round the end."""
        uris = [row.uri for row in self._rows or () if self._sought in f"{row.name} {row.abstract}".casefold()]
        if not self._sought or not uris:
            self.notify(_("Not found."), markup=False)
            return
        uri = uris[(uris.index(self._chosen) + 1) % len(uris)] if self._chosen in uris else uris[0]
        leaf = self._leaves[uri]
        if leaf.parent is not None:
            leaf.parent.expand()
        self.query_one(PickTree).place(leaf)


def _as_of(derived: Derived) -> str:
    """The chapter up to which a text knows the book, and when it was made."""
    words = _("as of chapter {n}").format(n=derived.position)
    return f"{words} · {derived.at:%Y-%m-%d %H:%M}" if derived.at else words

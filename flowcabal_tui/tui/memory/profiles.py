"""Profiles and summaries of the book by kind, in three levels, with evidence and history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import ContentSwitcher, OptionList, Tree
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.memory import Derived, Evidence, Level
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.views import ProfileRow, ProfileView
from flowcabal_tui.project.words import LEVELS, METHODS
from flowcabal_tui.tui.memory.profile_tree import ProfileTree
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.facts_text import FactsText
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_rows import HangingRow
from flowcabal_tui.tui.widgets.prompt_line import FindLine
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words, without_backticks
from flowcabal_tui.tui.widgets.stream_view import StreamView

_ORDER: Final[tuple[Level, ...]] = ("L0", "L1", "L2")
Face = Literal["text", "sentences", "history", "changes"]


class ProfilePane(Vertical):
    """A tree of profiles above, the chosen one below."""

    help = HelpData(
        mark("Profiles"),
        mark(
            "What the memory contains. `l` switches between one line, summary and full text, `t` shows earlier "
            "states: there `m` marks one, `d` compares with it, `p` pins it. What you write with `e` or pin "
            "stays in use until you accept (`a`) a newer text."
        ),
    )
    jump_key = "f"
    DEFAULT_CSS = """
    ProfilePane > ProfileTree { height: 45%; }
    ProfilePane > .head { height: auto; max-height: 4; padding: 0 1; border-top: solid $panel; }
    ProfilePane > ContentSwitcher { height: 1fr; }
    ProfilePane StreamView, ProfilePane DiffView { height: 1fr; padding: 0 1; }
    ProfilePane #sentences { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "level", mark("Level"), tooltip=mark("One line, summary, full text."), id="profile.level"),
        Binding("t", "history", mark("History"), tooltip=mark("Earlier states."), id="profile.history"),
        Binding("d", "changes", mark("Diff"), tooltip=mark("What changed since "
                                                           "the previous state."), id="profile.diff"),
        Binding("e", "edit", mark("Edit"), tooltip=mark("Write this level by hand: your text is used from then on."),
                id="profile.edit"),
        Binding("p", "pin", mark("Pin"), tooltip=mark("From now on, contexts read this state; again: the newest."),
                id="profile.pin"),
        Binding("a", "take", mark("Apply"), show=False, id="profile.take",
                tooltip=mark("Use the newer generated text instead of your own text or pin.")),
        Binding("w", "waiting", mark("Newer text"), show=False, id="profile.waiting",
                tooltip=mark("Compare the current text with the newer generated one.")),
        Binding("r", "regenerate", mark("Regenerate"), show=False, id="profile.regenerate",
                tooltip=mark("Regenerate this profile from the text; the old one is used until then.")),
        Binding("m", "mark", mark("Mark"), show=False, tooltip=mark("Compare with this state."), id="profile.mark"),
        Binding("slash", "find", mark("Find"), id="profile.find"),
        Binding("n", "find_next", mark("Find next"), show=False, id="profile.find-next"),
        Binding("escape", "leave", mark("To the tree"), show=False, priority=True, id="profile.leave"),
    ]  # fmt: skip

    class ProfileChosen(Request):
        """Requests a profile."""

        uri: str

    class SourceOpened(Request):
        """Requests the evidence of a sentence."""

        uri: str
        start: int
        end: int

    class EditRequested(Request):
        """Requests an editor for a level; `text` is the current one."""

        uri: str
        level: Level
        text: str

    class PinRequested(Request):
        """Requests that contexts read this state from now on (None: the newest again)."""

        uri: str
        generation: Generation | None

    class TakeRequested(Request):
        """Requests that the state made since the writer's own text or pin be used."""

        uri: str

    class MakeRequested(Request):
        """Requests that the profile be regenerated."""

        uri: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._rows: tuple[ProfileRow, ...] | None = None
        self._chosen = ""
        self._profile: ProfileView | None = None
        self._level: Level = "L1"
        self._evidence: tuple[Evidence, ...] = ()
        self._sought = ""
        self._marked: Generation | None = None

    def compose(self) -> ComposeResult:
        """Yields the tree, the name of the chosen row, and its text, sentences, history or changes."""
        yield ProfileTree()
        empty = _("The memory is empty: keep a chapter first. F5 has one written, F2 writes by hand.")
        yield FactsText(empty, classes="head")
        with ContentSwitcher(initial="text"):
            yield StreamView(id="text")
            yield PickList(id="sentences")
            yield PickList(id="history")
            yield DiffView(id="changes")

    @property
    def _face(self) -> str | None:
        return self.query_one(ContentSwitcher).current

    def show(self, rows: Sequence[ProfileRow]) -> None:
        """Shows the tree; open branches and the selection stay."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        self.query_one(ProfileTree).show(rows, self._chosen)
        if rows and self._profile is None:
            self.query_one(FactsText).show(_("Choose a profile above."))

    def show_profile(self, view: ProfileView) -> None:
        """Shows a profile; level and view are kept when it is the same one."""
        same = self._profile is not None and self._profile.uri == view.uri
        if view == self._profile:
            return
        self._profile, self._chosen = view, view.uri
        self._marked = self._marked if same else None
        levels = [item.level for item in view.levels]
        if self._level not in levels and levels:
            self._level = levels[-1]
        if not same or self._face != "history":
            self._show_level()
        else:
            self._fill_history()

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
        title = next((f"  [{one_line(row.name, 40)}]" for row in self._rows or () if row.uri == uri), "")
        return HangingRow("- ", one_line(evidence.sentence, 1_000), title)

    def _refresh_head(self, derived: Derived | None, note: str = "") -> None:
        if self._profile is None:
            return
        parts = [one_line(self._profile.name, 60)]
        if derived is not None:
            parts += filter(None, [_(LEVELS[derived.level]), _as_of(derived), _at(derived), *self._notes(derived)])
        else:
            parts.append(_("nothing at this level yet"))
        entity = self._profile.entity
        noted = [f"{one_line(name, 40)}: {one_line(value, 120)}" for name, value in entity.fields] if entity else []
        by_hand = [Content(f"{_(METHODS['hand'])}: {facts_words(*noted)}")] if noted else []
        head = head_words(parts[0], *map(without_backticks, (*parts[1:], note)))
        self.query_one(FactsText).show(head, *by_hand)

    def _notes(self, derived: Derived) -> Iterator[str]:
        """The author of the level in view, and whether a newer state can be taken."""
        if derived.method == "hand":
            yield _(METHODS["hand"])
        if self._profile is not None and self._profile.pinned == derived.generation:
            yield _("pinned")
        if self._offered() is not None:
            yield _("newer state: `w` compares, `a` uses it")

    def _offered(self) -> Derived | None:
        """The state of the level in view that was made since the writer's own text or pin."""
        offered = self._profile.offered if self._profile else ()
        return next((item for item in offered if item.level == self._level), None)

    def _states(self) -> tuple[Derived, ...]:
        """The states of the level in view, newest first."""
        return tuple(item for item in (self._profile.history if self._profile else ()) if item.level == self._level)

    def _fill_history(self) -> None:
        states = self._states()
        columns = Columns(Column(least=1), Column(), Column(rank=2, role="secondary"), Column(rank=1), Column(rank=3))
        rows = [Option(self._state(columns, item), id=str(n)) for n, item in enumerate(states)]
        self.query_one("#history", PickList).refill(rows)
        if states:
            self._refresh_head(states[0], ngettext("{n} state", "{n} states", len(states)).format(n=len(states)))

    def _state(self, columns: Columns, derived: Derived) -> ColumnRow:
        is_pinned = self._profile is not None and self._profile.pinned == derived.generation
        sign = "+" if derived.generation == self._marked else ""
        return columns.row(sign, _as_of(derived), _at(derived), _(METHODS[derived.method]),
                           _("pinned") if is_pinned else "")  # fmt: skip

    def _state_in_view(self) -> Derived | None:
        """The state under the cursor of the history, else the current one."""
        if self._face != "history":
            return self._derived()
        picked = self.query_one("#history", PickList).picked
        return self._states()[int(picked)] if picked else None

    def _turn_to(self, face: Face) -> None:
        """Shows another face; the focus stays in the lower part if it was there."""
        switcher = self.query_one(ContentSwitcher)
        was_below = switcher.has_focus_within
        switcher.current = face
        if was_below or face in ("history", "changes"):
            self.query_one(f"#{face}").focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Lets Esc lead to the tree from below; in the tree, the key belongs to the screen."""
        if action == "leave" and self.is_mounted:
            return self.query_one(ContentSwitcher).has_focus_within
        return True

    @on(Tree.NodeHighlighted)
    def _follow_cursor(self, message: Tree.NodeHighlighted[str]) -> None:
        message.stop()
        uri = message.node.data
        if uri and uri != self._chosen and self.query_one(ProfileTree).holds(uri):
            self._chosen = uri
            self.post_message(self.ProfileChosen(uri))

    @on(Tree.NodeSelected)
    def _go_below(self, message: Tree.NodeSelected[str]) -> None:
        message.stop()
        if self.query_one(ProfileTree).holds(message.node.data):
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

    # Keys

    def action_level(self) -> None:
        """Shows the next level, wrapping around."""
        levels = [item.level for item in self._profile.levels] if self._profile else []
        order = [level for level in _ORDER if level in levels]
        if order:
            self._level = order[(order.index(self._level) + 1) % len(order)] if self._level in order else order[0]
            self._show_level()

    def action_history(self) -> None:
        """Shows the states of the profile, or its text again."""
        if self._face == "history":
            self._show_level()
        elif self._states():
            self._fill_history()
            self._turn_to("history")
        else:
            self.notify(_("There is no earlier state."), markup=False)

    def action_changes(self) -> None:
        """Shows the change from the marked state, or the one before, to the one under the cursor (else the newest)."""
        states = self._states()
        at = int(self.query_one("#history", PickList).picked or 0) if self._face == "history" else 0
        marked = next((item for item in states if item.generation == self._marked), None)
        older = marked or (states[at + 1] if at + 1 < len(states) else None)
        if self._face == "changes":
            self._show_level()
        elif older is None:
            self.notify(_("There is no state before this one."), markup=False)
        else:
            self._compare(older, states[at])

    def _compare(self, older: Derived, newer: Derived) -> None:
        self.query_one(DiffView).set_texts(older.text, newer.text)
        self._turn_to("changes")
        self._refresh_head(newer, _("compared with {state}").format(state=_as_of(older)))

    def action_waiting(self) -> None:
        """Shows the newer state beside the current one."""
        current, offered = self._derived(), self._offered()
        if current is None or offered is None:
            self.notify(_("There is no newer text."), markup=False)
        else:
            self._compare(current, offered)

    def action_mark(self) -> None:
        """Marks the state under the cursor for comparison; a second press returns to comparing with the previous
        one."""
        state = self._state_in_view()
        if self._face == "history" and state is not None:
            self._marked = None if self._marked == state.generation else state.generation
            self._fill_history()

    def action_edit(self) -> None:
        """Writes the level by hand."""
        derived = self._derived()
        if derived is not None and derived.level != "L2":
            self.post_message(self.EditRequested(derived.uri, derived.level, derived.text))
        else:
            self.notify(_("Only the one line and the summary are written by hand."), markup=False)

    def action_pin(self) -> None:
        """Pins this state, or unpins it."""
        state = self._state_in_view()
        if state is not None and state.level == "L2":
            self.notify(_("Only the one line and the summary are pinned."), markup=False)
        elif self._profile is not None and state is not None:
            is_pinned = self._profile.pinned == state.generation
            self.post_message(self.PinRequested(self._profile.uri, None if is_pinned else state.generation))

    def action_take(self) -> None:
        """Accepts the states made since."""
        if self._profile is None or not self._profile.offered:
            self.notify(_("There is no newer text."), markup=False)
        else:
            self.post_message(self.TakeRequested(self._profile.uri))

    def action_regenerate(self) -> None:
        """Regenerates the profile from the text."""
        if self._profile is not None:
            self.post_message(self.MakeRequested(self._profile.uri))

    def action_leave(self) -> None:
        """Focuses the tree."""
        if self._face in ("history", "changes"):
            self._show_level()
        self.query_one(ProfileTree).focus()

    def action_find(self) -> None:
        """Asks for a name or words of a one-line summary."""

        def find(words: str | None) -> None:
            if words:
                self._sought = words
                self.action_find_next()

        self.app.push_screen(FindLine(), find)

    def action_find_next(self) -> None:
        """Goes to the next profile with the words, wrapping around."""
        if not self.query_one(ProfileTree).find(self._sought, self._chosen):
            self.notify(_("Not found."), markup=False)


def _as_of(derived: Derived) -> str:
    """The chapter up to which a text knows the book."""
    return _("as of chapter {n}").format(n=derived.position)


def _at(derived: Derived) -> str:
    """When it was made; "" if that is not known."""
    return f"{derived.at:%Y-%m-%d %H:%M}" if derived.at else ""

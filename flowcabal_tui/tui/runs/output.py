"""The output of a node: the text as it streams in, its attempts, and the verdict of the check."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.run import Attempt, NodeState, Question
from flowcabal_tui.domain.text import clean, word_count
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.tui.runs.answered_text import AnsweredText
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.words import FINISHES, STATES, counted, is_chinese, length_words, one_line, verdict_words
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.role_words import head_words, key_words
from flowcabal_tui.tui.widgets.stream_view import StreamView

ARRIVING: Final[tuple[NodeState, ...]] = ("running", "retrying")
"""States in which an attempt that is not complete is the one that arrives, not one that was cut off."""
NO_OUTPUT: Final = mark("This node has no output yet. F5 runs the workflow.")


def _or_excuse(key: Binding) -> tuple[Binding, Binding]:
    """A key, and the same key for the excuse that it has nothing to act on; `check_action` enables one of the two."""
    return key, replace(key, action=f"excuse('{key.action.partition('(')[0]}')", show=False)


class OutputPane(Vertical):
    """Shows one node of one run: the streaming attempt, or the one selected by the writer.

    Pieces of text carry their offset in the attempt: a repeated piece adds nothing, one that differs from the displayed
    text replaces it, and one after a gap is dropped and requests a reload.
    """

    help = HelpData(
        mark("Output"),
        mark("What the model wrote. `[` and `]` show the attempts, `a` keeps the one shown."),
    )
    jump_key = "o"
    DEFAULT_CSS = """
    OutputPane > .head { height: auto; max-height: 4; padding: 0 1; color: $text-muted; }
    OutputPane > .details { display: none; height: auto; max-height: 4; padding: 0 1; text-style: bold; }
    OutputPane.-details > .details { display: block; }
    OutputPane > StreamView { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *_or_excuse(Binding("x", "stop", mark("Stop"), tooltip=mark("Stop this node at once."), id="output.stop")),
        *_or_excuse(Binding("a,ctrl+s", "keep", mark("Keep"), tooltip=mark("Keep this attempt in the book."),
                            id="output.keep")),
        Binding("r", "again", mark("Again"), tooltip=mark("Write another attempt; costs money."), id="output.again"),
        *_or_excuse(Binding("C", "go_on", mark("Continue"), id="output.continue",
                            tooltip=mark("Continue the cut-off text from where it stopped; costs money."))),
        *_or_excuse(Binding("left_square_bracket", "attempt(-1)", mark("Attempts"), key_display="[ ]",
                            id="output.previous", tooltip=mark("Previous attempt"))),
        *_or_excuse(Binding("right_square_bracket", "attempt(1)", mark("Next attempt"), show=False, id="output.next")),
        Binding("c", "receipt", mark("Context"), tooltip=mark("What the model was given."), id="output.receipt"),
        *_or_excuse(Binding("d", "diff", mark("Diff"), tooltip=mark("Compare with the previous attempt."),
                            id="output.diff")),
    ]  # fmt: skip

    class KeepRequested(Request):
        """Requests that the attempt be kept in the memory of the book."""

        run: RunId
        node: NodeId
        attempt: int

    class AgainRequested(Request):
        """Requests another sample, or with `continues` the rest of a cut-off text."""

        node: NodeId
        continues: bool = False

    class ReceiptRequested(Request):
        """Requests the receipt of this attempt."""

        run: RunId
        node: NodeId
        attempt: int

    class StopRequested(Request):
        """Requests that the node stop at once."""

        node: NodeId

    class AttemptChosen(Request):
        """Another attempt was selected."""

        number: int

    class DiffRequested(Request):
        """Requests a comparison of the attempt with the one before it."""

        run: RunId
        node: NodeId
        attempt: int

    class ReloadRequested(Request):
        """Text is missing; requests that the node be read again."""

        run: RunId
        node: NodeId

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.book_language = ""
        self.view: NodeView | None = None
        """The displayed node."""
        self._live_text = ""
        self._live_number = 1
        self._live_thinking = ""
        self._live_count = 0
        self._has_begun = False
        """Has the call for the next attempt gone out, with or without text?"""
        self._shown: tuple[RunId, NodeId, int] | None = None
        self._wanted: int | None = None
        self._wait = ""
        self._elapsed: int | None = None
        self._reload_requested = False

    def compose(self) -> ComposeResult:
        """Yields the state, the result of the check or an error, and the text."""
        yield Static(_(NO_OUTPUT), markup=False, classes="head")
        yield Static(markup=False, classes="details")
        yield AnsweredText()

    @property
    def attempt(self) -> int:
        """The number of the displayed attempt; 0 when there is none."""
        if self.view is None:
            return 0
        numbers = self._numbers()
        preferred = [self._wanted] if self._live_text or self._has_begun else [self._wanted, self.view.chosen]
        return next((number for number in preferred if number in numbers), numbers[-1] if numbers else 0) or 0

    def show(self, view: NodeView | None) -> None:
        """Shows the state of a node; text that arrived after `view` was made stays."""
        before = self.view
        same = before is not None and view is not None and (before.run, before.node) == (view.run, view.node)
        self._has_begun = view is not None and view.state in ARRIVING and not all(x.complete for x in view.attempts)
        if view is not None and view.state in ARRIVING:
            view = replace(view, attempts=tuple(item for item in view.attempts if item.complete))
        elif view is not None:
            view = replace(view, partial="")
        self.view, self._reload_requested, self._wait = view, False, self._wait if same else ""
        newest = max((item.number for item in view.attempts), default=0) if view else 0
        partial = view.partial if view else ""
        if not same:
            self._wanted = None
        if not same or newest >= self._live_number or len(partial) > len(self._live_text):
            self._begin(newest + 1, partial)
        self._refresh_all()

    def append(self, attempt: int, offset: int, text: str) -> None:
        """Adds a piece of text at a character offset of an attempt."""
        if (
            self.view is None
            or attempt < self._live_number
            or any(item.number == attempt for item in self.view.attempts)
        ):
            return
        self.waiting("")
        if attempt > self._live_number:
            self._wanted = None
            self._begin(attempt, "")
            self._refresh_all()
        known = len(self._live_text)
        if offset > known:
            self._ask_reload()
            return
        if self._live_text[offset : offset + len(text)] == text[: known - offset]:
            self._grow(text[known - offset :])
        else:
            self._live_text = self._live_text[:offset] + text
            self._count_live()
            self._refresh_all()

    def append_thinking(self, attempt: int, text: str) -> None:
        """Adds a piece of the model's reasoning, which is displayed before the text and not part of it."""
        if self.view is None or attempt < self._live_number:
            return
        if attempt > self._live_number:
            self._begin(attempt, "")
            self._refresh_all()
        self._live_thinking += text
        if self.attempt in (0, attempt):
            self.query_one(StreamView).append_thinking(text)

    def waiting(self, words: str) -> None:
        """Shows the reason why the call waits; called again for each second."""
        if words != self._wait:
            self._wait = words
            self._refresh_head()

    def passed(self, seconds: int | None) -> None:
        """Shows how long the answer has been awaited or arriving; None: unknown."""
        if seconds != self._elapsed:
            self._elapsed = seconds
            self._refresh_head()

    # The attempt that arrives

    def _begin(self, number: int, text: str) -> None:
        if number != self._live_number:
            self._live_thinking = ""
        self._live_number, self._live_text = number, text
        self._count_live()

    def _grow(self, piece: str) -> None:
        if not piece:
            return
        last = self._live_text[-1:]
        self._live_count += word_count(last + piece) - word_count(last)
        self._live_text += piece
        if not last:
            self._refresh_all()
        elif self.attempt == self._live_number:
            self.query_one(StreamView).append(piece)
            self.query_one(".head", Static).update(self._head())

    def _count_live(self) -> None:
        self._live_count = word_count(self._live_text)

    def _ask_reload(self) -> None:
        if not self._reload_requested and self.view is not None:
            self._reload_requested = True
            self.post_message(self.ReloadRequested(self.view.run, self.view.node))

    def _numbers(self) -> list[int]:
        """The attempts that can be shown."""
        numbers = [item.number for item in self.view.attempts] if self.view else []
        return [*numbers, self._live_number] if self._live_text or self._has_begun else numbers

    def _settled(self) -> Attempt | None:
        """The shown attempt, when it has ended."""
        attempts = self.view.attempts if self.view else ()
        return next((item for item in attempts if item.number == self.attempt), None)

    # What is on the screen

    def _refresh_all(self) -> None:
        settled = self._settled()
        text = clean(settled.text if settled else self._live_text)
        stream = self.query_one(StreamView)
        place = (self.view.run, self.view.node, self.attempt or self._live_number) if self.view else None
        if place == self._shown and text.startswith(stream.text):
            stream.append(text[len(stream.text) :])
        else:
            stream.set_text(text, thinking="" if settled else self._live_thinking, follow=settled is None)
        self._shown = place
        self._refresh_head()

    def _refresh_head(self) -> None:
        details = self._warnings()
        self.query_one(".head", Static).update(self._head())
        self.query_one(".details", Static).update(key_words("\n".join(details)))
        self.set_class(bool(details), "-details")
        self.query_one(AnsweredText).offer(self._question, self.attempt)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enables the keys that have something to act on, and the excuses of the others."""
        verb = parameters[0] if action == "excuse" else action
        if self._question is not None and verb in ("keep", "again", "stop"):
            return False
        settled, has_several = self._settled(), len(self._numbers()) > 1
        can = {
            "attempt": has_several,
            "diff": has_several,
            "keep": settled is not None,
            "go_on": settled is not None and not settled.complete,
            "stop": self._arrives,
        }.get(str(verb))
        return can is None or can == (action != "excuse")

    @property
    def _question(self) -> Question | None:
        """The question whether a displayed attempt is approved."""
        question = self.view.question if self.view is not None else None
        return question if question is not None and question.kind == "review" and self._settled() is not None else None

    @property
    def _arrives(self) -> bool:
        return self.view is not None and self.view.state in ARRIVING

    def _head(self) -> Content:
        view = self.view
        if view is None:
            return key_words(_(NO_OUTPUT))
        parts = [one_line(view.title), _(STATES[view.state])]
        if len(numbers := self._numbers()) > 1:
            place = numbers.index(self.attempt) + 1
            parts.append(_("attempt {n} of {m}").format(n=place, m=len(numbers)))
        settled = self._settled()
        if settled is not None:
            parts.append(length_words(settled.text, self.book_language))
            parts += [_("written by hand")] if settled.author == "human" else []
            parts += [_("reused from an earlier run, at no cost")] if settled.cached else []
        elif self._live_text:
            parts.append(counted(self._live_count, chinese=is_chinese(self._live_text)))
            parts += [_("{n} s").format(n=f"{self._elapsed:,}")] if self._elapsed is not None else []
        return head_words(*parts)

    def _warnings(self) -> list[str]:
        """Warnings about the attempt that is shown."""
        lines = [self._wait] if self._wait else []
        if self.view is not None and self.view.error:
            lines.append(clean(self.view.error))
        if self.view is not None and self.view.item_errors:
            lines += [f"! {clean(one)}" for one in self.view.item_errors[:3]]
        if (settled := self._settled()) is None:
            return lines
        if self.view is not None and self.view.state == "ready":
            words = _("Attempt {n} waits for the model; the text is that of attempt {m}.")
            lines.append(words.format(n=len(self._numbers()) + 1, m=self._numbers().index(self.attempt) + 1))
        if settled.finish in FINISHES:
            lines.append(_(FINISHES[settled.finish]))
        if not settled.complete:
            lines.append(_("incomplete: the text was cut off; `C` continues it, `a` keeps it as it is"))
        if settled.evaluation is not None:
            lines.append(verdict_words(settled.evaluation))
        return lines

    # Keys

    def _need_view(self) -> NodeView | None:
        """The displayed node. Without an output, shows a notice with the way to get one."""
        if self.view is None:
            self.notify(_(NO_OUTPUT), markup=False)
        return self.view

    def action_keep(self) -> None:
        """Requests that the displayed attempt be kept; one that is still arriving cannot be kept."""
        if self.view is not None and (settled := self._settled()):
            self.post_message(self.KeepRequested(self.view.run, self.view.node, settled.number))

    def action_excuse(self, verb: str) -> None:
        """Shows why a key has nothing to act on."""
        arrives = _("The text is still arriving: it can be kept when it is complete.")
        words = {
            "stop": _("Nothing is running."),
            "keep": arrives if self._arrives else _("There is no text."),
            "go_on": _("The text was not cut off: there is nothing to continue."),
        }.get(verb, _("There is no other attempt: `r` writes one."))
        if verb == "stop" or self._need_view() is not None:
            self.notify(words, markup=False)

    def action_again(self) -> None:
        """Asks for another sample."""
        if (view := self._need_view()) is not None:
            self.post_message(self.AgainRequested(view.node))

    def action_go_on(self) -> None:
        """Asks for the rest of a text that was cut off."""
        if (view := self._need_view()) is not None:
            self.post_message(self.AgainRequested(view.node, continues=True))

    def action_attempt(self, step: int) -> None:
        """Shows the attempt before or after."""
        numbers = self._numbers()
        if not numbers:
            return
        place = min(max(numbers.index(self.attempt) + step, 0), len(numbers) - 1)
        if numbers[place] != self.attempt:
            self._wanted = None if self._live_text and numbers[place] == self._live_number else numbers[place]
            self._refresh_all()
            self.post_message(self.AttemptChosen(numbers[place]))

    def action_diff(self) -> None:
        """Asks for the difference to the attempt before."""
        numbers = self._numbers()
        if self.view is not None and self._settled() and numbers.index(self.attempt) > 0:
            self.post_message(self.DiffRequested(self.view.run, self.view.node, self.attempt))
        else:
            self.notify(_("There is no earlier attempt."), markup=False)

    def action_receipt(self) -> None:
        """Asks for the receipt of the shown attempt."""
        if (view := self._need_view()) is not None:
            self.post_message(self.ReceiptRequested(view.run, view.node, self.attempt))

    def action_stop(self) -> None:
        """Asks for the node to stop."""
        if self.view is not None:
            self.post_message(self.StopRequested(self.view.node))

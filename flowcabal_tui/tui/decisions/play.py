"""A run as a story on one page: its text, the answers so far, and the next question below."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from flowcabal_tui.domain.ids import NodeId, QuestionId, RunId
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import (
    NodeCompleted,
    NodeNeedsHuman,
    QuestionAnswered,
    RunStateChanged,
    WorkflowCompleted,
    WorkflowFailed,
)
from flowcabal_tui.tui.decisions.answers import AnswerList
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.decisions.question_kinds import Clock, has_candidates
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import GRACE
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import past_typed
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.stream_view import StreamView

ReadEvents = Callable[[], Awaitable[Sequence[Event]]]
ANSWER: str = "> "


def story_of(events: Iterable[Event]) -> str:
    """The story so far: questions, answers, and the text of models."""
    parts: list[str] = []
    for part in _parts(events):
        if part and part != (parts[-1] if parts else ""):
            parts.append(part)
    return "\n\n".join(parts)


def _parts(events: Iterable[Event]) -> Iterator[str]:
    questions: dict[QuestionId, Question] = {}
    by_hand: set[NodeId] = set()
    for event in events:
        match event:
            case NodeNeedsHuman(question=question) if question.id not in questions and is_replayed(question):
                questions[question.id] = question
                by_hand.add(question.node)
                yield clean(question.reason).strip()
                yield clean(question.proposal).strip()
            case QuestionAnswered(question=known, decision=decision) if known in questions:
                yield ANSWER + one_line(_answer(questions[known], decision), 2000)
            case NodeCompleted(node=node, output=text, attempt=attempt) if attempt and node not in by_hand:
                yield clean(text).strip()
            case WorkflowFailed(error=title):
                yield f"! {clean(title)}"
            case WorkflowCompleted(outputs=outputs):
                yield from (clean(text).strip() for node, text in outputs if node not in by_hand)


def is_replayed(question: Question) -> bool:
    """True for a question that is part of the story, not of the work on it."""
    return question.kind == "input" or (question.kind == "choice" and not has_candidates(question))


def _answer(question: Question, decision: Decision) -> str:
    if decision.kind == "choose" and 1 <= decision.attempt <= len(question.choices):
        return question.choices[decision.attempt - 1].label
    return decision.text or question.proposal


class PlayScreen(Screen[bool | None]):
    """Returns True to open the queue of decisions. `now`: seconds."""

    help = HelpData(
        mark("Play"),
        mark("The story so far, and the next question below it. A digit chooses an answer; where you write your "
             "own text, Ctrl+s submits it. Esc goes back, and the story waits."),
    )  # fmt: skip
    DEFAULT_CSS = """
    PlayScreen > .head { height: 1; padding: 0 1; text-style: bold; background: $panel; }
    PlayScreen > #story { height: 1fr; padding: 0 1; }
    PlayScreen > .details { height: 1; padding: 0 1; color: $text-muted; }
    PlayScreen > AnswerList, PlayScreen > ProseArea { display: none; }
    PlayScreen.-choice > AnswerList { display: block; }
    PlayScreen.-input > ProseArea { display: block; height: 30%; min-height: 4; border-top: solid $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "hand_in", mark("Submit"), priority=True, id="play.hand-in"),
        Binding("f8", "decisions", mark("Decisions"), tooltip=mark("Answer a waiting question."), id="play.decisions"),
        Binding("pageup", "page(-1)", mark("Page up"), show=False, priority=True, id="play.up"),
        Binding("pagedown", "page(1)", mark("Page down"), show=False, priority=True, id="play.down"),
        Binding("escape", "leave", mark("Back"), priority=True, id="play.back"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(
        self, title: str, run: RunId, read: ReadEvents, waiting: Sequence[Question], *, now: Clock = time.monotonic
    ) -> None:
        super().__init__()
        self._heading, self.run_in_view, self._read_events, self._waiting = title, run, read, tuple(waiting)
        self._now = now
        self._question: Question | None = None
        self._answered: set[QuestionId] = set()
        self._appeared = now()

    def compose(self) -> ComposeResult:
        """Yields the story, and below it the answers or a place to write."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        yield StreamView(id="story")
        yield Static(markup=False, classes="details")
        yield AnswerList()
        yield ProseArea()
        yield HintLine()

    def on_mount(self) -> None:
        """Shows the story so far."""
        attempt(self, self.read_on(self._waiting))

    async def read_on(self, waiting: Sequence[Question]) -> None:
        """Adds new text, or shows another question."""
        events = await self._read_events()
        story, view = story_of(events), self.query_one("#story", StreamView)
        if story.startswith(view.text):
            view.append(story[len(view.text) :])
        else:
            view.set_text(story)
        of_run = [each for each in waiting if each.run == self.run_in_view and each.id not in self._answered]
        self._ask(next((each for each in of_run if is_replayed(each)), None))
        over = next((event.state for event in reversed(events) if isinstance(event, RunStateChanged)), "")
        others = any(not is_replayed(each) for each in of_run)
        self._tell(is_over=over in ("done", "failed", "cancelled"), others=others)

    def _tell(self, *, is_over: bool = False, others: bool = False) -> None:
        words = ""
        if others:
            words = _("A decision waits for you: F8.")
        elif self._question is None:
            words = _("The story has ended. Esc goes back.") if is_over else _("The story continues ...")
        elif self._question.kind == "input":
            words = _("Your text: Ctrl+s submits it.")
        self.query_one(".details", Static).update(words)

    def _ask(self, question: Question | None) -> None:
        if question is not None and self._question is not None and question.id == self._question.id:
            return
        self._question, self._appeared = question, self._now()
        kind = question.kind if question else ""
        self.set_class(kind == "choice", "-choice")
        self.set_class(kind == "input", "-input")
        if question is None:
            self.query_one("#story").focus()
        elif kind == "choice":
            self.query_one(AnswerList).show(question.choices)
            self.query_one(AnswerList).focus()
        else:
            self.query_one(ProseArea).load_text(clean(question.proposal))
            self.query_one(ProseArea).focus()

    def _answer(self, decision: Decision) -> None:
        question = self._question
        if question is not None and self._now() - self._appeared >= GRACE:
            self._answered.add(question.id)
            self.query_one("#story", StreamView).append(f"\n\n{ANSWER}{one_line(_answer(question, decision), 2000)}")
            self._ask(None)
            self._tell()
            self.post_message(DecisionsScreen.Decided(question.id, decision))

    @on(AnswerList.Taken)
    def take_answer(self, message: AnswerList.Taken) -> None:
        """Takes one of the answers."""
        self._answer(Decision("choose", message.number))

    def action_hand_in(self) -> None:
        """Sends the writer's own words."""
        text = self.query_one(ProseArea).text
        if self._question is not None and self._question.kind == "input" and text.strip():
            same = text == clean(self._question.proposal)
            self._answer(Decision("approve" if same else "edit", text=text))

    def action_decisions(self) -> None:
        """Opens the queue of decisions."""
        self._past_typed(True)

    def action_page(self, pages: int) -> None:
        """Scrolls the story, wherever the focus is."""
        self.query_one("#story", StreamView).action_page(pages)

    def action_leave(self) -> None:
        """Leaves the page; the question stays open."""
        self._past_typed(None)

    def _past_typed(self, answer: bool | None) -> None:
        """Leaves, after a question if text was typed and not submitted."""
        question, typed = self._question, self.query_one(ProseArea).text
        is_typed = question is not None and question.kind == "input" and typed != clean(question.proposal)
        past_typed(self, is_typed, lambda: self.dismiss(answer))

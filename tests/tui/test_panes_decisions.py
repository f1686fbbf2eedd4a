from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.domain.ids import QuestionId
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.view import GRACE
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.stream_view import StreamView
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, Host, shown

WORDS = books.EN
REVIEW = books.review(WORDS)
INPUT = replace(REVIEW, id=QuestionId("q-input"), kind="input", reason="What happens next?", proposal="Rain.")
CONFIRM = replace(REVIEW, id=QuestionId("q-confirm"), kind="confirm", reason="writer-1 at example.org", attempts=())


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class Queue(Host):
    """Shows the decisions screen over an empty app; the grace is over unless the test says so."""

    def __init__(self, *questions: Question, view: NodeView | None = None, grace: bool = False) -> None:
        super().__init__()
        self.clock = Clock()
        self.bench = FakeProject("en")
        self.view = view
        self.decisions = DecisionsScreen(questions, self.load, now=self.clock)
        self.grace = grace

    async def load(self, question: Question) -> NodeView:
        return self.view or await self.bench.runs.node(question.run, question.node)

    async def opened(self, pilot: Pilot[None]) -> None:
        await self.push_screen(self.decisions)
        if not self.grace:
            self.clock.seconds += GRACE
        await pilot.pause()
        await pilot.pause()

    @property
    def decided(self) -> list[DecisionsScreen.Decided]:
        return [item for item in self.seen if isinstance(item, DecisionsScreen.Decided)]


def screen_text(app: Queue) -> str:
    return "\n".join(shown(app))


async def test_a_review_names_the_steps_that_approval_starts() -> None:
    view = await FakeProject("en").runs.node(REVIEW.run, REVIEW.node)
    app = Queue(REVIEW, view=replace(view, begins=("Polish", "Check [b]it[/b]")))
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        assert "after approval: Polish, Check [b]it[/b]" in screen_text(app)


async def test_a_wide_review_has_its_rows_in_the_middle_and_the_scroll_bar_at_the_edge() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(140, 40)) as pilot:
        await app.opened(pilot)
        reader = app.screen.query_one("#text", StreamView)
        reader.set_text("one two three four five " * 600, follow=False)
        await pilot.pause()
        rows = shown(app)[reader.region.y : reader.region.bottom]
        assert reader.vertical_scrollbar.region.right == 139
        assert all(row[:30].isspace() and len(row[:134].strip()) <= 76 for row in rows), rows[0]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_review_shows_reason_checks_both_quotations_and_the_attempt(size: tuple[int, int]) -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=size) as pilot:
        await app.opened(pilot)
        screen = screen_text(app)
        assert "Review   Draft   decision 1 of 1" in screen
        assert WORDS.reason[:40] in screen
        assert "≠ 1 state of characters" in screen
        assert "● timeline" in screen
        assert "○ rules of the world (" in screen
        assert f"“{WORDS.draft_quote}”" in screen
        assert f"“{WORDS.source_quote}”" in screen
        assert "attempt 2 of 2" in screen
        assert "Mara stood at the ferry" in screen
        assert ("a Approve  r Retry  e Edit  w Why  i Intended  [ ] Attempts  d Diff" in screen) == (size[0] > 100)
        *_above, keys = shown(app)
        assert keys.startswith(" a Approve  r Retry  e Edit") and keys.rstrip().endswith("Ctrl+p Commands  Esc Back")
        side_by_side = [row for row in screen.split("\n") if "The draft says" in row and "The book says" in row]
        assert bool(side_by_side) == (size[0] >= 100)


@pytest.mark.parametrize("width", range(61, 80, 3))
async def test_a_row_of_checks_ends_between_two_of_them(width: int) -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(width, 24)) as pilot:
        await app.opened(pilot)
        checks = app.screen.query_one(".checks").region
        outcomes = [each for row in shown(app)[checks.y : checks.bottom] for each in row.strip().split("   ")]
        assert outcomes[:2] == ["● timeline", "≠ 1 state of characters"]
        assert outcomes[2:] == ["○ rules of the world (the answer could not be read)"]


async def test_a_key_that_was_meant_for_something_else_decides_nothing() -> None:
    app = Queue(REVIEW, grace=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("a", "r", "e", "i", "E")
        assert app.decided == []
        assert app.screen is app.decisions
        app.clock.seconds += GRACE
        await pilot.press("a")
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("approve", 2))]


async def test_the_grace_begins_anew_with_the_next_question() -> None:
    app = Queue(REVIEW, replace(REVIEW, id=QuestionId("q-2")))
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("a", "a", "a")
        assert [item.question for item in app.decided] == [REVIEW.id]


async def test_any_attempt_can_be_approved() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("[")
        assert app.decisions.query_one("#text", StreamView).text == WORDS.first_draft
        await pilot.press("a")
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("approve", 1))]
        assert app.screen is not app.decisions


async def test_retry_asks_for_a_note_that_may_be_empty() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("r", "escape")
        assert app.decided == []
        await pilot.press("r", "enter")
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("retry", 2, note=""))]


MENDABLE = replace(REVIEW, options=(*REVIEW.options, "mend"))


async def test_m_has_single_paragraphs_changed_and_a_finding_needs_no_note() -> None:
    app = Queue(MENDABLE)
    async with app.run_test() as pilot:
        await app.opened(pilot)
        assert "m Mend" in screen_text(app)
        await pilot.press("m", "enter")
        await pilot.pause()
    (decided,) = app.decided
    assert decided.decision == Decision("mend", 2)


async def test_m_without_a_finding_needs_a_note() -> None:
    view = await FakeProject("en").node(REVIEW.run, REVIEW.node)
    clean = replace(view, attempts=tuple(replace(each, evaluation=None) for each in view.attempts))
    app = Queue(MENDABLE, view=clean)
    async with app.run_test() as pilot:
        await app.opened(pilot)
        await pilot.press("m", "enter")
        await pilot.pause()
        assert not app.decided
        await pilot.press("m", *"rain", "enter")
        await pilot.pause()
    (decided,) = app.decided
    assert decided.decision == Decision("mend", 2, note="rain")


async def test_a_mended_attempt_is_shown_as_a_difference_to_the_one_that_it_was_made_from() -> None:
    view = await FakeProject("en").node(REVIEW.run, REVIEW.node)
    first, second = view.attempts
    third = replace(second, number=3, text=first.text + " Rain.", of=1, paragraphs=(1,))
    app = Queue(replace(MENDABLE, attempts=(1, 2, 3)), view=replace(view, attempts=(first, second, third)))
    async with app.run_test() as pilot:
        await app.opened(pilot)
        assert app.decisions.face == "changes"
        assert "attempt 3 of 3   attempt 1 with single paragraphs changed" in screen_text(app)
        assert second.text.split(".")[0] not in screen_text(app) or first.text.split(".")[0] in screen_text(app)
        await pilot.press("d")
        await pilot.pause()
        assert app.decisions.face == "text"


async def test_an_attempt_is_edited_in_place_and_handed_in() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("e", "j", "k", "escape", "e", "f2")
        text = f"jk{WORDS.second_draft}"
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("edit", 2, text=text))]


async def test_an_answer_that_leaves_an_edited_text_behind_asks_first() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("e", "X", "escape")
        assert "your edited text is not submitted yet" in screen_text(app)
        for key in ("a", "x", "r"):
            await pilot.press(key, "enter")
            assert app.decided == []
            assert app.screen is app.decisions
        await pilot.press("a", "y")
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("approve", 2))]


async def test_an_edit_that_is_taken_back_leaves_nothing_behind() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("e", "X", "escape", "e", "delete", "escape")
        assert "not submitted" not in screen_text(app)
        await pilot.press("a")
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("approve", 2))]


async def test_what_was_typed_stays_with_its_question() -> None:
    app = Queue(REVIEW, INPUT)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("e", "X", "escape", "j", "k")
        app.clock.seconds += GRACE
        await pilot.pause()
        await pilot.press("e")
        assert app.decisions.query_one(ProseArea).text == f"X{WORDS.second_draft}"


async def test_w_shows_the_finding_in_full_and_o_opens_what_is_quoted() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("w")
        await pilot.pause()
        assert isinstance(app.screen, SourceScreen)
        assert "confidence 90 %" in screen_text(app)
        await pilot.press("escape", "o")
        start = WORDS.texts[0].index(WORDS.source_quote)
        assert app.posted(DecisionsScreen) == [
            DecisionsScreen.SourceOpened("manuscript/chapter-1", start, start + len(WORDS.source_quote))
        ]


async def test_intended_needs_a_reason_and_is_noted() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(100, 30)) as pilot:
        await app.opened(pilot)
        await pilot.press("i", "enter")
        assert app.posted(DecisionsScreen) == []
        await pilot.press("i")
        app.screen.query_one(Input).value = "a dream"
        await pilot.press("enter")
        await pilot.pause()
        waived = DecisionsScreen.WaiveRequested(WORDS.draft_quote, WORDS.source_quote, "a dream")
        assert app.posted(DecisionsScreen) == [waived]
        assert "noted as intended" in screen_text(app)


async def test_d_shows_the_difference_to_the_attempt_before_and_back() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("d")
        await pilot.pause()
        assert app.decisions.query_one(DiffView).has_focus
        assert "{+" in screen_text(app)
        await pilot.press("escape")
        assert app.decisions.query_one("#text").has_focus


async def test_j_and_k_go_from_question_to_question_and_escape_goes_back() -> None:
    app = Queue(REVIEW, CONFIRM)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("j", "j")
        assert app.decisions.question == CONFIRM
        await pilot.press("k", "escape")
        await pilot.pause()
        assert app.screen is not app.decisions
        assert app.decided == []


async def test_an_input_starts_from_its_proposal_and_is_handed_in_by_f2() -> None:
    app = Queue(INPUT)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        screen = screen_text(app)
        assert "What happens next?" in screen
        assert "Rain." in screen
        await pilot.press("x", "y", "e", "N", "o", " ", "ctrl+s")
        assert app.decided == [DecisionsScreen.Decided(INPUT.id, Decision("edit", text="No Rain."))]


async def test_an_input_taken_as_it_stands_is_an_approval_and_an_empty_one_is_refused() -> None:
    empty = replace(INPUT, id=QuestionId("q-empty"), proposal="")
    app = Queue(empty, INPUT)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("a", "f2")
        assert app.decided == []
        await pilot.press("j")
        app.clock.seconds += GRACE
        await pilot.press("a")
        assert app.decided == [DecisionsScreen.Decided(INPUT.id, Decision("approve", text="Rain."))]


async def test_a_confirmation_says_that_it_costs_money_and_sends_the_manuscript_away() -> None:
    app = Queue(CONFIRM)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        screen = screen_text(app)
        assert "costs money" in screen
        assert "your manuscript is sent" in screen
        assert "writer-1 at example.org" in screen
        await pilot.press("e", "r", "i", "x")
        assert app.decided == [DecisionsScreen.Decided(CONFIRM.id, Decision("reject"))]


async def test_a_question_answered_elsewhere_makes_way_for_the_next() -> None:
    app = Queue(REVIEW, CONFIRM)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        app.decisions.show_questions([CONFIRM])
        await pilot.press("a")
        assert app.decided == []
        app.decisions.show_questions([])
        await pilot.pause()
        assert app.screen is not app.decisions


async def test_the_note_of_a_retry_is_not_lost_by_esc() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("r", *"Colder", "escape")
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press("n", "enter")
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("retry", 2, note="Colder"))]


async def test_retry_is_off_when_the_question_does_not_offer_it() -> None:
    app = Queue(replace(REVIEW, options=("approve", "reject")))
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        await pilot.press("r", "e", "x")
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("reject", 2))]


async def test_a_terminal_that_cannot_be_given_to_an_editor_leaves_the_text_to_be_edited_here() -> None:
    app = Queue(REVIEW)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await app.opened(pilot)
        await pilot.press("E")
        await app.workers.wait_for_complete()
        await pilot.press("X", "f2")
        assert app.decided == [DecisionsScreen.Decided(REVIEW.id, Decision("edit", 2, text=f"X{WORDS.second_draft}"))]


async def test_hostile_text_is_shown_as_words_everywhere() -> None:
    finding = books.evaluation(WORDS, "").findings[0]
    nasty = replace(
        finding,
        explanation=HOSTILE,
        subtype=HOSTILE,
        draft=replace(finding.draft, text=HOSTILE),
        source=replace(finding.source, text=HOSTILE + "雨" * 1_000_000, title=HOSTILE),
    )
    evaluation = books.evaluation(WORDS, "")
    checks = (replace(evaluation.checks[1], findings=(nasty,), detail=HOSTILE),)
    tries = books.attempts(WORDS)
    attempt = replace(tries[0], text=HOSTILE + "雨" * 1_000_000, evaluation=replace(evaluation, checks=checks))
    view = NodeView(REVIEW.run, REVIEW.node, HOSTILE, "prompt", "waiting", (attempt,), 1)
    app = Queue(replace(REVIEW, reason=HOSTILE, node_title=HOSTILE), view=view)
    async with app.run_test(size=(140, 40)) as pilot:
        await app.opened(pilot)
        screen = screen_text(app)
        assert screen.count("[/] [b]bold[/b] red") >= 5
        assert "\x1b" not in screen
        assert "\u202e" not in screen
        await pilot.press("w")
        await pilot.pause()
        assert "[/] [b]bold[/b] red" in screen_text(app)


async def test_a_chinese_quotation_begins_beside_its_mark() -> None:
    """There is no blank at which a line of Chinese could break behind the mark."""
    view = await FakeProject("en").runs.node(REVIEW.run, REVIEW.node)
    last = view.attempts[-1]
    (check,) = [each for each in last.evaluation.checks if each.findings]
    quoted = replace(
        check.findings[0].draft, text="魏长河用只剩三根指头的右手扣住铁环，石板起来得很轻，好像早就等着人来开口。" * 2
    )
    checks = (replace(check, findings=(replace(check.findings[0], draft=quoted),)),)
    attempts = (replace(last, evaluation=replace(last.evaluation, checks=checks)),)
    app = Queue(REVIEW, view=replace(view, attempts=attempts))
    async with app.run_test(size=(80, 24)) as pilot:
        await app.opened(pilot)
        assert "▎“魏长河用" in screen_text(app)

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.domain.run import Attempt, NodeState
from flowcabal_tui.domain.text import digest
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.stream_view import StreamView
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown

TRIES = books.attempts(books.EN)


def node(*attempts: Attempt, state: NodeState = "done", partial: str = "", error: str = "") -> NodeView:
    return NodeView(books.RUN, books.DRAFT, "Draft", "prompt", state, attempts, len(attempts), partial, error=error)


def settled(text: str, number: int = 1) -> Attempt:
    return Attempt(number, text, digest=digest(text), key=digest("key"))


def host() -> tuple[Host, OutputPane]:
    pane = OutputPane()
    return Host(pane), pane


def text_of(pane: OutputPane) -> str:
    return pane.query_one(StreamView).text


async def test_pieces_that_come_again_or_overlap_add_nothing() -> None:
    app, pane = host()
    async with app.run_test():
        pane.show(node(state="running"))
        for offset, piece in ((0, "The rain "), (0, "The rain "), (4, "rain fell"), (0, "The "), (13, " all night.")):
            pane.append(1, offset, piece)
        assert text_of(pane) == "The rain fell all night."


async def test_the_words_that_have_arrived_are_counted_with_each_piece() -> None:
    app, pane = host()
    async with app.run_test():
        pane.show(node(state="running"))
        for offset, piece, count in ((0, "The", "1 word"), (3, " Nick", "2 words"), (8, "leby sat", "3 words")):
            pane.append(1, offset, piece)
            assert count in "\n".join(shown(app))


async def test_a_gap_asks_once_for_a_reload_which_fills_it() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(node(state="running"))
        pane.append(1, 0, "The ")
        pane.append(1, 9, "fell")
        pane.append(1, 13, " all")
        await pilot.pause()
        assert text_of(pane) == "The "
        assert app.posted(OutputPane) == [OutputPane.ReloadRequested(books.RUN, books.DRAFT)]
        pane.show(node(state="running", partial="The rain fell all"))
        pane.append(1, 17, " night")
        assert text_of(pane) == "The rain fell all night"


async def test_an_attempt_that_is_in_the_journal_already_goes_on_arriving() -> None:
    app, pane = host()
    half = replace(settled("The rain", 2), complete=False)
    async with app.run_test():
        pane.show(node(settled("A first try."), half, state="running", partial="The rain"))
        pane.append(2, 8, " fell.")
        assert text_of(pane) == "The rain fell."
        assert "attempt 2 of 2" in "\n".join(shown(app))
        pane.show(node(settled("A first try."), half, state="cancelled", partial="The rain"))
        assert "incomplete" in "\n".join(str(item.render()) for item in pane.query("Static"))


async def test_x_stops_only_what_runs_and_s_keeps_only_what_has_ended() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(node(state="running", partial="Half a"))
        await pilot.press("tab", "a", "x")
        pane.show(node(settled("Half a sentence.")))
        await pilot.pause()
        await pilot.press("x", "a")
        assert app.posted(OutputPane) == [
            OutputPane.StopRequested(books.DRAFT),
            OutputPane.KeepRequested(books.RUN, books.DRAFT, 1),
        ]


async def test_a_view_that_is_older_than_the_text_takes_nothing_away() -> None:
    app, pane = host()
    async with app.run_test():
        pane.show(node(state="running"))
        pane.append(1, 0, "The rain fell")
        pane.show(node(state="running", partial="The rain"))
        assert text_of(pane) == "The rain fell"


async def test_a_new_attempt_clears_and_a_late_piece_of_the_old_one_is_ignored() -> None:
    app, pane = host()
    async with app.run_test():
        pane.show(node(state="running"))
        pane.append(1, 0, "First.")
        pane.append(2, 0, "Second")
        pane.append(1, 6, " More of the first.")
        assert text_of(pane) == "Second"


async def test_the_same_attempt_sent_anew_with_other_words_replaces_what_was_there() -> None:
    app, pane = host()
    async with app.run_test():
        pane.show(node(state="running", partial="Before the crash"))
        pane.append(1, 0, "After")
        assert text_of(pane) == "After"


async def test_thinking_stands_before_the_text_and_is_no_part_of_it() -> None:
    app, pane = host()
    async with app.run_test():
        pane.show(node(state="running"))
        pane.append_thinking(1, "Let me see. ")
        pane.append(1, 0, "Rain.")
        pane.append_thinking(1, "Good.")
        stream = pane.query_one(StreamView)
        assert (stream.thinking, stream.text) == ("Let me see. Good.", "Rain.")


async def test_the_head_tells_state_attempt_length_and_verdict() -> None:
    app, pane = host()
    async with app.run_test(size=(110, 20)) as pilot:
        pane.show(node(*TRIES, state="waiting"))
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert "Draft   waiting for you   attempt 2 of 2   23 words" in screen
        assert "checked from 2 angles: 1 contradiction   not checked: rules of the world" in screen


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (replace(TRIES[0], cached=True), "reused from an earlier run, at no cost"),
        (replace(TRIES[0], finish="length"), "reached its length limit"),
        (replace(TRIES[0], complete=False), "incomplete"),
        (replace(TRIES[0], author="human"), "written by hand"),
        (settled("沈月站在渡口。"), "6 characters"),
    ],
)
async def test_what_the_writer_must_know_of_an_attempt_is_said(attempt: Attempt, words: str) -> None:
    app, pane = host()
    async with app.run_test(size=(110, 20)) as pilot:
        pane.show(node(attempt))
        await pilot.pause()
        assert words in "\n".join(shown(app))


async def test_a_wait_is_told_until_text_arrives() -> None:
    app, pane = host()
    async with app.run_test(size=(110, 20)) as pilot:
        pane.show(node(state="retrying"))
        pane.waiting("Waiting 12 s before the call is sent again: too many requests. `x` stops.")
        await pilot.pause()
        assert "Waiting 12 s before the call is sent again: too many requests" in "\n".join(shown(app))
        pane.append(1, 0, "Rain")
        await pilot.pause()
        assert "Waiting" not in "\n".join(shown(app))


async def test_brackets_switch_attempts_and_keys_speak_of_the_shown_one() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(node(*TRIES, state="waiting"))
        await pilot.press("tab", "d", "[", "[", "c", "a", "r", "x", "]")
        here = (books.RUN, books.DRAFT)
        assert app.posted(OutputPane) == [
            OutputPane.DiffRequested(*here, 2),
            OutputPane.AttemptChosen(1),
            OutputPane.ReceiptRequested(*here, 1),
            OutputPane.KeepRequested(*here, 1),
            OutputPane.AgainRequested(books.DRAFT),
            OutputPane.AttemptChosen(2),
        ]
        assert text_of(pane) == TRIES[1].text


async def test_the_only_attempt_says_how_another_one_comes() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(node(settled("Half a sentence.")))
        await pilot.press("tab", "[", "]", "d")
        assert [notice.message for notice in app._notifications] == ["There is no other attempt: `r` writes one."] * 3


async def test_text_that_still_arrives_is_not_offered_for_keeping() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(node(state="running", partial="Half a"))
        await pilot.press("tab", "a")
        assert app.posted(OutputPane) == []
        assert [notice.message for notice in app._notifications] == [
            "The text is still arriving: it can be kept when it is complete."
        ]


async def test_a_new_attempt_has_its_number_and_no_former_text_as_soon_as_it_begins() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(node(TRIES[0], state="ready"))
        await pilot.pause()
        assert "Attempt 2 waits for the model; the text is that of attempt 1." in "\n".join(shown(app))
        pane.show(node(TRIES[0], replace(settled("", 2), complete=False), state="running"))
        await pilot.pause()
        words = "\n".join(shown(app))
        assert (text_of(pane), pane.attempt) == ("", 2)
        assert "running" in words and "attempt 2 of 2" in words and "waits for the model" not in words


async def test_reading_an_older_attempt_is_not_disturbed_by_what_arrives() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(node(TRIES[0], state="running", partial="New"))
        await pilot.press("tab", "[")
        pane.append(2, 3, " words")
        assert text_of(pane) == TRIES[0].text
        await pilot.press("]")
        assert text_of(pane) == "New words"


async def test_a_finished_attempt_keeps_the_readers_place() -> None:
    app, pane = host()
    story = "\n".join(f"Line {number}." for number in range(200))
    async with app.run_test(size=(60, 20)) as pilot:
        pane.show(node(state="running"))
        pane.append(1, 0, story)
        await pilot.press("tab", "g")
        pane.show(node(settled(story)))
        await pilot.pause()
        assert pane.query_one(StreamView).scroll_offset.y == 0
        assert pane.attempt == 1


async def test_hostile_text_is_shown_as_words_and_a_megabyte_in_one_paragraph_is_all_there() -> None:
    app, pane = host()
    async with app.run_test(size=(100, 20)) as pilot:
        pane.show(node(state="running"))
        pane.append(1, 0, HOSTILE)
        pane.waiting(one_line(HOSTILE))
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert "[/] [b]bold[/b] red" in screen
        assert "\x1b" not in screen
        assert "\u202e" not in screen
        pane.append(1, len(HOSTILE), "雨" * 1_000_000)
        pane.show(node(replace(settled(HOSTILE + "雨" * 1_000_000)), error=HOSTILE))
        await pilot.pause()
        assert text_of(pane).endswith("雨" * 1_000_000)


async def test_a_text_that_waits_for_an_answer_is_shown_from_its_start() -> None:
    app, pane = host()
    text = "".join(f"Line {n}.\n" for n in range(80))
    asked = replace(books.review(books.EN), run=books.RUN, node=books.DRAFT, attempts=(1,))
    async with app.run_test(size=(60, 12)) as pilot:
        pane.show(node(state="running"))
        pane.append(1, 0, text)
        await pilot.pause()
        stream = pane.query_one(StreamView)
        assert stream.scroll_y > 0
        waiting = replace(node(settled(text), state="waiting"), question=asked)
        pane.show(waiting)
        await pilot.pause()
        assert stream.scroll_y == 0
        stream.scroll_to(y=9, animate=False, force=True)
        pane.show(waiting)
        await pilot.pause()
        assert stream.scroll_y == 9, "what the writer reads stays in place"

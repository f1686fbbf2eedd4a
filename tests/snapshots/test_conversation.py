"""Pictures of the conversation: a panel at the right, all of the screen where there is little room."""

from __future__ import annotations

from flowcabal_tui.tui.conversation.question_line import UnsentQuestion
from flowcabal_tui.tui.conversation.screen import ConversationScreen, InView
from tests.snapshots.test_graph import BOTH, EVERY_SIZE, on_top
from tests.snapshots.test_shell import app
from tests.tui import fake_books as books
from tests.tui.fake_conversation import TALK, FakeTalk, pages


@EVERY_SIZE
@BOTH
def test_an_answer_with_a_place_a_card_and_a_run_that_asks(snap_compare, size, language):
    talk = FakeTalk(language)
    panel = ConversationScreen(talk.project, TALK, InView(books.chapter_id(2)), UnsentQuestion(), pages(talk))
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(panel))

"""What was sent, on the screen: layers beside the template, and a word about how exact they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.model_calls import Message
from flowcabal_tui.domain.versions import SentLayer, VersionTrace
from flowcabal_tui.tui.runs.sent import SentScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import screen_of, settled, workspace

LAYERS = (
    SentLayer(1, "system", "blocks", "语言简练。", "语言简练。"),
    SentLayer(2, "user", "blocks", "写第[output of plan]章。", "写第七章：雨夜。"),
    SentLayer(2, "user", "context", "", "人物档案：灯塔守。"),
    SentLayer(3, "assistant", "retry", "", "上一稿[b]。"),
    SentLayer(4, "user", "retry", "", "与第三章矛盾：不接受。"),
)


class Sending(FakeProject):
    sent_trace = VersionTrace((Message("user", "写"),), True, layers=LAYERS)

    async def version_trace(self, run, node, attempt=0):
        return self.sent_trace


@pytest.mark.parametrize("size", [(80, 24), (81, 25), (140, 40)])
async def test_each_layer_is_read_beside_its_template_with_all_turns_of_a_retry(tmp_path: Path, size) -> None:
    async with workspace(Sending("zh"), tmp_path, size) as pilot:
        await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
        await pilot.press("4", "p")
        await settled(pilot)
        assert isinstance(pilot.app.screen, SentScreen)
        rows = "\n".join(shown(pilot.app))
        assert "As sent: rebuilt" in rows
        for layer in LAYERS:
            rows = "\n".join(shown(pilot.app))
            assert layer.sent in rows and (not layer.template or layer.template in rows)
            await pilot.press("down")
            await settled(pilot)
        await pilot.press("t")
        await settled(pilot)
        assert "Template" not in [row.strip() for row in shown(pilot.app)]
        await pilot.press("escape")
        assert pilot.app.screen is screen_of(pilot)


@pytest.mark.parametrize(
    ("exact", "kept", "words"),
    [(True, False, "As sent: rebuilt"), (False, True, "As sent: kept"), (False, False, "Not exactly as sent")],
)
async def test_the_screen_says_whether_these_are_the_words_that_went_out(tmp_path: Path, exact, kept, words) -> None:
    project = Sending()
    project.sent_trace = VersionTrace((Message("user", "Write."),), exact, layers=LAYERS, kept=kept)
    async with workspace(project, tmp_path, (80, 24)) as pilot:
        await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
        await pilot.press("4", "p")
        await settled(pilot)
        assert any(row.strip().startswith(words) for row in shown(pilot.app))


async def test_where_nothing_ran_that_is_said(tmp_path: Path) -> None:
    project = Sending()
    project.run_rows = []
    async with workspace(project, tmp_path, (80, 24)) as pilot:
        await pilot.press("4", "p")
        await settled(pilot)
        assert [each.words for each in pilot.app.announcer.notices.listed] == ["Nothing was sent for this node yet."]

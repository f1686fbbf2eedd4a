"""What a workflow asks of the writer before it runs."""

from __future__ import annotations

import pytest

from flowcabal_tui.demo import templates
from flowcabal_tui.examples import example
from flowcabal_tui.nodes.inputs import needs_chapter
from flowcabal_tui.tui.runs.words import asks_for_instruction


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_chapter_s_workflow_needs_a_chapter_and_a_wish_and_a_story_needs_neither(language):
    chapter = templates(language)[0]
    assert needs_chapter(chapter) and asks_for_instruction(chapter)
    story = example("text_adventure", language)
    assert not needs_chapter(story) and not asks_for_instruction(story)

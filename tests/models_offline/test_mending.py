"""A retry sets right what the quotations speak against, also when a note names its person only in its title."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.models.offline import OfflineModel
from tests.models_offline.prompts import again


@pytest.mark.parametrize(
    ("cast", "draft", "note", "title", "right"),
    [
        (
            "Cast: Tobias Crane",
            "Tobias Crane took the ring with his scarred right hand.",
            "A burn scar on the back of his left hand.",
            "Tobias Crane",
            "Tobias Crane took the ring with his scarred left hand.",
        ),
        (
            "出场：魏长河",
            "魏长河用只剩三根指头的右手扣住铁环。",
            "左手缺了两根指头。",
            "魏长河",
            "魏长河用只剩三根指头的左手扣住铁环。",
        ),
    ],
)
async def test_a_note_about_somebody_corrects_the_draft(cast, draft, note, title, right):
    asked = ModelRequest((Message("user", f"<task>draft</task>\n<plan>\n{cast}\n1. {draft}\n</plan>"),))
    feedback = f"1. The text: “{draft}”\n   The book ({title}): “{note}”\n   different hands"
    assert (await OfflineModel(0).answer(again(asked, draft, feedback))).text == right

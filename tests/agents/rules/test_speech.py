"""Speech is told apart paragraph by paragraph."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.checking.rules.speech import BLANK, without_speech


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("她说：“走吧。”灯灭了。", "她说：灯灭了。"),
        ("“走吧。”她说，“快走。”", "她说，"),
        ("他说：“一直没有合上\n\n灯灭了。", "他说：\n\n灯灭了。"),
        ("前半句被说出。”灯灭了。", "灯灭了。"),
        ("他道：”来了。”灯灭了。", "他道：灯灭了。"),
        ("「走。」灯灭了。", "灯灭了。"),
        ("“Go,” she said. “Now.” The lamp died.", " she said.  The lamp died."),
        ('"Go," she said. The lamp died.', " she said. The lamp died."),
        ("‘Go, it’s late,’ she said. Tom’s lamp died.", " she said. Tom’s lamp died."),
        ("Tom’s lamp died in the boys’ room.", "Tom’s lamp died in the boys’ room."),
        ("", ""),
    ],
)
def test_only_what_is_told_remains(text: str, told: str) -> None:
    left = without_speech(text)
    assert len(left) == len(text)
    assert left.replace(BLANK, "") == told

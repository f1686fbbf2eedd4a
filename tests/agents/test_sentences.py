"""Where sentences end."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.sentences import sentences


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Good day, M. Morrel. Mrs. Dale met Dr. Hill.", ["Good day, M. Morrel.", "Mrs. Dale met Dr. Hill."]),
        ("J. R. Vane left. So did I. He ran.", ["J. R. Vane left.", "So did I.", "He ran."]),
        ("“It is late.” Capt. Gray rose.", ["“It is late.”", "Capt. Gray rose."]),
        ("潮退了。她说：“走吧。”灯灭了……", ["潮退了。", "她说：“走吧。”", "灯灭了……"]),
    ],
)
def test_titles_and_initials_end_no_sentence(text: str, wanted: list[str]) -> None:
    assert [text[span.start : span.end] for span in sentences(text)] == wanted

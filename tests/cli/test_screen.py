from __future__ import annotations

from flowcabal_tui.cli.screen import _FoundModels
from flowcabal_tui.models.discover import in_environment


def test_a_proposed_model_names_the_address_that_the_book_would_be_sent_to() -> None:
    found = in_environment({"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"})
    endpoints = [item.endpoint for item in _FoundModels(found).proposals]
    assert any(words.endswith("@ https://api.openai.com/v1") for words in endpoints)
    assert any(words.endswith("@ https://api.anthropic.com") for words in endpoints)

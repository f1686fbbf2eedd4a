"""The instructions to the model in a prompt."""

from __future__ import annotations

from flowcabal_tui.domain.prompt_parts import read_parts


def outside_parts(prompt: str) -> str:
    """The text outside all labelled parts."""
    for part in read_parts(prompt):
        prompt = prompt.replace(part.source, "\n")
    return prompt

"""Finds missing upstream outputs in an assembled prompt."""

from __future__ import annotations

from flowcabal_tui.agents.context.own_words import FILLED_IN
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import PromptParams, TextBlock, VirtualBlock, Workflow


def missing_outputs(workflow: Workflow, params: PromptParams, prompt: str) -> tuple[str, ...]:
    """Titles of the nodes whose live output is empty, so that no text is between the surrounding literals."""
    titles = {each.id: each.title for each in workflow.nodes}
    missing: list[str] = []
    waiting: list[NodeId] = []
    filled_in = False
    at = 0
    for block in (*params.prompt, None):
        literals: list[str | None] = [""]
        if isinstance(block, TextBlock):
            literals = [*FILLED_IN.split(block.text)]
        elif isinstance(block, VirtualBlock) and block.frozen is None:
            waiting.append(block.node)
            continue
        elif block is not None:
            filled_in = True
            continue
        for number, literal in enumerate(literals):
            filled_in = filled_in or number > 0
            text = (literal or "").strip()
            if not text and block is not None:
                continue
            place = prompt.find(text, at) if text else len(prompt)
            if place < 0:
                return tuple(missing)
            if waiting and not filled_in and not prompt[at:place].strip(workflow.join + " \n\t"):
                missing += [titles.get(node, node) for node in waiting]
            waiting, filled_in, at = [], False, place + len(text)
    return tuple(dict.fromkeys(missing))

"""The surroundings of a passage to rewrite: the text around it, names, facts and the style of the writer."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.agents.context.expects import expected
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.prompt_parts import fenced
from flowcabal_tui.domain.workflow import PromptParams, Workflow
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.protocol.book import RewriteSelection

AROUND: Final = 900
"""Characters before the passage, and as many behind it."""
CONTEXT_TOKENS: Final = 3_000
"""Most tokens of the Context agent if the template sets none."""
_PASSAGE: Final = "[…]"
"""Marks the place of the passage in the text around it."""


async def surrounded(
    parts: Parts, workflow: Workflow, params: PromptParams, selection: RewriteSelection, system: str, prompt: str
) -> tuple[str, str]:
    """The two messages of a rewrite request, preceded by the surroundings of the passage. Makes no paid call."""
    language, generation = parts.base.settings.project.language, await parts.store.memory.generation()
    around_it = [system, ""]
    if parts.base.settings.agents.context and params.context:
        counter = await parts.base.models.counter_at(generation, remember=False)
        agent = parts.runs.ports.context_agent(generation, counter, spend=False)
        node = workflow.nodes[0]
        bounded = params.model_copy(update={"context_tokens": params.context_tokens or CONTEXT_TOKENS})
        words = f"{selection.text}\n{selection.instruction}"
        injection = await agent.assemble(workflow, node, bounded, words, selection.chapter, generation, ())
        around_it = ["\n".join(filter(None, (injection.system_prefix, system))), injection.user_suffix]
    style = (await expected(await parts.store.memory.view(selection.chapter, generation), "", 0)).style
    around = around_passage(await _text(parts, selection.chapter), selection)
    pieces = (around_it[1], fenced("style", style, language), fenced("around", around, language), prompt)
    return around_it[0], "\n\n".join(filter(None, pieces))


def around_passage(text: str, selection: RewriteSelection) -> str:
    """The text before and after the passage, with a mark in its place; "" if the passage is not in the text."""
    start = selection.start if text[selection.start : selection.end] == selection.text else text.find(selection.text)
    if start < 0 or not selection.text:
        return ""
    end = start + len(selection.text)
    before, behind = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    if start > AROUND:
        before = before[before.find("\n") + 1 :]
    if end + AROUND < len(text) and "\n" in behind:
        behind = behind[: behind.rfind("\n")]
    return f"{before}{_PASSAGE}{behind}" if before.strip() or behind.strip() else ""


async def _text(parts: Parts, chapter: ChapterId) -> str:
    """The chapter as the writer sees it: unsaved text takes precedence over the saved version."""
    draft = await parts.store.drafts.of(chapter)
    return draft.text if draft is not None else await parts.store.book.text(chapter)

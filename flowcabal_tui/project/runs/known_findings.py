"""Adds the findings of the rules about the texts of a prompt to its context, so that the next paid call can mend
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.checking.feedback import finding_lines
from flowcabal_tui.agents.ports import MemoryPort, MemoryView, RulesPort
from flowcabal_tui.agents.sentences import sentence_at
from flowcabal_tui.domain.context import NOTHING_ABOUT, About, Injection
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.model_calls import TokenCounter
from flowcabal_tui.domain.prompt_parts import Item, Part, fenced_items, read_parts
from flowcabal_tui.domain.run import CheckFinding
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Node, PromptParams, Workflow
from flowcabal_tui.locale import ngettext
from flowcabal_tui.runner.ports import ContextPort

_SURE: Final = 0.7
"""From this confidence on a rule's finding is shown unfolded."""
_MOST: Final = 5
"""Findings of one text."""
_MOST_TOKENS: Final = 1_200
_ORDER: Final = {
    "zh": "“按规则查出的问题”是程序核对本章计划和文稿时查出的：确是差错的，这一次就改正，哪怕要改动其中的事实；"
    "有意为之的保持原样；其余内容不要因此改动。",
    "en": "“Found by rule” lists what a check by rule found in the plan and the draft of this chapter. Correct what is "
    "a mistake in this pass, even where that changes a fact; leave what is intended as it is; change nothing else "
    "because of the list.",
}


class KnownFindings:
    """Implements the runner's `ContextPort` by another one. The same book and prompt give the same bytes."""

    def __init__(self, context: ContextPort, memory: MemoryPort, rules: RulesPort, counter: TokenCounter) -> None:
        self._context, self._memory, self._rules, self._counter = context, memory, rules, counter

    async def assemble(
        self,
        workflow: Workflow,
        node: Node,
        params: PromptParams,
        prompt: str,
        chapter: ChapterId | None,
        generation: Generation,
        inquiries: Sequence[str],
        about: About = NOTHING_ABOUT,
    ) -> Injection:
        """The context of the wrapped agent, then the findings about a plan and a draft of the prompt, within the same
        budget.

        The texts that all nodes of the chapter share stay the same: providers cache equal prefixes.
        """
        count, told = await self._told(node, prompt, chapter, generation)
        about = replace(about, held=self._counter.count(told) if told else 0)
        made = await self._context.assemble(workflow, node, params, prompt, chapter, generation, inquiries, about)
        tokens = about.held_of(made.receipt.budget)
        return _with(made, told, tokens, count) if tokens else made

    async def _told(
        self, node: Node, prompt: str, chapter: ChapterId | None, generation: Generation
    ) -> tuple[int, str]:
        """How many findings, and the part with them behind the order to mend them; 0 and "" for none."""
        texts = [part for part in read_parts(prompt) if part.key in ("plan", "draft") and part.whole.strip()]
        if not texts:
            return 0, ""
        view = await self._memory.view(chapter, generation)
        found = [(part, await self._found(view, part, node)) for part in texts]
        for most in range(_MOST, 0, -1):
            items = [Item(part.label, finding_lines(each[:most], view.language)) for part, each in found]
            listed = fenced_items("findings", items, view.language)
            if listed and self._counter.count(listed) <= _MOST_TOKENS:
                order = _ORDER["zh" if view.language.startswith("zh") else "en"]
                return sum(len(each[:most]) for _part, each in found), f"{order}\n\n{listed}"
        return 0, ""

    async def _found(self, view: MemoryView, part: Part, node: Node) -> list[CheckFinding]:
        """The surest first. A plan is no prose: of it only what does not agree with the book counts."""
        checks = await self._rules.check(view, part.whole, f"draft/{node.id}", part.label)
        found = [_in_sentence(each, part.whole) for check in checks for each in check.findings]
        found = [each for each in found if each.confidence >= _SURE]
        if part.key == "plan":
            found = [each for each in found if each.source.text and each.rule != "repeated"]
        return sorted(found, key=lambda each: (-each.confidence, each.draft.start))


def _in_sentence(finding: CheckFinding, text: str) -> CheckFinding:
    """A rule quotes few words, which may stand there more than once."""
    span = sentence_at(text, finding.draft.start)
    if span.end < finding.draft.end or finding.draft.text not in text[span.start : span.end]:
        return finding
    quoted = replace(finding.draft, text=text[span.start : span.end], start=span.start, end=span.end)
    return replace(finding, draft=quoted)


def _with(made: Injection, told: str, tokens: int, count: int) -> Injection:
    suffix = "\n\n".join(filter(None, (made.user_suffix, told)))
    words = ngettext(
        "{n} finding by rule in the plan and the draft is in the prompt.",
        "{n} findings by rule in the plan and the draft are in the prompt.",
        count,
    )
    texts = (made.system_prefix, suffix, *(answer for _question, answer in made.inquiries))
    receipt = replace(
        made.receipt,
        used=made.receipt.used + tokens,
        notes=(*made.receipt.notes, words.format(n=count)),
        digest=digest("\0".join(texts)),
    )
    return replace(made, user_suffix=suffix, receipt=receipt)

"""Fixes the draft in a prompt by rules, and adds their other findings about its texts to the context, so that the next
paid call can fix them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.checking.feedback import finding_lines
from flowcabal_tui.agents.checking.rules.corrections import corrected
from flowcabal_tui.agents.ports import MemoryPort, MemoryView, RulesPort
from flowcabal_tui.agents.sentences import sentence_at
from flowcabal_tui.domain.context import NOTHING_ABOUT, About, Injection
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import Item, Part, escaped, fenced_items, read_parts
from flowcabal_tui.domain.run import CheckFinding
from flowcabal_tui.domain.workflow import Node, PromptParams, Workflow
from flowcabal_tui.locale import ngettext
from flowcabal_tui.project.runs.basis import FOUND_TOKENS
from flowcabal_tui.runner.ports import ContextPort

_SURE: Final = 0.7
"""From this confidence on a rule's finding is shown unfolded."""
_MOST: Final = 5
"""Findings of one text."""
_ORDER: Final = {
    "zh": "“按规则查出的问题”列出程序在本章计划和文稿中查出的疑点：确属差错的，请改正，即使因此要改动事实；"
    "有意为之的，保持原样；其余内容不要因此改动。",
    "en": "“Found by rule” lists what an automatic check found in the plan and the draft of this chapter. Correct what "
    "is a mistake, even if that changes a fact; leave what is intended as it is; change nothing else because of this "
    "list.",
}


@dataclass(frozen=True, slots=True)
class _Known:
    """The findings about the texts of a prompt.

    The part that lists `count` findings, the source of the `last` part that they concern, and replacements for the
    parts of the prompt whose `faults` were fixed.
    """

    listed: str = ""
    last: str = ""
    count: int = 0
    corrected: tuple[tuple[str, str], ...] = ()
    faults: int = 0


class KnownFindings:
    """Implements the runner's `ContextPort` by wrapping another one. The same book and prompt give the same bytes."""

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
        """The context of the wrapped agent, and changes of the prompt: findings after a plan or a draft, and the draft
        without faults that rules can fix.

        The text before the draft stays the same for all nodes of the chapter, since providers cache equal prefixes. If
        the findings would exceed half of the context, they are left out.
        """
        known = await self._known(node, prompt, chapter, generation)
        about = replace(about, added=self._counter.count(known.listed) if known.listed else 0)
        made = await self._context.assemble(workflow, node, params, prompt, chapter, generation, inquiries, about)
        if about.added > made.receipt.budget // 2:
            known = replace(known, listed="")
        return _injection(made, known)

    async def _known(self, node: Node, prompt: str, chapter: ChapterId | None, generation: Generation) -> _Known:
        texts = [part for part in read_parts(prompt) if part.key in ("plan", "draft") and part.whole.strip()]
        if not texts:
            return _Known()
        view = await self._memory.view(chapter, generation)
        found, mends, faults = [], [], 0
        for part in texts:
            checked = await self._checked(view, part, node)
            if part.key == "draft" and (after := _corrected(part, checked))[1]:
                mends.append((part.source, after[0].source))
                faults += after[1]
                part = after[0]
                checked = await self._checked(view, part, node)
            found.append((part, _surest(part, checked)))
        for most in range(_MOST, 0, -1):
            items = [Item(part.label, finding_lines(each[:most], view.language)) for part, each in found]
            listed = fenced_items("findings", items, view.language)
            listed = f"{_ORDER['zh' if view.language.startswith('zh') else 'en']}\n\n{listed}" if listed else ""
            if listed and self._counter.count(listed) <= FOUND_TOKENS:
                count = sum(len(each[:most]) for _part, each in found)
                return _Known(listed, texts[-1].source, count, tuple(mends), faults)
        return _Known(corrected=tuple(mends), faults=faults)

    async def _checked(self, view: MemoryView, part: Part, node: Node) -> list[CheckFinding]:
        checks = await self._rules.check(view, part.whole, f"draft/{node.id}", part.label)
        return [each for check in checks for each in check.findings if each.confidence >= _SURE]


def _corrected(part: Part, found: Sequence[CheckFinding]) -> tuple[Part, int]:
    """The part with all faults corrected that a rule can correct in one way, and their number.

    A part with several texts is not changed.
    """
    text, faults = part.text, 0
    for each in found if not part.items else ():
        after = corrected(each.rule, text, each.draft.text) if each.rule else None
        if after is not None and after.strip():
            text, faults = after, faults + 1
    source = part.source.replace(escaped(part.text), escaped(text))
    return (replace(part, text=text, source=source), faults) if source != part.source else (part, 0)


def _surest(part: Part, found: Sequence[CheckFinding]) -> list[CheckFinding]:
    """The surest first. A plan is not prose, so only its disagreements with the book count."""
    shown = [_in_sentence(each, part.whole) for each in found]
    if part.key == "plan":
        shown = [each for each in shown if each.source.text and each.rule != "repeated"]
    return sorted(shown, key=lambda each: (-each.confidence, each.draft.start))


def _in_sentence(finding: CheckFinding, text: str) -> CheckFinding:
    """The finding with its whole sentence as the quotation, since the few words of a rule may occur more than once."""
    span = sentence_at(text, finding.draft.start)
    if span.end < finding.draft.end or finding.draft.text not in text[span.start : span.end]:
        return finding
    quoted = replace(finding.draft, text=text[span.start : span.end], start=span.start, end=span.end)
    return replace(finding, draft=quoted)


def _injection(made: Injection, known: _Known) -> Injection:
    """The injection with the known findings added to the prompt."""
    corrected, notes = dict(known.corrected), list[str]()
    if known.listed:
        corrected[known.last] = f"{corrected.get(known.last, known.last)}\n\n{known.listed}"
        words = ngettext(
            "{n} finding by rule in the plan and the draft is in the prompt.",
            "{n} findings by rule in the plan and the draft are in the prompt.",
            known.count,
        )
        notes.append(words.format(n=known.count))
    if known.faults:
        words = ngettext(
            "{n} fault of the draft was corrected by a rule before it was sent.",
            "{n} faults of the draft were corrected by a rule before it was sent.",
            known.faults,
        )
        notes.append(words.format(n=known.faults))
    if not notes:
        return made
    receipt = replace(made.receipt, notes=(*made.receipt.notes, *notes))
    return replace(made, mended=tuple(corrected.items()), receipt=receipt)

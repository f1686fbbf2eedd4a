"""Feedback to a model about findings, in the language of the checked text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from flowcabal_tui.domain.prompt_parts import in_language
from flowcabal_tui.domain.run import CheckFinding, RuleName
from flowcabal_tui.domain.text import han_count

_LINES: Final = {
    "zh": (
        "这一稿与前文或设定矛盾：",
        "这一稿有以下问题：",
        "{n}. 这一稿：“{draft}”\n   原有内容（{title}）：“{source}”\n   {why}",
        "{n}. 这一稿：“{draft}”\n   {why}",
    ),
    "en": (
        "The text contradicts the book:",
        "The text has these faults:",
        "{n}. The text: “{draft}”\n   The book ({title}): “{source}”\n   {why}",
        "{n}. The text: “{draft}”\n   {why}",
    ),
}
"""The first line where every finding is a contradiction, and otherwise; a finding, and one of the draft alone."""
_ALONE: Final[Mapping[RuleName, tuple[str, str]]] = {
    "leftovers": (
        "这是写给作者的话或占位文字，不属于正文。",
        "This is a remark or a placeholder, not part of the story.",
    ),
    "introductions": (
        "这个名字在这里已经当作熟人使用，后文才介绍是谁。",
        "The name is used here as if it were known, and introduced only later.",
    ),
    "latin": ("中文正文里夹杂了拉丁字母。", "These are Latin letters in Chinese text."),
    "quote-marks": ("引号没有配对。", "A quotation mark is unpaired."),
}
"""For each rule that reports words of a draft alone, the reason in Chinese and in English: prompts need the language of
the book, and a rule's own explanation is in the language of the screen."""


def finding_lines(findings: Iterable[CheckFinding], language: str = "") -> str:
    """A heading and the findings, the surest first; "" without any. `language` "": that of the quotations."""
    in_order = sorted(findings, key=lambda each: (-each.confidence, each.draft.start))
    if not in_order:
        return ""
    if not language:
        language = "zh" if any(han_count(each.draft.text) for each in in_order) else "en"
    contradictions, faults, line, alone = _LINES[language[:2]]
    texts = ((each.draft.text, each.source.title, each.source.text, _why(each, language)) for each in in_order)
    lines = [
        (line if source else alone).format(n=number, draft=draft, title=title, source=source, why=why)
        for number, (draft, title, source, why) in enumerate(
            dict.fromkeys(tuple(" ".join(text.split()) for text in row) for row in texts), 1
        )
    ]
    head = contradictions if all(each.source.text for each in in_order) else faults
    return "\n".join((head, *(line.rstrip() for line in lines)))


def _why(finding: CheckFinding, language: str) -> str:
    """The explanation; two quotations of a rule need none."""
    if not finding.rule:
        return finding.explanation
    if finding.source.text:
        return ""
    return in_language(_ALONE.get(finding.rule, (finding.explanation, finding.explanation)), language)

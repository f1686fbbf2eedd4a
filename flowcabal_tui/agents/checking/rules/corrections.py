"""Corrections that a rule can make without a model, only where the words have one possible reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from flowcabal_tui.agents.checking.rules import leftovers, quote_marks
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import line_around

_LONGEST_ASIDE: Final = 120
_BOLD: Final = late(r"\*\*([^*\n]+)\*\*")
_TAG: Final = late(r"</?[a-z][a-z0-9]*\s?/?>|<\|[^|<>\n]+\|>", re.IGNORECASE)
_THOUGHT: Final = late(r"</?think", re.IGNORECASE)
_ROLE: Final = late(r"(?:role|system|assistant|user): ", re.IGNORECASE)
_REFUSAL: Final = late(alternatives(word_table("rules", "leftovers")["refusals"]), re.IGNORECASE)
"""Words of a model that refuses a passage; removing them would not restore the passage."""
_TEXT_AFTER: Final = late(r"[:：]\s*\S")
_NUMBER: Final = late(r"[:：]?\s?约?\d[\d,，]*\s?(?:字|words)?\W*\Z", re.IGNORECASE)
_OPENS: Final = late(r"(?<![^\s(\[‘'—–-])[“”](?=[\w‘'(…—])")
_CLOSES: Final = late(r"(?<=[\w.,;:!?…’')—-])[“”](?=[\s.,;:!?)\]—–-]|\Z)")
_DOUBLED: Final = late(r"“{2}|”{2}")


def corrected(rule: str, text: str, quotation: str) -> str | None:
    """The text without the fault that the rule found at the quotation; None if no rule can correct it."""
    at = text.find(quotation) if quotation else -1
    mend = _MENDS.get(rule)
    return mend(text, at, quotation) if mend is not None and at >= 0 else None


def _without_leftover(text: str, at: int, words: str) -> str | None:
    end = at + len(words)
    if match := _BOLD.fullmatch(words):
        return text[:at] + match[1] + text[end:]
    if _ROLE.fullmatch(words) or (_TAG.fullmatch(words) and not _THOUGHT.match(words)):
        return text[:at] + text[end:]
    first, last = line_around(text, at, end)
    line = text[first:last].strip()
    if line.startswith("```") or _is_aside(line, words):
        return _without_line(text, first, last)
    return None


def _is_aside(line: str, words: str) -> bool:
    """True when the line is one sentence of a model to its user, with no story text after a colon."""
    if _REFUSAL.search(line) or leftovers.is_free_of(line) or len(line) > _LONGEST_ASIDE or len(sentences(line)) != 1:
        return False
    if leftovers.is_placeholder(words) or leftovers.is_markup(words):
        return False
    return bool(_NUMBER.search(line)) or not _TEXT_AFTER.search(line)


def _without_line(text: str, first: int, last: int) -> str:
    """The text without the line and the blank lines after it; at the end of the text, without those before it."""
    before, rest = text[:first], text[last:].lstrip("\n")
    return before + rest if rest else before.rstrip("\n")


def _with_pairs(text: str, at: int, words: str) -> str | None:
    """A paragraph with paired marks if a doubled or reversed mark was the fault; None otherwise."""
    first, last = line_around(text, at, at + len(words))
    paragraph = text[first:last]
    turned = _DOUBLED.sub(lambda match: match[0][0], paragraph)
    turned = _CLOSES.sub("”", _OPENS.sub("“", turned))
    return text[:first] + turned + text[last:] if turned != paragraph and quote_marks.is_paired(turned) else None


_MENDS: Final[Mapping[str, Callable[[str, int, str], str | None]]] = {
    "leftovers": _without_leftover,
    "quote-marks": _with_pairs,
}

"""Rule: leftovers of models in a text: markup, placeholders, words to the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.words import alternatives_of
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.locale import _

_MOST: Final = 5
_WORDS: Final = alternatives_of("rules", "leftovers")
_ASIDES: Final = late(
    r"\bas an? (?:AI|artificial intelligence|(?:large )?language model)\b(?: (?:language )?(?:model|assistant))?,? I\b"
    r"|\bI(?: am|'m|’m) (?:just )?an? (?:AI (?:language )?(?:model|assistant)|(?:large )?language model)\b"
    r"|\bI(?: can't|’m unable to|'m unable to| can’t| cannot) (?:assist|help) with (?:that|this)(?: request)?\b"
    rf"|\bhere(?: is|'s|’s) (?:the|your|a) (?:{_WORDS['made_en']}) (?:{_WORDS['texts_en']})\b"
    rf"|\b(?:I hope this|let me know if you(?:'d|’d| would) like) [^.\n]{{0,40}}"
    rf"\b(?:{_WORDS['offers_en']})"
    r"|作为一?[个名款]?(?:AI|ＡＩ|人工智能|(?:大型?)?语言模型)(?:语言)?(?:模型|助手)?[，,]?\s?我"
    r"|我(?:只?是|仅是)一?[个名款]?(?:AI|ＡＩ|人工智能|(?:大型?)?语言模型)(?:语言)?(?:模型|助手)"
    rf"|以下(?:是|为)[^。\n]{{0,12}}(?:{_WORDS['made_zh']})(?:后|版|的)"
    r"|希望(?:这|以上|本|上述)[^。\n]{0,12}(?:符合|满足)[您你]的(?:要求|需求|期望)"
    r"|^[（(\[【]?(?:全文|本章|总)?字数(?:统计)?(?:约)?[:：]?\s?约?\d+|^\W{0,3}word count:",
    re.IGNORECASE | re.MULTILINE,
)
_PLACEHOLDERS: Final = late(
    r"\{\{[^{}\n]{0,60}\}\}|\$\{[^{}\n]{0,60}\}|lorem ipsum|<\|[^|<>\n]{1,30}\|>|</?think(?:ing)?>"
    rf"|\[(?:{_WORDS['gaps_en']})\b[^\[\]\n]{{0,60}}\]"
    rf"|[\[【［](?:{_WORDS['gaps_zh']})[^\[\]【】\n]{{0,40}}[\]】］]",
    re.IGNORECASE,
)
_MARKUP: Final = late(
    r"^```|\*\*(?=\S)[^*\n]{1,200}\*\*|^\|[ :|-]{3,200}\|$|</?(?:br|p|div|span|b|i|strong|em|h[1-6]|ul|li)\s?/?>"
    r"|(?<=\n)(?:role|system|assistant|user): ",
    re.IGNORECASE | re.MULTILINE,
)


def is_free_of(text: str) -> bool:
    """True when the text has no leftovers of a model."""
    return not any(pattern.search(text) for pattern in (_ASIDES, _PLACEHOLDERS, _MARKUP))


def is_placeholder(words: str) -> bool:
    """True for words that mark a gap for the writer to fill."""
    return _PLACEHOLDERS.search(words) is not None


def is_markup(words: str) -> bool:
    """True for formatting characters, such as those of a table."""
    return _MARKUP.search(words) is not None


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields the first `_MOST` leftovers."""
    words = (
        (_ASIDES, _("Here a model speaks to its user, not to the reader.")),
        (_PLACEHOLDERS, _("A placeholder was left in the text.")),
        (_MARKUP, _("Markup was left in the text.")),
    )
    found = [
        (match.start(), match.end(), message) for pattern, message in words for match in pattern.finditer(draft.text)
    ]
    for start, end, message in sorted(found)[:_MOST]:
        yield RuleFinding("style shift", message, draft.quoted(start, end))

"""Selects the paragraphs of a text that a retry must change, and inserts an answer that contains only these."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

from flowcabal_tui.domain.run import CheckFinding
from flowcabal_tui.nodes.kinds.candidates import ALIKE, bigrams, likeness

MOST_PARAGRAPHS: Final = 12
"""With more findings, the whole text is written again."""
MOST_LISTED: Final = 80
"""A note may concern any paragraph, so a text with more of them is written again as a whole."""
_FEWEST: Final = 4
"""Paragraphs of a text that is worth mending."""
_SHARE: Final = 0.5
"""If the paragraphs to correct exceed this share of the text, the whole text is written again."""
_GROWS: Final = 4
_SPARE: Final = 400
"""A changed paragraph may be `_GROWS` times as long as the old one, plus this many characters."""
_AROUND: Final = 200
"""Maximum characters of an answer outside its paragraphs, which are left out; with more, the answer is not used."""
_PARAGRAPH: Final = re.compile(r"^[^\n]*\S[^\n]*", re.MULTILINE)
_TAG: Final = re.compile(r"</?paragraph\b[^>\n]*>")
_OPENS: Final = re.compile(r'<paragraph n="?(\d{1,4})"?>')
_CLOSES: Final = "</paragraph>"
_INDENT: Final = re.compile(r"\s*")


def paragraphs(text: str) -> list[str]:
    """The lines of a text that are not blank; they count from 1."""
    return [match[0] for match in _PARAGRAPH.finditer(text)]


def concerned(text: str, findings: Sequence[CheckFinding]) -> tuple[int, ...]:
    """The paragraphs that the findings quote; () when the text has to be written again as a whole."""
    spans = [match.span() for match in _PARAGRAPH.finditer(text)]
    found: set[int] = set()
    for finding in findings:
        quoted = finding.draft
        if not quoted.text or text[quoted.start : quoted.end] != quoted.text:
            return ()
        found |= {n for n, (start, end) in enumerate(spans, 1) if start < quoted.end and quoted.start < end}
    size = sum(end - start for n, (start, end) in enumerate(spans, 1) if n in found)
    enough = len(spans) >= _FEWEST and len(found) <= MOST_PARAGRAPHS and size <= _SHARE * len(text)
    return tuple(sorted(found)) if enough else ()


def any_paragraph(text: str) -> tuple[int, ...]:
    """All paragraphs, for a note that may concern any; () when there are too few or too many."""
    number = len(paragraphs(text))
    return tuple(range(1, number + 1)) if _FEWEST <= number <= MOST_LISTED else ()


def mended(text: str, answer: str, requested: Collection[int]) -> str | None:
    """The text with the paragraphs of the answer in their places; None when one of them cannot be placed.

    The answer holds `<paragraph n="3">` elements with numbers among `requested`, each once, and at least one.
    """
    changed = _changed(answer)
    if not changed or not set(changed) <= set(requested):
        return None
    spans = [match.span() for match in _PARAGRAPH.finditer(text)]
    old = [text[start:end] for start, end in spans]
    if any(n > len(old) or not _fits(changed[n], n, old) for n in changed):
        return None
    parts, at = [], 0
    for n, (start, end) in enumerate(spans, 1):
        if n in changed:
            indent = _INDENT.match(old[n - 1])
            parts += [text[at:start], indent[0] if indent else "", changed[n].strip()]
            at = end
    return "".join((*parts, text[at:]))


def _changed(answer: str) -> dict[int, str]:
    """The paragraphs of an answer by their numbers; {} when its elements are not in order."""
    tags = list(_TAG.finditer(answer))
    if not tags or len(tags) % 2:
        return {}
    found: dict[int, str] = {}
    for opening, closing in zip(tags[::2], tags[1::2], strict=True):
        number = _OPENS.fullmatch(opening[0])
        if number is None or closing[0] != _CLOSES or int(number[1]) in found:
            return {}
        found[int(number[1])] = answer[opening.end() : closing.start()]
    around = sum(len(part.strip()) for part in _outside(answer, tags))
    return found if around <= _AROUND else {}


def _outside(answer: str, tags: Sequence[re.Match[str]]) -> Iterator[str]:
    yield answer[: tags[0].start()]
    for closing, opening in pairwise(tags[1:]):
        if closing[0] == _CLOSES:
            yield answer[closing.end() : opening.start()]
    yield answer[tags[-1].end() :]


def _fits(new: str, number: int, old: Sequence[str]) -> bool:
    """True when the text can replace that paragraph: it is not more similar to another one."""
    words, before = new.strip(), old[number - 1].strip()
    if not words or len(words) > _GROWS * len(before) + _SPARE:
        return False
    shape = bigrams(words)
    own = likeness(shape, bigrams(before))
    others = (likeness(shape, bigrams(each.strip())) for n, each in enumerate(old, 1) if n != number)
    return all(other < ALIKE or other <= own for other in others)

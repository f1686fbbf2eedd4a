"""Origins word by word: the words of a version that stayed, came back, or were inserted by the writer or by a model's
rewrite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from typing import Final

from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.origin import OriginSpan, ParagraphOrigin, Rewrite
from flowcabal_tui.domain.text import han_count, word_count

_TOKEN: Final = re.compile(r"[A-Za-z0-9\u00c0-\u024f]+(?:['’\-][A-Za-z0-9\u00c0-\u024f]+)*|[^\S\n]+|\n|.", re.DOTALL)
"""A word, or one character where words are not set apart, as in Chinese."""
_MOST: Final = 4_000_000
"""Comparisons of tokens with tokens in one changed stretch; a larger one counts as rewritten."""
_MOSTLY: Final = 0.5
"""A sentence that has more than this share of its words in common with older text is that text, changed."""
_RUN_WORDS: Final = 3
_RUN_LETTERS: Final = 12
_RUN_HAN: Final = 6
"""In other sentences, only runs of this many Han characters, or `_RUN_WORDS` words with `_RUN_LETTERS` letters, are
old."""
SAYING: Final = 4
"""Least characters of a line that returns for it to count as the same line."""
_REWRITES: Final = 64
"""Maximum accepted rewrites, newest first, that are compared with one version."""
Run = tuple[int, int, int]
"""Characters that are equal: where in the old text, where in the new one, how many."""


@dataclass(frozen=True, slots=True)
class TracedLine:
    """A line of a version; `spans` cover its text."""

    text: str
    spans: tuple[OriginSpan, ...]


def traced_words(
    old: Sequence[TracedLine],
    text: str,
    own: ParagraphOrigin,
    known: Mapping[str, TracedLine],
    rewrites: Sequence[Rewrite],
) -> list[TracedLine]:
    """The lines of a version with the origin of every word: new words belong to `own`, unless they come from a rewrite.

    `known` are earlier lines by their text, for those that return.
    """
    lines, found = text.split("\n"), list[TracedLine]()
    matcher = SequenceMatcher(None, [line.text for line in old], lines, autojunk=False)
    for change, i, i_end, j, j_end in matcher.get_opcodes():
        if change == "equal":
            found += old[i:i_end]
            continue
        for line in _changed(old[i:i_end], lines[j:j_end], own):
            back = known.get(line.text) if len(line.text.strip()) >= SAYING else None
            found.append(back or line)
    is_new = any(span.origin is own for line in found for span in line.spans)
    return _attributed(found, text, own, rewrites) if is_new and rewrites else found


def equal_runs(old: str, new: str) -> Iterator[Run]:
    """The runs of whole words that two texts have in common, in order: lines first, then words."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    at, to = _offsets(a), _offsets(b)
    for change, i, i_end, j, j_end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if change == "equal":
            yield at[i], to[j], at[i_end] - at[i]
        elif change == "replace":
            for start, place, length in _equal_words("".join(a[i:i_end]), "".join(b[j:j_end])):
                yield at[i] + start, to[j] + place, length


def _equal_words(old: str, new: str) -> Iterator[Run]:
    a, b = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(a) * len(b) > _MOST:
        return
    at, to = _offsets(a), _offsets(b)
    for i, j, count in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        if count:
            yield at[i], to[j], at[i + count] - at[i]


def _offsets(parts: Sequence[str]) -> list[int]:
    return list(accumulate(map(len, parts), initial=0))


def _changed(old: Sequence[TracedLine], lines: Sequence[str], own: ParagraphOrigin) -> list[TracedLine]:
    """Lines that replaced others."""
    new = "\n".join(lines)
    spans = list(_flat(old))
    found = [OriginSpan(0, len(new), own)] if new else []
    for start, place, length in equal_runs("\n".join(line.text for line in old), new):
        kept = [
            OriginSpan(
                max(span.start, start) + place - start, min(span.end, start + length) + place - start, span.origin
            )
            for span in spans
            if span.start < start + length and span.end > start
        ]
        found = _laid_over(found, kept)
    return [_without_chance(line, own) for line in _by_line(lines, found)]


def _without_chance(line: TracedLine, own: ParagraphOrigin) -> TracedLine:
    """The line with words that match older text only by chance marked as new."""
    older = list(_older(line, own))
    by_chance = [
        OriginSpan(max(start, sentence.start), min(end, sentence.end), own)
        for sentence in sentences(line.text)
        if not _is_mostly(line.text, sentence, older)
        for start, end in older
        if start < sentence.end and end > sentence.start and not _is_long(line.text[start:end])
    ]
    return TracedLine(line.text, _merged(_laid_over(line.spans, by_chance))) if by_chance else line


def _older(line: TracedLine, own: ParagraphOrigin) -> Iterator[tuple[int, int]]:
    """The runs of the line that are not new, regardless of the origin of each part."""
    for is_new, spans in groupby(line.spans, key=lambda span: span.origin is own):
        run = list(spans)
        if not is_new:
            yield run[0].start, run[-1].end


def _is_mostly(text: str, sentence: Span, older: Iterable[tuple[int, int]]) -> bool:
    shared = sum(_words(text[max(start, sentence.start) : min(end, sentence.end)]) for start, end in older)
    return shared > _MOSTLY * _words(text[sentence.start : sentence.end])


def _words(text: str) -> int:
    """The number of Han characters and words of other scripts; of punctuation marks if there are neither, so that no
    sentence counts 0."""
    return word_count(text) or len(text.strip())


def _is_long(run: str) -> bool:
    words = word_count(run) - han_count(run)
    return han_count(run) >= _RUN_HAN or (words >= _RUN_WORDS and sum(map(str.isalnum, run)) >= _RUN_LETTERS)


def _whole(text: str, origin: ParagraphOrigin) -> TracedLine:
    return TracedLine(text, (OriginSpan(0, len(text), origin),) if text else ())


def _flat(lines: Sequence[TracedLine]) -> Iterator[OriginSpan]:
    """The spans of lines as spans of their joined text; a line break belongs to none."""
    at = 0
    for line in lines:
        for span in line.spans:
            yield OriginSpan(at + span.start, at + span.end, span.origin)
        at += len(line.text) + 1


def _laid_over(below: Sequence[OriginSpan], above: Sequence[OriginSpan]) -> list[OriginSpan]:
    """`below` with the spans of `above` laid over it."""
    found = list(below)
    for top in above:
        cut: list[OriginSpan] = []
        for span in found:
            if span.end <= top.start or span.start >= top.end:
                cut.append(span)
                continue
            cut += [replace(span, end=top.start)] if span.start < top.start else []
            cut += [replace(span, start=top.end)] if span.end > top.end else []
        found = [*cut, top]
    return sorted(found, key=lambda span: span.start)


def _by_line(lines: Sequence[str], spans: Sequence[OriginSpan]) -> list[TracedLine]:
    found, at = [], 0
    for line in lines:
        inside = [
            OriginSpan(max(span.start, at) - at, min(span.end, at + len(line)) - at, span.origin)
            for span in spans
            if span.start < at + len(line) and span.end > at
        ]
        found.append(TracedLine(line, _merged(inside)))
        at += len(line) + 1
    return found


def _merged(spans: Sequence[OriginSpan]) -> tuple[OriginSpan, ...]:
    found: list[OriginSpan] = []
    for span in spans:
        if found and found[-1].origin == span.origin and found[-1].end == span.start:
            found[-1] = replace(found[-1], end=span.end)
        else:
            found.append(span)
    return tuple(found)


def _attributed(
    lines: Sequence[TracedLine], text: str, own: ParagraphOrigin, rewrites: Sequence[Rewrite]
) -> list[TracedLine]:
    """The lines with new words of an accepted rewrite attributed to the model."""
    spans = list(_flat(lines))
    for rewrite in sorted(rewrites, key=lambda each: each.at, reverse=True)[:_REWRITES]:
        mine = [span for span in spans if span.origin is own]
        if not mine:
            break
        by_model = replace(own, author="model", model=rewrite.model, instruction=rewrite.instruction, at=rewrite.at)
        put_in = list(_put_in(rewrite, own))
        for start, place, length in equal_runs(rewrite.changed, text):
            moved = [(max(a, start) + place - start, min(b, start + length) + place - start) for a, b in put_in]
            above = [
                OriginSpan(max(a, span.start), min(b, span.end), by_model)
                for a, b in moved
                for span in mine
                if max(a, span.start) < min(b, span.end)
            ]
            spans = _laid_over(spans, above)
    return _by_line([line.text for line in lines], spans)


def _put_in(rewrite: Rewrite, own: ParagraphOrigin) -> Iterator[tuple[int, int]]:
    """The words that the rewrite added, as places in its text."""
    earlier = replace(own, version=0)
    before = [_whole(line, earlier) for line in rewrite.text[rewrite.start : rewrite.end].split("\n")]
    for span in _flat(_changed(before, rewrite.after.split("\n"), own)):
        if span.origin is own:
            yield rewrite.start + span.start, rewrite.start + span.end

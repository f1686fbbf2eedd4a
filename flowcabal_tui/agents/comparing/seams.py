"""The seams of a composed text: asks a model once for the sentences on both sides, and for nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pydantic import BaseModel

from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.domain.answer_schema import StructuredAnswer, long_text
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.prompt_parts import escaped
from flowcabal_tui.domain.text import clean
from flowcabal_tui.headings.scenes import lines_of

PURPOSE: Final = "comparison.seams"
_LONGER: Final = 3
_ROOM: Final = 200
"""A new sentence may be `_LONGER` times as long as the old one, plus this many characters."""
_TASK: Final = {
    "en": (
        "Paragraphs of several drafts of one scene were put together. At each seam, the last sentence before it and "
        "the first sentence after it may not fit together: a name that is introduced twice or not at all, a pronoun "
        "without a person, a jump in time or place, a tense that changes. Change those two sentences only where "
        "needed, as little as possible, in the voice of the text. Add no event. Return for each seam its number, and "
        "the two sentences as they shall be; leave a seam out that needs no change."
    ),
    "zh": (
        "下面的正文由同一场景的几份候选稿拼接而成。每个接缝处，前一段的最后一句与后一段的第一句可能接不上：人名重复介绍或没有介绍，"
        "代词没有着落，时间或地点突然跳开，时态或称呼变化。只在必要时改动这两句，改得越少越好，保持原文的语气，不要添加情节。"
        "请给出每个需要改动的接缝的编号，以及改后的两句；不需要改动的接缝不要列出。"
    ),
}


class SeamChange(BaseModel):
    """The new wording of the two sentences at a seam."""

    seam: int
    before: str = long_text(description="The last sentence before the seam.")
    after: str = long_text(description="The first sentence after the seam.")


class SeamChanges(StructuredAnswer):
    """The seams that need a change."""

    seams: list[SeamChange]


@dataclass(frozen=True, slots=True)
class Seam:
    """A border between paragraphs of two candidates: the sentences on both sides, as places in the text."""

    number: int
    before: tuple[int, int]
    after: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SeamHunk:
    """A sentence of the text and its replacement."""

    start: int
    end: int
    before: str
    after: str


def seams_of(text: str, origins: Sequence[Digest | None]) -> tuple[Seam, ...]:
    """The seams of a text whose paragraphs come from `origins` (None: the writer)."""
    found: list[Seam] = []
    for number, (left, right) in enumerate(pairwise(lines_of(text))):
        if number + 1 >= len(origins) or origins[number] == origins[number + 1]:
            continue
        last, first = sentences(text[slice(*left)])[-1:], sentences(text[slice(*right)])[:1]
        if last and first:
            ends = (left[0] + last[0].start, left[0] + last[0].end)
            begins = (right[0] + first[0].start, right[0] + first[0].end)
            found.append(Seam(len(found) + 1, ends, begins))
    return tuple(found)


def seam_request(text: str, seams: Sequence[Seam], language: str) -> ModelRequest:
    """The whole text with its seams marked, and the sentences of each."""
    parts, at = [], 0
    for seam in seams:
        parts += [escaped(text[at : seam.before[1]]), f'<seam n="{seam.number}"/>']
        at = seam.before[1]
    parts.append(escaped(text[at:]))
    listed = [
        {"seam": seam.number, "before": text[slice(*seam.before)], "after": text[slice(*seam.after)]} for seam in seams
    ]
    words = (
        f"<draft>\n{''.join(parts)}\n</draft>\n\n<sentences>\n{escaped(json.dumps(listed, ensure_ascii=False))}\n"
        f"</sentences>\n\n{_TASK['zh' if language.startswith('zh') else 'en']}"
    )
    return ModelRequest((Message("user", words),), PURPOSE)


def hunks_of(text: str, seams: Sequence[Seam], answer: SeamChanges) -> tuple[SeamHunk, ...]:
    """The sentences that change; answers that are empty, too long or of no seam are left out."""
    known = {seam.number: seam for seam in seams}
    found: dict[int, SeamHunk] = {}
    for change in answer.seams:
        seam = known.get(change.seam)
        if seam is None:
            continue
        for (start, end), changed in ((seam.before, change.before), (seam.after, change.after)):
            old, new = text[start:end], " ".join(clean(changed).split())
            if new and new != old and len(new) <= _LONGER * len(old) + _ROOM:
                found[start] = SeamHunk(start, end, old, new)
    return tuple(found[start] for start in sorted(found))


def with_hunks(text: str, hunks: Sequence[SeamHunk]) -> str:
    """The text with these replacements. Raises ValueError when the text has changed."""
    for hunk in sorted(hunks, key=lambda each: each.start, reverse=True):
        if text[hunk.start : hunk.end] != hunk.before:
            raise ValueError(hunk.before)
        text = text[: hunk.start] + hunk.after + text[hunk.end :]
    return text

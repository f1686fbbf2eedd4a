"""Finds signs, without a model, that an answer is not a draft: it is far too short, repeats itself, retells or
lists."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId
from flowcabal_tui.domain.text import word_count
from flowcabal_tui.domain.workflow import Blocks, Node, PromptParams, VirtualBlock, Workflow
from flowcabal_tui.headings.rules import heading_of
from flowcabal_tui.locale import _
from flowcabal_tui.store import Store

WINDOW: Final = 12
"""Chinese characters or words in a row that count as the same words again."""
REPEATED: Final = 0.15
COPIED: Final = 0.25
SHORTEST: Final = 0.1
"""A text below this share of the usual length of earlier chapters is doubtful."""
USUAL_OF: Final = 20
_LEAST_KNOWN: Final = 3
"""Chapters that are needed to know the usual length."""
_LEAST: Final = 60
"""Characters or words below which nothing repeats or retells."""
_UNITS: Final = re.compile(r"[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]|[^\W_]+")
_MARKED: Final = re.compile(r"^\s{0,3}#{1,6}\s+(?P<title>.+?)\s*#*$")
_LABELLED: Final = re.compile(r'^<[a-z-]+ (?:label|title)="(?P<title>[^"<>]*)">$')
_PROSE: Final = ("chapter", "scene")


class Doubts:
    """Implements the runner's `DoubtsPort` over a project's book."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def doubt(
        self,
        workflow: Workflow | None,
        node: NodeId,
        params: PromptParams,
        given: Sequence[str],
        text: str,
        chapter: ChapterId | None,
        generation: Generation,
    ) -> str:
        """See `DoubtsPort.doubt`."""
        is_prose = params.review != "always" and workflow is not None and _writes_prose(workflow, node)
        if is_prose and chapter is not None:
            view = await self._store.memory.view(chapter, generation)
            usual = _usual([each.length for each in await view.chapters()])
            if (length := word_count(text)) < usual * SHORTEST:
                words = _("The text is far too short: {n}; the previous chapters usually have {usual}.")
                return words.format(n=f"{length:,}", usual=f"{usual:,}")
        return await asyncio.to_thread(_doubt, text, tuple(given), is_prose)


def _writes_prose(workflow: Workflow, node: NodeId) -> bool:
    """True when the node writes the text that the workflow is for, or a draft of it; not a plan, a list or an
    opening."""
    blocks = (block for each in workflow.nodes for block in _blocks(each))
    readings = [block for block in blocks if isinstance(block, VirtualBlock) and block.node == node]
    return workflow.keep.kind in _PROSE and all(block.part == "draft" for block in readings)


def _blocks(node: Node) -> Blocks:
    if node.kind != "prompt":
        return ()
    params = PromptParams.model_validate(node.params)
    return (*params.system, *params.prompt)


def _usual(lengths: Sequence[int]) -> int:
    """The median length of the last chapters that are written; 0 when they are too few."""
    written = [length for length in lengths if length]
    return int(median(written[-USUAL_OF:])) if len(written) >= _LEAST_KNOWN else 0


def _doubt(text: str, given: tuple[str, ...], is_prose: bool) -> str:
    units = _words(text)
    if len(units) >= _LEAST and (share := repeated(units)) >= REPEATED:
        return _("The text repeats itself: {percent} % of it occurs earlier in it.").format(percent=int(share * 100))
    if len(units) >= _LEAST and (share := copied(units, map(_words, given))) >= COPIED:
        return _("The text repeats its prompt: {percent} % of it is copied from there.").format(
            percent=int(share * 100)
        )
    if is_prose and (heading := more_headings(text, given)):
        return _("The text ends with a list of headings: “{heading}”.").format(heading=heading[:60])
    return ""


def repeated(units: Sequence[str]) -> float:
    """The share of a text that repeats an earlier part of it, in stretches of `WINDOW` units and more."""
    seen: set[tuple[str, ...]] = set()
    covered = bytearray(len(units))
    for at, window in _windows(units):
        if window in seen:
            covered[at : at + WINDOW] = b"\1" * WINDOW
        seen.add(window)
    return sum(covered) / max(1, len(units))


def copied(units: Sequence[str], given: Iterable[Sequence[str]]) -> float:
    """The share of a text that also occurs in another one."""
    known = {window for text in given for _at, window in _windows(text)}
    covered = bytearray(len(units))
    for at, window in _windows(units):
        if window in known:
            covered[at : at + WINDOW] = b"\1" * WINDOW
    return sum(covered) / max(1, len(units))


def more_headings(text: str, given: Iterable[str]) -> str:
    """The second heading, or a heading of the prompt, in a text that should contain a single chapter; "" if there is
    none.

    A line counts as a heading if the rules of import recognise it as one, if it opens a part like those of a prompt, if
    it is marked as a heading and is a number, or if it is a heading of the prompt.
    """
    lines = (line for part in given for line in part.splitlines())
    known = {found["title"] for line in lines if (found := _MARKED.match(line) or _LABELLED.match(line))}
    heads = [line.strip() for line in text.splitlines() if _heads(line, known)]
    return heads[1] if len(heads) > 1 else ""


def _heads(line: str, known: set[str]) -> bool:
    if _LABELLED.match(line.strip()):
        return True
    marked = _MARKED.match(line)
    if marked and (marked["title"] in known or marked["title"].strip(".: ").isdecimal()):
        return True
    found = heading_of(marked["title"] if marked else line)
    return found is not None and found.trust == "sure" and found.number is not None and found.kind == "chapter"


def _words(text: str) -> list[str]:
    return [match[0].lower() for match in _UNITS.finditer(html.unescape(text))]


def _windows(units: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    return ((at, tuple(units[at : at + WINDOW])) for at in range(len(units) - WINDOW + 1))

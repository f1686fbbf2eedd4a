"""Traces a line of a chapter back to its version, run and sources by comparing versions, oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Final

from flowcabal_tui.domain.comparison import PartSource, paragraphs_of, words_digest
from flowcabal_tui.domain.errors import Gone, UnknownName
from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, OutputId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.manuscript import ChapterVersion
from flowcabal_tui.domain.memory import Curated
from flowcabal_tui.domain.origin import BlamedLine, ParagraphOrigin, Provenance, Written
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.blame_words import SAYING, TracedLine, traced_words
from flowcabal_tui.runner.fold import AttemptFold, fold
from flowcabal_tui.store import Store
from flowcabal_tui.store.runs.comparisons import StoredPart

_ALIKE: Final = 0.5
"""The ratio of `difflib` from which a new line counts as an old one that was changed."""
_WIDEST: Final = 40
"""Lines of a changed stretch that are compared with each other; in a wider one, only those at the same place."""


class Blame:
    """Finds the origins of lines. Reads only; lives on the engine's loop."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def lines(self, chapter: ChapterId) -> tuple[BlamedLine, ...]:
        """Every line of the newest text that is not blank."""
        found, start = [], 0
        lines, words = await self._origins(chapter, None)
        parts = await self._store.comparisons.parts(chapter)
        for number, (origin, line) in enumerate(zip(lines, words, strict=True), 1):
            if origin.text.strip():
                part = await self._part(origin, parts) if parts else None
                found.append(BlamedLine(number, start, origin.text, _named(origin, line), line.spans, part))
            start += len(origin.text) + 1
        return tuple(found)

    async def _part(self, origin: ParagraphOrigin, parts: Mapping[Digest, StoredPart]) -> PartSource | None:
        """The candidate that contributed a line, or an earlier form of it, to a chosen text."""
        for each in origin.chain:
            part = parts.get(words_digest(each.text))
            if part is None:
                continue
            before = "" if each is origin else each.text
            if part.changed:
                with suppress(Gone):  # the candidate was purged
                    rows = paragraphs_of(await self._store.journal.text(part.candidate))
                    before = rows[part.number] if part.number < len(rows) else before
            return PartSource(part.paragraph, part.candidate, part.maker, before)
        return None

    async def provenance(self, chapter: ChapterId, number: int) -> Provenance:
        """The origin of a line: its author and the receipt. Raises UnknownName when there is no such line."""
        lines = await self.lines(chapter)
        line = next((each for each in lines if each.number == number), None)
        if line is None:
            last = lines[-1].number if lines else 0
            raise UnknownName(
                _("The chapter has no text in line {n}.").format(n=number),
                _("Its last line with text is {n}.").format(n=last) if last else _("It is empty."),
            )
        kept = next((origin for origin in line.origin.chain if origin.run), None)
        return Provenance(line, await self._written(kept) if kept else None)

    async def _origins(self, chapter: ChapterId, last: int | None) -> tuple[list[ParagraphOrigin], list[TracedLine]]:
        """The origin of every line of a version (None: the newest), and of its words."""
        versions = [each for each in reversed(await self._store.book.versions(chapter))
                    if last is None or each.version <= last]  # fmt: skip
        texts = await self._store.journal.texts(tuple({version.digest for version in versions}))
        outputs = {output.id: output for output in await self._store.book.kept(chapter)}
        rewrites = await self._store.rewrites.of(chapter)
        lines: list[ParagraphOrigin] = []
        words: list[TracedLine] = []
        known: dict[str, ParagraphOrigin] = {}
        known_words: dict[str, TracedLine] = {}
        for version in versions:
            for donor, until in await self._store.edits.donors(version):  # chapters that were split or merged
                donated, donated_words = await self._origins(donor, until)
                known |= {origin.text: origin for origin in donated}
                known_words |= {line.text: line for line in donated_words}
            text = texts[version.digest]
            new = [_origin(version, line, outputs) for line in text.split("\n")]
            lines = await asyncio.to_thread(traced, lines, new, known)
            own = _origin(version, "", outputs)
            accepted = [each for each in rewrites if version.author == "human" and each.at <= version.at]
            words = await asyncio.to_thread(traced_words, words, text, own, known_words, accepted)
            known |= {origin.text: origin for origin in lines if origin.text not in known}
            known_words |= {line.text: line for line in words if line.text not in known_words}
        return lines, words

    async def _written(self, kept: ParagraphOrigin) -> Written | None:
        """The first attempt of the run, in the order of its log, whose text has the line.

        An output served from an earlier run is looked up there.
        """
        nodes = fold(await self._store.journal.history(kept.run)).nodes
        if not nodes[kept.node].attempts:
            return await self._written_earlier(kept, nodes[kept.node].digest)
        cut_off = nodes[kept.node].attempts.get(kept.attempt)
        if cut_off is not None and not cut_off.done:
            return await self._attempt(kept.run, kept.node, cut_off)
        made = [
            (path, attempt)
            for path, node in nodes.items()
            for _number, attempt in sorted(node.attempts.items())
            if attempt.done
        ]
        texts = await self._store.journal.texts(tuple({Digest(attempt.done["digest"]) for _path, attempt in made}))
        wanted = kept.text.strip()
        for path, attempt in made:
            done = attempt.done
            text = Output(texts[Digest(done["digest"])], done.get("form", "text")).text
            is_kept = (path, attempt.number) == (kept.node, kept.attempt)
            if is_kept or wanted in map(str.strip, text.split("\n")):
                return await self._attempt(kept.run, path, attempt)
        return None

    async def _written_earlier(self, kept: ParagraphOrigin, output: Digest) -> Written | None:
        workflow = (await self._store.runs.workflow_of(kept.run)).id
        chapter = (await self._store.runs.run_request(kept.run)).chapter
        for version in await self._store.versions.of(workflow, chapter, kept.node):
            if version.digest == output and version.run and version.run != kept.run:
                return await self._written(replace(kept, run=version.run, attempt=version.attempt))
        return None

    async def _attempt(self, run: RunId, path: NodeId, found: AttemptFold) -> Written:
        workflow = await self._store.runs.workflow_of(run)
        title = next((node.title for node in workflow.nodes if node.id == path), path.rsplit("/", 1)[-1])
        attempt = found.attempt("")
        return Written(
            run=run,
            node=path,
            title=title,
            attempt=attempt.number,
            author=attempt.author,
            model=attempt.model,
            workflow=workflow.name or workflow.id,
            receipt=attempt.receipt,
        )


def _named(origin: ParagraphOrigin, line: TracedLine) -> ParagraphOrigin:
    """The origin of a line's last change: a model, if everything changed are words of its rewrite."""
    changed = [span.origin for span in line.spans if span.origin.version == origin.version]
    if origin.author != "human" or not changed or any(not one.model for one in changed):
        return origin
    return replace(origin, author="model", model=changed[-1].model, instruction=changed[-1].instruction)


def _origin(version: ChapterVersion, text: str, outputs: Mapping[OutputId, Curated]) -> ParagraphOrigin:
    origin = ParagraphOrigin(version.chapter, version.version, version.author, version.at, text, version.note)
    output = outputs.get(version.output) if version.output else None
    if output is None or not output.run:
        return origin
    return replace(origin, run=RunId(output.run), node=NodeId(output.node), attempt=output.attempt)


def traced(
    old: Sequence[ParagraphOrigin], new: Sequence[ParagraphOrigin], known: Mapping[str, ParagraphOrigin]
) -> list[ParagraphOrigin]:
    """The lines of a version with their origins: unchanged lines keep theirs, lines that return (`known`) get it back,
    changed lines refer to the earlier one."""
    found: list[ParagraphOrigin] = []
    matcher = SequenceMatcher(None, [line.text for line in old], [line.text for line in new], autojunk=False)
    for change, i, i_end, j, j_end in matcher.get_opcodes():
        if change == "equal":
            found += old[i:i_end]
            continue
        for place, line in enumerate(new[j:j_end]):
            back = known.get(line.text) if len(line.text.strip()) >= SAYING else None
            found.append(back or replace(line, before=_changed(line.text, place, old[i:i_end])))
    return found


def _changed(text: str, place: int, gone: Sequence[ParagraphOrigin]) -> ParagraphOrigin | None:
    """The most similar of the removed lines; None when none is similar enough."""
    candidates = gone if len(gone) <= _WIDEST else gone[place : place + 1]
    best, likeness = None, _ALIKE
    for origin in candidates:
        matcher = SequenceMatcher(None, origin.text, text, autojunk=False)
        if text.strip() and matcher.real_quick_ratio() > likeness and matcher.quick_ratio() > likeness:
            ratio = matcher.ratio()
            if ratio > likeness:
                best, likeness = origin, ratio
    return best

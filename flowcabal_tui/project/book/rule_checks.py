"""Runs the rules that need no model over a text and the book before it, in the helper process."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from flowcabal_tui.agents.checking.rules.kept import Earlier, findings, learn, unread
from flowcabal_tui.agents.checking.rules.material import Declared, NarratedText
from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.domain.errors import HelperFailed
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.run import AngleCheck, CheckFinding, Compared, Quotation
from flowcabal_tui.locale import _
from flowcabal_tui.project.workshop import Workshop

_ROUNDS: Final = 3
_MOST: Final = 8_000_000
"""Characters or words of the book that are compared, its newest chapters first."""
_AT_ONCE: Final = 16
"""Chapters that the helper process reads before other work has its turn."""


class RuleChecks:
    """Checks texts by rule; see `agents/checking/rules`."""

    def __init__(self, workshop: Workshop, off: Callable[[], Collection[str]]) -> None:
        """`off` are the names of the rules that are off in this book."""
        self._workshop, self._off = workshop, off

    @property
    def off(self) -> tuple[str, ...]:
        """The rules that are off in this book."""
        return tuple(sorted(self._off()))

    async def check(self, view: MemoryView, text: str, uri: str, title: str) -> tuple[AngleCheck, ...]:
        """The findings of the rules, except waived ones; "not checked" when the helper process fails."""
        earlier = await self._earlier(view)
        try:
            found = await self._findings(view, NarratedText(text, view.language, uri, title), earlier)
        except HelperFailed as error:
            return (AngleCheck("rules", "not checked", error.title),)
        waived = await view.waived()
        kept = tuple(each for each in found if each.signature not in waived)
        left = len(await view.chapters()) - len(earlier.chapters)
        detail = _("The first {n} chapters were not compared.").format(n=left) if left else ""
        compared = Compared(statements=len(sentences(text)))
        return (AngleCheck("rules", "found" if kept else "passed", detail, kept, compared),)

    async def _earlier(self, view: MemoryView) -> Earlier:
        entities, chapters, length = await view.entities(), [], 0
        for chapter in reversed(await view.chapters()):
            length += chapter.length
            if length > _MOST:
                break
            if chapter.digest is not None:
                chapters.append((chapter.digest, f"manuscript/{chapter.id}", _label(chapter, view)))
        return Earlier(
            view.language,
            tuple(reversed(chapters)),
            entities,
            (*(_note(entity, view.language) for entity in entities if entity.note), *await _facts(view)),
            tuple(each for each in await view.relations() if each.until is None),
            self.off,
        )

    async def _findings(self, view: MemoryView, draft: NarratedText, earlier: Earlier) -> tuple[CheckFinding, ...]:
        """Runs the rules; chapters missing in the process's cache are read again. Raises HelperFailed."""
        for _round in range(_ROUNDS):
            found = await self._workshop.do(findings, draft, earlier)
            if found is not None:
                return found
            missing = set(await self._workshop.do(unread, earlier))
            chapters = [chapter for chapter in await view.chapters() if chapter.digest in missing]
            for start in range(0, len(chapters), _AT_ONCE):
                some = chapters[start : start + _AT_ONCE]
                texts = await view.chapter_texts([chapter.id for chapter in some])
                read = {chapter.digest: texts[chapter.id] for chapter in some if chapter.digest is not None}
                await self._workshop.do(learn, earlier.language, read)
        raise HelperFailed("memory", _("The book has too many chapters to check by rule in memory."))


def _label(chapter: Chapter, view: MemoryView) -> str:
    return chapter_label(chapter.position, chapter.title, view.language)


def _note(entity: Entity, language: str) -> Declared:
    uri = f"entities/{ENTITY_FOLDERS[entity.kind]}/{entity.id}"
    source = Quotation(entity.note, uri, 0, len(entity.note), entity.name)
    return Declared(entity.id, NarratedText(entity.note, language), source)


async def _facts(view: MemoryView) -> list[Declared]:
    """Valid facts as notes about their first subject, with the words that state them."""
    titles = {chapter.id: _label(chapter, view) for chapter in await view.chapters()}
    return [
        Declared(
            fact.about[0],
            NarratedText(fact.text, view.language),
            _quotation(evidence, titles.get(evidence.chapter, "")),
        )
        for fact in await view.facts()
        if fact.until is None and fact.about
        for evidence in fact.evidence[-1:]
    ]


def _quotation(evidence: Evidence, title: str) -> Quotation:
    return Quotation(evidence.sentence, f"manuscript/{evidence.chapter}", evidence.start, evidence.end, title)

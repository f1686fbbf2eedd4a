"""Proofs chapters by rule, in a helper process; stores which rules are off in this book."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

from flowcabal_tui.domain.errors import UnknownName, available
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proofing import ON_REQUEST, ProofedChapter, ProofMark, ProofRule
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.proofing.rules import proof, proof_chapters, rules_for
from flowcabal_tui.settings.project_file import ProjectSettings, ProofingSettings

_AROUND: Final = 24
"""Characters on each side of a mark that are shown with it."""


class Proofing:
    """Proofs texts. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase) -> None:
        self._base, self._store = base, base.store

    @property
    def rules(self) -> tuple[ProofRule, ...]:
        """The rules that are on in this book."""
        known = self._base.settings.proofing
        return tuple(
            rule
            for rule in rules_for(self._base.language)
            if rule not in known.off and (rule not in ON_REQUEST or rule in known.on)
        )

    @property
    def off(self) -> tuple[ProofRule, ...]:
        """The rules that were switched off in this book."""
        return tuple(rule for rule in rules_for(self._base.language) if rule in self._base.settings.proofing.off)

    async def proof(self, chapters: Sequence[ChapterId], rules: Sequence[ProofRule]) -> tuple[ProofedChapter, ...]:
        """The marks of the chapters, including chapters without any. Raises HelperFailed."""
        there = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        wanted = [chapter for chapter in there if not chapters or chapter.id in chapters]
        chosen = tuple(rules) or self.rules
        read = there if "repeats" in chosen else wanted
        texts = {chapter.position: await self._store.book.text(chapter.id, chapter.version) for chapter in read}
        work = self._base.workshop.do(
            proof_chapters, texts, tuple(chapter.position for chapter in wanted), self._base.language, chosen
        )
        marks = await work
        return tuple(
            ProofedChapter(
                chapter.id,
                chapter.position,
                chapter.title,
                chapter.version,
                marks[chapter.position],
                tuple(_around(texts[chapter.position], mark) for mark in marks[chapter.position]),
            )
            for chapter in wanted
        )

    async def proof_text(self, text: str) -> tuple[ProofMark, ...]:
        """The marks of the enabled rules, except for repetitions across the book."""
        rules = tuple(rule for rule in self.rules if rule != "repeats")
        return await self._base.workshop.do(proof, text, self._base.language, rules) if rules else ()

    async def switch(self, rule: str, *, on: bool) -> None:
        """Writes into the project's file which rules are off. Raises UnknownName or SettingsError."""
        known = get_args(ProofRule)
        if rule not in known:
            raise UnknownName(_("There is no rule {name}.").format(name=clean_line(rule)), "", available(known))
        silent = [] if on or rule in ON_REQUEST else [rule]
        wanted = [rule] if on and rule in ON_REQUEST else []

        def switch(settings: ProjectSettings) -> ProjectSettings:
            off = [each for each in settings.proofing.off if each != rule]
            on_request = [each for each in settings.proofing.on if each != rule]
            proofing = ProofingSettings.model_validate({"off": [*off, *silent], "on": [*on_request, *wanted]})
            return settings.model_copy(update={"proofing": proofing})

        await self._base.settings_file.change(switch)


def _around(text: str, mark: ProofMark) -> tuple[str, str]:
    before = text[max(0, mark.start - _AROUND) : mark.start].rpartition("\n")[2]
    return before, text[mark.end : mark.end + _AROUND].partition("\n")[0]

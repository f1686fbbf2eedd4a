"""Small books for the tests of rules."""

from __future__ import annotations

from collections.abc import Sequence

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.registry import check
from flowcabal_tui.agents.names.names import entity_id
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import CheckFinding


def book(language: str, *chapters: str, people: Sequence[str] = ()) -> EarlierBook:
    """A book of these chapters, whose people have these names."""
    told = tuple(
        NarratedText(text, language, f"manuscript/{number}", str(number))
        for number, text in enumerate(chapters, start=1)
    )
    return EarlierBook(
        language, told, tuple(Entity(entity_id("character", name), "character", name) for name in people)
    )


def found(rule: str, draft: str, earlier: EarlierBook) -> list[CheckFinding]:
    """What one rule finds in a draft."""
    findings = [each for each in check(NarratedText(draft, earlier.language, "draft"), earlier) if each.rule == rule]
    for each in findings:
        assert draft[each.draft.start : each.draft.end] == each.draft.text
        if each.source.text:
            text = earlier.chapters[int(each.source.title) - 1].text
            assert text[each.source.start : each.source.end] == each.source.text
    return findings


def words(rule: str, draft: str, earlier: EarlierBook) -> list[tuple[str, str]]:
    """Its quotations: of the draft and of the book ("" where there is none)."""
    return [(each.draft.text, each.source.text) for each in found(rule, draft, earlier)]

"""The words beside a finding, without a screen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from flowcabal_tui.domain.findings import CheckReport, FindingRow
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import Difference, Finding, Origin, Proposal, ProposalPlace
from flowcabal_tui.domain.run import AngleCheck, Quotation
from flowcabal_tui.domain.story import Story
from flowcabal_tui.locale import use_language
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.finding_lines import finding_lines, report_lines

CAST = Cast((), (), Story(), ())


@pytest.mark.parametrize(("language", "words"), [("en", "intended: 镜中"), ("zh", "有意为之：镜中")])
def test_a_reason_stands_behind_the_colon_of_the_language(language: Any, words: str) -> None:
    use_language(language)
    finding = Finding("looks", "", Quotation("", "", 0, 0), 0.9)
    place = ProposalPlace(ChapterId("c1"), 0, 2)
    proposal = Proposal("finding", place, "左颊", Difference(finding), origin=Origin("rule", "looks"), state="intended")
    first = next(finding_lines(FindingRow(proposal, datetime(2026, 1, 1, tzinfo=UTC), "镜中"), CAST, None, 0))
    assert first.plain.endswith(words)


@pytest.mark.parametrize(("language", "words"), [("en", ": no answer"), ("zh", "：no answer")])
def test_why_a_chapter_was_not_checked_too(language: Any, words: str) -> None:
    use_language(language)
    check = AngleCheck("timeline", "not checked", "no answer")
    lines = list(report_lines(CheckReport(1, 1, 0, (), ((ChapterId("c1"), check),), ()), CAST))
    assert [line for line in lines if line.endswith(words)]

"""The texts and places of a finding."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from flowcabal_tui.domain.findings import CheckReport, FindingRow
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.finding_words import (
    check_title,
    compared_words,
    explained,
    finding_title,
    rate_words,
    report_words,
    sureness,
)
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.proposal_words import state_words
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.passages import QuotedPassage
from flowcabal_tui.tui.story.story_page import StoryPlace
from flowcabal_tui.tui.widgets.role_words import head_words


def is_note(row: FindingRow) -> bool:
    """True for a reader's note."""
    return row.proposal.origin.by == "reader"


def is_of_a_chapter(row: FindingRow) -> bool:
    """True for words of a chapter; False for those of a draft that is not kept."""
    return row.proposal.place is not None and not row.proposal.finding.draft


def place_of(row: FindingRow, cast: Cast, *, there: bool, edit: bool = False) -> StoryPlace | None:
    """The place of one of the passages; None: in no chapter of the book."""
    finding, place = row.proposal.finding, row.proposal.place
    if there:
        chapter, source = finding.against, finding.source
        known = chapter is not None and cast.position(chapter) > 0
        return StoryPlace(chapter, source.start, source.end, edit) if known and chapter and source.text else None
    return None if place is None or finding.draft else StoryPlace(place.chapter, place.start, place.end, edit)


def finding_lines(row: FindingRow, cast: Cast, report: CheckReport | None, marked: int) -> Iterator[Content]:
    """Class, certainty, subjects, usefulness of the check, the writer's decision; then the explanation."""
    if marked:
        yield Content(ngettext("{n} row marked", "{n} rows marked", marked).format(n=marked))
    finding, maker = row.proposal.finding, row.proposal.origin.maker
    rates = [] if report is None or is_note(row) else report.rates
    rated = [rate_words(each) for each in rates if each.check == maker and each.settled]
    parts = [sureness(row.proposal), cast.names(finding.about), *rated]
    if row.proposal.state != "waiting":
        parts.append(_named(state_words(row.proposal), row.word) if row.word else state_words(row.proposal))
    yield head_words(finding_title(row.proposal), *parts)
    yield Content(one_line(explained(row.proposal), 600))


def report_lines(report: CheckReport, cast: Cast) -> Iterator[str]:
    """The checked chapters, the unchecked ones with reasons, and the usefulness of each check."""
    yield report_words(report)
    if compared := compared_words(report):
        yield compared
    if report.unread:
        names = _(", ").join(cast.chapter(each) for each in report.unread)
        yield "\n" + _("Not checked as they are now: {chapters}").format(chapters=names)
    for chapter, check in report.not_checked:
        yield f"{cast.chapter(chapter)}   {_named(check_title(check.angle), check.detail)}"
    if any(rate.settled for rate in report.rates):
        yield "\n" + _("Of the findings with an outcome (mended, intended, changed, not useful):")
        yield from (rate_words(rate) for rate in report.rates if rate.settled)


def _named(name: str, words: str) -> str:
    return _("{name}: {value}").format(name=name, value=one_line(words))


class PassageReader:
    """The two passages of findings, with the text around them; each chapter is read once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._texts: dict[ChapterId, str] = {}

    def forget(self) -> None:
        """Forgets the texts after a change of the book."""
        self._texts.clear()

    async def read(self, row: FindingRow, cast: Cast) -> None:
        """Reads the chapters of a finding that are not loaded yet."""
        for place in (place_of(row, cast, there=False), place_of(row, cast, there=True)):
            if place is not None and place.chapter not in self._texts:
                self._texts[place.chapter] = await self._project.book.chapter_text(place.chapter)

    def of(self, row: FindingRow, cast: Cast) -> tuple[QuotedPassage, QuotedPassage | None]:
        """The checked words and the other passage; without surrounding text while their chapters are not loaded."""
        proposal, finding = row.proposal, row.proposal.finding
        here, there = place_of(row, cast, there=False), place_of(row, cast, there=True)
        title = cast.chapter(proposal.place.chapter) if proposal.place else _("a draft")
        if finding.draft:
            title = _("{chapter}, a draft that is not kept").format(chapter=title)
        first = QuotedPassage(title, proposal.quotation, self._text(here), here.start if here else 0)
        if not finding.source.text:
            return first, None
        named = cast.chapter(finding.against) if finding.against else finding.source.title or finding.source.uri
        return first, QuotedPassage(named, finding.source.text, self._text(there), finding.source.start)

    def _text(self, place: StoryPlace | None) -> str:
        return self._texts.get(place.chapter, "") if place else ""

"""What depends on a change of the tiny books: places of a name, an entry of the list of names, a place to decide."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.agents.impact.renaming import name_places, plan_of
from flowcabal_tui.domain.errors import VersionConflict
from flowcabal_tui.domain.impact import BookChange, Impact, ImpactRow, PatchQuestion, Rename
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Difference, Finding, Origin, Proposal, ProposalId, ProposalPlace, TextEdit
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.project.story.impact_rows import BookText, entity_row, name_row, renamed_entity
from flowcabal_tui.protocol.story import ApplyImpact
from tests.tui.fake_books import Words, chapter_id


class FakeImpact:
    """Finds places by rule, and remembers what was applied."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.applied: ApplyImpact | None = None
        self.patched = False

    def of(self, change: BookChange, people: list[Entity]) -> Impact:
        """The places of a name; of other changes one place that the writer decides."""
        if self.applied is not None:
            return Impact(change)
        if not isinstance(change, Rename):
            return Impact(change, (self._doubt(),))
        plan = plan_of(change, people)
        titles = enumerate(zip(self._words.titles, self._words.texts, strict=False), 1)
        book = [BookText(chapter_id(number), number, title, text, 1) for number, (title, text) in titles]
        rows = [name_row(book[place.text], place) for place in name_places(plan, [each.text for each in book])]
        named = [entity_row(each, renamed_entity(each, plan, ())) for each in people if change.name in each.names]
        return Impact(change, (*named, *rows, self._doubt()))

    def apply(self, command: ApplyImpact, people: list[Entity]) -> None:
        """Raises VersionConflict for other places than those that were shown."""
        if self.of(command.change, people).digest != command.digest:
            raise VersionConflict("The book was changed in the meantime.", "Nothing was changed.")
        self.applied = command

    def _doubt(self) -> ImpactRow:
        first, second = self._words.texts[:2]
        source = Quotation(first[:12], f"manuscript/{chapter_id(1)}", 0, 12, self._words.titles[0])
        why = "改动后的正文已不再这样说。" if self._words.language == "zh" else "The changed text no longer says so."
        finding = Finding("", why, source, 0.5, sure=False)
        place = ProposalPlace(chapter_id(2), 0, 12)
        origin = Origin("rule", "impact")
        proposal = Proposal("finding", place, second[:12], Difference(finding), origin=origin, id=ProposalId("c2:0"))
        if self.patched:
            edit = TextEdit("c2:0", chapter_id(2), second[:12], second[:12].upper())
            proposal = replace(proposal, kind="edit", difference=Difference(edit), origin=Origin("agent", "impact"))
        asks = PatchQuestion("changed", first[:12])
        return ImpactRow(proposal, "value", 2, self._words.titles[1], second[:80], 0, chosen=False, asks=asks)

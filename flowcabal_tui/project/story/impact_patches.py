"""Patches by a model for places that no rule can change: quoted, requested once, and shown as differences."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.impact.patching import PlacePatch, patch_of, patch_request
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, ModelFault, SettingsError
from flowcabal_tui.domain.impact import ImpactRow
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.proposals import Difference, Finding, Origin, TextEdit
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.runs.tally import Tally
from flowcabal_tui.project.story.impact_rows import MAKER

_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True)
class _RowQuestion:
    """A row that a model can decide, and the question about it."""

    row: ImpactRow
    text: str
    place: Span
    request: ModelRequest


class ImpactPatches:
    """Requests patches. Lives on the engine's loop. `texts` are those of the book by the subjects that the rows
    name."""

    def __init__(self, base: ProjectBase) -> None:
        self._models, self._prompts, self._language = base.models, base.prompts, base.language

    async def shown(self, rows: Sequence[ImpactRow], texts: Mapping[str, str]) -> tuple[ImpactRow, ...]:
        """The rows, with the differences that a model returned. Spends nothing.

        A model's difference is initially not ticked. An unusable answer gets a note.
        """
        if not any(row.asks for row in rows):
            return tuple(rows)
        try:
            model, questions = self._models.paid("user"), {each.row.key: each for each in self._questions(rows, texts)}
        except (ModelError, SettingsError):  # no model, or one that is not confirmed, has no answers either
            return tuple(rows)
        found = []
        for row in rows:
            each = questions.get(row.key) if row.asks else None
            answer = await model.stored(each.request, PlacePatch) if each else None
            found.append(_answered(each, answer) if each and answer else row)
        return tuple(found)

    async def quote(self, rows: Sequence[ImpactRow], texts: Mapping[str, str]) -> Quote:
        """The price of the missing patches. Raises ModelError without a model, SettingsError."""
        model, counter, tally = self._models.paid("user"), self._models.counter, Tally()
        for each in self._questions(rows, texts):
            if await model.stored(each.request, PlacePatch) is None:
                answer = counter.count(each.row.proposal.quotation) * 2
                tally.structured("writing", model.endpoint, counter, each.request, PlacePatch, answer)
        return tally.quote()

    async def ask(self, rows: Sequence[ImpactRow], texts: Mapping[str, str]) -> int:
        """Asks about each row, several at a time, and stores the answers; returns the number of unreadable ones.

        Raises ModelError or BudgetExceeded when no further answer is possible; earlier answers are kept.
        """
        model, unread, failed = self._models.paid("user"), 0, list[ModelError | BudgetExceeded]()
        waiting = iter(list(self._questions(rows, texts)))

        async def work() -> None:
            nonlocal unread
            for each in waiting:
                if failed:
                    return
                try:
                    await model.structured(each.request, PlacePatch)
                except (ModelError, BudgetExceeded) as error:
                    if isinstance(error, ModelError) and error.fault is ModelFault.SCHEMA:
                        unread += 1
                    else:
                        failed.append(error)

        await asyncio.gather(*(work() for _worker in range(_AT_ONCE)))
        if failed:
            raise failed[0]
        return unread

    def _questions(self, rows: Sequence[ImpactRow], texts: Mapping[str, str]) -> Iterator[_RowQuestion]:
        for row in rows:
            place = row.proposal.place
            if row.asks is None or place is None:
                continue
            text, span = texts[place.chapter], Span(place.start, place.end)
            yield _RowQuestion(row, text, span, patch_request(self._prompts, row.asks, text, span, self._language))


def _answered(question: _RowQuestion, answer: PlacePatch) -> ImpactRow:
    row, (verdict, words) = question.row, patch_of(question.text, question.place, answer)
    proposal = row.proposal
    if verdict == "patch" and proposal.place is not None:
        edit = TextEdit(proposal.id, proposal.place.chapter, proposal.quotation, words)
        origin = Origin("agent", MAKER)
        return replace(row, proposal=replace(proposal, kind="edit", difference=Difference(edit), origin=origin))
    finding = proposal.difference.after
    remark = _("The model would change nothing here.") if verdict == "same" else _("The model's answer cannot be used.")
    if isinstance(finding, Finding):
        explained = replace(finding, explanation=f"{finding.explanation} {remark}")
        return replace(row, proposal=replace(proposal, difference=Difference(explained)))
    return row

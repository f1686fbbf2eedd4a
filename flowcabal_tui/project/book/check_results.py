"""Stores the findings of checks before they are displayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.defence import SURE
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Difference, Finding, Origin, Proposal, ProposalPlace
from flowcabal_tui.domain.run import AngleCheck, CheckFinding, Evaluation
from flowcabal_tui.domain.text import clean, nearest
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.findings import FindingsChanged
from flowcabal_tui.store import Store

_SURE_BY_RULE: Final = 0.7


class CheckResults:
    """Turns checks into rows of findings. Lives on the engine's loop."""

    def __init__(self, store: Store, emit: Callable[[Event], None]) -> None:
        self._store, self._emit = store, emit

    async def put_chapter(self, chapter: Chapter, text: str, checks: Sequence[AngleCheck]) -> tuple[Proposal, ...]:
        """Stores the findings for the kept text of a chapter; withdraws earlier findings that its rules no longer make.

        A finding whose quotation is not in the text, because an earlier text was checked, is left out.
        """
        if chapter.digest is None:
            return ()
        entities = await self._store.memory.entities()
        found: list[Proposal] = []
        for each in _all(checks):
            start = nearest(text, clean(each.draft.text), each.draft.start)
            if start >= 0:
                found.append(_proposal(each, chapter.id, start, entities))
        by_rules = any(check.angle == "rules" and check.outcome != "not checked" for check in checks)

        def replaced(row: Proposal) -> bool:
            after = row.difference.after
            return by_rules and row.origin.by == "rule" and isinstance(after, Finding) and not after.draft

        raised = await self._store.findings.put_checked(chapter.id, chapter.digest, checks, found, replaced)
        self._emit(FindingsChanged(chapter.id))
        return raised

    async def put_draft(self, node: NodeId, chapter: ChapterId | None, evaluation: Evaluation) -> None:
        """Stores the findings for a draft, replacing those for the node's earlier drafts."""
        entities = await self._store.memory.entities()
        of_none = ChapterId("")
        found = [_proposal(each, chapter or of_none, each.draft.start, entities, node) for each in evaluation.findings]

        def replaced(row: Proposal) -> bool:
            after = row.difference.after
            return isinstance(after, Finding) and after.draft == node

        await self._store.findings.raise_all(found, replaced, [chapter or of_none])
        self._emit(FindingsChanged(chapter))


def _all(checks: Sequence[AngleCheck]) -> Iterator[CheckFinding]:
    return (finding for check in checks for finding in check.findings)


def _proposal(
    found: CheckFinding, chapter: ChapterId, start: int, entities: Sequence[Entity], draft: str = ""
) -> Proposal:
    words = clean(found.draft.text)
    about = tuple(entity.id for entity in named_in(f"{words}\n{found.source.text}", entities))
    sure = found.confidence >= (_SURE_BY_RULE if found.rule else SURE)
    explanation = f"{found.explanation} {found.question}".strip()
    finding = Finding(found.subtype, explanation, found.source, found.confidence, sure, about, draft)
    place = ProposalPlace(chapter, start, start + len(words)) if chapter else None
    origin = Origin("rule" if found.rule else "agent", found.rule or found.angle)
    return Proposal("finding", place, words, Difference(finding), origin=origin)

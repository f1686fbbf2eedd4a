"""The tools that propose: each makes a card for the writer. `permissions.py` decides which may be applied at once."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Final

from pydantic import Field

from flowcabal_tui.agents.builder.refused import EditRefused
from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.conversation.permissions import may_apply
from flowcabal_tui.agents.conversation.ports import BookPort, ChangesPort
from flowcabal_tui.agents.conversation.reading import ReadingTools
from flowcabal_tui.agents.tool_calls import Arguments
from flowcabal_tui.domain.conversation import Permission, Turn
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.memory import Entity, EntityKind, Evidence
from flowcabal_tui.domain.proposals import (
    KIND_OF,
    Change,
    Difference,
    NewName,
    Origin,
    OutlineEdit,
    Proposal,
    ProposalId,
    ProposalPlace,
    Reason,
    TextEdit,
)
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.domain.text import clean, clean_line, digest_of, slug

MAKER: Final = "conversation"
"""The maker of these proposals."""
LONGEST_EDIT: Final = 20_000
_WAITS: Final = "Proposed. It waits for the writer, and nothing was changed."
_REASON: Final = Field(min_length=1, max_length=400, description="Why, in one sentence, in the language of the book.")


class ProposeEdit(Arguments):
    """Proposes a replacement for a passage. `quotation` is its exact text, as short as is unique there."""

    chapter: int = Field(ge=1)
    quotation: str = Field(min_length=1, max_length=LONGEST_EDIT)
    replacement: str = Field(max_length=LONGEST_EDIT)
    reason: str = _REASON


class ProposeFact(Arguments):
    """Proposes a fact for the records, with the exact words of the chapter that state it."""

    text: str = Field(min_length=1, max_length=400)
    about: list[str] = Field(min_length=1, max_length=6, description="Names that the book knows.")
    chapter: int = Field(ge=1)
    quotation: str = Field(min_length=1, max_length=400)
    reason: str = _REASON


class ProposeName(Arguments):
    """Proposes a name for the list of names: an alias `of` a known name, or a new name of a kind."""

    name: str = Field(min_length=1, max_length=60)
    of: str = ""
    kind: EntityKind = "character"
    reason: str = _REASON


class ProposeOutline(Arguments):
    """Proposes the complete text of the outline for a chapter."""

    chapter: int = Field(ge=1)
    text: str = Field(max_length=LONGEST_EDIT)
    reason: str = _REASON


class ProposeWorkflow(Arguments):
    """Asks the builder to change a workflow according to a wish; without `workflow`, to make a new one."""

    wish: str = Field(min_length=1, max_length=2_000)
    workflow: str = ""


class StartRun(Arguments):
    """Asks the writer to start a run of a workflow; they see its price and decide."""

    workflow: str
    chapter: int | None = None
    instruction: str = Field("", max_length=2_000)


class StartCheck(Arguments):
    """Asks the writer to have a chapter checked by the agents' model; they see its price and decide."""

    chapter: int = Field(ge=1)


@dataclass
class Raised:
    """The effects of a call besides its text."""

    proposals: list[ProposalId] = field(default_factory=list)
    applied: bool = False
    permission: Permission | None = None


class ChangingTools:
    """Carries out the tools that propose, for one turn, which `turn` returns."""

    def __init__(self, book: BookPort, changes: ChangesPort, reads: ReadingTools) -> None:
        self._book, self._changes, self._reads = book, changes, reads

    async def edit(self, given: ProposeEdit, turn: Turn, raised: Raised) -> str:
        """Proposes an edit at a quoted passage. Raises EditRefused unless the chapter contains the words once."""
        chapter = await self._reads.chapter_at(given.chapter)
        text = await self._book.text(chapter.id)
        span = _only_place(text, given.quotation, chapter)
        before, after = text[span.start : span.end], clean(html.unescape(given.replacement))
        if before == after:
            raise EditRefused("The replacement is what stands there already.")
        identity = digest_of(["edit", chapter.id, before, after])[:16]
        place = ProposalPlace(chapter.id, span.start, span.end)
        return await self._raise(
            TextEdit(identity, chapter.id, before, after), place, before, given.reason, turn, raised
        )

    async def fact(self, given: ProposeFact, turn: Turn, raised: Raised) -> str:
        """Proposes a fact with its quotation."""
        chapter = await self._reads.chapter_at(given.chapter)
        text = await self._book.text(chapter.id)
        span = _only_place(text, given.quotation, chapter, unique=False)
        people = tuple([(await self._reads.entity(name)).id for name in given.about])
        quotation, statement = text[span.start : span.end], clean_line(given.text)
        evidence = Evidence(quotation, chapter.id, span.start, span.end)
        identity = RecordId(digest_of(["fact", people, statement])[:16])
        fact = Fact(identity, statement, people, since=chapter.id, evidence=(evidence,), by="agent")
        place = ProposalPlace(chapter.id, span.start, span.end)
        return await self._raise(fact, place, quotation, given.reason, turn, raised)

    async def name(self, given: ProposeName, turn: Turn, raised: Raised) -> str:
        """Proposes a name or a further name."""
        name, entities = clean_line(given.name), await self._book.entities()
        known = [each for each in entities if name in each.names]
        if not name or known:
            taken = f"{name} is a name of {known[0].name} already." if known else "That is no name."
            raise EditRefused(taken)
        change: Change
        if given.of:
            change = NewName((await self._reads.entity(given.of)).id, name)
        else:
            change = Entity(_free_id(name, entities), given.kind, name, by="agent")
        return await self._raise(change, None, "", given.reason, turn, raised)

    async def outline(self, given: ProposeOutline, turn: Turn, raised: Raised) -> str:
        """Proposes the outline of a chapter."""
        chapter = await self._reads.chapter_at(given.chapter)
        before, after = await self._book.outline(chapter.id), clean(given.text).strip()
        if before == after:
            raise EditRefused("The outline says that already.")
        identity = digest_of(["outline", chapter.id, before, after])[:16]
        edit = OutlineEdit(identity, chapter.id, before, after)
        return await self._raise(edit, ProposalPlace(chapter.id), "", given.reason, turn, raised)

    async def workflow(self, given: ProposeWorkflow, turn: Turn, raised: Raised) -> str:
        """Requests a build: a free one runs at once, otherwise the writer is asked, with the price."""
        workflow = await self._reads.workflow(given.workflow) if given.workflow else ""
        price = await self._book.quote_build(given.wish, workflow)
        permission = Permission("build", workflow, None, clean(given.wish), price)
        if price:
            raised.permission = await self._changes.sealed(permission, turn)
            return f"The writer is asked whether the builder may be called ({price}). It waits for their word."
        return await self._stored(await self._changes.build(permission), turn, raised)

    async def run(self, given: StartRun, turn: Turn, raised: Raised) -> str:
        """Requests a run: the writer is asked at every level."""
        workflow, chapter = await self._reads.workflow(given.workflow), await self._reads.chapter_id(given.chapter)
        price, limit = await self._book.quote_run(workflow, chapter)
        permission = Permission("run", workflow, chapter, clean(given.instruction), price, limit)
        raised.permission = await self._changes.sealed(permission, turn)
        return f"The writer is asked ({price}). Nothing has begun; it waits for their word."

    async def check(self, given: StartCheck, turn: Turn, raised: Raised) -> str:
        """Requests a check by a model: the writer is asked at every level."""
        chapter = await self._reads.chapter_at(given.chapter)
        price, limit = await self._book.quote_check(chapter)
        permission = Permission("check", "", chapter.id, "", price, limit)
        raised.permission = await self._changes.sealed(permission, turn)
        return f"The writer is asked ({price}). Nothing has begun; it waits for their word."

    async def _raise(
        self, change: Change, place: ProposalPlace | None, quotation: str, reason: str, turn: Turn, raised: Raised
    ) -> str:
        why, who = Reason("worded", clean_line(reason)), Origin("agent", MAKER)
        proposal = Proposal(KIND_OF[type(change)], place, quotation, Difference(change), why, who)
        return await self._stored(await self._changes.propose(proposal), turn, raised)

    async def _stored(self, stored: Proposal, turn: Turn, raised: Raised) -> str:
        if stored.state != "waiting":
            return f"The writer has decided about the same proposal before: {stored.state}. Nothing was changed."
        if any(stored.id in each.proposals for each in turn.used):
            return _WAITS  # as the first time: a question that is sent again is not paid for again
        raised.proposals.append(stored.id)
        if not may_apply(turn, stored):
            return _WAITS
        await self._changes.apply(stored)
        raised.applied = True
        return "Done. The writer can take it back."


def _free_id(name: str, entities: Sequence[Entity]) -> EntityId:
    """An id made of the name, with a number if another entity already has it."""
    base, taken = slug(name), {each.id for each in entities}
    numbered = (f"{base}-{number}" for number in count(2))
    return next(each for each in map(EntityId, chain([base], numbered)) if each not in taken)


def _only_place(text: str, quotation: str, chapter: Chapter, *, unique: bool = True) -> Span:
    """The place of the words. Raises EditRefused if they are missing, or with `unique` if they occur more than once."""
    words = html.unescape(quotation).strip()
    span = VerbatimText(text).find(quotation)
    if span is None and words in text:  # too short to be found with other spaces or quotation marks
        span = Span(text.index(words), text.index(words) + len(words))
    if span is None or not words:
        raise EditRefused(
            f"Chapter {chapter.position} does not hold these words.", "Read the passage, and quote it exactly."
        )
    if unique and (times := text.count(text[span.start : span.end])) > 1:
        raise EditRefused(f"These words stand in the chapter {times} times.", "Quote more of the passage.")
    return span

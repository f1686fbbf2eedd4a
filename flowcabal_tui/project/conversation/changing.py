"""Changes that a conversation makes in a project: stored proposals, applied decisions, and builds."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.conversation.changing import MAKER
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.conversation import Permission, Turn
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import ChapterId, RunId
from flowcabal_tui.domain.proposals import Difference, Origin, Proposal, ProposalId, Reason, WorkflowEdit
from flowcabal_tui.domain.text import clean_line, digest_of
from flowcabal_tui.locale import _
from flowcabal_tui.project.models.spending import PAYING_RUN
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.protocol.book import BookChanged
from flowcabal_tui.protocol.builds import RequestBuild
from flowcabal_tui.protocol.findings import CheckChapters
from flowcabal_tui.settings.seal import user_seal

_MOST_FINDINGS: Final = 50


class ProjectChanges:
    """Implements the conversation's `ChangesPort`. Lives on the engine's loop."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def propose(self, proposal: Proposal) -> Proposal:
        (stored,) = await self._parts.store.proposals.add([proposal])
        self._parts.base.emit(BookChanged())
        return stored

    async def apply(self, proposal: Proposal) -> None:
        await self._parts.proposals.decide([proposal.id], "confirm")
        await self._parts.memory.updates.story_changed()

    async def sealed(self, permission: Permission, turn: Turn) -> Permission:
        """Seals a permission: the seal covers its words, its command, and the project and turn that ask for it."""
        base = self._parts.base
        place = [base.settings.project.id, str(base.folder), turn.conversation, turn.number]
        shown = to_plain(replace(permission, answer="", made="", seal=""))
        seal = digest_of([await asyncio.to_thread(user_seal), "permission", *place, shown])
        return replace(permission, seal=seal)

    async def require_sealed(self, permission: Permission, turn: Turn) -> None:
        """Raises RunError for a permission that came with the folder or from another turn: its price is not to be
        trusted."""
        if permission != await self.sealed(permission, turn):
            raise RunError(
                _("This request does not come from your own program."),
                _("It came with the project, and its price may be wrong. Nothing was started."),
                _("Ask the question again."),
            )

    async def build(self, permission: Permission) -> Proposal:
        """Raises RunError with the question or the reason when the build made nothing to accept."""
        identity = await self._parts.builds.start(RequestBuild(permission.words, permission.workflow))
        build = await self._parts.builds.get(identity)
        if build.status != "finished" or not build.changes:
            why = build.stopped or " ".join(build.questions) or _("Nothing was changed.")
            raise RunError(_("The builder made no suggestion."), why, identity)
        ticked = [each for each in build.changes if each.ticked]
        asks = not ticked or any(each.kind == "node_removed" or each.loses_gate for each in ticked)
        words = build.explanation or build.wish
        edit = WorkflowEdit(identity, permission.workflow, words, len(build.changes), asks)
        reason, who = Reason("worded", clean_line(permission.words)), Origin("agent", MAKER)
        return await self.propose(Proposal("workflow", None, "", Difference(edit), reason, who))

    async def check(self, chapter: ChapterId, permission: Permission, job: RunId) -> tuple[ProposalId, ...]:
        """Checks a chapter by rule and by the agents' model, within the price; returns its open findings.

        `job` books the calls. Raises RunError if the model did not read the whole chapter; its findings so far are
        kept.
        """
        position = (await self._parts.store.book.chapter(chapter)).position
        spending = self._parts.base.models.spending
        if permission.limit is not None:
            await spending.hold(job, permission.limit)
        paying = PAYING_RUN.set(job)
        try:
            await self._parts.findings.check(CheckChapters(position, position, model=True))
        finally:
            PAYING_RUN.reset(paying)
            spending.reservations.release_run(job)
        missing = (await self._parts.findings.report()).not_checked
        if why := next((missed.detail for checked, missed in missing if checked == chapter), ""):
            raise RunError(_("The chapter was not checked to its end."), why)
        wish = FindingFilter(chapters=(chapter,), folded=True)
        page = await self._parts.store.findings.page(wish, 0, _MOST_FINDINGS)
        return tuple(row.proposal.id for row in page.rows)

"""What a conversation changes in a project: proposals stored, applied as decisions, and builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowcabal_tui.agents.conversation.changing import MAKER
from flowcabal_tui.domain.conversation import Permission
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.proposals import Difference, Origin, Proposal, Reason, WorkflowEdit
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.protocol.book import BookChanged
from flowcabal_tui.protocol.builds import RequestBuild

if TYPE_CHECKING:
    from flowcabal_tui.project.parts import Parts


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

    async def build(self, permission: Permission) -> Proposal:
        """Raises RunError when the build made nothing to accept; what it asked or why it stopped is said."""
        identity = await self._parts.builder.builds.start(RequestBuild(permission.words, permission.workflow))
        build = await self._parts.builder.builds.get(identity)
        if build.status != "finished" or not build.changes:
            why = build.stopped or " ".join(build.questions) or _("Nothing was changed.")
            raise RunError(_("The builder made no suggestion."), why, identity)
        edit = WorkflowEdit(identity, permission.workflow, build.explanation or build.wish, len(build.changes))
        reason, who = Reason("worded", clean_line(permission.words)), Origin("agent", MAKER)
        return await self.propose(Proposal("workflow", None, "", Difference(edit), reason, who))

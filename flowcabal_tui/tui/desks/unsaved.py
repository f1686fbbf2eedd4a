"""The workflow that was edited and is no version yet: it outlives a crash, and a document that cannot run."""

from __future__ import annotations

from pydantic import ValidationError

from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.tui.drafts import Drafts


class Unsaved:
    """One edited document of each workflow, beside its versions."""

    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts

    async def put(self, workflow: Workflow) -> None:
        """Write the document down as it is, right or wrong."""
        await self._drafts.put_draft(_key(workflow.id), workflow.model_dump_json())

    async def of(self, workflow: Workflow) -> Workflow | None:
        """What was edited of this very version; None when nothing was, or a newer version has come since."""
        text = await self._drafts.draft(_key(workflow.id))
        try:
            edited = None if text is None else Workflow.model_validate_json(text)
        except ValidationError:
            return None
        return edited if edited is not None and edited.reference == workflow.reference else None

    async def forget(self, workflow: str) -> None:
        """The document is a version now."""
        await self._drafts.put_draft(_key(workflow), None)


def _key(workflow: str) -> str:
    return f"workflow/{workflow}"

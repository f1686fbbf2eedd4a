"""The edited workflow that is not a version yet; it survives a crash, even while it is invalid."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.tui.shared.drafts import Drafts


class Unsaved:
    """Stores one edited document per workflow, in addition to its versions."""

    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts
        self._asked: set[str] = set()

    async def put(self, workflow: Workflow) -> None:
        """Stores the document, valid or not."""
        await self._drafts.put_draft(_key(workflow.id), workflow.model_dump_json())

    async def of(self, workflow: Workflow) -> Workflow | None:
        """The edited document of this version; None when there is none, or a newer version exists."""
        edited = await self._read(workflow.id)
        return edited if edited is not None and edited.reference == workflow.reference else None

    async def older(self, newest: Workflow) -> Workflow | None:
        """The edited document of an older version, if it differs from the newest; returned only once, because the
        writer is then asked."""
        edited = await self._read(newest.id)
        if edited is None or edited.version >= newest.version or newest.id in self._asked:
            return None
        if _without_version(edited) == _without_version(newest):
            await self.forget(newest.id)
            return None
        self._asked.add(newest.id)
        return edited

    async def _read(self, workflow: str) -> Workflow | None:
        text = await self._drafts.draft(_key(workflow))
        try:
            return None if text is None else Workflow.model_validate_json(text)
        except ValidationError:
            return None

    async def forget(self, workflow: str) -> None:
        """Deletes the edited document, which has become a version."""
        await self._drafts.put_draft(_key(workflow), None)


def as_words(workflow: Workflow) -> str:
    """A document as text for a comparison."""
    return json.dumps(_without_version(workflow), ensure_ascii=False, indent=2)


def _without_version(workflow: Workflow) -> dict[str, Any]:
    return workflow.model_dump(mode="json", exclude={"version"}, exclude_defaults=True)


def _key(workflow: str) -> str:
    return f"workflow/{workflow}"

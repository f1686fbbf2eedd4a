"""Stores and reads the builds of a project."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.domain.errors import Gone, RunError, UnknownName, available
from flowcabal_tui.domain.text import clean, digest_of
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.builder.records import BuildRecord, plain_record, record_of
from flowcabal_tui.settings.seal import user_seal
from flowcabal_tui.store import Store
from flowcabal_tui.store.file.reading import decodes

_PREFIX: Final = "build-"
_COUNT: Final = "builds"
_SEAL: Final = "seal"


class KeptBuilds:
    """The stored builds, numbered."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def new_id(self) -> str:
        """Returns an unused id for a build."""
        number = (await self._store.values.get(_COUNT, int) or 0) + 1
        await self._store.values.put(_COUNT, number)
        return f"{_PREFIX}{number}"

    async def get(self, identity: str) -> BuildRecord:
        """A build. Raises UnknownName."""
        kept = await self._store.values.get(identity, Json) if identity.startswith(_PREFIX) else None
        if not kept:
            raise UnknownName(_("There is no build {id}.").format(id=clean(identity)[:60]))
        seal = kept.pop(_SEAL, None)
        return replace(decodes(record_of)(kept), is_own=seal == await _seal_of(kept))

    async def waiting(self, identity: str) -> BuildRecord:
        """A suggestion that waits for the writer's decision. Raises UnknownName, RunError."""
        record = await self.get(identity)
        if record.status != "finished" or record.decided:
            raise RunError(_("{id} is not waiting for a decision.").format(id=identity))
        return record

    async def put(self, record: BuildRecord) -> None:
        """Stores a build; the seal shows later whether this user's program wrote it."""
        kept = plain_record(record)
        seal = {_SEAL: await _seal_of(kept)} if record.is_own else {}
        await self._store.values.put(record.id, kept | seal)

    async def document(self, reference: str) -> Json:
        """A workflow of the project as JSON. Raises UnknownName."""
        try:
            return plain(await self._store.workflows.get(reference))
        except Gone:
            known = available([each.id for each in await self._store.workflows.list()])
            raise UnknownName(_("There is no workflow {ref}.").format(ref=reference), known) from None


async def _seal_of(kept: Json) -> str:
    return digest_of([await asyncio.to_thread(user_seal), "build", kept])


def plain(workflow: Workflow) -> Json:
    """A workflow as JSON."""
    document: Json = json.loads(workflow.model_dump_json())
    return document

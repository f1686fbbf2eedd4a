"""Workflow documents with their versions."""

from __future__ import annotations

from datetime import datetime
from sqlite3 import Connection

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.versions import WorkflowVersion
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.blobs import get_text, put_text, unpack
from flowcabal_tui.store.file.connection import StorePart, transaction
from flowcabal_tui.store.file.reading import read_json


class Workflows(StorePart):
    """The saved versions of workflows. A version is kept until the user deletes it; runs store their own copy."""

    @transaction
    def save(self, connection: Connection, workflow: Workflow, *, keep_version: bool = False) -> Workflow:
        """Stores a document under the next version if its content is new. Returns it as stored.

        With `keep_version`, it keeps its own version, unless another document has it.
        """
        if keep_version:
            known = connection.execute(
                "SELECT document FROM workflow WHERE id=? AND version=?", (workflow.id, workflow.version)
            ).fetchone()
            if known is None:
                return self._put(connection, workflow)
            if read_json(Workflow, get_text(connection, Digest(known[0]))) == workflow:
                return workflow
        row = connection.execute(
            "SELECT version, document FROM workflow WHERE id=? ORDER BY version DESC LIMIT 1", (workflow.id,)
        ).fetchone()
        latest = read_json(Workflow, get_text(connection, Digest(row[1]))) if row else None
        version = latest.version if latest else 0
        if latest is not None and workflow.model_copy(update={"version": version}) == latest:
            return latest
        return self._put(connection, workflow.model_copy(update={"version": version + 1}))

    def _put(self, connection: Connection, saved: Workflow) -> Workflow:
        row = (saved.id, saved.version, put_text(connection, to_json(saved)), self._now())
        connection.execute("INSERT INTO workflow VALUES (?, ?, ?, ?)", row)
        return saved

    async def get(self, reference: str) -> Workflow:
        """A document by `id` (the newest version) or `id@version`. Raises Gone if there is none."""
        name, _mark, version = reference.partition("@")
        row = await self._database.one(
            "SELECT body FROM workflow JOIN blob ON digest=document WHERE id=? AND (?='' OR version=?)"
            " ORDER BY version DESC LIMIT 1",
            (name, version, int(version) if version.isdecimal() else -1),
            reference,
        )
        return read_json(Workflow, unpack(row[0]))

    async def versions(self, name: str) -> tuple[WorkflowVersion, ...]:
        """The saved documents of a workflow (its id), newest first."""
        rows = await self._database.rows(
            "SELECT version, at, body FROM workflow JOIN blob ON digest=document WHERE id=? ORDER BY version DESC",
            (name,),
        )
        found = []
        for version, at, body in rows:
            saved = read_json(Workflow, unpack(body))
            found.append(
                WorkflowVersion(saved.reference, version, saved.name, len(saved.nodes), datetime.fromisoformat(at))
            )
        return tuple(found)

    @transaction
    def delete(self, connection: Connection, name: str, version: int | None = None) -> None:
        """Deletes a version of a workflow, or all of it; runs keep their copies. Raises Gone if there is none."""
        found = connection.execute(
            "DELETE FROM workflow WHERE id=? AND (? IS NULL OR version=?)", (name, version, version)
        )
        if not found.rowcount:
            raise Gone(name)

    async def documents(self) -> tuple[str, ...]:
        """The newest version of each as unparsed JSON text."""
        rows = await self._database.rows(
            "SELECT body FROM workflow JOIN blob ON digest=document"
            " WHERE version=(SELECT max(version) FROM workflow AS other WHERE other.id=workflow.id) ORDER BY id"
        )
        return tuple(unpack(body) for (body,) in rows)

    async def list(self) -> tuple[Workflow, ...]:
        """The newest version of each, in the order of their first versions."""
        rows = await self._database.rows(
            "SELECT body FROM workflow JOIN blob ON digest=document"
            " WHERE version=(SELECT max(version) FROM workflow AS other WHERE other.id=workflow.id)"
            " ORDER BY (SELECT min(at) FROM workflow AS first WHERE first.id=workflow.id), id"
        )
        return self._database.readable(mark("workflows"), lambda row: read_json(Workflow, unpack(row[0])), rows)

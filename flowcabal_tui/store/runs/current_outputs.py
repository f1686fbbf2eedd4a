"""The current outputs of a workflow's nodes, their frozen flags, and stale marks: a row each."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.versions import CurrentOutput, StaleMark, StaleReason
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.connection import Row, StorePart, Work, transaction
from flowcabal_tui.store.file.reading import decodes

Mark = tuple[NodeId, NodeId, StaleReason]
"""A node that is out of date, the node that caused it, and the reason."""
_COLUMNS: Final = "node, digest, form, at, frozen, chosen, run, made"
_PLACE: Final = "workflow=? AND chapter=?"


@dataclass(frozen=True, slots=True)
class OutputChange:
    """Rows to write at once: new current outputs, nodes that are fresh, then new marks."""

    put: tuple[CurrentOutput, ...] = ()
    fresh: tuple[NodeId, ...] = ()
    marks: tuple[Mark, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.put or self.fresh or self.marks)


class CurrentOutputs(StorePart):
    """Current outputs by workflow (its id) and chapter."""

    async def all(self, workflow: str, chapter: ChapterId | None) -> dict[NodeId, CurrentOutput]:
        """The current outputs, by node or path."""
        rows = await self._database.rows(
            f"SELECT {_COLUMNS} FROM standing WHERE {_PLACE} ORDER BY node", (workflow, chapter or "")
        )
        return {
            output.node: output for output in self._database.readable(mark("current outputs"), _current_output, rows)
        }

    async def frozen(self, workflow: str, chapter: ChapterId | None) -> dict[NodeId, Output]:
        """The frozen outputs with their texts, by node or path."""
        rows = await self._database.rows(
            f"SELECT node, body, form, digest FROM standing JOIN blob USING (digest) WHERE {_PLACE} AND frozen",
            (workflow, chapter or ""),
        )
        return {NodeId(node): Output(unpack(body), form, Digest(digest)) for node, body, form, digest in rows}

    async def chapters(self, workflow: str) -> tuple[ChapterId | None, ...]:
        """The chapters with current outputs; None means runs without a chapter."""
        rows = await self._database.rows("SELECT DISTINCT chapter FROM standing WHERE workflow=?", (workflow,))
        return tuple(ChapterId(chapter) if chapter else None for (chapter,) in rows)

    async def stale(self, workflow: str, chapter: ChapterId | None) -> dict[NodeId, StaleMark]:
        """The marks of nodes that are out of date, with the nodes that caused them."""
        rows = await self._database.rows(
            f"SELECT node, source, reason FROM stale WHERE {_PLACE} ORDER BY node, at, source",
            (workflow, chapter or ""),
        )
        found: dict[NodeId, list[tuple[NodeId, StaleReason]]] = {}
        for node, source, reason in rows:
            found.setdefault(NodeId(node), []).append((NodeId(source), reason))
        return {
            node: StaleMark(node, "direct" if node in dict(sources) else "propagated", tuple(sources))
            for node, sources in found.items()
        }

    @transaction
    def write(
        self, connection: Connection, workflow: str, changes: Mapping[ChapterId | None, OutputChange], *beside: Work
    ) -> None:
        """Writes the changes of each chapter in one transaction, together with the parts `beside` them."""
        at = self._now()
        for chapter, change in changes.items():
            place = (workflow, chapter or "")
            _put(connection, place, change.put)
            _freshen(connection, place, change.fresh)
            connection.executemany(
                "INSERT OR REPLACE INTO stale (workflow, chapter, node, source, reason, at) VALUES (?, ?, ?, ?, ?, ?)",
                [(*place, *mark, at) for mark in change.marks],
            )
        for work in beside:
            work(connection)

    @transaction
    def as_made(self, connection: Connection, workflow: str, made: Mapping[NodeId, Digest]) -> None:
        """Undoes edits: removes the marks of nodes whose current output was made with exactly these parameters."""
        connection.executemany(
            "DELETE FROM stale WHERE workflow=? AND source=? AND reason='edited' AND chapter IN"
            " (SELECT chapter FROM standing WHERE workflow=? AND node=? AND made=?)",
            [(workflow, node, workflow, node, digest) for node, digest in made.items()],
        )


def forgetting_outcomes(keys: Collection[Digest]) -> Work:
    """The part of a transaction that forgets the current outputs of these keys, so that nodes around a changed one run
    their bodies again."""
    wanted = json.dumps(sorted(keys))
    return lambda connection: connection.execute(
        "DELETE FROM outcome WHERE key IN (SELECT value FROM json_each(?))", (wanted,)
    ).close()


def _put(connection: Connection, place: tuple[str, str], outputs: Sequence[CurrentOutput]) -> None:
    connection.executemany(
        f"INSERT OR REPLACE INTO standing (workflow, chapter, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *place,
                *(output.node, output.digest, output.form, output.at.isoformat()),
                *(output.frozen, output.chosen, output.run, output.made),
            )
            for output in outputs
        ],
    )


def _freshen(connection: Connection, place: tuple[str, str], nodes: Iterable[NodeId]) -> None:
    connection.execute(
        f"DELETE FROM stale WHERE {_PLACE} AND node IN (SELECT value FROM json_each(?))", (*place, json.dumps([*nodes]))
    )


@decodes
def _current_output(row: Row) -> CurrentOutput:
    node, digest, form, at, frozen, chosen, run, made = row
    return CurrentOutput(node, digest, form, datetime.fromisoformat(at), bool(frozen), bool(chosen), run, made)

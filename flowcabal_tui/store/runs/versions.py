"""The history of a node over all runs of a workflow: read from the log, by index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import made_in, served_nodes
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.run import Evaluation
from flowcabal_tui.domain.versions import NodeVersion
from flowcabal_tui.store.file.blobs import put_text, unpack
from flowcabal_tui.store.file.connection import Row, StorePart, Work
from flowcabal_tui.store.file.reading import decodes, read_json, read_plain, readable
from flowcabal_tui.store.runs.receipts import UsedSource, summaries, used_sources

_OF_WORKFLOW: Final = "run.workflow>=? AND run.workflow<? AND run.chapter IS ?"
_DURATION_RUNS: Final = 3


@dataclass(slots=True)
class _InRun:
    """The log of one run, reduced to the node."""

    made: dict[int, NodeVersion]
    stood: Digest = Digest("")
    keys: tuple[Digest, ...] = ()
    last_key: Digest = Digest("")


class Versions(StorePart):
    """Reads the outputs in the logs of runs, and stores outputs by hand."""

    async def of(self, workflow: str, chapter: ChapterId | None, node: NodeId) -> tuple[NodeVersion, ...]:
        """Every output once, oldest first, over all versions of the workflow (its id). Served outputs are left out,
        unless they come from elsewhere and are served by the last run."""
        found: dict[tuple[Digest, str], NodeVersion] = {}
        for version in await self._all(workflow, chapter, node):
            known = found.setdefault((version.digest, version.author), version)
            if version.stood and not known.stood:
                found[version.digest, version.author] = replace(known, stood=True)
        ordered = sorted(found.values(), key=lambda version: version.at)
        return tuple(replace(version, number=number) for number, version in enumerate(ordered, 1))

    async def _all(self, workflow: str, chapter: ChapterId | None, node: NodeId) -> list[NodeVersion]:
        runs = await self._in_runs(workflow, chapter, node)
        versions = [
            replace(version, stood=version.digest == run.stood)
            for run in runs.values()
            for version in run.made.values()
        ]
        versions += await self._edits(workflow, chapter, node)
        known = {version.digest for version in versions}
        return versions + [each for each in await self._served(workflow, chapter, node) if each.digest not in known]

    async def _in_runs(self, workflow: str, chapter: ChapterId | None, node: NodeId) -> dict[RunId, _InRun]:
        """The node's part of each run, oldest run first."""
        rows = await self._database.rows(
            "SELECT run.id, kind, attempt, payload, event.at FROM run CROSS JOIN event ON event.run=run.id"
            f" AND event.node=? AND kind IN ('attempt-done', 'evaluated', 'node-done') WHERE {_OF_WORKFLOW}"
            " ORDER BY run.number, seq",
            (node, *_range(workflow), chapter),
        )
        runs: dict[RunId, _InRun] = {}
        readable(lambda row: _take(row, node, runs.setdefault(RunId(row[0]), _InRun({}))), rows)
        return runs

    async def _edits(self, workflow: str, chapter: ChapterId | None, node: NodeId) -> list[NodeVersion]:
        rows = await self._database.rows(
            "SELECT digest, form, at FROM edit WHERE workflow=? AND chapter=? AND node=? ORDER BY number",
            (workflow, chapter or "", node),
        )
        return [*readable(lambda row: _edit(row, node), rows)]

    async def _served(self, workflow: str, chapter: ChapterId | None, node: NodeId) -> list[NodeVersion]:
        """Outputs that the last run took from elsewhere, such as another workflow with an equal node."""
        rows = await self._database.rows(
            "SELECT event.run, payload, at FROM event WHERE node='' AND kind='nodes-served' AND run="
            f"(SELECT id FROM run WHERE {_OF_WORKFLOW} ORDER BY number DESC LIMIT 1) ORDER BY seq",
            (*_range(workflow), chapter),
        )
        return [version for version in readable(lambda row: _served_version(row, node), rows) if version is not None]

    async def receipt_of(self, node: NodeId, chapter: ChapterId | None, key: Digest) -> Receipt | None:
        """The newest receipt of the Context agent for the result of this key; None: not recorded."""
        rows = await self._database.rows(
            "SELECT payload FROM event JOIN run ON run.id=event.run WHERE node=? AND chapter IS ?"
            " AND kind='attempt-started' ORDER BY seq DESC",
            (node, chapter),
        )
        for (payload,) in rows:
            values = read_json(dict[str, Any], unpack(payload))
            if values.get("key") == key and values.get("receipt"):
                return read_plain(Receipt, values["receipt"])
        return None

    async def used_sources(self, uris: Collection[str]) -> tuple[UsedSource, ...]:
        """See `receipts.used_sources`."""
        return await used_sources(self._database, uris)

    async def summaries(self, uri: str) -> tuple[tuple[Level, Generation, str], ...]:
        """See `receipts.summaries`."""
        return await summaries(self._database, uri)

    async def keys(
        self, workflow: str, chapter: ChapterId | None, node: NodeId, digest: Digest | None
    ) -> frozenset[Digest]:
        """The keys under which later runs would look for this output (None: any): those of the runs that made it.

        An edit has those of the edited version.
        """
        bases = {digest} | {
            base
            for (base,) in await self._database.rows(
                "SELECT base FROM edit WHERE workflow=? AND chapter=? AND node=? AND digest=?",
                (workflow, chapter or "", node, digest),
            )
        }
        found: set[Digest] = set()
        for run in (await self._in_runs(workflow, chapter, node)).values():
            if digest is None or bases & {run.stood, *(version.digest for version in run.made.values())}:
                found |= set(run.keys)
                if run.last_key and not run.keys:  # written by an older program
                    found |= await self._outcome_keys(run.last_key)
        return frozenset(found)

    async def _outcome_keys(self, result: Digest) -> set[Digest]:
        rows = await self._database.rows("SELECT DISTINCT key FROM outcome WHERE result=?", (result,))
        return {key for (key,) in rows}

    def writing(self, workflow: str, chapter: ChapterId | None, node: NodeId, output: Output, base: Digest) -> Work:
        """The part of a transaction that stores a text by hand in place of `base`; the same text changes nothing."""
        place = (workflow, chapter or "", node, output.digest)
        at = self._now()

        def write(connection: sqlite3.Connection) -> None:
            put_text(connection, output.stored)
            known = connection.execute(
                "SELECT 1 FROM edit WHERE workflow=? AND chapter=? AND node=? AND digest=?", place
            ).fetchone()
            if known is None:
                connection.execute(
                    "INSERT INTO edit (workflow, chapter, node, digest, form, base, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (*place, output.form, base, at),
                )

        return write

    async def durations(self, workflow: str) -> Mapping[NodeId, float]:
        """Mean seconds of work of each node over the last runs in which it worked."""
        rows = await self._database.rows(
            "SELECT node, avg(seconds) FROM (SELECT run, node, sum(json_extract(payload, '$.seconds')) AS seconds"
            " FROM event WHERE run IN"
            " (SELECT id FROM run WHERE workflow>=? AND workflow<? ORDER BY number DESC LIMIT ?)"
            " AND node<>'' AND kind IN ('attempt-done', 'node-done') AND typeof(payload)='text' GROUP BY run, node)"
            " WHERE seconds>0 GROUP BY node",
            (*_range(workflow), _DURATION_RUNS),
        )
        return {NodeId(node): seconds for node, seconds in rows}


def _range(workflow: str) -> tuple[str, str]:
    """Bounds of all references `id@...`, since no id contains an @."""
    return f"{workflow}@", f"{workflow}A"


@decodes
def _edit(row: Row, node: NodeId) -> NodeVersion:
    digest, form, at = row
    return NodeVersion(0, node, datetime.fromisoformat(at), RunId(""), digest=digest, form=form, author="human")


@decodes
def _served_version(row: Row, node: NodeId) -> NodeVersion | None:
    run, payload, at = row
    values = served_nodes(json.loads(unpack(payload))).get(node)
    attempt = 1 if values and "key" in values else 0
    return _version(node, RunId(run), attempt, values, datetime.fromisoformat(at), stood=True) if values else None


@decodes
def _take(row: Row, node: NodeId, run: _InRun) -> None:
    """Adds an event of a run to the node's part of it."""
    identity, kind, attempt, payload, when = row
    values, at = json.loads(unpack(payload)), datetime.fromisoformat(when)
    match kind:
        case "attempt-done":
            run.last_key = Digest(values["key"])
            if not values.get("cached"):
                run.made[attempt] = _version(node, identity, attempt, values, at)
        case "evaluated":
            if attempt in run.made:
                evaluation = read_plain(Evaluation, values["evaluation"])
                run.made[attempt] = replace(run.made[attempt], evaluation=evaluation)
        case "node-done":
            run.stood, run.keys = Digest(values.get("digest", "")), tuple(values.get("keys", ()))
            if "form" in values:
                run.made[attempt] = _version(node, identity, 0, values, at)


def _version(
    node: NodeId, run: RunId, attempt: int, values: Mapping[str, Any], at: datetime, *, stood: bool = False
) -> NodeVersion:
    made = made_in(values) if attempt else made_in(values) | {"author": "program"}
    return NodeVersion(0, node, at, run, attempt, stood=stood, **made)

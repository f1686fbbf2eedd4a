"""Comparisons of candidates: their order, the verdict, the winners, and the sources of a result's paragraphs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.comparison import (
    ComparisonId,
    ComparisonSummary,
    ComparisonTarget,
    Maker,
    OutcomeCount,
    Result,
    Verdict,
)
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, QuestionId
from flowcabal_tui.domain.run import AngleCheck
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.connection import Row, StorePart, Work
from flowcabal_tui.store.file.reading import decodes, read_json

_COLUMNS: Final = "id, workflow, node, chapter, question, seed, state, verdict, before, after, body, at"


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A row. `before` and `after` are the digests of the current text before the choice and after it ("": none)."""

    summary: ComparisonSummary
    seed: int
    verdict: Verdict | None = None
    before: Digest = Digest("")
    after: Digest = Digest("")


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A paragraph of a result, by its digest: paragraph `number` (from 0) of a candidate, changed by hand or not."""

    paragraph: Digest
    candidate: Digest
    number: int
    changed: bool
    maker: Maker


class ComparisonRows(StorePart):
    """Reads and writes comparisons."""

    async def begin(
        self, identity: ComparisonId, target: ComparisonTarget, title: str, digests: Sequence[Digest]
    ) -> StoredComparison:
        """The row of a comparison, created if it is missing; a read-only project creates none."""
        known = await self.get(identity)
        if known is not None:
            return known
        seed = int(digest_of(["order", identity])[:8], 16)
        made = ComparisonSummary(identity, target, title, len(digests), "open", "", self._clock())
        if not self._database.read_only:
            row = (identity, target.workflow, target.node, target.chapter or "", target.question, seed)
            body = json.dumps({"title": title, "digests": list(digests)}, ensure_ascii=False)
            at = self._now()
            await self._database.execute(
                f"INSERT OR IGNORE INTO comparison ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, 'open', '', '', '', ?, ?)",
                (*row, body, at),
            )
        return StoredComparison(made, seed)

    async def get(self, identity: ComparisonId) -> StoredComparison | None:
        """The row; None when there is none."""
        row = await self._database.row(f"SELECT {_COLUMNS} FROM comparison WHERE id=?", (identity,))
        return _stored(row) if row else None

    async def all(self) -> tuple[StoredComparison, ...]:
        """All rows, newest first."""
        rows = await self._database.rows(f"SELECT {_COLUMNS} FROM comparison ORDER BY at DESC, id")
        return self._database.readable(mark("comparisons of candidates"), _stored, rows)

    def deciding(
        self,
        identity: ComparisonId,
        verdict: Verdict,
        before: Digest,
        after: Digest,
        results: Mapping[Digest, tuple[Result, Maker]],
        parts: Sequence[StoredPart],
    ) -> Work:
        """The part of a transaction that writes the verdict with all its consequences. It raises Gone."""
        at = self._now()

        def decide(connection: sqlite3.Connection) -> None:
            found = connection.execute(
                "UPDATE comparison SET state='decided', verdict=?, before=?, after=?, at=? WHERE id=?",
                (to_json(verdict), before, after, at, identity),
            ).rowcount
            if not found:
                raise Gone(identity)
            _forget(connection, identity)
            connection.executemany(
                "INSERT INTO comparison_result (comparison, candidate, result, model, prompt, prompt_name, sampling)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (identity, name, result, maker.model, maker.prompt, maker.prompt_name, maker.sampling)
                    for name, (result, maker) in results.items()
                ],
            )
            connection.executemany(
                "INSERT OR IGNORE INTO comparison_part (comparison, paragraph, candidate, number, changed, maker)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (identity, each.paragraph, each.candidate, each.number, each.changed, to_json(each.maker))
                    for each in parts
                ],
            )

        return decide

    def taking_back(self, identity: ComparisonId) -> Work:
        """The part of a transaction that reopens the comparison, without a winner."""

        def take_back(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE comparison SET state='taken back', verdict='' WHERE id=?", (identity,))
            _forget(connection, identity)

        return take_back

    async def outcomes(self) -> tuple[OutcomeCount, ...]:
        """Wins, ties and losses of the candidates of each prompt, model and sampling; those with most comparisons
        first."""
        rows = await self._database.rows(
            "SELECT prompt, max(prompt_name), model, sampling, sum(result='won'), sum(result='tied'),"
            " sum(result='lost') FROM comparison_result GROUP BY prompt, model, sampling"
            " ORDER BY count(*) DESC, model, prompt, sampling"
        )
        return tuple(OutcomeCount(*row) for row in rows)

    async def parts(self, chapter: ChapterId) -> dict[Digest, StoredPart]:
        """The paragraphs of results for a chapter, or for none, by their digest; the newest choice counts."""
        rows = await self._database.rows(
            "SELECT paragraph, candidate, number, changed, maker FROM comparison_part JOIN comparison"
            " ON comparison.id=comparison_part.comparison WHERE chapter IN (?, '') AND state='decided' ORDER BY at",
            (chapter,),
        )
        return {
            Digest(paragraph): StoredPart(
                Digest(paragraph), Digest(candidate), number, bool(changed), read_json(Maker, maker)
            )
            for paragraph, candidate, number, changed, maker in rows
        }

    async def put_checks(self, identity: ComparisonId, candidate: Digest, checks: Sequence[AngleCheck]) -> None:
        """Stores the checks of a candidate; they replace the earlier ones."""
        body = to_json(tuple(checks)) if checks else "[]"
        await self._database.execute(
            "INSERT OR REPLACE INTO comparison_check (comparison, candidate, body) VALUES (?, ?, ?)",
            (identity, candidate, body),
        )

    async def checks(self, identity: ComparisonId) -> dict[Digest, tuple[AngleCheck, ...]]:
        """The stored checks, by candidate."""
        rows = await self._database.rows("SELECT candidate, body FROM comparison_check WHERE comparison=?", (identity,))
        return {Digest(candidate): read_json(tuple[AngleCheck, ...], body) for candidate, body in rows}


def _forget(connection: sqlite3.Connection, identity: ComparisonId) -> None:
    for table in ("comparison_result", "comparison_part"):
        connection.execute(f"DELETE FROM {table} WHERE comparison=?", (identity,))


@decodes
def _stored(row: Row) -> StoredComparison:
    identity, workflow, node, chapter, question, seed, state, verdict, before, after, body, at = row
    values = json.loads(body)
    target = ComparisonTarget(QuestionId(question), workflow, NodeId(node), ChapterId(chapter) if chapter else None)
    word = read_json(Verdict, verdict) if verdict else None
    summary = ComparisonSummary(
        ComparisonId(identity),
        target,
        values["title"],
        len(values["digests"]),
        state,
        word.kind if word else "",
        datetime.fromisoformat(at),
    )
    return StoredComparison(summary, seed, word, Digest(before), Digest(after))

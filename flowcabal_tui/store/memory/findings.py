"""The list of findings: raised by checks, listed for the page, decided by the writer; and the record of checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from sqlite3 import Connection
from typing import Any, Final

from flowcabal_tui.domain.comments import CommentId
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.findings import (
    SETTLED,
    SHOWN,
    ChapterChecked,
    CheckRate,
    FindingFilter,
    FindingPage,
    FindingRow,
    FindingVerdict,
)
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.proposals import Proposal, ProposalId, ProposalState
from flowcabal_tui.domain.run import AngleCheck, Compared
from flowcabal_tui.domain.story import StoryRecord
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.connection import Row, StorePart, transaction
from flowcabal_tui.store.file.reading import decodes
from flowcabal_tui.store.memory.records import write_record
from flowcabal_tui.store.rows.findings import raise_findings, withdraw_findings
from flowcabal_tui.store.rows.note_words import decide_notes
from flowcabal_tui.store.rows.proposals import FIELDS, decide, next_decision, proposal_of
from flowcabal_tui.store.rows.salvaged import SalvagedFinding

_HERE: Final = """here AS MATERIALIZED (SELECT chapter, position FROM place WHERE NOT deleted
    AND generation=(SELECT max(generation) FROM place AS other WHERE other.chapter=place.chapter))"""
_IN_BOOK: Final = """proposal LEFT JOIN here ON here.chapter=proposal.chapter
    WHERE kind='finding' AND (proposal.chapter='' OR position IS NOT NULL)
    AND (against='' OR against IN (SELECT chapter FROM here))"""
_OF_STATES: Final = " AND state IN (SELECT value FROM json_each(:states))"
_CHECKS: Final = "(SELECT value FROM json_each(:checks))"
_UNFOLDED: Final = f"(:folded OR rank<={SHOWN})"
_STORY_ORDER: Final = "position IS NULL, position, rank"
_NEWEST: Final = "at DESC, position, rank"


def _fitting(where: FindingFilter) -> str:
    """SQL conditions of a filter except its states; only those that are needed, so that an index covers the query."""
    parts = (
        f" AND (origin ->> '$[1]' IN {_CHECKS} OR body ->> '$.after.subtype' IN {_CHECKS})" if where.checks else "",
        " AND proposal.chapter IN (SELECT value FROM json_each(:chapters))" if where.chapters else "",
        " AND instr(lower(quotation || ' ' || body), :words)" if where.words.strip() else "",
    )
    return "".join(parts)


def _listed(where: FindingFilter) -> str:
    """Numbers of the matching rows, with their rank within their chapters."""
    return f"""WITH {_HERE}, listed AS MATERIALIZED (SELECT number, position, {"at," if where.newest else ""}
        row_number() OVER (PARTITION BY proposal.chapter ORDER BY sure DESC, number) AS rank,
        count(*) OVER (PARTITION BY proposal.chapter) AS every
        FROM {_IN_BOOK}{_fitting(where)}{_OF_STATES if where.states else ""})"""


class FindingRows(StorePart):
    """Rows of the proposals that checks raise."""

    async def page(self, where: FindingFilter, offset: int = 0, limit: int = 100) -> FindingPage:
        """Rows in story order, the certain ones of a chapter first."""
        wanted: dict[str, Any] = {
            "states": json.dumps(where.states),
            "checks": json.dumps(where.checks),
            "chapters": json.dumps(where.chapters),
            "words": where.words.strip().lower(),
            "folded": where.folded,
            "limit": limit,
            "offset": offset,
        }
        order = _NEWEST if where.newest else _STORY_ORDER
        rows = await self._database.rows(
            f"{_listed(where)}, shown AS (SELECT * FROM listed WHERE {_UNFOLDED} ORDER BY {order}"
            " LIMIT :limit OFFSET :offset)"
            f" SELECT {_of_proposal()}, proposal.at, word, rank, every FROM shown JOIN proposal USING (number)"
            f" ORDER BY {order.replace('at ', 'shown.at ')}",
            wanted,
        )
        totals = await self._database.rows(
            f"{_listed(where)} SELECT coalesce(sum({_UNFOLDED}), 0), count(*) FROM listed", wanted
        )
        counts = await self._database.rows(
            f"WITH {_HERE} SELECT state, count(*) FROM {_IN_BOOK}{_fitting(where)} GROUP BY state", wanted
        )
        total, every = totals[0]
        return FindingPage(
            self._database.readable(mark("findings"), partial(_row, folded=where.folded), rows),
            offset,
            total,
            every - total,
            dict(counts),
        )

    async def raise_all(
        self,
        findings: Sequence[Proposal],
        replaced: Callable[[Proposal], bool] = lambda _row: False,
        chapters: Sequence[ChapterId] = (),
    ) -> tuple[Proposal, ...]:
        """Stores findings of checks; see `raise_findings`. In these `chapters` the check may have found nothing."""
        at = self._now()

        return await self._database.do(lambda connection: _put(connection, findings, at, replaced, chapters))

    @transaction
    def restore(self, connection: Connection, found: Sequence[SalvagedFinding]) -> None:
        """Stores findings of another database with their states, reasons and times."""
        for each in found:
            (stored,) = raise_findings(connection, [each.proposal], each.at)
            connection.execute("UPDATE proposal SET word=? WHERE id=?", (each.word, stored.id))

    @transaction
    def put_checked(
        self,
        connection: Connection,
        chapter: ChapterId,
        text: Digest,
        checks: Sequence[AngleCheck],
        findings: Sequence[Proposal],
        replaced: Callable[[Proposal], bool],
    ) -> tuple[Proposal, ...]:
        """Stores, in one transaction, the findings of a check of a chapter's text and the fact that it was checked.

        Angles outside the check keep their result for the same text.
        """
        at = self._now()
        raised = _put(connection, findings, at, replaced, [chapter])
        row = connection.execute("SELECT body FROM checked WHERE chapter=? AND digest=?", (chapter, text)).fetchone()
        by_angle = {check.angle: check for check in _checks(row[0])} if row else {}
        by_angle |= {check.angle: check for check in checks}
        body = json.dumps(
            [[each.angle, each.outcome, clean(each.detail), *_counts(each)] for each in by_angle.values()],
            ensure_ascii=False,
        )
        connection.execute("INSERT OR REPLACE INTO checked VALUES (?, ?, ?, ?)", (chapter, text, at, body))
        return raised

    async def checked(self) -> Mapping[ChapterId, tuple[Digest, ChapterChecked]]:
        """For each chapter the last checked text, and the results of the checks."""
        rows = await self._database.rows("SELECT chapter, digest, at, body FROM checked")
        return dict(self._database.readable(mark("checks"), _checked, rows))

    async def rates(self) -> tuple[CheckRate, ...]:
        """The usefulness of each check, by the outcomes of its findings; withdrawn ones do not count."""
        rows = await self._database.rows(
            "SELECT origin ->> '$[1]', count(*), sum(state IN (SELECT value FROM json_each(?))), sum(state='useless')"
            " FROM proposal WHERE kind='finding' AND state<>'withdrawn' GROUP BY 1 ORDER BY 1",
            (json.dumps(SETTLED),),
        )
        return tuple(CheckRate(*row) for row in rows)

    async def waiting(self) -> Mapping[tuple[ChapterId, str], int]:
        """The number of waiting findings of chapters in the book, by chapter and check."""
        rows = await self._database.rows(
            f"WITH {_HERE} SELECT proposal.chapter, origin ->> '$[1]', count(*) FROM {_IN_BOOK}"
            " AND state='waiting' GROUP BY 1, 2"
        )
        return {(ChapterId(chapter), check): n for chapter, check, n in rows}

    async def withdraw(self, check: str) -> None:
        """Withdraws all waiting findings of a check."""
        await self._database.execute(
            "UPDATE proposal SET state='withdrawn' WHERE kind='finding' AND state='waiting' AND origin ->> '$[1]'=?",
            (check,),
        )

    @transaction
    def decide(
        self,
        connection: Connection,
        ids: Sequence[ProposalId],
        verdict: FindingVerdict,
        reason: str = "",
        notes: Sequence[CommentId] = (),
    ) -> None:
        """Stores the writer's verdict on findings and on notes of readers, as one decision. Raises Gone for an unknown
        id and then changes nothing."""
        number = decide_findings(connection, ids, verdict, reason)
        decide_notes(connection, notes, verdict, reason, number)

    @transaction
    def change(self, connection: Connection, identity: ProposalId, records: Sequence[StoryRecord]) -> None:
        """Settles a finding because the story changes there: writes these records by hand, as one decision."""
        at = self._now()
        number = decide_findings(connection, [identity], "changed", "")
        written = [[record.id, write_record(connection, record, at)] for record in records]
        connection.execute(
            "UPDATE proposal SET body=json_set(body, '$.written', json(?)), generation=? WHERE id=?",
            (json.dumps(written), written[-1][1] if written else None, identity),
        )
        connection.execute("UPDATE proposal SET decision=? WHERE decision>?", (number, number))

    @transaction
    def change_by_note(self, connection: Connection, identity: CommentId, records: Sequence[StoryRecord]) -> None:
        """Answers a note of a reader by these records, written by hand, as one decision. Raises Gone."""
        at = self._now()
        number = next_decision(connection)
        written = [(record.id, Generation(write_record(connection, record, at))) for record in records]
        decide_notes(connection, [identity], "changed", "", number, written)
        connection.execute("UPDATE proposal SET decision=? WHERE decision>?", (number, number))

    @transaction
    def waive(self, connection: Connection, signature: tuple[str, str], reason: str) -> bool:
        """Marks the findings with these two quotations as intended. Returns False when the list has none."""
        rows = connection.execute(
            "SELECT id FROM proposal WHERE kind='finding' AND quotation=? AND body ->> '$.after.source.text'=?",
            tuple(map(clean, signature)),
        ).fetchall()
        if rows:
            decide_findings(connection, [row[0] for row in rows], "intended", reason)
        return bool(rows)


def _put(
    connection: Connection,
    findings: Sequence[Proposal],
    at: str,
    replaced: Callable[[Proposal], bool],
    chapters: Sequence[ChapterId],
) -> tuple[Proposal, ...]:
    raised = raise_findings(connection, findings, at)
    ids = {each.id for each in raised}
    for chapter in chapters:
        withdraw_findings(connection, chapter, lambda row: row.id not in ids and replaced(row))
    return raised


def decide_findings(connection: Connection, ids: Sequence[str], state: ProposalState, reason: str) -> int:
    """Puts rows into a state, with the writer's reason. Returns the decision's number. Raises Gone."""
    number = next_decision(connection)
    for identity in ids:
        if not connection.execute("SELECT 1 FROM proposal WHERE id=? AND kind='finding'", (identity,)).fetchone():
            raise Gone(identity)
        decide(connection, identity, state, None, number)
        connection.execute("UPDATE proposal SET word=? WHERE id=?", (clean(reason).strip(), identity))
    return number


def _of_proposal() -> str:
    return ", ".join(f"proposal.{each}" for each in FIELDS.split(", "))


@decodes
def _row(row: Row, folded: bool) -> FindingRow:
    *fields, at, word, rank, every = row
    hidden = every - SHOWN if rank == SHOWN and not folded else 0
    return FindingRow(proposal_of(tuple(fields)), datetime.fromisoformat(at), word, hidden)


@decodes
def _checked(row: Row) -> tuple[ChapterId, tuple[Digest, ChapterChecked]]:
    chapter, text, at, body = row
    checked = ChapterChecked(ChapterId(chapter), datetime.fromisoformat(at), _checks(body))
    return checked.chapter, (Digest(text), checked)


def _checks(body: str) -> tuple[AngleCheck, ...]:
    """The checks of a row; rows written by earlier releases have no counts."""
    return tuple(
        AngleCheck(angle, outcome, detail, compared=Compared(*counts))
        for angle, outcome, detail, *counts in json.loads(body)
    )


def _counts(check: AngleCheck) -> tuple[int, int, int]:
    return check.compared.statements, check.compared.passages, check.compared.pairs

"""Proposals as rows, in the writer's thread: storing each once, and updating them in the transaction of each edit by
hand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    DECIDED,
    KIND_OF,
    OPEN_STATES,
    SHAPES,
    Difference,
    NewName,
    Origin,
    Proposal,
    ProposalId,
    ProposalPlace,
    ProposalState,
    Reason,
    ReasonCode,
)
from flowcabal_tui.domain.story import StoryRecord
from flowcabal_tui.domain.text import clean, clean_value, digest_of
from flowcabal_tui.store.file.connection import Row
from flowcabal_tui.store.file.reading import decodes, read_json, read_plain
from flowcabal_tui.store.rows.note_words import LAST_DECISION
from flowcabal_tui.store.rows.plain import compact_json

FIELDS: Final = "id, kind, state, chapter, start, end, quotation, body, reason, origin"
_COLUMNS: Final = (
    *("id", "kind", "state", "identity", "words", "target", "chapter", "start", "end", "quotation", "body", "reason"),
    *("origin", "raised", "at"),
)
_INSERT: Final = f"INSERT INTO proposal ({', '.join(_COLUMNS)}) VALUES ({', '.join(f':{each}' for each in _COLUMNS)})"
_RAISED: Final = ", ".join(f"{each}=:{each}" for each in (*_COLUMNS[2:3], *_COLUMNS[4:-2]))
_OPEN: Final = f"state IN {OPEN_STATES}"
_WHY: Final = tuple[ReasonCode, str]
_WHO: Final = tuple[Literal["agent", "rule", "reader"], str]
CONVERSATION: Final = "conversation"
"""The maker of proposals from a conversation."""
READ_KINDS: Final = ("relation", "fact", "promise", "moment", "sequel")
"""The kinds that each reading of a chapter replaces as a whole."""


@decodes
def proposal_of(row: Row) -> Proposal:
    """A proposal from a row of FIELDS."""
    identity, kind, state, chapter, start, end, quotation, body, reason, origin = row
    plain = json.loads(body)
    before = plain.get("before")
    difference = Difference(
        read_plain(SHAPES[kind], plain["after"]), read_plain(SHAPES[before[0]], before[1]) if before else None
    )
    place = ProposalPlace(ChapterId(chapter), start, end) if chapter else None
    why, who = Reason(*read_json(_WHY, reason)), Origin(*read_json(_WHO, origin))
    return Proposal(kind, place, quotation, difference, why, who, state, ProposalId(identity))


def raise_proposals(
    connection: sqlite3.Connection, proposals: Iterable[Proposal], raised: Generation
) -> tuple[Proposal, ...]:
    """Stores new proposals, and returns all with the id and state of their rows.

    Among rows of one identity, a proposal matches the one with the same content, else one of its chapter that matches
    no other proposal: a new wording of an earlier one. A decision of the writer is kept.
    """
    taken: set[str] = set()
    stored = []
    for each in proposals:
        known = _known(connection, each, taken)
        state = known[1] if known and known[1] in DECIDED else each.state
        stored.append(replace(each, id=ProposalId(known[0] if known else new_id(connection, each)), state=state))
        taken.add(stored[-1].id)
        values = values_of(stored[-1]) | {"raised": raised}
        if known is None:
            (values["at"],) = connection.execute("SELECT at FROM generation WHERE id=?", (raised,)).fetchone() or ("",)
            insert_proposal(connection, values)
        elif state in DECIDED:
            connection.execute("UPDATE proposal SET start=:start, end=:end WHERE id=:id AND chapter=:chapter", values)
        else:
            connection.execute(f"UPDATE proposal SET {_RAISED} WHERE id=:id", values)
    return tuple(stored)


def reword_proposal(connection: sqlite3.Connection, proposal: Proposal) -> None:
    """Replaces the content of the row by the writer's version."""
    values = values_of(proposal)
    connection.execute("UPDATE proposal SET body=:body, words=:words WHERE id=:id", values)


def withdraw_missing(connection: sqlite3.Connection, chapter: ChapterId, raised: Iterable[Proposal]) -> None:
    """Withdraws the open proposals of an earlier reading of the chapter that this one does not repeat."""
    kept = json.dumps([each.id for each in raised])
    connection.execute(
        f"UPDATE proposal SET state='withdrawn' WHERE chapter=? AND kind IN {READ_KINDS}"
        f" AND {_OPEN} AND id NOT IN (SELECT value FROM json_each(?))",
        (chapter, kept),
    )


def settle_text(connection: sqlite3.Connection, chapter: str, text: str) -> None:
    """Updates proposals after an edit: places move, a proposal without its quotation is resolved, and reopened when its
    words return.

    Entities and names stay: they may occur elsewhere.
    """
    rows = connection.execute(
        f"SELECT id, kind, state, was, start, quotation FROM proposal WHERE chapter=? AND quotation<>''"
        f" AND kind<>'finding' AND ({_OPEN} OR state='resolved')",
        (chapter,),
    ).fetchall()
    for identity, kind, state, was, start, quotation in rows:
        length = len(quotation)
        found = start if text.startswith(quotation, start) else text.find(quotation)
        if found < 0 and kind in ("entity", "name"):
            connection.execute("UPDATE proposal SET start=0, end=0 WHERE id=?", (identity,))
        elif found < 0 and state != "resolved":
            connection.execute("UPDATE proposal SET state='resolved', was=? WHERE id=?", (state, identity))
        elif found >= 0:
            now = was if state == "resolved" else state
            connection.execute(
                "UPDATE proposal SET state=?, start=?, end=? WHERE id=?", (now, found, found + length, identity)
            )


def settle_record(connection: sqlite3.Connection, target: str, record: StoryRecord | None, to: Generation) -> None:
    """Marks the row of a record as decided after the record was written by hand (None: removed), and the sequels that
    it includes."""
    number = next_decision(connection)
    rows = connection.execute(f"SELECT {FIELDS} FROM proposal WHERE target=? AND kind<>'sequel'", (target,)).fetchall()
    for row in rows:
        decide(connection, row[0], _verdict(proposal_of(row), record), to, number)
    if record is not None:
        sequels = connection.execute(
            "SELECT id FROM proposal WHERE kind='sequel' AND state='applied' AND body ->> '$.after.record'=?", (target,)
        ).fetchall()
        for (identity,) in sequels:
            decide(connection, identity, "confirmed", to, number)


def _verdict(proposal: Proposal, record: StoryRecord | None) -> ProposalState:
    if record is None:
        return "dropped"
    return "confirmed" if _agree(proposal.difference.after, record) else "corrected"


def _agree(one: Any, other: Any) -> bool:
    """True when two states of an entity or record agree, apart from author and end."""
    aside = {"by", "evidence", "until", "known_by", "paid", "payment", "first_position", "proposed", "rejected", "note"}
    plain = [{key: value for key, value in to_plain(each).items() if key not in aside} for each in (one, other)]
    return type(one) is type(other) and plain[0] == plain[1]


def settle_entity(connection: sqlite3.Connection, entity: Entity, to: Generation, *, removed: bool = False) -> None:
    """Updates the rows of an entity and of its further names; a proposed name gets a row."""
    number, named = next_decision(connection), set[str]()
    for row in connection.execute(f"SELECT {FIELDS} FROM proposal WHERE target=?", (entity.id,)).fetchall():
        proposal = proposal_of(row)
        after = proposal.difference.after
        if isinstance(after, NewName):
            named.add(after.name)
            now = _name_state(entity, after.name, removed=removed)
            if now == "withdrawn" and proposal.origin.maker == CONVERSATION:  # not from a reading of a chapter
                continue
        elif isinstance(after, Entity):
            now = _entity_state(after, entity, removed=removed)
        else:
            continue
        if now != row[2] and now in DECIDED:
            decide(connection, row[0], now, to, number)
        elif now != row[2]:
            connection.execute("UPDATE proposal SET state=?, decision=NULL WHERE id=?", (now, row[0]))
    missing = [] if removed else [name for name in entity.proposed if name not in named]
    origin = Origin("rule" if entity.by == "discovered" else "agent")
    changes = [Difference(NewName(entity.id, name)) for name in missing]
    raise_proposals(connection, [Proposal("name", None, "", each, Reason("named"), origin) for each in changes], to)


def _name_state(entity: Entity, name: str, *, removed: bool) -> ProposalState:
    if removed or name in entity.rejected:
        return "dropped"
    if name in entity.proposed:
        return "waiting"
    if name in entity.names:
        return "confirmed" if entity.by == "hand" else "applied"
    return "withdrawn"


def _entity_state(proposed: Entity, entity: Entity, *, removed: bool) -> ProposalState:
    if removed:
        return "dropped"
    if entity.by != "hand":
        return "applied"
    return "confirmed" if (proposed.name, proposed.kind) == (entity.name, entity.kind) else "corrected"


def decide(
    connection: sqlite3.Connection, identity: str, state: ProposalState, to: Generation | None, number: int
) -> None:
    """Stores the writer's decision on a row, with the generation of what it wrote; decisions with the same `number` are
    undone as one. The state before the first of them is kept."""
    connection.execute(
        "UPDATE proposal SET was=CASE WHEN decision>=:number THEN was ELSE state END, state=:state,"
        " generation=coalesce(:to, generation), decision=:number WHERE id=:id",
        {"number": number, "state": state, "to": to, "id": identity},
    )


def next_decision(connection: sqlite3.Connection) -> int:
    """The number after that of the last decision."""
    return int(connection.execute(f"SELECT {LAST_DECISION} + 1").fetchone()[0])


def forget_chapter(connection: sqlite3.Connection, chapter: str) -> None:
    """Deletes rows that quote a chapter or show its changes, and the results of its checks."""
    connection.execute("DELETE FROM proposal WHERE chapter=? OR instr(body, ?)", (chapter, chapter))
    connection.execute("DELETE FROM checked WHERE chapter=?", (chapter,))


def forget_part(connection: sqlite3.Connection, chapter: str, part: str, text: str) -> None:
    """Deletes rows that quote a purged part of a chapter, unless the chapter's `text` still contains it."""
    rows = connection.execute(
        "SELECT id, quotation FROM proposal WHERE chapter=:chapter"
        " UNION ALL SELECT id, body ->> '$.after.source.text' FROM proposal WHERE against=:chapter",
        {"chapter": chapter},
    ).fetchall()
    for identity, quotation in rows:
        if quotation and quotation in part and quotation not in text:
            connection.execute("DELETE FROM proposal WHERE id=?", (identity,))


def _known(connection: sqlite3.Connection, proposal: Proposal, taken: set[str]) -> tuple[str, ProposalState] | None:
    rows = [
        row
        for row in connection.execute(
            "SELECT id, state, words, chapter FROM proposal WHERE identity=? ORDER BY number", (proposal.identity,)
        )
        if row[0] not in taken
    ]
    chapter = proposal.place.chapter if proposal.place else ""
    same = [row for row in rows if row[2] == _words(proposal)]
    found = same or [row for row in rows if row[3] == chapter]
    return (found[0][0], found[0][1]) if found else None


def insert_proposal(connection: sqlite3.Connection, values: Mapping[str, Any]) -> None:
    """Writes a new row: `values_of` a proposal, with the generation and the time of its raising."""
    connection.execute(_INSERT, values)


def new_id(connection: sqlite3.Connection, proposal: Proposal) -> str:
    """The id of a new row: its identity and the next free number."""
    rows = connection.execute("SELECT id FROM proposal WHERE identity=?", (proposal.identity,)).fetchall()
    numbers = [int(row[0].rpartition("-")[2]) for row in rows]
    return f"{proposal.identity}-{max(numbers, default=0) + 1}"


def _words(proposal: Proposal) -> str:
    return digest_of(clean(proposal.says))


def values_of(proposal: Proposal) -> dict[str, Any]:
    """The columns of a row, cleaned, without `raised` and `at`."""
    before, place = proposal.difference.before, proposal.place or ProposalPlace(ChapterId(""))
    body = {"after": to_plain(proposal.difference.after)}
    if before is not None:
        body["before"] = [KIND_OF[type(before)], to_plain(before)]
    return {
        "id": proposal.id,
        "kind": proposal.kind,
        "state": proposal.state,
        "identity": proposal.identity,
        "words": _words(proposal),
        "target": proposal.target,
        "chapter": place.chapter,
        "start": place.start,
        "end": place.end,
        "quotation": clean(proposal.quotation),
        "body": compact_json(clean_value(body)),
        "reason": compact_json([proposal.reason.grounds, clean(proposal.reason.detail)]),
        "origin": compact_json([proposal.origin.by, proposal.origin.maker]),
    }

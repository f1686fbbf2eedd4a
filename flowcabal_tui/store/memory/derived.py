"""Derived texts: all past states, and the rules for the current one.

The newest state before a chapter is current. A writer's own text takes precedence over all made states, later ones too,
until the writer accepts one; a pinned state takes precedence over both. Neither is read where it would reveal a later
chapter. The writer's choice is a row of `choice`, so that a run with a pinned generation reads the same as before.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import Derived, Evidence, Level, StaleText
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.blobs import get_text, pack_large, put_text, unpack
from flowcabal_tui.store.file.connection import Database, Row
from flowcabal_tui.store.file.reading import decodes, read_json
from flowcabal_tui.store.memory.snapshot import Snapshot
from flowcabal_tui.store.rows.generations import next_generation
from flowcabal_tui.store.rows.texts import chapters_now
from flowcabal_tui.store.rows.withdrawn import rests_on, stale_texts

DERIVED: Final = "uri, level, body, source, position, derived.generation, method, evidence, at, anchor"
Choice = Literal["pin", "unpin", "take"]
_CHAPTERS: Final = "manuscript/"
_LAST: Final = "\U0010ffff"
_CHOICES: Final = """SELECT choice.uri, choice.generation, word, state, position, anchor FROM choice
    LEFT JOIN derived ON derived.uri=choice.uri AND derived.generation=state WHERE choice.generation<=?
    GROUP BY choice.uri, choice.generation ORDER BY choice.generation"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The writer's choice for a derived text: the pinned state's generation and place, and the generation since which
    their own text takes precedence."""

    pinned: Generation | None = None
    position: int = 0
    anchor: ChapterId | None = None
    taken: Generation = Generation(0)


class DerivedTexts:
    """The current states of derived texts, as of a generation and before a chapter's position."""

    def __init__(self, database: Database, generation: Generation, before: int, snapshot: Snapshot) -> None:
        self._database, self._generation, self._before = database, generation, before
        self._snapshot, self._placed = snapshot, snapshot.chapters
        self._choices: dict[str, Chosen] | None = None

    async def one(self, uri: str, level: Level) -> Derived | None:
        """The current state of a level."""
        found = await self._standing("uri=?", level, (uri,))
        return found[0] if found else None

    async def made(self, uri: str, level: Level) -> Derived | None:
        """The newest state that was not written by hand, current or not."""
        found = await self._standing("uri=? AND method<>'hand'", level, (uri,), choices={})
        return found[0] if found else None

    async def made_under(self, prefix: str, level: Level) -> tuple[Derived, ...]:
        """The newest states not written by hand below `prefix`, by position then uri."""
        where = "uri>=? AND uri<? AND method<>'hand'"
        return await self._standing(where, level, (prefix, prefix + _LAST), choices={})

    async def under(self, prefix: str, level: Level) -> tuple[Derived, ...]:
        """The current states below `prefix`, by position then uri."""
        return await self._standing("uri>=? AND uri<?", level, (prefix, prefix + _LAST))

    async def of(self, uris: Sequence[str], level: Level) -> tuple[Derived, ...]:
        """The current states of these uris, by position then uri."""
        return await self._standing("uri IN (SELECT value FROM json_each(?))", level, (json.dumps(uris),))

    async def pinned(self, uri: str) -> Generation | None:
        """The generation of the pinned state; None without a pin."""
        return (await self._chosen()).get(uri, Chosen()).pinned

    async def stale(self) -> tuple[StaleText, ...]:
        """Derived texts that were made from other words than their chapters have."""
        return await stale_texts(self._database, self._generation, self._placed, await self._snapshot.withdrawn())

    async def _chosen(self) -> dict[str, Chosen]:
        if self._choices is None:
            self._choices = {}
            for uri, generation, word, state, position, anchor in await self._database.rows(
                _CHOICES, (self._generation,)
            ):
                before = self._choices.get(uri, Chosen())
                if word == "pin" and position is not None:
                    self._choices[uri] = Chosen(state, position, anchor, before.taken)
                else:
                    self._choices[uri] = Chosen(taken=generation if word == "take" else before.taken)
        return self._choices

    async def _standing(
        self, where: str, level: Level, values: Sequence[object], choices: Mapping[str, Chosen] | None = None
    ) -> tuple[Derived, ...]:
        out = await self._snapshot.withdrawn()
        column = "rests" if out else "'{}'"  # for the whole work it names every chapter, so it is read only on request
        rows = await self._database.rows(
            f"SELECT number, uri, position, anchor, generation, method='hand', {column} FROM derived"
            f" WHERE {where} AND level=? AND generation<=? ORDER BY number",
            (*values, level, self._generation),
        )
        seen: defaultdict[str, list[tuple[int, int, Generation, bool]]] = defaultdict(list)
        for number, uri, position, anchor, generation, by_hand, rests in rows:
            at = self._position(position, anchor)
            if at is not None and not out.takes(rests) and not out.foretells(rests, at):
                seen[uri].append((at, number, generation, bool(by_hand)))
        if not seen:
            return ()
        chosen = await self._chosen() if choices is None else choices
        newest = {uri: best for uri, states in seen.items() if (best := self._best(states, chosen.get(uri, Chosen())))}
        bodies = await self._database.rows(
            f"SELECT {DERIVED} FROM derived JOIN blob USING (digest) WHERE number IN (SELECT value FROM json_each(?))",
            (json.dumps([number for _at, number in newest.values()]),),
        )
        found = [
            replace(one, position=newest[one.uri][0])
            for one in self._database.readable(mark("derived texts"), derived_of, bodies)
        ]
        return tuple(sorted(found, key=lambda one: (one.position, one.uri)))

    def _best(self, states: Sequence[tuple[int, int, Generation, bool]], chosen: Chosen) -> tuple[int, int] | None:
        """Place and number of the current state."""
        if chosen.pinned is not None and (at := self._position(chosen.position, chosen.anchor)) is not None:
            pinned = [(place, number) for place, number, since, _ in states if since <= chosen.pinned and place <= at]
            if pinned:
                return max(pinned)
        by_hand = [(place, number) for place, number, since, hand in states if hand and since > chosen.taken]
        made = [(place, number) for place, number, _since, hand in states if not hand]
        return max(by_hand or made, default=None)

    def _position(self, position: int, anchor: ChapterId | None) -> int | None:
        """The position of a derived text after its chapter may have moved; None when it is not visible."""
        if anchor is not None:
            if anchor not in self._placed:
                return None
            position = self._placed[anchor].position
        return position if position < self._before else None


@decodes
def derived_of(row: Row) -> Derived:
    """A derived text from a row of DERIVED."""
    uri, level, body, source, position, generation, method, evidence, at, _anchor = row
    rests = read_json(tuple[Evidence, ...], unpack(evidence))
    when = datetime.fromisoformat(at)
    return Derived(uri, level, unpack(body), source, position, generation, method, rests, when)


def put_states(
    connection: sqlite3.Connection, states: Iterable[Derived], at: str, *, restored: bool = False
) -> Generation:
    """Adds states in one generation and returns it (or that of the last state that was already current for its source).

    With `restored`, they are valid from the generation from which they were made, since they replace lost ones.
    """
    generation = known = Generation(0)
    for state in states:
        text, by_hand, anchor = clean(state.text), state.method == "hand", _anchor(connection, state)
        rests = rests_on(connection, state, anchor)
        newest = connection.execute(
            "SELECT source, digest, generation, rests FROM derived WHERE uri=? AND level=? AND (? OR method<>'hand')"
            " AND (anchor=? OR anchor IS NULL AND position=?) ORDER BY number DESC LIMIT 1",
            (state.uri, state.level, by_hand, anchor, state.position),
        ).fetchone()
        same = newest and newest[0] == state.source and (restored or newest[3] == rests)  # else one may be withdrawn
        if same and (not by_hand or get_text(connection, newest[1]) == text):
            known = Generation(newest[2])
            continue
        if restored:
            generation = state.generation
        generation = generation or next_generation(connection, "truth" if by_hand else "derived", state.position, at)
        connection.execute(
            "INSERT INTO derived"
            " (uri, level, digest, source, position, anchor, generation, method, evidence, at, rests)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(state.uri, state.level, put_text(connection, text), state.source, state.position),
                *(anchor, generation, state.method, pack_large(to_json(state.evidence)), at),
                rests,
            ),
        )
    return generation or known


def put_choice(connection: sqlite3.Connection, uri: str, word: Choice, state: Generation | None, at: str) -> Generation:
    """Stores the writer's choice. Raises Gone when there is no such state."""
    row = connection.execute(
        "SELECT min(position) FROM derived WHERE uri=? AND (? IS NULL OR generation=?)", (uri, state, state)
    ).fetchone()
    if row[0] is None:
        raise Gone(uri)
    generation = next_generation(connection, "truth", row[0], at)
    connection.execute("INSERT INTO choice VALUES (?, ?, ?, ?)", (uri, generation, word, state))
    return generation


def _anchor(connection: sqlite3.Connection, derived: Derived) -> ChapterId | None:
    """The chapter that the text is as of: the text moves with that chapter, and is deleted with it."""
    chapters = chapters_now(connection)
    own = derived.uri.removeprefix(_CHAPTERS) if derived.uri.startswith(_CHAPTERS) else ""
    by_uri = (at.id for at in chapters if at.id == own)
    return next(by_uri, None) or next((at.id for at in chapters if at.position == derived.position), None)

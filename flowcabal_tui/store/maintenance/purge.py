"""Purging: removes a text permanently from the file, with everything made of it. In the writer's thread.

Removed: the text and its versions, outputs kept from it, texts derived from it, its drafts, all kept vectors (the
knowledge server has those that it needs; they are paid for again only when it is lost), all kept requests, the runs
that made it (unless other kept outputs came from them), answers of agents that repeat it, and turns of conversations
that repeat or quote it. Not removed: quotations in other runs, documents of workflows, the state of workflows, and text
or notes by hand about it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, OutputId
from flowcabal_tui.domain.memory import BackgroundTask, Evidence
from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite
from flowcabal_tui.domain.text import clean, word_count
from flowcabal_tui.locale import _
from flowcabal_tui.store.book.curation import set_deleted
from flowcabal_tui.store.file.blobs import get_text, pack_large, unpack
from flowcabal_tui.store.file.connection import one_row
from flowcabal_tui.store.file.reading import read_json
from flowcabal_tui.store.maintenance.purge_left import STEPS, PurgeLeft, purge_left, put_purge_left
from flowcabal_tui.store.maintenance.purge_turns import forget_turns_of_chapter, forget_turns_that
from flowcabal_tui.store.memory.indexing import rewrite_words
from flowcabal_tui.store.memory.records import forget_evidence, forget_read
from flowcabal_tui.store.rows.comments import forget_quoted
from flowcabal_tui.store.rows.findings import forget_findings
from flowcabal_tui.store.rows.generations import next_generation
from flowcabal_tui.store.rows.locks import require_unlocked
from flowcabal_tui.store.rows.place_words import forget_place_words
from flowcabal_tui.store.rows.proposals import forget_chapter, forget_part
from flowcabal_tui.store.rows.tasks import TaskMaker, add_tasks
from flowcabal_tui.store.rows.texts import arrange, chapters_now, places, scene_subject

PURGED: Final = Digest("purged")
"""The source of background tasks that remove something elsewhere."""
_DIGEST: Final = re.compile(r'"([0-9a-f]{32})"')
_WINDOW: Final = {"zh": 8, "en": 24}
_REFERENCES: Final = """SELECT digest FROM version UNION SELECT part FROM version UNION SELECT digest FROM curated
    UNION SELECT document FROM run UNION SELECT digest FROM derived UNION SELECT digest FROM result
    UNION SELECT digest FROM outcome UNION SELECT digest FROM standing UNION SELECT digest FROM edit
    UNION SELECT digest FROM reference_part"""

_FINDS_OF_RECORDS: Final = (
    "key LIKE 'find/%' AND EXISTS (SELECT 1 FROM record WHERE instr(body, ?) AND instr(value.json, record.id))"
)
"""Cached search results that contain a record of the story from a chapter."""


@dataclass(frozen=True, slots=True)
class Purged:
    """The numbers of removed versions, runs, derived texts and answers of agents. `chapter` is the one they belonged
    to.

    `words` are sequences of characters that only the purged texts contained (see `windows`).
    """

    chapter: ChapterId | None
    versions: int
    runs: int
    derived: int
    answers: int
    words: frozenset[str]


def windows(text: str, size: int) -> Iterator[str]:
    """All sequences of `size` characters in a text, with all blanks and line ends normalised."""
    text = " ".join(clean(text).split())
    return (text[at : at + size] for at in range(len(text) - size + 1))


def window_size(language: str) -> int:
    """The number of consecutive characters that count as a repetition of a text when no other text contains them."""
    return _WINDOW["zh" if language.startswith("zh") else "en"]


def purge_chapter(
    connection: sqlite3.Connection, chapter: ChapterId, tasks: TaskMaker, language: str, at: str
) -> Purged:
    """Purges a chapter, in the book or deleted, with everything that belongs to it. `tasks` clean up outside.

    Raises ChapterLocked, or Gone if there is none.
    """
    place = "SELECT position FROM place WHERE chapter=? ORDER BY generation DESC LIMIT 1"
    row = one_row(connection, place, (chapter,), chapter)
    require_unlocked(connection, chapter)
    runs = connection.execute(
        "SELECT run FROM curated WHERE subject=:chapter UNION SELECT id FROM run WHERE chapter=:chapter",
        {"chapter": chapter},
    ).fetchall()
    gone = _Gone(connection, language)
    gone.versions(chapter)
    gone.versions(scene_subject(chapter))
    gone.delete("curated", "subject=?", chapter)
    gone.runs(run for (run,) in runs)
    _keep_profiles_by_hand(connection, chapter, row[0])
    gone.derived("anchor=? OR uri=? OR instr(rests, ?)", chapter, f"manuscript/{chapter}", chapter)
    forget_evidence(connection, chapter)
    forget_chapter(connection, chapter)
    forget_place_words(connection, chapter)
    forget_turns_of_chapter(connection, chapter)
    for table in ("comparison_result", "comparison_part", "comparison_check"):
        gone.delete(table, "comparison IN (SELECT id FROM comparison WHERE chapter=?)", chapter)
    gone.delete("note_word", "number IN (SELECT number FROM comment WHERE chapter=?)", chapter)
    for table in (
        "standing",
        "edit",
        "stale",
        "place",
        "rewrite",
        "comparison",
        "comment",
        "chapter_lock",
        "pass_tick",
        "proposed_rewrite",
    ):
        gone.delete(table, "chapter=?", chapter)
    gone.delete("value", _FINDS_OF_RECORDS, chapter)
    gone.delete("record", "chapter=? OR by='agent' AND instr(body, ?)", chapter, chapter)
    gone.delete("choice", "uri=?", f"manuscript/{chapter}")
    gone.delete("value", "key=?", f"beats/{chapter}")
    gone.delete("task", "instr(subject, ?)", chapter)
    gone.delete("value", "key LIKE 'find/%' AND instr(json, ?)", chapter)
    gone.delete("draft", "instr(key, ?)", chapter)
    gone.delete("change_log", "subject=?", chapter)
    arrange(connection, places(connection), next_generation(connection, "truth", row[0], at))
    add_tasks(connection, tasks(chapter, PURGED, row[0]))
    return gone.finish(chapter)


def _keep_profiles_by_hand(connection: sqlite3.Connection, chapter: ChapterId, position: int) -> None:
    """Moves profiles by hand as of a purged chapter to the chapter before it, or to the new first one."""
    others = [at for at in chapters_now(connection) if at.id != chapter]
    place = next((at for at in reversed(others) if at.position < position), others[0] if others else None)
    connection.execute(
        "UPDATE derived SET anchor=?, position=? WHERE method='hand' AND anchor=? AND uri<>?",
        (place and place.id, place.position if place else 0, chapter, f"manuscript/{chapter}"),
    )
    for number, evidence in connection.execute("SELECT number, evidence FROM derived WHERE method='hand'").fetchall():
        kept = read_json(tuple[Evidence, ...], unpack(evidence))
        if any(one.chapter == chapter for one in kept):
            left = to_json(tuple(one for one in kept if one.chapter != chapter))
            connection.execute("UPDATE derived SET evidence=? WHERE number=?", (pack_large(left), number))


def purge_output(connection: sqlite3.Connection, output: OutputId, tasks: TaskMaker, language: str, at: str) -> Purged:
    """Purges a kept output; text from before and after it stays, and `tasks` follow.

    Raises Gone if it is unknown, RunError if its words would stay in the text.
    """
    kept = set_deleted(connection, output, True, tasks, at)
    (subject,) = connection.execute("SELECT subject FROM curated WHERE id=?", (output,)).fetchone()
    part = get_text(connection, kept.digest).strip()
    versions = _versions_with(connection, subject, part)
    own = [version for version in versions if version.output == output]
    others = [version for version in versions if version.output != output and version.holds]
    _require_purgeable(versions, others)
    gone = _Gone(connection, language)
    gone.versions(subject, [one.number for one in (*own, *others) if one in own or one.output is None])
    changed = {version.text for version in (*own, *others)}
    for version in others:
        if version.mode == "append":
            gone.shorten(subject, version.number)
        elif version.output is not None:
            changed.discard(version.text)
    gone.delete("curated", "id=?", output)
    gone.delete("change_log", "subject=?", output)
    gone.delete("value", _FINDS_OF_RECORDS, subject)
    forget_read(connection, subject, part, get_text(connection, versions[-1].text))
    forget_part(connection, subject, part, get_text(connection, versions[-1].text))
    gone.runs([kept.run])
    for text in changed - {versions[-1].text}:
        gone.derived("instr(rests, ?)", text)
    gone.delete("draft", "instr(key, ?)", subject)
    _forget_rewrites(connection, subject, part)
    forget_quoted(connection, subject, part)
    gone.delete("value", "key LIKE 'find/%' AND instr(json, ?)", subject)
    if part:
        connection.execute("UPDATE entity SET note='' WHERE 'entity/' || id=? AND instr(note, ?)", (subject, part))
    return gone.finish(kept.chapter)


def purge_build(connection: sqlite3.Connection, build: str, language: str) -> Purged:
    """Purges a build of a workflow with its request, prompts and rounds, and the answers that repeat them. Raises Gone.

    A workflow that resulted from it stays, as do words that a workflow or a kept text still contains.
    """
    row = one_row(connection, "SELECT json FROM value WHERE key=?", (build,), build)
    gone = _Gone(connection, language)
    gone.delete("value", "key=?", build)
    return gone.finish(None, _spoken(row[0]))


def _forget_rewrites(connection: sqlite3.Connection, subject: str, part: str) -> None:
    """Deletes accepted rewrites that contain the purged words, or are a part of them."""
    rows = connection.execute("SELECT number, body, after FROM rewrite WHERE chapter=?", (subject,)).fetchall()
    for number, body, after in rows:
        if part and (part in unpack(body) or unpack(after).strip() in part):
            connection.execute("DELETE FROM rewrite WHERE number=?", (number,))
    rows = connection.execute("SELECT number, body FROM proposed_rewrite WHERE chapter=?", (subject,)).fetchall()
    for number, body in rows:
        rewrite = read_json(ProposedRewrite, unpack(body))
        if part and any(part in words or words.strip() in part for words in (rewrite.before, rewrite.after)):
            connection.execute("DELETE FROM proposed_rewrite WHERE number=?", (number,))


@dataclass(frozen=True, slots=True)
class _Version:
    """A row of `version`; `holds`: it contains the purged words."""

    number: int
    text: Digest
    mode: str
    output: str | None
    holds: bool


def _versions_with(connection: sqlite3.Connection, subject: str, part: str) -> list[_Version]:
    rows = connection.execute(
        "SELECT number, digest, mode, output, body FROM version JOIN blob USING (digest) WHERE subject=?"
        " ORDER BY number",
        (subject,),
    )
    return [
        _Version(number, text, mode, by, bool(part) and part in unpack(body)) for number, text, mode, by, body in rows
    ]


def _require_purgeable(versions: list[_Version], others: list[_Version]) -> None:
    """Raises RunError where the words would stay in the text, or would take with them a text by hand that is still
    needed.

    Of the versions by hand, only the last is needed when outputs are removed or restored.
    """
    by_hand = [version for version in versions if version.output is None and version.mode == "replace"]
    if by_hand and by_hand[-1].holds:
        raise RunError(
            _("The text was written into the chapter by hand."),
            _("Nothing was purged."),
            _("Remove it from the chapter, save the chapter, then purge again."),
        )
    if versions[-1] in others:
        raise RunError(
            _("Another kept output of the chapter contains the same text."),
            _("Nothing was purged."),
            _("Undo the keep of that output first, or remove the text from the chapter."),
        )


class _Gone:
    """Deletes rows, and collects the texts that may become unreferenced."""

    def __init__(self, connection: sqlite3.Connection, language: str) -> None:
        self._connection = connection
        self._window = window_size(language)
        self._texts: set[str] = set()
        self._named: set[EntityId] = set()
        self._uris: set[str] = set()
        self._counts = {"versions": 0, "runs": 0, "derived": 0, "answers": 0}

    def delete(self, table: str, where: str, *values: str) -> int:
        """Deletes rows. Returns their number."""
        return self._connection.execute(f"DELETE FROM {table} WHERE {where}", values).rowcount

    def versions(self, subject: str, numbers: Iterable[int] | None = None) -> None:
        """Deletes all versions of a text (or some), and the index of each."""
        rows = self._connection.execute(
            "SELECT number, digest, part FROM version WHERE subject=?", (subject,)
        ).fetchall()
        wanted = None if numbers is None else {*numbers}
        for number, text, part in rows:
            if wanted is not None and number not in wanted:
                continue
            self._texts |= {text, part}
            self._unindex(subject, number)
            self._connection.execute("DELETE FROM version WHERE subject=? AND number=?", (subject, number))
            self._counts["versions"] += 1

    def shorten(self, subject: str, number: int) -> None:
        """Reduces a version of an output that was appended to the purged words to its own words."""
        place = (subject, number)
        old, part = self._connection.execute(
            "SELECT digest, part FROM version WHERE subject=? AND number=?", place
        ).fetchone()
        if old == part:
            return
        self._texts.add(old)
        self._unindex(subject, number)
        self._connection.execute(
            "UPDATE version SET digest=part, length=? WHERE subject=? AND number=?",
            (word_count(get_text(self._connection, part)), *place),
        )

    def _unindex(self, subject: str, number: int) -> None:
        place = (subject, number)
        named = self._connection.execute("SELECT entity FROM mention WHERE chapter=? AND version=?", place)
        self._named |= {entity for (entity,) in named}
        for table in ("passage", "mention"):
            self._connection.execute(f"DELETE FROM {table} WHERE chapter=? AND version=?", place)

    def derived(self, where: str, *values: str) -> None:
        """Deletes derived texts."""
        for uri, text in self._connection.execute(f"SELECT uri, digest FROM derived WHERE {where}", values):
            self._texts.add(text)
            self._uris.add(uri)
        self._counts["derived"] += self.delete("derived", where, *values)

    def runs(self, runs: Iterable[str]) -> None:
        """Deletes runs with their journals and results, unless a kept output came from them."""
        for run in filter(None, runs):
            if self._connection.execute("SELECT 1 FROM curated WHERE run=?", (run,)).fetchone():
                continue
            for (payload,) in self._connection.execute("SELECT payload FROM event WHERE run=?", (run,)).fetchall():
                self._texts |= set(_DIGEST.findall(unpack(payload)))
            for table in ("event", "chunk", "question"):
                self.delete(table, "run=?", run)
            self.delete("standing", "run=?", run)
            self._counts["runs"] += self.delete("run", "id=?", run)

    def finish(self, chapter: ChapterId | None, removed: str = "") -> Purged:
        """Deletes the texts without references, results with them, and rows that repeat them.

        `removed` are further purged words.
        """
        connection = self._connection
        referenced = self._referenced_by_runs()
        loose = self._texts - referenced
        for name in loose:
            for table in ("result", "outcome"):
                connection.execute(f"DELETE FROM {table} WHERE digest=? OR key=?", (name, name))
        loose -= {name for (name,) in connection.execute(_REFERENCES)}
        words = self._only_in(loose, removed)
        self._counts["answers"] = self._forget(words, referenced)
        connection.executemany("DELETE FROM blob WHERE digest=?", [(name,) for name in loose])
        self._forget_nameless()
        for table in ("sent",) if removed else ("vector", "sent"):  # no row has the origin of its words
            connection.execute(f"DELETE FROM {table}")
        rewrite_words(connection)
        left = purge_left(connection)
        steps = tuple(step for step in STEPS if not removed or step in (*left.steps, "pages", "log"))
        put_purge_left(connection, PurgeLeft(steps, left.texts | {Digest(name) for name in loose}))
        add_tasks(connection, (BackgroundTask(0, "knowledge", uri, PURGED, "waiting") for uri in sorted(self._uris)))
        return Purged(chapter, **self._counts, words=frozenset(words))

    def _referenced_by_runs(self) -> set[str]:
        """Digests in the journals of the remaining runs."""
        payloads = self._connection.execute("SELECT payload FROM event WHERE kind IN ('attempt-done', 'node-done')")
        return {name for (payload,) in payloads for name in _DIGEST.findall(unpack(payload))}

    def _only_in(self, loose: Iterable[str], removed: str) -> set[str]:
        """Sequences of characters in these texts or in `removed` that no kept text contains."""
        found = set(self._windows(removed))
        for name in loose:
            row = self._connection.execute("SELECT body FROM blob WHERE digest=?", (name,)).fetchone()
            found.update(self._windows(unpack(row[0])) if row else ())
        for (body,) in self._connection.execute(
            "SELECT body FROM blob WHERE digest IN (SELECT digest FROM version UNION SELECT part FROM version)"
        ):
            found.difference_update(self._windows(unpack(body)))
        documents = "SELECT body FROM blob WHERE digest IN (SELECT document FROM workflow)" if removed else ""
        for (body,) in self._connection.execute(documents) if documents else ():
            found.difference_update(self._windows(_spoken(unpack(body))))
        return found

    def _windows(self, text: str) -> Iterator[str]:
        return windows(text, self._window)

    def _forget(self, words: set[str], referenced: set[str]) -> int:
        """Deletes answers that no journal refers to, and findings and waivers, if they repeat the words. Returns the
        number of answers."""
        if not words:
            return 0

        def repeats(body: str | bytes) -> bool:
            return not words.isdisjoint(self._windows(_spoken(unpack(body))))

        answers = self._connection.execute("SELECT key, digest, body FROM result JOIN blob USING (digest)").fetchall()
        found = [(key, name) for key, name, body in answers if name not in referenced and repeats(body)]
        self._connection.executemany("DELETE FROM result WHERE key=?", [(key,) for key, _name in found])
        self._connection.executemany(
            f"DELETE FROM blob WHERE digest=? AND digest NOT IN ({_REFERENCES})", [(name,) for _key, name in found]
        )
        forget_turns_that(self._connection, repeats)
        forget_findings(self._connection, repeats)
        checks = self._connection.execute("SELECT comparison, candidate, body FROM comparison_check").fetchall()
        for *place, body in checks:
            if repeats(body):
                self.delete("comparison_check", "comparison=? AND candidate=?", *place)
        waived = self._connection.execute("SELECT draft, source FROM waiver").fetchall()
        for draft, source in waived:
            if repeats(draft) or repeats(source):
                self.delete("waiver", "draft=? AND source=?", draft, source)
        return len(found)

    def _forget_nameless(self) -> None:
        """Deletes entities that only agents and rules named, and that no other text mentions."""
        for entity in self._named:
            self.delete(
                "proposal",
                "target=? AND target NOT IN (SELECT entity FROM mention)"
                " AND target NOT IN (SELECT id FROM entity WHERE by='hand')",
                entity,
            )
            self.delete(
                "entity",
                "id=? AND id NOT IN (SELECT entity FROM mention) AND id NOT IN (SELECT id FROM entity WHERE by='hand')",
                entity,
            )


def _spoken(text: str) -> str:
    """The words of an answer: its strings, unescaped, if it is JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    inner = value.get("text") if isinstance(value, dict) else None
    return " ".join(_strings(value)) + (" " + _spoken(inner) if isinstance(inner, str) and inner[:1] in "{[" else "")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)

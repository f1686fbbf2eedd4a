"""Reference books: texts that can be listed, read and searched, and are not part of the writer's own book."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Final

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import Digest, Generation
from flowcabal_tui.domain.manuscript import ImportedChapter, Reference, ReferenceHit, ReferenceId, Span
from flowcabal_tui.domain.text import clean, digest_of
from flowcabal_tui.store.file.blobs import put_text, unpack
from flowcabal_tui.store.file.connection import StorePart, transaction
from flowcabal_tui.store.rows.generations import NOW, next_generation
from flowcabal_tui.store.rows.tokens import match, tokens

_THERE: Final = "born<=:as_of AND (died IS NULL OR died>:as_of)"
_HITS: Final = f"""SELECT reference.id, reference.title, reference_part.number, reference_part.title, digest, start,
        end, bm25(reference_words) AS score
    FROM reference_words JOIN reference_passage ON reference_passage.id=reference_words.rowid
        JOIN reference_part ON reference_part.id=part JOIN reference ON reference.id=reference
    WHERE reference_words MATCH :terms AND {_THERE} AND (:book IS NULL OR reference.id=:book)
    ORDER BY score, reference_words.rowid LIMIT :limit"""


WordsOfPassage = tuple[Span, str]


def words_of(text: str, spans: Iterable[Span]) -> list[WordsOfPassage]:
    """The passages of a text with their tokens for the word index; for a helper process."""
    return [(span, " ".join(tokens(text[span.start : span.end]))) for span in spans]


class References(StorePart):
    """Reference books, apart from the writer's own book. An earlier generation sees the books that existed then."""

    @transaction
    def add(
        self,
        connection: Connection,
        title: str,
        parts: Sequence[ImportedChapter],
        passages: Sequence[Sequence[WordsOfPassage]],
    ) -> ReferenceId:
        """Adds a book in one transaction; `passages` are those of each part (see `words_of`)."""
        at = self._now()
        book = ReferenceId(digest_of(["reference", title, at])[:12])
        generation = next_generation(connection, "derived", 0, at)
        connection.execute("INSERT INTO reference VALUES (?, ?, ?, ?, NULL)", (book, clean(title), at, generation))
        for number, (part, found) in enumerate(zip(parts, passages, strict=True), 1):
            text = clean(part.text)
            row = connection.execute(
                "INSERT INTO reference_part (reference, number, title, volume, digest, length)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (book, number, clean(part.title), clean(part.volume), put_text(connection, text), len(text)),
            )
            for span, words in found:
                passage = connection.execute(
                    "INSERT INTO reference_passage (part, start, end) VALUES (?, ?, ?)",
                    (row.lastrowid, span.start, span.end),
                )
                connection.execute(
                    "INSERT INTO reference_words (rowid, words) VALUES (?, ?)", (passage.lastrowid, words)
                )
        return book

    @transaction
    def remove(self, connection: Connection, book: ReferenceId) -> None:
        """Removes a book. Raises Gone if there is none."""
        at = self._now()
        generation = next_generation(connection, "derived", 0, at)
        changed = connection.execute(
            "UPDATE reference SET died=? WHERE id=? AND died IS NULL", (generation, book)
        ).rowcount
        if not changed:
            raise Gone(book)

    async def all(self, generation: Generation = NOW) -> tuple[Reference, ...]:
        """The reference books, oldest first."""
        rows = await self._database.rows(
            "SELECT reference.id, reference.title, count(*), sum(length), at FROM reference"
            f" JOIN reference_part ON reference=reference.id WHERE {_THERE} GROUP BY reference.id ORDER BY born",
            {"as_of": generation},
        )
        return tuple(
            Reference(book, title, parts, length, datetime.fromisoformat(at)) for book, title, parts, length, at in rows
        )

    async def parts(self, book: ReferenceId) -> tuple[tuple[int, str, str], ...]:
        """Number, title and volume of each part, in order. Raises Gone if there is no such book."""
        rows = await self._database.rows(
            "SELECT number, title, volume FROM reference_part WHERE reference=? ORDER BY number", (book,)
        )
        if not rows:
            raise Gone(book)
        return tuple((number, title, volume) for number, title, volume in rows)

    async def text(self, book: ReferenceId, number: int) -> tuple[str, str]:
        """Title and text of a part. Raises Gone if there is none."""
        part = "SELECT title, body FROM reference_part JOIN blob USING (digest) WHERE reference=? AND number=?"
        row = await self._database.one(part, (book, number), f"reference/{book}/{number}")
        return row[0], unpack(row[1])

    async def search(
        self, terms: Sequence[str], limit: int, book: ReferenceId | None = None, generation: Generation = NOW
    ) -> tuple[ReferenceHit, ...]:
        """The passages that contain any of the terms, best first by bm25, in one book or in all."""
        wanted = [found for text in dict.fromkeys(terms) if (found := match(text)) is not None]
        if not wanted:
            return ()
        rows = await self._database.rows(
            _HITS, {"terms": " OR ".join(wanted), "as_of": generation, "book": book, "limit": limit}
        )
        texts = await self._texts({row[4] for row in rows})
        return tuple(
            ReferenceHit(f"reference/{book_id}/{number}", name, title, texts[digest][start:end], start, end, -score)
            for book_id, name, number, title, digest, start, end, score in rows
        )

    async def _texts(self, digests: set[Digest]) -> dict[Digest, str]:
        found = {}
        for digest in sorted(digests):
            row = await self._database.row("SELECT body FROM blob WHERE digest=?", (digest,))
            found[digest] = unpack(row[0]) if row else ""
        return found

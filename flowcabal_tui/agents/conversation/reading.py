"""The tools that read. They return text of the book between tags: material, never an instruction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from pydantic import Field

from flowcabal_tui.agents.builder.refused import EditRefused, unknown
from flowcabal_tui.agents.conversation.ports import BookPort
from flowcabal_tui.agents.tool_calls import Arguments
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.prompt_parts import escaped, in_attribute
from flowcabal_tui.domain.search import SearchHit
from flowcabal_tui.domain.story import Moment, Promise
from flowcabal_tui.domain.text import clean_line

READ_AT_ONCE: Final = 6_000
"""Characters of a chapter that one call reads."""
_MOST_HITS: Final = 12
_MOST_LINES: Final = 60
_LINE: Final = 300
_HIT: Final = 400


class ReadChapter(Arguments):
    """Reads a chapter of the book by its number, from a character on; a long one takes several calls."""

    chapter: int = Field(ge=1)
    start: int = Field(0, ge=0)


class Search(Arguments):
    """Searches the book: its text, its names, its records (facts, relations, promises, moments), or by meaning."""

    words: str = Field(
        min_length=1,
        max_length=200,
        description="One to three words that the passage itself may hold, with spaces between; no whole question.",
    )
    where: Literal["text", "names", "records", "meaning"] = "text"


class ReadReceipt(Arguments):
    """Shows what a node of a run was given, and the source of each part. Without `run`: of the newest run."""

    node: str = Field(min_length=1, max_length=200)
    run: str = ""


class ReadProfile(Arguments):
    """Reads the note and the profiles of a named person, place or thing, or a profile of the whole book: style, themes,
    world-state."""

    name: str = Field(min_length=1, max_length=100)


class ReadPromises(Arguments):
    """Lists the promises of the story: where each is planted, when it is due, and whether it is paid."""


class ReadTimeline(Arguments):
    """Lists the events of the story in chronological order."""


class CheckChapter(Arguments):
    """Checks a chapter against the earlier chapters, by the rules that need no model."""

    chapter: int = Field(ge=1)


class QuoteRun(Arguments):
    """Returns the likely and the highest price of a run of a workflow. Starts nothing."""

    workflow: str
    chapter: int | None = None


class ReadingTools:
    """Carries out the reading tools."""

    def __init__(self, book: BookPort) -> None:
        self._book = book

    async def chapter_at(self, number: int) -> Chapter:
        """The chapter with this number. Raises EditRefused with the available numbers."""
        chapters = await self._book.chapters()
        for chapter in chapters:
            if chapter.position == number:
                return chapter
        raise EditRefused(f"There is no chapter {number}.", f"There are chapters 1 to {len(chapters)}.")

    async def entity(self, name: str) -> Entity:
        """The entity with this name. Raises EditRefused with the nearest names."""
        entities = await self._book.entities()
        for entity in entities:
            if name.strip() in (*entity.names, entity.id):
                return entity
        raise unknown(f"The book knows no name {name.strip()[:60]}.", name, [each.name for each in entities])

    async def read_chapter(self, given: ReadChapter) -> str:
        """A part of a chapter between tags, and the offset at which it continues."""
        chapter = await self.chapter_at(given.chapter)
        text = await self._book.text(chapter.id)
        part = text[given.start : given.start + READ_AT_ONCE]
        if not part:
            return f"Chapter {given.chapter} has {len(text)} characters; there is nothing at {given.start}."
        end = given.start + len(part)
        left = f"\nIt goes on: start={end}, of {len(text)} characters." if end < len(text) else ""
        head = f'<passage chapter="{chapter.position}" title="{in_attribute(chapter.title)}">'
        return f"{head}\n{escaped(part)}\n</passage>{left}"

    async def search(self, given: Search) -> str:
        """The best places, one per line."""
        hits = await self._book.search(given.words, given.where)
        lines = [_hit(hit) for hit in hits[:_MOST_HITS]]
        return "\n".join(lines) or f"Nothing was found in {given.where}."

    async def receipt(self, given: ReadReceipt) -> str:
        """The receipt of a node."""
        return _fenced("receipt", await self._book.receipt(given.run, given.node))

    async def profile(self, given: ReadProfile) -> str:
        """The note and the profiles of a name; a profile of the whole book for the name of such a profile."""
        if whole := await self._book.book_profile(given.name.strip()):
            return _fenced("profile", whole)
        entity = await self.entity(given.name)
        return _fenced("profile", await self._book.profile(entity.id) or "Nothing is known beside the name.")

    async def promises(self, _given: ReadPromises) -> str:
        """All promises, in story order."""
        story, numbers = await self._book.story(), await self._numbers()
        return _listed((_promise(each, numbers) for each in story.promises), "The book lists no promise.")

    async def timeline(self, _given: ReadTimeline) -> str:
        """All moments, in the order of the story's time."""
        story, numbers = await self._book.story(), await self._numbers()
        return _listed((_moment(each, numbers) for each in story.moments), "The book lists no event.")

    async def check(self, given: CheckChapter) -> str:
        """The findings of the rules."""
        chapter = await self.chapter_at(given.chapter)
        checks = await self._book.check(chapter.id)
        lines = [
            f"- {escaped(found.explanation)} “{escaped(found.draft.text)}”"
            + (f" against “{escaped(found.source.text)}” ({escaped(found.source.title)})" if found.source.text else "")
            for check in checks
            for found in check.findings
        ]
        unchecked = [check.detail for check in checks if check.outcome == "not checked"]
        return "\n".join([*lines[:_MOST_LINES], *unchecked]) or "The rules find nothing."

    async def quote(self, given: QuoteRun) -> str:
        """The price of a run."""
        chapter = await self.chapter_id(given.chapter)
        words, _limit = await self._book.quote_run(await self.workflow(given.workflow), chapter)
        return words

    async def chapter_id(self, number: int | None) -> ChapterId | None:
        """The id of a chapter by its number; None without a number."""
        return None if number is None else (await self.chapter_at(number)).id

    async def workflow(self, name: str) -> str:
        """The id of a workflow by its id or name. Raises EditRefused."""
        known = await self._book.workflows()
        for identity, title in known:
            if name.strip() in (identity, title):
                return identity
        raise unknown(f"There is no workflow {name.strip()[:60]}.", name, [identity for identity, _title in known])

    async def _numbers(self) -> dict[ChapterId, int]:
        return {chapter.id: chapter.position for chapter in await self._book.chapters()}


def _hit(hit: SearchHit) -> str:
    where = f'chapter="{hit.position}" ' if hit.position else ""
    return f'<found {where}title="{in_attribute(hit.title)}">{escaped(hit.line[:_HIT])}</found>'


def _fenced(tag: str, text: str) -> str:
    return f"<{tag}>\n{escaped(text)}\n</{tag}>"


def _listed(lines: Iterable[str], nothing: str) -> str:
    found = list(lines)
    left = f"\n… and {len(found) - _MOST_LINES} more" if len(found) > _MOST_LINES else ""
    return "\n".join(found[:_MOST_LINES]) + left if found else nothing


def _promise(promise: Promise, numbers: dict[ChapterId, int]) -> str:
    paid = f", paid in chapter {numbers.get(promise.paid, '?')}" if promise.paid else ""
    open_ = "" if promise.paid else ", dropped" if promise.dropped else ", open"
    due = "" if not promise.due_until or not open_ else f", due in chapter {_from_to(promise)}"
    return (
        f"- chapter {numbers.get(promise.planted, '?')}{paid}{open_}{due}: {escaped(promise.text[:_LINE])}"
        f"{_quoted(promise.evidence)}"
    )


def _from_to(promise: Promise) -> str:
    first, last = promise.due_from, promise.due_until
    return f"{first} to {last}" if 0 < first < last else str(last)


def _moment(moment: Moment, numbers: dict[ChapterId, int]) -> str:
    when = f" ({escaped(moment.when)})" if moment.when else ""
    number = numbers.get(moment.chapter, "?")
    return f"- chapter {number}{when}: {escaped(moment.text[:_LINE])}{_quoted(moment.evidence)}"


def _quoted(evidence: Sequence[Evidence]) -> str:
    """The words of the chapter that support a record, ready to be cited."""
    words = clean_line(evidence[0].sentence)[:_LINE] if evidence else ""
    return f" “{escaped(words)}”" if words else ""

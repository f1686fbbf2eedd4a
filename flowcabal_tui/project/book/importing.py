"""Imports manuscripts into the book, and reference books; spends no money."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from flowcabal_tui.agents.names.names import discover
from flowcabal_tui.domain.comments import Comment, placed
from flowcabal_tui.domain.errors import HelperFailed, ManuscriptError, RunError
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import FileComment, ImportPreview, ReferenceId
from flowcabal_tui.domain.text import clean, digest
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.manuscript.blocks import paragraphs
from flowcabal_tui.manuscript.chapters import named
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import AFTER_IMPORT, AFTER_KEEP, following
from flowcabal_tui.project.book.indexing import index_reference
from flowcabal_tui.project.workshop import READING, looking_for_names
from flowcabal_tui.protocol.book import BookChanged, ImportManuscript, ImportProgress


class Importer:
    """Imports files. Lives on the engine's loop; files are read in the helper process."""

    def __init__(self, base: ProjectBase) -> None:
        self._base, self._store, self._workshop, self._emit = base, base.store, base.workshop, base.emit
        self._turn = asyncio.Lock()
        """Serializes imports, so that the second finds the chapters of the first."""

    async def manuscript(self, command: ImportManuscript) -> int:
        """Appends chapters to the book in one transaction and returns their number.

        Chapters already in the book are left out, unless `again` is set. Raises ManuscriptError, RunError; then none
        was added.
        """
        async with self._turn:
            return await self._manuscript(command)

    async def _manuscript(self, command: ImportManuscript) -> int:
        preview = await self._compared(await self._read(command))
        known = frozenset[int]() if command.again else preview.known
        chapters = [chapter for at, chapter in enumerate(preview.chapters) if at not in known]
        if not chapters:
            raise RunError(
                _("All chapters of {file} are already in the book.").format(file=command.path),
                _("Nothing was imported."),
                _("To import them again, use --again."),
            )
        total = len(chapters)
        texts = [chapter.text for chapter in chapters]
        limits = looking_for_names(sum(map(len, texts)))
        names = await self._workshop.do(discover, texts, self._base.language, limits=limits)
        is_free = self._base.models.is_offline("agent")
        kinds = tuple(kind for kind in AFTER_KEEP if kind != "entities") if is_free else AFTER_IMPORT
        # The names first: the index steps of the chapters may begin as soon as these are there.
        await asyncio.gather(*(self._store.memory.put_entity(entity) for entity in names))
        await self._store.book.import_chapters(chapters, following(kinds), _comments(preview, known))
        self._emit(ImportProgress(total, total))
        self._emit(BookChanged())
        self._base.work.wake()
        return total

    async def reference(self, command: ImportManuscript) -> ReferenceId:
        """Adds a reference book in one transaction. Raises ManuscriptError or RunError."""
        async with self._turn:
            return await self._reference(command)

    async def _reference(self, command: ImportManuscript) -> ReferenceId:
        preview = await self._read(command)
        new = command.reference, len(preview.chapters), sum(len(chapter.text) for chapter in preview.chapters)
        if new in [(one.title, one.parts, one.length) for one in await self._store.references.all()]:
            raise RunError(
                _("There is already a reference book with the title {title}.").format(title=command.reference),
                _("Nothing was imported."),
                _("Give it another title, or remove the other reference book first."),
            )
        texts = [chapter.text for chapter in preview.chapters]
        passages = await self._workshop.do(index_reference, texts, preview.language)
        added = await self._store.references.add(command.reference, preview.chapters, passages)
        self._emit(ImportProgress(len(preview.chapters), len(preview.chapters)))
        return added

    async def preview(self, path: Path, last: int | None, *, reference: bool) -> ImportPreview:
        """Previews the first `last` chapters (None: all); a reference book is not compared with the writer's own."""
        found = await self._first(path, last)
        return found if reference else await self._compared(found)

    async def _compared(self, found: ImportPreview) -> ImportPreview:
        """The preview compared with the book, with warnings: known titles or texts, another language."""
        there = await self._store.book.titles_by_text()
        titles = {chapter.title for chapter in await self._store.book.chapters()}
        known = frozenset(
            at
            for at, one in enumerate(found.chapters)
            if (_titles(one.text, there) if one.text else one.title in titles)
        )
        changed = [one.title for at, one in enumerate(found.chapters) if at not in known and one.title in titles]
        texts = [one for one in found.chapters if one.text]
        renamed = [one.title for one in texts if one.title not in (_titles(one.text, there) or {one.title})]
        warnings = found.warnings
        if renamed:  # before the file's own warnings: the screen shows only the first few
            words = _("In the book with the same text under another title: {titles}.")
            warnings = (words.format(titles=named(renamed)), *warnings)
        if texts and found.language != self._base.language[:2]:
            words = _(
                "The text is in {language}, but the book is not: names would not be found. Before the import, "
                'set language = "{code}" under [project] in flowcabal.toml.'
            )
            name = _("Chinese") if found.language == "zh" else _("English")
            warnings = (words.format(language=name, code=found.language), *warnings)
        if changed:
            words = _("In the book with different text, and added as separate chapters: {titles}.")
            warnings = (*warnings, words.format(titles=named(changed)))
        return replace(found, warnings=warnings, known=known)

    async def _read(self, command: ImportManuscript) -> ImportPreview:
        preview = await self._first(Path(command.path), command.last)
        if not preview.chapters:
            raise ManuscriptError(
                _("No chapter was found in {file}.").format(file=command.path), _("Nothing was imported.")
            )
        self._emit(ImportProgress(0, len(preview.chapters), preview.warnings))
        return preview

    async def _first(self, path: Path, last: int | None) -> ImportPreview:
        file = Path(os.path.expanduser(path)).absolute()  # Path.expanduser raises RuntimeError for an unknown user
        try:
            found = await self._workshop.do(read_manuscript, file, limits=READING)
        except HelperFailed as error:
            raise ManuscriptError(
                _("This file cannot be read: {name}").format(name=file.name),
                sentences(error.title, error.detail),
                _("It may be damaged. Choose another file, or split it."),
            ) from error
        return replace(found, chapters=found.chapters[:last])


def _titles(text: str, there: Mapping[Digest, Collection[str]]) -> set[str]:
    """The titles under which a text is in the book.

    The comparison ignores blank lines between paragraphs and the two wide spaces before each, which DOCX and EPUB do
    not keep.
    """
    plain = paragraphs(text)
    indented = [f"\u3000\u3000{line}" for line in plain]
    spaced = (text, *(between.join(lines) for lines in (plain, indented) for between in ("\n", "\n\n")))
    return {title for one in spaced for title in there.get(digest(one), ())}


def _comments(preview: ImportPreview, known: Collection[int]) -> Mapping[int, Sequence[Comment]]:
    """The comments of the file by the rows of the imported chapters, without those of `known` ones."""
    rows = [at for at in range(len(preview.chapters)) if at not in known]
    texts = [(ChapterId(str(at)), clean(chapter.text)) for at, chapter in enumerate(preview.chapters)]
    found = placed([_noted(each) for each in preview.report.comments], texts)
    return {
        row: tuple(each for each in found if each.chapter == str(at))
        for row, at in enumerate(rows)
        if any(each.chapter == str(at) for each in found)
    }


def _noted(comment: FileComment) -> Comment:
    """A comment of a file; its time is UTC if the file does not specify a zone."""
    try:
        when = datetime.fromisoformat(comment.at) if comment.at else None
    except ValueError:
        when = None
    if when is not None and when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return Comment(
        ChapterId(""),
        comment.text,
        quotation=clean(comment.anchor),
        author=comment.author,
        resolved=comment.resolved,
        at=when,
    )

"""Notes on standard error about the writer's own text."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.project import Project
from flowcabal_tui.project.words import unsaved_words


def _note(text: str) -> None:
    say(_("note: {text}").format(text=text), file=sys.stderr)


async def note_unsaved(project: Project, words: str) -> None:
    """Prints the chapters with unsaved text, and its consequence for this command."""
    if names := unsaved_words([chapter for chapter, _draft in await project.drafts.all()]):
        _note(sentences(names, words))


async def note_replaced(project: Project, before: Mapping[ChapterId, Chapter]) -> None:
    """Prints the chapters whose newest version has replaced a text of the writer."""
    for chapter in await project.book.chapters():
        known = before.get(chapter.id)
        if known and known.digest and known.author != "model" and known.version != chapter.version:
            words = _("Chapter {n} had your own text, version {version}. It is kept as an earlier version.")
            _note(words.format(n=known.position, version=known.version))

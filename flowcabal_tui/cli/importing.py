"""`import`, `bootstrap` and `references`: novels that are there already."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Final

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.manuscript import ImportPreview, ReferenceId
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.memory.bootstrap_words import quoted, said
from flowcabal_tui.protocol import (
    BootstrapChanged,
    ImportManuscript,
    PauseBootstrap,
    RemoveReference,
    StartBootstrap,
)

DONE, FAILED, PAUSED = 0, 1, 3
_TICK_SECONDS: Final = 0.1


async def import_(arguments: Namespace) -> int:
    """Reads chapters from a file or folder into the book, or a reference book onto the shelf."""
    project = await Project.open(arguments.project, knowledge=False)
    try:
        preview = await project.preview_import(arguments.source)
        for warning in preview.warnings:
            print(_("note: {text}").format(text=warning), file=sys.stderr)
        chapters = preview.chapters[: arguments.last]
        if arguments.dry_run:
            for chapter in chapters:
                print(chapter.volume, chapter.title, len(chapter.text), sep="\t")
            return DONE
        reference = (arguments.title or arguments.source.stem) if arguments.kind == "reference" else ""
        made = await project.carry_out(ImportManuscript(str(arguments.source), arguments.last, reference))
        _told(preview, len(chapters), made if reference else "")
        await project.settled()
        if not reference and (quote := await _offered(project)):
            print(_("The agents' model has not read them yet: `flowcabal-tui bootstrap`, {quote}.").format(quote=quote))
    finally:
        await project.close()
    return DONE


def _told(preview: ImportPreview, chapters: int, reference: str) -> None:
    if reference:
        shelved = _("Put on the shelf as {id}: {n} parts ({encoding}).")
        print(shelved.format(id=reference, n=chapters, encoding=preview.encoding))
    else:
        print(_("Imported {n} chapters ({encoding}).").format(n=chapters, encoding=preview.encoding))


async def _offered(project: Project) -> str:
    """What a reading would take; "" when no model is set or none is needed."""
    if not any(role == "agent" for role, _endpoint in project.info.models):
        return ""
    quote = await project.quote_bootstrap()
    return quoted(quote) if quote.calls else ""


async def bootstrap(arguments: Namespace) -> int:
    """Quotes, asks, reads. Ends with 3 when the reading paused: give the command again to go on."""
    project = await Project.open(arguments.project, knowledge=False)
    try:
        if arguments.drop:
            await project.carry_out(PauseBootstrap(drop=True))
            print(_("The rest of the reading is given up; what was read stays."))
            return DONE
        quote = await project.quote_bootstrap(arguments.first, arguments.last)
        if not quote.calls:
            print(_("No imported chapter is left to be read."))
            return DONE
        print(quoted(quote))
        if not (arguments.yes or await _agreed()):
            return FAILED
        await project.carry_out(StartBootstrap(arguments.first, arguments.last, arguments.max_cost))
        return await _followed(project)
    finally:
        await project.close()


async def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise RunError(_("Nobody is there to agree."), _("Nothing was sent."), _("Give --yes."))
    answer = await asyncio.to_thread(input, _("Begin? [y/N]") + " ")
    return answer.strip().lower() in ("y", "yes", "是")


async def _followed(project: Project) -> int:
    """Prints how far it is until it ends; Ctrl+C pauses it when the calls under way are answered."""
    shown, moving = "", sys.stdout.isatty()
    while True:
        try:
            for event in project.take():
                if isinstance(event, BootstrapChanged):
                    words = said(event.status)
                    if words != shown:
                        shown = words
                        print(f"\r\x1b[K{words}" if moving else words, end="" if moving else "\n", flush=True)
                    if event.status.state in ("paused", "dropped", "done"):
                        print(end="\n" if moving else "")
                        return PAUSED if event.status.state == "paused" else FAILED if event.status.failed else DONE
            await asyncio.sleep(_TICK_SECONDS)
        except asyncio.CancelledError:
            await project.carry_out(PauseBootstrap())
            if (task := asyncio.current_task()) is not None:
                task.uncancel()


async def references(arguments: Namespace) -> int:
    """Lists the shelf, a book's parts, a part's text, or what was found."""
    project = await Project.open(arguments.project, read_only=not arguments.remove, knowledge=False)
    try:
        book = ReferenceId(arguments.book) if arguments.book else None
        if arguments.remove:
            if book is None:
                raise RunError(_("Which book?"), "", _("See `flowcabal-tui references PROJECT`."))
            await project.carry_out(RemoveReference(book))
        elif arguments.search:
            hits = await project.search_references(arguments.search, book)
            _rows(arguments.json, hits, [(hit.uri, hit.book, hit.title, hit.text) for hit in hits])
        elif book is None:
            found = await project.references()
            _rows(arguments.json, found, [(one.id, one.title, one.parts, one.length) for one in found])
        elif arguments.part is None:
            parts = await project.reference_parts(book)
            _rows(arguments.json, parts, parts)
        else:
            print((await project.source(f"reference/{book}/{arguments.part}")).text)
    finally:
        await project.close()
    return DONE


def _rows(as_json: bool, values: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    if as_json:
        print(json.dumps([to_plain(value) for value in values], ensure_ascii=False, indent=2))
        return
    for row in rows:
        print("\t".join(" ".join(str(cell).split()) for cell in row))

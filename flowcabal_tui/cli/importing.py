"""`import`, `bootstrap` and `references`: existing novels."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.cli.agreeing import agreed_to_pay, memory_settled
from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_list, say_over, say_row
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.manuscript import ImportPreview, ReferenceId
from flowcabal_tui.domain.text import word_count
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.manuscript.report import comment_line, report_lines
from flowcabal_tui.project import Project
from flowcabal_tui.project.memory.bootstrap_words import progress_words, quoted, reading_lines
from flowcabal_tui.project.words import paid_models
from flowcabal_tui.protocol.book import ImportManuscript, RemoveReference
from flowcabal_tui.protocol.memory import BootstrapChanged, PauseBootstrap, StartBootstrap

DONE, FAILED, PAUSED = 0, 1, 3
_TICK_SECONDS: Final = 0.1
_LONG_SECONDS: Final = 1.0
"""Work that takes longer is reported."""


async def import_(arguments: Namespace) -> int:
    """Imports chapters from a file or folder into the book, or adds a reference book."""
    require_beside("--dry-run", arguments.dry_run, json=arguments.json)
    require_beside("--as reference", arguments.kind == "reference", title=arguments.title)
    async with await opened(arguments, read_only=arguments.dry_run, knowledge=False) as project:
        reference = (arguments.title or arguments.source.stem) if arguments.kind == "reference" else ""
        preview = await project.book.preview_import(arguments.source, arguments.first, reference=bool(reference))
        notes = (*report_lines(preview.report), *map(comment_line, preview.report.comments))
        for warning in (*notes, *preview.warnings):
            say(_("note: {text}").format(text=warning), file=sys.stderr)
        if arguments.again:
            preview = replace(preview, known=frozenset())
        if arguments.dry_run:
            _print_preview(preview, arguments.json)
            return DONE
        command = ImportManuscript(str(arguments.source), arguments.first, reference, arguments.again)
        made = await project.carry_out(command)
        _print_result(preview, made, reference=bool(reference))
        await _settled(project)
        await memory_settled(project)
        if not reference and (quote := await _offered(project)):
            say(_("The agents' model has not read them yet: `flowcabal-tui bootstrap`, {quote}.").format(quote=quote))
    return DONE


async def _settled(project: Project) -> None:
    """Waits until the background tasks have finished; reports a long wait, in a terminal with the progress."""
    following, moving, announced = asyncio.create_task(project.memory.settled()), sys.stderr.isatty(), False
    try:
        while not (await asyncio.wait([following], timeout=_LONG_SECONDS))[0]:
            if not announced:
                say(_("Background work follows; Ctrl+C leaves the rest for the next start."), file=sys.stderr)
            announced = True
            left = len(
                [task for task in await project.memory.background() if task.kind != "knowledge" and not task.job]
            )
            if moving:
                say_over(_("{n} steps left").format(n=left), sys.stderr)
        await following
    finally:
        following.cancel()
        if announced and moving:
            say_over("", sys.stderr)


def _print_preview(preview: ImportPreview, as_json: bool) -> None:
    """Prints a line for each chapter (number, volume, title, length, whether the book has it already), then the sum.

    Lengths are counted as in the book; JSON has all characters of a text.
    """
    chapters, known = preview.chapters, preview.known
    if as_json:
        rows = [
            {"title": one.title, "volume": one.volume, "number": one.number, "characters": len(one.text)}
            | {"known": at in known}
            for at, one in enumerate(chapters)
        ]
        values = {"encoding": preview.encoding, "language": preview.language, "warnings": preview.warnings}
        report = to_plain(preview.report)
        say_json({"chapters": rows} | values | {"report": report}, indent=2)
        return
    lengths = [word_count(one.text) for one in chapters]
    for at, one in enumerate(chapters):
        there = _("already in the book") if at in known else ""
        say_row((at + 1, one.volume, one.title, lengths[at], there))
    volumes = len({one.volume for one in chapters if one.volume})
    chinese = preview.language.startswith("zh")
    if not volumes:
        words = (
            _("{n} chapters, {length} characters ({encoding}, {language}); {known} are in the book.")
            if chinese
            else _("{n} chapters, {length} words ({encoding}, {language}); {known} are in the book.")
        )
    elif chinese:
        words = _(
            "{n} chapters in {volumes} volumes, {length} characters ({encoding}, {language}); {known} are in the book."
        )
    else:
        words = _(
            "{n} chapters in {volumes} volumes, {length} words ({encoding}, {language}); {known} are in the book."
        )
    say(
        words.format(
            n=len(chapters),
            volumes=volumes,
            length=f"{sum(lengths):,}",
            encoding=preview.encoding,
            language=_("Chinese") if chinese else _("English"),
            known=len(known),
        )
    )


def _print_result(preview: ImportPreview, made: str, *, reference: bool) -> None:
    """Prints the result; `made` is the id of the reference book, or the number of imported chapters."""
    if reference:
        shelved = _("Added as reference book {id}: {n} parts ({encoding}).")
        say(shelved.format(id=made, n=len(preview.chapters), encoding=preview.encoding))
        return
    imported = ngettext("Imported {n} chapter ({encoding}).", "Imported {n} chapters ({encoding}).", int(made))
    say(imported.format(n=made, encoding=preview.encoding))
    if preview.known:
        left = _("{n} were already in the book and were left out; --again imports them a second time.")
        say(left.format(n=len(preview.known)))


async def _offered(project: Project) -> str:
    """The cost of a reading; "" when no model is configured or confirmed, or no reading is needed."""
    is_set = any(role == "agent" for role, _endpoint in project.info.models)
    if not is_set or project.info.trust != "trusted":
        return ""
    quote = await project.memory.quote_bootstrap()
    return quoted(quote) if quote.calls else ""


async def bootstrap(arguments: Namespace) -> int:
    """Quotes, asks and reads. Returns 3 when the reading paused: the same command resumes it."""
    async with await opened(arguments, uses_models=not arguments.drop, knowledge=False) as project:
        if arguments.drop:
            await project.carry_out(PauseBootstrap(drop=True))
            say(_("The rest of the reading was cancelled; what was read is kept."))
            return DONE
        quote = await project.memory.quote_bootstrap(arguments.first, arguments.last)
        if not quote.calls:
            say(_("All imported chapters have been read."))
            return DONE
        price = reading_lines(quote, paid_models(project.info.models, "agent"))
        if not await _may_read(price, is_free=quote.cost == 0, yes=arguments.yes):
            return FAILED
        await project.carry_out(StartBootstrap(arguments.first, arguments.last, arguments.max_cost))
        return await _followed(project)


async def _may_read(price: Sequence[str], *, is_free: bool, yes: bool) -> bool:
    """Shows the price, and asks unless it is free or `yes`."""
    if not is_free:
        return await agreed_to_pay(price, yes=yes)
    for line in price:
        say(line, file=sys.stderr)
    return True


async def _followed(project: Project) -> int:
    """Prints the progress of a reading until it ends; Ctrl+C pauses it after the running calls."""
    shown, moving = "", sys.stdout.isatty()
    while True:
        try:
            for event in project.take():
                if isinstance(event, BootstrapChanged):
                    words = progress_words(event.status)
                    if words != shown:
                        shown = words
                        (say_over if moving else say)(words)
                    if event.status.state in ("paused", "dropped", "done"):
                        say(end="\n" if moving else "")
                        await project.memory.bootstrap_ended()
                        return PAUSED if event.status.state == "paused" else FAILED if event.status.failed else DONE
            await asyncio.sleep(_TICK_SECONDS)
        except asyncio.CancelledError:
            await project.carry_out(PauseBootstrap())
            if (task := asyncio.current_task()) is not None:
                task.uncancel()


async def references(arguments: Namespace) -> int:
    """Lists the reference books, a book's parts, a part's text, or the search results; 1 when there are none."""
    async with await Project.open(arguments.project, read_only=not arguments.remove, knowledge=False) as project:
        book = await _the_book(project, arguments.book) if arguments.book else None
        if arguments.remove:
            if book is None:
                raise BadArgument(_("Which book?"), "", _("See `flowcabal-tui references PROJECT`."))
            await project.carry_out(RemoveReference(book))
        elif arguments.search:
            hits = await project.book.search_references(arguments.search, book)
            say_list(hits, ((hit.uri, hit.book, hit.title, hit.text) for hit in hits), as_json=arguments.json)
            if not hits:
                say(_("Nothing was found."), file=sys.stderr)
                return FAILED
        elif book is None:
            found = await project.book.references()
            say_list(found, ((one.id, one.title, one.parts, one.length) for one in found), as_json=arguments.json)
            if not found:
                say(_("There is no reference book."), file=sys.stderr)
        elif arguments.part is None:
            parts = await project.book.reference_parts(book)
            say_list(parts, parts, as_json=arguments.json)
        else:
            if arguments.part > (count := len(await project.book.reference_parts(book))):
                raise UnknownName(
                    _("There is no part {n}.").format(n=arguments.part), _("The book has {n} parts.").format(n=count)
                )
            say((await project.memory.source(f"reference/{book}/{arguments.part}")).text)
    return DONE


async def _the_book(project: Project, name: str) -> ReferenceId:
    """The reference book of this id, of this title, or with this in its title.

    Raises UnknownName, and BadArgument when there are several.
    """
    books, wanted = await project.book.references(), name.casefold()
    for fits in (
        [one for one in books if one.id == name],
        [one for one in books if one.title.casefold() == wanted],
        [one for one in books if wanted in one.title.casefold()],
    ):
        if len(fits) == 1:
            return fits[0].id
        if fits:
            listed = "; ".join(f"{one.id} {one.title}" for one in fits)
            raise BadArgument(_("Several reference books have this name."), listed, _("Give its id."))
    raise UnknownName(
        _("No reference book is called {name}.").format(name=name),
        _("Reference books: {names}").format(names="; ".join(f"{one.id} {one.title}" for one in books) or _("none")),
    )

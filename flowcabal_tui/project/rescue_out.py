"""Writes the recovered contents of a damaged project into a new folder: Markdown, metadata, a report, and a new
project."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, get_args

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.comments import Comment
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Author, ImportedChapter
from flowcabal_tui.domain.memory import Entity, EntityKind
from flowcabal_tui.domain.proposals import Difference, Proposal, ProposalPlace
from flowcabal_tui.domain.text import clean, clean_line, nearest, slug
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.manuscript.mirror import mirror_name, render_mirror
from flowcabal_tui.project.book.backup import no_room, require_empty
from flowcabal_tui.project.book.following import AFTER_IMPORT, following
from flowcabal_tui.project.create import create_project
from flowcabal_tui.project.rescue import FoundChapter, Rescue
from flowcabal_tui.settings.project_file import load_project
from flowcabal_tui.store import Store
from flowcabal_tui.store.file.salvage import FoundVersion


async def put_notes(rescue: Rescue, store: Store, made_of: Mapping[ChapterId, ChapterId]) -> None:
    """Stores them; `made_of` returns the new chapter of each old one. Locks come last, since nothing can be written
    into a locked chapter."""
    texts = {new: await store.book.text(new) for new in made_of.values()}
    for comment in rescue.comments:
        if comment.chapter in made_of:
            placed = _placed(replace(comment, chapter=made_of[comment.chapter]), texts)
            await store.comments.add(placed, rescue.words.get(comment.id))
    known = {entity.identity for entity in rescue.entities}
    found = [replace(each, proposal=_moved(each.proposal, made_of, texts, known)) for each in rescue.findings
             if _chapters(each.proposal) <= made_of.keys()]  # fmt: skip
    await store.findings.restore(found)
    await store.revision.lock([made_of[chapter] for chapter in sorted(rescue.locked & made_of.keys())], locked=True)


def _placed(comment: Comment, texts: Mapping[ChapterId, str]) -> Comment:
    """The comment at its place in the rescued text, marked as lost if its words are missing."""
    if not comment.quotation:
        return comment
    at = nearest(texts[comment.chapter], comment.quotation, comment.start)
    if at < 0:
        return replace(comment, lost=True)
    return replace(comment, start=at, end=at + len(comment.quotation), lost=False)


def _chapters(proposal: Proposal) -> set[ChapterId]:
    """The chapters that it names."""
    against = proposal.finding.against
    return {*([proposal.place.chapter] if proposal.place else []), *([against] if against else [])}


def _moved(
    proposal: Proposal, made_of: Mapping[ChapterId, ChapterId], texts: Mapping[ChapterId, str], known: set[str]
) -> Proposal:
    finding, place, is_lost = proposal.finding, proposal.place, False
    if place is not None:
        chapter = made_of[place.chapter]
        at = nearest(texts[chapter], proposal.quotation, place.start)
        is_lost = at < 0
        place = ProposalPlace(chapter, max(at, 0), max(at, 0) + len(proposal.quotation))
    source = finding.source
    if finding.against:
        chapter = made_of[finding.against]
        at = nearest(texts[chapter], source.text, source.start)
        is_lost = is_lost or at < 0
        start, end = max(at, 0), max(at, 0) + len(source.text)
        source = replace(source, uri=f"manuscript/{chapter}", start=start, end=end)
    about = tuple(each for each in finding.about if each in known)
    state = "resolved" if is_lost and proposal.state in ("waiting", "later") else proposal.state
    return replace(
        proposal, place=place, difference=Difference(replace(finding, source=source, about=about)), state=state
    )


REPORT: Final = "REPORT.md"
PROJECT: Final = "project"
_SHORTEST_LOOSE: Final = 200
_MOST_LOOSE: Final = 10_000
_CHINESE: Final = ("\u4e00", "\u9fff")
_LANGUAGE_SAMPLE: Final = 5_000


def described(rescue: Rescue) -> Iterator[str]:
    """The lines of the report on complete and lost contents."""
    whole = [chapter for chapter in rescue.chapters if not chapter.is_lost]
    if not rescue.database_exists:
        yield _("The project has no database; the chapters are those of the manuscript folder.")
    else:
        yield _("Database: {pages} pages read, {texts} intact texts, {damaged} damaged texts.").format(
            pages=rescue.found.pages, texts=len(rescue.found.texts), damaged=rescue.found.damaged_texts
        )
    if rescue.found.has_foreign_log:
        yield _("The log beside it belongs to another database and was not read; opening the project keeps it aside.")
    yield _("Can be extracted: {chapters} chapters with {versions} versions.").format(
        chapters=len(whole), versions=sum(len(chapter.versions) for chapter in whole)
    )
    for chapter in rescue.chapters:
        yield _line(chapter)
    for name, versions in rescue.meta.items():
        yield _("text about the book: {name}, {n} versions").format(name=name, n=len(versions))
    for words, found in (
        (_("parts of the outline that were assigned to chapters: {n}"), rescue.outline_links),
        (_("names that you wrote: {n}"), rescue.entities),
        (_("comments: {n}"), rescue.comments),
        (_("your decisions on notes of readers: {n}"), rescue.words),
        (_("findings, with your decisions: {n}"), rescue.findings),
        (_("locked chapters: {n}"), rescue.locked),
        (_("texts that no longer belong to a chapter: {n}, including those of runs"), rescue.loose),
    ):
        if found:
            yield words.format(n=len(found))


def _line(chapter: FoundChapter) -> str:
    title = clean_line(chapter.title) or chapter.id
    state = _("whole")
    if chapter.is_lost:
        state = _("LOST")
    elif chapter.newest_is_lost:
        state = _("the newest text is LOST; an older one is intact")
    elif chapter.file is not None:
        state = _("from the file {name}").format(name=clean_line(chapter.file.path.name))
    elif not chapter.versions:
        state = _("never written")
    if chapter.deleted:
        state = _("deleted before; {state}").format(state=state)
    parts = [state, ngettext("{n} version", "{n} versions", len(chapter.versions)).format(n=len(chapter.versions))]
    if chapter.lost:
        parts.append(_("versions lost: {numbers}").format(numbers=_(", ").join(map(str, chapter.lost))))
    return "\t".join((str(chapter.position or "-"), title, "; ".join(parts)))


async def take_out(rescue: Rescue, source: Path, target: Path) -> bool:
    """Writes all complete texts into a new folder; returns False when no new project could be made.

    Raises ProjectExists for a folder that is not empty, DiskFull; then nothing was written.
    """
    require_empty(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        workplace = Path(tempfile.mkdtemp(prefix=".rescue-", dir=target.parent))
        try:
            await asyncio.to_thread(_write_files, rescue, workplace)
            if target.exists():
                target.rmdir()
            workplace = workplace.rename(target)
            problem = await _make_project(rescue, source, target / PROJECT)
            await asyncio.to_thread(_write_report, rescue, source, target, problem)
        except BaseException:  # interrupted or not, no incomplete folder stays
            shutil.rmtree(workplace, ignore_errors=True)
            raise
    except OSError as error:
        raise no_room(target, error) from error
    return not problem


def _write_files(rescue: Rescue, folder: Path) -> None:
    for chapter in rescue.chapters:
        name = mirror_name(chapter.position, chapter.title or chapter.id)
        texts = list(_texts(rescue, chapter))
        if not texts:
            continue
        place = folder / ("deleted" if chapter.deleted else "chapters")
        _write_text(place / name, chapter, texts[-1][1])
        for version, text in texts[:-1]:
            number = f"v{version.number:04}" if version else "file"
            _write_text(folder / "versions" / f"{Path(name).stem}-{slug(chapter.id)}" / f"{number}.md", chapter, text)
    for meta, versions in rescue.meta.items():
        _write(folder / "about" / f"{meta}.md", rescue.text(versions[-1].digest))
    for digest in rescue.loose[:_MOST_LOOSE]:
        text = rescue.text(digest)
        if len(text) >= _SHORTEST_LOOSE:
            _write(folder / "loose" / f"{digest}.md", text)
    metadata = {
        "chapters": [asdict(one) | {"file": one.file.path.name if one.file else None} for one in rescue.chapters],
        "about": {name: [asdict(version) for version in versions] for name, versions in rescue.meta.items()},
        "outline": [asdict(link) for link in rescue.outline_links],
        "names": [asdict(entity) for entity in rescue.entities],
        "comments": [to_plain(comment) for comment in rescue.comments],
        "decided_notes": {str(number): to_plain(word) for number, word in rescue.words.items()},
        "findings": [to_plain(finding) for finding in rescue.findings],
        "locked": sorted(rescue.locked),
    }
    _write(folder / "metadata.json", json.dumps(metadata, ensure_ascii=False, indent=2) + "\n")


def _write_text(path: Path, chapter: FoundChapter, text: str) -> None:
    """A second chapter of the same name gets its id into the name of its file."""
    free = path if not path.exists() else path.with_stem(f"{path.stem}-{slug(chapter.id)}")
    _write(free, render_mirror(chapter.title or chapter.id, text))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(clean(text), encoding="utf-8", errors="surrogatepass")


def _texts(rescue: Rescue, chapter: FoundChapter) -> Iterator[tuple[FoundVersion | None, str]]:
    """The whole texts of a chapter, oldest first, the file's last."""
    for version in chapter.versions:
        yield version, rescue.text(version.digest)
    if chapter.file is not None:
        yield None, rescue.text(chapter.file.digest)


def _write_report(rescue: Rescue, source: Path, folder: Path, problem: str) -> None:
    lines = [f"- {line}".replace("\t", " · ") for line in described(rescue)]
    made = _(
        "The folder {name} contains a new project with these chapters, versions, texts, names, comments, findings and"
        " locks."
    )
    made = made.format(name=PROJECT)
    lines.append(f"- {problem or made}")
    lines.append("- " + _("Settings, prompts, workflows, runs and texts derived by agents are not included."))
    head = _("# Rescued from {folder}").format(folder=clean_line(str(source)))
    _write(folder / REPORT, "\n\n".join((head, "\n".join(lines))) + "\n")


async def _make_project(rescue: Rescue, source: Path, folder: Path) -> str:
    """Makes a new project from the rescued data. Returns the reason if there is none, "" if it was made."""
    if not any(not chapter.is_lost for chapter in rescue.chapters):
        return _("No new project was made: no chapter is intact.")
    try:
        known = load_project(source).project
        name, language = known.name, known.language
    except FlowCabalError:
        name, language = source.resolve().name, _language(rescue)
    try:
        await create_project(folder, name=name, language=language)
        async with await Store.open(folder, clock=lambda: datetime.now(UTC), language=language) as store:
            await _fill(rescue, store)
            await store.check()
    except FlowCabalError as error:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        return _("No new project was made: {reason}").format(reason=error.title)
    return ""


async def _fill(rescue: Rescue, store: Store) -> None:
    book, follow = store.book, following(AFTER_IMPORT)
    made_of: dict[ChapterId, ChapterId] = {}
    for chapter in rescue.chapters:
        if chapter.is_lost:
            continue
        identity = None
        for version, text in _texts(rescue, chapter):
            if identity is None:
                named = ImportedChapter(clean_line(chapter.title), text, clean_line(chapter.volume), chapter.position)
                identity = (await book.import_chapters([named], follow))[0].id
            else:
                author = _author(version)
                await book.write(identity, text, author, clean_line(version.note if version else ""), tasks=follow)
        if identity is None:
            identity = (await book.add_chapter(clean_line(chapter.title), clean_line(chapter.volume))).id
        made_of[chapter.id] = identity
        if chapter.deleted:
            await book.delete(identity)
    for meta, versions in rescue.meta.items():
        for version in versions:
            await book.write_meta(meta, rescue.text(version.digest), _author(version))
    if rescue.outline_links:
        await book.link_outline(
            [replace(one, chapter=made_of.get(one.chapter, one.chapter)) for one in rescue.outline_links]
        )
    for entity in rescue.entities:
        if entity.kind in get_args(EntityKind):
            kind: EntityKind = entity.kind  # type: ignore[assignment]  # just looked at
            aliases = tuple(map(str, _json_list(entity.aliases)))
            made = Entity(EntityId(entity.identity), kind, clean_line(entity.name), aliases, clean(entity.note), "hand")
            fields = [row for row in _json_list(entity.fields) if isinstance(row, list) and len(row) == 2]
            noted = tuple((str(name), str(value)) for name, value in fields)
            await store.memory.put_entity(replace(made, own_kind=entity.own_kind, fields=noted))
    await put_notes(rescue, store, made_of)


def _author(version: FoundVersion | None) -> Author:
    return next((one for one in get_args(Author) if version and one == version.author), "outside")


def _json_list(text: str) -> list[object]:
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return value if isinstance(value, list) else []


def _language(rescue: Rescue) -> Literal["zh", "en"]:
    """The language of the first readable text, since the settings cannot be read."""
    for chapter in rescue.chapters:
        for _version, text in _texts(rescue, chapter):
            sample = text[:_LANGUAGE_SAMPLE]
            chinese = sum(_CHINESE[0] <= character <= _CHINESE[1] for character in sample)
            return "zh" if chinese * 3 > len(sample) else "en"
    return "en"

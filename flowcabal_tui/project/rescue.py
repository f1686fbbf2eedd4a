"""Recovers the contents of a damaged project: chapters, their versions, texts about the book, names, comments,
findings, locks.

Sources are the database, read page by page, and the files of the manuscript folder. The damaged project is only read.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import DiskFull, ManuscriptError, ProjectLocked, ProjectNotFound
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.memory import META_NAMES
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean_line, digest
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.encoding import decode
from flowcabal_tui.manuscript.mirror import MIRROR_NAME, parse_mirror
from flowcabal_tui.settings.paths import MANUSCRIPT, PROJECT_FILE, PROJECT_STATE
from flowcabal_tui.store.file.lock import holder_of
from flowcabal_tui.store.file.salvage import FoundEntity, FoundVersion, Salvage, SalvagedData
from flowcabal_tui.store.rows.outline import OUTLINE_LINKS, read_links
from flowcabal_tui.store.rows.salvaged import salvaged_comments, salvaged_findings, salvaged_locks, salvaged_words
from flowcabal_tui.store.store import DATABASE, LOCK

_MOST_FILES: Final = 20_000
_LARGEST_FILE: Final = 16 << 20
_NOT_CHAPTERS: Final = ("meta/", "entity/", "scene/")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the manuscript folder. `position` is the chapter's position according to the file name, from 1; 0:
    none."""

    path: Path
    position: int
    title: str
    digest: Digest


@dataclass(frozen=True, slots=True)
class FoundChapter:
    """A chapter. `versions` are those with complete texts, oldest first; `lost` are the numbers of the others.

    `file` holds a later text: an edit made outside, or all that is left.
    """

    id: ChapterId
    position: int
    title: str
    volume: str
    deleted: bool
    versions: tuple[FoundVersion, ...]
    lost: tuple[int, ...]
    file: FoundFile | None = None

    @property
    def newest_is_lost(self) -> bool:
        """True when there was a newer text than the one that can be recovered."""
        newest = max((version.number for version in self.versions), default=0)
        return self.file is None and max(self.lost, default=0) > newest

    @property
    def is_lost(self) -> bool:
        """True when nothing of it can be recovered."""
        return self.file is None and not self.versions and bool(self.lost)


class Rescue:
    """A damaged project, read as far as possible. Use it in a `with` statement.

    `database` is the name of its database, or of the log of a lost one. Raises ProjectNotFound, ProjectLocked, and
    DiskFull when files cannot be read.
    """

    def __init__(self, folder: Path, database: str = DATABASE) -> None:
        if not any((folder / name).exists() for name in (PROJECT_FILE, PROJECT_STATE, MANUSCRIPT)):
            raise ProjectNotFound(_("There is no FlowCabal project in {folder}.").format(folder=folder))
        if holder := holder_of(folder / PROJECT_STATE / LOCK):
            raise ProjectLocked(
                _("The project is open elsewhere."),
                _("It is locked by {holder}.").format(holder=holder),
                _("Close it there, then try again."),
            )
        try:
            file = folder / PROJECT_STATE / Path(database).name.removesuffix("-wal")
            self._salvage = Salvage(file)
            self.found: SalvagedData = self._salvage.read()
            files = list(_files(folder / MANUSCRIPT))
        except OSError as error:
            raise DiskFull(
                _("The damaged project cannot be read."),
                _("{reason}. Nothing was changed.").format(reason=os_reason(error)),
                _("Check that you may read its folder."),
            ) from error
        self._paths = {file.digest: file.path for file in files}
        self.database_exists = file.exists() or file.with_name(f"{file.name}-wal").exists()
        self.chapters = self._chapters(files)
        self.meta = {
            name: versions for name in META_NAMES if (versions := self._whole(self._versions().get(f"meta/{name}", [])))
        }
        linked = self._whole(self._versions().get(f"meta/{OUTLINE_LINKS}", []))
        self.outline_links = read_links(self.text(linked[-1].digest)) if linked else ()
        """Which parts of the outline belong to which chapters, by the ids that those had."""
        self.entities: tuple[FoundEntity, ...] = tuple(
            entity for entity in self.found.entities.values() if entity.by == "hand" and not entity.removed
        )
        self.comments = salvaged_comments(self.found.comments)
        words = salvaged_words(self.found.note_words)
        self.words = {each.id: words[each.id] for each in self.comments if each.id in words and each.author}
        """The writer's decisions on notes of readers."""
        self.findings = salvaged_findings(self.found.findings)
        self.locked = salvaged_locks(self.found.locks) & {chapter.id for chapter in self.chapters}
        named = {version.digest for version in self.found.versions.values()}
        self.loose = tuple(sorted(self.found.texts.keys() - named)) if self._rows_are_missing() else ()
        """Whole texts that no version names, when rows that could name them are lost: runs' texts are among them."""

    def __enter__(self) -> Rescue:
        return self

    def __exit__(self, *_error: object) -> None:
        self._salvage.__exit__()

    def text(self, name: Digest) -> str:
        """A text that was found complete, in the database or in a file. Raises KeyError if it was not."""
        if name in self.found.texts:
            return self._salvage.text(name)
        content = _content(self._paths[name])
        text = parse_mirror(content)[1] if content is not None else None
        if text is None or digest(text) != name:
            raise KeyError(name)
        return text

    def _versions(self) -> dict[str, list[FoundVersion]]:
        found: defaultdict[str, list[FoundVersion]] = defaultdict(list)
        for version in sorted(self.found.versions.values(), key=lambda version: version.number):
            found[version.subject].append(version)
        return found

    def _whole(self, versions: list[FoundVersion]) -> tuple[FoundVersion, ...]:
        return tuple(one for one in versions if one.digest in self.found.texts or one.digest in self._paths)

    def _rows_are_missing(self) -> bool:
        written = {version.subject for version in self.found.versions.values()}
        numbered = defaultdict[str, set[int]](set)
        for subject, number in self.found.versions:
            numbered[subject].add(number)
        gaps = any(numbers != {*range(min(numbers), max(numbers) + 1)} for numbers in numbered.values())
        return bool(self.found.texts) and (not written or gaps or bool(self.found.places.keys() - written))

    def _chapters(self, files: list[FoundFile]) -> tuple[FoundChapter, ...]:
        versions = self._versions()
        known = {version.digest for version in self.found.versions.values()}
        others = [file for file in files if file.digest not in known]
        subjects = [name for name in versions if not name.startswith(_NOT_CHAPTERS)]
        chapters: list[FoundChapter] = []
        for subject in dict.fromkeys([*self.found.places, *subjects]):
            place, all_of_it = self.found.places.get(ChapterId(subject)), versions.get(subject, [])
            whole = self._whole(all_of_it)
            lost = tuple(one.number for one in all_of_it if one not in whole)
            chapter = FoundChapter(
                ChapterId(subject),
                *((place.position, place.title, place.volume, place.deleted) if place else (0, "", "", False)),
                whole,
                lost,
            )
            chapters.append(chapter)
        return tuple(sorted([*_with_files(chapters, others)], key=lambda one: (one.deleted, one.position or 1 << 30)))


def _with_files(chapters: list[FoundChapter], files: list[FoundFile]) -> Iterator[FoundChapter]:
    """Gives each file whose text is no known version to the chapter in its place, or makes it a chapter."""
    of_place = {file.position: file for file in reversed(files) if file.position}
    taken: set[Path] = set()
    for chapter in chapters:
        file = None if chapter.deleted else of_place.get(chapter.position)
        if file is not None:
            taken.add(file.path)
            yield replace(chapter, title=chapter.title or file.title, file=file)
        else:
            yield chapter
    for file in files:
        if file.path not in taken:
            identity = ChapterId(f"file-{file.digest[:12]}")
            yield FoundChapter(identity, file.position, file.title, "", False, (), (), file)


def _files(folder: Path) -> Iterator[FoundFile]:
    """The Markdown files of the manuscript folder; links are not followed."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in sorted(folder.glob("*.md"))[:_MOST_FILES]:
        content = _content(path)
        if content is None:
            continue
        title, text = parse_mirror(content)
        place = MIRROR_NAME.fullmatch(path.name)
        yield FoundFile(path, int(place[1]) if place else 0, clean_line(title) or path.stem, digest(text))


def _content(path: Path) -> str | None:
    """The text of a regular file in any encoding; None when it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST_FILE:
            return None
        data = opened.read(_LARGEST_FILE)
    try:
        return decode(data, path.name).text
    except ManuscriptError:
        return data.decode("utf-8", "replace")

"""Creates projects and the demo."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from flowcabal_tui.demo import sample, templates
from flowcabal_tui.demo.story import sample_story
from flowcabal_tui.domain.errors import DiskFull, ProjectExists, ProjectLocked
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.following import AFTER_KEEP, following
from flowcabal_tui.project.trust.service import record_new
from flowcabal_tui.settings.file_modes import file_modes
from flowcabal_tui.settings.paths import MANUSCRIPT, PROJECT_FILE, PROJECT_STATE
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, ProjectSettings, ProjectTable, save_project
from flowcabal_tui.store import Store
from flowcabal_tui.system.files import Folder


async def create_project(
    folder: Path, *, name: str, language: str, models: ModelsSettings | None = None, author: str = ""
) -> Path:
    """Makes a project folder with the templates in the language of the book. Raises ProjectExists or DiskFull.

    A folder with other files is accepted, one with a project is not. Nothing in it is overwritten, and a failure leaves
    nothing behind.
    """
    folder = folder.expanduser().resolve()
    if os.path.lexists(folder / PROJECT_FILE):
        raise ProjectExists(
            _("There is already a project in {folder}.").format(folder=folder),
            _("It was not changed."),
            _("Open it, or choose another folder."),
        )
    modes = file_modes()
    settings = ProjectSettings(
        project=ProjectTable.model_validate(
            {"id": uuid.uuid4().hex, "name": clean_line(name) or folder.name, "language": language, "author": author}
        ),
        models=models or ModelsSettings(),
    )
    with _whole_or_nothing(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=modes.folder)
            project = Folder(folder, modes)
            project.make(MANUSCRIPT)
            project.write(b"*\n", PROJECT_STATE, ".gitignore")
            save_project(folder, settings, modes)
        except OSError as error:
            raise DiskFull(
                _("Cannot create a project in {folder}.").format(folder=folder),
                _("{reason}. Nothing was changed.").format(reason=os_reason(error)),
                _("Choose a folder that you may write to."),
            ) from error
        async with await Store.open(folder, clock=lambda: datetime.now(UTC), language=language, modes=modes) as store:
            saved = [await store.workflows.save(template) for template in templates(language)]
        await asyncio.to_thread(record_new, folder, settings, saved)
    return folder


@contextmanager
def _whole_or_nothing(folder: Path) -> Iterator[None]:
    """Removes the created files if the creation fails; files that existed before are not changed."""
    found = _own_files(folder)
    inner = (folder / MANUSCRIPT, folder / PROJECT_STATE)
    new_folders = [path for path in (*inner, folder, *folder.parents) if not path.exists()]
    try:
        yield
    except (ProjectExists, ProjectLocked):
        raise  # another program created it
    except BaseException:  # also when it is interrupted: nothing incomplete may stay
        for file in _own_files(folder) - found:
            with suppress(OSError):
                file.unlink()
        for path in new_folders:  # innermost folders first; a folder with other contents stays
            with suppress(OSError):
                path.rmdir()
        raise


def _own_files(folder: Path) -> set[Path]:
    return {*folder.glob(PROJECT_FILE), *(folder / PROJECT_STATE).glob("*")}


async def create_demo(folder: Path, language: str, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Path:
    """Creates the demo: the sample novel up to the chapter to write, with the offline model."""
    novel = sample(language)
    offline = ModelsSettings(user=OFFLINE, agent=OFFLINE)
    with _whole_or_nothing(folder.expanduser().resolve()):
        await create_project(folder, name=novel.title, language=novel.language, models=offline)
        async with await Store.open(folder, clock=clock, language=novel.language) as store:
            for name, text in novel.meta:
                await store.book.write_meta(name, text, "import", tasks=following(("knowledge",)))
            for entity in novel.entities:
                await store.memory.put_entity(entity)
            chapters = await store.book.import_chapters(novel.chapters, following(AFTER_KEEP))
            for record in sample_story(language, chapters):
                await store.records.put(record)
            chapter = await store.book.add_chapter(novel.next_title)
            await store.values.put_draft(f"instruction/{chapter.id}", novel.instruction)
    return folder

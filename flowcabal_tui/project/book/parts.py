"""The parts of an open project that are about the book."""

from __future__ import annotations

from functools import partial

from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.beats import BeatsReader
from flowcabal_tui.project.book.blame import Blame
from flowcabal_tui.project.book.chapters_edit import ChaptersEdit
from flowcabal_tui.project.book.curation import Curation
from flowcabal_tui.project.book.importing import Importer
from flowcabal_tui.project.book.mirror import Mirror
from flowcabal_tui.project.book.outlining import Outlining
from flowcabal_tui.project.book.outside_edits import OutsideEdits
from flowcabal_tui.project.book.overview import OverviewReader
from flowcabal_tui.project.book.ports import MemoryPort
from flowcabal_tui.project.book.proofing import Proofing
from flowcabal_tui.project.book.scene_edits import SceneEdits
from flowcabal_tui.system.files import Folder, Modes


class BookFiles:
    """The files of the chapters, which other programs may edit."""

    def __init__(self, base: ProjectBase, modes: Modes) -> None:
        self.mirror = Mirror(Folder(base.folder, modes), base.store)
        self.outside = OutsideEdits(base.store, self.mirror, base.emit, base.work.wake)


class BookParts:
    """Chapters, kept texts, outline and imports. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, files: BookFiles, memory: MemoryPort) -> None:
        store, emit = base.store, base.emit
        self.mirror, self.outside = files.mirror, files.outside
        self.importer = Importer(
            store, base.workshop, base.language, emit, memory.wake, partial(base.models.is_offline, "agent")
        )
        self.curation = Curation(store, files.outside, emit, memory, base.clock)
        self.edits = ChaptersEdit(store, emit, memory)
        self.outlining = Outlining(store, emit, memory.wake, base.current_settings)
        self.scenes = SceneEdits(store, base.current_settings, self.curation.write, self.outlining.write)
        self.proofing, self.beats = Proofing(base), BeatsReader(base)
        self.overview = OverviewReader(store, base.current_settings, files.outside, base.clock)
        self.blame = Blame(store)

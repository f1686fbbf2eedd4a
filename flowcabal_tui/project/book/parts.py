"""The parts of an open project for the book."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.mirror import Mirror
from flowcabal_tui.project.book.outside_edits import OutsideEdits
from flowcabal_tui.system.files import Folder, Modes

if TYPE_CHECKING:
    from flowcabal_tui.project.book.beats import BeatsReader
    from flowcabal_tui.project.book.blame import Blame
    from flowcabal_tui.project.book.chapters_edit import ChaptersEdit
    from flowcabal_tui.project.book.curation import Curation
    from flowcabal_tui.project.book.importing import Importer
    from flowcabal_tui.project.book.outlining import Outlining
    from flowcabal_tui.project.book.overview import OverviewReader
    from flowcabal_tui.project.book.proofing import Proofing
    from flowcabal_tui.project.book.scene_edits import SceneEdits


class BookFiles:
    """The files of the chapters, which other programs may edit."""

    def __init__(self, base: ProjectBase, modes: Modes) -> None:
        self.mirror = Mirror(Folder(base.folder, modes), base.store)
        self.outside = OutsideEdits(base, self.mirror)


class BookParts:
    """Builds the parts for chapters, kept texts, outline and imports. Lives on the engine's loop."""

    def __init__(
        self, base: ProjectBase, files: BookFiles, placed: Callable[[Sequence[Chapter]], Awaitable[None]]
    ) -> None:
        """`placed`: see `Curation`."""
        self._base, self._placed = base, placed
        self.mirror, self.outside = files.mirror, files.outside

    @cached_property
    def importer(self) -> Importer:
        """Imports manuscripts and reference books."""
        from flowcabal_tui.project.book.importing import Importer

        return Importer(self._base)

    @cached_property
    def curation(self) -> Curation:
        """Keeps and edits texts."""
        from flowcabal_tui.project.book.curation import Curation

        return Curation(self._base, self.outside, self._placed)

    @cached_property
    def edits(self) -> ChaptersEdit:
        """Makes changes of several chapters."""
        from flowcabal_tui.project.book.chapters_edit import ChaptersEdit

        return ChaptersEdit(self._base, self._placed)

    @cached_property
    def outlining(self) -> Outlining:
        """Edits the outline."""
        from flowcabal_tui.project.book.outlining import Outlining

        return Outlining(self._base)

    @cached_property
    def scenes(self) -> SceneEdits:
        """Edits scenes in the text."""
        from flowcabal_tui.project.book.scene_edits import SceneEdits

        return SceneEdits(self._base, self.curation, self.outlining)

    @cached_property
    def proofing(self) -> Proofing:
        """Proofs texts by rule."""
        from flowcabal_tui.project.book.proofing import Proofing

        return Proofing(self._base)

    @cached_property
    def beats(self) -> BeatsReader:
        """Compares the beats of a chapter with its text."""
        from flowcabal_tui.project.book.beats import BeatsReader

        return BeatsReader(self._base)

    @cached_property
    def overview(self) -> OverviewReader:
        """Reads the state of the book."""
        from flowcabal_tui.project.book.overview import OverviewReader

        return OverviewReader(self._base, self.outside)

    @cached_property
    def blame(self) -> Blame:
        """Finds the origins of lines."""
        from flowcabal_tui.project.book.blame import Blame

        return Blame(self._base.store)

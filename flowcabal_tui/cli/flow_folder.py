"""A folder of workflows: documents that may call each other, each with its findings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from flowcabal_tui.cli.documents import SUFFIXES, conversion_of, read_document
from flowcabal_tui.dialects.detect import Document, findings_of
from flowcabal_tui.dialects.report import Conversion
from flowcabal_tui.domain.errors import UnknownName, WorkflowError
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.calls import calls
from flowcabal_tui.nodes.validation import Actions
from flowcabal_tui.settings.paths import PROJECT_FILE

MOST_FILES: Final = 500


@dataclass(frozen=True, slots=True)
class FlowFile:
    """One document of the folder; `refused` is the reason why it could not be read."""

    path: Path
    document: Document | None = None
    conversion: Conversion | None = None
    refused: WorkflowError | None = None


@dataclass(frozen=True)
class FlowFolder:
    """The documents, sorted by name."""

    path: Path
    files: tuple[FlowFile, ...]
    library: Mapping[str, Workflow] = field(default_factory=dict)
    """The readable documents, by id and by `id@version`."""

    def findings(self, file: FlowFile, actions: Actions | None) -> tuple[Problem, ...]:
        """The errors of one document, checked together with the others. An unreadable document yields one finding."""
        if file.document is None:
            error = file.refused
            problem = f"{error.title} {error.detail}".strip() if error else ""
            return (Problem(code="INVALID_SCHEMA", message=problem),)
        try:
            return findings_of(file.document, actions, library=self.library)
        except WorkflowError as error:
            return (Problem(code="INVALID_SCHEMA", message=f"{error.title} {error.detail}".strip()),)

    def chosen(self, reference: str | None) -> Workflow:
        """The workflow with an id or `id@version`; without one, the only one that no other calls. Raises
        WorkflowError."""
        if refused := next((file.refused for file in self.files if file.refused), None):
            raise refused
        if reference is not None and reference in self.library:
            return self.library[reference]
        known = _(", ").join(sorted({one.reference for one in self.library.values()})) or _("none")
        if reference is not None:
            title = _("There is no flow {name}.").format(name=reference)
            raise UnknownName(title, _("Available: {names}").format(names=known))
        called = {call.ref for one in self.library.values() for call in calls(one)}
        first = {one.reference: one for one in self.library.values() if not {one.id, one.reference} & called}
        if len(first) == 1:
            return next(iter(first.values()))
        raise WorkflowError(
            _("Which flow of the folder?"),
            _("Available: {names}").format(names=known),
            _("Put its id after the folder."),
        )


def is_flow_folder(path: Path) -> bool:
    """True for a folder that is not a project folder."""
    return path.is_dir() and not (path / PROJECT_FILE).exists()


def read_folder(path: Path) -> FlowFolder:
    """The documents in a folder and its subfolders, without following links. Raises WorkflowError."""
    found = sorted(_documents(path))
    if not found:
        message = _("There is no flow in {folder}.").format(folder=path)
        raise WorkflowError(message, _("Files that end in {names} are read.").format(names=_(", ").join(SUFFIXES)))
    if len(found) > MOST_FILES:
        message = _("There are too many files in {folder}.").format(folder=path)
        raise WorkflowError(message, _("{n} files; at most {most} are read.").format(n=len(found), most=MOST_FILES))
    files = [_read(file) for file in found]
    known: dict[str, Workflow] = {}
    for number, file in enumerate(files):
        if file.conversion is None:
            continue
        for one in (*file.conversion.others, file.conversion.workflow):
            double = known.get(one.reference)
            if double is not None and double != one:
                title = _("The flow {ref} is defined in two files.").format(ref=one.reference)
                advice = _("Give one of them another version.")
                files[number] = FlowFile(file.path, refused=WorkflowError(title, file.path.name, advice))
                continue
            known[one.reference] = one
            newest = known.get(one.id)
            known[one.id] = one if newest is None or newest.version <= one.version else newest
    return FlowFolder(path, tuple(files), known)


def _documents(path: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(path, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            file = Path(folder) / name
            if file.suffix in SUFFIXES and not file.is_symlink() and file.is_file():  # reading a pipe would never end
                yield file


def _read(path: Path) -> FlowFile:
    try:
        document = read_document(path)
    except WorkflowError as error:
        return FlowFile(path, refused=error)
    try:
        return FlowFile(path, document, conversion_of(path, document))
    except WorkflowError as error:
        return FlowFile(path, document, refused=error)

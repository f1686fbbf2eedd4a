"""The result of reading or writing another system's document: the workflow, and notes on the conversion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _

Level = Literal["changed", "lost", "info"]


@dataclass(frozen=True, slots=True)
class ConversionNote:
    """A part that the other form expresses differently (`changed`), cannot represent (`lost`), or that is worth
    knowing."""

    level: Level
    place: str
    """The place in the source document, such as `nodes[2].params.source`; "" for the whole."""
    message: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """A workflow read from another system's document."""

    workflow: Workflow
    notes: tuple[ConversionNote, ...] = ()
    others: tuple[Workflow, ...] = ()
    """Workflows that the first one runs, when the document holds several."""


class DialectError(WorkflowError):
    """A document that cannot be read; `line` and `column` count from 1, 0 if unknown."""

    def __init__(self, title: str, detail: str = "", advice: str = "", *, line: int = 0, column: int = 0) -> None:
        where = _("line {line}, column {column}").format(line=line, column=column) if line else ""
        super().__init__(title, ": ".join(part for part in (where, detail) if part), advice)
        self.line, self.column = line, column

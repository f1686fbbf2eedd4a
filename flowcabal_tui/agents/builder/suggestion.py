"""The suggestion for the writer: the copy, the reasons, and the difference from their workflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flowcabal_tui.agents.builder import edits
from flowcabal_tui.agents.builder.changes import Change, changes_between
from flowcabal_tui.agents.builder.checks import ChecklistItem, CopyReport
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.working_copy import WorkingCopy


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The outcome of a build. Without a reason in `stopped`, the checks passed after the last change."""

    document: Json
    base: Json | None
    changes: tuple[Change, ...]
    items: tuple[ChecklistItem, ...] = ()
    assumptions: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    explanation: str = ""
    report: CopyReport = CopyReport()
    stopped: str = ""


def changes_of(copied: WorkingCopy, wish: str, *, by_form: bool = False) -> tuple[Change, ...]:
    """The changes with the points that they serve. Those that the writer requested in words or in the form are ticked.

    A change that removes a question to the writer is never ticked.
    """
    marked = []
    for change in changes_between(copied.base, copied.document):
        requested = copied.base is None or by_form or _is_requested(change, wish)
        because = _because(change, copied.made)
        marked.append(replace(change, because=because, ticked=requested and not change.loses_gate))
    return tuple(marked)


def _is_requested(change: Change, wish: str) -> bool:
    """True when the writer requested the change: additions with their wiring count; other changes must be named."""
    folded = wish.casefold()
    name = change.node.rpartition("/")[2].casefold()
    match change.kind:
        case "node_added" | "wiring" | "edge_added" | "edge_removed" | "meta":
            return True
        case "node_removed":
            shown = str(change.before.get("name", "")).casefold()
            return name in folded or (bool(shown) and shown in folded)
        case "prompt":
            return False
        case _:
            return str(change.after).casefold() in folded and change.after not in (None, "")


def _because(change: Change, made: Sequence[edits.Edit]) -> str:
    for edit in reversed(made):
        if _touches(edit, change):
            return edit.because
    return ""


def _touches(edit: edits.Edit, change: Change) -> bool:
    match edit:
        case edits.AddNode():
            return f"{edit.inside}/{edit.id}".lstrip("/") == change.node
        case edits.RemoveNode() | edits.RenameNode():
            return edit.node == change.node
        case edits.ConnectNodes() | edits.DisconnectNodes():
            edge = change.after or change.before
            ends = (edge.get("source"), edge.get("target")) if isinstance(edge, dict) else ()
            return edit.inside == change.node and ends == (edit.source, edit.target)
        case edits.SetMeta():
            return change.kind == "meta" and edit.field == change.field
        case _:
            return edit.node == change.node and edit.field == change.field

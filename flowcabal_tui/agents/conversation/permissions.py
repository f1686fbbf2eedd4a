"""The permissions of a level. They are decided by rule, independently of the model and of the text of the book."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.conversation import MOST_APPLIED, ConversationLevel, Scope, Turn, applied_of
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import NewName, OutlineEdit, Proposal, TextEdit, WorkflowEdit

_LEAST_CUT: Final = 200
"""Characters: a passage that loses more than these, and more than half, is a deletion."""


def may_apply(turn: Turn, proposal: Proposal) -> bool:
    """True when the change may be applied at once: at the level "do", within its scope; never a deletion or a fact."""
    if turn.level != "do" or turn.scope is None or applied_of(turn.used) >= MOST_APPLIED:
        return False
    return proposal.state == "waiting" and _is_within(turn.scope, proposal)


def _is_within(scope: Scope, proposal: Proposal) -> bool:
    match proposal.difference.after:
        case TextEdit() as edit:
            return scope.kind == "chapter" and scope.target == edit.chapter and not _deletes(edit)
        case Entity() | NewName():
            return scope.kind == "lore"
        case OutlineEdit() as edit:
            return scope.kind == "lore" and not _deletes(edit)
        case WorkflowEdit() as edit:
            return scope.kind == "workflow" and scope.target == edit.workflow and not edit.asks
    return False


def _deletes(edit: TextEdit | OutlineEdit) -> bool:
    lost = len(edit.before) - len(edit.after)
    return not edit.after.strip() or (lost > _LEAST_CUT and lost > len(edit.before) // 2)


def level_words(level: ConversationLevel, scope: Scope | None) -> str:
    """The permissions of the level, for the model."""
    if level == "ask":
        return "ask: you read only; for a change the writer must choose another level first, so say that."
    if level == "suggest":
        return "suggest: what you propose waits for the writer, who accepts, edits or refuses it."
    what = {"chapter": "this chapter", "lore": "names, further names and the outline", "workflow": "this workflow"}
    named = what[scope.kind] if scope else "nothing"
    return f"do: you may change {named}, at most {MOST_APPLIED} times a question; all else waits for the writer."

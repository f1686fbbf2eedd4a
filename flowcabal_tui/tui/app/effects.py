"""The effects of commands on the book and on costs, if they do more than show, mark or open an editor."""

from __future__ import annotations

from typing import Final, Literal

from flowcabal_tui.locale import mark

Effect = Literal["shows", "accepts", "refuses", "adds", "deletes", "pays"]
"""`shows` also covers commands that ask, move, mark, or open an editor: nothing is final by the key alone."""
EFFECT_WORDS: Final[dict[Effect, str]] = {
    "accepts": mark("Accepts what is proposed."),
    "refuses": mark("Refuses, or stops."),
    "adds": mark("Adds something."),
    "deletes": mark("Deletes something."),
    "pays": mark("Lets a model work."),
}
_ACTIONS: Final[dict[Effect, str]] = {
    "accepts": "accept approve take choose confirm resolve intended output.keep node-versions.select replaced.keep "
               "records.pay unsaved.mine",
    "refuses": "reject refuse drop useless cancel cancel-all stop stop-node stop-all branch none mine newer",
    "adds": "add paste add-output add-question connect example duplicate new book.import",
    "deletes": "delete remove disconnect discard purge",
    "pays": "again retry retry-all revise regenerate rewrite rewrite-so seams send make make-all more update continue "
            "check sift resume read build start decision.mend chapters.run workflow.run block.run",
}  # fmt: skip
"""Ids, or their parts after the point."""


def effect_of(action: str) -> Effect:
    """The effect of an action: by its id, or by the part after the point."""
    verb = action.partition(".")[2]
    for name in (action, verb):
        for effect, actions in _ACTIONS.items():
            if name in actions.split():
                return effect
    return "shows"


def acts_on_row(action: str) -> bool:
    """True when it decides on the row under the cursor, which the writer must see first."""
    return effect_of(action) in ("accepts", "refuses", "deletes")

"""The effects of commands on the book and on costs, if they do more than show, mark or open an editor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from flowcabal_tui.locale import mark

Effect = Literal["shows", "accepts", "refuses", "adds", "deletes", "pays"]
"""`shows` also covers commands that ask, move, mark, or open an editor: nothing is final by the key alone."""
EFFECT_WORDS: Final[dict[Effect, str]] = {
    "accepts": mark("Accepts a proposal."),
    "refuses": mark("Rejects or stops."),
    "adds": mark("Adds something."),
    "deletes": mark("Deletes something."),
    "pays": mark("Calls a model."),
}
_ACTIONS: Final[dict[Effect, str]] = {
    "accepts": "manuscript.accept proof.accept talk.accept approve take take-all seams.all candidates.choose confirm "
               "restore output.keep node-versions.select replaced.keep unsaved.mine",
    "refuses": "reject refuse drop useless queue.cancel cancel-all memory.cancel stop stop-node stop-all branch "
               "candidates.none outside.mine",
    "adds": "add paste add-output add-question connect example duplicate workflows.new knowledge.install",
    "deletes": "delete remove disconnect discard purge forget unsaved.newer",
    "pays": "again retry retry-all revise regenerate rewrite rewrite-so seams send make make-all more update continue "
            "check sift resume read build patch step try run.start decision.mend chapters.run workflow.run block.run",
}  # fmt: skip
"""Ids, or their parts after the point."""


@dataclass(frozen=True, slots=True)
class KeysOf:
    """The keys of one effect. Those in `only` do nothing else anywhere; those in `too` may also only display
    something."""

    only: frozenset[str]
    too: frozenset[str]


def _keys(only: str, too: str) -> KeysOf:
    return KeysOf(frozenset(only.split()), frozenset(too.split()))


KEY_MEANINGS: Final[dict[Effect, KeysOf]] = {
    "accepts": _keys("a A", "y ctrl+s f2"),
    "refuses": _keys("x X", "b f9 shift+f9"),
    "adds": _keys("plus", "i v c"),
    "deletes": _keys("D delete shift+delete minus", ""),
    "pays": _keys("", "r R B C m M S f5 ctrl+r shift+f7"),
}
"""One letter, one meaning: in all panes, pages and dialogs a key of one effect never has another."""


def effect_of(action: str) -> Effect:
    """The effect of an action, by its id or by the part after the dot."""
    action = action.removeprefix("leader.")
    verb = action.partition(".")[2]
    for name in (action, verb):
        for effect, actions in _ACTIONS.items():
            if name in actions.split():
                return effect
    return "shows"


def acts_on_row(action: str) -> bool:
    """True when it decides on the row under the cursor, which must be visible to the writer."""
    return effect_of(action) in ("accepts", "refuses", "deletes")

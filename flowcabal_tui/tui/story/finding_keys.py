"""The keys, tabs and style of the list of findings."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding, BindingType

from flowcabal_tui.domain.proposals import ProposalState
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.help import HelpData

TABS: Final = (
    ("1", "waiting", mark("New findings")),
    ("2", "later", mark("Put aside")),
    ("3", "decided", mark("Decided")),
    ("4", "resolved", mark("Resolved")),
    ("5", "all", mark("All")),
)
STATES: Final[dict[str, tuple[ProposalState, ...]]] = {
    "waiting": ("waiting",),
    "later": ("later",),
    "decided": ("intended", "changed", "useless"),
    "resolved": ("resolved",),
    "all": (),
}
HELP: Final = HelpData(
    mark("Findings"),
    mark("Findings of checks in drafts, kept chapters and imported ones. Enter goes to the passage that was "
         "checked, `b` to the other one; `m` and `M` open the editor there. `c`: the story changes here, which "
         "writes a fact from this chapter on. `i`: intended, with a reason that later checks read. `x`: not "
         "useful, which counts against the check. `l` puts aside or takes up again. `u` undoes the last decision of "
         "this list; a mend is an edit of the text, and `V` in the manuscript has the version before. Space marks rows "
         "for `i`, `x` and `l`. Five new ones of a chapter are listed, the sure ones first; `f` unfolds the rest. "
         "Notes that readers left in an imported document come first: `m` mends there, `c` writes a fact, `i` and `x` "
         "answer the note, `l` puts it aside. `r` lists the checked chapters, `C` checks chapters, `T` switches the "
         "rule off."),
)  # fmt: skip
KEYS: Final[list[BindingType]] = [
    Binding("b", "leave_for(True)", mark("Other passage"), show=False, tooltip=mark("Go to the other passage."),
            id="findings.there"),
    Binding("m", "leave_for(False, True)", mark("Mend"), id="findings.mend",
            tooltip=mark("Open the editor at the words that were checked.")),
    Binding("M", "leave_for(True, True)", mark("Mend there"), show=False, id="findings.mend-there",
            tooltip=mark("Open the editor at the other passage.")),
    Binding("c", "change", mark("Changes here"), tooltip=mark("The story changes here: write the new fact."),
            id="findings.change"),
    Binding("i", "intend", mark("Intended"), tooltip=mark("Mark it as intended; the reason is kept."),
            id="findings.intended"),
    Binding("x", "decide('useless')", mark("Not useful"), tooltip=mark("Counts against the check that raised it."),
            id="findings.useless"),
    Binding("l", "later", mark("Later"), tooltip=mark("Put aside, or take up again."), id="findings.later"),
    Binding("u", "undo", mark("Undo"), tooltip=mark("Undo the last decision of this list."), id="findings.undo"),
    Binding("f", "fold", mark("Unfold"), show=False, tooltip=mark("Show all findings of a chapter, or the first five."),
            id="findings.fold"),
    Binding("s", "sort", mark("Order"), show=False, tooltip=mark("The newest first, or in story order."),
            id="findings.sort"),
    Binding("o", "chapter", mark("Chapter"), show=False,
            tooltip=mark("Show the rows of the open chapter only, or those of all chapters."), id="findings.chapter"),
    Binding("r", "report", mark("What was read"), tooltip=mark("What was checked, what was not, and how useful "
            "each check is."), id="findings.report"),
    Binding("C", "check", mark("Check"), tooltip=mark("Check chapters now, or stop."), id="findings.check"),
    Binding("T", "switch", mark("Rule off"), show=False, tooltip=mark("Switch the rule of this finding off for "
            "this book, or on again."), id="findings.rule"),
    Binding("space", "mark", mark("Mark"), show=False, tooltip=mark("Mark or unmark this row."), id="findings.mark"),
    Binding("asterisk", "mark_all", mark("Mark all"), show=False, tooltip=mark("Mark all rows that are listed; "
            "again: none."), id="findings.mark-all"),
    Binding("slash", "filter", mark("Find"), show=False, tooltip=mark("Type words, or a name."), id="findings.filter"),
    *(Binding(digit, f"states('{name}')", words, show=False, id=f"findings.{'put-aside' if name == 'later' else name}")
      for digit, name, words in TABS),
]  # fmt: skip
STYLE: Final = """
FindingsScreen > .head { height: auto; max-height: 2; padding: 0 1; }
FindingsScreen > FindingList { height: 1fr; min-height: 4; }
FindingsScreen > .details { height: 4; padding: 0 1; border-top: solid $panel; }
"""

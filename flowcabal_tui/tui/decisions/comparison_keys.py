"""The keys, the style and the help of the comparison of candidates."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding, BindingType

from flowcabal_tui.locale import mark
from flowcabal_tui.tui.decisions.answers import DIGITS
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData

HELP: Final = HelpData(
    mark("Comparison of candidates"),
    mark("Several texts for one purpose. The model, the price and the order of each are shown after you choose. "
         "`a` chooses the one with the focus, `=` first marks it as equally good, `x` rejects all. Space takes a "
         "paragraph into a text of your own, `b` all its paragraphs for a beat of the plan; `v` goes to that "
         "text, which you can edit, and F2 chooses it. `U` undoes a choice."),
)  # fmt: skip
STYLE: Final = """
ComparisonScreen > .head { height: 1; padding: 0 1; background: $panel; }
ComparisonScreen > .head { text-wrap: nowrap; text-overflow: ellipsis; }
ComparisonScreen > .details { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
ComparisonScreen > Horizontal { height: 1fr; }
ComparisonScreen #result { width: 1fr; height: 1fr; border-left: vkey $primary; }
ComparisonScreen #result .who { height: 2; padding: 0 1; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
ComparisonScreen ProseArea, ComparisonScreen ProseArea:focus { height: 1fr; border: none; padding: 0 1; }
"""
KEYS: Final[list[BindingType]] = [
    Binding("space,enter", "take", mark("Take paragraph"), key_display="Space", id="candidates.mark",
            tooltip=mark("Put this paragraph into your own text, or leave it out again.")),
    Binding("a", "choose", mark("Choose"), id="candidates.choose",
            tooltip=mark("Choose this candidate; among equally good ones, this one is used.")),
    *(Binding(digit, f"go({digit})", mark("Candidates"), show=digit == "1", key_display="1-8",
              tooltip=mark("Go to a candidate"), id=f"candidates.{digit}") for digit in DIGITS),
    Binding("b", "take_beat", mark("Take beat"), id="candidates.beat",
            tooltip=mark("All paragraphs of this candidate for the beat under the cursor.")),
    Binding("u", "take_none", mark("Clear"), show=False, id="candidates.unmark", tooltip=mark("Clear your own text.")),
    Binding("v", "result", mark("Your text"), id="candidates.preview",
            tooltip=mark("Go to your own text, and edit it.")),
    Binding("equals_sign", "equal", mark("Equally good"), key_display="=", show=False, id="candidates.equal",
            tooltip=mark("Mark this candidate as equally good, or unmark it.")),
    Binding("x", "none", mark("None of them"), show=False, id="candidates.none",
            tooltip=mark("Reject all: none is good enough.")),
    Binding("f2,ctrl+s", "submit", mark("Choose your text"), priority=True, show=False, id="candidates.submit"),
    Binding("h,left,left_square_bracket", "step(-1)", mark("Previous candidate"), show=False, id="candidates.previous"),
    Binding("l,right,right_square_bracket", "step(1)", mark("Next candidate"), show=False, id="candidates.next"),
    Binding("w", "why", mark("Facts against it"), show=False, id="candidates.findings"),
    Binding("C", "sift", mark("Check facts"), show=False, id="candidates.sift",
            tooltip=mark("Check the facts of all candidates: by rule, or also by the agents' model.")),
    Binding("r", "seams", mark("Seams"), show=False, id="candidates.seams",
            tooltip=mark("Have the sentences at the seams of your text changed; you accept each change by itself.")),
    Binding("m", "more", mark("More candidates"), show=False, id="candidates.more",
            tooltip=mark("Write more candidates; shows their cost first.")),
    Binding("o", "outcomes", mark("Who won"), show=False, id="candidates.outcomes",
            tooltip=mark("How often each prompt and model won, was equally good, or lost.")),
    Binding("U", "take_back", mark("Take back"), id="candidates.undo",
            tooltip=mark("Undo the choice: the earlier text is current again.")),
    Binding("escape", "leave", mark("Back"), priority=True, id="candidates.back"),
    HELP_KEYS,
]  # fmt: skip
OPEN_ONLY: Final = ("take", "take_none", "take_beat", "choose", "equal", "none", "submit", "seams", "more", "sift")
"""Actions that do not apply after the choice."""
EDITING: Final = ("submit", "leave", "help")
"""Actions available while the result is edited."""

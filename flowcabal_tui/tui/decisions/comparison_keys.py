"""The keys, the style and the help of the comparison of candidates."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding, BindingType

from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData

HELP: Final = HelpData(
    mark("Comparison of candidates"),
    mark("Several texts for one purpose. Who wrote which, for what price, and in which order, is shown when you "
         "have chosen. `a` chooses the one with the focus, `=` marks it as equally good first, `x` chooses none. "
         "Space takes a paragraph into a text of your own, `b` all its paragraphs for a beat of the plan; `v` goes "
         "to that text, which you can edit, and F2 chooses it. `U` takes a choice back."),
)  # fmt: skip
STYLE: Final = """
ComparisonScreen > .head { height: 1; padding: 0 1; text-style: bold reverse; }
ComparisonScreen > .head { text-wrap: nowrap; text-overflow: ellipsis; }
ComparisonScreen > .details { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
ComparisonScreen > Horizontal { height: 1fr; }
ComparisonScreen #result { width: 1fr; height: 1fr; border-left: vkey $primary; }
ComparisonScreen #result .who { height: 2; padding: 0 1; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
ComparisonScreen ProseArea, ComparisonScreen ProseArea:focus { height: 1fr; border: none; padding: 0 1; }
"""
DIGITS: Final = "1,2,3,4,5,6,7,8,9"
KEYS: Final[list[BindingType]] = [
    Binding("space,enter", "take", mark("Take paragraph"), key_display="Space", id="candidates.mark",
            tooltip=mark("Put this paragraph into your own text, or leave it out again.")),
    Binding("a", "choose", mark("Choose"), id="candidates.choose",
            tooltip=mark("Choose this candidate; with others that are equally good, as the one that goes on.")),
    *(Binding(digit, f"go({digit})", mark("Candidates"), show=digit == "1", key_display="1-8",
              tooltip=mark("Go to a candidate"), id=f"candidates.{digit}") for digit in DIGITS.split(",")),
    Binding("b", "take_beat", mark("Take beat"), id="candidates.beat",
            tooltip=mark("All paragraphs of this candidate for the beat under the cursor.")),
    Binding("u", "take_none", mark("Leave all out"), show=False, id="candidates.unmark",
            tooltip=mark("Begin your own text again.")),
    Binding("v", "result", mark("Your text"), id="candidates.preview",
            tooltip=mark("Go to the text of what you took, and edit it.")),
    Binding("equals_sign", "equal", mark("Equally good"), key_display="=", show=False, id="candidates.equal",
            tooltip=mark("Mark this candidate as equally good, or no longer.")),
    Binding("x", "none", mark("None of them"), show=False, id="candidates.none",
            tooltip=mark("None is good enough: all have lost.")),
    Binding("f2,ctrl+s", "submit", mark("Choose your text"), priority=True, show=False, id="candidates.submit"),
    Binding("h,left,left_square_bracket", "step(-1)", mark("Previous candidate"), show=False,
            id="candidates.previous"),
    Binding("l,right,right_square_bracket", "step(1)", mark("Next candidate"), show=False, id="candidates.next"),
    Binding("w", "why", mark("Facts against it"), show=False, id="candidates.findings"),
    Binding("C", "sift", mark("Check facts"), show=False, id="candidates.sift",
            tooltip=mark("Check the facts of all candidates: by rule, or also by the agents' model.")),
    Binding("r", "seams", mark("Seams"), show=False, id="candidates.seams",
            tooltip=mark("Have the sentences at the seams of your text changed; you accept each change by itself.")),
    Binding("m", "more", mark("More candidates"), show=False, id="candidates.more",
            tooltip=mark("Write further candidates; first shows what they would cost.")),
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

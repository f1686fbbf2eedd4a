"""The keys and texts of each kind of question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Sequence
from typing import Final

from textual.binding import Binding, BindingType
from textual.content import Content

from flowcabal_tui.domain.run import Attempt, Question
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.tui.shared.actions import ACTIONS, binding_key, shown_key
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.help import HELP_KEYS
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.widgets.roles import role_style

CSS: Final = """
DecisionsScreen > .head { height: 1; padding: 0 1; text-style: bold; color: $primary; }
DecisionsScreen > .reason { height: auto; max-height: 5; padding: 0 1; }
DecisionsScreen > FindingView { border-bottom: solid $panel; }
DecisionsScreen > .attempt { height: 1; padding: 0 1; color: $text-muted; }
DecisionsScreen > ContentSwitcher { height: 1fr; }
DecisionsScreen StreamView, DecisionsScreen DiffView, DecisionsScreen ProseArea { height: 1fr; padding: 0 1; }
DecisionsScreen ProseArea, DecisionsScreen ProseArea:focus { border: none; }
DecisionsScreen.-narrow FindingView Horizontal { layout: vertical; }
DecisionsScreen.-narrow FindingView .quoted { width: 100%; max-height: 3; }
DecisionsScreen > .keys { height: 1; padding: 0 1; background: $surface; text-wrap: nowrap; text-overflow: ellipsis; }
DecisionsScreen.-plain > FindingView { display: none; }
DecisionsScreen #choice { height: 1fr; }
DecisionsScreen #choice > StreamView { height: 1fr; }
"""
Load = Callable[[Question], Awaitable[NodeView]]
Clock = Callable[[], float]
KEYS: Final[list[BindingType]] = [
    Binding("a", "approve", mark("Approve"), id="decision.approve"),
    Binding("r", "retry", mark("Retry"), tooltip=mark("Another attempt, with a note."), id="decision.retry"),
    Binding("m", "mend", mark("Mend"), tooltip=mark("Rewrite only the paragraphs that have to change, with a note."),
            id="decision.mend"),
    Binding("e", "edit", mark("Edit"), id="decision.edit"),
    Binding("f2,ctrl+s", "submit", mark("Submit"), priority=True, id="decision.submit"),
    Binding("w", "why", mark("Why"), tooltip=mark("The finding in full."), id="decision.why"),
    Binding("i", "intended", mark("Intended"), tooltip=mark("Mark the contradiction as intended, with a reason."),
            id="decision.intended"),
    Binding("left_square_bracket", "attempt(-1)", mark("Attempts"), key_display="[ ]", id="decision.previous",
            tooltip=mark("Previous attempt")),
    Binding("d", "changes", mark("Diff"), tooltip=mark("Compare with the previous attempt."), id="decision.diff"),
    Binding("E", "editor", mark("$EDITOR"), show=False, tooltip=mark("Edit in your own editor."), id="decision.editor"),
    Binding("o", "source", mark("Source"), show=False, tooltip=mark("Open the quoted place."), id="decision.source"),
    Binding("f", "finding", mark("Next finding"), id="decision.finding"),
    Binding("x", "reject", mark("Reject"), id="decision.reject"),
    Binding("right_square_bracket", "attempt(1)", mark("Next attempt"), show=False, id="decision.next"),
    Binding("j", "question(1)", mark("Next question"), show=False, priority=True, id="decision.later"),
    Binding("k", "question(-1)", mark("Previous question"), show=False, priority=True, id="decision.earlier"),
    Binding("J", "turn(1)", mark("Next question"), show=False, tooltip=mark("Next question; also works in a list."),
            id="decision.turn-later"),
    Binding("K", "turn(-1)", mark("Previous question"), show=False,
            tooltip=mark("Previous question; also works in a list."), id="decision.turn-earlier"),
    Binding("escape", "leave", mark("Back"), priority=True, id="decision.back"),
    HELP_KEYS,
]  # fmt: skip
REVIEW_KEYS: Final = ("approve", "why", "intended", "changes", "source", "finding", "attempt")
_ALLOWED: Final = {
    "review": REVIEW_KEYS,
    "input": ("approve", "edit", "editor"),
    "confirm": ("approve", "reject"),
    "gate": ("approve", "reject"),
    "limit": ("approve", "reject"),
    "choice": ("approve",),
}
_OPTIONS: Final = {"retry": "retry", "mend": "mend", "edit": "edit", "editor": "edit", "reject": "reject"}
"""Keys that a review allows only when its question offers the decision."""
_LEAST_NEEDED: Final = ("app.help", "attempt", "finding", "intended", "changes", "why", "mend", "edit")
"""Actions that leave the row of keys when it is full, the first one first. The palette has all of them."""


def allows(question: Question, action: str) -> bool:
    """True when the key applies to this question."""
    if action in _ALLOWED[question.kind]:
        return True
    if question.kind == "review" and action in _OPTIONS:
        return _OPTIONS[action] in question.options
    if question.kind in ("input", "choice") and action == "reject":
        return "reject" in question.options
    return action not in (*REVIEW_KEYS, *_OPTIONS)


def idle_actions(question: Question, findings: int, attempts: int, *, is_editing: bool) -> set[str]:
    """The actions that have nothing to act on, by the number of findings, attempts and texts."""
    if is_editing and question.kind == "review":
        return {*REVIEW_KEYS, "retry", "mend", "edit", "reject"}
    idle = set() if is_editing else {"submit"}
    if not findings:
        idle |= {"why", "intended", "source"}
    if findings < 2:
        idle.add("finding")
    if attempts < 2:
        idle |= {"attempt", "changes"}
    return idle


def keys_line(question: Question, off: Container[str], width: int) -> Content:
    """The keys of this question on one row, without those that are `off`, and the least needed only if they fit."""
    if has_candidates(question):
        return Content(_("a Compare the candidates  x Reject  J Next  Esc Back"))
    shown = {
        action: _hint(binding_key(binding), _(binding.description))
        for binding in KEYS
        if isinstance(binding, Binding)
        and binding.show
        and (action := binding.action.split("(")[0]) not in off
        and allows(question, action)
    }
    back = shown.pop("leave")
    palette = next(_hint(shown_key(each.keys), _(each.label)) for each in ACTIONS if each.id == "app.palette")
    for least in ("", *_LEAST_NEEDED):
        shown.pop(least, None)
        line = Content("  ").join((*shown.values(), palette, back))
        if line.cell_length <= width:
            break
    return line


def _hint(key: str, words: str) -> Content:
    return Content.assemble((key, role_style("key")), (f" {words}", role_style("secondary")))


def has_candidates(question: Question) -> bool:
    """True when there are candidates with different texts to choose from."""
    return question.kind == "choice" and len({choice.text for choice in question.choices if choice.text}) > 1


def heading(question: Question) -> str:
    """The heading of a question: its purpose, and its node."""
    kinds = {
        "review": _("Review"),
        "input": _("Your text is needed"),
        "confirm": _("Confirm a model"),
        "gate": _("Allow this to run?"),
        "limit": _("Allow this run to cost more?"),
        "choice": _("Choose"),
    }
    title = one_line(question.node_title or question.node)
    return facts_words(kinds[question.kind], title)


def reason_words(question: Question) -> str:
    """The reason for the question; a confirmation first explains its consequences."""
    if question.kind == "choice":
        return ""
    if question.kind != "confirm":
        return clean(question.reason)
    warning = _("This costs money, and your manuscript is sent to the provider of the model.")
    return f"{warning}\n{clean(question.reason)}"


def proposal_hint(question: Question) -> str:
    """The keys that answer an input or a confirmation."""
    if question.kind == "gate":
        return _("Exactly this would run. `a` allows it this once, `x` does not.")
    if question.kind == "limit":
        return _(
            "`a` raises the limit by the same amount again, `x` ends the run here. Paid answers are kept either way."
        )
    if has_candidates(question):
        count = sum(bool(choice.text) for choice in question.choices)
        return _("{n} candidates wait: `a` compares them without the names of their models.").format(n=count)
    if question.kind == "choice":
        return _("Press a digit or Enter to choose an answer.")
    if question.kind == "input":
        return _("`e` to write, `a` to accept it as it is, F2 submits.")
    return _("`a` allows it, `x` does not.")


def attempt_words(attempt: Attempt, numbers: Sequence[int], *, unsent: bool) -> str:
    """A line about the displayed attempt: its number, its origin, and whether it is complete."""
    parts = [_("attempt {n} of {m}").format(n=numbers.index(attempt.number) + 1, m=len(numbers))]
    if attempt.paragraphs and attempt.of in numbers:
        of = numbers.index(attempt.of) + 1
        parts.append(_("attempt {n} with single paragraphs changed").format(n=of))
    parts += [_("written by hand")] if attempt.author == "human" else []
    parts += [_("incomplete: the text was cut off")] if not attempt.complete else []
    parts += [_("your edited text is not submitted yet: `e`, then F2")] if unsent else []
    return facts_words(*parts)


def made_from(attempts: Sequence[Attempt], shown: Attempt | None) -> Attempt | None:
    """The attempt from which the displayed one was made, else the one before it; None for the first."""
    earlier = [each for each in attempts if shown is not None and each.number < shown.number]
    return next((each for each in earlier if shown and each.number == shown.of), earlier[-1] if earlier else None)

"""Fills the form from a wish by a vocabulary. Where the wish names what the form lacks, it says so and guesses not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from flowcabal_tui.agents.builder.action_words import action_steps
from flowcabal_tui.agents.builder.alteration_words import alterations_of
from flowcabal_tui.agents.builder.forms import Choice, Form, Step
from flowcabal_tui.agents.builder.wish import Hit, Wish
from flowcabal_tui.agents.builder.words import words
from flowcabal_tui.agents.builder.working_copy import WorkingCopy

_EYES: Final = re.compile(
    r"\b([A-Z]\w{1,20})['’]s (?:eyes|point of view|view|side|perspective)|从([\u4e00-\u9fff]{2,3})的(?:视角|眼睛|眼里)"
)
_ALSO: Final = re.compile(r"\band (?:once )?(?:through |from )?([A-Z]\w{1,20})['’]s\b")
_BOOK: Final = re.compile(r"《([^》]{1,40})》")
_TEXT_VERBS: Final = ("polish", "revise", "cut", "expand", "translate", "summarise")


@dataclass(frozen=True)
class _Placed:
    """A step with the place of its word in the wish."""

    at: int
    step: Step

    def with_(self, **fields: Any) -> _Placed:
        return replace(self, step=self.step.model_copy(update=fields))


_Steps = list[_Placed]


def form_of(wish: str, copied: WorkingCopy, language: str) -> Form:
    """The form as far as the vocabulary fills it; what it cannot fill becomes `missing`, or stays empty."""
    found = Wish(wish, language)
    if missing := _outside(found, copied):
        return Form(wish=wish, missing=missing)
    pause: Any = (("none",) if found.has("never") else ()) + ("each",) if found.has("each_pause") else ()
    if len(pause) > 1:
        return Form(wish=wish, pause=pause)
    if copied.base is not None:
        return Form(wish=wish, alterations=alterations_of(found, copied, language))
    steps = action_steps(found, copied.known) or _writing(found, copied, language)
    kept = [hit.key for hit in found.hits["keep"]]
    acts = any(step.does in ("action", "filter", "approve") for step in steps)
    keep: Any = "note" if acts else next((key for key in kept if key != "append"), "chapter")
    mode: Any = "append" if "append" in kept else "replace"
    book = _BOOK.search(wish)
    name = book[1] if book else found.quoted[0][0] if found.quoted and language == "en" else ""
    if not steps:
        return Form(wish=wish)
    return Form(wish=wish, name=name, keep=keep, mode=mode, pause=pause, steps=tuple(steps))


def _outside(found: Wish, copied: WorkingCopy) -> tuple[str, ...]:
    """What the wish names and nothing here can do, nor an action that is registered."""
    actions = (copied.known.actions or {}).items()
    known = " ".join(f"{name} {getattr(shape, 'description', '')}" for name, shape in actions).casefold()
    missing: dict[str, None] = {}
    for hit in found.hits["outside"]:
        said = found.folded[hit.start : hit.end]
        near = [each.key for each in found.hits["actions"] if each.start < hit.end and hit.start < each.end]
        if not found.is_denied(hit) and not any(word in known for word in (said, *near)):
            missing[said if hit.key.isascii() else hit.key] = None
    return tuple(missing)


def _writing(found: Wish, copied: WorkingCopy, language: str) -> list[Step]:
    """The steps of a workflow that writes, in the order of their words."""
    hits = [hit for hit in found.hits["steps"] if not found.is_denied(hit)]
    flow = _called(found, copied)
    if not hits and not flow and not found.has("candidates", "improve", "choose"):
        return []
    placed = _verbs(found, hits)
    shapes: tuple[Callable[[Wish, _Steps, str], _Steps], ...] = (
        *(_candidates, _readers, _eyes, _rounds, _each, _measured, _chosen),
    )
    for shape in shapes:
        placed = shape(found, placed, language)
    if flow:
        placed = [each for each in placed if each.step.does in ("plan", "write", "candidates")] + flow
    told = found.temperature
    marks = found.marks("count", "remember")
    if marks:
        key = next((text for text, _at in found.quoted if text.isidentifier()), marks[0].key)
        placed.append(_Placed(len(found.text), Step(does=marks[0].key, key=key)))
    placed = _paused(found, placed)
    plans = sum(each.step.does == "plan" for each in placed)
    only_plan = plans == len(placed) and any(hit.key == "outline" for hit in found.hits["keep"])
    needed = ("plan", "count", "check", "workflow")
    if placed and not only_plan and all(each.step.does in needed for each in placed):
        placed.insert(plans, _Placed(-1, Step(does="write")))
    if told is not None:
        at = next((n for n, each in enumerate(placed) if each.step.does in ("write", "candidates")), 0)
        placed[at] = placed[at].with_(temperature=min(2.0, told))
    return [each.step for each in placed]


def _verbs(found: Wish, hits: list[Hit]) -> _Steps:
    """One step for each verb, where its word stands first."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.key, hit)
    if found.has("single"):
        return [_Placed(0, Step(does="write"))]
    order = {"plan": 0, "write": 1}
    placed = sorted(first.values(), key=lambda hit: (order.get(hit.key, 2), hit.start))
    made = [_Placed(hit.start, Step(does=hit.key)) for hit in placed]
    if "write" not in first and set(first) & {"polish", "check", "cut", "expand", "revise"}:
        made.insert("plan" in first, _Placed(-1, Step(does="write")))
    return made


def _candidates(found: Wish, placed: _Steps, language: str) -> _Steps:
    marks = found.marks("candidates")
    if not marks:
        return placed
    opening, said = found.has("opening"), words(language)
    step = Step(
        does="candidates",
        number=found.number_by("number", 2, 12) or 5,
        blind=found.has("blind"),
        about="" if opening else said["names"]["write"],
        name=said["names"]["opening"] if opening else "",
        id="openings" if opening else "candidates",
    )
    kept = [each for each in placed if each.step.does != "plan" and (opening or each.step.does != "write")]
    return [*_plans(placed), _Placed(marks[0].start, step), *kept]


def _plans(placed: _Steps) -> _Steps:
    return [each for each in placed if each.step.does == "plan"]


def _readers(found: Wish, placed: _Steps, language: str) -> _Steps:
    """Checks with what they look at; several stand side by side."""
    abouts = found.abouts()
    checks = [each for each in placed if each.step.does == "check"]
    if not checks and not (abouts and found.number_by("people", 2, 8)):
        return placed
    at = checks[0].at if checks else found.hits["about"][0].start
    steps = tuple(Step(does="check", about=each) for each in abouts) or (Step(does="check"),)
    check = steps[0] if len(steps) == 1 else Step(does="together", steps=steps)
    rest = [each for each in placed if each.step.does not in ("check", "revise", "polish")]
    later = [each for each in placed if each.step.does in ("revise", "polish")]
    return [*rest, _Placed(at, check), *(later or [_Placed(at + 1, Step(does="revise"))])]


def _eyes(found: Wish, placed: _Steps, language: str) -> _Steps:
    """One telling for each point of view, side by side, and then woven into one."""
    names = [match[1] or match[2] for match in _EYES.finditer(found.text)]
    names = list(dict.fromkeys([*names, *(_ALSO.findall(found.text) if names else ())]))
    if len(names) < 2:
        eyes = {"point_of_view": names[0]} if names else {}
        return [each.with_(**eyes) if each.step.does == "write" else each for each in placed]
    tellings = tuple(Step(does="write", id=name, name=name, point_of_view=name) for name in names)
    rest = [each for each in placed if each.step.does not in ("plan", "write", "revise")]
    weave = Step(does="improve" if found.has("improve") else "do", text=words(language)["weave"])
    return [*_plans(placed), _Placed(0, Step(does="together", steps=tellings)), _Placed(1, weave), *rest]


def _rounds(found: Wish, placed: _Steps, language: str) -> _Steps:
    """A critic, or rounds of revision, make one step of both."""
    rounds = found.number_by("rounds", 1, 10)
    does = {each.step.does for each in placed}
    if not found.has("improve") and not ((rounds or 1) > 1 and does & {"revise", "polish"}):
        return placed
    adverbs = [
        each.value for each in found.numbers if found.folded[each.start : each.end] in ("once", "twice", "thrice")
    ]
    rounds = rounds or (int(adverbs[0]) if adverbs else 3)
    told = next((each.step for each in placed if each.step.does == "improve"), Step(does="improve"))
    rest = [each for each in placed if each.step.does not in ("revise", "check", "improve")]
    if not told.text and not does & {"write", "candidates", "together"}:
        rest.append(_Placed(-1, Step(does="write")))
    at = next((n for n, each in enumerate(rest) if each.step.does in ("polish", "cut", "expand")), len(rest))
    improve = _Placed(rest[at - 1].at + 1, told.model_copy(update={"rounds": rounds}))
    return [*rest[:at], improve, *rest[at:]]


def _each(found: Wish, placed: _Steps, language: str) -> _Steps:
    """The writing goes through the lines of the plan."""
    loops = [hit for hit in found.marks("each") if not found.is_denied(hit) and not found.is_followed(hit, "chapter")]
    if not loops or any(each.step.does in ("together", "candidates") for each in placed):
        return placed
    limits = [each for each in found.numbers if 1 < each.value <= 64]
    sides = found.marks("side")
    near = min(limits, key=lambda each: abs(each.start - sides[-1].end)) if sides and limits else None
    at_once = int(near.value) if near else 4 if sides else 1
    most = int(limits[-1].value) if limits and not sides else None
    loop = Step(does="each", most=most, at_once=at_once, steps=(Step(does="write", id="scene"),))
    rest = [each for each in placed if each.step.does not in ("plan", "write")]
    return [*(_plans(placed) or [_Placed(-1, Step(does="plan"))]), _Placed(loops[0].start, loop), *rest]


def _measured(found: Wish, placed: _Steps, language: str) -> _Steps:
    """A length in the wish parts the way: the verb behind it, and the one behind "otherwise"."""
    for hit in found.marks("longer", "shorter"):
        number = found.number_after(hit.end)
        if number is None or number.value < 200:
            continue
        behind = [each.start for each in found.marks("otherwise", "longer", "shorter") if each.start > number.end]
        other = behind[0] if behind else len(found.text)
        hits = [each for each in found.hits["steps"] if each.start > number.end and each.key in _TEXT_VERBS]
        then = [each.key for each in hits if each.start < other][:1]
        otherwise = [each.key for each in hits if each.start > other and each.key not in then][:1]
        if not then:
            continue
        sides: dict[str, Any] = {f"{hit.key}_than": int(number.value), "then": tuple(Step(does=key) for key in then)}
        measure = Step(does="measure", otherwise=tuple(Step(does=key) for key in otherwise), **sides)
        rest = [each for each in placed if each.step.does not in (*then, *otherwise)]
        return [*(rest or [_Placed(-1, Step(does="write"))]), _Placed(hit.start, measure)]
    return placed


def _chosen(found: Wish, placed: _Steps, language: str) -> _Steps:
    """Quoted words beside "I choose" are ways, each with a text of its own."""
    labels = list(dict.fromkeys(text for text, _at in found.quoted))[:8]
    if len(labels) < 2 or not found.has("choose"):
        return placed
    ways = tuple(Choice(label=each, steps=(Step(does="write", name=each, text=f"{each}。"),)) for each in labels)
    rest = [each for each in placed if each.step.does not in ("write", "plan")]
    return [*_plans(placed), _Placed(0, Step(does="choose", choices=ways)), *rest]


def _called(found: Wish, copied: WorkingCopy) -> _Steps:
    """Workflows that the wish names. One that is called "chapter" is meant only where the wish speaks of workflows."""
    flows = copied.known.library if copied.known.library is not None else copied.known.flows or ()
    places: dict[int, str] = {}
    for flow in sorted(flows, key=len, reverse=True):
        name = flow.partition("@")[0].casefold()
        if (found.has("flow") or not name.isalpha()) and name in found.folded:
            places.setdefault(found.folded.find(name), flow)
    return [_Placed(at, Step(does="workflow", workflow=flow)) for at, flow in sorted(places.items())]


def _paused(found: Wish, placed: _Steps) -> _Steps:
    """A pause belongs to the step whose word stands last before it; after "at the end" to the last step."""
    for mark in found.marks("pause", "approve"):
        steps = sorted((each for each in placed if each.at >= 0), key=lambda each: each.at)
        owner = next((each for each in reversed(steps) if each.at <= mark.start), steps[0] if steps else None)
        if owner is None or found.is_denied(mark) or found.has("choose") or owner.step.does in ("candidates", "count"):
            continue
        at = placed.index(owner)
        if any(owner.at < hit.start < mark.start for hit in found.marks("last")):
            at = max(n for n, each in enumerate(placed) if each.step.does not in ("count", "remember"))
        placed[at] = placed[at].with_(pause=True)
    return placed

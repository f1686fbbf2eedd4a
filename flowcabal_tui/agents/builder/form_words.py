"""Fills the form from a wish by a vocabulary. Where the wish names what the form lacks, it says so and guesses not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.agents.builder.action_words import action_steps
from flowcabal_tui.agents.builder.alteration_words import alterations_of
from flowcabal_tui.agents.builder.forms import Alteration, Choice, Form, Step
from flowcabal_tui.agents.builder.wish import TEMPERATURE, Hit, Wish
from flowcabal_tui.agents.builder.words import words
from flowcabal_tui.agents.builder.working_copy import WorkingCopy

_EYES: Final = re.compile(
    r"\b([A-Z]\w{1,20})['’]s (?:eyes|point of view|view|side|perspective)|从?(\w{1,4})的(?:视角|眼睛)"
)
_ALSO: Final = re.compile(r"\band (?:once )?(?:through |from )?([A-Z]\w{1,20})['’]s\b")
_TEXT_VERBS: Final = ("write", "polish", "revise", "cut", "expand", "translate", "summarise")


@dataclass
class _Placed:
    """A step with the place of its word in the wish."""

    at: int
    step: Step


def form_of(wish: str, copied: WorkingCopy, language: str) -> Form:
    """The form as far as the vocabulary fills it; what it cannot fill becomes `missing`, or stays empty."""
    found = Wish(wish, language)
    missing = _outside(found, copied)
    pause = _pauses(found)
    if missing:
        return Form(wish=wish, missing=missing)
    if pause == ("none", "each"):
        return Form(wish=wish, pause=pause)
    if copied.base is not None:
        alterations: tuple[Alteration, ...] = alterations_of(found, copied, language)
        return Form(wish=wish, alterations=alterations)
    steps = action_steps(found, copied.known, language) or _writing(found, copied, language)
    keep: Any = next((hit.key for hit in found.hits["keep"] if hit.key != "append"), "chapter")
    acts = any(step.does in ("action", "filter", "approve") for step in steps)
    mode: Any = "append" if any(hit.key == "append" for hit in found.hits["keep"]) else "replace"
    titles = [text for text, _at in found.quoted if 1 < len(text) < 40]
    book = re.search(r"《([^》]{1,40})》", wish)
    name = book[1] if book else titles[0] if titles and language == "en" else ""
    return Form(
        wish=wish, name=name if steps else "", keep="note" if acts else keep, mode=mode,
        pause=pause if steps else (), steps=tuple(steps),
    )  # fmt: skip


def _outside(found: Wish, copied: WorkingCopy) -> tuple[str, ...]:
    """What the wish names and nothing here can do: an action that fits is looked for first."""
    known = " ".join(
        f"{name} {getattr(shape, 'description', '')}" for name, shape in (copied.known.actions or {}).items()
    )
    return tuple(
        dict.fromkeys(
            found.text[hit.start : hit.end] if hit.key.isascii() else hit.key
            for hit in found.hits["outside"]
            if not found.is_denied(hit) and not any(word in known.casefold() for word in _known_as(hit, found))
        )
    )


def _known_as(hit: Hit, found: Wish) -> list[str]:
    """Words under which the registry may list it."""
    said = found.folded[hit.start : hit.end]
    near = [each.key for each in found.hits["actions"] if each.start < hit.end and hit.start < each.end]
    return [said, *near]


def _pauses(found: Wish) -> tuple[Any, ...]:
    never = found.has("never")
    each = found.has("each_pause")
    return ("none", "each") if never and each else ("each",) if each else ()


def _writing(found: Wish, copied: WorkingCopy, language: str) -> list[Step]:
    """The steps of a workflow that writes, in the order of their words."""
    hits = [hit for hit in found.hits["steps"] if not found.is_denied(hit)]
    flow = _called(found, copied)
    if not hits and not flow and not found.has("candidates", "improve", "choose"):
        return []
    placed = _verbs(found, hits)
    for shape in (_candidates, _readers, _eyes, _rounds, _each, _measured, _chosen):
        placed = shape(found, placed, language)
    placed = _tuned(found, placed)
    if flow:
        placed = [each for each in placed if each.step.does in ("plan", "write", "candidates")] + flow
        if not any(each.step.does in ("write", "candidates") for each in placed):
            placed.insert(0, _Placed(-1, Step(does="write")))
    placed += _memory(found)
    placed = _paused(found, placed, language)
    if placed and not any(each.step.does not in ("plan", "count", "check") for each in placed):
        plans = [n for n, each in enumerate(placed) if each.step.does == "plan"]
        if len(placed) > len(plans) or not any(hit.key == "outline" for hit in found.hits["keep"]):
            placed.insert(plans[-1] + 1 if plans else 0, _Placed(-1, Step(does="write")))
    return [each.step for each in placed]


def _verbs(found: Wish, hits: Sequence[Hit]) -> list[_Placed]:
    """One step for each verb, where its word stands first; the writing of single parts belongs to a loop."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.key, hit)
    if found.has("single") and "write" in first:
        return [_Placed(first["write"].start, Step(does="write"))]
    if found.has("single"):
        return [_Placed(0, Step(does="write"))]
    order = {"plan": 0, "write": 1}
    placed = sorted(first.values(), key=lambda hit: (order.get(hit.key, 2), hit.start))
    needs_text = any(hit.key in ("polish", "check", "cut", "expand", "revise") for hit in placed)
    made = [_Placed(hit.start, Step(does=hit.key)) for hit in placed]
    if needs_text and "write" not in first:
        made.insert(sum(each.step.does == "plan" for each in made), _Placed(-1, Step(does="write")))
    return made


def _candidates(found: Wish, placed: list[_Placed], language: str) -> list[_Placed]:
    marks = [hit for hit in found.marks("candidates", "opening") if not found.is_denied(hit)]
    if not found.marks("candidates"):
        return placed
    number = found.number_by("number", 2, 12) or 5
    opening = found.has("opening")
    about = "" if opening else str(words(language)["names"]["write"])
    name = "" if not opening else ("开头" if language == "zh" else "Openings")
    step = Step(
        does="candidates", number=number, blind=found.has("blind"), about=about, name=name,
        id="openings" if opening else "candidates",
    )  # fmt: skip
    plans = [each for each in placed if each.step.does == "plan"]
    rest = [each for each in placed if each.step.does != "plan"]
    if not opening:
        rest = [each for each in rest if each.step.does != "write"]
    return [*plans, _Placed(marks[0].start, step), *rest]


def _abouts(found: Wish) -> list[Hit]:
    seen: dict[str, Hit] = {}
    for hit in found.hits["about"]:
        seen.setdefault(hit.key, hit)
    return list(seen.values())


def _readers(found: Wish, placed: list[_Placed], language: str) -> list[_Placed]:
    """Checks with what they look at; several side by side where the wish says so, or names several readers."""
    abouts = _abouts(found)
    people = found.number_by("people", 2, 8)
    checks = [each for each in placed if each.step.does == "check"]
    if not checks and not (people and abouts):
        return placed
    at = checks[0].at if checks else abouts[0].start
    steps = [Step(does="check", about=hit.key) for hit in abouts] or [Step(does="check")]
    if len(steps) > 1:
        check = Step(does="together", steps=tuple(steps))
        steps = [check]
    rest = [each for each in placed if each.step.does not in ("check", "revise", "polish")]
    later = [each for each in placed if each.step.does in ("revise", "polish")] or [
        _Placed(at + 1, Step(does="revise"))
    ]
    return [*rest, *(_Placed(at, step) for step in steps), *later]


def _eyes(found: Wish, placed: list[_Placed], language: str) -> list[_Placed]:
    """One telling for each point of view, side by side."""
    names = [match[1] or match[2] for match in _EYES.finditer(found.text)]
    names += [match[1] for match in _ALSO.finditer(found.text)] if names else []
    names = list(dict.fromkeys(names))
    if not names:
        return placed
    if len(names) == 1:
        return [
            _Placed(each.at, each.step.model_copy(update={"point_of_view": names[0]}))
            if each.step.does == "write"
            else each
            for each in placed
        ]
    tellings = tuple(Step(does="write", id=name, name=name, point_of_view=name) for name in names)
    telling = _Placed(0, Step(does="together", steps=tellings))
    plans = [each for each in placed if each.step.does == "plan"]
    rest = [each for each in placed if each.step.does not in ("plan", "write")]
    weave = Step(does="revise" if not found.has("improve") else "improve", text="" if language == "zh" else " ")
    joined = [] if rest and not found.has("improve") else [_Placed(1, weave)]
    return [*plans, telling, *(each for each in rest if each.step.does != "revise" or not joined), *joined]


def _rounds(found: Wish, placed: list[_Placed], language: str) -> list[_Placed]:
    """A critic, or rounds of revision, make one step of both."""
    rounds = found.number_by("rounds", 1, 10)
    has = any(each.step.does == "improve" for each in placed)
    revises = any(each.step.does in ("revise", "polish") for each in placed)
    if not has and not found.has("improve") and not (rounds and revises and rounds > 1):
        return placed
    if rounds is None:
        words_for = [each for each in found.numbers if each.value <= 5 and _is_adverb(found, each)]
        rounds = int(words_for[0].value) if words_for else None
    improve = Step(does="improve", **({"rounds": rounds} if rounds else {}))
    rest = [each for each in placed if each.step.does not in ("revise", "check", "improve")]
    told = next((each.step for each in placed if each.step.does == "improve"), None)
    if told is not None and told.text:
        improve = improve.model_copy(update={"text": told.text.strip() or "Weave these into one."})
    elif not any(each.step.does in ("write", "candidates", "together") for each in rest):
        rest.append(_Placed(-1, Step(does="write")))
    at = next((n for n, each in enumerate(rest) if each.step.does in ("polish", "cut", "expand")), len(rest))
    return [*rest[:at], _Placed(rest[at - 1].at + 1 if rest else 0, improve), *rest[at:]]


def _is_adverb(found: Wish, number: Any) -> bool:
    return found.folded[number.start : number.end] in ("once", "twice", "thrice")


def _each(found: Wish, placed: list[_Placed], language: str) -> list[_Placed]:
    """The writing goes through the lines of the plan."""
    loops = [hit for hit in found.marks("each") if not found.is_denied(hit)]
    if not loops or any(each.step.does in ("together", "candidates") for each in placed):
        return placed
    plans = [each for each in placed if each.step.does == "plan"] or [_Placed(-1, Step(does="plan"))]
    most, at_once = None, 1
    limits = [each for each in found.numbers if 1 < each.value <= 64]
    sides = found.marks("side")
    if sides:
        near = min(limits, key=lambda each: abs(each.start - sides[-1].end), default=None)
        at_once = int(near.value) if near else 4
    elif limits:
        most = int(limits[-1].value)
    loop = Step(does="each", most=most, at_once=at_once, steps=(Step(does="write", id="scene"),))
    rest = [each for each in placed if each.step.does not in ("plan", "write")]
    return [*plans, _Placed(loops[0].start, loop), *rest]


def _measured(found: Wish, placed: list[_Placed], language: str) -> list[_Placed]:
    """A length in the wish parts the way: the verb behind it, and the one behind "otherwise"."""
    marks = found.marks("longer", "shorter")
    bounds = [(hit, number) for hit in marks if (number := found.number_after(hit.end)) and number.value >= 200]
    if not bounds:
        return placed
    hit, number = bounds[0]
    other = next((each.start for each in found.marks("otherwise") if each.start > number.end), len(found.text))
    hits = [each for each in found.hits["steps"] if each.start > number.end and each.key in _TEXT_VERBS[1:]]
    then = [each for each in hits if each.start < other][:1]
    otherwise = [each for each in hits if each.start > other][:1]
    if not then:
        return placed
    sides: dict[str, Any] = {
        f"{hit.key}_than": int(number.value),
        "then": tuple(Step(does=each.key) for each in then),
        "otherwise": tuple(Step(does=each.key) for each in otherwise if each.key != then[0].key),
    }
    used = {each.key for each in (*then, *otherwise)}
    rest = [each for each in placed if each.step.does not in used]
    if not any(each.step.does == "write" for each in rest):
        rest.append(_Placed(-1, Step(does="write")))
    return [*rest, _Placed(hit.start, Step(does="measure", **sides))]


def _chosen(found: Wish, placed: list[_Placed], language: str) -> list[_Placed]:
    """Quoted words beside "I choose" are ways, each with a text of its own."""
    labels = [text for text, _at in found.quoted]
    if len(labels) < 2 or not found.has("choose"):
        return placed
    joint = words(language)["label"]
    ways = tuple(
        Choice(label=each, steps=(Step(does="write", name=each, text=joint.format(name=each).strip(" ：:") + "。"),))
        for each in dict.fromkeys(labels[:8])
    )
    rest = [each for each in placed if each.step.does != "write"]
    plans = [each for each in rest if each.step.does == "plan"]
    return [*plans, _Placed(0, Step(does="choose", choices=ways)), *(each for each in rest if each not in plans)]


def _tuned(found: Wish, placed: list[_Placed]) -> list[_Placed]:
    """A temperature holds for the writing."""
    told = TEMPERATURE.search(found.text)
    if told is None or not 0 <= float(told[1]) <= 2:
        return placed
    update = {"temperature": float(told[1])}
    at = next((n for n, each in enumerate(placed) if each.step.does in ("write", "candidates")), None)
    if at is not None:
        placed[at] = _Placed(placed[at].at, placed[at].step.model_copy(update=update))
    return placed


def _called(found: Wish, copied: WorkingCopy) -> list[_Placed]:
    """Workflows of the project that the wish names."""
    flows = copied.known.library if copied.known.library is not None else copied.known.flows or ()
    said = found.has("flow")  # else a workflow that is called "chapter" would be called by every wish
    plain = [flow for flow in flows if said or not flow.partition("@")[0].isalpha()]
    named = [(found.folded.find(flow.partition("@")[0].casefold()), flow) for flow in plain]
    versions = sorted((each for each in named if each[0] >= 0), key=lambda each: (each[0], -len(each[1])))
    chosen: dict[int, str] = {}
    for at, flow in versions:
        chosen.setdefault(at, flow)
    return [_Placed(at, Step(does="workflow", workflow=flow)) for at, flow in chosen.items()]


def _memory(found: Wish) -> list[_Placed]:
    """A count in the story's memory, under the quoted name."""
    marks = found.marks("count", "remember")
    if not marks:
        return []
    keys = [text for text, _at in found.quoted if re.fullmatch(r"\w{1,24}", text)]
    does: Any = marks[0].key
    return [_Placed(len(found.text), Step(does=does, key=keys[0] if keys else does))]


def _paused(found: Wish, placed: list[_Placed], language: str) -> list[_Placed]:
    """A pause belongs to the step whose word stands last before it; where the writer changes the text, they look."""
    steps = sorted((each for each in placed if each.at >= 0), key=lambda each: each.at)
    for mark in found.marks("pause", "approve"):
        if found.is_denied(mark) or found.has("choose"):
            continue
        before = [each for each in steps if each.at <= mark.start]
        owner = before[-1] if before else steps[0] if steps else None
        if owner is None or owner not in placed or owner.step.does in ("candidates", "choose", "count"):
            continue
        at = placed.index(owner)
        later = [hit for hit in found.marks("last") if hit.start < mark.start and hit.start > owner.at]
        if later:
            at = max(n for n, each in enumerate(placed) if each.step.does not in ("count", "remember"))
        placed[at] = _Placed(placed[at].at, placed[at].step.model_copy(update={"pause": True}))
        steps = [placed[at] if each is owner else each for each in steps]
    return placed

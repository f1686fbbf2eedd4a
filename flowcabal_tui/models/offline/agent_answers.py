"""Answers to the agents' tasks, computed from the texts in the prompt; every quotation is verbatim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from flowcabal_tui.models.offline.facts import Contradiction, Fact, contradictions, facts_in
from flowcabal_tui.models.offline.reading import (
    PERSON,
    SURNAME,
    Name,
    Sentence,
    clipped,
    mentions,
    sentences,
    terms,
)
from flowcabal_tui.models.offline.task import Task

_OVERVIEW_SENTENCES: Final = 6
_PROFILE_SENTENCES: Final = 8
_PROFILE_FACTS: Final = 3
_ARC_SENTENCES: Final = 10
_LEAST: Final = 8
"""Characters; 魏长河说。 tells nothing of him."""
_CONFIDENCE: Final = 0.7
_WORD_OF_A_SUBTYPE: Final = {
    "side": "appearance",
    "eyes": "appearance",
    "hair": "appearance",
    "life": "memory",
    "age": "duration",
    "when": "absolute",
    "ago": "duration",
    "day": "absolute",
}
_SPOKEN: Final = re.compile('[“”"「」]')
_NEW_NAME_EN: Final = re.compile(
    r"(?<=[a-z,;] )(?:Mr |Mrs |Miss |Dr |Captain )?[A-Z][a-z]{2,}(?:['’]s(?= [A-Z]))?(?: [A-Z][a-z]+)*"
)
_PLACE_BEFORE: Final = re.compile(r"\b(?:in|at|to|from|near|through|of|on|down)(?: the)? $", re.IGNORECASE)
_NOT_NAMES: Final = re.compile(r"(?:\w+day|January|February|March|April|May|June|July|August|\w+ber|God|Lord|Sir)\b")
_NEW_NAME_ZH: Final = re.compile(
    f"(?<![\u4e00-\u9fff])({SURNAME}[\u4e00-\u9fff]{{1,2}})(?=说|道|问|笑|点头|摇头|走|站)"
)


def _weight(sentence: Sentence, names: Sequence[Name], common: Counter[str], chinese: bool) -> float:
    """How much a sentence tells: names, words that return in the chapter, narration rather than talk, some length."""
    length = len(sentence.text) / (40 if chinese else 110)
    named = len({name.chief for _, _, name in mentions(sentence.text, names)})
    about = sum(min(common[term], 4) for term in terms(sentence.text, chinese)) / 12
    spoken = sentence.text[0] in '“"「‘'
    return 2.0 * min(named, 3) + min(about, 2.0) - (1.5 if spoken else 0.0) - abs(1 - length)


def overview(task: Task) -> dict[str, Any]:
    """`curator.l1`: the weightiest sentence of each sixth of the chapter."""
    found = sentences(task.chapter, task.chinese)
    common = Counter(term for s in found for term in terms(s.text, task.chinese))
    step = max(1, -(-len(found) // _OVERVIEW_SENTENCES))
    chosen = [
        max(found[i : i + step], key=lambda s: _weight(s, task.names, common, task.chinese))
        for i in range(0, len(found), step)
    ]
    return {"sentences": [{"sentence": s.text, "quote": s.text} for s in chosen]}


def one_sentence(task: Task) -> dict[str, Any]:
    """`curator.l0`: the weightiest sentence of the overview, within the limit."""
    found = sentences(task.chapter, task.chinese)
    common = Counter(term for s in found for term in terms(s.text, task.chinese))
    limit = int(task.tag("limit") or "50")
    best = max(found, key=lambda s: _weight(s, task.names, common, task.chinese), default=None)
    return {"sentence": clipped(best.text.strip('“”"「」'), limit, task.chinese) if best else ""}


def entities(task: Task) -> dict[str, Any]:
    """The names of a chapter that return and that the list does not hold."""
    text = task.chapter
    found = sentences(text, task.chinese)
    known = {form for name in task.names for form in name.names}
    counted: Counter[str] = Counter()
    for sentence in found:
        pattern = _NEW_NAME_ZH if task.chinese else _NEW_NAME_EN
        counted.update(match.group(0) for match in pattern.finditer(sentence.text))
    rows: list[dict[str, Any]] = []
    for name, count in sorted(counted.items(), key=lambda pair: (-pair[1], text.find(pair[0]))):
        inside = any(form in name or name in form for form in known)
        if count < 2 or inside or _NOT_NAMES.match(name):
            continue
        quote = next(s.text for s in found if name in s.text)
        before = "" if task.chinese else quote[: quote.find(name)]
        kind = "location" if _PLACE_BEFORE.search(before) else "item" if before.endswith("the ") else PERSON
        rows.append({"kind": kind, "name": name, "aliases": [], "quote": quote})
    return {"entities": rows}


def profile(task: Task) -> dict[str, Any]:
    """`curator.profile`: facts about the entity, then the newest sentences that name it; the last is the summary.

    Of the whole book any sentence counts. Those with the words of the kind come before others.
    """
    chief = task.tag("entity").strip()
    words = [word for each in task.tag("words").split(",") if (word := each.strip())]
    forms = next((name for name in task.names if chief in name.names), Name(PERSON, (chief,)))
    told: list[tuple[str, str]] = []
    stated: list[tuple[str, str]] = []
    for source in task.sources:
        for sentence in sentences(source.text, task.chinese):
            if len(sentence.text) < _LEAST or _SPOKEN.search(sentence.text):
                continue
            if not chief or mentions(sentence.text, (forms,)):
                told.append((source.id, sentence.text))
                facts = facts_in(sentence.text, task.names, task.chinese)
                stated += [told[-1]] * any(f.subject == chief and f.value != "alive" for f in facts)
    told = list(dict.fromkeys(told))
    told = [each for each in told if any(word in each[1] for word in words)] or told
    chosen = {*stated[-_PROFILE_FACTS:], *told[-_PROFILE_SENTENCES:]}
    rows = [{"sentence": text, "source_id": id_, "quote": text} for id_, text in told if (id_, text) in chosen]
    summary = next((row["sentence"] for row in reversed(rows) if chief in row["sentence"]), "")
    limit = int(task.tag("limit") or "50")
    return {"summary": clipped(summary or chief, limit, task.chinese), "sentences": rows}


def arc(task: Task) -> dict[str, Any]:
    """`curator.arc`: the weightiest sentence of each tenth of the sources, and of all of them as the summary."""
    found = [(source.id, s) for source in task.sources for s in sentences(source.text, task.chinese)]
    common = Counter(term for _id, s in found for term in terms(s.text, task.chinese))

    def weight(each: tuple[str, Sentence]) -> float:
        return _weight(each[1], task.names, common, task.chinese)

    step = max(1, -(-len(found) // _ARC_SENTENCES))
    chosen = [max(found[at : at + step], key=weight) for at in range(0, len(found), step)]
    rows = [{"sentence": s.text, "source_id": id_, "quote": s.text} for id_, s in chosen]
    summary = max(chosen, key=weight)[1].text if chosen else ""
    return {"summary": clipped(summary, int(task.tag("limit") or "50"), task.chinese), "sentences": rows}


def keep_advice(task: Task) -> dict[str, Any]:
    """`curator.keep`: four questions, answered by counting facts, names and sentences that are new."""
    draft = task.chapter
    found = sentences(draft, task.chinese)
    facts = [fact for fact in facts_in(draft, task.names, task.chinese) if fact.value != "alive"]
    named = sorted({name.chief for _, _, name in mentions(draft, task.names)})
    held = "\n".join(source.text for source in task.sources)
    fresh = [s for s in found if s.text not in held]
    mark = "、" if task.chinese else ", "
    return {
        "prevents_errors": {"passed": bool(facts), "detail": facts[0].sentence.text if facts else ""},
        "reusable": {"passed": len(named) > 1, "detail": mark.join(named)},
        "self_contained": {"passed": bool(named), "detail": mark.join(named[:1])},
        "new": {"passed": len(fresh) * 2 > len(found), "detail": f"{len(fresh)}/{len(found)}"},
    }


def inquiry(task: Task) -> str:
    """`context.inquiry`: the sentences that share the rarest words with the question; the later one where they tie."""
    found = [s.text for source in task.sources for s in sentences(source.text, task.chinese)]
    words = [terms(text, task.chinese) for text in found]
    seen = Counter(word for each in words for word in each)
    asked = terms(task.tag("question"), task.chinese)
    scores = [sum(1 / seen[word] for word in sorted(asked & each)) for each in words]
    best = max(scores, default=0.0)
    if not best:
        return "书里还没有写到。" if task.chinese else "The book has not said so yet."
    order = sorted(range(len(found)), key=lambda i: (-scores[i], -i))[:2]
    return ("" if task.chinese else " ").join(found[i] for i in sorted(order) if scores[i] * 2 > best)


def scene(task: Task) -> dict[str, Any]:
    """`context.scene`: the listed people and the first listed place of the outline and the wish, in the order of the
    text; the time and the kind are left open."""
    text = f"{task.tag('beats')}\n{task.tag('wish')}"
    named = [name for _start, _end, name in mentions(text, task.names)]
    people = dict.fromkeys(name.chief for name in named if name.kind == PERSON)
    place = next((name.chief for name in named if name.kind == "location"), "")
    return {"who": list(people), "where": place, "when": "", "kind": "unknown"}


def findings(task: Task) -> dict[str, Any]:
    """`monitor.check`: contradictions that belong to the angles, each with its two sentences."""
    subtypes = dict(line.split(":", 1) for line in task.tag("subtypes").splitlines() if ":" in line)
    draft = [f for f in facts_in(task.tag("draft"), task.names, task.chinese) if f.angle in subtypes]
    told: list[Fact] = []
    place: dict[int, str] = {}
    for source in task.sources:
        for fact in facts_in(source.text, task.names, task.chinese, about=source.title):
            told.append(fact)
            place[id(fact)] = source.id
    rows: list[dict[str, Any]] = []
    for clash in contradictions(draft, told):
        pair = (clash.draft.sentence.text, clash.source.sentence.text)
        if pair in [(row["draft_quote"], row["source_quote"]) for row in rows]:
            continue
        rows.append(
            {
                "angle": clash.draft.angle,
                "subtype": _subtype(subtypes[clash.draft.angle], clash.draft.attribute),
                "draft_quote": pair[0],
                "source_id": place[id(clash.source)],
                "source_quote": pair[1],
                "explanation": _explanation(clash, task.chinese),
                "confidence": _CONFIDENCE,
            }
        )
    return {"findings": rows}


def _subtype(listed: str, attribute: str) -> str:
    """The listed subtype that fits best; the first one when none is clearly meant."""
    offered = [part.strip() for part in re.split("[,，、\n]", listed) if part.strip()]
    word = _WORD_OF_A_SUBTYPE[attribute.split()[0]]
    return next((each for each in offered if word in each.lower()), offered[0] if offered else attribute)


def _explanation(clash: Contradiction, chinese: bool) -> str:
    def words(fact: Fact) -> str:
        text = fact.sentence.text[fact.start : fact.end]
        _, _, part = fact.attribute.partition(" ") if fact.attribute.startswith("side") else ("", "", "")
        return text + part if chinese else f"{text} {part}".strip()

    who, here, there = clash.draft.subject, words(clash.draft), words(clash.source)
    if clash.draft.attribute == "life":
        return f"{who}已经死了。" if chinese else f"{who} is dead."
    if chinese:
        return f"关于{who}：这里写的是“{here}”，前面写的是“{there}”。"
    return f"Of {who}: here it is “{here}”, before it was “{there}”."


ANSWERS: Final[dict[str, Callable[[Task], dict[str, Any]]]] = {
    "curator.l1": overview,
    "curator.l0": one_sentence,
    "curator.profile": profile,
    "curator.arc": arc,
    "curator.keep": keep_advice,
    "monitor.check": findings,
    "context.scene": scene,
}

"""Answers to the agents' questions, computed from the texts in the request; every quotation is verbatim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from difflib import SequenceMatcher
from typing import Any, Final

from flowcabal_tui.models.offline.asked import Asked
from flowcabal_tui.models.offline.facts import Fact, clashes, facts_in, facts_of
from flowcabal_tui.models.offline.reading import Line, lines, mentions, terms, weightiest
from flowcabal_tui.models.offline.scene import people
from flowcabal_tui.models.offline.story import told
from flowcabal_tui.models.tokens import TokenEstimator

Row = dict[str, Any]
COUNTER: Final = TokenEstimator()
_OVERVIEW, _PROFILE, _ARC, _STATED = 6, 8, 10, 3
"""Sentences, at most."""
_LEAST: Final = 8
"""Characters; 魏长河说。 tells nothing of him."""
_MARKS: Final = '“”"「」'
_CONFIDENCE: Final = 0.7
_WORD: Final = re.compile(r"[〇一-鿿]|[^\W〇一-鿿]+|\s+|[^\w\s]")
_PASSAGE: Final = re.compile(r"^(p\d+) \[(\d+)(?:, ([^\]\n]*))?\] (.*)$", re.MULTILINE)


def _short(found: Iterable[Line], asked: Asked) -> str:
    """The first of the sentences that is within the limit, else the beginning of the first."""
    texts = [line.text.strip(_MARKS) for line in found] or [""]
    fitting = (text for text in texts if COUNTER.count(text) <= asked.limit)
    return next(fitting, COUNTER.truncate(texts[0], asked.limit))


def overview(asked: Asked) -> Row:
    """`curator.l1`: the weightiest sentence of each sixth of the chapter."""
    chosen = weightiest(lines(asked.chapter, asked.names, asked.chinese), _OVERVIEW, asked.chinese)
    return {"sentences": [{"sentence": line.text, "quote": line.text} for line in chosen]}


def one_sentence(asked: Asked) -> Row:
    """`curator.l0`: the weightiest sentence that is short enough."""
    found = lines(asked.chapter, asked.names, asked.chinese)
    fitting = [line for line in found if COUNTER.count(line.text) <= asked.limit]
    return {"sentence": _short(weightiest(fitting or found, 1, asked.chinese), asked)}


def story(asked: Asked) -> Row:
    """`curator.story`: what the chapter adds, and the chapter in brief."""
    uses = [{"question": question, **said} for question, said in keeping(asked).items()]
    return {**told(asked), **overview(asked), "line": one_sentence(asked)["sentence"], "keeping": uses}


def _sourced(asked: Asked) -> dict[Line, str]:
    """The sentences of the sources, each with the id of its source."""
    sources = [(source.attributes.get("id", ""), source.text) for source in asked.all("source")]
    return {line: id_ for id_, text in sources for line in lines(text, asked.names, asked.chinese)}


def _profile(
    summary: Iterable[Line], given: str, chosen: Iterable[Line], sourced: dict[Line, str], asked: Asked
) -> Row:
    rows = [{"sentence": line.text, "source_id": sourced[line], "quote": line.text} for line in chosen]
    return {"summary": _short(summary, asked) or given, "sentences": rows}


def profile(asked: Asked) -> Row:
    """`curator.profile`: the sentences of the sources about one entity, or about the whole book."""
    words = [word for each in asked.part("words").split(",") if (word := each.strip())]
    return _told_of(asked.part("entity").strip(), words, _sourced(asked), asked)


def profiles(asked: Asked) -> Row:
    """`curator.profiles`: the same of each, from the sources and the chapter."""
    sourced = _sourced(asked) | dict.fromkeys(lines(asked.chapter, asked.names, asked.chinese), "chapter")
    found = {
        each.attributes["id"]: _told_of(each.attributes["name"], (), sourced, asked) for each in asked.all("profile")
    }
    return {
        "lines": [{"profile": id_, **line} for id_, row in found.items() for line in row["sentences"]],
        "summaries": [{"profile": id_, "summary": row["summary"]} for id_, row in found.items()],
    }


def _told_of(given: str, words: Collection[str], sourced: dict[Line, str], asked: Asked) -> Row:
    """States of the entity, then the newest sentences that name it; the last one is the summary.

    Of the whole book any sentence counts. Those with the words of the kind come before others.
    """
    chief = next((name.chief for name in asked.names if given in name.names), given)
    of_it = [line for line in sourced if (not chief or chief in line.named) and not set(_MARKS) & set(line.text)]
    of_it = list({line.text: line for line in of_it if len(line.text) >= _LEAST}.values())
    of_it = [line for line in of_it if any(word in line.text for word in words)] or of_it
    stated = [line for line in of_it if any(fact.subject == chief for fact in _lasting(line, asked))]
    chosen = {*stated[-_STATED:], *of_it[-_PROFILE:]}
    newest = [*(line for line in of_it[::-1] if chief in line.text), *of_it[::-1]]
    return _profile(newest, given, (line for line in of_it if line in chosen), sourced, asked)


def _lasting(line: Line, asked: Asked) -> list[Fact]:
    return [fact for fact in facts_of(line, asked.words) if fact.row.lasting]


def arc(asked: Asked) -> Row:
    """`curator.arc`: the weightiest sentence of each tenth of the sources, and of all of them as the summary."""
    sourced = _sourced(asked)
    best, chosen = (weightiest([*sourced], parts, asked.chinese) for parts in (1, _ARC))
    return _profile(best, "", chosen, sourced, asked)


def keeping(asked: Asked) -> Row:
    """`curator.keep`: four questions, answered by counting facts, names and sentences that are new."""
    found = lines(asked.chapter, asked.names, asked.chinese)
    stated = next((line.text for line in found if _lasting(line, asked)), "")
    named = sorted({name for line in found for name in line.named})
    held = "\n".join(source.text for source in asked.all("source"))
    fresh = sum(line.text not in held for line in found)
    answers = {
        "prevents_errors": (bool(stated), stated),
        "reusable": (len(named) > 1, asked.words.said["comma"].join(named)),
        "self_contained": (bool(named), "".join(named[:1])),
        "new": (fresh * 2 > len(found), f"{fresh}/{len(found)}"),
    }
    return {question: {"passed": passed, "detail": detail} for question, (passed, detail) in answers.items()}


def inquiry(asked: Asked) -> str:
    """`context.inquiry`: the sentences that share the rarest words with the question; the later one where they tie."""
    found = [line.text for line in _sourced(asked)]
    words = [terms(text, asked.chinese) for text in found]
    seen = Counter(term for each in words for term in each)
    wanted = terms(asked.part("question"), asked.chinese)
    scores = [sum(1 / seen[term] for term in sorted(wanted & each)) for each in words]
    best = max(scores, default=0.0)
    if not best:
        return asked.words.said["unsaid"]
    order = sorted(range(len(found)), key=lambda i: (-scores[i], -i))[:2]
    return asked.words.said["space"].join(found[i] for i in sorted(order) if scores[i] * 2 > best)


def scene(asked: Asked) -> Row:
    """`context.scene`: who is named in the chapter's outline and the wish, and the first place; the rest is open."""
    text = f"{asked.part('beats')}\n{asked.part('wish')}"
    named = [name for _start, _end, name in mentions(text, asked.names)]
    place = next((name.chief for name in named if name.kind == "location"), "")
    return {"who": people(asked, [text]), "where": place, "when": "", "kind": "unknown"}


def findings(asked: Asked) -> Row:
    """`monitor.check`: contradictions that belong to the angles, each with its two sentences.

    They are given as quotations: which statement a passage is shown under does not matter here.
    """
    listed = (line.partition(":") for line in asked.part("subtypes").splitlines())
    subtypes = {angle.strip(): [each.strip() for each in offered.split(",")] for angle, _colon, offered in listed}
    sources = [
        (each.attributes.get("id", ""), each.text, each.attributes.get("title", "")) for each in asked.all("source")
    ]
    passages = sorted(_PASSAGE.findall(asked.part("statements")), key=lambda each: int(each[1]))
    sources += [(id_, f"[{about}] {text}" if about else text, "") for id_, _chapter, about, text in passages]
    told = [(fact, id_) for id_, text, title in sources for fact in facts_in(text, asked.names, asked.chinese, title)]
    draft = facts_in(asked.part("draft"), asked.names, asked.chinese)
    found = clashes([fact for fact in draft if fact.row.angle in subtypes], [fact for fact, _id in told])
    rows = [
        {
            "angle": here.row.angle,
            "subtype": next(
                (each for each in subtypes[here.row.angle] if here.row.subtype in each.lower()), here.row.subtype
            ),
            "draft_quote": here.line.text,
            "source_id": next(id_ for fact, id_ in told if fact is there),
            "source_quote": there.line.text,
            "explanation": asked.words.said["dead" if here.row.value else "clash"].format(
                who=here.subject, here=here.said, there=there.said
            ),
            "confidence": _CONFIDENCE,
        }
        for here, there in found
    ]
    return {
        "verdicts": [],
        "compatible": [each.attributes.get("id", "") for each in asked.all("statement")],
        "findings": list({(row["draft_quote"], row["source_quote"]): row for row in rows}.values()),
    }


def defence(asked: Asked) -> Row:
    """`monitor.defence`: what states contradict each other in a table of states has no other reading."""
    doubts = [each.attributes.get("id", "") for each in asked.all("doubt")]
    return {"readings": [{"doubt": each, "verdict": "contradiction", "confidence": _CONFIDENCE} for each in doubts]}


def patch(asked: Asked) -> Row:
    """`impact.patch`: the place with the new words for the old ones, where one stretch of words was changed."""
    was, now, place = asked.part("was"), asked.part("now"), asked.part("place")
    old, new = (_WORD.findall(text) for text in (was, now))
    changed = [each for each in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if each[0] != "equal"]
    if now and len(changed) == 1:
        _kind, start, end, first, last = changed[0]
        before, after = "".join(old[start:end]).strip(), "".join(new[first:last]).strip()
        place = place.replace(before, after) if before and after else place
    return {"place": place}


ANSWERS: Final[dict[str, Callable[[Asked], Row]]] = {
    "curator.story": story,
    "curator.l1": overview,
    "curator.l0": one_sentence,
    "curator.profile": profile,
    "curator.profiles": profiles,
    "curator.arc": arc,
    "curator.keep": keeping,
    "monitor.check": findings,
    "monitor.defence": defence,
    "context.scene": scene,
    "impact.patch": patch,
}

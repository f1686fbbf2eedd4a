"""Answers to the agents' questions, computed from the texts in the request; every quotation is verbatim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from flowcabal_tui.models.offline.parsed_request import LabelledRequest
from flowcabal_tui.models.offline.reading import (
    PERSON,
    ListedName,
    MaskedSentence,
    lines,
    named,
    nearest,
    ranked,
    terms,
    weightiest,
)
from flowcabal_tui.models.offline.statements import Values, clashes, facts, stated
from flowcabal_tui.models.tokens import TokenEstimator

COUNTER: Final = TokenEstimator()
_OVERVIEW, _PROFILE, _ARC, _STATED, _ADDED = 6, 8, 10, 3, 12
"""Sentences, at most."""
_ARCS: Final = ("arc", "work")
_LEAST: Final = 8
"""Characters; 魏长河说。 says nothing about him."""
_SUCH: Final = {"promise": 0.6, "secret": 1.0}
"""The share of an open line's words that are in a sentence about it."""
_MARKS: Final = '“”"「」'
_CONFIDENCE: Final = 0.7
_OPEN: Final = re.compile(r"^(\S+) (promise|secret): (.*)$", re.M)
_PASSAGE: Final = re.compile(r"^(p\d+) \[(\d+)(?:, ([^\]\n]*))?\] (.*)$", re.M)


def l1(asked: LabelledRequest) -> Values:
    """The overview: the most informative sentence of each sixth of the chapter."""
    chosen = weightiest(asked.sentences(asked.chapter), _OVERVIEW)
    return {"sentences": [{"sentence": line.text, "quote": line.text} for line in chosen]}


def l0(asked: LabelledRequest) -> Values:
    """The most informative sentence that is short enough."""
    return {"sentence": _short(ranked(asked.sentences(asked.chapter)), asked)}


def _short(found: Iterable[MaskedSentence], asked: LabelledRequest) -> str:
    """The first of the sentences that is within the limit, else the beginning of the first."""
    limit, texts = int(asked.part("limit").strip() or 50), [line.text.strip(_MARKS) for line in found] or [""]
    return next((text for text in texts if COUNTER.count(text) <= limit), COUNTER.truncate(texts[0], limit))


def beats(asked: LabelledRequest) -> Values:
    """The beats, each with the sentence that shares most words with it, if those are half of its own."""
    told = asked.sentences(asked.chapter)
    rows: list[Values] = []
    for beat in asked.all("beat"):
        wanted = terms(beat.text)
        best = max(told, key=lambda line: len(wanted & terms(line.text)), default=None)
        is_brought = best is not None and wanted and 2 * len(wanted & terms(best.text)) >= len(wanted)
        quote = best.text if best is not None and is_brought else ""
        rows.append({"beat": beat["id"], "verdict": "brought" if quote else "not_found", "quote": quote})
    return {"beats": rows}


def story(asked: LabelledRequest) -> Values:
    """The additions of the chapter found by the statement patterns, and the chapter in brief.

    Speech adds nothing. Each sentence states one thing of a kind; the first ones of the chapter count.
    """
    entities, words = _new_names(asked), asked.words
    names = (*asked.names, *(ListedName(row["kind"], (row["name"],)) for row in entities))
    narrated = [line for line in lines(asked.chapter, names) if not line.spoken]
    added = {kind: [*stated(narrated, words, kind)] for kind in ("relations", "facts", "promises", "moments")}
    added["facts"] += [
        {"text": fact.line.text, "about": [fact.what[0]], "attribute": fact.what[1], "quote": fact.line.text}
        for fact in facts(narrated, words)
        if fact.row.lasting
    ]
    added["sequels"] = [
        {"open": number, **row}
        for number, kind, text in _OPEN.findall(asked.part("open"))
        for row in stated(narrated, words, kind)
        if len(terms(text) & terms(row["quote"])) >= _SUCH[kind] * len(terms(text))
    ]
    first = {kind: list({row["quote"]: row for row in rows[::-1]}.values())[::-1] for kind, rows in added.items()}
    uses = [{"question": question, **use} for question, use in keep(asked).items()]
    brief = {**l1(asked), "line": l0(asked)["sentence"], "keeping": uses}
    return {"entities": entities, **{kind: rows[:_ADDED] for kind, rows in first.items()}, **brief}


def _new_names(asked: LabelledRequest) -> list[Values]:
    """The names of a chapter that return and that the list does not hold."""
    words, known = asked.words, [form for name in asked.names for form in name.names]
    found = [line.text for line in asked.sentences(asked.chapter)]
    counted = Counter(one[0] for text in found for one in words.patterns["person"].finditer(text))
    rows: list[Values] = []
    for name, count in counted.most_common():
        if count > 1 and not any(form in name or name in form for form in known) and not words.holds("nobody", name):
            quote = next(text for text in found if name in text)
            kind = words.kind(name, quote) or PERSON
            rows.append({"kind": kind, "name": name, "aliases": [], "quote": quote})
    return rows


def _sourced(asked: LabelledRequest) -> dict[MaskedSentence, str]:
    """The sentences of the sources and of the passages under statements, in story order, with their ids."""
    given = [(each["id"], each.text, each["title"]) for each in asked.all("source")]
    passages = sorted(_PASSAGE.findall(asked.part("statements")), key=lambda each: int(each[1]))
    given += [(id_, f"[{about}] {text}" if about else text, "") for id_, _chapter, about, text in passages]
    return {line: id_ for id_, text, title in given for line in asked.sentences(text, title)}


def _told(kind: str, name: str, asked: LabelledRequest, sourced: dict[MaskedSentence, str]) -> Values:
    """Of an arc the weightiest sentence of each tenth, and of all. Of an entity states, then the newest sentences
    that name it, the last one as the summary; of the whole book any sentence, first those with the words of the kind.
    """
    if kind in _ARCS:
        newest, rows = ranked([*sourced]), weightiest([*sourced], _ARC)
    else:
        chief = next((each.chief for each in asked.names if name in each.names), name)
        of_it = [line for line in sourced if (not chief or chief in line.named()) and not set(_MARKS) & set(line.text)]
        of_it = list({line.text: line for line in of_it if len(line.text) >= _LEAST}.values())
        wanted = list(filter(None, map(str.strip, asked.part("words").split(","))))
        of_it = [line for line in of_it if any(word in line.text for word in wanted)] or of_it
        lasting = [fact.line for fact in facts(of_it, asked.words) if fact.row.lasting and fact.what[0] == chief]
        newest = [*(line for line in of_it[::-1] if chief in line.text), *of_it[::-1]]
        rows = [line for line in of_it if line in {*lasting[-_STATED:], *of_it[-_PROFILE:]}]
    sentences = [{"sentence": line.text, "source_id": sourced[line], "quote": line.text} for line in rows]
    return {"summary": _short(newest, asked) or name, "sentences": sentences}


def profile(asked: LabelledRequest) -> Values:
    """The sentences of the sources about one entity, or about the whole book."""
    return _told("", asked.part("entity").strip(), asked, _sourced(asked))


def arc(asked: LabelledRequest) -> Values:
    """The most informative sentence of each tenth of the sources."""
    return _told("arc", "", asked, _sourced(asked))


def profiles(asked: LabelledRequest) -> Values:
    """A profile for each subject, from the sources and the chapter."""
    sourced = _sourced(asked) | dict.fromkeys(asked.sentences(asked.chapter), "chapter")
    found = {each["id"]: _told(each["kind"], each["name"], asked, sourced) for each in asked.all("profile")}
    return {
        "lines": [{"profile": id_, **line} for id_, row in found.items() for line in row["sentences"]],
        "summaries": [{"profile": id_, "summary": row["summary"]} for id_, row in found.items()],
    }


def keep(asked: LabelledRequest) -> Values:
    """The four questions, answered by counting new facts, names and sentences."""
    found, held = asked.sentences(asked.chapter), asked.part("source")
    states = [fact.line.text for fact in facts(found, asked.words) if fact.row.lasting]
    people = sorted({name for line in found for name in line.named()})
    fresh = sum(line.text not in held for line in found)
    details = {
        "prevents_errors": "".join(states[:1]),
        "reusable": asked.words.said["comma"].join(people) if len(people) > 1 else "",
        "self_contained": "".join(people[:1]),
        "new": f"{fresh}/{len(found)}" if fresh * 2 > len(found) else "",
    }
    return {question: {"passed": bool(detail), "detail": detail} for question, detail in details.items()}


def inquiry(asked: LabelledRequest) -> str:
    """The sentences that share the rarest words with the question."""
    best = nearest([*_sourced(asked)], asked.part("question"))
    return asked.words.said["space"].join(line.text for line in best) or asked.words.said["unsaid"]


def scene(asked: LabelledRequest) -> Values:
    """The people named in the chapter's outline and the writer's instruction, and the first place; other fields are
    open."""
    text = f"{asked.part('beats')}\n{asked.part('wish')}"
    who, places = ([name.chief for name in named(text, asked.names, kind)] for kind in (PERSON, "location"))
    return {"who": who, "where": "".join(places[:1]), "when": "", "kind": "unknown"}


def check(asked: LabelledRequest) -> Values:
    """Contradictions that belong to the angles, each with its two sentences.

    They are given as quotations, regardless of the statement under which a passage is shown.
    """
    angles = {line.partition(":")[0].strip() for line in asked.part("subtypes").splitlines()}
    sources, said = _sourced(asked), asked.words.said
    draft = [fact for fact in facts(asked.sentences(asked.part("draft")), asked.words) if fact.row.angle in angles]
    rows = {
        (here.line.text, there.line.text): {
            "angle": here.row.angle,
            "subtype": here.row.subtype,
            "draft_quote": here.line.text,
            "source_id": sources[there.line],
            "source_quote": there.line.text,
            "explanation": said["dead" if here.row.value else "clash"].format(here=here, there=there),
            "confidence": _CONFIDENCE,
        }
        for here, there in clashes(draft, facts([*sources], asked.words))
    }
    compatible = [each["id"] for each in asked.all("statement")]
    return {"verdicts": [], "compatible": compatible, "findings": [*rows.values()]}


def defence(asked: LabelledRequest) -> Values:
    """The verdict on contradictions in a table of states: they have no other reading."""
    verdict = {"verdict": "contradiction", "confidence": _CONFIDENCE}
    return {"readings": [{"doubt": each["id"], **verdict} for each in asked.all("doubt")]}

"""Answers to the agents' questions, computed from the texts in the request; every quotation is verbatim.

A structured answer is made from its schema: `_EXTRACTS` has the function for each field.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pydantic import BaseModel

from flowcabal_tui.models.offline.parsed_request import LabelledRequest
from flowcabal_tui.models.offline.reading import PERSON, MaskedSentence, extract, named, nearest, share
from flowcabal_tui.models.offline.statements import Values, clashes, facts, stated
from flowcabal_tui.models.tokens import TokenEstimator

COUNTER: Final = TokenEstimator()
_MOST: Final = 10
"""Sentences of an overview or profile."""
_ALIKE: Final = 0.6
"""The share of the words of a beat, promise or secret that are in a sentence about it."""
_LIMIT: Final = 50
"""Tokens of one sentence, unless the question has a limit."""
_MARKS: Final = '“”"「」'
_CONFIDENCE: Final = 0.7
_WHOLE: Final = ("", "book", "arc", "work")
"""Kinds of subjects that every sentence is about."""
_USES: Final = ("prevents_errors", "reusable", "self_contained", "new")
_OPEN: Final = re.compile(r"^(\S+) (promise|secret): (.*)$", re.M)
_EMPTY: Final = {"string": "", "array": []}


def filled(shape: type[BaseModel], asked: LabelledRequest) -> Values:
    """The fields of a shape; required ones without a function are empty if they are texts or lists, else null."""
    schema = {"required": [], **shape.model_json_schema()}
    empty = {key: _EMPTY.get(schema["properties"][key].get("type")) for key in schema["required"]}
    return empty | {key: _EXTRACTS[key](asked) for key in shape.model_fields if key in _EXTRACTS}


def inquiry(asked: LabelledRequest) -> str:
    """The sentences that share the rarest words with the question."""
    best = nearest([*asked.sources], asked.part("question"))
    return asked.words.said["space"].join(line.text for line in best) or asked.words.said["unsaid"]


def _subjects(asked: LabelledRequest) -> list[Values]:
    """The summary and the sentences of each profile, or of the entity, or of the whole text."""
    subjects = [(each["id"], each["kind"], each["name"]) for each in asked.all("profile")]
    subjects += [("", each["kind"], each.text.strip()) for each in asked.all("entity")]
    return [{"profile": id_, **_about(asked, kind, name)} for id_, kind, name in subjects or [("", "", "")]]


def _about(asked: LabelledRequest, kind: str, name: str) -> Values:
    """An overview of all texts, or of the sentences about a subject, first those with the words of the question.

    The summary is the most informative sentence; of a subject the newest.
    """
    pool, is_whole = {**asked.sources, **dict.fromkeys(asked.chapter, "chapter")}, kind in _WHOLE
    chief = next((each.chief for each in asked.names if name in each.names), name)
    told = [line for line in pool if line.is_told] or [*pool]
    about = [line for line in told if is_whole or chief in line.named()]
    wanted = [word.strip() for word in asked.part("words").split(",") if word.strip()]
    found = [line for line in about if any(word in line.text for word in wanted)] or about
    newest = [line for line in found[::-1] if chief in line.text] or found[::-1]
    first = sorted(found, key=lambda line: -line.weight) if is_whole else newest
    chosen = {line.text: pool[line] for line in (*extract(found, _MOST), *first[:1])}
    rows = [{"sentence": text, "source_id": id_, "quote": text} for text, id_ in chosen.items()]
    return {"summary": _short(first, asked) or name, "sentences": rows}


def _short(found: Sequence[MaskedSentence], asked: LabelledRequest) -> str:
    """The first of the sentences that is within the limit, else the beginning of the first."""
    limit, texts = int(asked.part("limit").strip() or _LIMIT), [line.text.strip(_MARKS) for line in found] or [""]
    return next((text for text in texts if COUNTER.count(text) <= limit), COUNTER.truncate(texts[0], limit))


def _sentences(asked: LabelledRequest) -> list[Values]:
    return [{"profile": each["profile"], **row} for each in _subjects(asked) for row in each["sentences"]]


def _beats(asked: LabelledRequest) -> list[Values]:
    """The verdict on each beat, with the first sentence that has most of its words."""
    rows: list[Values] = []
    for beat in asked.all("beat"):
        quote = next((line.text for line in asked.chapter if share(beat.text, line.text) >= _ALIKE), "")
        rows.append({"beat": beat["id"], "verdict": "brought" if quote else "not_found", "quote": quote})
    return rows


def _added(asked: LabelledRequest, kind: str) -> list[Values]:
    """What the chapter adds of a kind by the statement patterns."""
    return [*stated(asked.chapter, asked.words, kind)]


def _facts(asked: LabelledRequest) -> list[Values]:
    """The facts of the patterns, and the lasting states."""
    return _added(asked, "facts") + [
        {"text": fact.line.text, "about": [fact.what[0]], "attribute": fact.what[1], "quote": fact.line.text}
        for fact in facts(asked.chapter, asked.words)
        if fact.row.lasting
    ]


def _sequels(asked: LabelledRequest) -> list[Values]:
    """The sentences that fulfil an open promise or reveal a secret."""
    return [
        {"open": number, **row}
        for number, kind, text in _OPEN.findall(asked.part("open"))
        for row in _added(asked, kind)
        if share(text, row["quote"]) >= _ALIKE
    ]


def _entities(asked: LabelledRequest) -> list[Values]:
    """The names of a chapter that return and that the list does not hold."""
    words, known = asked.words, [form for name in asked.names for form in name.names]
    found = [line.text for line in asked.chapter]
    counted = Counter(one[0] for text in found for one in words.patterns["person"].finditer(text))
    nobody, rows = words.lists["nobody"].split(), list[Values]()
    for name, count in counted.most_common():
        if count > 1 and not any(form in name or name in form for form in known) and name not in nobody:
            quote = next(text for text in found if name in text)
            rows.append({"kind": words.kind(name, quote) or PERSON, "name": name, "aliases": [], "quote": quote})
    return rows


def _use(asked: LabelledRequest, question: str) -> Values:
    """One of the four questions, answered by counting states, names and sentences."""
    people = sorted({name for line in asked.chapter for name in line.named()})
    fresh = sum(line.text not in asked.part("source") for line in asked.chapter)
    detail = {
        "prevents_errors": "".join(fact["text"] for fact in _facts(asked)[:1]),
        "reusable": asked.words.said["comma"].join(people) if len(people) > 1 else "",
        "self_contained": "".join(people[:1]),
        "new": f"{fresh}/{len(asked.chapter)}" if fresh * 2 > len(asked.chapter) else "",
    }[question]
    return {"passed": bool(detail), "detail": detail}


def _in_scene(asked: LabelledRequest, kind: str) -> list[str]:
    """The names in the chapter's outline and the writer's instruction."""
    text = f"{asked.part('beats')}\n{asked.part('wish')}"
    return [name.chief for name in named(text, asked.names, kind)]


def _findings(asked: LabelledRequest) -> list[Values]:
    """Contradictions that belong to the angles, each with its two sentences.

    They are given as quotations, regardless of the statement under which a passage is shown.
    """
    angles = {line.partition(":")[0].strip() for line in asked.part("subtypes").splitlines()}
    draft = [fact for fact in facts(asked.chapter, asked.words) if fact.row.angle in angles]
    rows = {
        (here.line.text, there.line.text): {
            "angle": here.row.angle,
            "subtype": here.row.subtype,
            "draft_quote": here.line.text,
            "source_id": asked.sources[there.line],
            "source_quote": there.line.text,
            "explanation": asked.words.said["dead" if here.row.value else "clash"].format(here=here, there=there),
            "confidence": _CONFIDENCE,
        }
        for here, there in clashes(draft, facts([*asked.sources], asked.words))
    }
    return [*rows.values()]


def _readings(asked: LabelledRequest) -> list[Values]:
    """The verdict on contradictions in a table of states: they have no other reading."""
    verdict = {"verdict": "contradiction", "confidence": _CONFIDENCE}
    return [{"doubt": each["id"], **verdict} for each in asked.all("doubt")]


_EXTRACTS: Final[Mapping[str, Callable[[LabelledRequest], Any]]] = {
    **dict.fromkeys(("sentences", "lines"), _sentences),
    **dict.fromkeys(("sentence", "line", "summary"), lambda asked: _subjects(asked)[0]["summary"]),
    "summaries": _subjects,
    "beats": _beats,
    "entities": _entities,
    "facts": _facts,
    **{kind: partial(_added, kind=kind) for kind in ("relations", "promises", "moments")},
    "sequels": _sequels,
    "keeping": lambda asked: [{"question": question, **_use(asked, question)} for question in _USES],
    **{question: partial(_use, question=question) for question in _USES},
    "who": partial(_in_scene, kind=PERSON),
    "where": lambda asked: "".join(_in_scene(asked, "location")[:1]),
    "kind": lambda _asked: "unknown",
    "findings": _findings,
    "compatible": lambda asked: [each["id"] for each in asked.all("statement")],
    "readings": _readings,
}

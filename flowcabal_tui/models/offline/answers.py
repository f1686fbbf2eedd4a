"""Answers to the agents' questions, computed from the texts in the request; every quotation is verbatim.

A structured answer is made from its schema: `_EXTRACTS` has the function for each field.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from pydantic import BaseModel

from flowcabal_tui.domain.answer_schema import shape_schema
from flowcabal_tui.models.offline.parsed_request import Labelled, LabelledRequest
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
_CONFIDENCE: Final = 0.7
_WHOLE: Final = ("", "book", "arc", "work")
"""Kinds of subjects that every sentence is about."""
_USES: Final = ("prevents_errors", "reusable", "self_contained", "new")
_OPEN: Final = re.compile(r"^(\S+) (promise|secret): (.*)$", re.M)


def filled(shape: type[BaseModel], request: LabelledRequest) -> Values:
    """The fields of a shape; required ones without a function are empty if they are texts or lists, else null."""
    schema, empty = {"required": [], **shape_schema(shape)}, {"string": "", "array": []}
    required = {key: empty.get(schema["properties"][key].get("type")) for key in schema["required"]}
    return required | {key: _EXTRACTS[key](request) for key in shape.model_fields if key in _EXTRACTS}


def inquiry(request: LabelledRequest) -> str:
    """The sentences that share the rarest words with the question."""
    best = nearest(request.sources, request.part("question"))
    return request.words.phrases["space"].join(line.text for line in best) or request.words.phrases["unsaid"]


def _subjects(request: LabelledRequest) -> list[Values]:
    """The summary and the sentences of each profile, or of the entity, or of the whole text."""
    subjects = request.all("profile") + request.all("entity") or [Labelled(str)]
    return [_about(request, each["id"], each["kind"], each["name"] or each["text"].strip()) for each in subjects]


def _about(request: LabelledRequest, profile: str, kind: str, name: str) -> Values:
    """An overview of all texts, or of the sentences about a subject, first those with the words of the question.

    The summary is the most informative sentence; of a subject the newest.
    """
    pool, is_whole = [*request.sources, *request.chapter], kind in _WHOLE
    chief = next((each.chief for each in request.names if name in each.names), name)
    narrated = [line for line in pool if line.is_narration] or pool
    about = [line for line in narrated if is_whole or chief in line.named()]
    wanted = [word.strip() for word in request.part("words").split(",") if word.strip()]
    found = [line for line in about if any(word in line.text for word in wanted)] or about
    newest = [line for line in found[::-1] if chief in line.text] or found[::-1]
    first = sorted(found, key=lambda line: -line.weight) if is_whole else newest
    chosen = {line.text: line.source for line in (*extract(found, _MOST), *first[:1])}
    rows = [{"profile": profile, "sentence": text, "source_id": id_, "quote": text} for text, id_ in chosen.items()]
    return {"profile": profile, "summary": _short(first, request) or name, "sentences": rows}


def _short(found: Sequence[MaskedSentence], request: LabelledRequest) -> str:
    """The first of the sentences that is within the limit, else the beginning of the first."""
    limit, texts = int(request.part("limit").strip() or _LIMIT), [line.text.strip('“”"「」') for line in found] or [""]
    return next((text for text in texts if COUNTER.count(text) <= limit), COUNTER.truncate(texts[0], limit))


def _beats(request: LabelledRequest) -> list[Values]:
    """The verdict on each beat, with the first sentence that has most of its words."""
    lines = [line.text for line in request.chapter]
    found = {one["id"]: [text for text in lines if share(one["text"], text) >= _ALIKE] for one in request.all("beat")}
    verdicts = {True: "brought", False: "not_found"}
    return [{"beat": id_, "verdict": verdicts[bool(each)], "quote": "".join(each[:1])} for id_, each in found.items()]


def _added(request: LabelledRequest, kind: str) -> list[Values]:
    """The additions of one kind in the chapter, by the statement patterns."""
    return [*stated(request.chapter, request.words, kind)]


def _facts(request: LabelledRequest) -> list[Values]:
    """The facts of the patterns, and the lasting states."""
    lasting = [(each.line.text, *each.what) for each in facts(request.chapter, request.words) if each.row.lasting]
    rows = [{"text": text, "about": [name], "attribute": state, "quote": text} for text, name, state in lasting]
    return _added(request, "facts") + rows


def _sequels(request: LabelledRequest) -> list[Values]:
    """The sentences that fulfil an open promise or reveal a secret."""
    opened = [(id_, text, _added(request, kind)) for id_, kind, text in _OPEN.findall(request.part("open"))]
    return [{"open": id_, **row} for id_, text, rows in opened for row in rows if share(text, row["quote"]) >= _ALIKE]


def _entities(request: LabelledRequest) -> list[Values]:
    """The names of a chapter that return and that the list does not hold."""
    words, texts, rows = request.words, [line.text for line in request.chapter], list[Values]()
    known, nobody = [form for name in request.names for form in name.names], words.lists["nobody"].split()
    counted = Counter(one[0] for text in texts for one in words.patterns["person"].finditer(text))
    for name, count in counted.most_common():
        if count > 1 and not any(form in name or name in form for form in known) and name not in nobody:
            quote = next(text for text in texts if name in text)
            rows.append({"kind": words.kind(name, quote) or PERSON, "name": name, "aliases": [], "quote": quote})
    return rows


def _keeping(request: LabelledRequest) -> list[Values]:
    """The four questions about the use of a text, answered by counting states, names and sentences."""
    people = sorted({name for line in request.chapter for name in line.named()})
    fresh = sum(line.text not in request.part("source") for line in request.chapter)
    fact, cast = "".join(row["text"] for row in _facts(request)[:1]), request.words.phrases["comma"].join(people)
    new = f"{fresh}/{len(request.chapter)}" if fresh * 2 > len(request.chapter) else ""
    details = (fact, cast if len(people) > 1 else "", "".join(people[:1]), new)
    return [{"question": use, "passed": bool(text), "detail": text} for use, text in zip(_USES, details, strict=True)]


def _in_scene(request: LabelledRequest, kind: str) -> list[str]:
    """The names in the chapter's outline and the writer's instruction."""
    return [name.chief for name in named(f"{request.part('beats')}\n{request.part('wish')}", request.names, kind)]


def _findings(request: LabelledRequest) -> list[Values]:
    """Contradictions that belong to the angles, each with its two sentences.

    They are given as quotations, regardless of the statement under which a passage is shown.
    """
    angles = {line.partition(":")[0].strip() for line in request.part("subtypes").splitlines()}
    draft = [fact for fact in facts(request.chapter, request.words) if fact.row.gives["angle"] in angles]
    rows = {
        (here.line.text, there.line.text): {
            **here.row.gives,
            "draft_quote": here.line.text,
            "source_id": there.line.source,
            "source_quote": there.line.text,
            "explanation": request.words.phrases["dead" if here.row.value else "clash"].format(here=here, there=there),
            "confidence": _CONFIDENCE,
        }
        for here, there in clashes(draft, [*facts(request.sources, request.words)])
    }
    return [*rows.values()]


def _readings(request: LabelledRequest) -> list[Values]:
    """The verdict on contradictions that were found in a table of states: no reading explains them."""
    return [{"doubt": one["id"], "verdict": "contradiction", "confidence": _CONFIDENCE} for one in request.all("doubt")]


def _place(request: LabelledRequest) -> str:
    """The place with its words changed; the old place if there is nothing to replace or nothing is left."""
    place, was, now = map(request.part, ("place", "was", "now"))
    return (place.replace(was, now) if was else place) or place


_EXTRACTS: Final[Mapping[str, Callable[[LabelledRequest], Any]]] = {
    **dict.fromkeys(
        ("sentences", "lines"), lambda request: [*chain(*(each["sentences"] for each in _subjects(request)))]
    ),
    **dict.fromkeys(("sentence", "line", "summary"), lambda request: _subjects(request)[0]["summary"]),
    "summaries": _subjects,
    **{each.__name__[1:]: each for each in (_beats, _entities, _facts, _sequels, _keeping, _findings, _readings)},
    **{kind: partial(_added, kind=kind) for kind in ("relations", "promises", "moments")},
    **{use: partial(lambda request, at: _keeping(request)[at], at=at) for at, use in enumerate(_USES)},
    "who": partial(_in_scene, kind=PERSON),
    "where": lambda request: "".join(_in_scene(request, "location")[:1]),
    "kind": lambda _request: "unknown",
    "place": _place,
    "compatible": lambda request: [each["id"] for each in request.all("statement")],
}

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


def filled(shape: type[BaseModel], asked: LabelledRequest) -> Values:
    """The fields of a shape; required ones without a function are empty if they are texts or lists, else null."""
    schema, empty = {"required": [], **shape.model_json_schema()}, {"string": "", "array": []}
    required = {key: empty.get(schema["properties"][key].get("type")) for key in schema["required"]}
    return required | {key: _EXTRACTS[key](asked) for key in shape.model_fields if key in _EXTRACTS}


def inquiry(asked: LabelledRequest) -> str:
    """The sentences that share the rarest words with the question."""
    best = nearest(asked.sources, asked.part("question"))
    return asked.words.said["space"].join(line.text for line in best) or asked.words.said["unsaid"]


def _subjects(asked: LabelledRequest) -> list[Values]:
    """The summary and the sentences of each profile, or of the entity, or of the whole text."""
    subjects = asked.all("profile") + asked.all("entity") or [Labelled(str)]
    return [_about(asked, each["id"], each["kind"], each["name"] or each["text"].strip()) for each in subjects]


def _about(asked: LabelledRequest, profile: str, kind: str, name: str) -> Values:
    """An overview of all texts, or of the sentences about a subject, first those with the words of the question.

    The summary is the most informative sentence; of a subject the newest.
    """
    pool, is_whole = [*asked.sources, *asked.chapter], kind in _WHOLE
    chief = next((each.chief for each in asked.names if name in each.names), name)
    told = [line for line in pool if line.is_told] or pool
    about = [line for line in told if is_whole or chief in line.named()]
    wanted = [word.strip() for word in asked.part("words").split(",") if word.strip()]
    found = [line for line in about if any(word in line.text for word in wanted)] or about
    newest = [line for line in found[::-1] if chief in line.text] or found[::-1]
    first = sorted(found, key=lambda line: -line.weight) if is_whole else newest
    chosen = {line.text: line.source for line in (*extract(found, _MOST), *first[:1])}
    rows = [{"profile": profile, "sentence": text, "source_id": id_, "quote": text} for text, id_ in chosen.items()]
    return {"profile": profile, "summary": _short(first, asked) or name, "sentences": rows}


def _short(found: Sequence[MaskedSentence], asked: LabelledRequest) -> str:
    """The first of the sentences that is within the limit, else the beginning of the first."""
    limit, texts = int(asked.part("limit").strip() or _LIMIT), [line.text.strip('“”"「」') for line in found] or [""]
    return next((text for text in texts if COUNTER.count(text) <= limit), COUNTER.truncate(texts[0], limit))


def _beats(asked: LabelledRequest) -> list[Values]:
    """The verdict on each beat, with the first sentence that has most of its words."""
    lines = [line.text for line in asked.chapter]
    found = {beat["id"]: [text for text in lines if share(beat["text"], text) >= _ALIKE] for beat in asked.all("beat")}
    verdicts = {True: "brought", False: "not_found"}
    return [{"beat": id_, "verdict": verdicts[bool(each)], "quote": "".join(each[:1])} for id_, each in found.items()]


def _added(asked: LabelledRequest, kind: str) -> list[Values]:
    """What the chapter adds of a kind by the statement patterns."""
    return [*stated(asked.chapter, asked.words, kind)]


def _facts(asked: LabelledRequest) -> list[Values]:
    """The facts of the patterns, and the lasting states."""
    lasting = [(each.line.text, *each.what) for each in facts(asked.chapter, asked.words) if each.row.lasting]
    rows = [{"text": text, "about": [name], "attribute": state, "quote": text} for text, name, state in lasting]
    return _added(asked, "facts") + rows


def _sequels(asked: LabelledRequest) -> list[Values]:
    """The sentences that fulfil an open promise or reveal a secret."""
    opened = [(id_, text, _added(asked, kind)) for id_, kind, text in _OPEN.findall(asked.part("open"))]
    return [{"open": id_, **row} for id_, text, rows in opened for row in rows if share(text, row["quote"]) >= _ALIKE]


def _entities(asked: LabelledRequest) -> list[Values]:
    """The names of a chapter that return and that the list does not hold."""
    words, texts, rows = asked.words, [line.text for line in asked.chapter], list[Values]()
    known, nobody = [form for name in asked.names for form in name.names], words.lists["nobody"].split()
    counted = Counter(one[0] for text in texts for one in words.patterns["person"].finditer(text))
    for name, count in counted.most_common():
        if count > 1 and not any(form in name or name in form for form in known) and name not in nobody:
            quote = next(text for text in texts if name in text)
            rows.append({"kind": words.kind(name, quote) or PERSON, "name": name, "aliases": [], "quote": quote})
    return rows


def _keeping(asked: LabelledRequest) -> list[Values]:
    """The four questions about the use of a text, answered by counting states, names and sentences."""
    people = sorted({name for line in asked.chapter for name in line.named()})
    fresh = sum(line.text not in asked.part("source") for line in asked.chapter)
    fact, cast = "".join(row["text"] for row in _facts(asked)[:1]), asked.words.said["comma"].join(people)
    new = f"{fresh}/{len(asked.chapter)}" if fresh * 2 > len(asked.chapter) else ""
    details = (fact, cast if len(people) > 1 else "", "".join(people[:1]), new)
    return [{"question": use, "passed": bool(text), "detail": text} for use, text in zip(_USES, details, strict=True)]


def _in_scene(asked: LabelledRequest, kind: str) -> list[str]:
    """The names in the chapter's outline and the writer's instruction."""
    return [name.chief for name in named(f"{asked.part('beats')}\n{asked.part('wish')}", asked.names, kind)]


def _findings(asked: LabelledRequest) -> list[Values]:
    """Contradictions that belong to the angles, each with its two sentences.

    They are given as quotations, regardless of the statement under which a passage is shown.
    """
    angles = {line.partition(":")[0].strip() for line in asked.part("subtypes").splitlines()}
    draft = [fact for fact in facts(asked.chapter, asked.words) if fact.row.gives["angle"] in angles]
    rows = {
        (here.line.text, there.line.text): {
            **here.row.gives,
            "draft_quote": here.line.text,
            "source_id": there.line.source,
            "source_quote": there.line.text,
            "explanation": asked.words.said["dead" if here.row.value else "clash"].format(here=here, there=there),
            "confidence": _CONFIDENCE,
        }
        for here, there in clashes(draft, [*facts(asked.sources, asked.words)])
    }
    return [*rows.values()]


def _readings(asked: LabelledRequest) -> list[Values]:
    """The verdict on contradictions in a table of states: they have no other reading."""
    return [{"doubt": each["id"], "verdict": "contradiction", "confidence": _CONFIDENCE} for each in asked.all("doubt")]


_EXTRACTS: Final[Mapping[str, Callable[[LabelledRequest], Any]]] = {
    **dict.fromkeys(("sentences", "lines"), lambda asked: [*chain(*(each["sentences"] for each in _subjects(asked)))]),
    **dict.fromkeys(("sentence", "line", "summary"), lambda asked: _subjects(asked)[0]["summary"]),
    "summaries": _subjects,
    **{each.__name__[1:]: each for each in (_beats, _entities, _facts, _sequels, _keeping, _findings, _readings)},
    **{kind: partial(_added, kind=kind) for kind in ("relations", "promises", "moments")},
    **{use: partial(lambda asked, at: _keeping(asked)[at], at=at) for at, use in enumerate(_USES)},
    "who": partial(_in_scene, kind=PERSON),
    "where": lambda asked: "".join(_in_scene(asked, "location")[:1]),
    "kind": lambda _asked: "unknown",
    "place": lambda asked: asked.part("place").replace(asked.part("was"), asked.part("now")) or asked.part("place"),
    "compatible": lambda asked: [each["id"] for each in asked.all("statement")],
}

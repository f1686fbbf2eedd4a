"""The additions of a chapter to the story, by the tables of sentence patterns; every quotation is verbatim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from flowcabal_tui.models.offline.asked import Asked
from flowcabal_tui.models.offline.facts import facts_of
from flowcabal_tui.models.offline.reading import PERSON, Line, Name, lines, terms

Row = dict[str, Any]
_MOST: Final = 12
_SUCH: Final = 0.6
"""So many of a line's words must stand in a sentence that is said to concern it."""


def told(asked: Asked) -> dict[str, list[Row]]:
    """Names, relations, states, secrets, vows, times, and changes of the open lines.

    Speech counts for none of them; dreams, wishes and denials for no relation and no state.
    """
    chapter, entities = asked.chapter, _new_names(asked)
    names = (*asked.names, *(Name(row["kind"], (row["name"],)) for row in entities))
    narrated = [line for line in lines(chapter, names, asked.chinese) if not line.spoken]
    sure = [line for line in narrated if not asked.words.pattern("untrue").search(line.text)]
    rows = {
        "relations": _relations(sure, asked),
        "facts": (*_secrets(narrated, asked), *_states(sure, asked), *_lasting(narrated, asked)),
        "promises": (_row(line) for line, _match in _found(narrated, asked, "vow")),
        "moments": (_row(line) | {"when": at["when"]} for line, at in _found(narrated, asked, "time") if line.at),
        "sequels": _sequels(narrated, asked),
    }
    return {"entities": entities} | {kind: _first(each) for kind, each in rows.items()}


def _new_names(asked: Asked) -> list[Row]:
    """The names of a chapter that return and that the list does not hold."""
    words, known = asked.words, [form for name in asked.names for form in name.names]
    found = [line.text for line in lines(asked.chapter, (), asked.chinese)]
    counted = Counter(match[0] for text in found for match in words.pattern("person").finditer(text))
    rows: list[Row] = []
    for name, count in counted.most_common():
        if count > 1 and not any(form in name or name in form for form in known) and name not in words.lists["nobody"]:
            quote = next(text for text in found if name in text)
            before = quote[: quote.find(name)]
            is_place = words.pattern("where").search(before)
            kind = "location" if is_place else "item" if before.endswith("the ") else PERSON
            rows.append({"kind": kind, "name": name, "aliases": [], "quote": quote})
    return rows


def _first(rows: Iterable[Row]) -> list[Row]:
    """Each sentence tells one thing of a kind; the first ones of the chapter."""
    return list({row["quote"]: row for row in reversed([*rows])}.values())[::-1][:_MOST]


def _found(found: Iterable[Line], asked: Asked, kind: str) -> Iterator[tuple[Line, re.Match[str]]]:
    """The sentences of a kind, each with the first pattern that fits."""
    for line in found:
        if match := next(filter(None, (row.search(line.masked) for row in asked.words.rows[kind])), None):
            yield line, match


def _row(line: Line, text: str = "", about: Sequence[str] = ()) -> Row:
    return {"text": text or line.text, "about": list(about or line.named), "quote": line.text}


def _relations(found: Iterable[Line], asked: Asked) -> Iterator[Row]:
    for line, match in _found(found, asked, "relation"):
        kin, ends = match["kin"].lower(), [line.at[match.start(end)].chief for end in "ab"]
        directed = kin not in asked.words.lists["mutual"]
        kind = asked.words.said["kin"].format(kin)
        yield {"source": ends[0], "kind": kind, "target": ends[1], "directed": directed, "quote": line.text}


def _states(found: Sequence[Line], asked: Asked) -> Iterator[Row]:
    for kind in ("residence", "office", "holder"):
        for line, match in _found(found, asked, kind):
            about = line.within(match.start(), len(line.masked))
            yield _row(line, about=about) | {"attribute": asked.words.said[kind]}


def _secrets(found: Iterable[Line], asked: Asked) -> Iterator[Row]:
    for line, match in _found(found, asked, "secret"):
        start, end = match.span("secret")
        known = line.within(*match.span("knowers"))
        text, about = line.text[start:end].strip("，,：: "), line.within(start, end)
        yield _row(line, text, about or known) | {"secret": True, "known_by": known}


def _lasting(found: Iterable[Line], asked: Asked) -> Iterator[Row]:
    """Bodies, ages and deaths, by the table that finds contradictions."""
    for line in found:
        lasting = (fact for fact in facts_of(line, asked.words) if fact.row.lasting)
        yield from (_row(line, about=[fact.subject]) | {"attribute": fact.attribute} for fact in lasting)


def _sequels(found: Sequence[Line], asked: Asked) -> Iterator[Row]:
    """Vows that a sentence says were kept, and secrets that somebody learns, told again in their own words."""
    for number, kind, text in re.findall(r"(?m)^(\S+) (promise|secret): (.*)$", asked.part("open")):
        wanted = terms(text, asked.chinese)
        if kind == "promise":
            for line, _match in _found(found, asked, "kept"):
                if len(wanted & terms(line.text, asked.chinese)) >= _SUCH * len(wanted):
                    yield {"open": number, "learned_by": "", "quote": line.text}
        else:
            for line, match in _found(found, asked, "learns"):
                if text in line.text:
                    yield {"open": number, "learned_by": line.at[match.start("a")].chief, "quote": line.text}

"""How many of the names that are found are names, and how many mentions they find: by labels made by hand.

`labelled_names.json` holds for each novel 100 mentions (of people and places in passages drawn with the seed: chapter,
start, end, words), and which of the names drawn were right or wrong. Names are drawn from all that may enter a
prompt by the digest of seed, novel and name, so that a name that stays found stays drawn. A name counts as right
when it is what one person, place, work or institution of the story is called; a word for a kind of person or place, a
piece of a name, a people or a language is wrong.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.agents.names.names import NameIndex, discover

LABELS: Final = Path(__file__).with_suffix(".json")
DRAWN: Final = 100
PRECISION: Final = 0.95
NOVELS: Final = ("hongloumeng", "xiyouji", "monte-cristo", "nicholas-nickleby")


@dataclass(frozen=True, slots=True)
class Measured:
    """Shares of one novel; `unlabelled` names were drawn and nobody has labelled them, `missed` mentions not found."""

    precision: float
    recall: float
    recall_before: float
    precision_before: float
    wrong: tuple[str, ...]
    unlabelled: tuple[str, ...]
    missed: tuple[str, ...]


@cache
def labels() -> dict[str, Any]:
    """The file of labels."""
    found: dict[str, Any] = json.loads(LABELS.read_text("utf-8"))
    return found


def measured(novels: Path, slug: str) -> Measured:
    """The names of a novel of the folder `novels`, found anew, against its labels."""
    told = labels()["novels"][slug]
    texts = [file.read_text("utf-8").rstrip("\n") for file in sorted((novels / slug).glob("*.txt"))]
    entities = discover(texts, told["language"])
    names = drawn(slug, {name for entity in entities for name in entity.names})
    wrong = tuple(name for name in names if name in told["wrong"])
    unlabelled = tuple(name for name in names if name not in (*told["right"], *told["wrong"]))
    index = NameIndex(entities)
    hits = {chapter: index.find(texts[chapter - 1]) for chapter, *_rest in told["mentions"]}
    missed = tuple(
        words
        for chapter, start, end, words in told["mentions"]
        if not any(hit.start < end and hit.end > start for hit in hits[chapter])
    )
    return Measured(
        1 - len(wrong) / max(1, len(names) - len(unlabelled)),
        1 - len(missed) / len(told["mentions"]),
        told["before"]["recall"],
        told["before"]["precision"],
        wrong,
        unlabelled,
        missed,
    )


def drawn(slug: str, names: set[str]) -> list[str]:
    """A hundred of `names`."""
    seed = labels()["seed"]
    return sorted(names, key=lambda name: sha256(f"{seed}/{slug}/{name}".encode()).hexdigest())[:DRAWN]

"""A stored build: the request, the copy, the rounds, and the writer's decisions so far."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from flowcabal_tui.agents.builder.build_state import Build, BuildStatus
from flowcabal_tui.agents.builder.builder import plain_round
from flowcabal_tui.agents.builder.changes import Change, changes_between, with_changes, without_needy
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.domain.builds import REJECTED
from flowcabal_tui.domain.text import digest
from flowcabal_tui.protocol.builds import BuildWords

_TUPLES = ("actions", "assumptions", "questions", "answers", "problems", "notes", "rounds")


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """A build as stored. `base` is the writer's document when it began; `decided` the reference of the resulting
    version."""

    id: str
    wish: str
    language: str
    base: Json | None
    document: Json
    status: BuildStatus = "building"
    offline: bool = False
    actions: tuple[str, ...] = ()
    items: tuple[tuple[str, str], ...] = ()
    assumptions: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    explanation: str = ""
    stopped: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    marks: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    """For each change, the point of the checklist that it serves, and whether the Builder recommends it."""
    rounds: tuple[Mapping[str, Any], ...] = ()
    tokens: int = 0
    currency: str = ""
    """The currency of the costs of the rounds."""
    decided: str = ""
    reason: str = ""
    form: Json | None = None
    """The filled form, where the writer filled one."""
    said: Mapping[str, bool] = field(default_factory=dict)
    """The writer's decisions on changes by `change_key`; they apply to equal changes of a later round."""
    asks: int = 0
    from_file: bool = False
    """The document to change came from a file; the project has it only once a change was accepted."""
    template: str = ""
    tools: BuildWords = "ours"
    is_own: bool = True
    """False for a row that this user's program did not write, or not as it is."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The difference from the writer's document, ticked by the writer's choice, else by the Builder's."""
        none = ("", False)
        marked = []
        for each in changes_between(self.base, self.document):
            because, ticked = self.marks.get(each.id, none)
            marked.append(replace(each, because=because, ticked=self.said.get(change_key(each), ticked)))
        return tuple(marked)

    @property
    def taken(self) -> tuple[frozenset[str], frozenset[str]]:
        """The ids of ticked changes that do not depend on unticked ones, and of ticked ones that do."""
        changes = self.changes
        return without_needy(changes, {each.id for each in changes if not each.ticked})

    @property
    def after(self) -> Json:
        """The workflow with the accepted changes; not validated."""
        return with_changes(self.base, self.document, self.taken[0])

    @property
    def waits(self) -> bool:
        """True when the writer must decide or answer."""
        return self.status in ("finished", "asks") and not self.decided

    @property
    def saved(self) -> str:
        """The reference of the accepted version; "" where none was accepted."""
        return "" if self.decided == REJECTED else self.decided


def change_key(change: Change) -> str:
    """A key that is equal for equal changes, regardless of their numbers."""
    parts = [change.kind, change.node, change.field, change.before, change.after]
    return digest(json.dumps(parts, ensure_ascii=False, sort_keys=True))


def plain_record(record: BuildRecord) -> Json:
    """The record as JSON."""
    return {name: value for name, value in asdict(record).items() if name != "is_own"}


def record_of(kept: Json) -> BuildRecord:
    """The record that `plain_record` made."""
    fields = {**kept, **{name: tuple(kept[name]) for name in _TUPLES}}
    fields["items"] = tuple((each[0], each[1]) for each in kept["items"])
    fields["marks"] = {name: (mark[0], mark[1]) for name, mark in kept["marks"].items()}
    return BuildRecord(**fields)


def with_build(record: BuildRecord, build: Build, rounds: tuple[Mapping[str, Any], ...], tokens: int) -> BuildRecord:
    """The record with the state of a build by a model; `rounds` and `tokens` are those before it."""
    suggestion = build.suggestion()
    return replace(
        record,
        status=build.status,
        document=build.copied.document,
        items=tuple((each.id, each.what) for each in build.items),
        assumptions=build.assumptions,
        questions=build.questions,
        explanation=build.explanation,
        stopped=build.stopped,
        problems=tuple(each.message for each in suggestion.report.problems),
        notes=suggestion.report.notes,
        marks={each.id: (each.because, each.ticked) for each in suggestion.changes},
        rounds=(*rounds, *(plain_round(each) for each in build.rounds)),
        tokens=tokens + build.tokens,
        asks=build.asks,
    )

"""What a kept chapter costs with models that take money: few questions, none of them twice."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.agents.arcs import ARCS, WORK
from flowcabal_tui.agents.shapes.curation import DIMENSIONS
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import ANGLES
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, OutputChecked, WriteChapter
from flowcabal_tui.protocol.memory import Rebuild
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import NO_FINDINGS, Case, both, change, endpoint, make, opened, write_chapters
from tests.project.test_main_job import DRAFT, PEOPLE
from tests.trusting import confirmed

NOTHING: dict[str, Any] = {
    kind: [] for kind in ("findings", "entities", "relations", "facts", "promises", "moments", "sequels", "verdicts")
} | {"compatible": [f"c{number}" for number in range(1, 60)]}
"""An answer to a check and to the reading of a chapter."""


def profiled(quotes: Sequence[str], profiles: Sequence[str] = ("p1", "p2", "p3")) -> dict[str, Any]:
    """The answer for several profiles: each has a line for each quotation of the chapter."""
    lines = [{"sentence": f"They {quote}.", "source_id": "chapter", "quote": quote} for quote in quotes]
    return {"lines": [{"profile": profile, **line} for profile in profiles for line in lines], "summaries": []}


QUOTES = ("tied the ferry to the ring", "came down the steps with the ledger", "gave him the blue glove")
TOLD: dict[str, Any] = {
    "sentences": [{"sentence": f"They {quote}.", "quote": quote} for quote in QUOTES],
    "line": "They meet by the ferry with a ledger.",
}
"""What the reading of the chapter tells of it."""


def asked(server: FaultServer, start: int = 0) -> Counter[str]:
    """For which tasks a model was asked."""
    return Counter(
        task for entry in server.log[start:] for task in re.findall(r"<task>([a-z0-9_.]+)</task>", str(entry["body"]))
    )


async def keep_a_chapter(
    case: Case, server: FaultServer, tmp_path: Path, after: dict[str, Any] | None = None
) -> Counter[str]:
    """A fourth chapter is run and its polished text kept; what was asked after that. `after` answers all of it."""
    await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
    await case.project.carry_out(AddChapter("Chapter 4 The Glove"))
    for name in PEOPLE:
        await case.project.carry_out(PutEntity(Entity(EntityId(name.replace(" ", "-")), "character", name)))
    await case.settled()
    nothing = {"content": NO_FINDINGS}
    server.push({"content": "1. She ties up."}, *[{"content": DRAFT}] * 2, nothing)
    run = await case.run("chapter", 4)
    if after is not None:
        server.push({"content": json.dumps(NOTHING | after), "times": -1})
    before = len(server.log)
    await case.keep(run, "polish")
    await case.settled()
    return asked(server, before)


async def test_what_was_checked_before_it_was_kept_is_not_checked_again(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        after = await keep_a_chapter(case, server, tmp_path)
        (told,) = case.told(OutputChecked)
    assert after["monitor.check"] == 0
    assert {check.angle: check.outcome for check in told.checks} == dict.fromkeys((*ANGLES, "rules"), "passed")


async def test_a_draft_is_sent_once_to_be_checked_and_twice_to_be_remembered(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    long = "\n\n".join(DRAFT.replace("late", f"late by {n} minutes") for n in range(40))
    said = (
        NOTHING
        | profiled(QUOTES)
        | {
            "sentence": "They meet.",
            "sentences": [{"sentence": q, "quote": q} for q in QUOTES],
        }
    )
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.project.carry_out(AddChapter("Chapter 4 The Glove"))
        await case.settled()
        server.push({"content": long}, {"content": json.dumps(said), "times": -1})
        run = await case.run("quick-draft", 4)
        await case.keep(run, "draft")
        await case.settled()
    whole = Counter(
        task
        for entry in server.log
        if all(f"late by {n} minutes" in str(entry["body"]) for n in range(40))
        for task in re.findall(r"<task>([a-z0-9_.]+)</task>", str(entry["body"]))
    )
    assert whole == {"monitor.check": 1, "curator.story": 1, "curator.profiles": 1}


async def test_a_kept_chapter_has_no_more_profiles_written_than_the_settings_allow(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    change(folder, "agents", profiles=1)
    async with opened(folder) as case:
        after = await keep_a_chapter(case, server, tmp_path)
    assert after["curator.profile"] == 1
    assert (after["curator.l1"], after["curator.l0"], after["curator.arc"]) == (1, 1, 0)


async def test_a_kept_chapter_is_read_once_for_its_story_and_its_overview(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        after = await keep_a_chapter(case, server, tmp_path, TOLD)
        levels = await case.levels(f"manuscript/{await case.chapter(4)}")
    assert (after["curator.story"], after["curator.l1"], after["curator.l0"]) == (1, 0, 0)
    assert after["curator.keep"], "the answer does not say how useful the chapter is"
    assert levels["L1"].text.splitlines() == [f"They {quote}." for quote in QUOTES]
    assert levels["L0"].text == TOLD["line"]


@pytest.mark.parametrize(
    ("task", "own", "asked_too"),
    [
        ("curator.l1", "${language} ${names} ${title} ${chapter}", (1, 1)),
        ("curator.l0", "${language} ${limit} ${names} ${title} ${overview}", (0, 1)),
    ],
)
async def test_the_writers_own_question_for_summaries_is_asked(
    folder: Path, tmp_path: Path, server: FaultServer, task: str, own: str, asked_too: tuple[int, int]
) -> None:
    """Another overview has another line, so that is asked too."""
    await make(folder, both(endpoint(server)))
    (folder / "prompts").mkdir(exist_ok=True)
    (folder / "prompts" / f"{task}.md").write_text(f"Sum up.\n---\n<task>{task}</task> {own}", encoding="utf-8")
    confirmed(folder)
    async with opened(folder) as case:
        said = TOLD | {"sentence": "They met by the ferry with a ledger."}
        after = await keep_a_chapter(case, server, tmp_path, said)
        levels = await case.levels(f"manuscript/{await case.chapter(4)}")
    assert (after["curator.l1"], after["curator.l0"]) == asked_too
    assert levels["L0"].text == "They met by the ferry with a ledger."


async def test_advice_that_was_given_with_the_story_is_told_and_not_asked_for(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    answers = {each: {"question": each, "passed": True} for each in DIMENSIONS}
    answers["reusable"] = {"question": "reusable", "passed": False, "detail": "A quiet evening."}
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        after = await keep_a_chapter(case, server, tmp_path, {"keeping": [*answers.values()]})
        (told,) = case.told(OutputChecked)
    assert (after["curator.story"], after["curator.keep"]) == (1, 0)
    assert [advice.endswith("A quiet evening.") for advice in told.advice] == [True]


@pytest.mark.parametrize(("text", "advices"), [("river " * 29, 0), ("river " * 30, 1), ("河" * 29, 0), ("河" * 30, 1)])
async def test_a_text_of_fewer_than_thirty_words_or_characters_gets_no_advice(
    folder: Path, server: FaultServer, text: str, advices: int
) -> None:
    keeping = [{"question": each, "passed": each != "reusable", "detail": "A quiet evening."} for each in DIMENSIONS]
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("Chapter 1"))
        await case.settled()
        server.push({"content": json.dumps(NOTHING | {"keeping": keeping}), "times": -1})
        await case.project.carry_out(WriteChapter(await case.chapter(1), text))
        await case.settled()
        (told,) = case.told(OutputChecked)
    assert len(told.advice) == advices


@pytest.mark.parametrize(("answered", "alone"), [(("p1", "p2", "p3"), 0), (("p1", "p3"), 1)])
async def test_the_profiles_of_a_kept_chapter_are_one_question_and_one_that_is_left_out_is_asked_alone(
    folder: Path, tmp_path: Path, server: FaultServer, answered: tuple[str, ...], alone: int
) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        after = await keep_a_chapter(
            case, server, tmp_path, TOLD | profiled(("came down the steps with the ledger",), answered)
        )
        levels = await case.levels("profiles/characters/Ines-Marlow")
        before = len(server.log)
        await case.project.carry_out(Rebuild("profiles"))
        await case.settled()
    assert (after["curator.profiles"], after["curator.profile"]) == (1, alone)
    assert levels["L1"].text == "They came down the steps with the ledger."
    assert asked(server, before) == {}, "what was paid for is not asked again"


@pytest.mark.parametrize(("number", "profiles", "arcs"), [(9, 3, 0), (10, 2, 1)])
async def test_an_arc_that_is_told_anew_takes_the_place_of_a_profile(
    folder: Path, tmp_path: Path, server: FaultServer, number: int, profiles: int, arcs: int
) -> None:
    await make(folder, ModelsSettings(user=OFFLINE, agent=endpoint(server, "anthropic")))
    async with opened(folder) as case:
        after = await write_as(case, server, tmp_path, number)
    assert (after["curator.profile"], after["curator.arc"]) == (profiles, arcs)


async def write_as(case: Case, server: FaultServer, tmp_path: Path, number: int) -> Counter[str]:
    """A chapter with this number is written behind imported ones; what was asked after that."""
    (tmp_path / "texts").mkdir()
    for earlier in range(1, number):
        text = f"Chapter {earlier}\n\nInes Marlow rowed home. Tobias Crane sat on the quay for {earlier} hours.\n"
        (tmp_path / "texts" / f"{earlier:02}.txt").write_text(text, encoding="utf-8")
    await case.project.carry_out(ImportManuscript(str(tmp_path / "texts")))
    for name in PEOPLE:
        await case.project.carry_out(PutEntity(Entity(EntityId(name.replace(" ", "-")), "character", name)))
    await case.project.carry_out(AddChapter(f"Chapter {number}"))
    await case.settled()
    before = len(server.log)
    await case.project.carry_out(WriteChapter(await case.chapter(number), DRAFT))
    await case.settled()
    return asked(server, before)


@pytest.mark.parametrize(
    ("number", "answered", "alone", "told"),
    [
        (10, ("p1", "p2", "p3"), 0, ("part-1",)),
        (10, ("p1", "p2"), 1, ()),
        (30, ("p1", "p2", "p3"), 0, ("part-1", WORK)),
    ],
)
async def test_an_arc_that_ends_with_a_chapter_is_asked_for_with_its_profiles_and_alone_where_it_is_left_out(
    folder: Path,
    tmp_path: Path,
    server: FaultServer,
    number: int,
    answered: tuple[str, ...],
    alone: int,
    told: tuple[str, ...],
) -> None:
    await make(folder, ModelsSettings(user=OFFLINE, agent=endpoint(server)))
    quote = "came down the steps with the ledger"
    server.push({"content": json.dumps(NOTHING | TOLD | profiled((quote,), answered)), "times": -1})
    async with opened(folder) as case:
        after = await write_as(case, server, tmp_path, number)
        found = [await case.levels(uri if uri == WORK else f"{ARCS}{uri}") for uri in told]
        before = len(server.log)
        await case.project.carry_out(Rebuild("profiles"))
        await case.settled()
    assert (after["curator.profiles"], after["curator.profile"], after["curator.arc"]) == (1, 0, alone)
    assert [levels["L1"].text for levels in found] == [f"They {quote}."] * len(told)
    assert asked(server, before)["curator.profiles"] == 0, "what was paid for is not asked again"

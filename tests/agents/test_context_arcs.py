"""What a context says of arcs and of the book: shorter the further back, nothing of the target or later."""

from __future__ import annotations

from pathlib import Path

from flowcabal_tui.agents.arcs import WORK, arcs_of
from flowcabal_tui.agents.context.arcs import VERY_LONG, arc_candidates
from flowcabal_tui.agents.context.gather import read_book
from flowcabal_tui.agents.context.intent import read_intent
from flowcabal_tui.agents.context.profiles import profiles
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.memory import Derived
from tests.agents.fakes import FakeBook, person
from tests.agents.test_profile_kinds import add

LIN = person("林远")


def novel(length: int) -> FakeBook:
    """A book whose arcs are told as far as they went at every tenth chapter, and the work at the end of each arc."""
    state = FakeBook([(f"第{n}章", f"林远第{n}天。") for n in range(1, length + 1)], (LIN,))
    for arc in arcs_of(state.chapters()):
        for part in arc.parts():
            put(state, arc.uri, part[-1].position)
        if arc.closed:
            put(state, WORK, arc.chapters[-1].position)
    return state


def put(state: FakeBook, uri: str, position: int, text: str = "") -> None:
    for level in ("L0", "L1"):
        words = f"{text or f'至{position}'} {level}"
        state.derived.append(Derived(uri, level, words, Digest(words), position, Generation(1)))  # type: ignore[arg-type]  # a level


async def seen(state: FakeBook, target: int, *relevant: int) -> tuple[list[tuple[str, str, str]], list[str], set[int]]:
    """What comes first (uri, level, text), what fills a rest, and the chapters whose lines are wanted."""
    view = state.before(target)
    found = await arc_candidates(view, await view.chapters(), [ChapterId(f"c{n}") for n in relevant])
    first = [(each.uri.removeprefix("summaries/"), each.level, each.text) for each in found.first]
    wanted = {int(each[1:]) for each in found.chapters} if found.chapters is not None else set()
    return first, [each.uri for each in found.last], wanted


async def test_the_previous_arc_has_a_longer_summary_than_earlier_ones() -> None:
    first, last, wanted = await seen(novel(120), 100)
    assert first == [
        ("arcs/part-3", "L1", "至90 L1"), ("arcs/part-2", "L0", "至60 L0"), ("arcs/part-1", "L0", "至30 L0"),
    ]  # fmt: skip
    assert (last, wanted) == ([], set())


async def test_the_summary_of_an_unfinished_arc_contains_nothing_after_the_target() -> None:
    first, _last, _wanted = await seen(novel(120), 45)
    assert first == [("arcs/part-1", "L1", "至30 L1")]
    state = novel(120)
    state.derived = [each for each in state.derived if not (each.uri.endswith("part-1") and each.position == 30)]
    assert (await seen(state, 45))[0] == [("arcs/part-1", "L1", "至20 L1")], "as far as it was told"


async def test_a_book_of_one_arc_uses_chapter_summaries() -> None:
    assert await seen(novel(30), 31) == ([], [], set())


async def test_in_a_very_long_book_arcs_come_first_and_lines_only_stand_for_those_that_matter() -> None:
    first, last, wanted = await seen(novel(1_000), 951, 15, 16, 200)
    assert first[0] == ("work", "L1", "至930 L1")
    large = [uri for uri, level, _text in first[1:] if level == "L1"]
    assert large == ["arcs/part-31", "arcs/part-7", "arcs/part-1"]
    assert "summaries/arcs/part-2" in last
    assert len(first) + len(last) == 1 + 31
    assert wanted == {*range(1, 31), *range(181, 211), *range(901, 951)}
    assert VERY_LONG < 950


async def kinds_read(state: FakeBook, prompt: str, kinds: ProfileKinds) -> list[tuple[str, str]]:
    book = await read_book(state.before(len(state.texts) + 1))
    found = await profiles(book, read_intent(prompt, "", book.entities, "zh"), kinds.all())
    return [(each.uri.removeprefix("profiles/"), each.level) for each in found]


async def test_the_kind_of_scene_decides_which_profiles_are_read(tmp_path: Path) -> None:
    thread = person("夺印", kind="plot-thread")
    state = FakeBook([("一", "林远。")], (LIN, thread))
    for kind in ProfileKinds().all():
        subject = {"character": LIN.id, "plot-thread": thread.id}.get(kind.settings.subject)
        put(state, kind.uri(subject), 1)
    ours = ProfileKinds()
    assert await kinds_read(state, "林远独坐。", ours) == [("characters/e-林远", "L1")]
    battle = await kinds_read(state, "林远与敌军大战，攻城。", ours)
    assert battle == [("characters/e-林远", "L1"), ("world-state/book", "L1")]
    turn = await kinds_read(state, "林远得知真相，遭到背叛。", ours)
    assert turn == [
        ("characters/e-林远", "L1"),
        ("emotional-arcs/e-林远", "L1"),
        ("themes/book", "L0"),
        ("plot-threads/e-夺印", "L0"),
    ]
    add(tmp_path, "weather", 'subject = "book"\nscenes = ["battle"]\n[title]\nen = "Weather"\n')
    put(state, "profiles/weather/book", 1)
    assert ("weather/book", "L1") in await kinds_read(state, "林远大战攻城。", ProfileKinds(tmp_path))

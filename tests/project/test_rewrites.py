"""The words of a model in a chapter are laid to the model, word by word, and those of a hand to the hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.protocol.book import AcceptRewrite, RewriteProposed, RewriteSelection, WriteChapter
from tests.faultserver import FaultServer
from tests.project.case import Case, both, endpoint, make_one, opened

TEXT = "The old lamp burned in the hall.\nNobody came."
CHINESE = "灯在长廊里亮着，无人走过。\n雨停了。"


@pytest.fixture
async def case(folder: Path, server: FaultServer) -> AsyncIterator[Case]:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        yield case


async def rewritten(case: Case, server: FaultServer, text: str, old: str, new: str, *, saves: bool = True) -> str:
    """The text with a passage rewritten by the model and accepted, and saved by hand."""
    chapter, start = await case.chapter(1), text.index(old)
    server.push({"content": new})
    await case.project.carry_out(RewriteSelection(chapter, start, start + len(old), old, "colder"))
    proposal = case.told(RewriteProposed)[-1]
    await case.project.carry_out(
        AcceptRewrite(chapter, text, start, start + len(old), proposal.after, proposal.model, "colder")
    )
    changed = text[:start] + proposal.after + text[start + len(old) :]
    if saves:
        await case.project.carry_out(WriteChapter(chapter, changed))
    return changed


async def by_author(case: Case, number: int) -> list[tuple[str, str]]:
    """The pieces of a line, each with who wrote it."""
    chapter = await case.chapter(1)
    line = next(each for each in await case.project.book.blame(chapter) if each.number == number)
    assert "".join(line.text[span.start : span.end] for span in line.spans) == line.text
    return [(line.text[span.start : span.end], span.origin.author) for span in line.spans]


async def test_three_rewritten_words_are_the_models_and_the_rest_is_older(case: Case, server: FaultServer) -> None:
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXT))
    await rewritten(case, server, TEXT, "burned in the hall", "guttered in the gallery")
    assert await by_author(case, 1) == [
        ("The old lamp ", "human"),
        ("guttered", "model"),
        (" in the ", "human"),
        ("gallery", "model"),
        (".", "human"),
    ]
    line = (await case.project.book.blame(chapter))[0]
    by_model = line.spans[1].origin
    assert (by_model.model, by_model.instruction, by_model.version) == ("mock", "colder", 2)
    assert line.spans[0].origin.version == 1


async def test_chinese_is_by_character(case: Case, server: FaultServer) -> None:
    await case.project.carry_out(WriteChapter(await case.chapter(1), CHINESE))
    await rewritten(case, server, CHINESE, "亮着", "暗着")
    assert await by_author(case, 1) == [("灯在长廊里", "human"), ("暗", "model"), ("着，无人走过。", "human")]


async def test_a_hand_owns_only_the_words_that_it_changed_after_a_rewrite(case: Case, server: FaultServer) -> None:
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXT))
    text = await rewritten(case, server, TEXT, "burned in the hall", "guttered in the long gallery", saves=False)
    await case.project.carry_out(WriteChapter(chapter, text.replace("long", "empty")))
    assert await by_author(case, 1) == [
        ("The old lamp ", "human"),
        ("guttered", "model"),
        (" in the ", "human"),
        ("empty", "human"),
        (" gallery", "model"),
        (".", "human"),
    ]


async def test_later_edits_by_hand_leave_the_models_words_to_the_model(case: Case, server: FaultServer) -> None:
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXT))
    text = await rewritten(case, server, TEXT, "burned in the hall", "guttered in the gallery")
    await case.project.carry_out(WriteChapter(chapter, text.replace("old", "new")))
    assert [piece for piece, author in await by_author(case, 1) if author == "model"] == ["guttered", "gallery"]


async def test_a_rewritten_line_has_no_words_of_the_previous_one(case: Case) -> None:
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXT))
    await case.project.carry_out(
        WriteChapter(chapter, "Ines Marlow rowed across the river before the bell.\nNobody came.")
    )
    line = (await case.project.book.blame(chapter))[0]
    assert [span.origin.version for span in line.spans] == [2]


async def test_common_words_that_a_model_used_again_in_another_sentence_are_the_models(
    case: Case, server: FaultServer
) -> None:
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXT))
    new = "By the time she came, the stove in the corner had gone out."
    await rewritten(case, server, TEXT, "The old lamp burned in the hall.", new)
    assert await by_author(case, 1) == [(new, "model")]
    assert (await case.project.book.blame(chapter))[0].origin.author == "model"


async def versions(case: Case, *texts: str) -> list[tuple[str, int]]:
    """The pieces of the first line after these versions, each with the version that brought it."""
    chapter = await case.chapter(1)
    for text in texts:
        await case.project.carry_out(WriteChapter(chapter, text))
    line = (await case.project.book.blame(chapter))[0]
    return [(line.text[span.start : span.end], span.origin.version) for span in line.spans]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The ferry had gone before noon.", "The wind had dropped, and the ferry lay before the church."),
        ("She had not been there, and it was late.", "He had been told that it was a long way, and she was old."),
        ("In the end there was a lamp.", "There was a man in the tower, and a bell, and a rope in the end of it."),
        ("渡船在正午之前就走了。", "风停了，渡船还系在教堂前面的石阶旁。"),
        ("她没有去过那里，天色已晚。", "他听说路很远，她年纪也大了，便在那里住下。"),
    ],
)
async def test_common_words_in_a_line_that_has_nothing_to_do_with_the_old_one_are_new(
    case: Case, before: str, after: str
) -> None:
    assert await versions(case, before, after) == [(after, 2)]


@pytest.mark.parametrize(
    ("before", "after", "pieces"),
    [
        (
            "Ines closed the ledger and lit the lamp.",
            "Ines closed the ledger and broke the lamp.",
            [("Ines closed the ledger and ", 1), ("broke", 2), (" the lamp.", 1)],
        ),
        (
            "Nobody had touched the rope.",
            "When the bell rang at noon and the tower shook, they swore that nobody had touched the rope at all, ever.",
            [
                ("When the bell rang at noon and the tower shook, they swore that nobody", 2),
                (" had touched the rope", 1),
                (" at all, ever.", 2),
            ],
        ),
        (
            "Nobody came.",
            "Nobody came. For the rest of that night the rain drummed on the slates above her bed.",
            [("Nobody came.", 1), (" For the rest of that night the rain drummed on the slates above her bed.", 2)],
        ),
        ("灯在长廊里亮着。", "灯在长廊里灭了。", [("灯在长廊里", 1), ("灭了", 2), ("。", 1)]),
        (
            "没有人碰过那根绳子。",
            "正午的钟声响起，整座塔都在摇晃，他们发誓说没有人碰过那根绳子，从来没有。",
            [
                ("正午的钟声响起，整座塔都在摇晃，他们发誓说", 2),
                ("没有人碰过那根绳子", 1),
                ("，从来没有。", 2),
            ],
        ),
    ],
)
async def test_words_that_stayed_in_a_line_that_was_changed_are_older(
    case: Case, before: str, after: str, pieces: list[tuple[str, int]]
) -> None:
    assert await versions(case, before, after) == pieces


async def test_a_rejected_rewrite_leaves_no_trace(case: Case, server: FaultServer) -> None:
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXT))
    server.push({"content": "guttered"})
    await case.project.carry_out(RewriteSelection(chapter, 13, 19, "burned", "colder"))
    await case.project.carry_out(WriteChapter(chapter, TEXT.replace("burned", "guttered")))
    assert {author for _piece, author in await by_author(case, 1)} == {"human"}


async def test_the_end_of_the_selection_keeps_its_line_break_and_its_beginning_its_indent(
    case: Case, server: FaultServer
) -> None:
    chapter, text = await case.chapter(1), "　　The lamp burned.\nNobody came."
    await case.project.carry_out(WriteChapter(chapter, text))
    server.push({"content": "The lamp went out.\n"})
    await case.project.carry_out(RewriteSelection(chapter, 0, 19, text[:19], "colder"))
    assert case.told(RewriteProposed)[-1].after == "　　The lamp went out.\n"


async def test_a_purged_chapter_takes_its_rewrites_along(case: Case, server: FaultServer) -> None:
    from flowcabal_tui.protocol.memory import Purge

    chapter: ChapterId = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXT))
    await rewritten(case, server, TEXT, "burned", "guttered")
    await case.project.carry_out(Purge(chapter=chapter))
    assert await case.project._engine.call(case.project._parts.store.rewrites.of(chapter)) == ()

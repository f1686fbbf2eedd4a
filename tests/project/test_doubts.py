"""An answer that is no draft is asked about, like one that was cut; a chapter of a novel never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.run import Question
from flowcabal_tui.domain.text import word_count
from flowcabal_tui.project.runs.doubts import (
    COPIED,
    REPEATED,
    SHORTEST,
    _usual,
    _words,
    copied,
    more_headings,
    repeated,
)
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from tests.agents.conftest import NOVELS
from tests.faultserver import FaultServer
from tests.project.case import NO_FINDINGS, both, endpoint, leave, make, opened, write_chapters

ZH = "她把灯放在桌上，看着窗外的雨，想起三年前离开北城的那个冬夜。"
EN = "She put the lamp on the table, looked at the rain, and thought of the winter night when she had left. "
TALE = (
    "Ines Marlow tied the ferry to the ring at Saltreach. Tobias Crane came down the steps with the ledger under his "
    "arm.\n\n“You are late,” said Tobias Crane. Ines Marlow gave him the blue glove, which was wet and smelt of tar."
    "\n\nHe put it on. Ines Marlow looked away over the brown water, and the bell in the tower did not ring again."
)
LONG = {f"Chapter {n} The Ferry": " ".join(f"Word{n}x{at} came." for at in range(900)) for n in (1, 2, 3)}


@pytest.mark.parametrize("sentence", [ZH, EN])
def test_a_text_that_goes_round_in_circles_repeats_itself(sentence: str) -> None:
    assert repeated(_words(sentence * 8)) > 0.8
    assert repeated(_words(sentence)) == 0


@pytest.mark.parametrize("sentence", [ZH, EN])
def test_a_text_that_is_taken_from_its_prompt_retells_it(sentence: str) -> None:
    assert copied(_words(f"And then. {sentence}"), [_words(f"Before. {sentence} After.")]) > 0.8
    assert copied(_words(sentence), [_words("Quite another text."), _words("另一段文字。")]) == 0


@pytest.mark.parametrize(
    ("text", "told", "found"),
    [
        ("He came.\n\n## 005\nShe went.\n\n## 006\nThey met.", "## 003\nA.\n\n## 004\nB.", "## 006"),
        ("第五章 归来\n他来了。\n第六章 离去\n她走了。", "", "第六章 离去"),
        ("Chapter 5: The Bell\nHe came.\nChapter 6: The Rope\nShe went.", "", "Chapter 6: The Rope"),
        ("## World rules\nOne.\n## Notes\nTwo.", "## World rules\nThe bell.\n## Notes\nNone.", "## Notes"),
        ('<text title="第5章 归来">\n他来了。\n<text title="第6章 离去">\n她走了。', "", '<text title="第6章 离去">'),
        (
            "# 文风指南\n短句。\n# 世界规则\n铜铃。",
            '<world-rules label="世界规则">\n<style-guide label="文风指南">',
            "# 世界规则",
        ),
        ("第五章 归来\n他来了，又走了。", "", ""),
        ("## I\nHe came.\n## Night\nShe went.", "## Day\nNothing.", ""),
        ("1\nHe came.\n2\nShe went.", "", ""),
    ],
)
def test_a_draft_with_headings_of_chapters_or_of_its_prompt_is_a_list(text: str, told: str, found: str) -> None:
    assert more_headings(text, [told]) == found


@pytest.mark.parametrize("slug", ["hongloumeng", "xiyouji", "monte-cristo", "nicholas-nickleby"])
def test_no_chapter_of_a_novel_is_doubted(slug: str) -> None:
    """With all of the ten chapters before as the prompt: more than a context can hold."""
    if not (NOVELS / slug).is_dir():
        pytest.skip("the novels of the laboratory are not here")
    texts = [file.read_text(encoding="utf-8") for file in sorted((NOVELS / slug).glob("*.txt"))]
    words, lengths = [_words(text) for text in texts], [word_count(text) for text in texts]
    for number, text in list(enumerate(texts))[1::4]:  # all of nine novels were measured: see the module
        before = slice(max(0, number - 10), number)
        assert repeated(words[number]) < REPEATED / 4
        assert copied(words[number], words[before]) < COPIED / 4
        assert lengths[number] > 2 * SHORTEST * _usual(lengths[:number])
        assert not more_headings(text, texts[before])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (TALE * 4, "repeats itself"),
        ("Ines Marlow came and went. The end.", "far too short"),
        (f"Chapter 4\n{TALE}\nChapter 5\nShe went.\nChapter 6\nHe stayed.", "list of headings"),
        (LONG["Chapter 3 The Ferry"][-3_000:], "repeats its prompt"),
    ],
    ids=["circles", "short", "list", "copy"],
)
async def test_such_an_answer_waits_for_a_person(
    folder: Path, tmp_path: Path, server: FaultServer, answer: str, reason: str
) -> None:
    await make(folder, both(endpoint(server)))
    chapters = LONG if "too short" in reason or "its prompt" in reason else {}
    async with opened(folder) as case:
        if chapters:
            await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts", chapters))))
        await case.project.carry_out(AddChapter("The Glove"))
        await case.settled()
        server.push({"content": answer}, {"content": NO_FINDINGS, "times": -1})
        run = await case.start("quick-draft", len(chapters) + 1)
        assert await case.follow(run, leave) == "waiting"
        question: Question = case.told(NodeNeedsHuman)[-1].question
        assert reason in question.reason


async def test_a_fit_draft_is_not_asked_about(folder: Path, server: FaultServer) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("The Glove"))
        server.push({"content": TALE}, {"content": NO_FINDINGS, "times": -1})
        assert await case.follow(await case.start("quick-draft", 1), leave) == "done"

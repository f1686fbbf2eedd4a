"""What a server is sent for a chapter of a book with a full outline: its beats whole, and none of what comes later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.prompt_parts import read_parts
from flowcabal_tui.headings.numerals import in_chinese
from flowcabal_tui.protocol.book import ImportManuscript, WriteMeta
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint, make, opened

CHAPTERS = 120


def beats(n: int) -> str:
    return f"- 林远在第{n}处驿站等人。\n- 沈青说出暗号甲{n}乙。\n- 结尾是灯{n}灭。"


def heading(n: int) -> str:
    return f"第{in_chinese(n)}章 驿站{n}号"


@pytest.mark.parametrize("number", [1, 10, 60, 119])
async def test_plan_and_draft_have_the_beats_of_the_chapter_whole_and_no_later_ones(
    folder: Path, tmp_path: Path, server: FaultServer, number: int
) -> None:
    await make(folder, both(endpoint(server)), language="zh")
    text = "\n\n".join(f"{heading(n)}\n\n林远走了{n}里路，沈青跟在后面，没有说话。" for n in range(1, CHAPTERS + 1))
    (tmp_path / "book.txt").write_text(text, encoding="utf-8")
    outline = "\n\n".join(f"## {heading(n)}\n{beats(n)}" for n in range(1, CHAPTERS + 1))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(tmp_path / "book.txt")))
        await case.project.carry_out(WriteMeta("outline", outline))
        before = len(server.log)
        await case.run("chapter", number, targets=(NodeId("draft"),))
        sent = ["\n".join(m["content"] for m in entry["body"]["messages"]) for entry in server.log[before:]]
        prompts = [each for each in sent if "<beats" in each]
        assert len(prompts) == 2, json.dumps(sent, ensure_ascii=False)[:2_000]
        for prompt in prompts:
            assert [part.whole for part in read_parts(prompt) if part.key == "beats"] == [beats(number)]
            assert not [n for n in range(number + 1, CHAPTERS + 1) if f"甲{n}乙" in prompt or f"驿站{n}号" in prompt]
            assert not [n for n in range(number + 1, CHAPTERS + 1) if f"第{n}处" in prompt]

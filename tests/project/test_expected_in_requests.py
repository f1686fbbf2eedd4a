"""What a server is sent of what a writer takes for granted: length, person and tense, the writer's own pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.prompt_parts import Part, read_parts
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import Case, both, change, endpoint, make, opened

PAGES = {
    "en": "She was late and had no lamp. The boats came in on the tide and the men looked at her.",
    "zh": "林远走过长街，没有回头。沈青跟在后面，风很大，谁也没有说话。",
}
LENGTH = {"en": ("About 1,500 words", "About 700 words"), "zh": ("约 1500 字", "约 700 字")}
WISH = {"en": "More rain, 700 words.", "zh": "多写雨，700字。"}
MANNER = {"en": "in the manner of the earlier chapters", "zh": "笔法与前文一致"}
VOICE = {"en": "Third person", "zh": "沿用前文的第三人称叙述。"}


def parts_of(message: Mapping[str, Any]) -> dict[str, Part]:
    return {part.key: part for part in read_parts(message["content"])}


async def written(case: Case, language: str, chapters: int = 4) -> None:
    """So many chapters of twelve paragraphs, and one to write."""
    for n in range(1, chapters + 1):
        chapter = await case.project.carry_out(AddChapter(f"T{n}"))
        await case.project.carry_out(WriteChapter(chapter, "\n\n".join([f"{PAGES[language]} {n}."] * 12)))
    await case.project.carry_out(AddChapter("T"))
    await case.settled()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_every_step_of_a_chapter_is_told_its_length_and_sees_the_writers_own_pages(
    folder: Path, server: FaultServer, language: str
) -> None:
    await make(folder, both(endpoint(server)), language=language)
    change(folder, "goals", chapter=1_500)
    async with opened(folder) as case:
        await written(case, language)
        before = len(server.log)
        await case.run("chapter", 5)
        await case.run("quick-draft", 5, inputs=(("instruction", WISH[language]),))
    sent = [entry["body"]["messages"] for entry in server.log[before:]]
    nodes = [messages for messages in sent if "chapter" in parts_of(messages[-1])]
    assert len(nodes) == 4, "plan, draft, polish, quick draft"
    for system, asked in nodes:
        assert VOICE[language] in parts_of(system)["style"].text
        assert MANNER[language] in parts_of(system)["style"].text
        assert PAGES[language] not in system["content"], "the last pages are those of the writer"
        assert PAGES[language] in parts_of(asked)["last-pages"].whole
        assert "style" not in parts_of(asked)
        last = list(parts_of(asked))[-1]
        assert last == ("draft" if "draft" in parts_of(asked) else "length"), "the last part before the order"
    goal, wished = LENGTH[language]
    lengths = [parts_of(asked)["length"].text for _system, asked in nodes if "length" in parts_of(asked)]
    assert len(lengths) == 3, "the polishing keeps the length of the draft"
    assert all(each.startswith(goal) for each in lengths[:2])
    assert lengths[2].startswith(wished), "the wish goes before the goal"
    assert len({system["content"] for system, _asked in nodes}) == 1, "all steps have one system text"


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_without_a_context_every_step_sees_samples_of_the_writers_own_pages(
    folder: Path, server: FaultServer, language: str
) -> None:
    await make(folder, both(endpoint(server)), language=language)
    change(folder, "agents", context=False)
    async with opened(folder) as case:
        await written(case, language)
        before = len(server.log)
        await case.run("quick-draft", 5)
    system, asked = server.log[before]["body"]["messages"]
    assert PAGES[language] in parts_of(system)["style"].text
    assert "last-pages" not in parts_of(asked)


async def test_the_length_of_the_run_line_is_in_the_request_and_stays_with_the_run(
    folder: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    change(folder, "goals", chapter=1_500)
    async with opened(folder) as case:
        await written(case, "en")
        before = len(server.log)
        await case.run("quick-draft", 5, inputs=(("instruction", "700 words"), ("length", "650")))
    (sent,) = [entry["body"]["messages"] for entry in server.log[before:] if "length" in str(entry["body"])]
    assert parts_of(sent[-1])["length"].text == "About 650 words (the writer's wish)."


async def test_an_empty_book_leaves_neither_part_behind(folder: Path, server: FaultServer) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("First"))
        await case.run("quick-draft", 1)
    (system, asked), *_more = [entry["body"]["messages"] for entry in server.log]
    assert not {"style", "length"} & {*parts_of(system), *parts_of(asked)}
    assert "{{" not in system["content"] + asked["content"]


@pytest.mark.parametrize(
    ("language", "inputs"),
    [
        ("en", {"length": "6000"}),
        ("zh", {"instruction": "写6000字。"}),
        ("zh", {"length": "6000", "instruction": "写300字。"}),
    ],
)
async def test_a_quote_counts_with_the_length_that_the_run_is_asked_for(
    folder: Path, server: FaultServer, language: str, inputs: dict[str, str]
) -> None:
    await make(folder, both(endpoint(server)), language=language)
    change(folder, "goals", chapter=1_500)
    async with opened(folder) as case:
        await written(case, language)
        request = RunRequest("quick-draft", await case.chapter(5))
        usual = await case.project.runs.quote(request)
        long = await case.project.runs.quote(replace(request, inputs=tuple(inputs.items())))
        short = await case.project.runs.quote(replace(request, inputs=(("length", "300"),)))
    assert long.likely.output_tokens > usual.likely.output_tokens + 6_000 - 1_500
    assert long.most is not None and long.most.output_tokens > 2 * 6_000
    assert short.likely.output_tokens < usual.likely.output_tokens


async def test_a_workflow_that_names_it_reads_the_text_of_the_chapter(folder: Path, server: FaultServer) -> None:
    prompt = [{"kind": "text", "part": "draft", "text": "{{chapter.text}}"}, {"kind": "text", "text": "Translate it."}]
    document = {"id": "turned", "nodes": [{"id": "turn", "kind": "prompt", "params": {"prompt": prompt}}]}
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await written(case, "en", 1)
        await case.project.carry_out(SaveWorkflow(Workflow.model_validate(document)))
        before = len(server.log)
        await case.run("turned", 1)
        last = server.log[before:][-1]["body"]["messages"][-1]
        assert parts_of(last)["draft"].text.count(PAGES["en"]) == 12
        await case.run("turned", 2)
        assert "draft" not in parts_of(server.log[-1]["body"]["messages"][-1]), "an empty chapter has no text"

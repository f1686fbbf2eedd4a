"""Wishes that the vocabulary was not written for: how many of them the form without a model meets.

Solved at first sight, before the vocabulary was widened by the kinds of failures (all without `valid` and `behaves`):
`held_briefs` `held-c`, `held-u`, `held-a`: 5 of 12, `held-v`: 2 of 6; `fresh_briefs`: 15 of 27; `other_briefs`, which
word the kinds of the development briefs in the other language: 10 of 24; `third_briefs`, written after those: 7 of 12.
Two further sets of 12, which are not kept: 5 of 12, and after more words for that one 7 of 12.
So a wish that nobody here has seen is met about half of the time; the figures below say only that nothing was lost.
Wishes of a stranger (a serial, poems, a translation, critics, a historian), judged by eye, are met less often: of 16 at
first sight six were made wrong without a word. After steps and marks that end in nothing were named, one of 12 others
was; none of these was met whole, 11 were asked about or named what was missing.
Of 20 more (10 Chinese, 10 English, of the kinds of the development briefs) at first sight 10 were met, 5 asked about or
named, 5 wrong, three of them without a word; after these kinds of failures were mended 11 were met, 9 asked or named.
`fourth_briefs`, with `valid` and `behaves`: of the first 30 (`n`) 16 solved, 8 asked about or named, 6 wrong. After
classes of wording became patterns: of 15 more (`m`) 4 solved, 10 asked or named, 1 wrong; after more patterns, of
another 15 (`p`) 7 solved, 5 asked or named, 3 wrong. One failure of each of these two was a wrong check of the brief,
which is removed. Two of `m` are no longer solved: patterns that fitted only their wording are gone, and the answers
name what was not understood. Of 20 more, with looser checks, 14 were solved at first sight, 4 asked or named, 2 wrong.
Of 20 further ones (10 Chinese, 10 English), judged by eye, 16 were solved at first sight, 3 asked or named, 1 wrong;
after "different" was no longer taken for a thing to pick, 18 were solved, 2 asked or named.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from flowcabal_tui.nodes.validation import check_document
from flowcabal_tui.project.builder.briefs import answered, read_briefs

FOLDER = Path(__file__).parents[1] / "bench" / "builder"
SOLVED = {"held_briefs": 18, "fresh_briefs": 27, "other_briefs": 24, "third_briefs": 12, "fourth_briefs": 58}
EACH = pytest.mark.parametrize("name", SOLVED)
JUDGE = Path(__file__).parents[3] / "shared" / "bench" / "builder" / "check.py"


@EACH
async def test_every_answer_validates_or_is_a_question(name: str):
    for brief in read_briefs(FOLDER / f"{name}.jsonl"):
        answer = await answered(brief, None)
        assert bool(answer["workflow"]) != bool(answer["question"]), brief.id
        if answer["workflow"]:
            found = check_document(answer["workflow"], actions=brief.known.actions)
            assert not [each for each in found if each.severity == "error"], brief.id


@EACH
@pytest.mark.skipif(not JUDGE.is_file(), reason="the bench is not here")
def test_wishes_of_others_are_met_as_often_as_before(tmp_path: Path, name: str):
    briefs = FOLDER / f"{name}.jsonl"
    answers = asyncio.run(_answers(briefs))
    out = tmp_path / "answers.jsonl"
    out.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in answers), "utf-8")
    told = subprocess.run([sys.executable, JUDGE, briefs, out, "--json"], capture_output=True, check=True)
    total = json.loads(told.stdout)["total"]
    assert total["solved"] == SOLVED[name]


async def _answers(briefs: Path) -> list[dict[str, object]]:
    return [await answered(brief, None) for brief in read_briefs(briefs)]

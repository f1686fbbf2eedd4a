"""Right answers, played by a scripted model through the real tools, within the bounds of a build."""

from __future__ import annotations

from statistics import median

import pytest

from flowcabal_tui.models.tokens import TokenEstimator
from tests.agents.builder_briefs import rows
from tests.agents.builder_player import played

MOST_CALLS, MOST_TOKENS = 8, 25_000


async def test_right_answers_are_built_within_few_calls_and_tokens():
    briefs = rows("briefs")
    if not briefs:
        pytest.skip("the bench is not here")
    answers = rows("dev_answers")
    answers["dev-c05"] = rows("dev_answers_other")["dev-c05"]  # the first one names an ambiguous field: refused
    calls, tokens = [], []
    for name, brief in briefs.items():
        build, player = await played(brief, answers[name], TokenEstimator())
        assert build.status == ("finished" if brief["task"] != "ask" else "asks"), (name, build.rounds[-1])
        calls.append(len(player.prompts))
        tokens.append(sum(player.prompts))
    assert median(calls) <= MOST_CALLS and max(calls) <= 20
    assert median(tokens) <= MOST_TOKENS and max(tokens) <= 80_000

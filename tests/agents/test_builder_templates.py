"""Templates are ranked by the points of a checklist that they cover, then by how little they have besides."""

from __future__ import annotations

import json

import pytest

from flowcabal_tui.agents.builder.build_prompt import user_prompt
from flowcabal_tui.agents.builder.build_state import Build, BuildLimits
from flowcabal_tui.agents.builder.build_tools import BuildTools
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.templates import features, nearest_templates, points_of
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.demo import templates as shipped
from flowcabal_tui.domain.model_calls import ToolCall
from flowcabal_tui.examples import NAMES, example
from tests.agents.builder_briefs import rows


def offered(language: str) -> dict[str, Json]:
    """Ours and the examples."""
    found = (*shipped(language), *(example(name, language) for name in NAMES))
    return {each.id: json.loads(each.model_dump_json()) for each in found}


def first(language: str, *points: str) -> str:
    numbered = {str(number): text for number, text in enumerate(points)}
    return nearest_templates(numbered, offered(language), language)[0].name


def test_what_covers_most_is_first_and_of_two_the_smaller_one():
    assert first("en", "Plan the chapter", "Draft it", "Polish it") == "chapter"
    assert first("en", "Draft the chapter") == "quick-draft"
    assert first("en", "Five different openings", "I pick one blind") == "five-openings"
    assert first("zh", "请挑剔的读者批评，反复改") == "recursive-polish"


def test_points_without_known_words_count_for_none():
    near = nearest_templates({"a": "xyzzy"}, offered("en"), "en")
    assert {each.covers for each in near} == {()}
    assert list(points_of("Plan it. Then; draft,\n")) == ["1", "2", "3"]


def build() -> Build:
    return Build("Give me five different openings, mixed.", "en", WorkingCopy.of(None, Known()), offered("en"))


async def test_the_model_is_told_the_nearest_first_and_again_by_its_checklist():
    made = build()
    told = user_prompt(made).partition("Templates")[2].splitlines()
    assert told[1].startswith("- five-openings")

    async def simulate(_workflow, _picks):
        raise AssertionError

    items = [{"id": "i1", "what": "Plan the chapter and wait for me"}, {"id": "i2", "what": "Draft it"}]
    call = ToolCall("c", "set_checklist", json.dumps({"items": items}))
    answer = (await BuildTools(made, simulate, BuildLimits()).call(call)).text
    assert "- chapter: i1, i2" in answer


def test_the_nearest_templates_do_what_right_answers_do():
    """By what is common of what their nodes do: .49 for the first, .37 for the one that is listed first (of 1)."""
    ranked, listed, best = list[float](), list[float](), 0
    for name, brief in rows("briefs").items():
        if brief["task"] != "create":
            continue
        found = offered(brief["lang"])
        wanted = features(rows("dev_answers")[name]["workflow"], brief["lang"])
        common = {}
        for each, document in found.items():
            has = features(document, brief["lang"])
            common[each] = len(has & wanted) / len(has | wanted)
        near = nearest_templates(points_of(brief["intent"]), found, brief["lang"])
        ranked.append(common[near[0].name])
        listed.append(common[next(iter(found))])
        best += max(common.values()) in [common[each.name] for each in near[:3]]
    if not ranked:
        pytest.skip("the bench is not here")
    assert sum(ranked) > sum(listed)
    assert best >= 12

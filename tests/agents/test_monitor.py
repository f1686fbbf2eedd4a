from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from flowcabal_tui.agents.checking.feedback import finding_lines
from flowcabal_tui.agents.checking.monitor import Monitor, _verdict
from flowcabal_tui.agents.checking.taxonomy import BY_ANGLE, CLASSES, subtype_of
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.run import ANGLES, Angle, AngleCheck, CheckFinding, Evaluation, Quotation
from flowcabal_tui.domain.workflow import Node, PromptParams
from flowcabal_tui.locale import use_language
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, as_checker, person

FIRST = "林远的左臂在白鹭渡受了伤。\n三年前的冬天，他离开北城。\n渡口的人都说，铜铃只能响一次。"
DRAFT = "林远举起右臂，旧伤正是在右臂。\n他说：“我离开北城，已有十年。”"
NODE = Node(id=NodeId("draft"), name="Draft")
WOUND = {
    "subtype": "Appearance Mismatches",
    "draft_quote": "旧伤正是在右臂",
    "source_id": "s1",
    "source_quote": "左臂在白鹭渡受了伤",
    "explanation": "伤在左臂。",
    "confidence": 0.9,
}
YEARS = {**WOUND, "subtype": "duration", "draft_quote": "我离开北城,已有十年", "source_quote": "三年前的冬天"}


def make_book(**more: Any) -> FakeBook:
    cast = (person("林远", note="左臂有旧伤。"), person("北城", kind="location", note="冬天封城。"))
    return FakeBook([("第1章", FIRST), ("第2章", "")], cast, (("world-rules", "铜铃只能响一次。"),), **more)


def asked(request: ModelRequest) -> list[str]:
    """The angles of a question."""
    _before, _tag, rest = request.messages[1].content.partition("<subtypes>")
    return [line.partition(":")[0] for line in rest.partition("</subtypes>")[0].strip().splitlines()]


async def evaluate(
    reply: Callable[[ModelRequest], Any],
    angles: tuple[Angle, ...] = ANGLES,
    attempt: int = 1,
    book: FakeBook | None = None,
    draft: str = DRAFT,
    confidence: float = 0.9,
) -> Evaluation:
    paid = PaidOnce(FakeModel(as_checker(reply, confidence)), FakeAnswers())
    monitor = Monitor(book or make_book(), lambda: paid, FakeTokens())
    return await monitor.evaluate(NODE, PromptParams(angles=angles), draft, ChapterId("c2"), Generation(1), attempt)


def only(angle: str, *findings: dict[str, Any]) -> Callable[[ModelRequest], Any]:
    said = [{**finding, "angle": angle} for finding in findings]
    return lambda request: {"findings": said if angle in asked(request) else []}


def test_the_taxonomy_has_nineteen_subtypes_and_no_angle_judges_style() -> None:
    names = [name for group in CLASSES.values() for name in group]
    assert len(set(names)) == len(names) == 19
    assert set(BY_ANGLE) == set(ANGLES)
    for subtypes in BY_ANGLE.values():
        assert set(subtypes) <= set(names) - set(CLASSES["Narrative & Style"])


async def test_no_findings_from_all_angles_is_approval() -> None:
    evaluation = await evaluate(only("none"))
    assert evaluation.verdict == "approve"
    assert [check.outcome for check in evaluation.checks] == ["passed"] * 4


async def test_a_draft_is_checked_with_the_names_of_its_time() -> None:
    questions: list[str] = []

    def reply(request: ModelRequest) -> Any:
        questions.append(request.messages[1].content)
        return {"findings": []}

    cast = (replace(person("林远", "远在", "蒙面人", "渡口"), by="agent"),)
    book = FakeBook([("第1章", FIRST), ("第2章", ""), ("第3章", "林远就是蒙面人。")], cast)
    await evaluate(reply, book=book)
    assert questions and all("林远 | 渡口" in each and "蒙面人" not in each for each in questions)


async def test_a_question_names_the_chapter_of_the_draft_and_not_its_node() -> None:
    questions: list[str] = []

    def reply(request: ModelRequest) -> Any:
        questions.append(request.messages[1].content)
        return {"findings": []}

    book = FakeBook([("渡口", FIRST), ("归来", "")], (person("林远", note="左臂有旧伤。"),))
    await evaluate(reply, book=book)
    assert questions and all("第2章 归来" in each and "Draft" not in each for each in questions)
    english = FakeBook(
        [("The Ferry", FIRST), ("The <Bell>", "")], (person("林远", note="左臂有旧伤。"),), language="en"
    )
    questions.clear()
    await evaluate(reply, book=english)
    assert questions and all("Chapter 2: The &lt;Bell&gt;" in each for each in questions)


async def test_a_finding_carries_both_quotations_with_their_places() -> None:
    evaluation = await evaluate(only("character_state", WOUND))
    (finding,) = evaluation.findings
    assert finding.subtype == "appearance mismatch"
    assert DRAFT[finding.draft.start : finding.draft.end] == finding.draft.text == "旧伤正是在右臂"
    assert finding.draft.uri == "draft/draft"
    assert finding.source.uri == "manuscript/c1"
    assert FIRST[finding.source.start : finding.source.end] == finding.source.text == "左臂在白鹭渡受了伤"


@pytest.mark.parametrize(
    ("confidence", "attempt", "verdict"), [(0.8, 1, "retry"), (0.8, 2, "retry"), (0.95, 3, "ask"), (0.79, 1, "ask")]
)
async def test_a_sure_finding_is_tried_again_three_times_in_all(confidence: float, attempt: int, verdict: str) -> None:
    reply = only("character_state", {**WOUND, "source_quote": "左臂有旧伤"})
    assert (await evaluate(reply, attempt=attempt, confidence=confidence)).verdict == verdict


async def test_a_finding_without_verbatim_quotations_is_left_out_and_counted() -> None:
    invented = {**WOUND, "source_quote": "林远的右臂从未受伤"}
    evaluation = await evaluate(only("character_state", WOUND, invented))
    check = next(check for check in evaluation.checks if check.angle == "character_state")
    assert [finding.source.text for finding in check.findings] == ["左臂在白鹭渡受了伤"]
    assert "1" in check.detail


AGAIN = "An earlier answer had these quotations"


async def test_only_invented_findings_are_not_checked_after_a_second_chance() -> None:
    rounds: list[tuple[list[str], bool]] = []

    def reply(request: ModelRequest) -> Any:
        rounds.append(([each.role for each in request.messages], AGAIN in request.messages[-1].content))
        return {"findings": [{**WOUND, "draft_quote": "这句话草稿里没有"}]}

    evaluation = await evaluate(reply, ("character_state",))
    assert evaluation.checks[0].outcome == "not checked"
    assert evaluation.verdict == "ask"
    assert rounds == [
        (["system", "user"], False),
        (["system", "user"], True),
    ]  # two turns of a user are refused by many


async def test_a_model_that_quoted_inexactly_may_correct_itself() -> None:
    def reply(request: ModelRequest) -> Any:
        return {
            "findings": [
                WOUND if AGAIN in request.messages[-1].content else {**WOUND, "draft_quote": "旧伤在他的右臂上"}
            ]
        }

    assert len((await evaluate(reply, ("character_state",))).findings) == 1


async def test_a_wrong_source_id_does_not_lose_a_true_quotation() -> None:
    evaluation = await evaluate(only("character_state", {**WOUND, "source_id": "s99"}))
    assert evaluation.findings[0].source.uri == "manuscript/c1"


@pytest.mark.parametrize("fault", [ModelFault.AUTH, ModelFault.SCHEMA, ModelFault.NETWORK, ModelFault.EMPTY])
async def test_the_angles_of_a_question_that_fails_are_not_checked_and_the_others_go_on(fault: ModelFault) -> None:
    by_state = {**WOUND, "angle": "character_state"}

    def reply(request: ModelRequest) -> Any:
        return ModelError(fault, "no answer") if "timeline" in asked(request) else {"findings": [by_state]}

    evaluation = await evaluate(reply)
    outcomes = {check.angle: check.outcome for check in evaluation.checks}
    assert outcomes["timeline"] == outcomes["world_rules"] == "not checked"
    assert (outcomes["character_state"], outcomes["echoes"]) == ("found", "passed")
    assert "no answer" in evaluation.checks[0].detail


async def test_no_angle_checked_is_never_an_approval() -> None:
    evaluation = await evaluate(lambda request: ModelError(ModelFault.AUTH, "wrong key"))
    assert evaluation.verdict == "ask"
    assert "wrong key" in evaluation.reason


@pytest.mark.parametrize(
    ("language", "title"), [("en", "timeline, state of characters: "), ("zh", "时间线、人物状态：")]
)
async def test_the_reason_of_angles_that_failed_together_is_said_once_in_the_users_words(
    language: str, title: str
) -> None:
    wrong = ModelError(ModelFault.SCHEMA, "fake gave no form", "verdicts: Field required compatible: Field required")
    use_language(language)
    try:
        reason = (await evaluate(lambda request: wrong, ("timeline", "character_state"))).reason
    finally:
        use_language("en")
    assert f"{title}fake gave no form" in reason and reason.count("fake gave no form") == 1
    assert "character_state" not in reason and "Field required" not in reason


async def test_without_a_model_the_node_goes_on_and_the_checks_say_so() -> None:
    def none_there() -> PaidOnce:
        raise ModelError(ModelFault.NOT_CONFIGURED, "no agent model")

    monitor = Monitor(make_book(), none_there, FakeTokens())
    params = PromptParams(angles=("timeline",))
    evaluation = await monitor.evaluate(NODE, params, DRAFT, ChapterId("c2"), Generation(1), 1)
    assert (evaluation.verdict, evaluation.checks[0].outcome) == ("approve", "not checked")


async def test_a_finding_that_the_writer_called_intended_does_not_come_back() -> None:
    book = make_book(waived=frozenset({("旧伤正是在右臂", "左臂在白鹭渡受了伤")}))
    evaluation = await evaluate(only("character_state", WOUND), book=book)
    assert evaluation.verdict == "approve"
    assert not evaluation.findings


async def test_the_same_finding_from_two_angles_counts_once_with_the_surer_one() -> None:
    def reply(request: ModelRequest) -> Any:
        return {
            "findings": [
                {**WOUND, "angle": angle, "confidence": 0.95 if angle == "echoes" else 0.6} for angle in asked(request)
            ]
        }

    evaluation = await evaluate(reply)
    assert [(finding.angle, finding.confidence) for finding in evaluation.findings] == [("echoes", 0.79)]


async def test_the_name_before_a_piece_is_no_part_of_a_quotation() -> None:
    evaluation = await evaluate(only("character_state", {**WOUND, "source_quote": "[林远] 左臂在白鹭渡受了伤"}))
    assert [finding.source.text for finding in evaluation.findings] == ["左臂在白鹭渡受了伤"]


async def test_feedback_shows_both_quotations_the_surest_first() -> None:
    years, wound = only("timeline", {**YEARS, "confidence": 0.7}), only("character_state", WOUND)
    evaluation = await evaluate(lambda request: (years if "timeline" in asked(request) else wound)(request))
    told = finding_lines(evaluation.findings)
    assert told.index("旧伤正是在右臂") < told.index("我离开北城，已有十年")
    assert "左臂在白鹭渡受了伤" in told
    assert finding_lines((await evaluate(only("none"))).findings) == ""


def test_feedback_calls_words_of_the_draft_alone_a_fault_and_names_them_once() -> None:
    book = Quotation("左手", "manuscript/1", 0, 2, "第1章")
    odd = CheckFinding(
        "rules", "style shift", "A remark.", Quotation("**King**", "d", 0, 8), Quotation("", "", 0, 0), 0.9
    )
    twice = (replace(odd, rule="leftovers"), replace(odd, rule="leftovers", draft=replace(odd.draft, start=9, end=17)))
    differs = CheckFinding("rules", "sides", "Side.", Quotation("右手", "d", 20, 22), book, 0.9, "sides")
    faults = finding_lines(twice, "en").splitlines()
    assert faults[0] == "The text has these faults:" and len([line for line in faults if "King" in line]) == 1
    assert finding_lines((*twice, differs), "zh").startswith("这一稿有以下问题：")
    assert finding_lines((differs,), "zh").startswith("这一稿与前文或设定矛盾：")


async def test_each_angle_has_its_sources_and_all_of_a_question_share_a_budget() -> None:
    prompts: dict[str, str] = {}

    def reply(request: ModelRequest) -> Any:
        prompts.update(dict.fromkeys(asked(request), request.messages[1].content))
        return {"findings": []}

    long = FakeBook([("第1章", FIRST * 600), ("第2章", "")], make_book().people, make_book().meta)
    await evaluate(reply, book=long)
    assert "冬天封城" in prompts["world_rules"]
    assert "铜铃只能响一次" in prompts["world_rules"]
    assert "左臂有旧伤" in prompts["character_state"]
    assert "三年前的冬天" in prompts["timeline"]
    assert all(FakeTokens().count(prompt) < 4_000 for prompt in prompts.values())


async def test_no_source_is_shown_twice_to_a_question_from_two_angles() -> None:
    book = FakeBook([("第1章", FIRST), ("第2章", "")], make_book().people, (("notes", "铜铃是师父的遗物。"),))
    shown: list[str] = []

    def reply(request: ModelRequest) -> Any:
        shown.append(request.messages[1].content)
        return {"findings": []}

    await evaluate(reply, ("timeline", "world_rules"), book=book)
    (prompt,) = shown
    assert prompt.count("铜铃是师父的遗物") == prompt.count("三年前的冬天，他离开北城") == 1


async def test_an_angle_is_not_checked_where_a_part_of_the_answer_is_unread() -> None:
    def reply(request: ModelRequest) -> Any:
        first = "character_state" in asked(request)
        return {"findings": [], "unread": ["findings[1]"]} if first else {"findings": []}

    evaluation = await evaluate(reply)
    outcomes = {check.angle: check.outcome for check in evaluation.checks}
    assert outcomes == {
        "timeline": "passed",
        "character_state": "not checked",
        "world_rules": "passed",
        "echoes": "not checked",
    }
    assert evaluation.verdict == "ask"  # half of the angles are unchecked


async def test_an_unread_part_beside_a_finding_loses_no_finding() -> None:
    evaluation = await evaluate(
        lambda request: {"findings": [WOUND], "unread": ["findings[1]"]}, angles=("character_state",)
    )
    (check,) = evaluation.checks
    assert check.outcome == "found" and "1" in check.detail


async def test_an_approval_names_unchecked_angles_if_they_are_less_than_half() -> None:
    def reply(request: ModelRequest) -> Any:
        only_echoes = {**WOUND, "angle": "echoes", "draft_quote": "没有这句话"}
        return {"findings": [only_echoes] if "echoes" in asked(request) else []}

    evaluation = await evaluate(reply)
    assert evaluation.verdict == "approve"
    assert "echoes" in evaluation.reason and evaluation.confidence == 0.75


async def test_the_angles_are_asked_in_two_questions_and_each_finding_keeps_its_angle() -> None:
    questions: list[list[str]] = []
    findings = [{**WOUND, "angle": "Character State"}, {**YEARS, "angle": "echoes"}]

    def reply(request: ModelRequest) -> Any:
        questions.append(asked(request))
        return {"findings": findings if "echoes" in asked(request) else []}

    evaluation = await evaluate(reply)
    assert sorted(questions) == [["character_state", "echoes"], ["timeline", "world_rules"]]
    assert [check.angle for check in evaluation.checks] == list(ANGLES)
    said = {finding.draft.text: finding.angle for finding in evaluation.findings}
    assert said == {"旧伤正是在右臂": "character_state", "我离开北城，已有十年": "echoes"}


async def test_an_angle_that_the_model_does_not_name_is_told_by_the_subtype() -> None:
    unnamed = {**YEARS, "subtype": "duration contradiction", "angle": "other"}
    evaluation = await evaluate(lambda request: {"findings": [unnamed]}, ("world_rules", "timeline"))
    assert [finding.angle for finding in evaluation.findings] == ["timeline"]


async def test_only_the_angle_whose_findings_are_invented_is_not_checked() -> None:
    invented = {**YEARS, "angle": "echoes", "draft_quote": "这句话草稿里没有"}
    findings = [{**WOUND, "angle": "character_state"}, invented]
    evaluation = await evaluate(lambda request: {"findings": findings}, ("echoes", "character_state"))
    assert {check.angle: check.outcome for check in evaluation.checks} == {
        "echoes": "not checked",
        "character_state": "found",
    }


async def test_questions_are_asked_in_turn_so_that_the_second_finds_the_draft_in_the_cache() -> None:
    under_way, asked = 0, list[ModelRequest]()

    def reply(request: ModelRequest) -> Any:
        asked.append(request)
        return {"findings": []}

    class Watched(FakeModel):
        async def structured(self, request: ModelRequest, shape: Any) -> Any:
            nonlocal under_way
            under_way += 1
            assert under_way == 1
            await asyncio.sleep(0)
            under_way -= 1
            return await super().structured(request, shape)

    paid = PaidOnce(Watched(as_checker(reply)), FakeAnswers())
    monitor = Monitor(make_book(), lambda: paid, FakeTokens())
    await monitor.evaluate(NODE, PromptParams(angles=ANGLES), DRAFT, ChapterId("c2"), Generation(1), 1)
    one, other = (request.messages for request in asked)
    assert one[0] == other[0]
    (end,) = one[1].stable
    assert one[1].content[:end] == other[1].content[:end] != one[1].content
    assert one[1].content[:end].endswith(f"{DRAFT}\n</draft>")


async def test_a_check_that_is_stopped_stops_its_question() -> None:
    under_way, there = 0, asyncio.Event()

    class Waiting(FakeModel):
        async def structured(self, request: ModelRequest, shape: Any) -> Any:
            nonlocal under_way
            under_way += 1
            there.set()
            try:
                await asyncio.Event().wait()
            finally:
                under_way -= 1

    paid = PaidOnce(Waiting(lambda request: None), FakeAnswers())
    monitor = Monitor(make_book(), lambda: paid, FakeTokens())
    params = PromptParams(angles=ANGLES)
    checking = asyncio.create_task(monitor.evaluate(NODE, params, DRAFT, ChapterId("c2"), Generation(1), 1))
    await there.wait()
    checking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await checking
    assert under_way == 0


@pytest.mark.parametrize(("text", "outcome"), [("check\n---\n${draft}", "not checked"), ("Only the years.", "passed")])
async def test_words_of_the_writer_are_of_one_angle_alone(tmp_path: Any, text: str, outcome: str) -> None:
    (tmp_path / "monitor.timeline.md").write_text(text, encoding="utf-8")
    systems: list[str] = []

    def reply(request: ModelRequest) -> Any:
        systems.append(request.messages[-1].content)
        return {"findings": []}

    paid = PaidOnce(FakeModel(as_checker(reply)), FakeAnswers())
    monitor = Monitor(make_book(), lambda: paid, FakeTokens(), PromptLibrary(tmp_path))
    evaluation = await monitor.evaluate(NODE, PromptParams(angles=ANGLES), DRAFT, ChapterId("c2"), Generation(1), 1)
    assert [check.outcome for check in evaluation.checks] == [outcome, "passed", "passed", "passed"]
    assert ("monitor.timeline.md" in evaluation.checks[0].detail) == (outcome == "not checked")
    assert any("Only the years." in system for system in systems) == (outcome == "passed")
    assert evaluation.verdict == "approve"


@pytest.mark.parametrize(
    ("word", "subtype"),
    [
        ("Duration Contradictions", "duration contradiction"),
        ("duration", "duration contradiction"),
        ("tone_inconsistencies", "tone inconsistency"),
        ("whatever", "absolute time contradiction"),
        ("", "absolute time contradiction"),
    ],
)
def test_a_subtype_is_understood_as_models_write_it(word: str, subtype: str) -> None:
    assert subtype_of(word, "timeline") == subtype


def test_a_finding_of_a_model_and_a_rule_at_the_same_places_is_listed_once() -> None:
    draft, source = Quotation("right hand", "draft/d", 40, 50), Quotation("left hand", "manuscript/c1", 7, 16, "1 One")
    wide = (
        Quotation("with his right hand", "draft/d", 31, 50),
        Quotation("his left hand", "manuscript/c1", 3, 16, "1 One"),
    )
    model = AngleCheck("characters", "found", "", (CheckFinding("characters", "hand", "Other hand.", *wide, 0.9),))
    known = CheckFinding("rules", "sides", "Side.", draft, source, 0.9, "sides")
    other = CheckFinding("rules", "sides", "Side.", replace(draft, start=90, end=100), source, 0.9, "sides")
    for found, left in (((known,), ()), ((known, other), (other,))):
        (rules, _model) = _verdict((model,), 1, (AngleCheck("rules", "found", "", found),)).checks
        assert (rules.outcome, rules.findings) == ("found" if left else "passed", left)


def test_a_retry_is_told_two_quotations_of_a_rule_without_words_of_the_screen() -> None:
    source = Quotation("左手", "manuscript/c1", 0, 2, "第1章")
    found = CheckFinding("rules", "sides", "A side differs.", Quotation("右手", "draft/d", 0, 2), source, 0.9, "sides")
    told = finding_lines((found,))
    assert "A side differs." not in told and "原有内容（第1章）：“左手”" in told
    alone = replace(found, source=Quotation("", "", 0, 0), explanation="Kept.")
    assert "Kept." in finding_lines((alone,))

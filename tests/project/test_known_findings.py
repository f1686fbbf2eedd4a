"""A finding of the rules in a plan or a draft is corrected by a rule, or added to the prompt of the next step, at no
extra cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.context import NOTHING_ABOUT, About, Injection, Receipt
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId
from flowcabal_tui.domain.prompt_parts import Item, fenced, fenced_items, read_parts
from flowcabal_tui.domain.run import AngleCheck, CheckFinding, Quotation, RuleName
from flowcabal_tui.domain.workflow import Node, PromptParams, Workflow
from flowcabal_tui.project.runs.known_findings import KnownFindings
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript
from tests.agents.fakes import FakeBook, FakeTokens
from tests.faultserver import FaultServer
from tests.outside_parts import outside_parts
from tests.project.case import NO_FINDINGS, both, change, endpoint, make, opened, write_chapters

NODE = Node(id=NodeId("polish"), name="Polish")
PLAN = fenced("plan", "1. The lamp dies.", "en")
DRAFT = fenced("draft", "The lamp died. As an AI language model, I cannot go on.", "en")


class Given:
    """A context of so many tokens out of a budget."""

    def __init__(self, used: int = 10, budget: int = 1_000) -> None:
        self.used, self.budget = used, budget
        self.paid: list[tuple[str, ...]] = []
        self.added = 0

    async def assemble(self, _workflow: Workflow, node: Node, _params: PromptParams, *rest: Any) -> Injection:
        about: About = rest[4] if len(rest) > 4 else NOTHING_ABOUT
        self.paid += [rest[3]] if len(rest) > 3 and rest[3] else []
        self.added = about.added
        receipt = Receipt(node.id, None, Generation(1), self.budget, self.used, digest=Digest("of the book"))
        return Injection("", "What the book says.", receipt, stable=19)


class Rules:
    """Finds what it is given for a text that holds its words."""

    def __init__(self, *found: CheckFinding) -> None:
        self._found = found

    async def check(self, _view: Any, text: str, _uri: str, _title: str) -> tuple[AngleCheck, ...]:
        found = tuple(_placed(each, text) for each in self._found if each.draft.text in text)
        return (AngleCheck("rules", "found", "", found),)


def _placed(finding: CheckFinding, text: str) -> CheckFinding:
    start = text.index(finding.draft.text)
    return replace(finding, draft=replace(finding.draft, start=start, end=start + len(finding.draft.text)))


def found(words: str, rule: RuleName, against: str = "", confidence: float = 0.7) -> CheckFinding:
    source = Quotation(against, "manuscript/c1" if against else "", 0, len(against), "Chapter 1")
    return CheckFinding("rules", "", "said on the screen", Quotation(words, "d", 3, 9), source, confidence, rule)


async def told(prompt: str, given: Given, *findings: CheckFinding, inquiries: tuple[str, ...] = ()) -> Injection:
    book = FakeBook([("Chapter 1", "Text."), ("Chapter 2", "")], language="en")
    context = KnownFindings(given, book, Rules(*findings), FakeTokens())
    where = (ChapterId("c2"), Generation(1), inquiries)
    return await context.assemble(Workflow(id="w"), NODE, PromptParams(), prompt, *where)


async def test_findings_stand_behind_the_draft_with_the_order_to_mend_them() -> None:
    given = Given()
    plain = await given.assemble(Workflow(id="w"), NODE, PromptParams())
    made = await told(f"{PLAN}\n\n{DRAFT}\n\nPolish it.", given, found("As an AI language model", "leftovers"))
    sent = made.applied_to(f"{PLAN}\n\n{DRAFT}\n\nPolish it.")
    *_before, part = read_parts(sent)
    assert (part.key, [item.title for item in part.items]) == ("findings", ["Draft"])
    assert "“As an AI language model, I cannot go on.”" in part.whole and "not part of the story" in part.whole
    assert "said on the screen" not in sent
    assert sent.startswith(f"{PLAN}\n\n{DRAFT}\n\n") and sent.endswith(f"{part.source}\n\nPolish it.")
    assert "even if that changes a fact" in outside_parts(sent)
    assert (made.user_suffix, made.stable, made.receipt.used) == (plain.user_suffix, plain.stable, plain.receipt.used)
    listed = sent.removeprefix(f"{PLAN}\n\n{DRAFT}\n\n").removesuffix("\n\nPolish it.")
    assert given.added == FakeTokens().count(listed)
    assert made.receipt.notes == ("1 finding by rule in the plan and the draft is in the prompt.",)


async def test_without_findings_nothing_changes() -> None:
    plain = await Given().assemble(Workflow(id="w"), NODE, PromptParams())
    folded = found("As an AI language model", "leftovers", confidence=0.4)
    assert await told(DRAFT, Given(), folded) == plain
    assert await told("No part, As an AI language model.", Given(), found("As an AI language model", "latin")) == plain


async def test_of_a_plan_only_what_contradicts_the_book_counts() -> None:
    plan = fenced("plan", "1. Nora wakes with green eyes. TODO the rest", "en")
    odd, clash = found("TODO", "leftovers"), found("green eyes", "looks", "her blue eyes")
    _plan, part = read_parts((await told(plan, Given(), odd, clash)).applied_to(plan))
    assert "her blue eyes" in part.whole and "TODO" not in part.whole


async def test_findings_take_nothing_of_the_budget_and_a_small_context_has_none() -> None:
    made = await told(DRAFT, Given(used=1_000), found("As an AI language model", "leftovers"))
    assert made.receipt.used == 1_000 and "AI language model" in made.applied_to(DRAFT).partition("</draft>")[2]
    small = Given(used=5, budget=5)
    assert await told(DRAFT, small, found("As an AI language model", "leftovers")) == replace(
        await small.assemble(Workflow(id="w"), NODE, PromptParams())
    )


@pytest.mark.parametrize("used", [10, 1_000])
async def test_inquiries_are_paid_for_once_whatever_the_budget_leaves(used: int) -> None:
    given = Given(used=used)
    made = await told(DRAFT, given, found("As an AI language model", "leftovers"), inquiries=("Who was there?",))
    assert given.paid == [("Who was there?",)]
    assert made.receipt.used <= 1_000
    plain = Given(used=used)
    await told(DRAFT, plain, inquiries=("Who was there?",))
    assert plain.paid == [("Who was there?",)]


async def test_five_findings_of_a_text_are_told_and_long_ones_stay_within_bounds() -> None:
    many = [found(word, "looks", f"{word} as before") for word in ("The", "lamp", "died", "As", "an", "AI")]
    _draft, part = read_parts((await told(DRAFT, Given(budget=9_000), *many)).applied_to(DRAFT))
    assert part.whole.count("as before") == 5
    long = [found(word, "looks", "very long " * 400) for word in ("The", "lamp", "died")]
    made = await told(DRAFT, Given(budget=90_000), *long)
    assert FakeTokens().count(made.applied_to(DRAFT)) < 1_500


async def test_an_unambiguous_fault_of_the_draft_is_corrected_before_it_is_sent() -> None:
    draft = fenced("draft", "Here is the revised chapter:\n\nThe <lamp> was **very** dim.", "en")
    plan = fenced("plan", "The lamp is **very** dim.", "en")
    faults = [found("Here is the revised chapter", "leftovers"), found("**very**", "leftovers")]
    made = await told(f"{plan}\n\n{draft}\n\nPolish it.", Given(), *faults)
    sent = made.applied_to(f"{plan}\n\n{draft}\n\nPolish it.")
    assert sent == f"{plan}\n\n{fenced('draft', 'The <lamp> was very dim.', 'en')}\n\nPolish it."
    assert made.receipt.notes == ("2 faults of the draft were corrected by a rule before it was sent.",)
    assert "<findings " not in sent, "nothing is left to tell"


async def test_what_no_rule_can_mend_is_told_beside_what_was_mended() -> None:
    draft = fenced("draft", "The lamp was **very** dim. Nora has green eyes.", "en")
    made = await told(draft, Given(), found("**very**", "leftovers"), found("green eyes", "looks", "her blue eyes"))
    _draft, part = read_parts(made.applied_to(draft))
    assert "her blue eyes" in part.whole and "**" not in made.applied_to(draft)


async def test_a_draft_that_would_be_empty_and_texts_beside_each_other_stay_as_they_are() -> None:
    alone = fenced("draft", "Word count: 1,204", "en")
    several = fenced_items("draft", [Item("One", "It was **late**."), Item("Two", "It rang.")], "en")
    for prompt, words in ((alone, "Word count: 1,204"), (several, "**late**")):
        sent = (await told(prompt, Given(), found(words, "leftovers"))).applied_to(prompt)
        assert read_parts(sent)[0].source == prompt


async def test_the_draft_is_sent_to_the_polish_step_without_its_faults_and_stored_as_it_was(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.project.carry_out(AddChapter("Chapter 4"))
        await case.settled()
        before = len(server.log)
        written = "Here is the revised chapter:\n\nThe lamp was **very** dim."
        server.push({"content": "1. The lamp dies."}, {"content": written}, {"content": "The lamp died."})
        server.push({"content": NO_FINDINGS, "times": -1})
        run = await case.run("chapter", 4)
        asked = [each["body"]["messages"][-1]["content"] for each in server.log[before:]]
        polish = next(text for text in asked if "<task>polish</task>" in text)
        (draft,) = [part for part in read_parts(polish) if part.key == "draft"]
        assert draft.whole == "The lamp was very dim." and "<findings " not in polish
        assert (await case.view(run, "draft")).attempts[-1].text == written
        receipt = (await case.view(run, "polish")).attempts[-1].receipt
        assert receipt is not None and any("corrected by a rule" in note for note in receipt.notes)


@pytest.mark.parametrize("monitor", [True, False])
async def test_the_polish_request_holds_what_the_rules_found_in_the_draft(
    folder: Path, tmp_path: Path, server: FaultServer, monitor: bool
) -> None:
    await make(folder, both(endpoint(server)))
    if not monitor:
        change(folder, "agents", monitor=False)
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.project.carry_out(AddChapter("Chapter 4"))
        await case.settled()
        before = len(server.log)
        server.push({"content": "1. The lamp dies."}, {"content": "The lamp died. As an AI language model, I stop."})
        server.push({"content": "The lamp died."}, {"content": NO_FINDINGS, "times": -1})
        run = await case.run("chapter", 4)
        asked = [each["body"]["messages"][-1]["content"] for each in server.log[before:]]
        plan, draft, polish = (
            next(text for text in asked if f"<task>{task}</task>" in text) for task in ("plan", "draft", "polish")
        )
        assert "<findings " not in plan + draft
        assert ("<findings " in polish) is monitor
        if monitor:
            assert polish.startswith(draft.partition("</plan>")[0]), "what both requests share stands before the draft"
            assert polish.index("</draft>") < polish.index("<findings ") < polish.index("<task>")
            receipt = (await case.view(run, "polish")).attempts[-1].receipt
            assert receipt is not None and receipt.used <= receipt.budget
            assert any("findings by rule" in note or "finding by rule" in note for note in receipt.notes)

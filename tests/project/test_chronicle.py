"""A novel that knows the truth: the same for the same seed, and the judge sees what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.demo.chronicle import chronicle
from flowcabal_tui.domain.context import Injection, Receipt
from flowcabal_tui.domain.ids import Generation, NodeId
from flowcabal_tui.domain.prompt_parts import fenced
from flowcabal_tui.domain.text import word_count
from flowcabal_tui.project.bench.chronicle_bench import built, judged, measured
from flowcabal_tui.settings.paths import cache_folder


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_same_seed_makes_the_same_novel_and_the_truth_stands_in_it(language):
    one = chronicle(30_000, 7, language)
    assert one == chronicle(30_000, 7, language)
    assert one != chronicle(30_000, 8, language)
    assert 0.9 <= sum(word_count(chapter.text) for chapter in one.chapters) / 30_000 <= 1.2
    for state in one.states:
        assert state.sentence in one.chapters[state.chapter - 1].text
    for secret in one.secrets:
        told = [number for number, chapter in enumerate(one.chapters, 1) if secret.text in chapter.text]
        assert told == sorted({secret.chapter, *secret.known.values()})
    for number, mark in enumerate(one.marks, 1):
        assert [at for at, chapter in enumerate(one.chapters, 1) if mark in chapter.text] == [number]
    given = [person.name[1:] for person in one.entities if person.kind == "character" and language == "zh"]
    assert language == "en" or len(set(given)) < len(given), "some share a given name"


def injection(text: str) -> Injection:
    return Injection("", text, Receipt(NodeId("n"), None, Generation(1), 1, 1))


def test_the_judge_counts_what_is_stale_and_what_leaks():
    novel = chronicle(30_000, 7, "zh")
    last = len(novel.chapters)
    holding = novel.holding(last)
    old = next(each for each in novel.states if holding[each.of, each.attribute].sentence != each.sentence)
    new = holding[old.of, old.attribute]
    secret = next(each for each in novel.secrets if each.chapter < last)
    knower, stranger = next(iter(secret.known)), next(e.id for e in novel.entities if e.id not in secret.known)
    facts = fenced("facts", f"- {old.sentence}（第1章起）\n- {new.sentence}", "zh")
    lines = f"{facts}\n{fenced('passages', secret.text, 'zh')}"
    seen = judged(novel, injection(lines), last, stranger)
    assert (seen["told"], seen["stale"], seen["viewpoint"], seen["future"]) == (2, 1, 1, 0)
    assert judged(novel, injection(lines), last, knower)["viewpoint"] == 0
    assert judged(novel, injection(lines), last, "")["viewpoint"] == 0
    assert judged(novel, injection(f"他看见{novel.marks[-1]}三个字"), last, "")["future"] == 1
    assert judged(novel, injection(novel.marks[-2]), last, "")["future"] == 0
    assert judged(novel, injection(""), last, "")["missing"] > 0


def test_a_secret_that_the_cast_learns_only_later_is_not_missed():
    novel = chronicle(60_000, 7, "zh")
    number, secret, learned = next(
        (number, secret, since)
        for number, cast in enumerate(novel.casts, start=1)
        for secret in novel.secrets
        for since in [min((secret.known[who] for who in cast[:3] if who in secret.known), default=0)]
        if secret.chapter < number <= since
    )
    alone = replace(novel, secrets=(secret,), casts=(novel.casts[number - 1],) * len(novel.casts))
    assert judged(alone, injection(""), number, "")["withheld"] == 0
    assert judged(alone, injection(""), learned + 1, "")["withheld"] == 1


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_the_product_tells_what_holds_and_leaks_nothing(language, tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWCABAL_CACHE_DIR", str(tmp_path))
    novel = chronicle(9_000, 3, language)
    folder, _ = await built(novel)
    assert folder.is_relative_to(cache_folder())
    report = await measured(folder, novel, 4, 6_000)
    assert report.counts["contexts"] == 12
    assert report.leaks == 0
    assert report.counts["told"] > 0
    assert report.share("stale", "told") <= 0.01
    assert report.share("missing", "expected") <= 0.2
    again, _ = await built(novel)
    assert again == folder
    assert replace(report, seconds=()) == replace(await measured(folder, novel, 4, 6_000), seconds=())

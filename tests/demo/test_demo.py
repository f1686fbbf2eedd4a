"""The sample novels and the templates."""

from __future__ import annotations

import pytest

from flowcabal_tui.demo import TEMPLATE_ORDER, sample, templates
from flowcabal_tui.domain.prompt_text import RUN_VALUES, bindings, references
from flowcabal_tui.domain.run import ANGLES
from flowcabal_tui.domain.text import clean, word_count
from flowcabal_tui.domain.workflow import PromptParams, TextBlock

LANGUAGES = ["en", "zh"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sample_is_six_short_chapters_and_what_comes_next(language: str) -> None:
    book = sample(language)
    assert len(book.chapters) == 6
    assert all(500 <= word_count(c.text) <= 1500 for c in book.chapters)
    assert [name for name, _ in book.meta] == ["outline", "style-guide", "world-rules"]
    assert book.next_title in dict(book.meta)["outline"]
    assert book.instruction


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_are_clean_already_so_that_offsets_stay(language: str) -> None:
    book = sample(language)
    texts = [c.text for c in book.chapters] + [text for _, text in book.meta] + [e.note for e in book.entities]
    assert all(clean(text) == text for text in texts)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_entity_stands_in_the_book_under_its_names(language: str) -> None:
    book = sample(language)
    whole = "\n".join([*(c.text for c in book.chapters), *(text for _, text in book.meta)]).lower()
    missing = [name for entity in book.entities for name in entity.names if name.lower() not in whole]
    assert missing == ["the missing ledger"] * (language == "en") + ["末一本灯簿"] * (language == "zh")
    assert len({entity.id for entity in book.entities}) == len(book.entities)


@pytest.mark.parametrize("language", LANGUAGES)
def test_templates_come_in_order_and_only_read_what_is_there(language: str) -> None:
    documents = templates(language)
    assert tuple(d.id for d in documents) == TEMPLATE_ORDER
    for document in documents:
        for node in document.nodes:
            params = PromptParams.model_validate(node.params)
            blocks = (*params.system, *params.prompt)
            assert set(references(blocks)) <= {other.id for other in document.nodes}
            paths = {path for b in blocks if isinstance(b, TextBlock) for path in bindings(b.text)}
            assert paths <= {*RUN_VALUES, "input.instruction", "input.selection"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_chapter_template_pauses_after_the_plan_and_checks_the_text(language: str) -> None:
    plan, draft, polish = (PromptParams.model_validate(n.params) for n in templates(language)[0].nodes)
    assert plan.review == "always"
    assert not draft.angles, "what is polished is checked when it was polished"
    assert set(polish.angles) == set(ANGLES), "nothing is left to be checked when it is kept"

"""Names that enter prompts are names, and no fewer mentions are found than before: by labels made by hand."""

from __future__ import annotations

import pytest

from tests.agents.conftest import NOVELS
from tests.agents.labelled_names import NOVELS as LABELLED
from tests.agents.labelled_names import PRECISION, labels, measured


@pytest.mark.parametrize("slug", LABELLED)
def test_names_that_enter_prompts_are_names_and_find_what_they_found_before(slug: str) -> None:
    if not NOVELS.is_dir():
        pytest.skip("the novels of the laboratory are not here")
    found = measured(NOVELS, slug)
    assert len(found.unlabelled) <= 5, f"label these in labelled_names.json: {found.unlabelled}"
    assert found.precision >= PRECISION, found.wrong
    assert found.recall >= found.recall_before, found.missed


@pytest.mark.parametrize("slug", LABELLED)
def test_labels_hold_a_hundred_mentions_and_what_was_wrong(slug: str) -> None:
    told = labels()["novels"][slug]
    assert len(told["mentions"]) == 100
    assert told["wrong"]
    assert not set(told["wrong"]) & set(told["right"])

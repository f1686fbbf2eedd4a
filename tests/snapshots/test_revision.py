"""Pictures of a revision."""

from __future__ import annotations

from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite
from flowcabal_tui.tui.revision.comments import CommentsScreen
from flowcabal_tui.tui.revision.pass_list import PassesScreen
from flowcabal_tui.tui.revision.revision import RevisionScreen
from flowcabal_tui.tui.shared.rewrite_screen import RewriteScreen
from tests.snapshots.test_graph import BOTH, EVERY_SIZE, on_top
from tests.snapshots.test_shell import app
from tests.tui.fake_books import NOW, chapter_id
from tests.tui.fakes import FakeProject


@EVERY_SIZE
@BOTH
def test_comments(snap_compare, size, language):
    project = FakeProject(language)
    project.revision.fill()
    page = CommentsScreen(project, chapter_id(1))
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page), press=["4", "j"])


@EVERY_SIZE
@BOTH
def test_the_revision(snap_compare, size, language):
    project = FakeProject(language)
    project.revision.fill()
    page = RevisionScreen(project, lambda: NOW, chapter_id(1))
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page))


@BOTH
def test_passes(snap_compare, language):
    page = PassesScreen(FakeProject(language))
    assert snap_compare(app(language), terminal_size=(80, 24), run_before=on_top(page), press=["j"])


@EVERY_SIZE
@BOTH
def test_a_rewrite(snap_compare, size, language):
    words = FakeProject(language).words
    text = words.texts[0]
    after = "\n".join(line[:-4] if line.strip() else line for line in text.split("\n"))
    row = ProposedRewrite(chapter_id(1), 0, text, after, "writer-1", "更冷一些" if language == "zh" else "colder")
    page = RewriteScreen(words.titles[0], row)
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page), press=["space"])

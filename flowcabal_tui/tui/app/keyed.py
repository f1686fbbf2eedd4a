"""Every class of the screen with its own keys, in the order of the keys page."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Final

from textual.dom import DOMNode

from flowcabal_tui.locale import mark

_KEYED: Final[tuple[tuple[str, str], ...]] = (
    (mark("Chapters"), "book.chapter_list.ChapterList"),
    (mark("Workflow"), "workflows.workflow.WorkflowPane"),
    (mark("Workflows"), "workflows.workflow_list.WorkflowList"),
    (mark("Versions of a workflow"), "workflows.workflow_versions.WorkflowVersionsScreen"),
    (mark("Builds"), "workflows.builds_list.BuildsScreen"),
    (mark("Review of a build"), "workflows.build_review.BuildReviewScreen"),
    (mark("Workflow as rails"), "widgets.rail_graph.RailGraph"),
    (mark("Manuscript"), "book.manuscript.ManuscriptPane"),
    (mark("Text editor"), "widgets.prose_area.ProseArea"),
    (mark("Card of a name"), "shared.name_card.NameCardPanel"),
    (mark("Output"), "runs.output.OutputPane"),
    (mark("Output that waits for approval"), "runs.answered_text.AnsweredText"),
    (mark("Prompt"), "workflows.block_editor.BlockEditor"),
    (mark("Parameters of a node"), "workflows.node_form.NodeForm"),
    (mark("Parameters of any node"), "workflows.params_form.ParamsForm"),
    (mark("Choice of an action"), "workflows.action_picker.ActionPicker"),
    (mark("Edit as text"), "workflows.data_editor.DataEditor"),
    (mark("Versions of a node"), "runs.node_versions.NodeVersionsScreen"),
    (mark("Context receipt"), "runs.receipt.ReceiptPane"),
    (mark("Profiles"), "memory.profiles.ProfilePane"),
    (mark("Search"), "book.search.SearchScreen"),
    (mark("Replace"), "book.replace.ReplaceScreen"),
    (mark("The manuscript as a whole"), "book.browser.BrowserScreen"),
    (mark("Proof"), "book.proof.ProofScreen"),
    (mark("Words by day"), "book.days.DaysScreen"),
    (mark("Calendar"), "book.month.MonthCalendar"),
    (mark("Kept outputs"), "book.kept.KeptScreen"),
    (mark("Background work"), "memory.queue.QueueScreen"),
    (mark("Knowledge server"), "memory.knowledge.KnowledgeScreen"),
    (mark("Line origins"), "runs.origin.BlameScreen"),
    (mark("Receipt on its own page"), "runs.receipt_screen.ReceiptScreen"),
    (mark("Names, relations, promises, timeline, facts"), "story.story_page.StoryPage"),
    (mark("Names"), "story.entities.EntitiesScreen"),
    (mark("Places of a name"), "story.mentions.MentionsScreen"),
    (mark("Relations"), "story.ego.EgoScreen"),
    (mark("Relations, the graph"), "widgets.ego_graph.EgoGraph"),
    (mark("Promises, timeline, facts"), "story.records.RecordsScreen"),
    (mark("Proposals"), "story.proposals.ProposalsScreen"),
    (mark("Findings"), "story.findings.FindingsScreen"),
    (mark("What depends on a change"), "story.impact.ImpactScreen"),
    (mark("Name and record forms"), "shared.form.FormScreen"),
    (mark("Lists in forms of names"), "shared.form.ChoiceField"),
    (mark("The text on the whole screen"), "shared.prose_form.ProseScreen"),
    (mark("Decisions"), "decisions.decisions.DecisionsScreen"),
    (mark("Comparison of candidates"), "decisions.comparison.ComparisonScreen"),
    (mark("Changes at the seams"), "decisions.candidate_work.SeamChangesScreen"),
    (mark("Short answers"), "decisions.answers.AnswerList"),
    (mark("Play"), "decisions.play.PlayScreen"),
    (mark("Source"), "shared.source.SourceScreen"),
    (mark("What was sent"), "runs.sent.SentScreen"),
    (mark("Notices"), "app.notices_screen.NoticesScreen"),
    (mark("Versions"), "shared.versions.VersionsScreen"),
    (mark("Difference"), "shared.diff.DiffScreen"),
    (mark("Difference, inside"), "widgets.diff_view.DiffView"),
    (mark("Changed outside"), "shared.diff.OutsideScreen"),
    (mark("Text to read"), "widgets.stream_view.StreamView"),
    (mark("Conversation"), "conversation.screen.ConversationScreen"),
    (mark("Texts sent with a question"), "conversation.chips.ChipPicker"),
    (mark("Lists"), "shared.lists.PickList"),
    (mark("Trees"), "shared.lists.PickTree"),
    (mark("Help"), "widgets.help.HelpScreen"),
    (mark("Yes/no questions"), "widgets.confirm.ConfirmScreen"),
    (mark("Waits"), "widgets.wait.WaitScreen"),
    (mark("One-line questions"), "widgets.prompt_line.PromptLine"),
    (mark("Questions answered by typing a name"), "widgets.type_name.TypeNameScreen"),
    (mark("Choices"), "shared.choose.ChooseScreen"),
    (mark("Runs"), "runs.history.RunsScreen"),
    (mark("Jump mode"), "widgets.jump.JumpOverlay"),
    (mark("After the leader key"), "app.leader.LeaderScreen"),
    (mark("First steps"), "app.first_run.FirstRunScreen"),
    (mark("New project"), "app.new_project.NewProjectScreen"),
    (mark("Errors"), "app.error_screen.ErrorScreen"),
    (mark("Outline"), "memory.outline.OutlineScreen"),
    (mark("Outline of a chapter"), "memory.outline.BeatsScreen"),
    (mark("Outline beside the text"), "memory.beats_panel.BeatsPanel"),
    (mark("Trust"), "models.trust.TrustScreen"),
    (mark("Settings"), "app.settings.page.SettingsScreen"),
    (mark("Keys"), "app.settings.keys.KeysScreen"),
    (mark("Model"), "models.model_form.ModelForm"),
    (mark("Revision"), "revision.revision.RevisionScreen"),
    (mark("Comments"), "revision.comments.CommentsScreen"),
    (mark("Passes"), "revision.pass_list.PassesScreen"),
    (mark("Inputs of a run"), "runs.asking.InputsForm"),
    (mark("Unsaved text"), "shared.diff.UnsavedScreen"),
    (mark("Replaced text"), "shared.diff.ReplacedScreen"),
    (mark("Proposed rewrite"), "shared.rewrite_screen.RewriteScreen"),
    (mark("Line of a run"), "widgets.prompt_line.RunLine"),
)
"""The name of each place, and its class below `flowcabal_tui.tui`."""


def keyed() -> Iterator[tuple[str, type[DOMNode]]]:
    """The places with their classes, which are imported only here, since they are most of the screen."""
    for place, name in _KEYED:
        module, _dot, kind = name.rpartition(".")
        yield place, getattr(import_module(f"flowcabal_tui.tui.{module}"), kind)

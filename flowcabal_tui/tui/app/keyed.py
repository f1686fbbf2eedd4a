"""Every class of the screen with its own keys, in the order of the keys page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final, NamedTuple

from textual.dom import DOMNode

from flowcabal_tui.locale import mark


class Keyed(NamedTuple):
    """A class of the screen with its own keys: the name of its place, and its path below `flowcabal_tui.tui`.

    `opener` is the id of the command that opens a page; "": it opens by itself, such as a question. `of_page` are ids,
    after the point, of commands for a page as a whole or for the open chapter: no row has to be chosen first. `pane` is
    the id of a pane in the workspace.
    """

    place: str
    path: str
    opener: str = ""
    of_page: str = ""
    pane: str = ""


_KEYED: Final = (
    Keyed(mark("Chapters"), "book.chapter_list.ChapterList", pane="chapters"),
    Keyed(mark("Workflow"), "workflows.workflow.WorkflowPane", pane="workflow"),
    Keyed(mark("Workflows"), "workflows.workflow_list.WorkflowList", "workflow.template", "build example new"),
    Keyed(mark("Versions of a workflow"), "workflows.workflow_versions.WorkflowVersionsScreen", "workflows.versions"),
    Keyed(mark("Builds"), "workflows.builds_list.BuildsScreen", "builds.open", "build"),
    Keyed(mark("Review of a build"), "workflows.build_review.BuildReviewScreen"),
    Keyed(mark("Workflow as rails"), "widgets.rail_graph.RailGraph"),
    Keyed(mark("Manuscript"), "book.manuscript.ManuscriptPane", pane="manuscript"),
    Keyed(mark("Text editor"), "widgets.prose_area.ProseArea"),
    Keyed(mark("Card of a name"), "shared.name_card.NameCardPanel"),
    Keyed(mark("Output"), "runs.output.OutputPane", pane="output"),
    Keyed(mark("Output that waits for approval"), "runs.answered_text.AnsweredText"),
    Keyed(mark("Prompt"), "workflows.block_editor.BlockEditor", pane="prompt"),
    Keyed(mark("Parameters of a node"), "workflows.node_form.NodeForm"),
    Keyed(mark("Parameters of any node"), "workflows.params_form.ParamsForm"),
    Keyed(mark("Choice of an action"), "workflows.action_picker.ActionPicker"),
    Keyed(mark("Edit as text"), "workflows.data_editor.DataEditor"),
    Keyed(mark("Versions of a node"), "runs.node_versions.NodeVersionsScreen", "workflow.versions"),
    Keyed(mark("Context receipt"), "runs.receipt.ReceiptPane", pane="context"),
    Keyed(mark("Profiles"), "memory.profiles.ProfilePane", pane="profiles"),
    Keyed(mark("Search"), "book.search.SearchScreen", "book.search", "kind order"),
    Keyed(mark("Replace"), "book.replace.ReplaceScreen"),
    Keyed(mark("The manuscript as a whole"), "book.browser.BrowserScreen", "book.browser",
          "add bring-back kept merge origin rename unfold versions volume"),
    Keyed(mark("Proof"), "book.proof.ProofScreen", "book.proof", "chapter repeats"),
    Keyed(mark("Words by day"), "book.days.DaysScreen", "book.words", "goals"),
    Keyed(mark("Calendar"), "book.month.MonthCalendar"),
    Keyed(mark("Kept outputs"), "book.kept.KeptScreen", "browser.kept", "book filter"),
    Keyed(mark("Background work"), "memory.queue.QueueScreen", "memory.queue", "done rebuild"),
    Keyed(mark("Knowledge server"), "memory.knowledge.KnowledgeScreen", "memory.knowledge", "find install"),
    Keyed(mark("Line origins"), "runs.origin.BlameScreen", "manuscript.origin"),
    Keyed(mark("Receipt on its own page"), "runs.receipt_screen.ReceiptScreen"),
    Keyed(mark("Names, relations, promises, timeline, facts"), "story.story_page.StoryPage"),
    Keyed(mark("Names"), "story.entities.EntitiesScreen", "story.names",
          "add filter kinds all character location plot-thread item organisation"),
    Keyed(mark("Places of a name"), "story.mentions.MentionsScreen", "names.mentions"),
    Keyed(mark("Relations"), "story.ego.EgoScreen", "names.graph"),
    Keyed(mark("Relations, the graph"), "widgets.ego_graph.EgoGraph"),
    Keyed(mark("Promises, timeline, facts"), "story.records.RecordsScreen", "story.promises",
          "add all filter order promises timeline facts"),
    Keyed(mark("Proposals"), "story.proposals.ProposalsScreen", "story.proposals",
          "chapter filter open waiting decided all"),
    Keyed(mark("Findings"), "story.findings.FindingsScreen", "story.findings",
          "chapter check filter report sort waiting put-aside decided resolved all"),
    Keyed(mark("What depends on a change"), "story.impact.ImpactScreen", "story.impact"),
    Keyed(mark("Name and record forms"), "shared.form.FormScreen"),
    Keyed(mark("Lists in forms of names"), "shared.form.ChoiceField"),
    Keyed(mark("The text on the whole screen"), "shared.prose_form.ProseScreen"),
    Keyed(mark("Decisions"), "decisions.decisions.DecisionsScreen", "decisions.open"),
    Keyed(mark("Comparison of candidates"), "decisions.comparison.ComparisonScreen", "candidates.open"),
    Keyed(mark("Changes at the seams"), "decisions.candidate_work.SeamChangesScreen"),
    Keyed(mark("Short answers"), "decisions.answers.AnswerList"),
    Keyed(mark("Play"), "decisions.play.PlayScreen", "run.play"),
    Keyed(mark("Source"), "shared.source.SourceScreen"),
    Keyed(mark("What was sent"), "runs.sent.SentScreen", "run.sent", "template"),
    Keyed(mark("Notices"), "app.notices_screen.NoticesScreen", "app.notices"),
    Keyed(mark("Versions"), "shared.versions.VersionsScreen", "manuscript.versions"),
    Keyed(mark("Difference"), "shared.diff.DiffScreen"),
    Keyed(mark("Difference, inside"), "widgets.diff_view.DiffView"),
    Keyed(mark("Changed outside"), "shared.diff.OutsideScreen"),
    Keyed(mark("Text to read"), "widgets.stream_view.StreamView"),
    Keyed(mark("Conversation"), "conversation.screen.ConversationScreen", "app.conversation", "level others"),
    Keyed(mark("Texts sent with a question"), "conversation.chips.ChipPicker"),
    Keyed(mark("Lists"), "shared.lists.PickList"),
    Keyed(mark("Trees"), "shared.lists.PickTree"),
    Keyed(mark("Help"), "widgets.help.HelpScreen"),
    Keyed(mark("Yes/no questions"), "widgets.confirm.ConfirmScreen"),
    Keyed(mark("Waits"), "widgets.wait.WaitScreen"),
    Keyed(mark("One-line questions"), "widgets.prompt_line.PromptLine"),
    Keyed(mark("Questions answered by typing a name"), "widgets.type_name.TypeNameScreen"),
    Keyed(mark("Choices"), "shared.choose.ChooseScreen"),
    Keyed(mark("Runs"), "runs.history.RunsScreen"),
    Keyed(mark("Jump mode"), "widgets.jump.JumpOverlay"),
    Keyed(mark("After the leader key"), "app.leader.LeaderScreen"),
    Keyed(mark("First steps"), "app.first_run.FirstRunScreen"),
    Keyed(mark("New project"), "app.new_project.NewProjectScreen"),
    Keyed(mark("Errors"), "app.error_screen.ErrorScreen"),
    Keyed(mark("Outline"), "memory.outline.OutlineScreen"),
    Keyed(mark("Outline of a chapter"), "memory.outline.BeatsScreen"),
    Keyed(mark("Outline beside the text"), "memory.beats_panel.BeatsPanel", "book.beats", "check"),
    Keyed(mark("Trust"), "models.trust.TrustScreen", "project.trust"),
    Keyed(mark("Settings"), "app.settings.page.SettingsScreen", "app.settings", "add"),
    Keyed(mark("Keys"), "app.settings.keys.KeysScreen"),
    Keyed(mark("Model"), "models.model_form.ModelForm"),
    Keyed(mark("Revision"), "revision.revision.RevisionScreen", "revision.open", "passes rewrites"),
    Keyed(mark("Comments"), "revision.comments.CommentsScreen", "revision.comments",
          "add chapter filter kind open resolved lost all"),
    Keyed(mark("Passes"), "revision.pass_list.PassesScreen", "revision.passes", "add"),
    Keyed(mark("Inputs of a run"), "runs.asking.InputsForm"),
    Keyed(mark("Unsaved text"), "shared.diff.UnsavedScreen"),
    Keyed(mark("Replaced text"), "shared.diff.ReplacedScreen"),
    Keyed(mark("Proposed rewrite"), "shared.rewrite_screen.RewriteScreen"),
    Keyed(mark("Line of a run"), "widgets.prompt_line.RunLine"),
)  # fmt: skip


@cache
def keyed() -> Mapping[type[DOMNode], Keyed]:
    """The rows by their classes, which are imported only here, since they are most of the screen."""
    found: dict[type[DOMNode], Keyed] = {}
    for row in _KEYED:
        module, _dot, kind = row.path.rpartition(".")
        found[getattr(import_module(f"flowcabal_tui.tui.{module}"), kind)] = row
    return found

"""The errors that are shown to the user.

Each line names the direct subclasses of a class; the docstring of a class explains it.

FlowCabalError: ProjectError, SettingsError, WorkflowError, RunError, KnowledgeError, ManuscriptError, HelperFailed,
    ModelError, ActionError, ItemError, PictureError, EditRefused
ProjectError: ProjectNotFound, ProjectExists, ProjectLocked, ProjectReadOnly, ProjectTooNew, ProjectDamaged,
    UnsafeFileSystem, UnsafeFile, VersionConflict, ChapterLocked, DiskFull, ProjectNotConfirmed, ProjectBusy,
    ForeignLog
WorkflowError: BindingError, ExpressionError, ConditionError, DialectError
BindingError: TooLarge
DialectError: Mistakes
RunError: UnknownName, BudgetExceeded, StaleQuestion, StepFailed, EmbeddingsNotAgreed, BadArgument,
    BadLine
UnknownName: Gone
BudgetExceeded: LimitReached, SpendingNotAgreed
KnowledgeError: KnowledgeAbsent, KnowledgePending, KnowledgeMissing, KnowledgeBusy, _AlreadyThere
ActionError: ActionFileError, UnknownAction, ActionDisabled, ActionForbidden, ApprovalRequired, ActionUnbound,
    BadParams, SimulationError, ActionFailed
ActionFailed: TimedOut, BadOutput

`exit_code` is the code with which the command line ends: the table is in docs/guide/en.md.
Each has `title` (what happened), `detail` (what was kept or found) and `advice` (what to do).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal, Self

from flowcabal_tui.locale import _, sentences

if TYPE_CHECKING:
    from flowcabal_tui.domain.model_calls import Usage

_NAMES_SHOWN: Final = 20


def available(names: Iterable[str]) -> str:
    """The names among which one that is unknown was sought: for the detail or the advice of an error."""
    return _("Available: {names}").format(names=_(", ").join(names))


class FlowCabalError(Exception):
    """An error whose text is shown to the user unchanged."""

    exit_code = 1

    def __init__(self, title: str, detail: str = "", advice: str = "") -> None:
        super().__init__(title)
        self.title, self.detail, self.advice = title, detail, advice

    def __str__(self) -> str:
        return "\n".join(part for part in (self.title, self.detail, self.advice) if part)


class ProjectError(FlowCabalError):
    """An error of the project folder or its database."""


class ProjectBusy(ProjectError):
    """Another program kept the database locked until the wait timed out; a later try can succeed."""


class ForeignLog(ProjectError):
    """The database's log, which a killed process left, belongs to another database."""


class ProjectNotFound(ProjectError):
    """The folder has no flowcabal.toml, or no database where it cannot be created."""

    exit_code = 2


class ProjectExists(ProjectError):
    """The folder already holds a project or other files, or the file of a new backup exists."""


class ProjectLocked(ProjectError):
    """Another process writes to the project; it can be opened read-only."""


class ProjectReadOnly(ProjectError):
    """A project opened read-only cannot be written to, or upgraded from an older format."""


class ProjectTooNew(ProjectError):
    """A newer version of this program wrote the database."""


class ProjectDamaged(ProjectError):
    """The database, a backup or a stored value is damaged, or the database of a project with chapters is missing."""


class UnsafeFileSystem(ProjectError):
    """A network file system without locks."""


class UnsafeFile(ProjectError):
    """A link, a device or another user's file in place of a project file."""


class VersionConflict(ProjectError):
    """The text has changed since the version that the write was based on."""


class ChapterLocked(ProjectError):
    """A command would write or remove text of a locked chapter."""


class DiskFull(ProjectError):
    """The disk is full or not writable; nothing was half written."""


class ProjectNotConfirmed(ProjectError):
    """The project requires permissions that this user has not confirmed; `detail` lists them."""

    exit_code = 6


class SettingsError(FlowCabalError):
    """A setting, or a file of the user's or the project's configuration, that cannot be used."""

    exit_code = 2


class WorkflowError(FlowCabalError):
    """A workflow document that cannot run."""

    exit_code = 2


class BindingError(WorkflowError):
    """A reference that cannot be resolved: `path` failed because of `reason`; `available` lists the available names."""

    def __init__(self, path: str, reason: str, available: Iterable[str] = ()) -> None:
        self.path, self.reason, self.available = path, reason, tuple(available)
        names = [name[:60] for name in self.available[:_NAMES_SHOWN]]
        shown = _(", ").join(names) + (", …" if len(self.available) > _NAMES_SHOWN else "")
        super().__init__(
            _("{path} cannot be filled in: {reason}").format(path=path, reason=reason),
            _("Available: {names}").format(names=shown) if shown else "",
            self._advice(),
        )

    def _advice(self) -> str:
        root, _dot, rest = self.path.partition(".")
        if root == "chapter" and "chapter" not in self.available:
            return _("Run it for a chapter; on the command line, with --chapter N.")
        if root == "input" and rest.partition(".")[0] not in self.available:
            return _("Give the run this input; on the command line, with --input {name}=TEXT or {name}:=JSON.").format(
                name=rest.partition(".")[0].partition("[")[0][:60]
            )
        return _("Correct the path, or the output of the node before it.")


class ExpressionError(WorkflowError):
    """An expression that cannot be parsed or is not allowed; `column` counts from 1, 0 if unknown."""

    def __init__(self, expression: str, reason: str, column: int = 0) -> None:
        self.expression, self.reason, self.column = expression, reason, column
        where = _("column {n}").format(n=column) + ": " if column else ""
        super().__init__(_("The expression cannot be used: {reason}").format(reason=where + reason), expression[:200])


class ConditionError(WorkflowError):
    """A condition that cannot be evaluated: incomparable values, a missing parameter, a bad or slow pattern."""


class RunError(FlowCabalError):
    """A run could not start or continue."""


class UnknownName(RunError):
    """A chapter, workflow, node, run, question, state or text with this name does not exist."""

    exit_code = 2


class Gone(UnknownName):
    """An id that is no longer in the project, or never was."""

    def __init__(self, name: object = "") -> None:
        super().__init__(
            _("There is nothing named {name}.").format(name=name),
            _("Nothing was changed. It may have been removed since then."),
            _("Review the lists again."),
        )


class BudgetExceeded(RunError):
    """The hard cap on money or tokens stops new calls; `usage` is the unbooked usage of earlier tries."""

    usage: Usage | None = None


class LimitReached(BudgetExceeded):
    """The next call could take a run past the agreed amount: the writer is asked.

    `reservation` is that of the call; `number` counts the questions of the run, from 0; `cut`: the call was under way,
    and its answer was stopped.
    """

    reservation: object = None
    number: int = 0
    cut: bool = False


class SpendingNotAgreed(BudgetExceeded):
    """A call of background work would cost money that the user has not agreed to."""

    exit_code = 3


class StaleQuestion(RunError):
    """The question was already answered or withdrawn, or the answer does not fit it."""


class StepFailed(RunError):
    """A step inside a node failed or was stopped, so the node cannot complete."""


class KnowledgeError(FlowCabalError):
    """OpenViking is absent, down, or refused the request."""


class KnowledgeAbsent(KnowledgeError):
    """No knowledge server is in use: none is installed, permitted or enabled. This is not a failure."""


class KnowledgePending(KnowledgeError):
    """A search would cost money, and the caller asked for free lookups only."""


class ManuscriptError(FlowCabalError):
    """A file that cannot be read as a novel, as a chapter, or as rows of a measurement."""

    exit_code = 2


HelperCause = Literal["time", "memory", "died"]


class HelperFailed(FlowCabalError):
    """A task in the helper process exceeded a limit or died with the process; `cause` has the reason."""

    def __init__(self, cause: HelperCause, title: str, detail: str = "", advice: str = "") -> None:
        super().__init__(title, detail, advice)
        self.cause = cause


class ModelFault(StrEnum):
    """Kinds of model failure; see `retryable`."""

    AUTH = "auth"
    NOT_FOUND = "not_found"
    REFUSED = "refused"
    CONTEXT_LENGTH = "context_length"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    NETWORK = "network"
    STALLED = "stalled"
    TIME_LIMIT = "time_limit"
    TRUNCATED = "truncated"
    PROTOCOL = "protocol"
    CONTENT_FILTER = "content_filter"
    EMPTY = "empty"
    SCHEMA = "schema"
    NOT_CONFIGURED = "not_configured"
    NOT_CONFIRMED = "not_confirmed"


RETRYABLE_FAULTS = frozenset(
    {ModelFault.RATE_LIMIT, ModelFault.OVERLOADED, ModelFault.SERVER, ModelFault.NETWORK, ModelFault.STALLED}
)


class ModelError(FlowCabalError):
    """A model call that failed.

    `partial` is the text received so far; `retry_after` is in seconds, as the provider asked. `usage` is the usage to
    book although there is no answer; None: unknown. `window` is the model's context window in tokens, if the provider
    states it in the error for a prompt that is too long. A call is retried only after a retryable fault, and only while
    no text had arrived.
    """

    exit_code = 4

    def __init__(
        self,
        fault: ModelFault,
        title: str,
        detail: str = "",
        advice: str = "",
        *,
        partial: str = "",
        retry_after: float | None = None,
        status: int | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(title, detail, advice)
        self.fault, self.partial, self.retry_after, self.status = fault, partial, retry_after, status
        self.usage = usage
        self.window: int | None = None

    @property
    def retryable(self) -> bool:
        """True when the same call can be sent again without showing text twice."""
        return self.fault in RETRYABLE_FAULTS and not self.partial

    def with_partial_kept(self) -> Self:
        """Adds to `detail` that the received text is kept, if there is any; returns the error itself."""
        if self.partial.strip():
            self.detail = sentences(self.detail, _("This text is kept."))
        return self

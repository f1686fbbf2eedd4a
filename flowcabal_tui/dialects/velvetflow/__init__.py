"""VelvetFlow's documents: the form of its README, that of its code, and as much as possible of the current one."""

from flowcabal_tui.dialects.velvetflow.checks import check
from flowcabal_tui.dialects.velvetflow.reader import read
from flowcabal_tui.dialects.velvetflow.writer import write

__all__ = ["check", "read", "write"]

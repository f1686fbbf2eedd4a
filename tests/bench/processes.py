"""Memory, processor time and traces of processes, read from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.bench.report import Missing

PROC = Path("/proc")
MIB = 1024 * 1024


def all_processes() -> Iterator[int]:
    """Every process id. Raises Missing where there is no /proc."""
    if not PROC.exists():
        raise Missing("this measurement reads /proc, which is not here")
    return (int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal())


def tree(root: int) -> list[int]:
    """A process and all that it has started, guards' servers included."""
    parents = {pid: int(fields[1]) for pid in all_processes() if (fields := _stat(pid))}
    found = [root]
    for parent in found:
        found += [pid for pid, its_parent in parents.items() if its_parent == parent]
    return found


def named(pid: int) -> str:
    """The command line."""
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def left_over(trace: str) -> list[str]:
    """Command lines of processes that name `trace` in their command or environment, ours excepted."""
    found = []
    for pid in all_processes():
        try:
            environment = (PROC / str(pid) / "environ").read_bytes()
        except OSError:
            continue
        if pid != os.getpid() and (trace in named(pid) or trace.encode() in environment):
            found.append(f"{pid} {named(pid)[:90]}")
    return found


def rss_mib(pid: int, field: str = "VmRSS") -> float:
    """Resident memory now, or at its highest (`VmHWM`); 0 when it is gone."""
    try:
        status = (PROC / str(pid) / "status").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(field)), 0.0)


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far; 0 when it is gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent, ..."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []

"""Our fault server as a process: `python -m tests.bench.served FAULTS`, where FAULTS is a JSON list.

Prints its address; then, for every line on its input, its log as one line of JSON. It ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import sys

from tests.faultserver import FaultServer


async def main() -> None:
    """Serves until the input ends."""
    loop = asyncio.get_running_loop()
    async with FaultServer() as server:
        server.push(*json.loads(sys.argv[1]))
        print(server.url, flush=True)
        while await loop.run_in_executor(None, sys.stdin.readline):
            log = [{"path": e["path"], "sent": e["events"], "outcome": e["outcome"]} for e in server.log]
            print(json.dumps(log), flush=True)


if __name__ == "__main__":
    asyncio.run(main())

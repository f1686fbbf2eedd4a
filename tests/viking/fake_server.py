"""Stands in for openviking-server where only its process matters: `fake_server.py [OPTIONS] --config C --port P`.

--delay S: answers after S seconds; --die: prints its secret and ends; --stubborn: ignores SIGTERM;
--child: starts a process of its own that outlives it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        allowed = self.path == "/health" or self.headers["X-API-Key"] == os.environ["FLOWCABAL_VIKING_KEY"]
        content = json.dumps({"status": "ok", "result": []} if allowed else {"error": {"code": "UNAUTHENTICATED"}})
        self.send_response(200 if allowed else 401)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *args: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--die", action="store_true")
    parser.add_argument("--stubborn", action="store_true")
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--config")
    parser.add_argument("--port", type=int)
    options = parser.parse_args()
    if options.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.child:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", options.config])
    if options.die:
        sys.exit(f"no luck with {os.environ['FLOWCABAL_MODEL_KEY']}")
    time.sleep(options.delay)
    try:
        server = HTTPServer(("127.0.0.1", options.port), Handler)
    except OSError as error:
        print(error)
        sys.exit(3)
    server.serve_forever()


if __name__ == "__main__":
    main()

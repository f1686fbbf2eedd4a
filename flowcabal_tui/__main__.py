"""`python -m flowcabal_tui`."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `-m` puts the current folder there: a novel's folder must not offer modules

from flowcabal_tui.cli import main  # after the path is safe

if __name__ == "__main__":
    raise SystemExit(main())

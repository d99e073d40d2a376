"""The tenon command: python -m tenon run pyramid."""

import os
import sys
from pathlib import Path
from typing import NoReturn

COMMAND = Path(__file__).resolve().parent / "bin/tenon"


def main() -> NoReturn:
    """Becomes the command."""
    if not COMMAND.is_file():
        sys.exit("tenon: this build of the package has no command")
    os.execv(COMMAND, ["tenon", *sys.argv[1:]])


if __name__ == "__main__":
    main()

"""What does every benchmark say? Each file beside this one, in turn; each prints ratios to a peer or to a limit.

make bench
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run them all; answer 1 when one of them could not run."""
    status = 0
    for path in sorted(HERE.glob("*.py")):
        if path == Path(__file__).resolve():
            continue
        print(f"== {path.stem}", flush=True)
        status |= bool(subprocess.run([sys.executable, str(path)], cwd=HERE.parent, check=False).returncode)
    return status


if __name__ == "__main__":
    sys.exit(main())

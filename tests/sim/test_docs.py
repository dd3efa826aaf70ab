"""The documents that are made from the code are up to date."""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Documents(unittest.TestCase):
    def test_the_table_of_what_is_supported(self) -> None:
        run = subprocess.run(
            [sys.executable, str(ROOT / "docs/make_supported.py"), "--check"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()

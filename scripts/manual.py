"""Writes the command reference into README.md, from the declarations of the commands: scripts/manual.py [--check]."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from cli.language import manual  # noqa: E402

BEGIN, END = "<!-- manual: scripts/manual.py -->", "<!-- end of manual -->"


def with_manual(text: str) -> str:
    """`text` with the present reference between its two marks. Raises ValueError if a mark is missing."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{manual.reference()}\n\n```\n{manual.GRAMMAR}\n```\n\n{END}{after}"


def main() -> int:
    """Write README.md; with --check only compare, and give 1 if it is out of date."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    wanted = with_manual(text)
    if "--check" in sys.argv[1:]:
        return int(wanted != text)
    readme.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

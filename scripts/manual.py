"""Writes what the program knows of itself into README.md, docs/ and the table of ops: scripts/manual.py [--check].

Between its marks in a Markdown file, `<!-- commands -->` and `<!-- session: SCRIPT -->` to `<!-- end -->`, stands the
reference of the commands, or what a session shows that types the lines after `(gradbg)`.
"""

import contextlib
import difflib
import io
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from autodiff.core.op import OPS  # noqa: E402
from cli.language import manual  # noqa: E402
from cli.language.interpreter import execute  # noqa: E402
from cli.model.shell import Shell  # noqa: E402
from cli.view.drawn.console import drawn  # noqa: E402

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PLACES = ROOT / "autodiff" / "ops" / "places.py"
PROMPT = "(gradbg) "
WIDTH = 100  # columns of the terminal that sessions are shown on
COMMANDS = re.compile(r"(<!-- commands -->\n).*?(<!-- end -->)", re.DOTALL)
NUMBER = re.compile(r"(-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+)")
NOTHING = 1e-6  # what is left of rounding
SESSION = re.compile(r"(<!-- session: (\S+) -->\n)```\n(.*?)```\n(<!-- end -->)", re.DOTALL)


def written(text: str) -> str:
    """A page with what is between its marks made anew."""
    reference = f"\n{manual.reference()}\n```\n{manual.GRAMMAR}\n```\n"
    text = COMMANDS.sub(lambda found: f"{found[1]}{reference}{found[2]}", text)
    return SESSION.sub(lambda found: f"{found[1]}```\n{session(found[2], typed(found[3]))}```\n{found[4]}", text)


def places(text: str) -> str:
    """autodiff/ops/places.py with the ops of each file anew."""
    found: dict[str, list[str]] = {}
    for name, definition in OPS.items():
        found.setdefault(definition.kernel.__module__.removeprefix("autodiff.ops."), []).append(name)
    rows = []
    for module, names in sorted(found.items()):
        first, *more = textwrap.wrap(" ".join([f'{module}":_"{names[0]}', *names[1:]]), 110)
        rows.append(" \"\n        \"".join([f'    "{first}'.replace(":_", ": "), *more]) + '",')
    head = text.partition("PLACES")[0]
    return "\n".join([f"{head}PLACES: dict[str, str] = {{", *rows, "}", ""])


def typed(shown: str) -> list[str]:
    """The lines that were typed in a session."""
    return [line.removeprefix(PROMPT) for line in shown.splitlines() if line.startswith(PROMPT)]


def session(script: str, lines: list[str]) -> str:
    """What a terminal shows of a session that debugs `script`."""
    shown = io.StringIO()
    shell = Shell()
    with contextlib.redirect_stdout(shown):
        shown.write(f"$ ./scripts/debug {script}\n{drawn(execute(f'load {ROOT / script}', shell), WIDTH)}")
        for line in lines:
            shown.write(f"{PROMPT}{line}\n")
            shown.write(drawn(execute(line, shell), WIDTH))
    shell.close()
    return shown.getvalue().replace(f"{ROOT}/", "")  # as the script was named


def without_times(text: str) -> str:
    """`text` with every duration, and every uuid in a name, alike, as they differ from run to run."""
    return re.sub(r"(?<=gradient_debug_)[0-9a-f]{32}", "0" * 32, re.sub(r"[\d.]+ (ms|s|µs)\b", r"0 \1", text))


def is_alike(was: str, is_now: str) -> bool:
    """Whether two texts say the same: what was computed may differ a little, as products do from machine to machine."""
    parts = [NUMBER.split(" ".join(text.split())) for text in (was, is_now)]
    return len(parts[0]) == len(parts[1]) and all(
        a == b or (i % 2 == 1 and _are_near(a, b)) for i, (a, b) in enumerate(zip(*parts)))


def _are_near(a: str, b: str) -> bool:
    """Whether two numbers differ by one in the last digit, by a hundredth or by what rounding leaves."""
    digits = [len(text.partition(".")[2]) if "e" not in text else 15 for text in (a, b)]
    larger, apart = max(abs(float(a)), abs(float(b))), abs(float(a) - float(b))
    return larger < NOTHING or apart <= max(1.1 * 10.0 ** -min(digits), 0.01 * larger)


def main() -> int:
    """Write the pages; with --check only compare them, and give 1 if one is out of date."""
    stale = 0
    for page in (*PAGES, PLACES):
        text = page.read_text(encoding="utf-8")
        fresh = places(text) if page is PLACES else written(text)
        was, is_now = without_times(text), without_times(fresh)
        if is_alike(was, is_now):
            continue
        if "--check" in sys.argv[1:]:
            lines = difflib.unified_diff(was.splitlines(), is_now.splitlines(), lineterm="")
            sys.stderr.write("\n".join([f"{page.relative_to(ROOT)} is out of date: run scripts/manual.py", *lines, ""]))
            stale = 1
        else:
            page.write_text(fresh, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())

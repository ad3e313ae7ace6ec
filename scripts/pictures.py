"""Makes the pictures of README.md and docs/ from the program itself: scripts/pictures [--check].

Each is a session that ends with `export`: of the full screen, typed into as on a terminal, or of what was shown.
"""

import contextlib
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from manual import is_alike  # noqa: E402

from cli.commands import standing  # noqa: E402
from cli.language.command import verbs  # noqa: E402
from cli.language.interpreter import execute  # noqa: E402
from cli.model.shell import Shell  # noqa: E402
from cli.screen import FullScreen  # noqa: E402

SIZE = Size(rows=40, columns=120)
PATIENCE = 30.0  # seconds until a session that shows nothing is given up
SCREEN = ("scripts/models/nan_log.py", (("watch probabilities", "probabilities:0"), ("run -f nan", "remedy")))
SHOWN = {  # picture -> its script, and the lines that are typed
    "gradient.svg": ("scripts/models/digits_loop.py", ("next 20", "grads", "grad output/weights")),
    "hessian.svg": ("scripts/models/digits_loop.py", ("next 20", "hessian loss output/biases"))}


class Terminal(DummyOutput):
    """A terminal of one size that nobody looks at."""

    def get_size(self) -> Size:
        return SIZE


def screen(path: Path) -> None:
    """The full screen at a stop."""
    script, typed = SCREEN
    with loaded(script) as shell, create_pipe_input() as keys, create_app_session(input=keys, output=Terminal()):
        full = FullScreen(shell, lambda result: False, colors="truecolor")
        full.line.history = InMemoryHistory()

        def until(*texts: str) -> None:
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                drawn = full.app.renderer.last_rendered_screen
                with contextlib.suppress(RuntimeError):  # drawn anew meanwhile, by the thread of the screen
                    rows = drawn.data_buffer.values() if drawn is not None else ()
                    seen = "\n".join("".join(row[column].char for column in range(SIZE.columns)) for row in list(rows))
                    if all(text in seen for text in texts):
                        return
                time.sleep(0.02)

        def type_in() -> None:
            until("(gradbg)")
            for line, shows in typed:
                keys.send_text(f"{line}\r")
                until(shows)
            until("▶", "gradients of loss", "·  from")
            keys.send_text(f"export screen {path}\rquit\r")

        hand = threading.Thread(target=type_in, daemon=True)
        hand.start()
        full.run([])
        hand.join()


def shown(path: Path, script: str, lines: Sequence[str]) -> None:
    """What commands have shown."""
    with loaded(script) as shell:
        for line in (*lines, f"export svg {path}"):
            execute(line, shell)


@contextlib.contextmanager
def loaded(script: str) -> Iterator[Shell]:
    """A prompt with a script."""
    shell = Shell(known_verbs=verbs())
    standing.arrived(shell, shell.load(script))
    try:
        yield shell
    finally:
        shell.close()


def visible(picture: str) -> str:
    """The text of a picture, with every duration alike, as they differ from run to run."""
    rows: dict[str, list[str]] = {}
    for row, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>([^<]*)</text>', picture):
        rows.setdefault(row, []).append(unescape(text).replace("\xa0", " "))
    return re.sub(r"[\d.]+ (ms|s)\b *", r"0 \1 ", "\n".join("".join(texts) for texts in rows.values()))


def main(*options: str) -> int:
    """Write the pictures; with --check only compare what they show, and give 1 if one is out of date."""
    stale = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(ROOT):
        made = Path(folder)
        screen(made / "screen.svg")
        for name, session in SHOWN.items():
            shown(made / name, *session)
        for picture in sorted(made.iterdir()):
            kept = ROOT / "docs" / picture.name
            fresh = picture.read_text(encoding="utf-8")
            if kept.exists() and is_alike(visible(kept.read_text(encoding="utf-8")), visible(fresh)):
                continue
            if "--check" in options:
                sys.stderr.write(f"docs/{picture.name} is out of date: run scripts/pictures\n{visible(fresh)}\n")
                stale = 1
            else:
                kept.write_text(fresh, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

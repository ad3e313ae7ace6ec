"""The command line of gradbg itself."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

USAGE = """\
usage: gradbg [-q] [-nx] [--batch] [--json] [-x FILE]... [-ex CMD]... [--ui line|screen] SCRIPT [args...]
       gradbg [options] -m MODULE [args...]

An interactive debugger for gradients. SCRIPT is a model script in TensorFlow 1's names, which is not edited, or an
ONNX model.

  -ex CMD        run a command; may be given often, in order with -x
  -x FILE        run the commands in FILE
  --batch        run the commands and leave; the first that fails ends it
  --keep-going   in batch, go on after a command that failed
  --json         one JSON object for each command on standard output; the script's own prints go to standard error
  -m MODULE      run a module instead of a file
  --survey       say what SCRIPT, or an ONNX model, needs that is not there, and leave
  --with-tensorflow  `import tensorflow` gives the TensorFlow installed, as beside PyTorch; its graphs are not seen
  -q             no greeting
  -nx            do not read ~/.config/gradbg/rc
  --ui NAME      screen: the whole terminal, for a person at a capable one; line: a plain prompt
  --color WHEN   auto, always, never, or as many as the terminal has: 16, 256, truecolor; NO_COLOR is heeded at auto
  --background B dark or light: what the colors are chosen for; else what COLORFGBG says
  --version      print the version and leave
  --             the script's name follows

exit code: 0 fine, 1 a command failed, 2 bad usage, 3 expect or stop in batch, 4 the script raised, 130 Ctrl-C"""


class BadUsage(Exception):
    """The command line cannot be understood."""


@dataclass
class Arguments:
    """steps: ("x", file) and ("ex", command), in order. script None: none given. ui "": whatever fits."""

    script: str | None = None
    arguments: list[str] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)
    as_module: bool = False
    batch: bool = False
    json: bool = False
    quiet: bool = False
    no_rc: bool = False
    keep_going: bool = False
    with_tensorflow: bool = False
    shows: str = ""
    ui: str = ""
    color: str = "auto"
    background: str = ""


CHOICES = {"--ui": ("line", "screen"), "--color": ("auto", "always", "never", "16", "256", "truecolor"),
           "--background": ("dark", "light")}  # option -> its values


def parse(words: Sequence[str]) -> Arguments:
    """Read gradbg's own options up to the script; what follows is the script's. Raises BadUsage."""
    found = Arguments()
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if option in ("-x", "--command", "-ex", "--eval-command", "-m", "--module", *CHOICES):
            if not equals:
                if not rest:
                    raise BadUsage(f"{option} needs a value")
                value = rest.pop(0)
            if option in ("-m", "--module"):
                found.script, found.as_module, found.arguments = value, True, rest
                return found
            _valued(found, option, value)
        elif not _flag(found, option) or equals:
            raise BadUsage(f"unknown option {word}")
    if rest:
        found.script, found.arguments = rest[0], rest[1:]
    return found


def _valued(found: Arguments, option: str, value: str) -> None:
    if option in CHOICES:
        if value not in CHOICES[option]:
            raise BadUsage(f"expected {option} {', '.join(CHOICES[option][:-1])} or {CHOICES[option][-1]}, "
                           f"found {value!r}")
        setattr(found, option.removeprefix("--"), value)
    else:
        found.steps.append(("x" if option in ("-x", "--command") else "ex", value))


def _flag(found: Arguments, option: str) -> bool:
    """Note a flag; False if there is none of that name."""
    names = {"-q": "quiet", "--quiet": "quiet", "-nx": "no_rc", "--nx": "no_rc", "--batch": "batch", "--json": "json",
             "--keep-going": "keep_going", "--with-tensorflow": "with_tensorflow"}
    if option in ("-h", "--help", "--version", "--survey"):
        found.shows = {"--version": "version", "--survey": "survey"}.get(option, "help")
    elif option in names:
        setattr(found, names[option], True)
    else:
        return False
    return True

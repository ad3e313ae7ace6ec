"""The full screen: pages, links, search, jumps; whole sessions with keys alone; and on a terminal."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.output import DummyOutput

from cli.language.command import verbs
from cli.language.interpreter import execute
from cli.model.results import Array, Column, Group, Leave, Table, Text
from cli.model.shell import Shell
from cli.model.usage_error import UsageError
from cli.screen import FullScreen
from cli.screen.finder import Search
from cli.screen.pages import Page, Pages
from cli.view.drawn.palette import Palette, fragment_style
from cli.view.drawn.sheets import sheet_of

pexpect = pytest.importorskip("pexpect")
ROOT = Path(__file__).parents[2]
MODELS = ROOT / "scripts" / "models"
PATIENCE = 30.0  # seconds until a test gives up; none waits for so long

LONG = Table((Column("tensor", "name"), Column("op"), Column("norm", "number")),
             tuple((f"layer{i}/dense/MatMul_{i}:0", "MatMul", i / 7) for i in range(100_000)), "many")


# ---- pages ----------------------------------------------------------------------------------
def page(result: object, width: int = 80, height: int = 20) -> Page:
    made = Page("x", result)  # type: ignore[arg-type]
    made.sized(width, height)
    return made


def test_a_hundred_thousand_rows_scroll_at_once() -> None:
    """What tfdbg cut off at 10,000 lines, and scrolled a line at a time."""
    long = page(LONG)
    assert len(long.sheet) == 100_002
    began = time.process_time()
    long.end()
    assert "MatMul_99999:0" in long.sheet.text(len(long.sheet) - 1)
    for _ in range(100):
        long.turn(-1)
        [long.sheet.line(long.top + i) for i in range(long.height)]
    assert time.process_time() - began < 1.0
    assert long.top == 100_002 - 20 - 100 * 19


def test_a_page_turns_by_pages_and_stays_inside() -> None:
    long = page(LONG)
    long.turn(1)
    assert long.top == 19
    long.turn(-5)
    assert long.top == 0
    short = page(Text("one\ntwo"))
    short.turn(1)
    assert short.top == 0


def test_resizing_keeps_the_place() -> None:
    long = page(LONG)
    long.scroll(50_000)
    long.sized(120, 40)
    assert abs(long.top - 50_000) < 50
    assert "MatMul_49998:0  " in long.sheet.text(50_000)


def test_links_lead_to_the_next_command() -> None:
    found = page(Group((Text("why nan says more\nstop: loss:0: nan at model.py:12"), LONG)))
    seen = []
    while found.next_link(1) and len(seen) < 5:
        link = found.link()
        assert link is not None
        seen.append(link.command)
    assert seen == ["why nan", "print loss:0", "list model.py:12", "print layer0/dense/MatMul_0:0",
                    "print layer1/dense/MatMul_1:0"]
    assert found.next_link(-1)
    assert found.link_in_line(-1)
    assert found.link().command == "print layer0/dense/MatMul_0:0"  # type: ignore[union-attr]


def test_links_keep_the_whole_of_a_name_that_is_shortened() -> None:
    name = "scope/" * 30 + "MatMul:0"
    columns = (Column("tensor", "name"), Column("a", "text"), Column("b", "text"))
    narrow = page(Table(columns, ((name, "x" * 30, "y"),)), 60)
    narrow.next_link(1)
    assert narrow.link().command == f"print {name}"  # type: ignore[union-attr]
    assert "…" in "".join(text for _, text in narrow.sheet.line(2))
    assert len(Search("scope/scope/MatMul", narrow.sheet).lines) == 0
    assert list(Search("(scope/){30}MatMul", narrow.sheet).look(0))[:1] == [2]


def test_pages_go_back_and_forward_like_a_browser() -> None:
    pages = Pages()
    for name in "abc":
        pages.open(Page(name, Text(name)))
    assert pages.position == (3, 3)
    assert pages.turn(-1)
    assert pages.turn(-1)
    assert not pages.turn(-1)
    assert pages.page.command == "a"
    pages.open(Page("d", Text("d")))
    assert pages.position == (2, 2)
    assert not pages.turn(1)


def test_search_goes_around_both_ways_and_counts() -> None:
    sheet = sheet_of(Text("\n".join(f"line {i} {'Hit' if i % 10 == 3 else ''}" for i in range(50))), 80)
    search = Search("hit", sheet)
    assert [line for line in search.look(20) if line is not None] == [23, 33, 43, 3, 13]
    search.at = 23
    assert [search.move(1) for _ in range(4)] == [33, 43, 3, 13]
    assert str(search) == "/hit: line 2 of 5"
    assert search.move(-1) == 3
    assert search.move(-1) == 43
    assert str(search) == "/hit: line 5 of 5, wrapped"
    backward = Search("Hit", sheet, backward=True)
    assert [line for line in backward.look(20) if line is not None][0] == 13
    assert list(Search("hIT", sheet).look(0)) == []
    assert "not found" in str(_done(Search("[", sheet)))


def _done(search: Search) -> Search:
    list(search.look(0))
    return search


def test_jumping_to_an_element() -> None:
    value = np.arange(100_000.0).reshape(1000, 100)
    shown = page(Array("W", value))
    assert shown.jump("@[777,42]") == "[777,42] = 77742.0"
    visible = [shown.sheet.line(shown.top + i) for i in range(shown.height)]
    assert any((fragment_style(Palette().style("current")), "7.77") in line for line in visible)
    assert shown.jump("@[-1, -1]").endswith("99999.0")
    for wrong in ("@[1]", "@[1000,0]", "@[a,b]", "@"):
        with pytest.raises(UsageError):
            shown.jump(wrong)
    with pytest.raises(UsageError):
        page(Text("no array")).jump("@[0]")


# ---- a session ------------------------------------------------------------------------------
class Output(DummyOutput):
    """A screen of a given size."""

    def __init__(self, size: Size) -> None:
        self._size = size

    def get_size(self) -> Size:
        return self._size


class Typist:
    """Types on a FullScreen and waits for what comes of it."""

    def __init__(self, screen: FullScreen, keys: object) -> None:
        self.screen, self._keys = screen, keys

    def type(self, text: str) -> None:
        self._keys.send_text(text)  # type: ignore[attr-defined]

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something holds; the condition is asked again and again, as nothing tells of it."""
        end = time.monotonic() + PATIENCE
        pause = threading.Event()
        while not holds():
            assert time.monotonic() < end, (what, self.screen.page.command, self.screen.message)
            pause.wait(0.005)

    def run(self, line: str, shows: str = "") -> str:
        """Type a line; gives the page it opens."""
        self.type(line + "\r")
        self.until(lambda: self.screen.page.command == line and not self.screen.worker.busy, line)
        text = self.page()
        assert shows in text, text
        return text

    def page(self) -> str:
        sheet = self.screen.page.sheet
        return "\n".join(sheet.text(at) for at in range(len(sheet)))


Session = Callable[..., Shell]
SMALL = Size(rows=24, columns=80)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """Runs a screen on a model, with a function that types in a thread of its own."""
    monkeypatch.setenv("GRADBG_HISTORY", str(tmp_path / "history"))

    def play(model: str, keys: Callable[[Typist], None], size: Size = SMALL) -> Shell:
        failures: list[BaseException] = []
        shell = Shell(interactive=True, known_verbs=verbs())
        begun = execute(f"load {MODELS / model}", shell)
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=Output(size)):
            screen = FullScreen(shell, lambda result: False, colors="")

            def typing() -> None:
                try:
                    typist.until(lambda: screen.app.is_running, "the screen")
                    keys(typist)
                except BaseException as error:
                    failures.append(error)
                finally:
                    if screen.app.is_running:
                        screen.app.loop.call_soon_threadsafe(screen.app.exit)  # type: ignore[union-attr]

            typist = Typist(screen, pipe)
            hand = threading.Thread(target=typing)
            hand.start()
            screen.run([("load", begun)])
            hand.join(60)
        shell.close()
        if failures:
            raise failures[0]
        return shell

    yield play


def test_from_nan_to_the_culprit_with_the_keyboard_alone(session: Session) -> None:
    def keys(typist: Typist) -> None:
        screen = typist.screen
        typist.run("watch loss if nan", "stops if nan")
        typist.run("continue", "loss:0: nan")
        typist.type("\x1b[18~")  # F7
        typist.until(lambda: screen.page.command == "why nan" and not screen.worker.busy, "why nan")
        assert "Log" in typist.page()
        typist.type("\t")
        typist.until(lambda: screen.page.link() is not None, "a link")
        assert screen.page.link().command.startswith("list nan_log.py:")  # type: ignore[union-attr]
        typist.type("\r")
        typist.until(lambda: screen.page.command.startswith("list nan_log.py:"), "the line")
        assert "tf.log(probabilities)" in typist.page()
        typist.type("\x1b[1;3D")  # Alt-Left
        typist.until(lambda: screen.page.command == "why nan", "back")
        typist.type("\x1b[1;3C")
        typist.until(lambda: screen.page.command.startswith("list"), "forward")
        typist.type("\x1b")
        typist.until(lambda: screen.app.layout.has_focus(screen.line), "the command line")
        typist.run("info tensors", "probabilities:0")
        typist.type("/softmax\r")
        typist.until(lambda: screen.message.startswith("/softmax: line 1 of"), "search")
        typist.type("\x1bn")  # Alt-n
        typist.until(lambda: "wrapped" in screen.message, "wrapped")
        typist.type("\x1b")
        typist.until(lambda: screen.finder.search is None, "escape")
        typist.type("/softmax\r")
        typist.until(lambda: screen.message.startswith("/softmax: line 1 of"), "search")
        typist.run("print 1 + 1", "2")
        typist.type("nan" + "\x15")  # what is typed after a search is text
        typist.type("quit\r")
        typist.until(lambda: not screen.app.is_running, "quit")
    shell = session("nan_log.py", keys)
    assert [line for line in shell.lines if line.startswith(("why", "list"))] != []


def test_a_slice_a_hessian_and_what_is_beside(session: Session) -> None:
    def keys(typist: Typist) -> None:
        screen = typist.screen
        typist.run("train loss")
        typist.run("next 3", "step 3")
        typist.type("\r")
        typist.until(lambda: "step 6" in typist.page(), "the empty line repeats a motion")
        typist.run("print hidden1/weights[0:3,:]", "float32[3,32]")
        typist.run("hessian loss hidden2/biases", "float32[16,16]")
        typist.type("@[3,5]\r")
        typist.until(lambda: screen.message.startswith("[3,5] ="), "jump")
        typist.type("\x1bOP")  # F1
        typist.until(lambda: screen.beside is not None, "help")
        assert screen.page.command.startswith("hessian")
        typist.type("\x1b")
        typist.until(lambda: screen.beside is None, "help is closed")
        typist.type("gra\t")
        typist.until(lambda: screen.line.text == "grad" or screen.line.complete_state is not None, "completion")
        typist.type("\x15")  # Ctrl-U: dead in tfdbg
        typist.until(lambda: screen.line.text == "", "the line is empty")
        typist.run("set editing vi")
        typist.until(lambda: str(screen.app.editing_mode).endswith("VI"), "vi")
        typist.run("print nothing_like_it", "error: ")
        typist.run("print 6 * 7", "42")
        typist.type("print 1\x1b")
        typist.until(lambda: screen.app.vi_state.input_mode == InputMode.NAVIGATION, "Escape")
        typist.type("\x03")
        typist.until(lambda: screen.line.text == "", "Ctrl-C empties the line")
        typist.run("print 5 * 5", "25")  # the letters are text again, as at a prompt
    session("digits_graph.py", keys)


def test_panes_follow_the_stop_and_the_keys_go_round_them(session: Session) -> None:
    def keys(typist: Typist) -> None:
        screen = typist.screen

        def pane(name: str) -> str:
            sheet = screen.panes.pages[name].sheet
            return "\n".join(sheet.text(at) for at in range(len(sheet)))
        typist.run("watch loss")
        typist.run("run -f nan", "nan holds")
        typist.until(lambda: "▶  25" in pane("source") or "▶ 25" in pane("source"), "the culprit")
        typist.until(lambda: "nan" in pane("gradients") and "loss" in pane("watches"), "the figures of the step")
        typist.until(lambda: "log(0) = -inf" in typist.page(), "it is explained")
        for window in (screen.frame.pane, *screen.frame.panes.values(), screen.frame.line):
            typist.type("\x1b[17~")  # F6
            typist.until(lambda window=window: screen.app.layout.has_focus(window), "the next window")
        typist.run("layout page")
        assert screen.frame.windows() == [screen.frame.line, screen.frame.pane]
        typist.type("grads loss\x17")  # Ctrl-W deletes a word
        typist.until(lambda: screen.line.text == "grads ", "a word less")
    session("nan_log.py", keys, Size(rows=40, columns=120))


def test_ctrl_c_stops_what_runs_and_nothing_else(session: Session) -> None:
    """It ended tfdbg, and with it the training."""
    def keys(typist: Typist) -> None:
        screen = typist.screen
        typist.type("python import time; time.sleep(1000)\r")
        typist.until(lambda: bool(screen.worker.busy), "it sleeps")
        began = time.monotonic()
        typist.type("\x03")
        typist.until(lambda: not screen.worker.busy, "interrupted")
        assert time.monotonic() - began < 5  # 0.2 s on a machine that does nothing else
        typist.until(lambda: "interrupted" in typist.page(), "said")
        typist.run("train loss")
        typist.type("run\r")
        typist.until(lambda: len(screen.shell.dbg.records) > 20, "it trains")
        typist.type("\x03")
        typist.until(lambda: screen.page.command == "run" and not screen.worker.busy, "stopped")
        assert "stopped by Ctrl-C" in typist.page()
        typist.type("\x03")
        typist.run("print 40 + 2", "42")
    session("digits_graph.py", keys)


def test_quit_typed_twice_leaves_once_and_begins_nothing_more(session: Session) -> None:
    """The second raised inside the screen's loop, which asked to press ENTER; a third line ran on for good."""
    def keys(typist: Typist) -> None:
        screen, raised = typist.screen, []

        def arrive() -> None:
            for _ in range(2):
                try:
                    screen._arrived("quit", Leave(), "")
                except Exception as error:
                    raised.append(error)
            done.set()

        done = threading.Event()
        screen._call(arrive)
        done.wait(PATIENCE)
        assert raised == []
    session("digits_graph.py", keys)

    def ahead(typist: Typist) -> None:
        typist.type("quit\rquit\rnext 1000000000\r")
        typist.until(lambda: not typist.screen.app.is_running, "it is left")
    assert session("digits_loop.py", ahead).script.runs == 0  # type: ignore[union-attr]


def test_what_the_script_prints_is_on_the_page(session: Session) -> None:
    def keys(typist: Typist) -> None:
        typist.run("next 3")
        typist.until(lambda: "step 0: loss" in typist.page(), "its print")
        typist.run("python print('a\\x1b[31mb')", "a\\x1b[31mb")
    session("digits_loop.py", keys)


def test_the_mouse_follows_links_and_scrolls(session: Session) -> None:
    def click(typist: Typist, column: int, row: int) -> None:
        for end in "Mm":
            typist.type(f"\x1b[<0;{column};{row}{end}")

    def keys(typist: Typist) -> None:
        screen = typist.screen
        typist.run("info tensors", "images:0")
        click(typist, 2, 7)  # two bars, title, head and its line are above
        typist.until(lambda: screen.page.command == "print labels:0" and not screen.worker.busy, "a click on a name")
        click(typist, 2, 1)
        typist.until(lambda: screen.page.command == "info tensors", "a click on the arrow")
        typist.type("\x1b[<65;10;10M")
        typist.until(lambda: screen.page.top == 3, "the wheel")
        click(typist, 80, 22)
        typist.until(lambda: screen.page.is_at_end, "the scroll bar")
        click(typist, 15, 2)
        typist.until(lambda: screen.page.command == "grads" or screen.beside is not None, "the menu")
    session("digits_graph.py", keys)


# ---- on a terminal --------------------------------------------------------------------------
def spawn(tmp_path: Path, *words: str, size: tuple[int, int] = (24, 80), **variables: str) -> "pexpect.spawn":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1",
                   "GRADBG_HISTORY": str(tmp_path / "history"), **variables}
    return pexpect.spawn(sys.executable, ["-m", "cli", "-nx", *words, str(MODELS / "digits_graph.py")], env=environment,
                         encoding="utf-8", timeout=PATIENCE, dimensions=size)


@pytest.mark.parametrize("size", [(24, 80), (40, 120), (12, 41)])
def test_on_a_terminal_it_opens_by_itself_and_leaves_no_trace(size: tuple[int, int], tmp_path: Path) -> None:
    child = spawn(tmp_path, size=size)
    child.expect_exact("\x1b[?1049h")  # the alternate screen
    child.expect("F1")
    child.expect("digits_graph.py ended")
    child.expect(r"\(gradbg\)")
    child.send("train loss\r")
    child.expect("train op")
    child.send("next 2\r")
    child.expect("step 2")
    child.send("quit\r")
    child.expect_exact("\x1b[?1049l")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_a_dumb_terminal_gets_the_line_prompt(tmp_path: Path) -> None:
    child = spawn(tmp_path, TERM="dumb")
    child.expect(r"\(gradbg\) ")
    assert "\x1b[?1049h" not in child.before
    child.send("print 6 * 7\r")
    child.expect("42")
    child.send("quit\r")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_ctrl_d_leaves(tmp_path: Path) -> None:
    """It ended tfdbg's readline prompt with a traceback."""
    child = spawn(tmp_path)
    child.expect(r"\(gradbg\)")
    child.send("print 6 * 7\r")
    child.expect("42")
    child.sendcontrol("d")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0
    assert "Traceback" not in child.before

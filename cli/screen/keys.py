"""The keys of the full screen. Where the command line has text, keys edit it; where it has none, they go about."""
from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from prompt_toolkit.filters import Condition, has_focus, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyBindingsBase, merge_key_bindings
from prompt_toolkit.key_binding.bindings.auto_suggest import load_auto_suggest_bindings
from prompt_toolkit.key_binding.bindings.completion import generate_completions
from prompt_toolkit.key_binding.bindings.open_in_editor import load_open_in_editor_bindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.search import accept_search

from ..language.parse import parse
from ..model.terminal import suspend
from .asking import END
from .frame import MENU
from .pages import Page

if TYPE_CHECKING:
    from .app import FullScreen

Event = Any  # prompt_toolkit's KeyPressEvent


def bindings(screen: "FullScreen") -> KeyBindingsBase:
    """All keys."""
    return merge_key_bindings([load_auto_suggest_bindings(), load_open_in_editor_bindings(), _everywhere(screen),
                               _on_the_line(screen), _in_a_page(screen), _in_a_pattern(screen)])


def _everywhere(screen: "FullScreen") -> KeyBindings:
    keys, page = KeyBindings(), screen.frame.page_moved
    keys.add("pagedown")(lambda event: page().turn(1))
    keys.add("pageup")(lambda event: page().turn(-1))
    keys.add("c-home")(lambda event: page().home())
    keys.add("c-end")(lambda event: page().end())
    keys.add("s-right")(lambda event: _pan(page(), 8))
    keys.add("s-left")(lambda event: _pan(page(), -8))
    keys.add("escape", "left")(lambda event: screen.turn(-1))
    keys.add("escape", "right")(lambda event: screen.turn(1))
    keys.add("f9")(lambda event: screen.turn(-1))
    keys.add("f10")(lambda event: screen.turn(1))
    keys.add("escape", "n")(lambda event: screen.finder.again(1))
    keys.add("escape", "N")(lambda event: screen.finder.again(-1))
    for key in ("f6", "f12"):
        keys.add(key)(lambda event: screen.frame.go_round())
    keys.add("c-x", "o")(lambda event: screen.frame.go_round())
    for key, _, command in MENU[1:]:
        if command:
            keys.add(key.lower())(lambda event, command=command: screen.follow(command))

    @keys.add("f1")
    def beside(event: Event) -> None:
        if screen.beside is not None:
            _close(screen, event)
        else:
            screen.follow(_explained(screen))

    @keys.add("c-c")
    def stop(event: Event) -> None:
        if not screen.worker.busy and (screen.line.text or screen.finder.way):
            screen.line.reset()
            event.app.vi_state.reset()
            screen.finder.way = ""
            event.app.layout.focus(screen.frame.line)
            return
        screen.interrupt()

    keys.add("c-z")(suspend)
    keys.add("c-l")(lambda event: event.app.renderer.clear())
    return keys


def _on_the_line(screen: "FullScreen") -> KeyBindings:
    keys = KeyBindings()
    here = has_focus(screen.line)
    empty = here & Condition(lambda: not screen.line.text)
    typing = here & ~empty & ~is_searching

    keys.add("/", filter=empty)(lambda event: screen.finder.begin("/"))
    keys.add("?", filter=empty)(lambda event: screen.finder.begin("?"))
    keys.add("home", filter=empty)(lambda event: screen.page.home())
    keys.add("end", filter=empty)(lambda event: screen.page.end())
    keys.add("tab", filter=empty)(lambda event: _choose(screen, event, 1))
    keys.add("s-tab", filter=empty)(lambda event: _choose(screen, event, -1))
    keys.add("tab", filter=typing)(generate_completions)
    keys.add("s-tab", filter=typing)(lambda event: event.current_buffer.complete_previous())
    keys.add("enter", filter=here & ~is_searching, eager=True)(lambda event: _enter(screen))

    @keys.add("enter", filter=is_searching, eager=True)
    def found(event: Event) -> None:
        """Enter runs what Ctrl-R has found."""
        accept_search()
        _enter(screen)

    @keys.add("c-d", filter=empty)
    def leave(event: Event) -> None:
        if screen.asks:
            screen.answer(END)
        elif screen.worker.busy:
            screen.interrupt()
        else:
            screen.leave()

    keys.add("escape", filter=empty & Condition(lambda: screen.beside is not None))(lambda event: _close(screen, event))
    searched = Condition(lambda: screen.finder.search is not None and screen.beside is None)
    keys.add("escape", filter=empty & searched)(lambda event: screen.finder.forget())
    return keys


def _in_a_page(screen: "FullScreen") -> KeyBindings:
    keys, page = KeyBindings(), screen.frame.page_moved
    inside = Condition(lambda: screen.frame.page_of_keys() is not None)
    for name, way in (("tab", 1), ("right", 1), ("s-tab", -1), ("left", -1)):
        keys.add(name, filter=inside)(partial(_next_link, page, way))
    keys.add("down", filter=inside)(lambda event: _down(page(), 1))
    keys.add("up", filter=inside)(lambda event: _down(page(), -1))
    keys.add("home", filter=inside)(lambda event: page().home())
    keys.add("end", filter=inside)(lambda event: page().end())
    keys.add(" ", filter=inside)(lambda event: page().turn(1))
    keys.add("backspace", filter=inside)(lambda event: screen.turn(-1))
    keys.add("c-d", filter=inside)(lambda event: screen.leave())
    keys.add("/", filter=inside)(lambda event: screen.finder.begin("/"))
    keys.add("?", filter=inside)(lambda event: screen.finder.begin("?"))
    searched = inside & Condition(lambda: screen.finder.search is not None and not screen.line.text)
    keys.add("n", filter=searched)(lambda event: screen.finder.again(1))
    keys.add("N", filter=searched)(lambda event: screen.finder.again(-1))

    @keys.add("enter", filter=inside)
    def follow(event: Event) -> None:
        link = page().link()
        if link is not None:
            screen.follow(link.command)

    @keys.add("escape", filter=inside)
    def to_the_line(event: Event) -> None:
        if screen.finder.search is not None:
            screen.finder.forget()
        page().chosen = None
        if event.app.layout.has_focus(screen.frame.side):
            _close(screen, event)
        event.app.layout.focus(screen.frame.line)

    @keys.add(Keys.Any, filter=inside)
    def type_on(event: Event) -> None:
        """Whatever else is typed goes to the command line."""
        if event.data.isprintable():
            event.app.layout.focus(screen.frame.line)
            screen.line.insert_text(event.data)

    return keys


def _in_a_pattern(screen: "FullScreen") -> KeyBindings:
    keys = KeyBindings()
    here = has_focus(screen.finder.pattern)
    keys.add("enter", filter=here, eager=True)(lambda event: screen.finder.pattern.validate_and_handle())
    keys.add("escape", filter=here)(lambda event: screen.finder.end())
    empty = here & Condition(lambda: not screen.finder.pattern.text)
    keys.add("backspace", filter=empty)(lambda event: screen.finder.end())
    return keys


def _enter(screen: "FullScreen") -> None:
    state = screen.line.complete_state
    if state is not None and state.current_completion is not None:
        screen.line.complete_state = None  # Enter in the menu takes what is chosen; the next one runs the line
        return
    screen.line.validate_and_handle()


def _choose(screen: "FullScreen", event: Event, way: int) -> None:
    """From the empty command line to the links of the page."""
    screen.page.chosen = None
    if screen.page.next_link(way):
        event.app.layout.focus(screen.frame.pane)
    else:
        screen.message = "there are no links on this page"


def _next_link(page: Any, way: int, event: Event) -> None:
    if not page().next_link(way):
        page().chosen = None
        (page().home if way > 0 else page().end)()
        page().next_link(way)


def _down(page: Page, way: int) -> None:
    """To the link below or above; where there is none near, scroll."""
    if not page.link_in_line(way):
        page.scroll(way)


def _pan(page: Page, by: int) -> None:
    page.pan = max(page.pan + by, 0)


def _close(screen: "FullScreen", event: Event) -> None:
    screen.beside = None
    event.app.layout.focus(screen.frame.line)


def _explained(screen: "FullScreen") -> str:
    """The command that explains the word at the cursor: a command, or a tensor."""
    word = screen.line.document.get_word_under_cursor(WORD=True)
    parsed = parse(screen.line.text, screen.shell)
    if parsed.words and word and word != parsed.verb.text and word in screen.shell.names():
        return f"info op {word}"
    return f"help {parsed.command.name}" if parsed.command is not None else "help"

"""Where in a script an error was raised: its frames, its expression, what names are there; and changes around it."""
from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import Any

from ....core.graph import Graph, Operation, Tensor
from ....core.site import Site, source_lines, span
from ....runtime.session import Session
from ...facts.roles import as_place
from ..advice import Remark
from ..scripts.calls import called, given, owner_of, words_of
from ..scripts.changes import Change
from ..scripts.parsed import LOOPS, starts_of
from ..scripts.source_tree import Source

Frames = Sequence[tuple[FrameType, int]]  # the script's, innermost first, and at which instruction each is


class RaisedAt(Source):
    """A frame of the script that an error has passed, at an instruction of it. node: the expression that raised there;
    operands: what is on both sides of its operator, or its first two arguments. outer: the frames around it.

    Raises IndexError where it was none that is known.
    """

    def __init__(self, error: BaseException, frames: Frames, graph: Graph) -> None:
        (frame, instruction), *self.outer = frames
        self.graph = graph
        self.error: Any = error
        self.said, self.hint = str(error), getattr(error, "hint", "")
        self.file, self.function = frame.f_code.co_filename, frame.f_code.co_name
        super().__init__("".join(source_lines(self.file)))
        is_inner = frame.f_code.co_name in ("<listcomp>", "<genexpr>", "<dictcomp>", "<lambda>") and len(frames) > 1
        self.outside = frame.f_globals
        self.local = frames[1][0].f_locals if is_inner else frame.f_locals  # of the function, whatever is within it
        at = [*(span(((frame.f_code, instruction),)) or ())]
        self.names = frame.f_globals | self.local | frame.f_locals
        self.node: Any = [node for node in ast.walk(self.tree) if isinstance(node, (ast.expr, ast.stmt)) and at[3:] == [
            node.end_lineno, node.end_col_offset] and (at[1], at[2]) in starts_of(node)][-1]
        node = self.node
        self.operands: Any = [node.left, node.right] if isinstance(node, ast.BinOp) else [
            *given(node, slice(None)), *words_of(node).values()][:2]

    @property
    def numpy(self) -> str:
        """What the file calls NumPy; "" if it does not."""
        return self.imported().get("numpy", "")

    def callers(self) -> Iterator[RaisedAt]:
        """The frames of the same file around this one, with itself, from the outermost."""
        for first in reversed(range(len(self.outer))):
            if self.outer[first][0].f_code.co_filename == self.file:
                yield RaisedAt(self.error, self.outer[first:], self.graph)
        yield self

    def written(self, node: ast.AST) -> str:
        """An expression as it stands in the file."""
        return self.raw(node)

    def value(self, node: ast.AST | None) -> Any:
        """What an expression of names, attributes, keys and lists is there; None for all else. No code of it is run."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self.value(node.value), "__dict__", {}).get(node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            held = self.value(node.value)
            return held.get(node.slice.value) if isinstance(held, dict) else None
        return [self.value(each) for each in node.elts] if isinstance(node, (ast.List, ast.Tuple)) else None

    def tensor(self, node: ast.AST | None) -> Tensor | None:
        """What an expression is, if that is a tensor or a variable."""
        value = _tensor_of(self.value(node))
        return value if isinstance(value, Tensor) else None

    def variable(self, value: Any) -> Any:
        """A variable's tensor, or what else a thing is."""
        return _tensor_of(value)

    def thing(self, node: ast.AST | None) -> Tensor | Operation | None:
        """What an expression is, if that is a tensor, a variable or an operation."""
        value = _tensor_of(self.value(node))
        return value if isinstance(value, (Tensor, Operation)) else None

    def spelling(self, thing: Any) -> str:
        """What the frame calls a thing: a name, a key of a dict or an attribute; "" for what it has no name for."""
        for names in (self.local, self.outside):
            named = [(name, value) for name, value in names.items() if not name.startswith("_")]
            for name, value in named:
                if _tensor_of(value) is thing:
                    return name
            for name, value in named:
                held = value if isinstance(value, dict) else {}
                for key, each in held.items():
                    if _tensor_of(each) is thing:
                        return f"{name}[{key!r}]".replace("'", '"')
                own = {} if inspect.ismodule(value) or isinstance(value, type) else getattr(value, "__dict__", {})
                for key, each in own.items():
                    if _tensor_of(each) is thing and f".{key}" in self.text:
                        return f"{name}.{key}"
        return ""

    def calls(self, *names: str) -> list[ast.Call]:
        """The calls in the file of functions and methods of these names, as they stand."""
        return sorted((call for call in self.all(ast.Call) if called(call) in names), key=self.range)

    def session(self) -> Session | None:
        """The session that ran what raised."""
        nodes = [*given(self.node, None, "session"), owner_of(self.node), *given(self.node, slice(None))]
        values = [*map(self.value, nodes), *self.local.values(), *self.names.values()]
        return next((each for each in values if isinstance(each, Session)), None)

    def run(self, text: str, session: Session | None) -> str:
        """A run of what is spelled so. Raises LookupError where nothing names the session."""
        owner = owner_of(self.node) if called(self.node) == "run" else None
        if owner is not None and isinstance(self.value(owner), Session):
            return f"{self.written(owner)}.run({text})"
        if isinstance(session, Session) and (name := self.spelling(session)):
            return f"{name}.run({text})"
        raise LookupError("the session has no name there")

    def out_of_loops(self, node: ast.AST, *, within: type | tuple[type, ...] = ()) -> Any:
        """The statement with a node that stands in no loop of its function; nor beyond a statement of these kinds."""
        found = self.statement(node)
        for each in self.around(found):
            if isinstance(each, within):
                break
            found = each if isinstance(each, LOOPS) else found
        return found

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What is around a node in its function, from inside."""
        scope = self.scope(self._around.get(node, node))
        while node in self._around and (node := self._around[node]) is not scope:
            yield node

    def beside_of(self, node: ast.AST, other: ast.AST) -> Any:
        """The statement with a node that stands in the same block as another one; None for none."""
        chain = [self.statement(node), *self.around(self.statement(node))]
        return next((each for each in chain if self._around.get(each) is self._around[other]), None)

    def tensorflow(self, name: str, *arguments: ast.AST | str) -> str:
        """A call of one of TensorFlow's functions, of expressions as they are written and of texts."""
        texts = (each if isinstance(each, str) else self.written(each) for each in arguments)
        return f"{self.module()}.{name}({', '.join(texts)})"

    def cast(self, node: ast.AST | str, dtype: str) -> str:
        """An expression, cast."""
        return self.tensorflow("cast", node, f"{self.module()}.{dtype}")

    def tensors(self) -> dict[str, Tensor]:
        """The names of the frame that are tensors or variables."""
        return {name: t for name in self.names if (t := self.tensor(ast.Name(name, ast.Load()))) is not None}

    def assigned(self, *names: str, within: ast.AST | None = None) -> list[ast.Assign]:
        """The statements that give something to one of these names, in the file or within a node of it."""
        return [node for node in ast.walk(within or self.tree) if isinstance(node, ast.Assign) and any(
            getattr(target, "id", "") in names for target in node.targets)]

    def in_place(self, text: str, node: ast.AST, new: str) -> Remark:
        """What is to be said where an expression is to be another one."""
        return self.remark(text, f"{new} in place of it", [(*self.range(node), new)])

    def remark(self, text: str, remedy: str, changes: Iterable[Change], node: ast.AST | None = None) -> Remark:
        """What is to be said, of the line of a node, by default of what raised; with the lines that changes make."""
        place = as_place(Site(self.file, getattr(node or self.node, "lineno", 0), ""))
        return Remark(text, place, remedy, self.rows(changes, self.file))


def _tensor_of(value: Any) -> Any:
    """A variable's tensor, and what else a thing stands for."""
    return value.handle_tensor if inspect.getattr_static(value, "handle_tensor", None) is not None else value

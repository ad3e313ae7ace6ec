"""Random well-typed programs: statements over float tensors whose shapes are tracked."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Statement:
    """`name = expression`; uses: the names it reads. An empty kind is any op, "leaf" an input."""

    name: str
    expression: str
    shape: Shape
    uses: tuple[str, ...]
    kind: str = ""


@dataclass(frozen=True)
class Program:
    """Statements, the dtype of all floats, and the leaves that are fed rather than constant."""

    statements: tuple[Statement, ...]
    dtype: str
    fed: tuple[tuple[str, str], ...]

    def script(self) -> str:
        """The text that evaluates outputs, gradients and second gradients into `result`."""
        lines = [f"{s.name} = {s.expression}" for s in self.statements]
        used = {name for s in self.statements for name in s.uses}
        ends = [s for s in self.statements if s.name not in used and s.kind != "leaf"] or [self.statements[-1]]
        leaves = ", ".join(s.name for s in self.statements if s.kind == "leaf")
        feeds = ", ".join(f"{name}: {value}" for name, value in self.fed if f"{name}," in leaves + ",")
        terms = " + ".join(f"tf.reduce_sum({s.name} * {_weights(s.shape, self.dtype)})" for s in ends)
        lines += [f"xs = [{leaves}]", f"y = {terms}", "g1 = tf.gradients(y, xs)",
                  "live = [tf.convert_to_tensor(g) for g in g1 if g is not None]",
                  "try:",
                  "    g2 = tf.gradients(tf.add_n([tf.reduce_sum(g * g) for g in live]), xs) if live else []",
                  "except (TypeError, LookupError):",  # TensorFlow has no second order for loops and some ops
                  "    g2 = []",
                  "named = dict([('y', y)] + [('dy%d' % i, g) for i, g in enumerate(g1)]"
                  " + [('d2y%d' % i, g) for i, g in enumerate(g2)])",
                  *[f"named[{s.name!r}] = {s.name}" for s in ends],
                  "named = {k: None if v is None else tf.convert_to_tensor(v) for k, v in named.items()}",
                  "with tf.Session() as session:",
                  f"    found = session.run({{k: v for k, v in named.items() if v is not None}}, {{{feeds}}})",
                  "result = {k: found.get(k) for k in named}"]
        return "\n".join(lines) + "\n"


def _weights(shape: Shape, dtype: str) -> str:
    size = int(np.prod(shape))
    return f"np.cos(np.arange({size}) * 0.7 + 0.3).reshape({shape}).astype('{dtype}')"


def without(program: Program, index: int) -> Program | None:
    """The program with one statement dropped, its name standing for an input of that shape; None if it was a leaf."""
    dropped = program.statements[index]
    used = any(dropped.name in s.uses for s in program.statements)
    if not used:
        kept = tuple(s for s in program.statements if s is not dropped)
        return replace(program, statements=kept) if any(s.kind != "leaf" for s in kept) else None
    if dropped.kind == "leaf":
        return None
    stand_in = Statement(dropped.name, _constant(np.random.default_rng(index), dropped.shape, program.dtype),
                         dropped.shape, (), "leaf")
    return replace(program, statements=tuple(stand_in if s is dropped else s for s in program.statements))


def _values(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return np.round(rng.uniform(-2.0, 2.0, shape), 2) + 0.005


def _constant(rng: np.random.Generator, shape: Shape, dtype: str) -> str:
    return f"tf.constant({_values(rng, shape).tolist()}, tf.{dtype}, {list(shape)})"


def random_program(seed: int) -> Program:
    """The program of a seed: two to four inputs and up to nine ops."""
    rng = np.random.default_rng(seed)
    writer = _Writer(rng, "float32" if rng.random() < 0.15 else "float64")
    for _ in range(rng.integers(2, 5)):
        writer.leaf()
    for _ in range(rng.integers(1, 10)):
        writer.op()
    return Program(tuple(writer.statements), writer.dtype, tuple(writer.fed))


UNARY = ["tf.exp({0} * 0.5)", "tf.tanh({0})", "tf.sigmoid({0})", "tf.sin({0})", "tf.cos({0})", "tf.square({0})",
         "tf.sqrt(tf.abs({0}) + 0.3)", "tf.rsqrt(tf.square({0}) + 0.5)", "tf.log(tf.square({0}) + 0.5)", "tf.abs({0})",
         "tf.negative({0})", "tf.reciprocal(tf.square({0}) + 1.0)", "tf.nn.relu({0})", "tf.nn.relu6({0} * 4.0)",
         "tf.nn.elu({0})", "tf.nn.selu({0})", "tf.nn.leaky_relu({0})", "tf.nn.softplus({0})", "tf.nn.softsign({0})",
         "tf.log1p(tf.square({0}))", "tf.expm1({0} * 0.3)", "tf.atan({0})", "tf.asin(tf.tanh({0}) * 0.9)",
         "tf.acos(tf.tanh({0}) * 0.9)", "tf.sinh({0} * 0.5)", "tf.cosh({0} * 0.5)", "tf.asinh({0})",
         "tf.acosh(tf.square({0}) + 1.5)", "tf.atanh(tf.tanh({0}) * 0.9)", "tf.tan(tf.tanh({0}))", "tf.erf({0})",
         "tf.erfc({0})", "tf.lgamma(tf.square({0}) + 0.7)", "tf.digamma(tf.square({0}) + 0.7)", "tf.sign({0}) * {0}",
         "tf.identity({0})", "tf.stop_gradient({0}) * {0}", "tf.clip_by_value({0}, -0.8, 0.9)", "{0} ** 3",
         "tf.pow(tf.abs({0}) + 0.2, 1.7)", "{0} / 1.7", "2.0 - {0}", "1.0 / ({0} * {0} + 1.0)",
         "tf.log_sigmoid({0})",
         "tf.clip_by_norm({0}, 0.7)", "tf.floor({0}) + {0}", "tf.cast(tf.cast({0}, tf.int32), {0}.dtype) + {0}",
         "tf.where({0} > 0.0, {0} * 2.0, tf.exp({0}))",
         "tf.cond(tf.reduce_sum({0}) > 0.0, lambda: {0} * {0}, lambda: tf.sin({0}))",
         "tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) + {0}), [0, {0}])[1]",
         "tf.stop_gradient(tf.cos({0})) + {0}", "tf.mod({0}, 0.7)", "tf.floordiv({0}, 0.7) + {0}",
         "tf.round({0}) + {0}", "tf.zeros_like({0}) + {0}", "tf.ones_like({0}) * {0}"]
BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / (tf.square({1}) + 0.6)", "tf.maximum({0}, {1})",
          "tf.minimum({0}, {1})", "tf.squared_difference({0}, {1})", "tf.atan2({0}, {1})",
          "tf.mod({0}, tf.abs({1}) + 0.4)",
          "tf.pow(tf.abs({0}) + 0.3, {1})", "tf.div({0}, tf.abs({1}) + 0.5)", "tf.div_no_nan({0}, {1})",
          "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid({0} + tf.zeros_like({1})),"
          " logits={1} + tf.zeros_like({0}))",
          "tf.where(tf.less({0} + tf.zeros_like({1}), {1} + tf.zeros_like({0})), {0} + tf.zeros_like({1}),"
          " {1} * tf.ones_like({0}))"]
REDUCTIONS = ["tf.reduce_sum", "tf.reduce_mean", "tf.reduce_max", "tf.reduce_min", "tf.reduce_prod",
              "tf.reduce_logsumexp"]


class _Writer:
    """Adds statements that fit the shapes so far."""

    def __init__(self, rng: np.random.Generator, dtype: str) -> None:
        self.rng, self.dtype = rng, dtype
        self.statements: list[Statement] = []
        self.fed: list[tuple[str, str]] = []

    def _pick(self, least_rank: int = 0) -> Statement | None:
        fitting = [s for s in self.statements if len(s.shape) >= least_rank]
        return fitting[self.rng.integers(len(fitting))] if fitting else None

    def _add(self, expression: str, shape: Shape, kind: str = "") -> None:
        names = {s.name for s in self.statements}
        uses = tuple(sorted({w for w in re.findall(r"\bt\d+\b", expression) if w in names}))
        self.statements.append(Statement(f"t{len(self.statements)}", expression, shape, uses, kind))

    def leaf(self) -> None:
        """A constant, or a placeholder whose sizes may be unknown while the graph is built."""
        shape = tuple(int(n) for n in self.rng.integers(1, 5, self.rng.integers(0, 4)))
        if self.rng.random() < 0.3:
            known = [n if self.rng.random() < 0.6 else None for n in shape]
            values = f"np.array({_values(self.rng, shape).tolist()}, '{self.dtype}').reshape({shape})"
            self.fed.append((f"t{len(self.statements)}", values))
            self._add(f"tf.placeholder(tf.{self.dtype}, {known})", shape, "leaf")
        else:
            self._add(_constant(self.rng, shape, self.dtype), shape, "leaf")

    def op(self) -> None:
        """One random op on random earlier values; nothing when none fits."""
        makers: list[Callable[[Statement], None]] = [
            self._unary, self._unary, self._unary, self._binary, self._binary, self._reduction, self._reduction,
            self._reshape, self._transpose, self._concat, self._stack, self._slice, self._gather, self._pad, self._tile,
            self._matmul, self._softmax, self._cumulative, self._split, self._cross_entropy, self._rearrange,
            self._segment, self._normalize, self._expand, self._map, self._top]
        of_any = self._unary, self._binary, self._reduction, self._reshape, self._stack, self._expand
        maker = makers[self.rng.integers(len(makers))]
        s = self._pick(0 if maker in of_any else 2 if maker in (self._matmul, self._cross_entropy) else 1)
        if s is not None:
            maker(s)

    def _unary(self, s: Statement) -> None:
        self._add(UNARY[self.rng.integers(len(UNARY))].format(s.name), s.shape)

    def _binary(self, a: Statement) -> None:
        fitting = [s for s in self.statements if _broadcasts(a.shape, s.shape)]
        b = fitting[self.rng.integers(len(fitting))]
        self._add(BINARY[self.rng.integers(len(BINARY))].format(a.name, b.name), np.broadcast_shapes(a.shape, b.shape))

    def _reduction(self, s: Statement) -> None:
        function = REDUCTIONS[self.rng.integers(len(REDUCTIONS))]
        axes = sorted(int(a) for a in self.rng.permutation(len(s.shape))[:self.rng.integers(0, len(s.shape) + 1)])
        keep = bool(self.rng.random() < 0.4)
        if not axes and self.rng.random() < 0.5:
            self._add(f"{function}({s.name}, keepdims={keep})", (1,) * len(s.shape) if keep else ())
            return
        shape = tuple(1 if i in axes else n for i, n in enumerate(s.shape) if keep or i not in axes)
        self._add(f"{function}({s.name}, {axes}, keepdims={keep})", shape)

    def _reshape(self, s: Statement) -> None:
        size = int(np.prod(s.shape))
        factors = [n for n in range(1, size + 1) if size % n == 0]
        first = int(self.rng.choice(factors))
        shape = (first, size // first)
        written = list(shape) if self.rng.random() < 0.5 else [-1, shape[1]]
        self._add(f"tf.reshape({s.name}, {written})", shape)

    def _transpose(self, s: Statement) -> None:
        order = [int(i) for i in self.rng.permutation(len(s.shape))]
        self._add(f"tf.transpose({s.name}, {order})", tuple(s.shape[i] for i in order))

    def _concat(self, s: Statement) -> None:
        axis = int(self.rng.integers(len(s.shape)))
        others = [o for o in self.statements if len(o.shape) == len(s.shape)
                  and o.shape[:axis] + o.shape[axis + 1:] == s.shape[:axis] + s.shape[axis + 1:]]
        parts = [s, *(others[self.rng.integers(len(others))] for _ in range(self.rng.integers(1, 3)))]
        total = sum(p.shape[axis] for p in parts)
        self._add(f"tf.concat([{', '.join(p.name for p in parts)}], {axis})",
                  s.shape[:axis] + (total,) + s.shape[axis + 1:])

    def _stack(self, s: Statement) -> None:
        alike = [o for o in self.statements if o.shape == s.shape]
        parts = [s, alike[self.rng.integers(len(alike))]]
        axis = int(self.rng.integers(len(s.shape) + 1))
        self._add(f"tf.stack([{', '.join(p.name for p in parts)}], axis={axis})",
                  s.shape[:axis] + (2,) + s.shape[axis:])

    def _slice(self, s: Statement) -> None:
        items, shape = [], []
        for n in s.shape:
            kind = self.rng.integers(4)
            start = int(self.rng.integers(n))
            if kind == 0:
                items.append(str(start))
            elif kind == 1:
                items.append(f"{start}:")
                shape.append(n - start)
            elif kind == 2:
                items.append("::-1")
                shape.append(n)
            else:
                items.append("::2")
                shape.append((n + 1) // 2)
        if self.rng.random() < 0.2:
            items.append("None")
            shape.append(1)
        self._add(f"{s.name}[{', '.join(items)}]", tuple(shape))

    def _gather(self, s: Statement) -> None:
        axis = int(self.rng.integers(len(s.shape)))
        indices = [int(i) for i in self.rng.integers(0, s.shape[axis], 3)]
        self._add(f"tf.gather({s.name}, {indices}, axis={axis})", s.shape[:axis] + (3,) + s.shape[axis + 1:])

    def _pad(self, s: Statement) -> None:
        mode = ["CONSTANT", "SYMMETRIC"][self.rng.integers(2)]
        widths = [[int(w) for w in self.rng.integers(0, 2, 2)] for _ in s.shape]
        self._add(f"tf.pad({s.name}, {widths}, '{mode}')", tuple(n + a + b for n, (a, b) in zip(s.shape, widths)))

    def _tile(self, s: Statement) -> None:
        if np.prod(s.shape) < 64:
            counts = [int(c) for c in self.rng.integers(1, 3, len(s.shape))]
            self._add(f"tf.tile({s.name}, {counts})", tuple(n * c for n, c in zip(s.shape, counts)))

    def _matmul(self, s: Statement) -> None:
        if self.rng.random() < 0.5:
            shape = (*s.shape[:-2], s.shape[-2], s.shape[-2])
            self._add(f"tf.matmul({s.name}, {s.name}, transpose_b=True)", shape)
        else:
            k = int(self.rng.integers(1, 4))
            shape = (*s.shape[:-2], s.shape[-1], k)
            self._add(f"tf.matmul({s.name}, {_constant(self.rng, shape, self.dtype)})", (*s.shape[:-1], k))

    def _softmax(self, s: Statement) -> None:
        function = ["tf.nn.softmax", "tf.nn.log_softmax"][self.rng.integers(2)]
        self._add(f"{function}({s.name}, axis={int(self.rng.integers(-len(s.shape), len(s.shape)))})", s.shape)

    def _cumulative(self, s: Statement) -> None:
        # TensorFlow's cumprod has NaN gradients at zeros, here they are exact: keep away from zero
        function, value = [("tf.cumsum", s.name), ("tf.cumprod", f"tf.exp({s.name} * 0.2)")][self.rng.integers(2)]
        flags = f"exclusive={bool(self.rng.integers(2))}, reverse={bool(self.rng.integers(2))}"
        self._add(f"{function}({value}, {int(self.rng.integers(len(s.shape)))}, {flags})", s.shape)

    def _split(self, s: Statement) -> None:
        axis = int(self.rng.integers(len(s.shape)))
        n = s.shape[axis]
        first = int(self.rng.integers(0, n + 1))
        take = 0 if first else 1
        self._add(f"tf.split({s.name}, [{first}, {n - first}], {axis})[{take}]",
                  s.shape[:axis] + ((first, n - first)[take],) + s.shape[axis + 1:])

    def _cross_entropy(self, s: Statement) -> None:
        if len(s.shape) != 2:
            return
        if self.rng.random() < 0.5:
            labels = [int(i) for i in self.rng.integers(0, s.shape[1], s.shape[0])]
            self._add(f"tf.nn.sparse_softmax_cross_entropy_with_logits(labels={labels}, logits={s.name})", s.shape[:1])
        else:
            labels = f"tf.stop_gradient(tf.nn.softmax({s.name} * 0.3))"
            self._add(f"tf.nn.softmax_cross_entropy_with_logits_v2(labels={labels}, logits={s.name})", s.shape[:1])

    def _rearrange(self, s: Statement) -> None:
        axis = int(self.rng.integers(len(s.shape)))
        choices = [f"tf.reverse({s.name}, [{axis}])", f"tf.roll({s.name}, 1, {axis})",
                   f"tf.add_n([{s.name}, {s.name}])", f"tf.boolean_mask({s.name}, {[True] * s.shape[0]})"]
        self._add(choices[self.rng.integers(len(choices))], s.shape)

    def _segment(self, s: Statement) -> None:
        n = s.shape[0]
        ids = sorted(int(i) for i in self.rng.integers(0, 2, n))
        ids[0] = 0
        function = ["tf.unsorted_segment_sum", "tf.unsorted_segment_max"][self.rng.integers(2)]
        self._add(f"{function}({s.name}, {ids}, {max(ids) + 1})", (max(ids) + 1, *s.shape[1:]))

    def _normalize(self, s: Statement) -> None:
        axis = int(self.rng.integers(len(s.shape)))
        choices = [f"tf.nn.l2_normalize({s.name} + 0.1, {axis})",
                   f"{s.name} - tf.reduce_mean({s.name}, {axis}, keepdims=True)",
                   f"{s.name} / (tf.norm({s.name}, axis={axis}, keepdims=True) + 0.5)"]
        self._add(choices[self.rng.integers(len(choices))], s.shape)

    def _expand(self, s: Statement) -> None:
        axis = int(self.rng.integers(len(s.shape) + 1))
        if self.rng.random() < 0.5 or 1 not in s.shape:
            self._add(f"tf.expand_dims({s.name}, {axis})", s.shape[:axis] + (1,) + s.shape[axis:])
        else:
            where = s.shape.index(1)
            self._add(f"tf.squeeze({s.name}, [{where}])", s.shape[:where] + s.shape[where + 1:])

    def _map(self, s: Statement) -> None:
        if self.rng.random() < 0.5:
            self._add(f"tf.map_fn(lambda row: tf.sin(row) * row, {s.name})", s.shape)
        else:
            self._add(f"tf.scan(lambda a, row: tf.tanh(a) + row, {s.name})", s.shape)

    def _top(self, s: Statement) -> None:
        k = int(self.rng.integers(1, s.shape[-1] + 1))
        self._add(f"tf.nn.top_k({s.name}, {k})[0]", (*s.shape[:-1], k))


def _broadcasts(a: Shape, b: Shape) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b)))

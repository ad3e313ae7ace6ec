"""What a script does between its steps: batches it takes, losses it keeps, axes and tokens it gives layers, networks
that it copies, and tests in the mode of training."""
from __future__ import annotations

import operator
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.utils.data

from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from ...debug.facts.roles import at_line, place_on
from ..new_calls import calls_on
from ..script_lines import on_lines
from .graph import array_of, name_of
from .record import (
    Call,
    Choice,
    Entry,
    RawFrames,
    Recorder,
    is_leaf,
    place_of_frames,
    storage_of,
    tensors_in,
    user_frames,
)

_ROWS, _SHARE = 2, 0.1  # of the rows that have the token, from which on it is judged by where it stands
_SAME, _KEPT = 10, 5  # steps with one batch of several, or sums of past losses, from which on it is no accident
_AGAIN = 2  # copies during a training, from which on they are a habit
_TESTS = 50  # that are kept until the next step
_UNLIKE = 10.0  # times the mean variance of what one normalization is given, from which on that does not fit
_SEQUENCES = (torch.nn.RNNBase, torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer,
              torch.nn.TransformerDecoderLayer)
MODAL = (torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.dropout._DropoutNd, torch.nn.AlphaDropout)
_KINDS = {  # severity, text, remedy
    "dropout in evaluation": (43, "F.dropout drops in a module in eval mode: its training is True if it is not told: "
                              "what is evaluated is noisy", "F.dropout(x, p, training=self.training), or nn.Dropout"),
    "tested in training mode": (46, "{0} computes under no_grad what no loss takes, as in a test, {1}, but in the mode "
                                "of training: {2} act as in training, which makes what is tested worse or noisy; "
                                "eval() is never called", "call .eval() before the test, and .train() after it"),
    "copied to itself": (61, "load_state_dict() is given the module's own parameters, in the same memory: what was to "
                         "be another network, or a state that was kept, is this one", "copy.deepcopy of either"),
    "copied the wrong way": (81, "in {} copies during the training a network that the optimizer trains is given the "
                             "weights of one that nothing changes, and that is part of the loss: what was learnt is "
                             "lost each time, and the other, as a target, never learns it", "turn the copy: "
                             "target.load_state_dict(trained.state_dict())"),
    "same batch": (64, "each of the last {} steps is given the same batch, of {} that the loader has: the model learns "
                   "it by heart", "take the next batch in each step: for x, y in loader"),
    "axes of batch and time": (72, "{} has batch_first=False, so axis 0 is time, but {}: it goes from one example to "
                               "the next", "batch_first=True"),
    "reshape for transpose": (66, "data of shape {} are viewed as {}: the elements keep their order, so axes are mixed,"
                              " not moved", "x.permute(…), which moves the axes"),
    "shared normalization": (58, "{} is called {} times in one forward pass{}, on inputs of variance {}: its running "
                             "variance, {:.3g}, fits {} of them ill, so that eval() normalizes otherwise than the "
                             "training did", "a layer of its own for each place"),
    "losses keep their graphs": (58, "the losses of {} steps are summed as tensors, each with the graph that it was "
                                 "made by: memory grows with every step", "sum numbers: total += loss.item()"),
    "padding in between": (66, "padding_idx={0}, but token {0} stands between others in {1} of {2} rows that have it: "
                           "it is no padding, and as row {0} of the table gets no gradient, it is never learnt",
                           "give padding_idx the number that the batches are filled up with")}


class Between:
    """Looks on between steps. made: where modules were made, by identity. recorder: of the script's ops.

    optimized: the identities of the parameters that optimizers have.
    """

    def __init__(self, made: Mapping[int, RawFrames], recorder: Recorder,
                 optimized: Callable[[], Collection[int]]) -> None:
        self._made, self._recorder, self._optimized = made, recorder, optimized
        self._tests: list[tuple[Any, Any, Any, RawFrames]] = []  # since the last step: a module that was called under
        # no_grad in the mode of training, what it was given, what it gave, and where
        self._trained, self._is_meant = weakref.WeakSet[Any](), weakref.WeakSet[Any]()
        self._states: dict[int, weakref.ref[Any]] = {}  # by the memory of its first weight: whose state was asked for
        self._copies: Counter[tuple[int, int]] = Counter()  # during the training: what is copied, and its values
        self._in_loss: set[int] = set()  # identities of leaves
        self._loaded: dict[int, tuple[weakref.ref[Any], int, RawFrames]] = {}  # of how many batches it is one; by whom
        self._steps: dict[Any, tuple[int, int]] = {}  # of each loss: what its batch is, and for how many steps
        self._loss: Callable[[], Any] = lambda: None  # that was differentiated last
        self._total: Callable[[], Any] = self._loss  # what one before it was added to
        self._sums: Counter[RawFrames] = Counter()
        self._recurrent: dict[int, tuple[Any, Any, RawFrames]] = {}  # by memory: the shape of what was given
        # by a layer for which time is first, the layer, and who called it
        self._passes, self._within = 0, dict[int, int]()  # of modules; by what a normalization gave, in which one
        self._seen: dict[str, tuple[Place | None, tuple[object, ...]]] = {}  # kinds: where, and what fills their text

    def watch(self, noting: Callable[[Any, str, Callable[..., None]], None]) -> None:
        """Look at loaders and copies from now on."""
        noting(torch.utils.data.dataloader._BaseDataLoaderIter, "__next__", self._next)
        noting(torch.nn.Module, "load_state_dict", self._load)
        noting(torch.nn.Module, "state_dict", self._asked)
        noting(torch.nn.functional, "dropout", self._dropped)

    def _next(self, found: Any, iterator: Any) -> None:
        count, frames = len(iterator._index_sampler) if hasattr(iterator._dataset, "__len__") else 0, user_frames()
        self._loaded = {key: each for key, each in self._loaded.items() if each[0]() is not None} | {
            id(t): (weakref.ref(t), count, frames) for t in tensors_in(found)}

    def _load(self, _: Any, module: Any, given: Any, *__: Any) -> None:
        own = {p.data_ptr() for p in module.parameters()}
        if own and own <= {t.data_ptr() for t in given.values() if isinstance(t, torch.Tensor)}:
            self._seen["copied to itself"] = place_of_frames(user_frames()), ()

        source = next((each() for key, each in self._states.items() if key in {
            t.data_ptr() for t in given.values() if isinstance(t, torch.Tensor)}), None)
        if source is None or source is module or not self._steps:
            return
        trained, others = self._optimized(), [*source.parameters()]
        if all(id(p) in trained for p in module.parameters()) and not any(id(p) in trained for p in others) and any(
                id(p) in self._in_loss for p in others):
            key = id(source), hash(tuple(array_of(p).tobytes() for p in others))
            self._copies[key] += 1
            if self._copies[key] >= _AGAIN:
                self._seen["copied the wrong way"] = place_of_frames(user_frames()), (self._copies[key],)

    def _asked(self, _: Any, module: Any, *__: Any) -> None:
        for first in [*module.parameters()][:1]:
            self._states[first.data_ptr()] = weakref.ref(module)

    def _dropped(self, _: Any, __: Any, *how: Any) -> None:
        if any(not module.training for module in self._recorder.modules[-1:]) and False not in how:
            self._seen["dropout in evaluation"] = place_of_frames(user_frames()), ()

    def left(self, module: Any, given: Any, found: Any) -> None:
        """Note a layer that was called."""
        self._passes += not self._recorder.modules
        if isinstance(module, MODAL[0]) and module.training and self._recorder.modules:
            self._within[id(found)] = self._passes
        if not self._recorder.modules and torch.is_grad_enabled():
            self._trained.add(module)
        elif not self._recorder.modules and module in self._trained:
            again = any(one is module and len(before) == len(given) and all(map(operator.is_, before, given))
                        for one, before, *_ in self._tests)  # as for several answers of chance
            if again or not module.training:
                self._is_meant.add(module)
            self._tests = [*self._tests[-_TESTS:], (module, given, found, user_frames())]
        if isinstance(module, _SEQUENCES) and not getattr(module, "self_attn", module).batch_first:
            for given in [*tensors_in(found)][:1]:
                self._recurrent[storage_of(given)] = given.shape, module, user_frames()

    def note(self, loss: Any, key: Any, entries: Sequence[Entry], used: Sequence[Entry]) -> None:
        """A step. entries: since the last one; used: those that its loss is made of."""
        mine = set(map(id, used))
        self.tested(entries)
        self._in_loss |= {id(t) for e in used for t in e.given if is_leaf(t)}
        for kind in ("same batch", "padding in between", "shared normalization"):
            self._seen.pop(kind, None)
        self._shared(used)
        others = [e for e in entries if id(e) not in mine]
        for entry in (e for e in (*others, *used) if not isinstance(e.op, (Call, Choice))):
            name, given, args = name_of(entry.op)[0], tensors_in(entry.args), entry.args
            sizes = [[n for n in t.shape if n != 1] for t in (*given[:1], *entry.made)]
            if name in ("view", "reshape", "_unsafe_view") and id(entry) not in mine and len(sizes[0]) > 2 and (
                    sizes[0] != sizes[1] and sorted(sizes[0]) == sorted(sizes[1])):  # in a loss the graph tells it
                self._seen["reshape for transpose"] = place_of_frames(entry.frames), tuple(map(str, sizes))
            layer = self._recurrent.get(storage_of(given[0])) if name == "select" else None
            if layer is not None and args[1] in (1, -2) and args[2] in (-1, given[0].shape[1] - 1):
                self._along_batch(layer, f"[:, -1]{at_line(place_of_frames(entry.frames))} takes the last of axis 1")
            if ("loss" in name or "entropy" in name) and given[1:] and not given[1].requires_grad and given[1].ndim:
                self._for_labels(given[1].shape)
            if name == "embedding" and id(entry) in mine:
                self._padding(entry, args[2] if len(args) > 2 else -1, array_of(self._recorder.value_of(args[1])))
            if any(t is self._loss() for t in given) and id(entry) not in mine and getattr(
                    entry.result, "requires_grad", False):
                self._sums[entry.frames[:1]] += any(t is self._total() for t in given)
                self._total = weakref.ref(entry.result)
        self._loss = weakref.ref(loss)
        self._recurrent.clear()
        for frames, count in self._sums.most_common(1):
            if count >= _KEPT:
                self._seen["losses keep their graphs"] = place_of_frames(frames), (count + 1,)
        taken = [(t, *self._loaded[id(t)]) for e in used for t in tensors_in(e.args) if id(t) in self._loaded]
        batch = hash(tuple(array_of(t).tobytes() for t, ref, *_ in taken if ref() is t))
        steps = self._steps[key][1] + 1 if self._steps.get(key, (0,))[0] == batch else 1
        self._steps[key] = batch, steps
        if steps >= _SAME and taken and taken[0][2] > 1:
            self._seen["same batch"] = place_of_frames(taken[0][3]), (steps, taken[0][2])

    def tested(self, entries: Sequence[Entry] = ()) -> None:
        """Judge what was called under no_grad; entries: since then, up to a loss, or none at the script's end."""
        for module, _, found, frames in self._tests:
            ids = {id(t) for t in tensors_in(found)}
            for entry in entries:  # as of a generator for its critic, or of what is learnt from another network
                if any(id(t) in ids for t in entry.given):
                    ids |= {id(t) for t in entry.made}
                    if any(t.requires_grad for t in entry.made):
                        self._is_meant.add(module)
            layers = [each for each in module.modules() if isinstance(each, MODAL) and each.training
                      and getattr(each, "p", 1)]
            if layers and module not in self._is_meant:
                kinds = ", ".join(dict.fromkeys(type(each).__name__ for each in layers))
                place = place_of_frames(frames)
                self._seen["tested in training mode"] = place, (
                    type(module).__name__, at_line(place).strip(), f"layers ({kinds})")
            elif self._seen.get("tested in training mode", (None, ("",)))[1][0] == type(module).__name__:
                del self._seen["tested in training mode"]
        self._tests = []

    def _shared(self, used: Sequence[Entry]) -> None:
        """Note a normalization that one forward pass calls on inputs of very different variance."""
        calls: dict[tuple[int, int], list[Entry]] = {}
        for e in used if self._within else ():
            if e.made and id(e.made[0]) in self._within and len(e.made) > 2 and isinstance(e.args[4], torch.Tensor):
                calls.setdefault((id(e.args[4]), self._within[id(e.made[0])]), []).append(e)
        self._within = {}
        for each in calls.values():
            by_place = [1 / np.square(array_of(e.made[2]).astype(float)) for e in each]
            mean, of = np.mean(by_place, axis=0), each[0].module
            ill = sum(not 1 / _UNLIKE < np.median(v / mean) < _UNLIKE for v in by_place)
            if ill:
                at = dict.fromkeys(at_line(place_of_frames(e.frames)).strip() for e in each)
                self._seen["shared normalization"] = place_of_frames(self._made.get(id(of), each[0].frames)), (
                    type(of).__name__, len(each), f" ({', '.join(at)})", ", ".join(
                        f"{np.mean(v):.3g}" for v in by_place), float(np.mean(array_of(each[0].args[4]))), ill)

    def _for_labels(self, labels: Sequence[int]) -> None:
        """Note a layer for which the axis of time is that of the labels, the examples of a batch."""
        for layer in self._recurrent.values():
            n, moments = layer[0][:2] if len(layer[0]) == 3 else (0, 0)
            if n == labels[0] and moments not in (n, 1, *labels[1:2]):
                self._along_batch(layer, f"that has {n} elements, as many as there are labels, and axis 1 {moments}")

    def _along_batch(self, layer: tuple[Any, Any, RawFrames], what: str) -> None:
        made, name, called = self._made.get(id(layer[1])), type(layer[1]).__name__, place_of_frames(layer[2])
        lines = [line for line in on_lines(called.file) for call in calls_on(called.file, line, name, "Transformer")
                 if call.lineno == line] if called and not made else []  # of a layer that was copied
        place = place_on(called.file, lines[0]) if called and lines else place_of_frames(made or layer[2])
        self._seen["axes of batch and time"] = place, (name, what)

    def _padding(self, entry: Entry, token: Any, ids: np.ndarray) -> None:
        """Note padding that is none: a token that stands between others, and that is never learnt."""
        if not isinstance(token, int) or token < 0 or not ids.ndim:
            return
        other = ids.reshape(-1, ids.shape[-1]) != token
        before, after = (np.logical_or.accumulate(side, axis=1) for side in (other, other[:, ::-1]))
        count, between = (~other).any(1).sum(), (~other & before & after[:, ::-1]).any(1).sum()
        if between >= max(_ROWS, _SHARE * count):
            self._seen["padding in between"] = place_of_frames(self._made.get(id(entry.args[0]), entry.frames)), (
                token, between, count)

    def findings(self) -> list[Finding]:
        """What is wrong about them."""
        return [Finding(weight, kind, "", "", "", text.format(*self._seen[kind][1]), remedy, "doctor",
                        self._seen[kind][0]) for kind, (weight, text, remedy) in _KINDS.items() if kind in self._seen]

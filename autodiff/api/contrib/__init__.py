"""tf.contrib: the parts that TensorFlow 1.x kept apart from the rest, loaded when a script first enters them.

A module is a namespace; most build on layers/, nn/ and train/ beside this folder. Start with framework.py.
"""

from importlib import import_module
from typing import Any

from ..common.unsupported import unsupported_name
from ..common.wrong_arguments import check_names

ROOMS = frozenset({
    "crf", "deprecated", "eager", "framework", "image", "layers", "learn", "legacy_seq2seq", "lookup", "losses",
    "metrics", "nn", "opt", "rnn", "seq2seq", "slim", "stateless", "tensorboard", "tpu", "training"})
# Rooms that are the same as one of `tf`'s own.
ELSEWHERE = {"data": "data.experimental", "distribute": "distribute", "distributions": "distributions",
             "keras": "keras", "signal": "signal", "util": "tensor_messages"}


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        import_module(f".{name}", __name__)
        for room in ROOMS & globals().keys():  # also those that it brought along: they are not asked for here again
            check_names(globals()[room])
        return globals()[name]
    if name in ELSEWHERE:
        try:
            return import_module(f"..{ELSEWHERE[name]}", __name__)
        except ModuleNotFoundError:
            raise unsupported_name("tf.contrib", name, __dir__()) from None
    if name.startswith("__"):  # what Python itself looks for
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise unsupported_name("tf.contrib", name, __dir__())


def __dir__() -> list[str]:
    return sorted({*globals(), *ROOMS, *ELSEWHERE})

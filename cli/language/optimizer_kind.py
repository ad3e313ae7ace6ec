"""The optimizer of a train op: one of tf.train's by name, with options, or an expression of the script."""
from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

from autodiff.api.train import Optimizer
from autodiff.debug.engine.training import OPTIMIZERS, optimizer_kind, usual_options

from ..model import typed_python
from ..model.shell import Shell
from ..model.usage_error import UsageError
from .argument_kinds import Kind


class OptimizerKind(Kind):
    """`adam`, `momentum(momentum=0.5)`, or `tf.train.AdamOptimizer(rate)`.

    A name alone stays text; what is called becomes the Optimizer. A call of a name that is given no learning rate
    takes that of --lr.
    """

    metavar = "NAME|EXPR"
    role = "choice"

    def parse(self, text: str, shell: Shell) -> Any:
        call = re.fullmatch(r"(\w+)\((.*)\)", text, re.DOTALL)
        if re.fullmatch(r"\w+", text) and text not in shell.dbg.handles:
            return text
        if call is not None and call[1].lower() in OPTIMIZERS:
            return self._called(call[1], call[2], shell)
        found = typed_python.run(shell, text)
        if not isinstance(found, Optimizer) and not (isinstance(found, functools.partial)):
            raise UsageError(expected="an optimizer", found=f"{type(found).__name__} in {text!r}",
                             hint=f"names: {', '.join(OPTIMIZERS)}", code="bad_type")
        return found

    def _called(self, name: str, options: str, shell: Shell) -> Any:
        """What a call of a name stands for: with the usual options, and those it is given."""
        kind = optimizer_kind(name)
        given = typed_python.run(shell, f"dict({options})")
        return functools.partial(kind, **{**usual_options(kind), **given})

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [name for name in OPTIMIZERS if name.startswith(text)]

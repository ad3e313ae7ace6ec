"""What operators become when they are transposed, factored, multiplied or solved: tables by the operators' classes."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ....core.errors import ArgumentError, KindError
from ....core.name_scope import scope


class OperatorFunction:
    """A function of operators, which has a rule for each class, or each pair of classes. A class's rule serves those
    made of it, unless they have a nearer one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rules: dict[tuple[type, ...], Callable[..., Any]] = {}

    def rule(self, *kinds: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """The decorator that makes a function the rule for operators of these classes. Raises ArgumentError for a
        second one."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            if not callable(function):
                raise KindError(f"{self.name}_fn must be callable, received: {function}")
            if kinds in self.rules:
                names = ", ".join(kind.__name__ for kind in kinds)
                raise ArgumentError(f"{self.name.capitalize()}({names}) has already been registered")
            self.rules[kinds] = function
            return function

        return register

    def find(self, *kinds: type) -> Callable[..., Any] | None:
        """The rule for operators of these classes: the nearest in the orders of their bases, counted together."""
        known = [(sum(distance for distance, _ in pairs), self.rules[tuple(kind for _, kind in pairs)])
                 for pairs in itertools.product(*(enumerate(kind.__mro__) for kind in kinds))
                 if tuple(kind for _, kind in pairs) in self.rules]
        return min(known, key=lambda found: found[0])[1] if known else None

    def __call__(self, *operators: Any, name: str | None = None) -> Any:
        function = self.find(*map(type, operators))
        if function is None:
            raise ArgumentError(f"No {self.name} registered for {' and '.join(str(type(o)) for o in operators)}")
        with scope(name, self.name.capitalize()):
            return function(*operators)


adjoint, cholesky, inverse, matmul, solve = map(OperatorFunction, ("adjoint", "cholesky", "inverse", "matmul", "solve"))

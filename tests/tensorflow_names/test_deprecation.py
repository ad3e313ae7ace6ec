"""tensorflow.python.util.deprecation: what libraries mark as old warns once, and its text says so."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from autodiff.api import logging
from autodiff.tensorflow_names.python.util import deprecation

DATE, INSTRUCTIONS = "2016-07-04", "Use new."


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The warnings: what each is made of."""
    made: list[tuple[Any, ...]] = []
    monkeypatch.setattr(logging, "warning", lambda *args: made.append(args))
    return made


def test_an_old_function_warns_once_of_the_line_that_calls_it(said: list[tuple[Any, ...]]) -> None:
    @deprecation.deprecated(DATE, INSTRUCTIONS)
    def old(x: int) -> int:
        """Give x.

        Args:
          x: it.
        """
        return x

    assert old.__doc__ == ("Give x. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed after "
                           "2016-07-04.\nInstructions for updating:\nUse new.\n\nArgs:\n  x: it.")
    with deprecation.silence():
        assert old(1) == 1
    assert not said
    assert [old(1), old(2)] == [1, 2] and len(said) == 1
    assert said[0][0].startswith("From %s: %s (from %s) is deprecated") and "test_deprecation.py:" in said[0][1]
    assert said[0][4:] == ("after 2016-07-04", INSTRUCTIONS)
    assert deprecation.deprecated(None, INSTRUCTIONS)(int) is int


def test_old_arguments_and_values_warn(said: list[tuple[Any, ...]]) -> None:
    @deprecation.deprecated_args(None, INSTRUCTIONS, "a", ("b", None))
    def args(x: int, a: Any = 0, b: Any = None, **rest: Any) -> int:
        return x

    @deprecation.deprecated_arg_values(DATE, INSTRUCTIONS, warn_once=False, flag=True)
    def values(x: int, flag: bool = True) -> int:
        return x

    for call in (lambda: args(1, b=None), lambda: args(1, c=2), lambda: values(1, False)):
        assert call() == 1 and not said
    args(1, 2, b=3)
    assert [warning[4] for warning in said] == ["a", "b"]
    values(1)
    values(1, flag=True)
    assert len(said) == 4
    assert "`(flag=True)`. They will be removed after" in str(values.__doc__)


def test_old_names_warn_and_are_noted(said: list[tuple[Any, ...]]) -> None:
    class New:
        def __init__(self, x: int) -> None:
            self.x = x

    old = deprecation.deprecated_alias("Old", "New", New)
    assert isinstance(old(3), New) and old(4).x == 4 and len(said) == 1
    assert deprecation.deprecated_alias("old", "new", abs)(-1) == 1 and len(said) == 2
    assert inspect.signature(old.__init__) == inspect.signature(New.__init__)
    noted = deprecation.deprecated_endpoints("a", "b")(lambda: None)
    assert noted._tf_deprecated_api_names == ("a", "b")
    with pytest.raises(deprecation.DeprecatedNamesAlreadySet):
        deprecation.deprecated_endpoints("c")(noted)


@pytest.mark.parametrize(("mark", "text"), [
    (lambda: deprecation.deprecated("07-04-2016", INSTRUCTIONS), "YYYY-MM-DD"),
    (lambda: deprecation.deprecated_args(DATE, "", "a"), "without conversion instructions"),
    (lambda: deprecation.deprecated_args(DATE, INSTRUCTIONS), "Specify which argument"),
    (lambda: deprecation.deprecated_arg_values(DATE, INSTRUCTIONS), "Specify which argument"),
    (lambda: deprecation.deprecated_args(DATE, INSTRUCTIONS, "z")(lambda a: a), r"not present.*\['z'\]"),
    (lambda: deprecation.deprecated(DATE, INSTRUCTIONS)(property(abs)), "make sure @property appears before"),
])
def test_wrong_marks_are_refused(mark: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        mark()

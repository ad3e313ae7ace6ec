"""The assertions of TensorFlow's test case: arrays and tensors, texts, devices, messages, errors."""
from __future__ import annotations

import contextlib
import re
import unittest
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...core.devices import merged_device
from ...core.errors import OpError
from ...core.tensor import Tensor
from ...files import protobuf_text
from ..common.made import named

DEFAULT_PRODUCER, DEFAULT_CONSUMER = 134, 0  # versions of the graphs that TensorFlow 1.15 writes


def _differing(what: str, where: np.ndarray, x: np.ndarray, y: np.ndarray) -> str:
    """TensorFlow's lines about the elements that differ."""
    kind = what.rpartition(". ")[2]
    places = np.argwhere(where).tolist() if where.ndim else []
    return f"{what} where = {places}\n{kind} lhs = {x[where]}\n{kind} rhs = {y[where]}"


def _of_all(kind: str, extreme: Any, words: str) -> Any:
    def assertion(self: Any, a: Any, comparison_target: Any) -> None:
        getattr(self, f"assert{kind}")(extreme(self._values(a)), comparison_target)

    return named(assertion, f"assertAll{kind}", f"Fails unless all elements are {words}.")


class Assertions(unittest.TestCase):
    """Compares values of tensors: `evaluate` of the test case below gives them."""

    assertItemsEqual = unittest.TestCase.assertCountEqual  # noqa: N815
    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex  # noqa: N815
    assertRegexpMatches = unittest.TestCase.assertRegex  # noqa: N815
    assertEquals = unittest.TestCase.assertEqual  # noqa: N815
    assertAlmostEquals = unittest.TestCase.assertAlmostEqual  # noqa: N815

    def evaluate(self, tensors: Any) -> Any:
        """Values of tensors."""
        raise NotImplementedError

    def _values(self, value: Any) -> np.ndarray:
        if isinstance(value, (list, tuple)) and any(isinstance(part, Tensor) for part in value):
            value = [self._values(part) for part in value]
        if isinstance(value, Tensor) or hasattr(value, "_as_graph_element"):
            value = value.numpy() if hasattr(value, "numpy") else self.evaluate(value)
        return np.asarray(value)

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6,  # noqa: N802
                       msg: str | None = None) -> None:
        """Fails unless all elements differ by at most atol + rtol * |b|; lists, tuples and dicts part by part."""
        self._compare_parts(a, b, rtol, atol, msg or "")

    def _compare_parts(self, a: Any, b: Any, rtol: float, atol: float, where: str) -> None:
        a, b = (part._asdict() if hasattr(part, "_asdict") else part for part in (a, b))
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            if not (isinstance(a, Mapping) and isinstance(b, Mapping)):
                raise ValueError(f"Can't compare dict to non-dict, a{where} vs b{where}.")
            self.assertCountEqual(a, b, f"mismatched keys{where}")
            for key in a:
                self._compare_parts(a[key], b[key], rtol, atol, f"{where}[{key}]")
            return
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            try:
                x, y = self._values(a), self._values(b)
                ragged = x.dtype == object or y.dtype == object
            except ValueError:
                ragged = True
            if ragged:
                self.assertEqual(len(a), len(b), f"Mismatched lengths: a{where} and b{where}")
                for i, (x, y) in enumerate(zip(a, b)):
                    self._compare_parts(x, y, rtol, atol, f"{where}[{i}]")
                return
        x, y = self._values(a), self._values(b)
        if x.dtype.kind in "OSU" or y.dtype.kind in "OSU":
            self.assertAllEqual(x, y, where)
            return
        self.assertEqual(x.shape, y.shape, f"Shape mismatch: expected {x.shape}, got {y.shape}. {where}")
        if np.float16 in (x.dtype, y.dtype):
            x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        far = ~np.isclose(x, y, rtol, atol, equal_nan=True)
        if far.any():
            where = _differing(f"Mismatched value: a{where} is different from b{where}. not close", far, x, y)
            where += f"\nnot close dif = {np.abs(x - y)[far]}\nnot close tol = {(atol + rtol * np.abs(y))[far]}"
        np.testing.assert_allclose(x, y, rtol, atol, err_msg=where)

    def assertAllCloseAccordingToType(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6,  # noqa: N802
                                      float_rtol: float = 1e-6, float_atol: float = 1e-6, half_rtol: float = 1e-3,
                                      half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2, bfloat16_atol: float = 1e-2,
                                      msg: str | None = None) -> None:
        """assertAllClose with the tolerance of the less exact dtype."""
        x, y = self._values(a), self._values(b)
        for kinds, least_rtol, least_atol in (
                ((np.float32, np.complex64), float_rtol, float_atol), ((np.float16,), half_rtol, half_atol)):
            if x.dtype in kinds or y.dtype in kinds:
                rtol, atol = max(rtol, least_rtol), max(atol, least_atol)
        if "bfloat16" in (x.dtype.name, y.dtype.name):
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(x, y, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, **options: Any) -> None:  # noqa: N802
        """Fails if all elements are close."""
        try:
            self.assertAllClose(a, b, **options)
        except AssertionError:
            return
        self.fail("the two values are close at all elements")

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless shapes and all elements are equal; NaN equals NaN, a text its bytes."""
        x, y = self._values(a), self._values(b)
        self.assertEqual(x.shape, y.shape, msg or "shapes differ")
        if {x.dtype.kind, y.dtype.kind} & set("OSU"):
            x, y = (np.array([v.encode() if isinstance(v, str) else v for v in part.ravel().tolist()], object)
                    for part in (x, y))
        differ = np.logical_not(x == y)  # shapes of unknown rank have no inequality
        words = _differing("not equal", differ, x, y) if np.any(differ) else ""
        np.testing.assert_array_equal(x, y, err_msg="\n".join(filter(None, (msg, words))))

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails if all elements are equal."""
        self.assertFalse(np.array_equal(self._values(a), self._values(b)), msg)

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless numbers in a row differ by at most err."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2):
            self.assertNear(float(one), float(other), err, msg)

    def _NDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float) -> bool:  # noqa: N802
        return bool(np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2)) < err)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless the norm of the difference is below err."""
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless two numbers differ by at most err."""
        self.assertTrue(abs(f1 - f2) <= err or f1 == f2, f"{f1!r} != {f2!r} +/- {err!r} {msg or ''}")

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless an array's shape is a tensor's static shape."""
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    assertAllGreater = _of_all("Greater", np.min, "greater")  # noqa: N815
    assertAllLess = _of_all("Less", np.max, "less")  # noqa: N815
    assertAllGreaterEqual = _of_all("GreaterEqual", np.min, "at least as great")  # noqa: N815
    assertAllLessEqual = _of_all("LessEqual", np.max, "at most as great")  # noqa: N815

    def assertAllInRange(self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False,  # noqa: N802
                         open_upper_bound: bool = False) -> None:
        """Fails unless all elements are within the bounds."""
        values = self._values(target)
        if not np.issubdtype(values.dtype, np.number):
            raise AssertionError(f"The value of {target!r} does not have an ordered numeric type, "
                                 f"instead it has type: {values.dtype}")
        above = values > lower_bound if open_lower_bound else values >= lower_bound
        below = values < upper_bound if open_upper_bound else values <= upper_bound
        self.assertTrue(bool(np.all(above & below)), f"{values} leaves the range")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:  # noqa: N802
        """Fails unless each element is one of the set."""
        found = sorted({value for value in self._values(target).ravel().tolist() if value not in expected_set})
        self.assertFalse(found, f"{len(found)} unique element(s) are not in the set {expected_set}: {found}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:  # noqa: N802
        """Fails unless all of an array or tensor is of this type; parts of a list one by one."""
        for part in target if isinstance(target, list) else [target]:
            self.assertEqual(self._values(part).dtype, expected_dtype)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless a text begins so."""
        self.assertTrue(actual.startswith(expected_start),
                        f"{actual!r} does not start with {expected_start!r} {msg or ''}")

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless there are so many."""
        self.assertEqual(len(container), expected_len, msg or f"{container!r}")

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless there are none."""
        self.assertLen(container, 0, msg)

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails if there are none."""
        self.assertTrue(len(container), msg or "the container is empty")

    def assertRaisesWithLiteralMatch(self, expected_exception: Any, expected_exception_message: str,  # noqa: N802
                                     callable: Any = None, *args: Any, **kwargs: Any) -> Any:
        """assertRaisesRegex of a text taken literally and whole."""
        pattern = f"^{re.escape(expected_exception_message)}$"
        if callable is None:
            return self.assertRaisesRegex(expected_exception, pattern)
        return self.assertRaisesRegex(expected_exception, pattern, callable, *args, **kwargs)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless two texts or DeviceSpecs name one device."""
        first, second = (merged_device("", getattr(d, "to_string", lambda d=d: d or "")()) for d in (device1, device2))
        self.assertEqual(first, second, f"Devices {first} and {second} are not equal. {msg or ''}")

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless two messages are equal; the expected one may be text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = protobuf_text.parse_message(expected, type(message)())
        self.assertMultiLineEqual(str(expected), str(message), msg)

    def assertProtoEqualsVersion(self, expected: str, actual: Any, producer: int = DEFAULT_PRODUCER,  # noqa: N802
                                 min_consumer: int = DEFAULT_CONSUMER, msg: str | None = None) -> None:
        """assertProtoEquals of a graph, with the versions that TensorFlow 1.15 writes."""
        consumer = f" min_consumer: {min_consumer}" if min_consumer else ""
        self.assertProtoEquals(f"versions {{ producer: {producer}{consumer} }};\n{expected}", actual, msg)

    @contextlib.contextmanager
    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Iterator[None]:  # noqa: N802
        """Fails unless an OpError is raised whose text has the pattern."""
        with self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate):
            yield

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[None]:  # noqa: N802
        """Fails unless an error of this class is raised whose text matches, or for which the predicate is true."""
        try:
            yield
        except Exception as error:
            wanted = expected_err_re_or_predicate
            matches = wanted(error) if callable(wanted) else re.search(wanted, _told(error))
            if not isinstance(error, exception_type) or not matches:
                raise AssertionError(f"{wanted!r} of {exception_type} does not fit {type(error)}: {error}") from error
        else:
            self.fail(f"{exception_type.__name__} not raised")


def _told(error: Exception) -> str:
    """An error's text, with the operations that it came from."""
    op, text = getattr(error, "op", None) if isinstance(error, OpError) else None, str(error)
    while op is not None:
        op, text = op._original_op, f"{text}\nCaused by: {op.name}"
    return text

"""tf.test: test cases over sessions and arrays, and numeric gradients."""
from __future__ import annotations

import contextlib
import functools
import re
import tempfile
import unittest
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import numpy as np

from ..core.defaults import get_default_session
from ..core.errors import OpError
from ..core.graph import Graph, reset_default_graph
from ..core.tensor import Tensor
from ..gradients.numeric_check import compute_gradient, compute_gradient_error
from ..runtime.session import Session
from .common.unsupported import refusing

__all__ = ["TestCase", "compute_gradient", "compute_gradient_error", "get_temp_dir", "gpu_device_name",
           "is_built_with_cuda", "is_gpu_available", "main", "mock"]

main = unittest.main


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Always False: all is computed on the CPU."""
    return False


def is_built_with_cuda() -> bool:
    """Always False."""
    return False


def gpu_device_name() -> str:
    """Always empty: there is no GPU."""
    return ""


@functools.cache
def get_temp_dir() -> str:
    """A directory for files of this process' tests."""
    return tempfile.mkdtemp(prefix="gradbg-test-")


class TestCase(unittest.TestCase):
    """A test case that begins with an empty default graph, and compares arrays and tensors' values."""

    __test__ = False  # for pytest: the subclasses of a script are tests, this is not

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__test__ = vars(cls).get("__test__", True)

    def setUp(self) -> None:
        super().setUp()
        np.random.seed(87654321)
        reset_default_graph()

    def get_temp_dir(self) -> str:
        return get_temp_dir()

    @contextlib.contextmanager
    def session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                force_gpu: bool = False) -> Iterator[Session]:
        """A session, default inside the block, in the default graph or the one given."""
        with Session(graph=graph, config=config) as session:
            yield session

    cached_session = session

    def test_session(self, *args: Any, **options: Any) -> Any:
        """`session` under its old name, which unittest takes for a test."""
        if self._testMethodName == "test_session":
            self.skipTest("not a test")
        return self.session(*args, **options)

    def evaluate(self, tensors: Any) -> Any:
        """Values of tensors in the default session."""
        return get_default_session().run(tensors)

    def _values(self, value: Any) -> Any:
        if isinstance(value, Tensor) or hasattr(value, "_as_graph_element"):
            return np.asarray(self.evaluate(value))
        return np.asarray(value)

    # ---- comparing ----------------------------------------------------------------------
    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless all elements differ by at most atol + rtol * |b|; lists, tuples and dicts part by part."""
        if isinstance(a, Mapping):
            self.assertEqual(sorted(a), sorted(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"{msg or ''} at {key!r}")
            return
        if isinstance(a, (list, tuple)) and any(np.shape(v) != np.shape(a[0]) or isinstance(v, Mapping) for v in a):
            self.assertEqual(len(a), len(b), msg)
            for i, (x, y) in enumerate(zip(a, b)):
                self.assertAllClose(x, y, rtol, atol, f"{msg or ''} at {i}")
            return
        x, y = self._values(a), self._values(b)
        self.assertEqual(x.shape, y.shape, msg or "shapes differ")
        np.testing.assert_allclose(x, y, rtol, atol, err_msg=msg or "")

    def assertAllCloseAccordingToType(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6,  # noqa: N802
                                      float_rtol: float = 1e-6, float_atol: float = 1e-6, half_rtol: float = 1e-3,
                                      half_atol: float = 1e-3, msg: str | None = None) -> None:
        """assertAllClose with the tolerance of the less exact dtype."""
        x, y = self._values(a), self._values(b)
        for dtype, least_rtol, least_atol in ((np.float32, float_rtol, float_atol), (np.float16, half_rtol, half_atol)):
            if dtype in (x.dtype, y.dtype):
                rtol, atol = max(rtol, least_rtol), max(atol, least_atol)
        self.assertAllClose(x, y, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, **options: Any) -> None:  # noqa: N802
        """Fails if all elements are close."""
        try:
            self.assertAllClose(a, b, **options)
        except AssertionError:
            return
        self.fail("the two values are close at all elements")

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless shapes and all elements are equal; NaN equals NaN."""
        x, y = self._values(a), self._values(b)
        self.assertEqual(x.shape, y.shape, msg or "shapes differ")
        np.testing.assert_array_equal(x, y, err_msg=msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails if all elements are equal."""
        self.assertFalse(np.array_equal(self._values(a), self._values(b)), msg)

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless elements differ by at most err."""
        self.assertAllClose(farray1, farray2, rtol=0, atol=err, msg=msg)

    assertNDArrayNear = assertArrayNear  # noqa: N815

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless two numbers differ by at most err."""
        self.assertTrue(abs(f1 - f2) <= err or f1 == f2, f"{f1!r} != {f2!r} +/- {err!r} {msg or ''}")

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fails unless an array's shape is a tensor's static shape."""
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Fails unless all elements are greater."""
        self.assertGreater(np.min(self._values(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Fails unless all elements are less."""
        self.assertLess(np.max(self._values(a)), comparison_target)

    def assertAllInRange(self, target: Any, lower_bound: Any, upper_bound: Any) -> None:  # noqa: N802
        """Fails unless all elements are within the bounds."""
        values = self._values(target)
        self.assertTrue(bool(np.all((values >= lower_bound) & (values <= upper_bound))), f"{values} leaves the range")

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
        except exception_type as error:
            wanted = expected_err_re_or_predicate
            matches = wanted(error) if callable(wanted) else re.search(wanted, str(error))
            self.assertTrue(matches, f"{wanted!r} does not fit {error}")
        else:
            self.fail(f"{exception_type} is not raised")


__getattr__ = refusing("tf.test", __name__)

"""In which modes a test runs: `tensorflow.python.framework.test_util`'s decorators.

A test runs in graph mode, in eager mode, or in both in turn; what asks for a GPU, for XLA or for TensorFlow 2's
behavior is skipped, or is the test itself.
"""
from __future__ import annotations

import contextlib
import functools
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core.graph import get_default_graph
from ...runtime.eager import eager_mode, executing_eagerly
from ..arrays.shaping import transpose
from . import gpu_device_name, is_gpu_available
from .case import TestCase

__all__ = ["TensorFlowTestCase", "gpu_device_name", "is_gpu_available"]
TensorFlowTestCase = TestCase

Decorator = Callable[[Any], Any]


def for_all_test_methods(decorator: Callable[..., Decorator], *args: Any, **options: Any) -> Decorator:
    """Class decorator: this decorator on each test method."""
    return _on_tests(decorator(*args, **options))


def _on_tests(decorate: Decorator) -> Decorator:
    def on_class(cls: type) -> type:
        for name in dir(cls):
            method = getattr(cls, name)
            if name.startswith("test") and name != "test_session" and callable(method):
                setattr(cls, name, decorate(method))
        return cls

    return on_class


def _either(decorate: Decorator) -> Decorator:
    """A decorator for a test method, also for a class of them."""

    @functools.wraps(decorate)
    def on(target: Any) -> Any:
        return _on_tests(decorate)(target) if isinstance(target, type) else decorate(target)

    return on


def _as_it_is(target: Any = None, **options: Any) -> Any:
    return target if target is not None else _as_it_is


def _with_reason(description: str) -> Decorator:
    return _as_it_is


# What changes nothing here: graphs are built as TensorFlow 1 does, and there is no other backend.
run_deprecated_v1 = deprecated_graph_mode_only = build_as_function_and_v1_graph = _as_it_is
enable_control_flow_v2 = enable_output_all_intermediates = _as_it_is
enable_c_shapes = with_c_shapes = py_func_if_in_function = also_run_as_tf_function = _as_it_is
assert_no_new_pyobjects_executing_eagerly = assert_no_new_tensors = assert_no_garbage_created = _as_it_is
use_deterministic_cudnn = _as_it_is
disable_xla = no_xla_auto_jit = xla_allow_fallback = _with_reason
enable_tf_xla_constant_folding = _with_reason


def disable_control_flow_v2(description: str) -> Decorator:
    """This test is not run again under its second name."""

    def decorate(method: Any) -> Any:
        method._disable_control_flow_v2 = True
        return method

    return decorate


def with_control_flow_v2(cls: type) -> type:
    """Class decorator: each test under a second name, too. Branches and loops are functions in both."""
    for name, method in list(vars(cls).items()):
        if name.startswith("test") and callable(method) and not getattr(method, "_disable_control_flow_v2", False):
            setattr(cls, name + "WithControlFlowV2", method)
    return cls


def _refusing(reason: str) -> Decorator:
    def decorate(method: Any) -> Any:
        @functools.wraps(method)
        def skipped(self: Any, *args: Any, **options: Any) -> None:
            self.skipTest(reason)

        return skipped

    return _either(decorate)


def run_v1_only(reason: str, func: Any = None) -> Any:
    """This test needs TensorFlow 1's behavior, which is all there is."""
    return _as_it_is(func)


def run_v2_only(func: Any = None) -> Any:
    """This test needs TensorFlow 2's behavior: it is skipped."""
    refuse = _refusing("Test is only compatible with v2")
    return refuse if func is None else refuse(func)


def run_gpu_only(func: Any = None) -> Any:
    """This test needs a GPU: it is skipped."""
    refuse = _refusing("Test requires GPU")
    return refuse if func is None else refuse(func)


run_cuda_only = run_gpu_only


def skip_if(condition: Any) -> Decorator:
    """Leave the test out where the condition holds: a value, or a function that is asked when the test runs."""

    def decorate(method: Any) -> Any:
        @functools.wraps(method)
        def test(self: Any, *args: Any, **options: Any) -> None:
            if not (condition() if callable(condition) else condition):
                method(self, *args, **options)

        return test

    return decorate


def run_in_graph_and_eager_modes(func: Any = None, config: Any = None, use_gpu: bool = True, reset_test: bool = True,
                                 assert_no_eager_garbage: bool = False) -> Any:
    """Run a test in a session of the default graph, then set up again and run it eagerly."""

    def decorate(method: Any) -> Any:
        if isinstance(method, type):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods. "
                             "Did you mean to use `run_all_in_graph_and_eager_modes`?")

        @functools.wraps(method)
        def test(self: Any, *args: Any, **options: Any) -> None:
            with self.test_session(use_gpu=use_gpu, config=config), contextlib.suppress(unittest.SkipTest):
                method(self, *args, **options)
            if reset_test:
                self.tearDown()
                self._tempdir = None
            with eager_mode():
                if reset_test:
                    self.setUp()
                method(self, *args, **options)

        return test

    return decorate if func is None else decorate(func)


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Class decorator: each test in both modes."""
    return _on_tests(run_in_graph_and_eager_modes)(cls)


@contextlib.contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Ops made inside are placed on the CPU."""
    if executing_eagerly():
        yield
        return
    with get_default_graph().device("/device:CPU:0"):
        yield


def use_gpu() -> Any:
    """Place ops where a GPU would be, if there were one."""
    return device(use_gpu=True)


force_gpu = use_gpu


def force_cpu() -> Any:
    """Place ops on the CPU."""
    return device(use_gpu=False)


def _no() -> bool:
    """There is no other backend than NumPy."""
    return False


IsGoogleCudaEnabled = IsBuiltWithROCm = IsMklEnabled = is_xla_enabled = GpuSupportsHalfMatMulAndConv = _no


def _permuted(order: dict[int, list[int]], x: Any) -> Any:
    """A tensor with its axes in this order, or a list of sizes."""
    if isinstance(x, (list, tuple, np.ndarray)):
        return [x[i] for i in order[len(x)]]
    return transpose(x, order[x.shape.ndims])


def NHWCToNCHW(input_tensor: Any) -> Any:  # noqa: N802
    """The channels moved to the second axis, of a tensor or a list of sizes."""
    return _permuted({4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}, input_tensor)


def NCHWToNHWC(input_tensor: Any) -> Any:  # noqa: N802
    """The channels moved to the last axis, of a tensor or a list of sizes."""
    return _permuted({4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}, input_tensor)


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Any) -> dict[str, Any]:
    """The named nodes of a graph. Raises ValueError unless all are there, of these types."""
    found = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, kind in expected_ops.items():
        if name not in found:
            raise ValueError(f"Not all expected ops are present: {name}")
        if found[name].op != kind:
            raise ValueError(f"Expected op for node {name} is different. {kind} vs {found[name].op}")
    return found


def assert_equal_graph_def(actual: Any, expected: Any, checkpoint_v2: bool = False,
                           hash_table_shared_name: bool = False) -> None:
    """Raises AssertionError unless two GraphDefs hold the same nodes, in any order."""
    for one in (actual, expected):
        if not hasattr(one, "node"):
            raise TypeError(f"Expected tf.GraphDef, got {type(one).__name__}")
    mine, other = ({node.name: str(node) for node in one.node} for one in (actual, expected))
    for name in reversed({**other, **mine}):
        if mine.get(name) != other.get(name):
            what = "Did not find expected" if name not in mine else "Found unexpected" if name not in other else "Other"
            raise AssertionError(f"{what} node '{{{{node {name}}}}}': {mine.get(name)}, expected {other.get(name)}")


def set_producer_version(graph: Any, producer_version: int) -> None:
    """Have the graph be of another version than TensorFlow 1.15 writes."""
    graph.extras["versions"] = producer_version, 0


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Fails unless two MetaGraphDefs hold the same graph, and the same collections by name."""
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key, collection in a.collection_def.items():
        tester.assertEqual(collection.WhichOneof("kind"), b.collection_def[key].WhichOneof("kind"))
    tester.assertProtoEquals(a.graph_def, b.graph_def)


def get_node_def_from_graph(node_name: str, graph_def: Any) -> Any:
    """The node of that name, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)

"""What is known of an error beyond what it says: the rules for each sentence, tried one after the other."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

from ....core.errors import ArgumentError
from ....core.graph import Graph
from ..advice import Remark
from .arguments import (
    axes_of_images,
    axis_first,
    given_too,
    in_numpy,
    labels,
    not_allowed,
    of_one_axis,
    rows_of_another_size,
)
from .building import made_in_a_loop, made_twice, no_such_name, no_variables, not_there_yet, of_another_graph
from .feeds import unfed
from .gradients import without
from .keras_shapes import (
    an_axis_of_one,
    as_images,
    flattened_first,
    key_of_another_name,
    misspelt,
    one_example,
    one_row_for_a_sequence,
    ones_for_classes,
    size_of_inputs,
)
from .lacking import an_optimizer, no_return, no_summaries, of_a_checkpoint
from .raised_at import Frames, RaisedAt
from .runs import at_its_end, closed, no_session, not_begun, tensor_fed, uninitialized
from .sizes import as_columns, known_size, rows_built_in, shared_cell, size_of_a_run, too_few, whole_batches
from .targets import last_layer_of_another_size, numbers_of_classes
from .values import inner_sizes, of_another_shape, of_operation, other_type, renamed

Rule = Callable[[RaisedAt], Remark | None]


def remark_on(error: BaseException, frames: Frames, graph: Graph) -> Remark | None:
    """What is known of an error beyond what it says; None for nothing, or where its line is not surely found.

    frames: the script's that it has passed. graph: what was built.
    """
    for pattern, rule in _RULES:
        with contextlib.suppress(ArgumentError, AttributeError, OSError, ValueError, SyntaxError, LookupError,
                                 StopIteration):
            if re.search(pattern, str(error)) and (found := rule(RaisedAt(error, frames, graph))) is not None:
                return found
    return None


_RULES: tuple[tuple[str, Rule], ...] = (
    ("^Fetch argument|unhashable type: 'numpy|Cannot interpret feed_dict key", renamed),
    ("NoneType|^None values not supported", no_return),
    ("^You are passing a target array", numbers_of_classes),
    ("^A target array with shape", flattened_first),
    ("^A target array with shape", last_layer_of_another_size),
    ("^Error when checking input", one_example),
    ("^Error when checking input", an_axis_of_one),
    ("^Error when checking input", size_of_inputs),
    ("^No data provided for", key_of_another_name),
    ("^logits and labels must have the same first", ones_for_classes),
    ("^logits and labels must have the same first", flattened_first),
    ("^Unknown loss function", misspelt),
    ("expected ndim=4, found ndim=3|^Negative dimension size", as_images),
    ("expected ndim=3", one_row_for_a_sequence),
    ("^Fetch argument None", no_summaries),
    ("not found in checkpoint|requires shapes of both tensors to match", of_a_checkpoint),
    ("NoneType", of_operation),
    ("NoneType|^None values not supported|^No gradients provided", without),
    ("does not match type|different dtypes|requested dtype", other_type),
    (r"^(Dimensions|Shape) must be.*op: '(Batch)?MatMul", inner_sizes),
    ("^Cannot feed value", whole_batches),
    ("^Cannot feed value", of_another_shape),
    ("true_classes", as_columns),
    ("rnn", shared_cell),
    ("No default session|no default session", no_session),
    ("^Fetch argument <.*ptimizer", an_optimizer),
    ("found None in|^Failed to convert object", size_of_a_run),
    ("^a tensor has no value while the graph|interpreted as an integer", known_size),
    ("is not in \\[0, |outside the valid range", too_few),
    ("^Incompatible shapes|must be broadcastable|^ConcatOp|^Dimensions of inputs should match", rows_built_in),
    ("^Rank mismatch: Rank of labels|Can not squeeze dim|must have the same shape|have different shapes: "
     "|must be broadcastable|SoftmaxCrossEntropy", labels),
    ("not in list of allowed values", not_allowed),
    ("^Cannot convert a symbolic Tensor", in_numpy),
    ("^Shape must be rank 2 but is rank 1 for '.*MatMul", of_one_axis),
    ("expected ndim=", axes_of_images),
    ("^If there is no initial_state|^Only call `.*with named arguments", given_too),
    ("^expected a scalar axis", axis_first),
    ("^Input to reshape is a tensor|^Incompatible shapes|must be broadcastable", rows_of_another_size),
    ("uninitialized value |^Error while reading resource variable", uninitialized),
    (r"^GetNext\(\) failed because the iterator has not", not_begun),
    ("^End of sequence", at_its_end),
    ("closed Session", closed),
    ("feed cannot be a tf.Tensor", tensor_fed),
    ("^You must feed a value for placeholder", unfed),
    ("^Variable .* already exists", made_twice),
    ("^Variable .* does not exist", not_there_yet),
    ("must be from the same graph|Session graph is empty|not an element of this graph", of_another_graph),
    ("^Fetch argument|^The name '.*' refers to|names must be of the form", no_such_name),
    ("is from inside a control-flow construct", made_in_a_loop),
    ("^No variables to optimize", no_variables))

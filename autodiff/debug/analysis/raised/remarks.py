"""What is known of an error beyond what it says: the rules for each sentence, tried one after the other."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

from ....core.errors import ArgumentError
from ....core.graph import Graph
from ..advice import Remark
from . import arguments, building, feeds, gradients, keras_shapes, lacking, runs, sizes, targets, values
from .raised_at import Frames, RaisedAt

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
    ("^Fetch argument|unhashable type: 'numpy|Cannot interpret feed_dict key", values.renamed),
    ("NoneType|^None values not supported", lacking.no_return),
    ("^only 0-dimensional arrays|format string passed to numpy.ndarray", values.one_number),
    ("^You are passing a target array", targets.numbers_of_classes),
    ("^A target array with shape", keras_shapes.flattened_first),
    ("^A target array with shape", keras_shapes.numbers_for_classes),
    ("^A target array with shape", targets.last_layer_of_another_size),
    ("^Error when checking input", keras_shapes.one_example),
    ("^Error when checking input", keras_shapes.an_axis_of_one),
    ("^Error when checking input", keras_shapes.size_of_inputs),
    ("^No data provided for", keras_shapes.key_of_another_name),
    ("^logits and labels must have the same first", keras_shapes.ones_for_classes),
    ("^logits and labels must have the same first", keras_shapes.flattened_first),
    ("^Unknown loss function", keras_shapes.misspelt),
    ("expected ndim=4, found ndim=3|^Negative dimension size", keras_shapes.as_images),
    ("expected ndim=3", keras_shapes.one_row_for_a_sequence),
    ("^Fetch argument None", lacking.no_summaries),
    ("not found in checkpoint|requires shapes of both tensors to match", lacking.of_a_checkpoint),
    ("NoneType", values.of_operation),
    ("NoneType|^None values not supported|^No gradients provided|has `None` for gradient", gradients.without),
    ("does not match type|different dtypes|requested dtype", values.other_type),
    (r"^(Dimensions|Shape) must be", sizes.axis_of_inputs),
    (r"^(Dimensions|Shape) must be.*op: '(Batch)?MatMul", values.inner_sizes),
    ("^Cannot feed value", sizes.whole_batches),
    ("^Cannot feed value", sizes.one_for_many),
    ("^Cannot feed value", values.of_another_shape),
    ("true_classes", sizes.as_columns),
    ("rnn", sizes.shared_cell),
    ("No default session|no default session", runs.no_session),
    ("^Fetch argument <.*ptimizer", lacking.an_optimizer),
    ("found None in|^Failed to convert object", sizes.size_of_a_run),
    ("^a tensor has no value while the graph|interpreted as an integer", sizes.known_size),
    ("^Received a label value", targets.not_learnt),
    ("is not in \\[0, |outside the valid range", sizes.too_few),
    ("^Incompatible shapes|must be broadcastable|^ConcatOp|^Dimensions of inputs should match", sizes.rows_built_in),
    ("^Rank mismatch: Rank of labels|Can not squeeze dim|must have the same shape|have different shapes: "
     "|must be broadcastable|SoftmaxCrossEntropy", arguments.labels),
    ("not in list of allowed values", arguments.of_a_call_around),
    ("not in list of allowed values", arguments.not_allowed),
    ("^Cannot convert a symbolic Tensor", arguments.in_numpy),
    ("^Shape must be rank 2 but is rank 1 for '.*MatMul", arguments.of_one_axis),
    ("expected ndim=", arguments.axes_of_images),
    ("^If there is no initial_state|^Only call `.*with named arguments", arguments.given_too),
    ("^expected a scalar axis", arguments.axis_first),
    ("^Input to reshape is a tensor|^Incompatible shapes|must be broadcastable", arguments.rows_of_another_size),
    ("uninitialized value |^Error while reading resource variable", runs.uninitialized),
    (r"^GetNext\(\) failed because the iterator has not", runs.not_begun),
    ("^End of sequence", runs.at_its_end),
    ("closed Session", runs.closed),
    ("feed cannot be a tf.Tensor", runs.tensor_fed),
    ("^You must feed a value for placeholder", feeds.unfed),
    ("^Variable .* already exists", building.made_twice),
    ("^Variable .* does not exist", building.not_there_yet),
    ("must be from the same graph|Session graph is empty|not an element of this graph", building.of_another_graph),
    ("^Fetch argument|^The name '.*' refers to|names must be of the form", building.no_such_name),
    ("is from inside a control-flow construct", building.made_in_a_loop),
    ("^No variables to optimize", building.no_variables))

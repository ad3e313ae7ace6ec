"""What is known of an error beyond what it says: the rules for each sentence, tried one after the other."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

from ....core.errors import ArgumentError
from ....core.graph import Graph
from ..advice import Remark
from .building import made_in_a_loop, made_twice, no_such_name, no_variables, not_there_yet, of_another_graph
from .feeds import unfed
from .raised_at import Frames, RaisedAt
from .runs import at_its_end, closed, not_begun, tensor_fed, uninitialized
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
    ("NoneType", of_operation),
    ("does not match type|different dtypes|requested dtype", other_type),
    (r"^(Dimensions|Shape) must be.*op: '(Batch)?MatMul", inner_sizes),
    ("^Cannot feed value", of_another_shape),
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

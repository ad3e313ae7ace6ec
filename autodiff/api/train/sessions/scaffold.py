"""Scaffold: the operations that a training session needs, made of the graph where they are not given."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core.collections import GraphKeys
from ....core.errors import KindError, StateError
from ....core.graph import get_default_graph
from ... import summary
from ...control.dependencies import group
from ...variables.assignment import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from ..saver import Saver, get_saver_or_default

_NAMES = "init_op init_feed_dict ready_op ready_for_local_init_op local_init_op local_init_feed_dict summary_op saver"


class Scaffold:
    """The operations that a training session needs; what is not given is made of the graph by finalize().

    copy_from_scaffold: has what is not given here; raises KindError (TypeError) if it is no Scaffold.
    """

    init_op: Any
    init_feed_dict: Any
    ready_op: Any
    ready_for_local_init_op: Any
    local_init_op: Any
    local_init_feed_dict: Any
    summary_op: Any
    saver: Any

    def __init__(self, init_op: Any = None, init_feed_dict: dict | None = None,
                 init_fn: Callable[..., Any] | None = None, ready_op: Any = None,
                 ready_for_local_init_op: Any = None, local_init_op: Any = None,
                 summary_op: Any = None, saver: Saver | None = None, copy_from_scaffold: Any = None,
                 local_init_feed_dict: dict | None = None) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise KindError("copy_from_scaffold is not a Scaffold instance.", found=repr(copy_from_scaffold))
        given = locals()
        for name in _NAMES.split():
            value = given[name]
            setattr(self, name, value if value is not None else getattr(copy_from_scaffold, name, None))
        self._user_init_fn = init_fn or getattr(copy_from_scaffold, "_user_init_fn", None)
        self.init_fn: Any = None if self._user_init_fn is None else lambda session: self._user_init_fn(self, session)

    def finalize(self) -> "Scaffold":
        """Make what is missing, and close the graph to further operations."""
        makers: dict[str, tuple[str, Callable[[], Any]]] = {
            "init_op": (GraphKeys.INIT_OP, global_variables_initializer),
            "ready_op": (GraphKeys.READY_OP, report_uninitialized_variables),
            "ready_for_local_init_op": (GraphKeys.READY_FOR_LOCAL_INIT_OP,
                                        lambda: report_uninitialized_variables(global_variables())),
            "local_init_op": (GraphKeys.LOCAL_INIT_OP, self.default_local_init_op),
            "summary_op": (GraphKeys.SUMMARY_OP, summary.merge_all)}
        for name, (collection, make) in makers.items():
            if getattr(self, name) is None:
                setattr(self, name, self.get_or_default(name, collection, make))
        self.saver = self.saver if self.saver is not None else get_saver_or_default()
        if isinstance(self.saver, Saver):
            self.saver.build()
        get_default_graph().finalize()
        return self

    @staticmethod
    def get_or_default(arg_name: str, collection_key: Any, default_constructor: Callable[[], Any]) -> Any:
        """The one item of a collection, or what is made now and put there. Raises StateError for several items."""
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise StateError(f"More than one item in the collection {collection_key!r}. Please indicate which one to "
                             f"use by passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to "
                             "use)")
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """What gives local variables and tables their values."""
        return group(local_variables_initializer(), *get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS))

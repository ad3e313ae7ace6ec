"""tf.contrib.slim.learning: a train op that also runs the updates, and a loop that runs it."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...core.collections import GraphKeys, get_collection
from ...core.convert import convert_to_tensor
from ...core.errors import OutOfRangeError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from .. import logging
from ..common.unsupported import refusing
from ..control.dependencies import control_dependencies
from ..debugging import check_numerics as checked
from ..math.norms import clip_by_norm
from ..train.global_step import get_or_create_global_step
from ..train.sessions.supervisor import Supervisor

__all__ = ["create_train_op", "train", "train_step"]
_OF_GRAPH = object()


def create_train_op(total_loss: Tensor, optimizer: Any, global_step: Any = _OF_GRAPH,
                    update_ops: Iterable[Any] | None = None, variables_to_train: Any = None,
                    clip_gradient_norm: float = 0, summarize_gradients: bool = False, check_numerics: bool = True,
                    gradient_multipliers: Any = None, **options: Any) -> Tensor:
    """The loss, checked to be a number, once the updates (by default the graph's) and the optimizer's step are done.

    clip_gradient_norm: the largest of each gradient, 0 for any. gradient_multipliers: by variable, or its name, what
    its gradient is multiplied by before. options: compute_gradients' own.
    """
    updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
    with control_dependencies(updates):
        total_loss = build.Identity(total_loss) if updates else total_loss
    times = gradient_multipliers or {}
    pairs = [(grad if (by := times.get(var, times.get(var.op.name))) is None else grad * by, var)
             for grad, var in optimizer.compute_gradients(total_loss, variables_to_train, **options)]
    pairs = [(grad if grad is None or clip_gradient_norm <= 0 else clip_by_norm(grad, clip_gradient_norm), var)
             for grad, var in pairs]
    step = get_or_create_global_step() if global_step is _OF_GRAPH else global_step
    applied = optimizer.apply_gradients(pairs, global_step=step)
    with get_default_graph().name_scope("train_op"), control_dependencies([applied]):
        train_op = build.Identity(checked(total_loss, "LossTensor is inf or nan") if check_numerics else total_loss)
    get_default_graph().add_to_collection(GraphKeys.TRAIN_OP, train_op)
    return train_op


def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: dict[str, Any]) -> tuple[Any, bool]:
    """(the loss of one step, whether that was the last)."""
    loss, step = sess.run([train_op, global_step])
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f", step, loss)
    return loss, bool("should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"]))


def train(train_op: Any, logdir: str | None, train_step_fn: Callable[..., Any] = train_step,
          train_step_kwargs: dict[str, Any] | None = None, log_every_n_steps: int = 1, graph: Any = None,
          global_step: Any = None, number_of_steps: int | None = None, session_config: Any = None,
          save_interval_secs: float = 600, **options: Any) -> Any:
    """Steps until there were number_of_steps, or a queue is empty; the last loss. options: tf.train.Supervisor's."""
    graph = graph or get_default_graph()
    with graph.as_default():
        global_step = global_step or get_or_create_global_step()
        if train_step_kwargs is None:
            train_step_kwargs = {} if number_of_steps is None else {"should_stop": build.GreaterEqual(
                global_step, convert_to_tensor(number_of_steps, global_step.dtype.base_dtype))}
            if log_every_n_steps > 0:
                train_step_kwargs["should_log"] = build.Equal(build.FloorMod(global_step, log_every_n_steps), 0)
        sv = Supervisor(graph=graph, logdir=logdir, global_step=global_step, save_model_secs=save_interval_secs,
                        **options)
    loss, done = None, False
    with sv.managed_session(config=session_config) as sess:
        try:
            while not (done or sv.should_stop()):
                loss, done = train_step_fn(sess, train_op, global_step, train_step_kwargs)
        except OutOfRangeError as error:
            logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
        if logdir:
            sv.saver.save(sess, sv.save_path, global_step=global_step)
    return loss


__getattr__ = refusing("tf.contrib.slim.learning", __name__)

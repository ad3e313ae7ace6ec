"""W8: building a graph of 10,000 or 100,000 ops, and the graph of its gradient."""
import gc
import time


def built(count):
    """A function of tf that gives a step; the step gives {ops per second, bytes per op}."""
    def of(tf):
        def step():
            gc.collect()
            before, start = _resident(), time.perf_counter()
            with tf.Graph().as_default() as graph:
                x, a = [tf.placeholder(tf.float32, [4]) for _ in range(2)]
                y = x
                for i in range(count):
                    y = y + a if i % 3 == 0 else y * a if i % 3 == 1 else tf.sin(y)
                gradient = tf.gradients(y, [x])
            seconds = time.perf_counter() - start
            ops = len(graph.get_operations())
            del gradient
            return {"ops/s": round(ops / seconds), "bytes/op": round((_resident() - before) / ops)}

        return step

    return of


def _resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096

"""Every command on scripts of each mode and dtype: it answers, or says what to do, but nothing is a bug of gradbg."""
from __future__ import annotations

from pathlib import Path

import pytest

from autodiff.debug import clear_gradient_debuggers
from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.render import plain

from ..expect import expect_none

GRAPH = """
import tensorflow as tf
x = tf.Variable(tf.constant({x}, tf.{dtype}), name="x", dtype=tf.{dtype})
c = tf.constant({c}, tf.{dtype})
y = x * c
z = tf.reduce_sum(y * x)
"""
LOOP = GRAPH + """
session = tf.Session()
session.run(tf.global_variables_initializer())
for _ in range(3):
    session.run(z)
"""
EAGER = """
import tensorflow as tf
tf.enable_eager_execution()
x = tf.constant({x}, tf.{dtype})
c = tf.constant({c}, tf.{dtype})
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * c
    z = tf.reduce_sum(y * x)
dz_dx = tape.gradient(z, x)
"""
SCRIPTS = {"graph": GRAPH, "loop": LOOP, "eager": EAGER}
DTYPES = ("float16", "float32", "float64", "int32", "int64", "complex64", "bool", "string")
LINES = """
print x;print y * 2;print grad(x);grad z x;grad z x c;grad x;grad z,y x --weights 1,2;grad z x --stop y
grad z c --unconnected zero;grad z x --order 2;grad y x --per-example;grad z x --stages;hessian z x;hessian z x c
hessian z x --diag;hessian z x --hvp [1,1];hessian z x --eig 1;hessian z x --spectrum;grads;grads y --of z;why x;why z
why nan;why none;why zero;path z x;check z x;check z x --order 2;watch x y;watch --names x;watch /.*/ if nan;break y
break step 1;identify y;python q = tf.reduce_sum(debug_y);train q;train z;train z --optimizer adam;next;next 2
gradient_tensor x;gradient_tensor y;gradient_tensors;info debuggers;info trains;register z y;init;undo
feed x = [1, 1];info tensors;info ops;info vars;info run;info script;info feeds;info steps;info memory;info watches
info breaks;info nans;doctor;doctor --static;where y;where;list;list plan;step;step 3;rs;back;goto step 1;set x = [1, 2]
freeze x;undo;display z;x/2 y;plot;diff 1 2;expect z > 0;info op y;run -t 2;continue;delete;history
""".replace("\n", ";").strip(";").split(";")


@pytest.mark.parametrize("mode", SCRIPTS)
def test_no_command_ends_in_a_bug(mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for dtype in DTYPES:
        values = {"bool": ("[True, False]", "[True, True]"), "string": ("['a', 'b']", "['c', 'd']")}
        x, c = values.get(dtype, ("[2, 3]", "[5, 7]"))
        script = tmp_path / f"{mode}_{dtype}.py"
        script.write_text(SCRIPTS[mode].format(x=x, c=c, dtype=dtype))
        clear_gradient_debuggers()
        shell = Shell()
        for line in (f"load {script}", *LINES):
            shown = plain(execute(line, shell))
            found += [f"{dtype}: {line}: {part}" for part in shown.splitlines() if "a bug in gradbg" in part]
        shell.close()
    expect_none(found)
    assert len(SCRIPTS) * len(DTYPES) * len(LINES) > 500

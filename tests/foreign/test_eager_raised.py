"""Errors that come of a tape: the line to blame, and the script as it is to be."""
import pytest

from autodiff.core.site import Site
from autodiff.foreign.eager.raised import remark_on

START = "w = tf.Variable(1.0); b = tf.Variable(2.0)\nfor i in range(3):\n"
NONE = "unsupported operand type(s) for *: 'float' and 'NoneType'"
TAPE, SEEN = "    with tf.GradientTape() as tape:", "        loss = tf.square(w * x)"
ASKED = "    g = tape.gradient(loss, [w, b])"


def told(tmp_path, said, *lines, watched=True):
    file = tmp_path / "train.py"
    file.write_text(START + "\n".join(lines) + "\n")
    line = next(i for i, text in enumerate(file.read_text().splitlines(), 1) if "tape.gradient(" in text)
    found = remark_on(said, Site(str(file), line, "<module>"), watched)
    return found and (found.place.line, {line: text for (_, line), text in found.lines.items()})


@pytest.mark.parametrize("said, lines, watched, mended", [
    (NONE, [TAPE, "        y = w * x", "    loss = tf.square(y)", ASKED], True, (5, {5: SEEN.replace("w * x", "y")})),
    ("No gradients provided for any variable", [TAPE, "        y = (w * x).numpy()", SEEN, ASKED], True,
     (4, {4: "        y = (w * x)"})),
    (NONE, [TAPE, SEEN, "    g = tape.gradient(loss, x)"], False, (3, {4: f"        tape.watch(x)\n{SEEN}"})),
    (NONE, [TAPE, SEEN, ASKED, "    w = w - 0.1 * g[0]", "    b = b + g[1]"], True,
     (6, {6: "    w.assign_sub(0.1 * g[0])", 7: "    b.assign_add(g[1])"})),
    ("gradient can only be called once on non-persistent tapes", [TAPE, SEEN, ASKED], True,
     (3, {3: "    with tf.GradientTape(persistent=True) as tape:"}))])
def test_what_a_tape_did_not_see_is_told_and_written(tmp_path, said, lines, watched, mended):
    assert told(tmp_path, said, *lines, watched=watched) == mended


def test_a_tape_is_not_to_blame_for_other_errors_or_where_it_sees_all(tmp_path):
    assert told(tmp_path, "shapes differ", TAPE, SEEN, ASKED) is None
    assert told(tmp_path, NONE, TAPE, SEEN, ASKED, "    w.assign_sub(g[0])") is None

"""What a person can do about an error of the script's surroundings: files, modules, the network, standard input."""
from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from typing import Any

import numpy as np

from autodiff.debug import Debugger
from autodiff.debug.analysis.raised.remarks import remark_on
from autodiff.debug.engine.questions.trials_told import ANEW
from autodiff.debug.facts.roles import at_line, place_of

from .script_frames import LIBRARIES, frames_of_error, script_line

PROJECTS = {"PIL": "pillow", "absl": "absl-py", "cv2": "opencv-python", "google": "protobuf", "skimage": "scikit-image",
            "sklearn": "scikit-learn", "yaml": "pyyaml"}  # module -> the project that has it, of another name


def remedy_of(error: BaseException | None) -> str:
    """What to do, in one sentence; empty where only the script's author can know."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return remedy_of_module(error.name.partition(".")[0])
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
        return _of_file(error)
    if isinstance(error, EOFError) and str(error).startswith("EOF when reading"):
        return "it asks for input, and standard input is at its end: answer at a terminal, or pipe the answers in"
    return _of_network(error) if isinstance(error, OSError) else ""


def advice_on(error: BaseException | None, dbg: Debugger) -> str:
    """The cause of an error and what to do, where more is known than its line; else "". The error keeps it."""
    if error is not None and getattr(error, "told", None) is None:
        with contextlib.suppress(Exception):  # what is said of an error is never another one
            own = [each for each in frames_of_error(error) if not each.file.startswith(LIBRARIES)]
            frames = [(each.frame, each.instruction) for each in own]
            error.told = remark_on(error, frames, dbg.graph)  # type: ignore[attr-defined]
    remedy = remedy_of(error) or str(getattr(error, "hint", ""))
    return told_of(error) or no_chances(error, dbg) or f"\nremedy: {remedy}" * bool(remedy)


def no_chances(error: BaseException | None, dbg: Debugger) -> str:
    """Of probabilities that NumPy refuses to draw by: what the last run gave in their place; else ""."""
    if not isinstance(error, ValueError) or not str(error).startswith("probabilities ") or not dbg.state.moments:
        return ""
    at = dbg.state.moments[-1]
    for tensor in at.wanted.tensors if at.wanted is not None else ():
        value = np.asarray(dbg.state.look_up(tensor, at)) if tensor.dtype.is_floating else np.zeros(())
        if value.ndim and not (np.isfinite(value).all() and np.allclose(value.sum(-1), 1, atol=1e-4)
                               and value.min() >= 0):
            what = f"{tensor.name} ({tensor.op.type}{at_line(place_of(tensor.op))})"
            if not np.isfinite(value).all():
                return f"\nbecause {what} gave nan or inf\nremedy: why nan tells where it comes from"
            return (f"\nbecause {what}, of the last run, gave {value.min():.3g} to {value.max():.3g}, which sum to "
                    f"{value.sum(-1).ravel()[0]:.3g}: no probabilities\nremedy: end that layer in tf.nn.softmax, as by "
                    "activation=tf.nn.softmax")
    return ""


def told_of(error: BaseException | None) -> str:
    """What the door of its framework has found out, or its line tells: cause and remedy, or ""."""
    if (told := getattr(error, "told", None)) is not None:
        at = at_line(told.place)
        return f"\nbecause {told.text}{at * (at not in told.text)}" * bool(told.text) + (
            f"\nremedy: {told.remedy}{at * (not told.text and at not in told.remedy)}") + (
            f"; {ANEW.format(1)}" * bool(told.lines))
    return ""


def remedy_of_module(name: str) -> str:
    """How a module, `sklearn`, is had that is not there."""
    if name == "tensorflow" or importlib.util.find_spec(name) is not None:
        return ""
    return f"install it where gradbg runs: {sys.executable} -m pip install {PROJECTS.get(name, name)}"


def _of_file(error: OSError) -> str:
    """A relative path is looked for from the working folder; the script may have meant its own."""
    beside = os.path.join(os.path.dirname(os.path.abspath(script_line(error)[0])), error.filename)
    if os.path.isabs(error.filename) or not os.path.exists(beside):
        return ""
    return f"it is beside the script, and is looked for in {os.getcwd()}: begin gradbg in {os.path.dirname(beside)}"


def _of_network(error: BaseException) -> str:
    """The address that could not be had, and the file that was to hold it, from the calls that the error has passed."""
    known: dict[str, Any] = {}
    for place in frames_of_error(error):
        names = place.frame.f_locals
        for name in ("url", "filename"):
            value = names.get(name)
            if isinstance(getattr(value, "full_url", value), str):
                known[name] = getattr(value, "full_url", value)
    if "://" not in known.get("url", ""):
        return ""
    file = f" as {known['filename']}" if known.get("filename") else ""
    return f"{known['url']} cannot be had from here: fetch it elsewhere, and put it where the script looks for it{file}"

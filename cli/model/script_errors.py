"""What a person can do about an error of the script's surroundings: files, modules, the network, standard input."""
from __future__ import annotations

import importlib.util
import os
import re
import sys
from typing import Any

from autodiff.core.errors import ShapeError
from autodiff.core.graph import Graph
from autodiff.debug.analysis.edits.of_givens import fed_at
from autodiff.debug.facts.roles import at_line

from .script_frames import frames_of_error, script_line

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


def told_of(error: BaseException | None, graph: Graph) -> str:
    """What the door of its framework has found out, or how to feed another shape: cause and remedy, or ""."""
    if (told := getattr(error, "told", None)) is not None:
        at = at_line(told.place)
        return f"\nbecause {told.text}{at * (at not in told.text)}" * bool(told.text) + f"\nremedy: {told.remedy}" + (
            "; fix 1 runs it so from its beginning" * bool(told.lines))
    if isinstance(error, ShapeError) and error.what.startswith("Cannot feed") and error.hint:
        named = re.search(r"Tensor '(.+?):0'", error.what)
        op = graph.operations.get(named[1]) if named is not None else None
        there = fed_at(op, None) if op is not None else None
        return f"\nremedy: {error.hint}" + (f"{at_line(there[0])}: {there[1]}" if there is not None else "")
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

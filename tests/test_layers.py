"""Who may know whom: one ordered list, and a module imports only from below its own line."""

import ast
import fnmatch
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from .expect import expect_none

ROOT = Path(__file__).parents[1]

# Lowest first. A line with a star stands for modules that do not know each other.
LAYERS = """
autodiff.errors
autodiff.dtypes
autodiff.shapes
autodiff.names
autodiff.devices
autodiff.spelling
autodiff.served
autodiff.nest
autodiff.site
autodiff.op
autodiff.graph_def
autodiff.indexing
autodiff.stacks
autodiff.garbage
autodiff.tensor
autodiff.operation
autodiff.graph
autodiff.walks
autodiff.collections
autodiff.scope
autodiff.convert
autodiff.static
autodiff.messages
autodiff.infer
autodiff.define
autodiff.indexed_slices
autodiff.sparse_tensor
autodiff.function_graph
autodiff.ops.windows
autodiff.ops.slices
autodiff.ops.correlate
autodiff.ops.leading
autodiff.ops.coordinates
autodiff.ops.elementwise
autodiff.ops.special
autodiff.ops.slice
autodiff.ops.state
autodiff.ops.variable_rows
autodiff.ops.training
autodiff.ops.*
autodiff.ops
autodiff.gradients.aggregate
autodiff.gradients.calls
autodiff.gradients.sweep
autodiff.gradients.backprop
autodiff.gradients.control_flow
autodiff.gradients.batching
autodiff.gradients.batched_functions
autodiff.gradients.sparsity
autodiff.gradients.linear_map
autodiff.gradients.second
autodiff.gradients
autodiff.runtime.plan
autodiff.runtime.state
autodiff.runtime.kernels
autodiff.runtime.fates
autodiff.runtime.tracing
autodiff.runtime.passes
autodiff.runtime.padding
autodiff.runtime.lowering
autodiff.runtime.products
autodiff.runtime.ordering
autodiff.runtime.tiles
autodiff.runtime.recompute
autodiff.runtime.tiling
autodiff.runtime.execute
autodiff.runtime.buffers
autodiff.runtime.scalars
autodiff.runtime.codegen
autodiff.runtime.program
autodiff.runtime.fetch
autodiff.runtime.feed
autodiff.runtime.config
autodiff.runtime.cursor
autodiff.runtime.session
autodiff.runtime.row_blocks
autodiff.runtime
autodiff.eager
autodiff.tape
autodiff.guards
autodiff.sources
autodiff.gathering
autodiff.rearranging
autodiff.ranking
autodiff.array
autodiff.reductions
autodiff.norms
autodiff.activations
autodiff.counting
autodiff.signal
autodiff.spectral
autodiff.math
autodiff.products
autodiff.linalg
autodiff.cross_entropy
autodiff.random
autodiff.normalisation
autodiff.convolutions
autodiff.pooling
autodiff.embedding
autodiff.sampled_losses
autodiff.ctc
autodiff.sparse_math
autodiff.sparse_rearranging
autodiff.sparse_embedding
autodiff.sparse
autodiff.control
autodiff.custom
autodiff.checks
autodiff.rows
autodiff.variables
autodiff.state
autodiff.initializers
autodiff.variable_store
autodiff.variable_scope
autodiff.template
autodiff.tensor_array
autodiff.control_flow
autodiff.functional
autodiff.import_graph
autodiff.flags
autodiff.app
autodiff.compat
autodiff.gfile
autodiff.logging
autodiff.mnist
autodiff.keras
autodiff.summary
autodiff.colors
autodiff.image_boxes
autodiff.image_quality
autodiff.image
autodiff.losses
autodiff.metrics
autodiff.distributions
autodiff.data
autodiff.layers.named
autodiff.layers.base
autodiff.layers.core
autodiff.layers.*
autodiff.layers.named
autodiff.layers.base
autodiff.layers.core
autodiff.layers.pooling
autodiff.layers.convolutional
autodiff.layers.*
autodiff.layers
autodiff.rnn_cell.base
autodiff.rnn_cell.*
autodiff.rnn_cell
autodiff.rnn
autodiff.rnn_unrolled
autodiff.rnn_raw
autodiff.nn
autodiff.train.slots
autodiff.train.steps
autodiff.train.optimizer
autodiff.train.checkpoint_state
autodiff.train.checkpoints
autodiff.train.saver
autodiff.train.coordinator
autodiff.train.global_step
autodiff.train.hooks
autodiff.train.*
autodiff.train
autodiff.contrib.arg_scope
autodiff.contrib.framework
autodiff.contrib.layers.initializers
autodiff.contrib.layers.utils
autodiff.contrib.layers.*
autodiff.contrib.layers
autodiff.contrib.slim
autodiff.contrib.rnn
autodiff.contrib.legacy_seq2seq
autodiff.contrib.seq2seq.loss
autodiff.contrib.seq2seq.helper
autodiff.contrib.seq2seq.attention
autodiff.contrib.seq2seq.decoder
autodiff.contrib.seq2seq
autodiff.contrib
autodiff.check
autodiff.test
autodiff.debug.records
autodiff.debug.rows
autodiff.debug.answers
autodiff.debug.conditions
autodiff.debug.places
autodiff.debug.stats
autodiff.debug.expressions
autodiff.debug.inner
autodiff.debug.targets
autodiff.debug.gradients_debugger
autodiff.debug.hidden
autodiff.debug.derivatives
autodiff.debug.spectrum
autodiff.debug.curvature
autodiff.debug.lists
autodiff.debug.watches
autodiff.debug.planning
autodiff.debug.analysis.inside
autodiff.debug.turns
autodiff.debug.replay
autodiff.debug.spilling
autodiff.debug.ring
autodiff.debug.keeping
autodiff.debug.encoding
autodiff.debug.recording
autodiff.debug.analysis.findings
autodiff.debug.analysis.rules
autodiff.debug.analysis.remedies
autodiff.debug.analysis.updates
autodiff.debug.analysis.losses
autodiff.debug.analysis.cutting
autodiff.debug.analysis.unused
autodiff.debug.analysis.suspicions
autodiff.debug.analysis.flow
autodiff.debug.analysis.branching
autodiff.debug.analysis.kernels
autodiff.debug.analysis.backward
autodiff.debug.analysis.why
autodiff.debug.inner_gradients
autodiff.debug.analysis.*
autodiff.debug.analysis
autodiff.debug.machine
autodiff.debug.feeding
autodiff.debug.effects
autodiff.debug.insides
autodiff.debug.asking
autodiff.debug.guarding
autodiff.debug.running
autodiff.debug.stepping
autodiff.debug.travelling
autodiff.debug.valuing
autodiff.debug.differentiating
autodiff.debug.staging
autodiff.debug.blaming
autodiff.debug.explaining
autodiff.debug.diagnosing
autodiff.debug.triage
autodiff.debug.comparing
autodiff.debug.changing
autodiff.debug.storing
autodiff.debug.debugger
autodiff.debug.testing
autodiff.debug
autodiff
autodiff.alias
cli.usage
cli.results
cli.words
cli.signals
cli.script
cli.shell
cli.params
cli.texts
cli.elements
cli.arrays
cli.tables
cli.plots
cli.layout
cli.facts
cli.plans
cli.status
cli.progress
cli.motion
cli.command
cli.links
cli.sheets
cli.bind
cli.complete
cli.manual
cli.html
cli.events
cli.trust
cli.render
cli.lookups
cli.interpreter
cli.commands.stops
cli.commands.motion
cli.commands.*
cli.commands
cli.repl
cli.screen.pages
cli.screen.search
cli.screen.worker
cli.screen.pane
cli.screen.frame
cli.screen.keys
cli.screen.app
cli.screen
cli.arguments
cli.main
cli.wrap
cli.__main__
cli
""".split()

# module -> (imported, why it is imported inside of a function)
LAZY: dict[tuple[str, str], str] = {
    ("autodiff.names", "difflib"): "only for a message: import time",
    ("autodiff.debug.curvature", "concurrent.futures"): "only for --jobs: import time",
    ("autodiff.runtime.tiling", "concurrent.futures"): "only for large arrays on threads: import time",
    ("cli.render", "rich.console"): "only for colours: pipes and JSON start without rich",
    ("cli.render", "rich.text"): "as rich.console",
    ("cli.main", "importlib.metadata"): "only for --version: it brings email and sockets along",
    ("cli.main", "cli.repl"): "only for a person: pipes and batch start without prompt_toolkit",
    ("cli.main", "cli.screen"): "as cli.repl",
}

# outside package -> the only modules that may import it
KEPT_TO = {
    "rich": ("cli.render",),
    "prompt_toolkit": ("cli.repl", "cli.screen.pane", "cli.screen.frame", "cli.screen.keys", "cli.screen.app"),
}

FORBIDDEN = [  # (modules, what they never import, why)
    ("autodiff*", ("cli", "rich", "prompt_toolkit"), "the library needs nothing but NumPy"),
    ("autodiff.ops*", ("autodiff.runtime", "autodiff.gradients", "autodiff.debug"),
     "a rule builds graph, it never runs it"),
]


class Import(NamedTuple):
    """One imported name. level: 0 for absolute; lazy: inside of a function."""

    module: str
    target: str
    line: int
    level: int
    lazy: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for top in ("autodiff", "cli") for path in sorted((ROOT / top).rglob("*.py"))}


def imports_in(source: str, module: str, *, is_package: bool, known: set[str]) -> Iterator[Import]:
    """Every import of a module's source, relative ones resolved; `known` tells modules from names."""

    def visit(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue  # names for annotations alone: nothing is imported when it runs
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(module, alias.name, child.lineno, 0, lazy)
            elif isinstance(child, ast.ImportFrom):
                base = absolute(child)
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    if full in known or base != module:
                        yield Import(module, full if full in known else base, child.lineno, child.level, lazy)
            yield from visit(child, lazy or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))

    def absolute(node: ast.ImportFrom) -> str:
        if node.level == 0:
            return node.module or ""
        parts = module.split(".")
        parts = parts[:len(parts) - node.level + (1 if is_package else 0)]
        return ".".join(parts + ([node.module] if node.module else []))

    return visit(ast.parse(source), False)


IMPORTS = [found for name, path in MODULES.items()
           for found in imports_in(path.read_text(), name, is_package=path.name == "__init__.py", known=set(MODULES))]


def layer_of(module: str) -> int | None:
    """The module's line in LAYERS: its own name before any star; None if it has none."""
    if module in LAYERS:
        return LAYERS.index(module)
    stars = [i for i, line in enumerate(LAYERS) if "*" in line and fnmatch.fnmatchcase(module, line)]
    return stars[-1] if stars else None


def climbs(found: Import) -> bool:
    """Whether an import goes up, or sideways within one line. A package's own names are its modules'."""
    importer, imported = layer_of(found.module), layer_of(found.target)
    if importer is None or imported is None or (found.module, found.target) in LAZY:
        return False
    return imported >= importer


def belongs(target: str, package: str) -> bool:
    return target == package or target.startswith(package + ".")


def test_every_module_has_a_line() -> None:
    expect_none([name for name in MODULES if layer_of(name) is None])


def test_every_line_has_a_module() -> None:
    expect_none([line for line in LAYERS if not fnmatch.filter(MODULES, line)])


def test_modules_import_only_from_below() -> None:
    expect_none([str(found) for found in IMPORTS if climbs(found)])


def test_there_are_no_circles() -> None:
    """Of all imports, lazy ones too: the layers allow none, this finds what a LAZY entry would let in."""
    below = {name: {i.target for i in IMPORTS if i.module == name and i.target in MODULES and not i.lazy}
             for name in MODULES}
    while True:
        free = [name for name, targets in below.items() if not targets & below.keys()]
        if not free:
            break
        for name in free:
            del below[name]
    assert sorted(below) == []


@pytest.mark.parametrize(("modules", "packages", "why"), FORBIDDEN, ids=[row[0] for row in FORBIDDEN])
def test_some_never_meet(modules: str, packages: tuple[str, ...], why: str) -> None:
    expect_none([str(found) for found in IMPORTS if fnmatch.fnmatchcase(found.module, modules)
                 and any(belongs(found.target, package) for package in packages)], why)


@pytest.mark.parametrize("package", KEPT_TO)
def test_terminal_packages_are_kept_to_their_modules(package: str) -> None:
    expect_none([str(found) for found in IMPORTS
                 if belongs(found.target, package) and found.module not in KEPT_TO[package]])


def test_imports_inside_a_package_are_relative() -> None:
    expect_none([str(found) for found in IMPORTS
                 if found.level == 0 and belongs(found.target, found.module.split(".")[0])])


def test_imports_stand_at_the_top_unless_a_reason_is_listed() -> None:
    expect_none([str(found) for found in IMPORTS if found.lazy and (found.module, found.target) not in LAZY])
    lazy = {(found.module, found.target) for found in IMPORTS if found.lazy}
    expect_none([f"{importer}: {imported}" for importer, imported in LAZY
                 if (importer, imported) not in lazy], "listed, and not there any more")


def test_the_library_imports_numpy_alone() -> None:
    own = ("autodiff", "numpy")
    outside = {found.target.split(".")[0] for found in IMPORTS if found.module.startswith("autodiff")}
    assert sorted(outside - set(own) - set(sys.stdlib_module_names)) == []


def test_a_climbing_or_hidden_import_is_noticed() -> None:
    source = "from .runtime.session import Session\ndef f():\n    from ..cli import x\n    import rich\n"
    found = list(imports_in(source, "autodiff.graph", is_package=False, known=set(MODULES)))
    assert [(i.target, i.level, i.lazy) for i in found] == [
        ("autodiff.runtime.session", 1, False), ("cli", 2, True), ("rich", 0, True)]
    assert climbs(found[0])
    assert not climbs(Import("autodiff.runtime.session", "autodiff.graph", 1, 1, False))
    assert climbs(Import("autodiff.ops.source", "autodiff.ops.gather", 1, 1, False))

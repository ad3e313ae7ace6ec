"""All that is looked for in a Case, and which of what is found comes first, only follows from others, did no harm."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ...facts.steps import When
from ..advice import advice_of
from ..findings import ERROR, WARNING, Finding
from .axes.added_columns import added_columns
from .axes.against_many import against_many
from .axes.mixed import mixed_examples
from .axes.norms import norms_of_parts
from .axes.over_the_batch import is_over_others
from .axes.reduced_early import reduced_early
from .axes.second_derivatives import second_derivatives
from .batches import batch_mistakes
from .case import Case
from .classes import class_mistakes, residual_mistakes
from .comparisons import comparison_mistakes, missing_mistakes
from .formulas import formula_mistakes
from .habits import habit_mistakes
from .last_layer import last_layer_mistakes, swapped_and_stopped, swapped_logarithms
from .leaks import leak_mistakes
from .misused import misuses
from .modes import mode_mistakes
from .optimizers import left_alone_mistakes, optimizer_mistakes
from .pace import endless_falls, negated_losses, pace_mistakes
from .pairs import pair_mistakes
from .penalties import cut_off, penalty_mistakes
from .reach import HAZARDS, near_misses, near_poles
from .rows.copies import COPIES, LEFT, copies, left_datasets
from .rows.fitted import fitted_mistakes
from .signs import wrong_sign
from .slow import averages_behind
from .start import copy_mistakes, start_mistakes
from .targets.bootstrapped import NEXT_UNUSED, endless_targets, of_the_same_state, trained_targets
from .targets.left_open import ends_left_out
from .terms.deviations import deviations_taken_for_variances
from .terms.unbounded_scores import KIND as WITHOUT_BOUND
from .terms.unbounded_scores import unbounded_scores
from .trainers import adversary_mistakes, by_loss, trainer_mistakes
from .units import depth_mistakes
from .wiring import wiring_mistakes

_SYMPTOMS = ("exploding gradient", "zero gradient", "tiny gradient", "vanishing gradient", "dead relu", "dead units",
             "saturated")  # of a cause, where there is a finding of one
_OF_ZEROS = ("zero gradient", "tiny gradient", "dead relu", "dead units")  # what equal initial values, of 0, lead to
_STOPS = {"equal initial values": "the equal initial values", "one class": "the softmax, or sum, over one element",
          "broadcast": "the shapes, of which the errors of all pairs cancel",
          "labels and logits swapped": "the sides of the loss, which are swapped"}
_CAUSES = ("inputs not scaled", "targets not scaled", "targets out of range", "initial values too large",
           "equal initial values", "learning rate too high", "sum for mean", "layer too narrow", "labels not one-hot",
           "inputs scaled otherwise", "one class", "log of no probability", "hinge of labels 0 and 1",
           "loss weight of 0", "labels out of range", "summed over the examples", "one class for several",
           "dropout drops too much")
_OMITTED = ("gradients accumulate", "gradients never reset")  # what is proven to lack, of which steps grow
_PREVENTS = ("clipping not applied", "never bounded")  # these, if it were done
_UNBOUND = ("nan", "inf", "exploding gradient", "learning rate too high", "steps too large")
_BEHIND = {"learning rate too low": ("global_step not advanced", "optimizer state left")}  # what each follows from
_SAME = {"wrong sign": ("uphill", "gradients for updates"),  # the kinds that say it too
         "uphill": ("weight decay", "gradient turned", "gradients for updates", "masked gradients"),
         **dict.fromkeys(("never updated", "zero gradient", "tiny gradient"), (
             "other argument", "stale under jit")),
         **dict.fromkeys(("copy is trained", "initialized again"), ("copied the wrong way",)),
         "no logarithms": ("softmax over the batch", "softmax over the wrong axis"),
         "steps too large": (WITHOUT_BOUND, "learning rate too high", "no logarithms", "sum for mean",
                             "gradients for updates"),
         "learning rate too high": ("uphill", "gradients for updates", "summed over the examples"),
         "learning rate too low": ("never stepped", "nothing to step by", "inputs almost zero"),
         "learning rate decayed to nothing": ("better taken for worse",), "graph grows": ("compiled anew",),
         "squared error of a softmax": ("one class for several",), **dict.fromkeys((
             "labels", "term cut off"), ("one class", "labels and logits swapped")),
         "labels do not follow from inputs": (  # why nothing is learnt
             "inputs not scaled", "changed after compile", "drawn apart", COPIES),
         **dict.fromkeys(("sorted by class", "same batch", "one label"), (COPIES,)),
         "not trained": ("gradient not applied",), "fed in vain": ("choices not used", NEXT_UNUSED),
         LEFT: ("sorted by class",),
         "penalty too large": ("mean before square",),  # of errors that cancel
         "no step": ("learning rate too low", "learning rate decayed to nothing", "clipped away", "clipped too hard")}
OF_A_CALL = ("adversaries agree", "critic told the same of both", "broadcast")  # not of the function that is called
# about what is given, which is told where that is
OF_A_RATE = ("learning rate too high", "learning rate too low", "learning rate decayed to nothing", "steps too large")
UNSCALED = "inputs not scaled"
OF_DATA = (UNSCALED, "inputs almost zero", "targets not scaled", "labels do not follow from inputs",
           "sorted by class", "same batch", COPIES, LEFT, NEXT_UNUSED, "nan in the data", "unbalanced classes",
           "one label", "target among the inputs", "all padding", "pairs with themselves",
           "class weights the wrong way round")
_DIVERGED = 96  # severity of a rate from which on a training diverges
_FEW = 5  # losses of a training that say nothing of how it goes
_LEVEL = 0.5  # of the largest of values, above which all of them hardly vary
CALM = 35  # severity of what did no harm
_OF_A_LOSS = (last_layer_mistakes, swapped_logarithms, swapped_and_stopped, negated_losses, endless_falls,
              penalty_mistakes, trained_targets, endless_targets, class_mistakes, residual_mistakes, near_misses,
              near_poles, ends_left_out, deviations_taken_for_variances, unbounded_scores)
_LOSSES = 4  # that are looked at


def other_losses(case: Case) -> list[Finding]:
    """Findings about the losses that are minimized beside y."""
    others = [y for y in by_loss(case) if y is not case.y][:_LOSSES]
    ran = dict.fromkeys(t for run in case.steps for t in run.fetched[:1]) if advice_of(case.graph).call else ()
    beside = [y for y in ran if y is not case.y][:_LOSSES]  # of a program whose updates are not in the graph
    return [*(finding for y in others for rule in (_turned, *_OF_A_LOSS) for finding in rule(case.about(y))),
            *{f.place: f for y in (*beside, case.y) for f in cut_off(case.about(y))}.values()]


def _turned(case: Case) -> list[Finding]:
    return wrong_sign(case.y, set(case.behind))


RULES = (*_OF_A_LOSS, other_losses, wiring_mistakes, mixed_examples, against_many, reduced_early, comparison_mistakes,
         misuses, mode_mistakes, averages_behind, start_mistakes, trainer_mistakes, copy_mistakes, adversary_mistakes,
         optimizer_mistakes, batch_mistakes, pace_mistakes, depth_mistakes, left_alone_mistakes, leak_mistakes,
         missing_mistakes, pair_mistakes, formula_mistakes, habit_mistakes, second_derivatives, added_columns,
         norms_of_parts, fitted_mistakes, copies, left_datasets, of_the_same_state)


def all_mistakes(case: Case) -> list[Finding]:
    """Findings about the program: its graph, and its steps as far as there are any."""
    return [finding for rule in RULES for finding in rule(case)]


def ranked(found: Iterable[Finding], ignore: Collection[str]) -> tuple[Finding, ...]:
    """The worst first, each kind once for an op or target."""
    kept: dict[tuple[str, str], Finding] = {}
    for finding in sorted(found, key=lambda f: (-f.severity, f.step)):
        if finding.kind not in ignore:
            kept.setdefault((finding.kind, finding.target or finding.op), finding)
    return tuple(kept.values())


def explained(found: Sequence[Finding]) -> list[Finding]:
    """What only follows from another finding comes after it, or is left out where it says the same."""
    kinds = {f.kind: f.severity for f in sorted(found, key=lambda f: f.severity)}
    if any(f.kind == "no gradient" and "made of its numbers" in f.text for f in found):  # whom the term is to train
        found = [f for f in found if f.kind != "term cut off"]
    if ended := next((f for f in found if f.kind == "script error"), None):  # of a variable: what is said of it is why
        found = [replace(f, severity=ended.severity + 1) if f.kind == "no gradient" and f.op and f"'{f.op}:0'" in
                 ended.text else f for f in found]
        if "for gradient computation" in ended.text:  # what that backward would have given is nowhere
            found = [f for f in found if f.kind != "no gradient" or f"'{f.op}:0'" in ended.text]
    if "mask the wrong way round" in kinds and "softmax" in "".join(f.text for f in found if f.kind == "nan"):
        found = [replace(f, severity=max(kinds.values()) + 1) if f.kind == "mask the wrong way round" else f
                 for f in found]  # rows of which it leaves nothing
    found = [replace(f, severity=min(f.severity, *(kinds[kind] - 1 for kind in _BEHIND[f.kind] if kind in kinds), 1000))
             if f.kind in _BEHIND else f for f in found]
    if "broadcast" in kinds:  # a loss that falls only as far as that lets it, and then rises again
        found = [replace(f, severity=min(f.severity, kinds["broadcast"] - 1)) if f.kind == "learning rate too high"
                 else f for f in found]
    if "no activation" in kinds:  # sums of sums are large, and what follows is to squash them
        found = [replace(f, severity=min(f.severity, kinds["no activation"] - 1)) if f.kind ==
                 "initial values too large" else f for f in found]
    if (begun := kinds.get("initial values too large", 0)) > ERROR:  # it was so before any step
        found = [replace(f, severity=min(f.severity, begun - 1)) if f.kind == "learning rate too high" else f
                 for f in found]
    if kinds.get("no activation", 0) >= WARNING and "of no activation" in "".join(
            f.text for f in found if f.kind == "squared error of classes"):  # none at all: nothing bounds what is said
        found = [replace(f, severity=max(kinds.values()) + 1) if f.kind == "no activation" else f for f in found]
    if not kinds.keys().isdisjoint(_PREVENTS) and not kinds.keys().isdisjoint(_UNBOUND):
        most = max(kinds.values()) + 1
        found = [replace(f, severity=most) if f.kind in _PREVENTS else f for f in found]
    if omitted := next((f for f in found if f.kind in _OMITTED and f.severity >= ERROR), None):
        found = [replace(f, severity=min(f.severity, omitted.severity - 1), text=f"{f.text}; it may follow from the "
                         "gradients that pile up") if f.kind in OF_A_RATE else f for f in found]
    if kinds.get("one class for several", 0) >= ERROR:  # its slope is never 0, at no rate
        found = [replace(f, severity=min(f.severity, CALM), text=f"{f.text}; it follows from the labels, whose rows "
                         "sum to more than the outputs of a softmax") if f.kind in OF_A_RATE else f for f in found]
    for kind, cause_said in _STOPS.items():
        if kinds.get(kind, 0) >= WARNING:
            found = [replace(f, severity=min(f.severity, CALM), text=f"{f.text}; it follows from {cause_said}")
                     if f.kind in _OF_ZEROS else f for f in found]
    if any(f.kind == "own gradient" and "reversal" in f.text for f in found):  # its steps need not go downhill
        found = [replace(f, severity=min(f.severity, CALM)) if f.kind in OF_A_RATE and f.severity < _DIVERGED else f
                 for f in found]
    cause = max((f.severity for f in found if f.kind in _CAUSES and f.severity >= WARNING), default=None)
    to_blame = {f.op for f in found if f.kind in (*_CAUSES, "own gradient")}
    return [replace(f, severity=min(f.severity, cause - 1)) if cause and f.kind in _SYMPTOMS else f for f in found
            if kinds.keys().isdisjoint(_SAME.get(f.kind, ())) and (f.kind != "zero gradient" or f.op not in to_blame)]


def calmer(found: Iterable[Finding], case: Case) -> list[Finding]:
    """Sizes of gradients say little of a training whose loss falls."""
    still = {v.name for v in case.variables} - {v.name for _, v, pace in case.paces if pace}
    still &= {u.variable.name for u in case.own} or still  # not those that another loss trains
    return [replace(f, severity=min(f.severity, CALM)) if case.learns else f for f in found
            if f.kind != "no step" or f.target in still]


def looked_at(case: Case, when: When) -> str:
    """How many steps were looked at, and how the loss went."""
    if not case.steps:  # an estimator has a graph for each mode
        is_elsewhere = when.step > 0 and not when.is_step
        return f"{when}" + ", no training step of this graph is remembered: ask after run --times 20" * is_elsewhere
    is_told = len(case.losses) > 1 and not len(case.losses) <= _FEW < len(case.steps)  # of as few it is one mean
    went = f", loss {case.first_loss:.4g} to {case.last_loss:.4g}" if is_told else ""
    kept = "remembered " * (len(case.steps) < case.steps[-1].step - case.steps[0].step + 1)
    left = f", not all of what they computed: a step takes {case.ms:.3g} ms" if case.refused else ""
    return (f"{when}, {len(case.looked)} of {len(case.steps)} {kept}training steps, {case.steps[0].step} to "
            f"{case.steps[-1].step}{left}{went}")


def unhappened(traps: Iterable[Finding], case: Case) -> list[Finding]:
    """What may go wrong somewhere: a remark where in some training steps nothing did; nothing that steps disprove."""
    traps = [f for f in traps if f.kind != "softmax over the batch" or not is_over_others(f, case)]
    if not case.steps or case.is_spoiled or case.failed:
        return traps
    return [replace(f, severity=min(f.severity, CALM), text=f"{f.text}; it did not happen in {len(case.steps)} "
                    "training steps") if f.kind in HAZARDS else replace(f, severity=min(f.severity, CALM))
            if f.kind == "loss is no scalar" and case.learns else f for f in traps if not _is_level(f, case)]


def _is_level(finding: Finding, case: Case) -> bool:
    """Whether what may be 0, as nothing in the graph keeps it away, hardly varies, as what is normalised does."""
    op = case.graph.operations.get(finding.op) if finding.kind in ("log", "sqrt", "division", "power") else None
    values = [v for v in case.series(op.inputs[finding.kind == "division"]) if v.size] if op is not None else []
    return bool(values) and min(float(v.min()) for v in values) > _LEVEL * max(float(v.max()) for v in values) > 0

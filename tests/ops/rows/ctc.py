"""Rows of connectionist temporal classification, and of beams."""

import numpy as np
from autodiff.errors import InvalidArgumentError

from ..case import Case, array

LOGITS = array(6, 3, 4, low=-2.0, high=2.0)
PLACES = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]])
CLASSES = np.array([0, 0, 2, 1, 1, 1], np.int32)
TIMES = np.array([6, 3, 5], np.int32)
LABELS = (PLACES, CLASSES)
STEPS = np.arange(24, dtype=np.int32).reshape(4, 2, 3)
PARENTS = STEPS % 3
LENGTHS = np.array([4, 2], np.int32)

ROWS: list[Case] = [
    *[Case("CTCLoss", (LOGITS, *LABELS, TIMES), attrs, id="-".join(attrs), differentiable=(), batch=()) for attrs in (
        {}, {"preprocess_collapse_repeated": True}, {"ctc_merge_repeated": False})],
    Case("CTCLoss", (LOGITS, *LABELS, np.array([2, 3, 5], np.int32)), id="time", fails=InvalidArgumentError,
         at_run=True),
    Case("CTCLoss", (LOGITS, *LABELS, np.array([7, 3, 5], np.int32)), id="longer", fails=InvalidArgumentError,
         at_run=True),
    Case("CTCLoss", (LOGITS, PLACES, -CLASSES, TIMES), id="negative", fails=InvalidArgumentError, at_run=True),
    Case("CTCLoss", (LOGITS, PLACES, CLASSES[:4], TIMES), id="differs", fails=ValueError),
    Case("CTCLossV2", (LOGITS, PLACES[:4], CLASSES[:4], TIMES), differentiable=(), batch=()),
    Case("CTCGreedyDecoder", (LOGITS, TIMES), batch=()),
    Case("CTCGreedyDecoder", (LOGITS, TIMES), {"merge_repeated": True}, batch=(), id="merged"),
    Case("CTCGreedyDecoder", (LOGITS, np.array([7, 3, 5], np.int32)), fails=InvalidArgumentError, at_run=True,
         id="longer"),
    Case("CTCBeamSearchDecoder", (LOGITS, TIMES), {"beam_width": 4, "top_paths": 2}, batch=()),
    Case("CTCBeamSearchDecoder", (LOGITS, TIMES), {"beam_width": 2, "top_paths": 3}, fails=InvalidArgumentError,
         at_run=True, id="narrow"),
    Case("CTCBeamSearchDecoder", (LOGITS[:1], TIMES // 7), {"top_paths": 3}, fails=InvalidArgumentError, at_run=True,
         id="few"),
    Case("GatherTree", (STEPS, PARENTS, LENGTHS, np.int32(7)), batch=()),
    Case("GatherTree", (STEPS, PARENTS - 1, LENGTHS, np.int32(7)), fails=InvalidArgumentError, at_run=True,
         id="parents"),
    Case("GatherTree", (STEPS, PARENTS[1:], LENGTHS, np.int32(7)), fails=ValueError, id="differs"),
]

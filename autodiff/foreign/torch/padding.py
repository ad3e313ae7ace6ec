"""Embeddings whose padding is no padding: a token that stands between others, and that is never learnt."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from .graph import array_of, name_of
from .record import Call, Choice, Entry

_ROWS, _SHARE = 2, 0.1  # of the rows that have the token, from which on it is judged by where it stands


def padding_findings(entries: Sequence[Entry], value_of: Callable[[Any], Any],
                     place_of: Callable[[Entry], Place | None]) -> list[Finding]:
    """value_of: what a tensor held. place_of: the line of an embedding."""
    found = []
    for entry in entries:
        if isinstance(entry.op, (Call, Choice)) or name_of(entry.op)[0] != "embedding":
            continue
        token = entry.args[2] if len(entry.args) > 2 else -1
        ids = array_of(value_of(entry.args[1]))
        if not isinstance(token, int) or token < 0 or not ids.ndim:
            continue
        other = ids.reshape(-1, ids.shape[-1]) != token
        before, after = (np.logical_or.accumulate(side, axis=1) for side in (other, other[:, ::-1]))
        count, between = (~other).any(1).sum(), (~other & before & after[:, ::-1]).any(1).sum()
        if between >= max(_ROWS, _SHARE * count):
            text = (f"padding_idx={token}, but token {token} stands between others in {between} of {count} rows that "
                    f"have it: it is no padding, and as row {token} of the table gets no gradient, it is never learnt")
            found.append(Finding(66, "padding in between", "", "embedding", "", text, "give padding_idx the number "
                                 "that the batches are filled up with", "doctor", place_of(entry)))
    return found

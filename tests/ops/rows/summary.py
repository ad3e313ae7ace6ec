"""Rows of summaries: values in, the bytes of a tf.Summary out."""

import numpy as np
from autodiff.errors import InvalidArgumentError

from ..case import Case, array

ROWS: list[Case] = [
    Case("ScalarSummary", ("loss", array())),
    Case("ScalarSummary", ("loss", array(2)), fails=InvalidArgumentError, at_run=True, id="shape"),
    Case("HistogramSummary", ("w", array(2, 3))),
    Case("HistogramSummary", ("w", np.array([1.0, np.nan])), fails=InvalidArgumentError, at_run=True, id="nan"),
    Case("ImageSummary", ("x", array(2, 4, 5, 3)), {"max_images": 2}),
    Case("ImageSummary", ("x", array(2, 4, 5)), fails=ValueError, id="rank"),
    Case("TensorSummaryV2", ("t", np.array([b"a", b"b"], object), b"")),
    Case("AudioSummaryV2", ("t", array(2, 7, 1, dtype=np.float32), np.float32(8000))),
    Case("MergeSummary", (np.array(b"\n\x05\n\x01a", object), np.array(b"", object))),
]

"""Rows of the products of matrices."""

import numpy as np

from ..case import Case, array

ROWS: list[Case] = [
    Case("MatMul", (array(2, 3), array(3, 4))),
    Case("MatMul", (array(3, 2), array(3, 4)), {"transpose_a": True}, id="transpose_a"),
    Case("MatMul", (array(2, 3), array(4, 3)), {"transpose_b": True}, id="transpose_b"),
    Case("MatMul", (array(3, 2), array(4, 3)), {"transpose_a": True, "transpose_b": True}, id="both"),
    Case("MatMul", (array(3, 2), array(3, 4)), {"transpose_a": True}, id="left", batch=(0,)),
    Case("MatMul", (array(2, 3), array(3, 4)), id="left_rows", batch=(0,)),
    Case("MatMul", (array(2, 3), array(3, 4)), id="right", batch=(1,)),
    Case("MatMul", (np.arange(6, dtype=np.int32).reshape(2, 3), np.ones((3, 4), np.int32)), id="int"),
    Case("MatMul", (array(2, 3), array(4, 5)), fails=ValueError, id="inner"),
    Case("MatMul", (array(3), array(3, 5)), fails=ValueError, id="vector"),
    Case("BatchMatMulV2", (array(5, 2, 3), array(5, 3, 4))),
    Case("BatchMatMulV2", (array(6, 1, 2, 3), array(5, 3, 4)), id="broadcast"),
    Case("BatchMatMulV2", (array(5, 3, 2), array(3, 4)), {"adj_x": True}, id="adj_x"),
    Case("BatchMatMulV2", (array(2, 3), array(5, 4, 3)), {"adj_y": True}, id="adj_y"),
    Case("BatchMatMulV2", (array(5, 3, 2), array(5, 4, 3)), {"adj_x": True, "adj_y": True}, id="both"),
    Case("BatchMatMulV2", (array(5, 2, 3), array(3, 4)), id="right", batch=(1,)),
    Case("BatchMatMulV2", (array(5, 2, 3), array(6, 3, 4)), fails=ValueError, id="batch"),
    Case("WeightedGram", (array(4, 3), array(4, low=0.5))),
    Case("WeightedGram", (array(4, 3), array(4)), id="any_sign"),
    Case("WeightedGram", (array(4, 3), array(4)), id="matrix", batch=(0,)),
    Case("WeightedGram", (array(4, 3), array(3)), fails=ValueError, id="count"),
]

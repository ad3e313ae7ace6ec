"""Models of tf.contrib: variables, outputs and gradients as TensorFlow 1.15 computed them."""

import itertools

import pytest

import autodiff as tf

from . import contrib_cases
from .layer_cases import check

pytestmark = pytest.mark.usefixtures("own_graph")

# family -> name of the model: variables | measured outputs | gradients | variables after the updates
EXPECTED = {
    "legacy": {
        "basic": """
            basic_rnn_seq2seq/rnn/lstm_cell/kernel:0[7,12] ///bias:0[12] /rnn_decoder/lstm_cell/kernel:0[7,12]
            ///bias:0[12] | 0.3097628 0.1574017 0.3508689 0.6546084 0.3508689 | 2.325407 -2.930002 -2.28477 13.73596
            -7.01846""",
        "tied": """
            combined_tied_rnn_seq2seq/tied_rnn_seq2seq/gru_cell/gates/kernel:0[8,8] ////bias:0[8]
            ///candidate/kernel:0[8,4] ////bias:0[4] | -0.3818154 -0.8015543 -0.9921283 -0.9921283 | -1.751334
            0.08898115 2.639674 -16.31448 27.31483""",
        "embedding": """
            embedding_rnn_seq2seq/rnn/embedding_wrapper/embedding:0[5,4] ///gru_cell/gates/kernel:0[7,6]
            /////bias:0[6] ////candidate/kernel:0[7,3] /////bias:0[3] /embedding_rnn_decoder/embedding:0[6,4]
            //rnn_decoder/output_projection_wrapper/gru_cell/gates/kernel:0[7,6] //////bias:0[6]
            /////candidate/kernel:0[7,3] //////bias:0[3] ////kernel:0[3,6] ////bias:0[6] | 0.1122132 -0.09747214
            -0.1982239 0.3496529 | -0.8919572 -0.009540353 0.164013 -0.490209 3.031359 1.247723 0.1006375 -0.9145101
            -3.308954 7.855835 -3.685766 22.79196""",
        "projected": """
            w:0[3,6] b:0[6] embedding_rnn_seq2seq/rnn/embedding_wrapper/embedding:0[5,4] ///lstm_cell/kernel:0[7,12]
            ////bias:0[12] /embedding_rnn_decoder/embedding:0[6,4] //rnn_decoder/lstm_cell/kernel:0[7,12]
            ////bias:0[12] | 0.1017775 0.07991602 0.05401154 0.2170019 0.05401154 | 0.6555003 -0.5420184 -1.773581
            5.728349 -14.28638 5.429939""",
        "chosen": """
            embedding_rnn_seq2seq/rnn/embedding_wrapper/embedding:0[5,4] ///gru_cell/gates/kernel:0[7,6]
            /////bias:0[6] ////candidate/kernel:0[7,3] /////bias:0[3] /embedding_rnn_decoder/embedding:0[6,4]
            //rnn_decoder/output_projection_wrapper/gru_cell/gates/kernel:0[7,6] //////bias:0[6]
            /////candidate/kernel:0[7,3] //////bias:0[3] ////kernel:0[3,6] ////bias:0[6] | 0.1122132 -0.0974722
            -0.1982239 0.3496529 | -0.8919571 -0.009540352 0.164013 -0.4902089 3.031359 1.247723 0.1006374 -0.9145101
            -3.308954 7.855834 -3.685766 22.79196""",
        "attention": """
            attention_decoder/AttnW_0:0[1,1,4,4] /AttnV_0:0[4] /AttnW_1:0[1,1,4,4] /AttnV_1:0[4] /kernel:0[12,4]
            /bias:0[4] /gru_cell/gates/kernel:0[7,6] ///bias:0[6] //candidate/kernel:0[7,3] ///bias:0[3]
            /Attention_0/kernel:0[3,4] //bias:0[4] /Attention_1/kernel:0[3,4] //bias:0[4]
            /AttnOutputProjection/kernel:0[11,2] //bias:0[2] | 1.095563 0.9876686 -0.0976426 | -1.413053 -3.171494
            -0.1530637 -0.9197786 2.630547 0.73214 2.438143 0.1452626 -0.3629783 9.341106 7.385414 0.08414724
            0.07328084 -0.1319972 -0.6322477 6.051186 10.49335""",
        "attention_first": """
            attention_decoder/AttnW_0:0[1,1,4,4] /AttnV_0:0[4] /Attention_0/kernel:0[6,4] //bias:0[4] /kernel:0[8,4]
            /bias:0[4] /lstm_cell/kernel:0[7,12] //bias:0[12] /AttnOutputProjection/kernel:0[7,3] //bias:0[3] |
            0.4254976 0.2893149 0.1964327 -0.1534096 -0.08797918 | -0.1001004 0.2815916 -0.3162241 0.04797181
            0.04143865 0.5202525 -0.1489878 1.315308 -0.1674239 -10.26272 23.75424""",
        "embedding_attention": """
            embedding_attention_seq2seq/rnn/embedding_wrapper/embedding:0[5,4] ///gru_cell/gates/kernel:0[7,6]
            /////bias:0[6] ////candidate/kernel:0[7,3] /////bias:0[3] /embedding_attention_decoder/embedding:0[6,4]
            //attention_decoder/AttnW_0:0[1,1,3,3] ///AttnV_0:0[3] ///AttnW_1:0[1,1,3,3] ///AttnV_1:0[3]
            ///kernel:0[10,4] ///bias:0[4] ///output_projection_wrapper/gru_cell/gates/kernel:0[7,6] //////bias:0[6]
            /////candidate/kernel:0[7,3] //////bias:0[3] ////kernel:0[3,6] ////bias:0[6] ///Attention_0/kernel:0[3,3]
            ////bias:0[3] ///Attention_1/kernel:0[3,3] ////bias:0[3] ///AttnOutputProjection/kernel:0[12,6]
            ////bias:0[6] | 0.115575 0.09171659 0.07079085 0.07784408 | -0.9743012 -0.05558194 -0.2891231 -0.713612
            -2.302488 -0.06070701 0.02057831 -0.02413839 -0.02126722 -0.03586764 -1.21438 2.455449 0.05629849
            0.002327686 -6.060536 6.838216 0.3754255 -4.801274 4.668296e-06 -0.000241798 -0.0006105936 0.002511287
            17.31045 29.26824""",
        "buckets": """
            embedding_attention_seq2seq/rnn/embedding_wrapper/embedding:0[5,4] ///basic_lstm_cell/kernel:0[7,12]
            ////bias:0[12] /embedding_attention_decoder/embedding:0[6,4] //attention_decoder/AttnW_0:0[1,1,3,3]
            ///AttnV_0:0[3] ///kernel:0[7,4] ///bias:0[4] ///output_projection_wrapper/basic_lstm_cell/kernel:0[7,12]
            /////bias:0[12] ////kernel:0[3,6] ////bias:0[6] ///Attention_0/kernel:0[6,3] ////bias:0[3]
            ///AttnOutputProjection/kernel:0[9,6] ////bias:0[6] | -0.2435494 -0.244212 -0.2500486 -0.249828 -0.2586795
            5.157551 5.038325 | 0.08052633 -0.6397777 -3.984119 0.08603398 0.007574255 -0.009822006 -0.07098947
            0.8238685 0.4526527 -1.21586 -2.423587 -8.755609 0.0001842653 -0.001054548 -19.4456 47.32427""",
    },
    "beams": {
        "plain": """
            decoder/lstm_cell/kernel:0[8,16] //bias:0[16] /dense/kernel:0[4,5] | 5.656174 -24.57015 3.60459 -3.058353
            11.18601 -15.90725 0.9950042 10.191 0.3292963 0.2715878 | -0.5941752 1.758098 -8.045345 1.776431""",
        "long": """
            decoder/lstm_cell/kernel:0[8,16] //bias:0[16] /dense/kernel:0[4,5] | 3.125822 -10.14807 3.986943 -3.63901
            15.16602 -23.6403 0 15.16602 -0.8200621 -0.4074599 | -1.84594 -1.637267 -7.41018 2.946006""",
        "unknown_batch": """
            decoder/lstm_cell/kernel:0[8,16] //bias:0[16] /dense/kernel:0[4,5] | 5.656174 -24.57015 3.60459 -3.058353
            11.18601 -15.90725 0.9950042 10.191 0.3292963 0.2715878 | -0.5941752 1.758098 -8.045345 1.776431""",
        "attending": """
            memory_layer/kernel:0[2,4] memory_layer_1/kernel:0[2,3]
            decoder/attention_wrapper/gru_cell/gates/kernel:0[10,8] ////bias:0[8] ///candidate/kernel:0[10,4]
            ////bias:0[4] /dense/kernel:0[2,5] //bias:0[5] | -1.299801 -18.9878 1.890231 1.617908 15.16602 -18.61866 0
            15.16602 1.025476 -0.04353108 5.970025 0.3396166 -0.2581675 0.3396166 | 1.62831 2.16677 -0.08632316
            0.1345773 -1.498909 18.27732 -1.809831 -22.63033""",
        "covering": """
            memory_layer/kernel:0[2,4] memory_layer_1/kernel:0[2,3]
            decoder/attention_wrapper/gru_cell/gates/kernel:0[12,8] ////bias:0[8] ///candidate/kernel:0[12,4]
            ////bias:0[4] //bahdanau_attention/query_layer/kernel:0[4,3] ///attention_v:0[3] /dense/kernel:0[4,5]
            //bias:0[5] | -1.299801 -18.84459 1.890231 1.617908 15.16602 -18.51971 0 15.16602 1.038149 -0.01703882
            5.970025 0.3404423 0.317898 0.3404423 0.317898 | 1.200132 2.060754 -0.3276423 -0.3914762 0.05467885
            -4.226213 17.14682 -0.09239547 1.809462 2.811875 -22.19357""",
        "embedded": """
            table:0[4,5] decoder/gru_cell/gates/kernel:0[9,8] ///bias:0[8] //candidate/kernel:0[9,4] ///bias:0[4] |
            -1.360271 0.5291814 7.765542 | -0.7862462 -0.3515762 0.2675684 1.602178 0.5258725 21.57998""",
        "of_outputs": """
            decoder/gru_cell/gates/kernel:0[8,8] ///bias:0[8] //candidate/kernel:0[8,4] ///bias:0[4] | -1.842678
            -1.176411 7.765542 | 0.8832474 0.7837031 2.208054 -11.91893 26.27956""",
        "of_outputs_beside": """
            decoder/gru_cell/gates/kernel:0[10,8] ///bias:0[8] //candidate/kernel:0[10,4] ///bias:0[4] | -1.895631
            -1.176411 7.765542 | 0.3670532 2.91389 2.116188 -11.36196 21.60532""",
        "inferred": """
            decoder/gru_cell/gates/kernel:0[8,8] ///bias:0[8] //candidate/kernel:0[8,4] ///bias:0[4] | 0.6219341
            0.6219341 15.32421 | -0.2631268 1.359035 5.739092 -38.67021 100.0949""",
    },
    "more_cells": {
        "ugrnn": """
            rnn/ugrnn_cell/kernel:0[7,6] //bias:0[6] | 1.865376 -0.09435632 | -0.03744532 -2.702131 5.484473""",
        "indrnn": """
            rnn/ind_rnn_cell/kernel_w:0[4,3] //kernel_u:0[1,3] //bias:0[3] | 1.356344 0.2950803 | -1.079705 -2.834222
            -16.26349 55.30882""",
        "coupled": """
            rnn/coupled_input_forget_gate_lstm_cell/W_0:0[3,9] //W_1:0[3,9] //B:0[9] //W_F_diag:0[3] //W_O_diag:0[3]
            //W_P_0:0[3,2] | -0.009562982 0.228082 -0.03397141 | -0.3886392 -0.2105383 0.4316206 1.404819 0.08846204
            -0.05416509 -4.322645""",
        "coupled_normed": """
            rnn/coupled_input_forget_gate_lstm_cell/W_0:0[7,9] //B:0[9] //transform/gamma:0[3] ///beta:0[3]
            //forget/gamma:0[3] ///beta:0[3] //output/gamma:0[3] ///beta:0[3] //state/gamma:0[3] ///beta:0[3] |
            -0.2142031 -0.2228829 -0.1890194 -0.2058565 -0.0923071 -0.5836591 | -1.867607 -4.896749 -2.647556
            0.5779638 -0.4278535 -0.4227396 0.7482862 4.127688 -6.627129 25.21903""",
        "highway": """
            rnn/gru_cell/gates/kernel:0[8,8] ///bias:0[8] //candidate/kernel:0[8,4] ///bias:0[4] /carry_w:0[4,4]
            /carry_b:0[4] | 0.3646564 -0.4219124 | 0.4269591 1.305064 1.878759 -4.79487 23.18302 1.427194 -0.5969928""",
        "highway_apart": """
            rnn/gru_cell/gates/kernel:0[8,8] ///bias:0[8] //candidate/kernel:0[8,4] ///bias:0[4] /carry_w:0[4,4]
            /carry_b:0[4] /transform_w:0[4,4] /transform_b:0[4] | -1.060571 0.9462444 -1.113677 0.8954249 -0.62327
            -0.4219124 | 0.4568864 1.335646 1.991332 -7.396622 27.44479 1.222822 -0.3178158 -0.1857979 0.2264707""",
        "attending": """
            rnn/attention_cell_wrapper/kernel:0[9,4] //bias:0[4] //lstm_cell/kernel:0[7,12] ///bias:0[12]
            //attention/attn_w:0[1,1,5,5] ///attn_v:0[5] ///kernel:0[6,5] ///bias:0[5]
            //attn_output_projection/kernel:0[8,5] ///bias:0[5] | -0.8791498 -0.1809853 -0.099396 0.5560623 0.7127971
            | 0.007945505 -0.3692516 -0.7677116 1.834163 3.43493 -0.001184104 0.002540788 -0.0004724987 0.0006398053
            -1.733143 100.9667""",
        "attending_flat": """
            rnn/attention_cell_wrapper/kernel:0[7,6] //bias:0[6] //gru_cell/gates/kernel:0[9,6] ////bias:0[6]
            ///candidate/kernel:0[9,3] ////bias:0[3] //attention/attn_w:0[1,1,3,2] ///attn_v:0[2] ///kernel:0[3,2]
            ///bias:0[2] //attn_output_projection/kernel:0[6,3] ///bias:0[3] | 0.1988378 0.2982874 0.3719612 0.4585978
            0.5101305 7.335178 | -0.07851771 0.01357209 0.1884477 -0.9826955 -0.1599445 -10.64663 5.754403 -0.02766508
            0.1464352 -0.002892196 -0.00276472 0.6422609 71.51065""",
        "rows": """
            rnn/conv_1d_lstm_cell/kernel:0[3,3,8] //biases:0[8] | -0.2941991 -0.006654167 -0.005466375 | 0.5236752
            -2.795036 56.09456""",
        "conv": """
            conv_2d_lstm_cell/kernel:0[3,2,5,12] /biases:0[12] | 14.35183 | -5.635025 -26.87121 3.574776""",
        "conv_steps": """
            rnn/conv_lstm_cell/kernel:0[2,2,5,12] | -0.4177746 0.08379054 0.03644573 | -1.885968 -0.2008611""",
        "stacked": """
            stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/gru_cell/gates/kernel:0[7,6] //////bias:0[6]
            /////candidate/kernel:0[7,3] //////bias:0[3] ///bw/gru_cell/gates/kernel:0[6,4] //////bias:0[4]
            /////candidate/kernel:0[6,2] //////bias:0[2] /cell_1/bidirectional_rnn/fw/lstm_cell/kernel:0[7,8]
            /////bias:0[8] ///bw/lstm_cell/kernel:0[8,12] /////bias:0[12] | -0.2048659 -0.1822257 0.8842509 0.3555773
            0.1643677 0.3894634 0.1194301 | 1.392852 -0.2713226 0.5319878 -0.5472912 -1.01684 1.023247 0.1757456
            1.471998 -8.117805 -1.088027 9.786295 1.277144 3.472356""",
        "stacked_steps": """
            stack_bidirectional_rnn/cell_0/fw/gru_cell/gates/kernel:0[7,6] /////bias:0[6] ////candidate/kernel:0[7,3]
            /////bias:0[3] //bw/gru_cell/gates/kernel:0[6,4] /////bias:0[4] ////candidate/kernel:0[6,2] /////bias:0[2]
            /cell_1/fw/lstm_cell/kernel:0[7,8] ////bias:0[8] //bw/lstm_cell/kernel:0[8,12] ////bias:0[12] | -0.3107508
            -0.08872461 -0.1267283 -0.09047709 0.00667472 0.6295176 0.01624676 -0.01330841 -0.3303936 -0.5988969
            -0.1907655 | -0.2227777 -0.217371 -0.6825458 -6.213339 5.834358 1.125904 -0.2210943 8.388061 13.69855
            3.590554 12.56667 1.31073 1.469857""",
    },
}


@pytest.mark.parametrize(("family", "name"), [(family, name) for family, rows in EXPECTED.items() for name in rows])
def test_models_compute_what_tensorflow_does(family, name):
    names, *rows = EXPECTED[family][name].split("|")
    numbers = [[float(word) for word in row.split()] for row, _ in itertools.zip_longest(rows, range(3), fillvalue="")]
    check(tf, getattr(contrib_cases, family)(tf)[name], (" ".join(names.split()), *numbers), contrib_cases.shortened)


LEGACY, SEQ, CELLS, RNN = tf.contrib.legacy_seq2seq, tf.contrib.seq2seq, tf.nn.rnn_cell, tf.contrib.rnn
REFUSED = [  # (what is built of x, float[3, 4], and a memory, float[3, 2, 4]; its error; TensorFlow's words)
    (lambda x, m: LEGACY.attention_decoder([], x, m, CELLS.GRUCell(4)), ValueError, "Must provide at least 1 input"),
    (lambda x, m: LEGACY.attention_decoder([x], x, m, CELLS.GRUCell(4), num_heads=0), ValueError, "less than 1 heads"),
    (lambda x, m: LEGACY.attention_decoder([x], x, tf.placeholder(tf.float32, [3, 2, None]), CELLS.GRUCell(4)),
     ValueError, r"Shape\[2\] of attention_states must be known: \(3, 2, \?\)"),
    (lambda x, m: LEGACY.attention_decoder([tf.placeholder(tf.float32, [3, None], "q")], x, m, CELLS.GRUCell(4)),
     ValueError, "Could not infer input size from input: q:0"),
    (lambda x, m: LEGACY.model_with_buckets([x], [x], [x], [x], [(2, 1)], None), ValueError,
     r"Length of encoder_inputs \(1\) must be at least that of last bucket \(2\)"),
    (lambda x, m: LEGACY.model_with_buckets([x], [x], [x], [x], [(1, 2)], None), ValueError, "Length of targets"),
    (lambda x, m: LEGACY.embedding_rnn_decoder([x], x, CELLS.GRUCell(4), 5, 4, (m[0], tf.zeros([5]))), ValueError,
     "are incompatible"),
    (lambda x, m: RNN.EmbeddingWrapper(CELLS.GRUCell(4), 0, 4), ValueError, "must be > 0: 0, 4"),
    (lambda x, m: beam_search(x, start=[[1]]), ValueError, "start_tokens must be a vector"),
    (lambda x, m: beam_search(x, end=[2]), ValueError, "end_token must be a scalar"),
    (lambda x, m: beam_search(x, output_layer=3), TypeError, "output_layer must be a Layer, received: <class 'int'>"),
    (lambda x, m: beam_search(x, start=[1, 2]), ValueError, "Cannot reshape a tensor with 12 elements"),
    (lambda x, m: beam_search(x, coverage_penalty_weight=0.5).initialize(), ValueError, "if no cell is attentional"),
    (lambda x, m: beam_search(tf.placeholder(tf.float32)), ValueError, "known rank, but ndims == None"),
    (lambda x, m: RNN.AttentionCellWrapper(CELLS.LSTMCell(3), 2, state_is_tuple=False), ValueError,
     "Cell returns tuple of states, but the flag state_is_tuple is not set"),
    (lambda x, m: RNN.AttentionCellWrapper(CELLS.LSTMCell(3), 0), ValueError, "greater than zero, got 0"),
    (lambda x, m: RNN.ConvLSTMCell(2, [4, 1], 2, [3]), ValueError, r"Invalid input_shape \[4, 1\] for conv_ndims=2"),
    (lambda x, m: RNN.stack_bidirectional_dynamic_rnn([], [], m), ValueError, "Must specify at least one fw cell"),
    (lambda x, m: RNN.stack_bidirectional_rnn([CELLS.GRUCell(3)], [CELLS.GRUCell(3)] * 2, [x]), ValueError,
     "must have the same depth"),
    (lambda x, m: RNN.stack_bidirectional_rnn([CELLS.GRUCell(3)], [CELLS.GRUCell(3)], [x], [x, x]), ValueError,
     "initial_states_fw must be a list of state tensors"),
    (lambda x, m: RNN.HighwayWrapper(CELLS.GRUCell(3))(x, x[:, :3]), ValueError, "are incompatible"),
    (lambda x, m: RNN.CoupledInputForgetGateLSTMCell(4, num_unit_shards=9)(x, (x, x)), ValueError, "Too many shards"),
    (lambda x, m: SEQ.tile_batch(1.0, 2), ValueError, "t must have statically known rank"),
    (lambda x, m: SEQ.ScheduledOutputTrainingHelper(m, [1, 2, 1], [[0.5]]), ValueError, r"saw shape: \(1, 1\)"),
]


def test_a_cell_that_was_called_is_not_copied():
    x, cell = tf.zeros([3, 4]), CELLS.MultiRNNCell([CELLS.GRUCell(4)])
    LEGACY.basic_rnn_seq2seq([x], [x], cell)
    with pytest.raises(TypeError, match="can't pickle _thread.RLock objects"):
        LEGACY.basic_rnn_seq2seq([x], [x], cell, scope="again")


def beam_search(state, start=(1,), end=2, **options):
    return SEQ.BeamSearchDecoder(CELLS.GRUCell(4), tf.zeros([5, 4]), start, end, state, 3, **options)


@pytest.mark.parametrize(("build", "error", "words"), REFUSED)
def test_what_tensorflow_refuses_is_refused_in_its_words(build, error, words):
    with pytest.raises(error, match=words):
        build(tf.zeros([3, 4]), tf.zeros([3, 2, 4]))


def test_rows_are_repeated_one_after_another():
    ids, rows = SEQ.tile_batch((tf.constant([[1, 2], [3, 4]]), tf.placeholder(tf.float32, [None, 3])), 2)
    with tf.Session() as session:
        assert session.run(ids).tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]
    assert (ids.name, rows.shape.as_list()) == ("tile_batch/Reshape:0", [None, 3])

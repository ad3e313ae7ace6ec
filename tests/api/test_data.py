"""tf.data: pipelines as scripts build them, and what ends them."""

import numpy as np
import pytest

import autodiff as tf

Dataset = tf.data.Dataset


pytestmark = pytest.mark.usefixtures("own_graph")


def drained(dataset, feeds=None):
    """Every element of a dataset, by running get_next until it ends."""
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer, feeds)
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def test_slices_in_batches_with_a_smaller_last_one():
    batches = drained(Dataset.from_tensor_slices((np.arange(10.0).reshape(5, 2), np.arange(5))).batch(2))
    assert [b[0].shape for b in batches] == [(2, 2), (2, 2), (1, 2)]
    np.testing.assert_array_equal(np.concatenate([b[1] for b in batches]), np.arange(5))


def test_static_types_and_shapes():
    dataset = Dataset.from_tensor_slices({"x": np.zeros((4, 3), np.float32), "y": np.zeros(4, np.int64)})
    assert dataset.output_types == {"x": tf.float32, "y": tf.int64}
    assert dataset.batch(2).output_shapes["x"].as_list() == [None, 3]
    assert dataset.batch(2, drop_remainder=True).make_one_shot_iterator().get_next()["x"].shape.as_list() == [2, 3]


def test_only_tuples_and_dicts_nest():
    elements = drained(Dataset.from_tensor_slices(({"a": [1, 2]}, [3, 4])))
    assert elements == [({"a": 1}, 3), ({"a": 2}, 4)]


def test_what_is_no_dataset_is_refused():
    for wrong in (lambda: Dataset.from_generator(3, tf.int32), lambda: Dataset.zip([1, 2]),
                  lambda: Dataset.range(3).concatenate(Dataset.from_tensors(1.0))):
        with pytest.raises(TypeError):
            wrong()
    assert repr(Dataset.range(4).batch(2)) == "<Dataset shapes: (?,), types: <dtype: 'int64'>>"


def test_the_iterator_whose_handle_is_fed_is_moved():
    training, testing = Dataset.range(3).map(lambda n: {"n": n}), Dataset.range(10, 12).map(lambda n: {"n": n})
    handle = tf.placeholder(tf.string, [])
    fed = tf.data.Iterator.from_string_handle(handle, training.output_types, training.output_shapes)
    n = fed.get_next()["n"]
    assert n.shape.as_list() == []
    begun_again = testing.make_initializable_iterator()
    with tf.Session() as session:
        handles = session.run([training.make_one_shot_iterator().string_handle(), begun_again.string_handle()])
        assert session.run(n, {handle: handles[0]}) == 0
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(n, {handle: handles[1]})
        for _ in range(2):
            session.run(begun_again.initializer)
            assert [int(session.run(n, {handle: which})) for which in (handles[1], handles[1])] == [10, 11]
        assert session.run(n, {handle: handles[0]}) == 1
        with pytest.raises(tf.errors.OutOfRangeError, match="after 2 elements"):
            session.run(n, {handle: handles[1]})


def test_map_filter_and_friends():
    dataset = Dataset.range(10).filter(lambda n: tf.equal(n % 2, 0)).map(lambda n: (n, tf.cast(n, tf.float32) * 0.5))
    assert [(int(a), float(b)) for a, b in drained(dataset)] == [(0, 0.0), (2, 1.0), (4, 2.0), (6, 3.0), (8, 4.0)]
    assert [int(n) for n in drained(Dataset.range(3).repeat(2).skip(1).take(4))] == [1, 2, 0, 1]
    assert [int(n) for n in drained(Dataset.range(2).concatenate(Dataset.range(5, 7)))] == [0, 1, 5, 6]
    zipped = Dataset.zip((Dataset.range(3), {"b": Dataset.range(3, 9)}))
    assert [(int(a), int(rest["b"])) for a, rest in drained(zipped)] == [(0, 3), (1, 4), (2, 5)]


@pytest.mark.parametrize("made, expected", [  # printed by TensorFlow 1.15
    (lambda d: d.range(12).shuffle(5, seed=3).repeat(2), [4, 1, 6, 2, 8, 3, 9, 11, 0, 10, 7, 5,
                                                          3, 2, 6, 0, 1, 9, 10, 8, 7, 4, 5, 11]),
    (lambda d: d.range(8).shuffle(100, seed=3, reshuffle_each_iteration=False).repeat(2), [7, 3, 0, 6, 2, 1, 4, 5] * 2),
    (lambda d: d.range(8).repeat(2).shuffle(3, seed=3), [1, 3, 4, 0, 2, 5, 7, 0, 2, 3, 4, 1, 6, 5, 7, 6]),
    (lambda d: d.range(8).apply(tf.data.experimental.shuffle_and_repeat(4, 2, seed=1)), [
        1, 4, 5, 0, 3, 7, 6, 2, 2, 4, 0, 1, 5, 3, 7, 6])])
def test_with_a_seed_the_order_is_that_of_tensorflow(made, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        iterator = made(Dataset).make_initializable_iterator()
        element = iterator.get_next()
        for _ in range(2):  # an iterator that begins anew is as it was
            session.run(iterator.initializer)
            assert [int(session.run(element)) for _ in expected] == expected


def test_shuffle_keeps_every_element_and_repeats_with_its_seed():
    first = [int(n) for n in drained(Dataset.range(50).shuffle(10, seed=3))]
    assert sorted(first) == list(range(50)) and first != list(range(50))
    assert first == [int(n) for n in drained(Dataset.range(50).shuffle(10, seed=3))]
    tf.set_random_seed(2)
    pairs = drained(Dataset.zip((Dataset.range(50).shuffle(50), Dataset.range(50).shuffle(50))))
    assert any(one != other for one, other in pairs)  # as in TensorFlow, each shuffles in its own way
    two = [int(n) for n in drained(Dataset.range(20).shuffle(20, seed=1).repeat(2))]
    assert sorted(two[:20]) == sorted(two[20:]) == list(range(20)) and two[:20] != two[20:]


def test_placeholders_are_read_when_it_is_initialized():
    x = tf.placeholder(tf.float32, [None])
    dataset = Dataset.from_tensor_slices(x)
    assert drained(dataset, {x: [3.0, 4.0]}) == [3.0, 4.0]
    with pytest.raises(ValueError, match="make_initializable_iterator"):
        dataset.make_one_shot_iterator()


def test_a_generator_is_checked_against_what_it_promised():
    dataset = Dataset.from_generator(lambda: iter([(1, [1.0, 2.0]), (2, [3.0])]), (tf.int32, tf.float32), ([], [None]))
    assert [(int(a), b.tolist()) for a, b in drained(dataset)] == [(1, [1.0, 2.0]), (2, [3.0])]
    padded = drained(dataset.padded_batch(2, ([], [None])))
    np.testing.assert_array_equal(padded[0][1], [[1.0, 2.0], [3.0, 0.0]])
    wrong = Dataset.from_generator(lambda: iter([[1.0]]), tf.float32, [2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[1\], expected"):
        drained(wrong)


def test_one_iterator_for_two_datasets():
    training, testing = Dataset.range(3), Dataset.range(10, 12)
    iterator = tf.data.Iterator.from_structure(training.output_types, training.output_shapes)
    following = iterator.get_next()
    starts = [iterator.make_initializer(d) for d in (training, testing)]
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            session.run(following)
        for start, first in zip(starts, (0, 10)):
            session.run(start)
            assert session.run(following) == first


def test_a_model_learns_from_batches():
    x = np.linspace(-1, 1, 64).astype(np.float32)
    batch_x, batch_y = Dataset.from_tensor_slices((x, 3 * x + 1)).shuffle(64, seed=0).repeat().batch(
        16).make_one_shot_iterator().get_next()
    w, b = tf.Variable(0.0), tf.Variable(0.0)
    step = tf.train.GradientDescentOptimizer(0.3).minimize(tf.reduce_mean(tf.square(w * batch_x + b - batch_y)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(150):
            session.run(step)
        np.testing.assert_allclose(session.run([w, b]), [3.0, 1.0], atol=1e-2)


def test_datasets_of_elements_are_put_in_line_or_taken_in_turn(tmp_path):
    numbers = Dataset.range(1, 4)
    lines = numbers.flat_map(lambda n: Dataset.from_tensors(n).repeat(2))
    turns = numbers.interleave(lambda n: Dataset.from_tensor_slices(tf.stack([n, 10 * n, 100 * n])), 2, 2)
    assert drained(lines) == [1, 1, 2, 2, 3, 3]
    assert drained(turns) == [1, 10, 2, 20, 100, 200, 3, 30, 300]
    assert drained(Dataset.range(7).shard(3, 1)) == [1, 4]
    experimental = tf.contrib.data
    doubled = experimental.map_and_batch(lambda n: 2 * n, 2, drop_remainder=True)
    assert [batch.tolist() for batch in drained(numbers.apply(doubled))] == [[2, 4]]
    assert drained(numbers.batch(2).apply(experimental.unbatch())) == [1, 2, 3]
    assert sorted(drained(numbers.apply(experimental.shuffle_and_repeat(3, 2)))) == [1, 1, 2, 2, 3, 3]
    for name in "ba":
        tf.io.gfile.GFile(str(tmp_path / f"{name}.txt"), "w").write(f"{name}1\n{name}2\n")
    files = Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    assert drained(files.flat_map(tf.data.TextLineDataset)) == [b"a1", b"a2", b"b1", b"b2"]
    assert tf.io.gfile.exists(str(tmp_path)) and len(tf.io.gfile.glob(str(tmp_path / "*"))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
        Dataset.list_files(str(tmp_path / "none"))
    with pytest.raises(TypeError, match="must return a `Dataset`"):
        numbers.flat_map(lambda n: n)


def test_settings_by_name():
    settings = tf.contrib.training.HParams(rate=0.1, sizes=[1], kind="x", on=False)
    settings.parse("rate=1,sizes=[2,3],on=true, kind=y")
    assert settings.values() == {"rate": 1.0, "sizes": [2, 3], "kind": "y", "on": True} and "rate" in settings
    with pytest.raises(ValueError, match="Unknown hyperparameter"):
        settings.parse("none=1")


def test_texts_as_numbers_of_words(tmp_path):
    learn = tf.contrib.learn
    texts = ["the cat sat", "The cat's hat on the cat"]
    processor = learn.preprocessing.VocabularyProcessor(5)
    assert [row.tolist() for row in processor.fit_transform(texts)] == [[1, 2, 3, 0, 0], [4, 5, 6, 7, 1]]
    processor.save(tmp_path / "vocabulary")
    restored = learn.preprocessing.VocabularyProcessor.restore(tmp_path / "vocabulary")
    assert next(restored.transform(["a hat"])).tolist() == [0, 6, 0, 0, 0] and len(restored.vocabulary_) == 8
    frequent = learn.preprocessing.VocabularyProcessor(3, 1)
    assert [row.tolist() for row in frequent.fit_transform(texts)] == [[2, 1, 0], [0, 0, 0]]


LENGTHS = (1, 4, 2, 6, 3, 5, 1, 2, 9)
BY_SIZE = tf.data.experimental.bucket_by_sequence_length


def rows_of_lengths():
    types = (tf.int64, tf.float32)
    return Dataset.from_generator(lambda: ((np.arange(1, n + 1), [n * 1.0]) for n in LENGTHS), types, ([None], [1]))


def sizes(batches):
    """Of each batch: the lengths of its rows, and to what they are padded."""
    return [(beside.ravel().astype(int).tolist(), rows.shape[1]) for rows, beside in batches]


@pytest.mark.parametrize(("boundaries", "batches", "options", "expected"), [  # as TensorFlow 1.15.5 gives them
    ([3, 5], [2, 2, 1], {}, [([1, 2], 2), ([6], 6), ([4, 3], 4), ([5], 5), ([1, 2], 2), ([9], 9)]),
    ([3, 5], [3, 2, 2], {"drop_remainder": True, "padded_shapes": ([None], [1])}, [
        ([4, 3], 4), ([6, 5], 6), ([1, 2, 1], 2)]),
    ([3, 10], [3, 2, 2], {"pad_to_bucket_boundary": True}, [
        ([4, 6], 9), ([3, 5], 9), ([1, 2, 1], 2), ([2], 2), ([9], 9)]),
])
def test_batches_of_rows_of_alike_length(boundaries, batches, options, expected):
    dataset = rows_of_lengths().apply(BY_SIZE(lambda row, _: tf.size(row), boundaries, batches, **options))
    assert [shape.as_list() for shape in dataset.output_shapes] == [[None, None], [None, 1]]
    assert sizes(drained(dataset)) == expected


def test_what_buckets_are_filled_up_with_and_what_is_too_long():
    def batched(**options):
        return drained(rows_of_lengths().apply(tf.contrib.data.bucket_by_sequence_length(
            lambda row, _: tf.shape(row)[0], [3, 9], [3, 2, 2], **options)))

    assert batched(padding_values=(np.int64(-1), 0.0))[2][0].tolist() == [[1, -1], [1, 2], [1, -1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have length < max"):
        batched(pad_to_bucket_boundary=True)
    with pytest.raises(ValueError, match="must equal len"):
        BY_SIZE(lambda row: 1, [3], [1])
    alike = Dataset.range(5).map(lambda i: tf.ones([2]) * tf.cast(i, tf.float32))
    alike = alike.apply(BY_SIZE(lambda row: tf.cast(row[0], tf.int32), [2], [2, 2], no_padding=True))
    assert [batch[:, 0].tolist() for batch in drained(alike)] == [[0, 1], [2, 3], [4]]


def test_windows_of_elements_with_one_key():
    def grouped(*args, **options):
        return rows_of_lengths().apply(tf.data.experimental.group_by_window(*args, **options))

    by_three = grouped(lambda row, _: tf.cast(tf.size(row) % 3, tf.int64), lambda key, window: window.map(
        lambda row, n: (row + key * 10, n)).padded_batch(2, ([None], [1])), 3)
    found = drained(by_three)
    assert sizes(found) == [([1, 4], 4), ([1], 1), ([2, 5], 5), ([2], 2), ([6, 3], 6), ([9], 9)]
    assert [rows[0, 0] for rows, _ in found] == [11, 11, 21, 21, 1, 1]
    by_two = grouped(lambda row, _: tf.cast(tf.size(row) % 2, tf.int64), lambda key, window: window.padded_batch(
        4, ([None], [1]), drop_remainder=True), window_size_func=lambda key: key + 3)
    assert by_two.output_shapes[0].as_list() == [4, None] and sizes(drained(by_two)) == [([1, 3, 5, 1], 5)]
    with pytest.raises(ValueError, match="window_size or window_size_func"):
        tf.data.experimental.group_by_window(lambda row: 1, lambda key, window: window)

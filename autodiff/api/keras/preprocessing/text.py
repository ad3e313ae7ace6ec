"""tf.keras.preprocessing.text: texts as sequences of the numbers of their words, or as rows of counts."""
from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, KindError
from ...common.unsupported import refusing

__all__ = ["Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json"]

FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'
_MODES = ("binary", "count", "tfidf", "freq")
_KEPT = ("num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count")


def text_to_word_sequence(text: str, filters: str = FILTERS, lower: bool = True, split: str = " ") -> list[str]:
    """The words of a text; characters of `filters` part them too."""
    text = text.lower() if lower else text
    return [word for word in text.translate({ord(each): split for each in filters}).split(split) if word]


def one_hot(text: str, n: int, filters: str = FILTERS, lower: bool = True, split: str = " ") -> list[int]:
    """A number from 1 to n - 1 for each word, by Python's hash: another one in each process."""
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(text: str, n: int, hash_function: Any = None, filters: str = FILTERS, lower: bool = True,
                  split: str = " ") -> list[int]:
    """A number from 1 to n - 1 for each word, by a hash of it: Python's, or 'md5', or a function's."""
    chosen: Callable[[str], int] = hash if hash_function is None else hash_function
    if hash_function == "md5":
        chosen = _md5
    return [chosen(word) % (n - 1) + 1 for word in text_to_word_sequence(text, filters, lower, split)]


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode()).hexdigest(), 16)


class Tokenizer:
    """Numbers of words, the most frequent first, from 1 on. num_words: only those below it are given.

    oov_token: has number 1, and stands for words that are not known. char_level: characters in place of words.
    word_counts, word_docs, index_docs: how often, and in how many texts, they are.
    """

    def __init__(self, num_words: int | None = None, filters: str = FILTERS, lower: bool = True, split: str = " ",
                 char_level: bool = False, oov_token: str | None = None, document_count: int = 0,
                 **options: Any) -> None:
        num_words = options.pop("nb_words", num_words)
        if options:
            raise KindError(f"Unrecognized keyword arguments: {options}")
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.document_count = char_level, oov_token, document_count
        self.word_counts: dict[str, int] = {}
        self.word_docs: Counter[str] = Counter()
        self.index_docs: Counter[int] = Counter()
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> Sequence[str]:
        if not self.char_level and not isinstance(text, list):
            return text_to_word_sequence(text, self.filters, self.lower, self.split)
        return text if not self.lower else [each.lower() for each in text] if isinstance(text, list) else text.lower()

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Count the words of texts, or of lists of words, and number them anew."""
        for text in texts:
            words = self._words(text)
            self.document_count += 1
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            self.word_docs.update(set(words))
        known = [] if self.oov_token is None else [self.oov_token]
        known += sorted(self.word_counts, key=lambda word: -self.word_counts[word])
        self.word_index = {word: i for i, word in enumerate(known, 1)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Sequence[Sequence[int]]) -> None:
        """Count in how many sequences each number is."""
        self.document_count += len(sequences)
        for sequence in sequences:
            self.index_docs.update(set(sequence))

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """The numbers of the words of each text; what is not known is left out, or is the number of oov_token."""
        return [*self.texts_to_sequences_generator(texts)]

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """As texts_to_sequences, one after another."""
        for text in texts:
            found = [self._given(self.word_index.get(word)) for word in self._words(text)]
            yield [i for i in found if i is not None]

    def _given(self, i: int | None) -> int | None:
        """A word's number if it is given, else that of oov_token."""
        is_given = i is not None and (not self.num_words or i < self.num_words)
        return i if is_given else self.word_index.get(self.oov_token) if self.oov_token is not None else None

    def sequences_to_texts(self, sequences: Iterable[Sequence[int]]) -> list[str]:
        """The words of numbers, with blanks between."""
        return [*self.sequences_to_texts_generator(sequences)]

    def sequences_to_texts_generator(self, sequences: Iterable[Sequence[int]]) -> Iterator[str]:
        """As sequences_to_texts, one after another."""
        for sequence in sequences:
            found = [self._given(i if i in self.index_word else None) for i in sequence]
            yield " ".join([self.index_word[i] for i in found if i is not None])

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> np.ndarray:
        """A row of counts for each text, as sequences_to_matrix has them."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> np.ndarray:
        """For each sequence and number whether it is there ('binary'), how often ('count'), its share ('freq'), or
        how much it tells ('tfidf'). -> float64[n, num_words]. Raises ArgumentError (ValueError) for other modes.
        """
        if not self.num_words and not self.word_index:
            raise ArgumentError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode not in _MODES:
            raise ArgumentError(f"Unknown vectorization mode: {mode}", expected=", ".join(_MODES))
        columns = self.num_words or len(self.word_index) + 1
        rows = np.zeros((len(sequences), columns))
        for row, sequence in zip(rows, sequences):
            for i, count in Counter(i for i in sequence if i < columns).items():
                row[i] = {"binary": 1, "count": count, "freq": count / len(sequence)}[mode] if mode != "tfidf" else (
                    1 + np.log(count)) * np.log(1 + self.document_count / (1 + self.index_docs[i]))
        return rows

    def get_config(self) -> dict[str, Any]:
        """Its settings and counts, as JSON has them."""
        counts = {name: json.dumps(getattr(self, name)) for name in (
            "word_counts", "word_docs", "index_docs", "index_word", "word_index")}
        return {**{name: getattr(self, name) for name in _KEPT}, **counts}

    def to_json(self, **options: Any) -> str:
        """What tokenizer_from_json takes."""
        return json.dumps({"class_name": "Tokenizer", "config": self.get_config()}, **options)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The Tokenizer that to_json told of."""
    config = json.loads(json_string)["config"]
    made = Tokenizer(**{name: config[name] for name in _KEPT})
    read = {name: json.loads(value) for name, value in config.items() if name not in _KEPT}
    made.word_counts, made.word_index, made.word_docs = read["word_counts"], read["word_index"], Counter(
        read["word_docs"])
    made.index_docs = Counter({int(i): count for i, count in read["index_docs"].items()})
    made.index_word = {int(i): word for i, word in read["index_word"].items()}
    return made


__getattr__ = refusing("tf.keras.preprocessing.text", __name__)

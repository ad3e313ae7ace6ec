"""tf.contrib.learn: what older scripts use of it: modes, data sets, settings of a run, texts as numbers of words."""
from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import mnist
from ..common.unsupported import refusing
from ..estimator import RunConfig

__all__ = ["ModeKeys", "RunConfig", "datasets", "preprocessing"]
datasets = SimpleNamespace(mnist=mnist)


class ModeKeys:
    """The three things that a model function is called for."""

    TRAIN, EVAL, INFER = "train", "eval", "infer"


class _Vocabulary:
    """Words by number, from 1 on; 0 is any other word."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._mapping = {"<UNK>": 0}
        for word in words:
            self._mapping[word] = len(self._mapping)

    def __len__(self) -> int:
        return len(self._mapping)

    def get(self, category: str) -> int:
        """The number of a word."""
        return self._mapping.get(category, 0)

    def reverse(self, class_id: int) -> str:
        """The word of a number."""
        return list(self._mapping)[class_id]


class _VocabularyProcessor:
    """Texts as rows of numbers of words. max_document_length: of a row, filled up with zeros or cut.

    min_frequency: words that come no more often are no words of their own. tokenizer_fn: texts -> their words.
    """

    def __init__(self, max_document_length: int, min_frequency: int = 0, vocabulary: Any = None,
                 tokenizer_fn: Any = None) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_, self._words = vocabulary or _Vocabulary(), tokenizer_fn or _words_of

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> Any:
        """Learn the words, in the order in which they come; where rare ones are left out, the most frequent first."""
        counts = Counter(word for words in self._words(raw_documents) for word in words)
        kept: Any = counts
        if self.min_frequency > 0:
            kept = [word for word in sorted(counts, key=lambda word: (-counts[word], word))
                    if counts[word] > self.min_frequency]
        self.vocabulary_ = _Vocabulary(kept)
        return self

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """int64[max_document_length] for each text."""
        for words in self._words(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            numbers = [self.vocabulary_.get(word) for word in words][:len(row)]
            row[:len(numbers)] = numbers
            yield row

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[np.ndarray]:
        """fit, then transform."""
        documents = list(raw_documents)
        return self.fit(documents).transform(documents)

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """The words of each row, as one text."""
        return (" ".join(self.vocabulary_.reverse(number) for number in row) for row in documents)

    def save(self, filename: Any) -> None:
        """Write the words to a file, as JSON."""
        with open(filename, "w") as file:
            json.dump([self.max_document_length, self.min_frequency, list(self.vocabulary_._mapping)[1:]], file)

    @classmethod
    def restore(cls, filename: Any) -> Any:
        """What `save` wrote."""
        with open(filename) as file:
            length, frequency, words = json.load(file)
        return cls(length, frequency, _Vocabulary(words))


def _words_of(texts: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text: capitals, capitalized words, and others with their hyphens and apostrophes."""
    return (re.findall(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|['\w\-]+", text) for text in texts)


preprocessing = SimpleNamespace(VocabularyProcessor=_VocabularyProcessor, tokenizer=_words_of)

__getattr__ = refusing("tf.contrib.learn", __name__)

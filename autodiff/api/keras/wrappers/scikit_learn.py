"""tf.keras.wrappers.scikit_learn: models as estimators with the methods that scikit-learn asks for."""
from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ...common.unsupported import refusing
from .. import utils
from ..models import Sequential

__all__ = ["KerasClassifier", "KerasRegressor"]

_LOOPS = (Sequential.fit, Sequential.evaluate, Sequential.predict)


class _Estimator:
    """build_fn: makes the compiled model; or a subclass says __call__. options: of that, fit, predict and evaluate."""

    model: Any = None

    def __init__(self, build_fn: Any = None, **options: Any) -> None:
        self.build_fn, self.sk_params = build_fn, options
        known = {name for function in (*_LOOPS, self._maker()) for name in _takes(function)}
        if unknown := options.keys() - known - {"nb_epoch"}:
            raise ArgumentError(f"{min(unknown)} is not a legal parameter")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of its estimators since 1.6."""
        made, kind = sys.modules["sklearn.utils"], "classifier" if isinstance(self, KerasClassifier) else "regressor"
        return made.Tags(estimator_type=kind, target_tags=made.TargetTags(required=True), **{
            f"{kind}_tags": getattr(made, f"{kind.title()}Tags")()})

    def _maker(self) -> Any:
        return self.__call__ if self.build_fn is None else self.build_fn  # type: ignore[operator]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options, and build_fn."""
        return {**self.sk_params, "build_fn": self.build_fn}

    def set_params(self, **options: Any) -> _Estimator:
        """Other options."""
        self.build_fn = options.pop("build_fn", self.build_fn)
        self.sk_params.update(options)
        return self

    def _given(self, function: Any, **more: Any) -> dict[str, Any]:
        """The options that a function takes."""
        return {**{key: value for key, value in self.sk_params.items() if key in _takes(function)}, **more}

    def fit(self, x: Any, y: Any, **options: Any) -> Any:
        """Make the model and train it. -> what its fit gives."""
        self.model = self._maker()(**self._given(self._maker()))
        is_coded = self.model.loss in ("categorical_crossentropy",) and np.ndim(y) != 2
        epochs = {"nb_epoch": self.sk_params["nb_epoch"]} if "nb_epoch" in self.sk_params else {}
        return self.model.fit(x, utils.to_categorical(y) if is_coded else y,
                              **self._given(Sequential.fit, **epochs, **options))


def _takes(function: Any) -> set[str]:
    return {*inspect.signature(function).parameters} - {"self", "x", "y", "options"}


class KerasClassifier(_Estimator):
    """A model that says of which class examples are. classes_: those of fit, in order."""

    def fit(self, x: Any, y: Any, **options: Any) -> Any:
        """Make the model and train it on classes, or on a one-hot code of them. -> what its fit gives."""
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        else:
            self.classes_, y = np.unique(y.ravel(), return_inverse=True)
        return super().fit(x, y, **options)

    def predict(self, x: Any, **options: Any) -> np.ndarray:
        """The class of each example."""
        said = self.model.predict(x, **self._given(Sequential.predict, **options))
        return self.classes_[said.argmax(-1) if said.shape[-1] > 1 else (said > 0.5).astype(int).ravel()]

    def predict_proba(self, x: Any, **options: Any) -> np.ndarray:
        """The probability of each class. -> float[n, classes]."""
        said = self.model.predict(x, **self._given(Sequential.predict, **options))
        return said if said.shape[1] > 1 else np.hstack([1 - said, said])

    def score(self, x: Any, y: Any, **options: Any) -> float:
        """The share of examples of which it says the right class."""
        y = np.asarray(y)
        return float(np.mean(self.predict(x, **options) == (self.classes_[y.argmax(-1)] if y.ndim == 2 and y.shape[
            1] > 1 else y.ravel())))


class KerasRegressor(_Estimator):
    """A model that says a number of each example."""

    def predict(self, x: Any, **options: Any) -> np.ndarray:
        """A number for each example."""
        return np.squeeze(self.model.predict(x, **self._given(Sequential.predict, **options)), -1)

    def score(self, x: Any, y: Any, **options: Any) -> float:
        """The loss with its sign turned: more is better."""
        found = self.model.evaluate(x, y, **self._given(Sequential.evaluate, **{"verbose": 0, **options}))
        return -float(found[0] if isinstance(found, list) else found)


__getattr__ = refusing("tf.keras.wrappers.scikit_learn", __name__)

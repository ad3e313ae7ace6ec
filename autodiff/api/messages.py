"""The messages of TensorFlow's files by the names that scripts know: tf.GraphDef, tf.Summary, tf.train.Example.

A message's fields are attributes; SerializeToString and ParseFromString write and read it.
"""
from __future__ import annotations

from typing import Any as _Any

from ..files.event_file import EVENT_MESSAGES
from ..files.example_messages import EXAMPLE_MESSAGES
from ..files.graph_messages import GRAPH_MESSAGES
from ..files.meta_graph_messages import META_GRAPH_MESSAGES

AttrValue, GraphDef, NameAttrList, NodeDef, TensorProto, TensorShapeProto, VersionDef = (
    GRAPH_MESSAGES[name] for name in ("AttrValue", "GraphDef", "NameAttrList", "NodeDef", "TensorProto",
                                      "TensorShapeProto", "VersionDef"))
MetaGraphDef, SaverDef, SavedModel, SignatureDef, TensorInfo, VariableDef, CollectionDef, QueueRunnerDef = (
    META_GRAPH_MESSAGES[name] for name in ("MetaGraphDef", "SaverDef", "SavedModel", "SignatureDef", "TensorInfo",
                                           "VariableDef", "CollectionDef", "QueueRunnerDef"))
(Event, HistogramProto, LogMessage, RunMetadata, SessionLog, Summary, SummaryDescription, SummaryMetadata,
 TaggedRunMetadata) = (
    EVENT_MESSAGES[name] for name in ("Event", "HistogramProto", "LogMessage", "RunMetadata", "SessionLog", "Summary",
                                      "SummaryDescription", "SummaryMetadata", "TaggedRunMetadata"))
BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, SequenceExample = (
    EXAMPLE_MESSAGES[name] for name in ("BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features",
                                        "FloatList", "Int64List", "SequenceExample"))

_ALL = {**GRAPH_MESSAGES, **META_GRAPH_MESSAGES, **EVENT_MESSAGES, **EXAMPLE_MESSAGES}


def __getattr__(name: str) -> _Any:
    """Any other message, and the numbers of element types: `DT_FLOAT`."""
    if name in _ALL:
        return _ALL[name]
    if name in GRAPH_MESSAGES["DataType"].numbers:
        return GRAPH_MESSAGES["DataType"].Value(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

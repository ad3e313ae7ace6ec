"""tf.contrib.tensorboard.plugins.projector: which variables TensorBoard shows as points, and their labels.

Source: the numbers, names and kinds of TensorBoard 1.15's descriptors.
"""
from __future__ import annotations

import os
from typing import Any

from ....core.errors import ArgumentError
from ....files.protobuf_schema import messages
from ...common.unsupported import refusing
from ...saved_graphs.meta_graph import write_message

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]
_MESSAGES = messages("""
message SpriteMetadata
    1 string image_path; 2 uint32* single_image_dim
message EmbeddingInfo
    1 string tensor_name; 2 string metadata_path; 3 string bookmarks_path; 4 uint32* tensor_shape;
    5 SpriteMetadata sprite; 6 string tensor_path
message ProjectorConfig
    1 string model_checkpoint_path; 2 EmbeddingInfo* embeddings; 3 string model_checkpoint_dir
""")
EmbeddingInfo, ProjectorConfig, SpriteMetadata = (_MESSAGES[name] for name in __all__[:3])


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Write a ProjectorConfig where TensorBoard looks for it: beside the events of a writer."""
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ArgumentError("Summary writer must have a logdir")
    os.makedirs(logdir, exist_ok=True)
    write_message(config, os.path.join(logdir, "projector_config.pbtxt"), as_text=True)


__getattr__ = refusing("tf.contrib.tensorboard.plugins.projector", __name__)

"""tf.contrib.deprecated: summaries under the names that they had before 1.0."""
from ..common.unsupported import refusing
from ..summary import audio, histogram, image, merge, merge_all, scalar

__all__ = ["audio_summary", "histogram_summary", "image_summary", "merge_all_summaries", "merge_summary",
           "scalar_summary"]
audio_summary, histogram_summary, image_summary, scalar_summary = audio, histogram, image, scalar
merge_summary, merge_all_summaries = merge, merge_all

__getattr__ = refusing("tf.contrib.deprecated", __name__)

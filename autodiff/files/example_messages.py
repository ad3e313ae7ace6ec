"""Messages of examples: features by name, single and in sequences.

Source: the numbers, names and kinds of TensorFlow 1.15's descriptors.
"""
from .protobuf_schema import messages

EXAMPLE_MESSAGES = messages("""
message BytesList
    1 bytes* value
message FloatList
    1 float* value
message Int64List
    1 int64* value
message Feature
    1 BytesList bytes_list | kind; 2 FloatList float_list | kind; 3 Int64List int64_list | kind
message Features
    1 string -> Feature feature
message FeatureList
    1 Feature* feature
message FeatureLists
    1 string -> FeatureList feature_list
message Example
    1 Features features
message SequenceExample
    1 Features context; 2 FeatureLists feature_lists
""")

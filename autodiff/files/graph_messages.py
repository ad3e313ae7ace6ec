"""Messages of graphs: GraphDef, NodeDef, their attributes, functions, tensors and shapes.

Source: the numbers, names and kinds of TensorFlow 1.15's descriptors.
"""
from .protobuf_schema import messages

GRAPH_MESSAGES = messages("""
enum DataType DT_INVALID=0 DT_FLOAT=1 DT_DOUBLE=2 DT_INT32=3 DT_UINT8=4 DT_INT16=5 DT_INT8=6 DT_STRING=7
    DT_COMPLEX64=8 DT_INT64=9 DT_BOOL=10 DT_QINT8=11 DT_QUINT8=12 DT_QINT32=13 DT_BFLOAT16=14 DT_QINT16=15
    DT_QUINT16=16 DT_UINT16=17 DT_COMPLEX128=18 DT_HALF=19 DT_RESOURCE=20 DT_VARIANT=21 DT_UINT32=22
    DT_UINT64=23 DT_FLOAT_REF=101 DT_DOUBLE_REF=102 DT_INT32_REF=103 DT_UINT8_REF=104 DT_INT16_REF=105
    DT_INT8_REF=106 DT_STRING_REF=107 DT_COMPLEX64_REF=108 DT_INT64_REF=109 DT_BOOL_REF=110 DT_QINT8_REF=111
    DT_QUINT8_REF=112 DT_QINT32_REF=113 DT_BFLOAT16_REF=114 DT_QINT16_REF=115 DT_QUINT16_REF=116
    DT_UINT16_REF=117 DT_COMPLEX128_REF=118 DT_HALF_REF=119 DT_RESOURCE_REF=120 DT_VARIANT_REF=121
    DT_UINT32_REF=122 DT_UINT64_REF=123
message TensorShapeProto
    2 TensorShapeProto.Dim* dim; 3 bool unknown_rank
message TensorShapeProto.Dim
    1 int64 size; 2 string name
message TensorProto
    1 DataType dtype; 2 TensorShapeProto tensor_shape; 3 int32 version_number; 4 bytes tensor_content;
    5 float* float_val; 6 double* double_val; 7 int32* int_val; 8 bytes* string_val; 9 float* scomplex_val;
    10 int64* int64_val; 11 bool* bool_val; 12 double* dcomplex_val; 13 int32* half_val;
    14 ResourceHandleProto* resource_handle_val; 15 VariantTensorDataProto* variant_val; 16 uint32* uint32_val;
    17 uint64* uint64_val
message VariantTensorDataProto
    1 string type_name; 2 bytes metadata; 3 TensorProto* tensors
message ResourceHandleProto
    1 string device; 2 string container; 3 string name; 4 uint64 hash_code; 5 string maybe_type_name;
    6 ResourceHandleProto.DtypeAndShape* dtypes_and_shapes
message ResourceHandleProto.DtypeAndShape
    1 DataType dtype; 2 TensorShapeProto shape
message AttrValue
    1 AttrValue.ListValue list | value; 2 bytes s | value; 3 int64 i | value; 4 float f | value; 5 bool b | value;
    6 DataType type | value; 7 TensorShapeProto shape | value; 8 TensorProto tensor | value;
    9 string placeholder | value; 10 NameAttrList func | value
message AttrValue.ListValue
    2 bytes* s; 3 int64* i; 4 float* f; 5 bool* b; 6 DataType* type; 7 TensorShapeProto* shape; 8 TensorProto* tensor;
    9 NameAttrList* func
message NameAttrList
    1 string name; 2 string -> AttrValue attr
message NodeDef
    1 string name; 2 string op; 3 string* input; 4 string device; 5 string -> AttrValue attr;
    6 NodeDef.ExperimentalDebugInfo experimental_debug_info
message NodeDef.ExperimentalDebugInfo
    1 string* original_node_names; 2 string* original_func_names
message OpDef
    1 string name; 2 OpDef.ArgDef* input_arg; 3 OpDef.ArgDef* output_arg; 4 OpDef.AttrDef* attr; 5 string summary;
    6 string description; 8 OpDeprecation deprecation; 16 bool is_aggregate; 17 bool is_stateful;
    18 bool is_commutative; 19 bool allows_uninitialized_input; 20 string* control_output
message OpDef.ArgDef
    1 string name; 2 string description; 3 DataType type; 4 string type_attr; 5 string number_attr;
    6 string type_list_attr; 16 bool is_ref
message OpDef.AttrDef
    1 string name; 2 string type; 3 AttrValue default_value; 4 string description; 5 bool has_minimum; 6 int64 minimum;
    7 AttrValue allowed_values
message OpDeprecation
    1 int32 version; 2 string explanation
message OpList
    1 OpDef* op
message FunctionDefLibrary
    1 FunctionDef* function; 2 GradientDef* gradient
message FunctionDef
    1 OpDef signature; 3 NodeDef* node_def; 4 string -> string ret; 5 string -> AttrValue attr;
    6 string -> string control_ret; 7 uint32 -> FunctionDef.ArgAttrs arg_attr
message FunctionDef.ArgAttrs
    1 string -> AttrValue attr
message GradientDef
    1 string function_name; 2 string gradient_func
message VersionDef
    1 int32 producer; 2 int32 min_consumer; 3 int32* bad_consumers
message GraphDef
    1 NodeDef* node; 2 FunctionDefLibrary library; 3 int32 version; 4 VersionDef versions
""")

"""Which file declares an op, so that only files whose ops are used are loaded; scripts/manual.py writes this one.

An op that is missing here is found all the same, by loading all files.
"""

PLACES: dict[str, str] = {
    "arrays.concat": "ConcatV2 Pack Unpack Split SplitV",
    "arrays.constants": "Const Placeholder PlaceholderWithDefault Identity DebugGradientIdentity GuaranteeConst "
        "IdentityN StopGradient PreventGradient NoOp Fill ZerosLike OnesLike Shape",
    "arrays.diagonal": "Diag DiagPart MatrixDiag MatrixDiagPart MatrixSetDiag MatrixBandPart",
    "arrays.gather": "GatherV2 GatherGrad GatherNd ScatterNd TensorScatterUpdate TensorScatterAdd TensorScatterSub",
    "arrays.partition": "DynamicStitch DynamicPartition InvertPermutation Unique UniqueWithCounts ListDiff "
        "UnravelIndex DataFormatDimMap DataFormatVecPermute",
    "arrays.rearrange": "Tile Pad PadV2 MirrorPad MirrorPadGrad ReverseV2 ReverseSequence Roll",
    "arrays.sequence": "Range LinSpace OneHot SparseToDense",
    "arrays.shape": "Reshape Transpose ConjugateTranspose ExpandDims Squeeze BroadcastTo Size Rank BroadcastArgs "
        "EnsureShape",
    "arrays.slice": "StridedSlice StridedSliceGrad Slice",
    "arrays.sort": "TopKV2 NthElement LowerBound UpperBound Bucketize",
    "arrays.space_blocks": "SpaceToDepth DepthToSpace SpaceToBatchND BatchToSpaceND",
    "common.batch_axis": "EachSlice",
    "control.batched_lists": "ListFirstSlices ListRepeat ListSumSlices ListBatchSize ListSwapAxes",
    "control.frames": "Enter Exit NextIteration LoopCond Merge",
    "control.if_and_while": "Argument Captured If While Recall",
    "control.side_effects": "Assert Print PrintV2 CheckNumerics SwitchSide PyFunc",
    "control.tensor_lists": "ListReserve ListLength ListItem ListItemOrZeros ListOf ListSet ListTrim ListExtend "
        "ListClear ListAdd ListZeros ListStack ListConcat ListSizes ListSplit ListUnstack ListRestack ListGather "
        "ListScatter ListGatherOrZeros",
    "files.bytes": "DecodeRaw DecodePaddedRaw SerializeTensor ParseTensor ReadFile WriteFile MatchingFiles",
    "files.checkpoints": "RestoreV2 SaveV2 MergeV2Checkpoints ShardedFilename",
    "files.examples": "ParseExample DecodeJSONExample ParseSingleExample ParseSingleSequenceExample "
        "ParseSequenceExample",
    "files.pictures": "DecodePng EncodePng",
    "files.stored_graphs": "BroadcastGradientArgs ConcatOffset StackV2 StackPushV2 StackPopV2 NotServed",
    "files.vocabularies": "GenerateVocabRemapping LoadAndRemapMatrix",
    "images.boxes": "SampleDistortedBoundingBoxV2 DrawBoundingBoxesV2",
    "images.color": "RGBToHSV HSVToRGB AdjustHue AdjustSaturation AdjustContrastv2",
    "images.crop": "CropAndResize CropAndResizeGradImage CropAndResizeGradBoxes",
    "images.patches": "ExtractImagePatches ExtractImagePatchesGrad",
    "images.projections": "ImageProjectiveTransformV2",
    "images.resize": "ResizeBilinear ResizeBilinearGrad ResizeBicubic ResizeBicubicGrad ResizeArea "
        "ResizeNearestNeighbor ResizeNearestNeighborGrad",
    "images.scaling": "ScaleAndTranslate ScaleAndTranslateGrad",
    "images.suppression": "NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 "
        "NonMaxSuppressionWithOverlaps",
    "linalg.decompositions": "Cholesky SelfAdjointEigV2 Svd Qr MatrixExponential",
    "linalg.einsum": "Einsum",
    "linalg.matmul": "MatMul BatchMatMulV2 WeightedGram",
    "linalg.roots": "MatrixSquareRoot Sylvester MatrixLogarithm Lu",
    "linalg.solve": "MatrixInverse MatrixSolve MatrixTriangularSolve MatrixDeterminant LogMatrixDeterminant",
    "linalg.tridiagonal": "TridiagonalSolve",
    "math.bits": "BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift PopulationCount CompareAndBitpack "
        "Bitcast NextAfter",
    "math.cast": "Cast Conj Real Imag Complex ComplexAbs Angle",
    "math.comparison": "Equal ApproximateEqual NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr "
        "LogicalXor LogicalNot KeepWhere Select SelectV2 Where",
    "math.cumulative": "Cumsum Cumprod ProdOfOthers Shift Recurrence CumulativeLogsumexp",
    "math.elementwise": "Add AddV2 Sub Mul RealDiv DivNoNan FloorDiv FloorMod TruncateDiv TruncateMod Pow "
        "SquaredDifference Maximum Minimum Cross AddN AccumulateNV2",
    "math.error_functions": "Erf Erfc",
    "math.fft": "FFT IFFT FFT2D IFFT2D FFT3D IFFT3D RFFT IRFFT RFFT2D IRFFT2D RFFT3D IRFFT3D",
    "math.histogram": "HistogramFixedWidth",
    "math.incomplete_integrals": "Igamma Igammac IgammaGradA RandomGammaGrad Betainc",
    "math.inverse_error_function": "Erfinv Ndtri",
    "math.reductions": "KeptShape Sum Mean EuclideanNorm SumTo Prod Max Min All Any ArgMax ArgMin",
    "math.segments": "SortedIds SegmentSum SegmentMean SegmentProd SegmentMax SegmentMin UnsortedSegmentSum "
        "GatherOrZero UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin Bincount",
    "math.sparse_segments": "SparseSegmentMeanGrad SparseSegmentSqrtNGrad",
    "math.special": "Lgamma Digamma Zeta Polygamma BesselI0e BesselI1e Xlogy Xdivy MulNoNan",
    "math.trigonometry": "Sin Cos Tan Asin Acos Atan Atan2 Sinh Cosh Asinh Acosh Atanh",
    "math.unary": "Neg Abs Sign Square Sqrt Rsqrt Reciprocal Exp Expm1 Log Log1p LogOrZero Tanh Sigmoid SqrtGrad "
        "RsqrtGrad ReciprocalGrad TanhGrad SigmoidGrad Floor Ceil Round Rint IsNan IsInf IsFinite",
    "networks.activations": "Relu ReluGrad Swish Relu6 Relu6Grad LeakyRelu LeakyReluGrad Elu EluGrad Selu SeluGrad "
        "Softplus SoftplusGrad Softsign SoftsignGrad",
    "networks.beams": "CTCBeamSearchDecoder GatherTree",
    "networks.bias_and_losses": "BiasAdd BiasAddGrad L2Loss InTopKV2",
    "networks.convolution": "Conv2D Conv2DBackpropInput Conv2DBackpropFilter Conv3D Conv3DBackpropInputV2 "
        "Conv3DBackpropFilterV2",
    "networks.ctc": "CTCLoss CTCLossV2 CTCGreedyDecoder",
    "networks.depthwise_convolution": "DepthwiseConv2dNative DepthwiseConv2dNativeBackpropInput "
        "DepthwiseConv2dNativeBackpropFilter",
    "networks.normalization": "FusedBatchNormV3 BatchNormGrad LRN",
    "networks.pooling": "MaxPool MaxPoolV2 MaxPool3D MaxPoolGrad MaxPool3DGrad MaxPoolGradGrad MaxPool3DGradGrad "
        "AvgPool AvgPool3D AvgPoolGrad AvgPool3DGrad",
    "networks.pooling_argmax": "MaxPoolWithArgmax MaxPoolGradWithArgmax MaxPoolGradGradWithArgmax",
    "networks.softmax": "Softmax LogSoftmax SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits",
    "random.candidate_sampling": "LogUniformCandidateSampler UniformCandidateSampler FixedUnigramCandidateSampler "
        "LearnedUnigramCandidateSampler AllCandidateSampler ComputeAccidentalHits",
    "random.stateful": "RandomStandardNormal RandomUniform TruncatedNormal RandomUniformInt RandomShuffle "
        "Multinomial RandomGamma RandomPoissonV2",
    "random.stateless": "StatelessRandomNormal StatelessRandomUniform StatelessTruncatedNormal "
        "StatelessRandomUniformInt StatelessMultinomial",
    "random.threefry": "Threefry2x32",
    "sparse.arrangement": "SparseReorder SparseReshape SparseSlice SparseConcat SparseSplit SparseFillEmptyRows "
        "SparseSoftmax",
    "sparse.edit_distance": "EditDistance",
    "sparse.pairs": "SparseMatch SparseAdd SparseSparseMaximum SparseSparseMinimum",
    "sparse.serialization": "SerializeSparse SerializeManySparse DeserializeSparse",
    "sparse.sets": "SetOperation",
    "sparse.with_dense": "SparseTensorDenseMatMul SparseDenseCwiseMul SparseDenseCwiseDiv SparseTensorDenseAdd "
        "SparseReduceSum SparseReduceMax SparseReduceSumSparse SparseReduceMaxSparse",
    "state.optimizer_steps": "ApplyGradientDescent ApplyMomentum ApplyAdagrad ApplyAdagradDA ApplyAdadelta "
        "ApplyRMSProp ApplyCenteredRMSProp ApplyAdam ApplyAdaMax ApplyFtrl ApplyFtrlV2 ApplyProximalGradientDescent "
        "ApplyProximalAdagrad",
    "state.queues": "FIFOQueueV2 PaddingFIFOQueueV2 RandomShuffleQueueV2 PriorityQueueV2",
    "state.scatter": "StridedSliceAssign ScatterUpdate ScatterNdUpdate ScatterAdd ScatterNdAdd ScatterSub "
        "ScatterNdSub ScatterMul ScatterDiv ScatterMin ScatterMax",
    "state.sparse_optimizer_steps": "SparseApplyMomentum SparseApplyAdagrad SparseApplyAdagradDA "
        "SparseApplyAdadelta SparseApplyRMSProp SparseApplyCenteredRMSProp SparseApplyFtrl SparseApplyFtrlV2 "
        "SparseApplyProximalGradientDescent SparseApplyProximalAdagrad",
    "state.summary": "ScalarSummary HistogramSummary ImageSummary TensorSummaryV2 AudioSummaryV2 MergeSummary",
    "state.tables": "HashTableV2 MutableHashTableV2 MutableHashTableOfTensorsV2 MutableDenseHashTableV2 "
        "LookupTableImportV2 InitializeTableFromTextFileV2 LookupTableInsertV2 LookupTableRemoveV2 LookupTableFindV2 "
        "LookupTableSizeV2 LookupTableExportV2",
    "state.variables": "VariableV2 VarHandleOp ReadVariableOp ResourceGather AssignVariableOp AssignAddVariableOp "
        "AssignSubVariableOp VarIsInitializedOp DestroyResourceOp Assign AssignAdd AssignSub CountUpTo "
        "ResourceCountUpTo IsVariableInitialized InitializedValue",
    "strings.characters": "StringLower StringUpper StringStrip StringLength Substr RegexReplace RegexFullMatch "
        "EncodeBase64 DecodeBase64",
    "strings.hashes": "StringToHashBucketFast StringToHashBucketStrong StringToHashBucket",
    "strings.numbers": "AsString StringToNumber",
    "strings.pieces": "StringJoin ReduceJoin UnsortedSegmentJoin StringSplit StringSplitV2 StringFormat",
}

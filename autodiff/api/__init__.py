"""TensorFlow's names, made of ops: a module or folder here is the namespace of the same name in TensorFlow.

`tf.nn` is nn/, `tf.train` is train/. What TensorFlow has at its top, without a namespace, is in arrays/, math/,
control/ and variables/. Nothing here runs a graph. Start with math/elementwise.py.
"""

"""The package `keras` of TensorFlow 1's time: tf.keras, but for what stands here; its paths are in places.py.

Start with layers.py.
"""

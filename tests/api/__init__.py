"""TensorFlow's names: values, names and errors as TensorFlow 1.15.5 has them."""

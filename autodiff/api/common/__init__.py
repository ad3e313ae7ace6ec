"""What all of TensorFlow's names share: public import paths, renamed arguments, the answer for a missing name."""

"""What a graph is: tests of the room core."""

"""Graphs as TensorFlow stores them: GraphDef and MetaGraphDef out of a graph, and a graph out of them.

`writing` makes a GraphDef of a graph, `reading` a graph of a GraphDef; `differences` lists the ops whose inputs or
attributes have another form here; `functions` are the bodies of loops and branches; `regions` turns Switch, Merge,
Enter and their like into functions; `missing_ops` builds ops that only TensorFlow has. Start with reading.py.
"""

"""Experiments: what the documents behind the library claim, each with a file of results and a page made from it.

They read the folder that PEGASOS_DATA names: one ``<name>.npz`` for each data set.
"""

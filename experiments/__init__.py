"""Experiments on real data: what the kernels reach, with every figure written to a file and a page made from it.

They read the folder that PEGASOS_DATA names: one ``<name>.npz`` for each data set.
"""

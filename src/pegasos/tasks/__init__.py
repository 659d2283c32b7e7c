"""What y means: how targets become problems, and how scores become answers."""

from pegasos.tasks.base import Known, Members, Scores, Target, Task, Weights, numbers, sizes
from pegasos.tasks.crammer_singer import CrammerSinger
from pegasos.tasks.many_labels import ManyLabels
from pegasos.tasks.one_class import OneClass
from pegasos.tasks.one_vs_one import OneVsOne, Pairs, losses_of_zero, pairs_of
from pegasos.tasks.one_vs_rest import Classification, OneVsRest, winners
from pegasos.tasks.regression import Regression
from pegasos.tasks.terms import Terms

CLASSIFICATIONS: dict[str, type[OneVsRest]] = {task.name: task for task in (OneVsRest, OneVsOne, CrammerSinger)}
STORED_CLASSIFICATIONS: dict[str, type[OneVsRest]] = {**CLASSIFICATIONS, ManyLabels.name: ManyLabels}

__all__ = [
    "CLASSIFICATIONS",
    "STORED_CLASSIFICATIONS",
    "Classification",
    "CrammerSinger",
    "Known",
    "ManyLabels",
    "Members",
    "OneClass",
    "OneVsOne",
    "OneVsRest",
    "Pairs",
    "Regression",
    "Scores",
    "Target",
    "Task",
    "Terms",
    "Weights",
    "losses_of_zero",
    "numbers",
    "pairs_of",
    "sizes",
    "winners",
]

"""Hooks: what is done before and after each run of a monitored session. Start with hook.py."""

from .hook import SecondOrStepTimer, SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from .reporting import FeedFnHook, FinalOpsHook, LoggingTensorHook, StepCounterHook
from .saving import CheckpointSaverHook, CheckpointSaverListener, ProfilerHook, SummarySaverHook
from .stopping import GlobalStepWaiterHook, NanLossDuringTrainingError, NanTensorHook, StopAtStepHook

__all__ = ["CheckpointSaverHook", "CheckpointSaverListener", "FeedFnHook", "FinalOpsHook", "GlobalStepWaiterHook",
           "LoggingTensorHook", "NanLossDuringTrainingError", "NanTensorHook", "ProfilerHook", "SecondOrStepTimer",
           "SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues", "StepCounterHook",
           "StopAtStepHook", "SummarySaverHook"]

"""Whether new variables are resources; names of how copies are combined, accepted without effect."""
from __future__ import annotations

from ...core.graph import get_default_graph

_RESOURCE_BY_DEFAULT = "resource_variables"


class VariableSynchronization:
    """When copies of a variable are brought together: there is one. What is for ON_READ is not trained by default."""

    AUTO, NONE, ON_WRITE, ON_READ = range(4)


class VariableAggregation:
    """How copies of a variable are brought together; accepted without effect, there is one copy."""

    NONE, SUM, MEAN, ONLY_FIRST_REPLICA, ONLY_FIRST_TOWER = 0, 1, 2, 3, 3


def enable_resource_variables() -> None:
    """Make every new variable of the default graph a resource."""
    get_default_graph().outermost.extras[_RESOURCE_BY_DEFAULT] = True


def disable_resource_variables() -> None:
    """Make new variables of the default graph references again."""
    get_default_graph().outermost.extras[_RESOURCE_BY_DEFAULT] = False


def resource_variables_enabled() -> bool:
    """Whether a new variable of the default graph is a resource when nothing else is asked for."""
    return bool(get_default_graph().outermost.extras.get(_RESOURCE_BY_DEFAULT, False))

"""The ring: past runs that are remembered, within a budget of memory.

A run is remembered by what it was fed and by the values that variables had before it. Those values are kept of some
runs only, and made again for the runs between: by making the runs since then again, which gives the same to the bit.
Where a place on disk is given, what memory has no room for goes there.
"""
from __future__ import annotations

import operator
from bisect import bisect_left
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, overload

from ...runtime.plan.variable_values import Snapshot
from ...runtime.session import Session
from ..facts.stats import has_nonfinite
from .disk_cache import Disk, put_away
from .replay import Moment, Replayer

_MOST = 512  # runs remembered in memory
_MOST_STORED = 10_000  # and on disk
_APART = 16  # runs from one whose variables are kept to the next
_AGAIN = 40.0  # ms: what making runs again may take
_FIRST, _FIRST_AGAIN, _FIRST_SHARE = 48, 1000.0, 2  # runs of the beginning; ms of making them again; part of the budget
_STEPS, _STEPS_SHARE = 48, 8  # training runs beside others; part of the budget that they may take
_FOUND, _SMALL = 4, 32 * 2**20  # groups of values made again that are kept, more of them within so many bytes


class Later(Mapping[str, Any]):
    """Values of variables by name as `before` left them, made again when one of them is asked for."""

    __slots__ = ("before", "_ring", "_names")

    def __init__(self, ring: "Ring", before: Moment, names: tuple[str, ...]) -> None:
        self.before, self._ring, self._names = before, ring, names

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._ring.values_of(self)[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def following(self, before: Moment) -> Later:
        """The same as another left them."""
        return Later(self._ring, before, self._names)

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Ring(Sequence[Moment]):
    """Moments, oldest first; first those on disk. spent: bytes that feeds and variables of the others take.

    beginning: the first runs of all, once they are forgotten otherwise: how a training began says what it came from.
    steps: likewise the last training runs, each with the run that followed, where few of the others are such.
    turn: likewise the runs by which variables first came to hold nan or inf, with some before and after these.
    disk: where runs go that memory has no room for, or None. trouble: why no more of them do, "" if none or told.
    """

    def __init__(self, replayer: Replayer, trained: Callable[[], Sequence[int]] = list[int]) -> None:
        """trained: gives the numbers of all training runs by now, in order."""
        self.spent = 0
        self.steps: deque[tuple[Moment, Moment]] = deque()
        self._trained = trained
        self.disk: Disk | None = None
        self.beginning: list[Moment] = []
        self.turn: list[Moment] = []
        self.trouble = ""
        self._replayer = replayer
        self._moments: deque[Moment] = deque()
        self._costs: deque[int] = deque()  # bytes that each in memory does not share with the one before it
        self._found: OrderedDict[Later, dict[str, Any]] = OrderedDict()
        self._left: dict[str, Any] | None = None  # variables after the last run, if making it again gives them
        self._since, self._again, self._group = 0, 0.0, 0  # runs, ms and bytes since variables were kept
        self._usual = float("inf")  # ms: what runs take of late
        self._is_short, self._goes_on = False, False  # the time since variables were kept; the run before leads here
        self._first: deque[tuple[bool, float]] = deque()  # of the first runs: whether that led to it, and ms
        self._before: list[Moment] | None = []  # the runs that were forgotten last; None once the turn is whole
        self._room: list[float] = [_FIRST, _FIRST_AGAIN, float("inf")]  # for the beginning: runs, ms, bytes

    def __len__(self) -> int:
        return len(self._moments)

    @overload
    def __getitem__(self, index: int) -> Moment: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Moment]: ...

    def __getitem__(self, index: int | slice) -> Moment | Sequence[Moment]:
        return self._moments[index] if isinstance(index, int) else list(self._moments)[index]

    def __iter__(self) -> Iterator[Moment]:
        return iter(self._moments)

    def variables(self, session: Session) -> Mapping[str, Any]:
        """The variables that a session's next run begins with; made again later where the last run left them."""
        present, left = session.variables, self._left
        self._left = None  # or the run could not use the memory of the values that it replaces
        names = tuple(present)
        self._goes_on = left is not None and names == tuple(left) and all(
            map(operator.is_, left.values(), present.values()))
        return Later(self, self._moments[-1], names) if self._goes_on and self._is_short else present.snapshot()

    def keep(self, moment: Moment, budget: int, ms: float = 0.0, left: Mapping[str, Any] | None = None) -> None:
        """Remember a run; the oldest go when there are too many, or take more than `budget` bytes.

        left: the variables after it, if making it again gives the same; None if it may not. ms: what it took.
        """
        cost = _cost_after(moment, self._moments[-1] if self._moments else None)
        self._usual = ms = min(ms, 1.1 * self._usual)  # a pause of the machine says nothing about the run
        if type(moment.variables) is Later:
            self._since, self._again, self._group = self._since + 1, self._again + ms, self._group + cost
        else:
            self._since, self._again, self._group = 1, ms, cost
        is_first = len(self.beginning) + len(self._first) < _FIRST and min(self._room) >= 0 and self.disk is None
        self._is_short = self._since < _APART and self._again < _AGAIN and self._group < budget // 8
        self._left = dict(left) if left is not None and (self._is_short or is_first) else None
        if is_first:
            self._first.append((self._goes_on, ms))
            self._room[2] = budget / _FIRST_SHARE
        self.spent += cost
        self._moments.append(moment)
        self._costs.append(cost)
        while len(self._costs) > _MOST or self.spent > budget and len(self._costs) > 2:
            if not self._drop(budget):
                break

    def _drop(self, budget: int) -> bool:
        """Let the oldest run go, and those whose variables only it can give; whether any run is left to do so."""
        away = self.away
        following = next((i for i, m in enumerate(islice(self._moments, away, None)) if i and not isinstance(
            m.variables, Later)), None)
        if following is None:
            return False
        next_one = self._moments[away + following]
        whole = sum(v.nbytes for side in (_parts(next_one), next_one.feeds) for v in side.values())
        if not self._spill(group := list(islice(self._moments, away, away + following))):
            self._set_aside(group)
            self._keep_turn(group, next_one, budget)
            self._keep_steps(group, next_one, budget)
            for _ in range(following):
                self._moments.popleft()
        for _ in range(following):
            self.spent -= self._costs.popleft()
        self.spent += whole - self._costs[0]  # what it shared with those before it is its own now
        self._costs[0] = whole
        return True

    def _set_aside(self, group: Sequence[Moment]) -> None:
        """Add runs that are forgotten to the beginning while there is room, with variables that it makes again."""
        for moment, (goes_on, ms) in zip(group, list(self._first)):
            self._first.popleft()
            if goes_on and self.beginning and not isinstance(moment.variables, Later):
                moment.variables = Later(self, self.beginning[-1], tuple(moment.variables))
            need = (1, ms, _cost_after(moment, self.beginning[-1] if self.beginning else None))
            self._room = [left - taken for left, taken in zip(self._room, need)]
            if min(self._room) < 0:
                self._first.clear()
                break
            self.beginning.append(moment)

    def _keep_turn(self, group: list[Moment], following: Moment, budget: int) -> None:
        """Of runs that are forgotten keep those after which the first variables are not finite, and their neighbors."""
        if self._before is None:
            return
        if self.turn:
            self.turn, self._before = [*self.turn, *group], None
        elif any(has_nonfinite(value) for value in following.variables.values()):
            self.turn = [*self._before, *group]
        else:
            self._before = group if sum(islice(self._costs, len(group))) < budget // 8 else []

    def _keep_steps(self, group: list[Moment], following: Moment, budget: int) -> None:
        """Of runs that are forgotten keep those that trained, while those that are not forgotten have few of them."""
        trained = self._trained()
        known = bisect_left(trained, following.run)
        if len(trained) - known >= _STEPS:
            self.steps.clear()
            return
        of_group = {*trained[bisect_left(trained, group[0].run):known]}
        self.steps.extend(pair for pair in zip(group, [*group[1:], following]) if pair[0].run in of_group)
        room = budget // _STEPS_SHARE
        while len(self.steps) > _STEPS or self.steps and len(self.steps) * sum(map(_whole, self.steps[-1])) > room:
            self.steps.popleft()

    @property
    def away(self) -> int:
        """How many runs are on disk."""
        return self.disk.count if self.disk is not None else 0

    def spill(self, limit: int) -> None:
        """From now on put up to `limit` bytes of runs on disk; with 0 none, and those there are given up.

        Raises OSError if no temporary folder can be made.
        """
        self.trouble = ""
        if self.disk is None and limit:
            self.disk = Disk(limit)
        elif self.disk is not None and limit:
            self.disk.limit = limit
            self._forget_stored()
        elif self.disk is not None:
            self._leave_disk()

    def resume(self, limit: int) -> None:
        """Like `spill`, in the background; a failure is reported with the next run."""
        try:
            self.spill(limit)
        except OSError as error:
            self.trouble = f"no steps go to disk: {error.strerror or error}; they are kept in memory only"

    def take_trouble(self) -> str:
        """Why no more runs go to disk, once; "" if they do, or it was told."""
        trouble, self.trouble = self.trouble, ""
        return trouble

    def _spill(self, group: list[Moment]) -> bool:
        """Put the oldest runs in memory on disk; whether this was asked for and done."""
        disk = self.disk
        if disk is None:
            return False
        away = disk.count
        try:
            moved = put_away(disk, group, lambda before, variables: variables.following(before))
        except OSError as error:
            self.trouble = (f"no more steps go to disk: {error.strerror or error}; the {away} there are given up, and "
                            "steps are kept in memory only")
            self._leave_disk()
            return False
        for i, moment in enumerate(moved, away):
            self._moments[i] = moment
        self._forget_stored()
        return True

    def _forget_stored(self) -> None:
        """Give up the oldest runs on disk, if there are too many."""
        disk = self.disk
        while disk is not None and disk.count and (disk.spent > disk.limit or disk.count > _MOST_STORED):
            for _ in range(disk.forget()):
                self._moments.popleft()

    def _leave_disk(self) -> None:
        assert self.disk is not None
        for _ in range(self.away):
            self._moments.popleft()
        self.disk.close()
        self.disk = None

    def values_of(self, later: Later) -> dict[str, Any]:
        """The values, from the nearest run before of which they are known."""
        chain: list[Later] = []
        known: Mapping[str, Any] = later
        while isinstance(known, Later) and known not in self._found:
            chain.append(known)
            known = known.before.variables
        values = self._found[known] if isinstance(known, Later) else known
        for each in reversed(chain):
            values = self._found[each] = self._replayer.after(each.before, values)
            most = max(_FOUND, _SMALL // (1 + sum(v.nbytes for v in values.values())))
            while len(self._found) > most:
                self._found.popitem(last=False)
        assert isinstance(values, dict)
        self._found.move_to_end(later)
        return values


def _whole(moment: Moment) -> int:
    """Bytes of all that is kept with a moment, so that it can be made again."""
    fed = sum(v.nbytes for v in moment.feeds.values())
    return fed + (_whole(moment.variables.before) if isinstance(moment.variables, Later) else sum(
        v.nbytes for v in _parts(moment).values()))


def _cost_after(moment: Moment, neighbor: Moment | None) -> int:
    """Bytes of a moment's values that a neighboring moment does not share."""
    fed = neighbor.feeds if neighbor is not None else {}
    cost = sum([v.nbytes for k, v in moment.feeds.items() if fed.get(k) is not v])
    if type(moment.variables) is Later:
        return cost
    other = _parts(neighbor) if neighbor is not None and type(neighbor.variables) is not Later else {}
    return cost + sum([v.nbytes for k, v in _parts(moment).items() if other.get(k) is not v])


def _parts(moment: Moment) -> Mapping[str, Any]:
    """The values of variables before a run, as they are kept."""
    return moment.variables.parts if isinstance(moment.variables, Snapshot) else moment.variables

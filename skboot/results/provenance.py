"""Where a result comes from: seed, arguments, versions, what it is conditioned on, and notes.

``settings`` are for readers: nothing in the package asks them. What words and numbers hang on is in
`CallFacts`, which those who make a result give; `gathered` alone derives it, for files of before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from .._base.streams import stored_seed
from .._base.versions import versions_used
from .storage import plain


@dataclass(frozen=True)
class CallFacts:
    """What words and numbers of a result hang on, and is known of its call alone.

    Attributes
    ----------
    n_tasks : tuple of int
        Tasks that the metric is averaged over: one number, or one for each system where they
        differ; empty without tasks.
    block_length : int
        Rows in a block of rows in time order; 0 where none are drawn.
    weighted : bool
        Whether rows carry weights.
    by_subgroup : bool
        Whether the call asked for each subgroup.
    varied : {"seed", "training", "both", "independent"} or None
        In what runs differ; None without runs.
    runs_of_values : bool
        Whether runs are values that were given, without a truth: they need not have been trained.
    paired : bool
        Of a comparison: whether all systems were scored on the same rows.
    paired_runs : bool
        Of a comparison: whether the runs of two methods belong together, pair by pair.
    n_labelled : int
        Rows with a human label, where a judge labelled all; 0 without a judge.
    proxy_weight : float or None
        Weight of the judge's labels; None without a judge.
    labels_alone : str
        Estimate and limits of human labels alone, where there is a judge.
    """

    n_tasks: tuple[int, ...] = ()
    block_length: int = 0
    weighted: bool = False
    by_subgroup: bool = False
    varied: str | None = None
    runs_of_values: bool = False
    paired: bool = True
    paired_runs: bool = False
    n_labelled: int = 0
    proxy_weight: float | None = None
    labels_alone: str = ""


NOTHING_ASKED = CallFacts()
"""Facts of a call that asks for nothing of all that."""


@dataclass(frozen=True)
class Provenance:
    """What every result keeps of the call that made it.

    Attributes
    ----------
    notes : tuple of str
        What a reader must know.
    held_fixed : tuple of str
        What the interval does not vary.
    seed : int, list, dict or None
        Entropy of the random numbers; of a `numpy.random.SeedSequence` what makes it again.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter; those in use unless given.
    facts : CallFacts
        What of the call decides words and numbers.
    """

    notes: tuple[str, ...] = ()
    held_fixed: tuple[str, ...] = ()
    seed: Any = None
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions_used)
    facts: CallFacts = NOTHING_ASKED

    def __post_init__(self) -> None:
        seed = self.seed
        held = {
            "notes": tuple(self.notes),
            "held_fixed": tuple(self.held_fixed),
            "seed": plain(stored_seed(seed) if isinstance(seed, np.random.SeedSequence) else seed),
            "settings": plain(self.settings),
            "versions": plain(self.versions),
        }
        for name, value in held.items():
            object.__setattr__(self, name, value)


class FromACall:
    """What all results share that hold a `Provenance`: its values are theirs."""

    provenance: Provenance

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        return self.provenance.notes

    @property
    def held_fixed(self) -> tuple[str, ...]:
        """What the interval does not vary."""
        return self.provenance.held_fixed

    @property
    def seed(self) -> Any:
        """Entropy of the random numbers."""
        return self.provenance.seed

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call."""
        return self.provenance.settings

    @property
    def n_labelled(self) -> int | None:
        """Rows with a human label, where a judge labelled all; None without a judge."""
        return self.provenance.facts.n_labelled or None

    @property
    def proxy_weight(self) -> float | None:
        """Weight of the judge's labels, 0 where they were not used; None without a judge."""
        return self.provenance.facts.proxy_weight

    @property
    def versions(self) -> dict[str, str]:
        """Versions of skboot, Python and the packages that matter."""
        return self.provenance.versions

    @property
    def _of_judge(self) -> dict[str, Any]:
        """What tables and records hold where there is a judge: nothing without one."""
        if self.proxy_weight is None:
            return {}
        return {"n_labelled": self.n_labelled, "proxy_weight": self.proxy_weight}

    def _with_provenance(self, **changes: Any) -> Self:
        """Return the result with other values of its provenance."""
        own: Any = self
        changed: Self = replace(own, provenance=replace(self.provenance, **changes))
        return changed

    def _held(self) -> dict[str, Any]:
        """Return all fields by name, those of the provenance, without its facts, last."""
        own: Any = self
        held = {f.name: getattr(own, f.name) for f in fields(own) if f.name != "provenance"}
        return held | {name: getattr(self.provenance, name) for name in _FOR_READERS}

    def _to_parts(self) -> dict[str, Any]:
        """Return all fields as a file holds them."""
        return self._held() | {"facts": asdict(self.provenance.facts)}


_FOR_READERS = tuple(f.name for f in fields(Provenance) if f.name != "facts")


def gathered(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file holds of a result, with its provenance as one value."""
    facts = CallFacts(**parts["facts"]) if "facts" in parts else _of_before(parts)
    held = {"versions": {}} | {name: parts[name] for name in _FOR_READERS if name in parts}
    others = {name: own for name, own in parts.items() if name not in (*_FOR_READERS, "facts")}
    return others | {"provenance": Provenance(**held, facts=facts)}


def _of_before(parts: Mapping[str, Any]) -> CallFacts:
    """Return the facts of a file that holds them in its settings alone."""
    settings = parts.get("settings", {})
    tasks = settings.get("average_over") or {}
    return CallFacts(
        n_tasks=tuple(tasks.values()) if isinstance(tasks, Mapping) else (tasks,),
        block_length=settings.get("block_length") or 0,
        weighted=bool(settings.get("sample_weight")),
        by_subgroup=bool(settings.get("by")),
        varied=settings.get("varied"),
        runs_of_values=not settings.get("y_true", True),
        paired=bool(settings.get("paired", True)),
        paired_runs=bool(settings.get("paired_runs")),
    )

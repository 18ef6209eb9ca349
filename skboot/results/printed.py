"""`check_table`: what the accuracies of a printed table allow by themselves, a `TableCheck`.

A printed score is rounded, and it is a whole number of right rows by n. These two facts say which
numbers of right rows a score may stand for, if any, and how small and how large the p-value of two
scores on the same rows may be. Decimals are kept as they are written, in exact fractions.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .._base import checks as check
from .._base.doors import door
from .._base.errors import collected, say, tell, texts_of, thousands
from .._base.reading import BadCall, read_columns
from ..inference.proportions import mcnemar_p_values, whole_number, wilson_limits
from . import rendering, result, wording
from .comparison_texts import MAX_SHOWN, p_number
from .result import FromACall, Provenance, Shown, gathered

if TYPE_CHECKING:
    from ..plots import IntervalDisplay

# Most decimals of a number that is no text: in later ones an unrounded share differs from its
# fraction, by the error of a float, and nobody prints so many (record 0101).
_MOST_DECIMALS = 9
_NEEDED, _OPTIONAL = ("system", "score"), ("n", "decimals")
_OUTCOMES = {
    "always": "significantly different whatever the predictions",
    "depends": "significantly different or not, depending on the predictions",
    "never": "not significantly different, whatever the predictions",
}
_EXAMPLE = "Use {'system': ['A', 'B'], 'score': ['0.934', '0.921'], 'n': [1000, 1000]}."


class PrintedScore(NamedTuple):
    """A row of a printed table, and what it allows.

    Attributes
    ----------
    system : str
        Name.
    printed : str
        The score with all its decimals.
    score : float
        As a fraction.
    decimals : int
        Decimals of ``printed``.
    n : int
        Test rows.
    k_low, k_high : int or None
        Fewest and most right rows that are printed so; None where no number of them is.
    low, high : float
        Wilson's limits: the lower one of ``k_low``, the upper one of ``k_high``; NaN without them.

    Examples
    --------
    >>> from skboot import check_table
    >>> table = {"system": ["A", "B"], "score": ["93.4", "92.4"]}
    >>> row = check_table(table, n=1000).rows[0]
    >>> row.printed, row.k_low, row.k_high
    ('93.4', 934, 934)
    """

    system: str
    printed: str
    score: float
    decimals: int
    n: int
    k_low: int | None
    k_high: int | None
    low: float
    high: float


class PrintedPair(NamedTuple):
    """Two rows of a printed table, and what their scores say of the exact McNemar test.

    Attributes
    ----------
    first, second : str
        Names.
    difference : float
        Score of the first minus that of the second, as fractions.
    n : int
        Test rows, the same for both.
    p_smallest, p_largest : float
        Over all predictions with these two scores.
    significant : {"always", "depends", "never"}
        Whether the two are significantly different: with all such predictions, some or none.

    Examples
    --------
    >>> from skboot import check_table
    >>> table = {"system": ["A", "B"], "score": ["93.4", "92.4"]}
    >>> [pair] = check_table(table, n=1000).pairs
    >>> f"{pair.p_smallest:.3f} to {pair.p_largest:.3f}", pair.significant
    ('0.002 to 0.450', 'depends')
    """

    first: str
    second: str
    difference: float
    n: int
    p_smallest: float
    p_largest: float
    significant: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TableCheck(FromACall, Shown):
    """Conclusions that the scores of a printed table allow.

    `skboot.check_table` makes them. Two checks are equal if all they hold is equal; they cannot be
    hashed or changed. A data frame, Markdown and LaTeX hold the pairs; ``pd.DataFrame(check.rows)``
    holds the rows.

    Attributes
    ----------
    rows : tuple of PrintedScore
        One per system, in the order of the table: ``system``, ``printed``, ``score``, ``decimals``,
        ``n``, ``k_low``, ``k_high``, ``low``, ``high``.
    pairs : tuple of PrintedPair
        One per two systems with the same n whose scores are possible: ``first``, ``second``,
        ``difference``, ``n``, ``p_smallest``, ``p_largest``, ``significant``.
    in_percent : bool
        Whether the scores were read as percent.
    confidence_level : float
        Confidence level of Wilson's limits; two systems are significantly different if p is at most
        1 minus this.
    notes : tuple of str
        How the table was read, and what the check assumes.
    held_fixed : tuple of str
        Empty.
    seed : None
        Checks use no random numbers.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter.

    Examples
    --------
    >>> from skboot import check_table
    >>> table = {"system": ["A", "B", "C"], "score": ["93.4", "92.4", "85.0"]}
    >>> check = check_table(table, n=1000)
    >>> check.rows[0].k_low, check.rows[0].k_high
    (934, 934)
    >>> for pair in check.pairs:
    ...     print(pair.first, pair.second, pair.significant)
    A B depends
    A C always
    B C always
    """

    rows: tuple[PrintedScore, ...]
    pairs: tuple[PrintedPair, ...]
    in_percent: bool
    confidence_level: float
    _provenance: Provenance = field(default_factory=Provenance)

    _format = "skboot.TableCheck", 1
    _noun = "check of a table"
    _display = "IntervalDisplay.from_check"

    if TYPE_CHECKING:

        def plot(self, **kwargs: Any) -> IntervalDisplay: ...

    # -------------------------------------------------------------- text

    def __str__(self) -> str:
        scores = wording.counted(len(self.rows), "printed score")
        return f"{scores}, {wording.counted(len(self.pairs), 'pair')}"

    def summary(self) -> str:
        """Describe the check in several short lines of plain text.

        Returns
        -------
        str
            Scores that are impossible, which pairs are significantly different with all, some or no
            predictions, all rows and pairs (of many pairs those with the highest score), and notes.
        """
        return self._summary(rendering.IN_A_SUMMARY)

    def _summary(self, options: rendering.TableOptions) -> str:
        facts = rendering.text_list(self._facts())
        tables = map(rendering.text_table, self._tables_of(self._shown_pairs(), options))
        return "\n\n".join([f"{self._heading()}\n{facts}", *tables])

    @door("TableCheck.claim")
    def claim(self) -> str:
        """Say the check in sentences for a paper.

        Returns
        -------
        str
            How many pairs are significantly different with all, some or no predictions, and which
            scores are impossible.
        """
        pairs = wording.counted(len(self.pairs), "pair")
        test = f"by the exact McNemar test at p <= {self._alpha:g}, each pair by itself"
        sentences = ["No pair of these printed scores can be tested."]
        if self.pairs:
            outcomes = "; ".join(self._outcomes().values())
            sentences = [f"Of {pairs} of printed scores, {test}: {outcomes}."]
        return " ".join([*sentences, *(f"{self._doubt(row)}." for row in self._impossible())])

    def to_dict(self) -> dict[str, Any]:
        """Return all that is held, ready for JSON.

        Returns
        -------
        dict
            Rows and pairs are dicts; NaN is None.
        """
        record = self._held()
        record |= {name: [row._asdict() for row in record[name]] for name in ("rows", "pairs")}
        return dict(result.plain(record, for_json=True))

    def _heading(self) -> str:
        return f"Printed table: {self}"

    def _facts(self) -> list[tuple[str, str]]:
        """Return what a reader should know, as label and text."""
        ask = "Does it average several runs, or was n another one?"
        facts = [("impossible", f"{self._doubt(row)}. {ask}") for row in self._impossible()]
        if self.pairs:
            test = f"exact McNemar test, significant at p <= {self._alpha:g}, each pair by itself"
            facts.append(("test", test))
            facts += list(self._outcomes().items())
            for name in _highest(self.rows):
                never = [pair[:2] for pair in self.pairs if pair.significant == "never"]
                rivals = [
                    name_b if name_a == name else name_a
                    for name_a, name_b in never
                    if name in (name_a, name_b)
                ]
                if rivals:
                    best = "has the highest score, and no predictions make it significantly"
                    text = f"{name} {best} different from {wording.named(rivals)}"
                    facts.append(("bold type", text))
        if len(self._shown_pairs()) < len(self.pairs):
            facts.append(("shown", "pairs with the highest score; .pairs and to_frame() hold all"))
        return facts + [("note", note) for note in self.notes]

    def _doubt(self, row: PrintedScore) -> str:
        """Say that no number of right rows gives a score, and what the nearest ones give."""
        below = math.floor(row.score * row.n)
        near = wording.listed(
            [
                f"{k} would give {rendering.number(self._unit * k / row.n, row.decimals)}"
                for k in (below, below + 1)
                if k <= row.n
            ]
        )
        right = f"No number of right rows of {thousands(row.n)} gives the score of"
        return f"{right} {row.system}, {row.printed} ({near})"

    def _outcomes(self) -> dict[str, str]:
        """Return how many pairs are significant always, perhaps and never, and which."""
        counts: dict[str, str] = {}
        for name, words in _OUTCOMES.items():
            pairs = [f"{p.first} vs {p.second}" for p in self.pairs if p.significant == name]
            if pairs:
                start = f"{len(pairs)} {'is' if len(pairs) == 1 else 'are'} {words}"
                counts[name] = f"{start} ({wording.named(pairs)})"
        return counts

    # -------------------------------------------------------------- parts

    @property
    def _unit(self) -> int:
        return 100 if self.in_percent else 1

    @property
    def _alpha(self) -> float:
        """Largest p-value that is significant, without the error of a subtraction."""
        return round(1 - self.confidence_level, 12)

    def _impossible(self) -> list[PrintedScore]:
        return [row for row in self.rows if row.k_low is None]

    def _shown_pairs(self) -> Sequence[PrintedPair]:
        """Return all pairs if they are few, else those with the highest score that is in one."""
        if len(self.pairs) <= MAX_SHOWN:
            return self.pairs
        tested = {name for pair in self.pairs for name in pair[:2]}
        highest = set(_highest([row for row in self.rows if row.system in tested]))
        return [pair for pair in self.pairs if not highest.isdisjoint(pair[:2])]

    def _limits(
        self, row: PrintedScore, options: rendering.TableOptions = rendering.NOTHING_ASKED
    ) -> str:
        """Write Wilson's limits, with the decimals of the score unless others are asked for."""
        limits = self._unit * row.low, self._unit * row.high
        digits = row.decimals if options.digits is None else options.digits
        return rendering.limits(limits, digits) if row.k_low is not None else "no interval"

    def _tables_of(
        self, pairs: Sequence[PrintedPair], options: rendering.TableOptions
    ) -> list[rendering.Table]:
        """Return the table of the scores, and that of some pairs if there are any."""
        level = rendering.percent(self.confidence_level)
        score = "score (%)" if self.in_percent else "score"
        header = ["system", score, "n", "right rows", f"{level} CI (Wilson)"]
        rows = []
        for row in self.rows:
            counts = "none"
            if row.k_low is not None and row.k_high is not None:
                counts = thousands(row.k_low)
                counts += f" to {thousands(row.k_high)}" if row.k_low < row.k_high else ""
            limits = self._limits(row, options)
            rows.append([row.system, row.printed, thousands(row.n), counts, limits])
        tables = [rendering.Table(header, rows)]
        if pairs:
            header = ["difference", "value", "smallest p", "largest p", "significant"]
            digits = max(row.decimals for row in self.rows if row.k_low is not None)
            digits = digits if options.digits is None else options.digits
            rows = [
                [
                    rendering.Difference(pair.first, pair.second),
                    rendering.number(self._unit * pair.difference, digits),
                    p_number(pair.p_smallest),
                    p_number(pair.p_largest),
                    pair.significant,
                ]
                for pair in pairs
            ]
            tables.append(rendering.Table(header, rows))
        return tables

    # -------------------------------------------------------------- what `Shown` asks for

    def _tables(self, options: rendering.TableOptions) -> Sequence[tuple[str, rendering.Table]]:
        return [("", table) for table in self._tables_of(self.pairs, options)]

    def _records(self) -> Sequence[Mapping[str, Any]]:
        return [pair._asdict() for pair in self.pairs]

    def _html(self, options: rendering.TableOptions) -> str:
        tables = map(rendering.html_table, self._tables_of(self._shown_pairs(), options))
        return rendering.html_of(self.claim(), rendering.html_list(self._facts()), *tables)

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        rows = tuple(PrintedScore(*row) for row in parts["rows"])
        pairs = tuple(PrintedPair(*pair) for pair in parts["pairs"])
        return cls(**gathered(cls, parts) | {"rows": rows, "pairs": pairs})


@door("check_table")
def check_table(
    table: Any,
    *,
    n: int | None = None,
    decimals: int | None = None,
    confidence_level: float = 0.95,
) -> TableCheck:
    """Check printed accuracies: which are possible, and which pairs can differ significantly.

    Use it for a table without the predictions, such as one in a paper. With predictions use
    `skboot.compare_systems`.

    Parameters
    ----------
    table : data frame, dict of columns, or path of a file
        With the columns ``system`` (names), ``score`` (shares of right rows), and perhaps ``n``
        (test rows) and ``decimals`` (of the score, as printed). Scores are fractions if none is
        above 1, else all are percent; a percent sign says so as well. Scores in text keep their
        decimals: "0.90" has two.
    n : int, optional
        Number of test rows of every system, where the table has no column ``n``.
    decimals : int, optional
        Decimals of every printed score, where the table has no column ``decimals``. When None those
        of the text; of numbers, which lose zeros at the end, the most that one of the column has.
    confidence_level : float
        Confidence level of Wilson's limits, in (0, 1). A p-value of at most 1 minus this is
        significant.

    Returns
    -------
    TableCheck
        ``rows`` with the numbers of right rows that each score allows and Wilson's limits,
        ``pairs`` with the smallest and the largest p-value.

    Raises
    ------
    ValueError
        If the file cannot be read, a column is missing, a score is no number or out of range, or n
        is unknown.

    See Also
    --------
    compare_systems : The comparison itself, from predictions.
    skboot.inference.mcnemar_exact : The test.
    skboot.inference.proportion_interval : The interval of one share.

    Notes
    -----
    A score s printed to d decimals, as a fraction, allows the numbers k of right rows with
    ``abs(k / n - s) <= 10**-d / 2``, ties rounded to either side. Up to n = 10**d there is one at
    most, and often none (GRIM, Brown & Heathers 2017).

    Two systems with k1 >= k2 right rows of the same n have b + c rows on which one alone is right,
    with b - c = k1 - k2 and c from 0 to min(k2, n - k1). The exact p-value, min(1, 2 P(X <= c)) of
    a binomial X of b + c trials, rises with c and falls with k1 - k2. So it is smallest for the
    largest difference of the allowed numbers, D, with c = 0: min(1, 2**(1 - D)); and largest for
    the smallest difference with the largest c.

    Systems with the same n are assumed to have answered the same, independent rows. Pairs are not
    adjusted for each other: a correction makes p larger, so pairs that are never significant stay
    so.

    References
    ----------
    Brown & Heathers (2017), The GRIM test, Social Psychological and Personality Science 8(4),
    363-369; McNemar (1947), Psychometrika 12, 153-157; Wilson (1927), JASA 22, 209-212.

    Examples
    --------
    >>> from skboot import check_table
    >>> table = {"system": ["A", "B", "C"], "score": ["0.948", "0.936", "0.871"]}
    >>> check = check_table(table, n=250)
    >>> print(check.claim())  # doctest: +NORMALIZE_WHITESPACE
    Of 1 pair of printed scores, by the exact McNemar test at p <= 0.05, each pair by itself: 1 is
    not significantly different, whatever the predictions (A vs B). No number of right rows of 250
    gives the score of C, 0.871 (217 would give 0.868 and 218 would give 0.872).
    """
    level = check.check_confidence_level(confidence_level)
    columns = _columns_of(table)
    with collected() as notes:
        systems = [str(name).strip() for name in columns["system"]]
        [(name, times)] = Counter(systems).most_common(1)
        if times > 1:
            advice = "Check the table of each data set by itself."
            got = f"{name!r} {times} times"
            raise check.fail("table['system']", "name each system once", got, advice)
        scores = list(map(_text_of, columns["score"]))
        values = [_value_of(text, system) for system, text in zip(systems, scores, strict=True)]
        in_percent = _is_percent(systems, scores, values)
        sizes = _whole_numbers("n", columns.get("n"), n, len(systems))
        if sizes is None:
            advice = "It is the number of test rows, as in n=1000."
            raise check.fail("n", "be given where the table has no column 'n'", "None", advice)
        n_printed = _whole_numbers("decimals", columns.get("decimals"), decimals, len(systems))
        places = _decimals(columns["score"], values, n_printed)
        rows = tuple(
            _row(*printed, in_percent=in_percent, level=level)
            for printed in zip(systems, values, places, sizes, strict=True)
        )
        pairs = _pairs(rows, round(1 - level, 12))
    tell(*notes)
    settings = {"n": n, "decimals": decimals, "confidence_level": level}
    return TableCheck(
        rows=rows,
        pairs=pairs,
        in_percent=in_percent,
        confidence_level=level,
        _provenance=Provenance(texts_of(notes), settings=settings),
    )


# ------------------------------------------------------------------ the table as it was given


def _columns_of(table: Any) -> Mapping[str, Any]:
    """Return the columns of a table by name, without missing values and of one length."""
    if isinstance(table, str | os.PathLike):
        try:
            return read_columns(os.fspath(table), _NEEDED, _OPTIONAL)
        except BadCall as error:
            raise ValueError(str(error)) from None
    check.check_readable("table", table)
    names = list(table if isinstance(table, Mapping) else getattr(table, "columns", []))
    if any(name not in names for name in _NEEDED):
        must = "be a frame, a dict or a file with the columns 'system' and 'score'"
        got = f"the columns {names}" if names else type(table).__name__
        raise check.fail("table", must, got, _EXAMPLE)
    columns = {
        name: check.check_column(f"table[{name!r}]", table[name])
        for name in (*_NEEDED, *_OPTIONAL)
        if name in names
    }
    check.check_same_length(**{f"table[{name!r}]": column for name, column in columns.items()})
    return columns


def _text_of(cell: Any) -> str:
    """Return a cell as it was printed; a number without zeros at the end."""
    if isinstance(cell, str):
        return cell.strip()
    try:
        return f"{float(str(cell)):.{_MOST_DECIMALS}f}".rstrip("0").rstrip(".")
    except ValueError:
        return str(cell)


def _value_of(cell: str, system: str) -> Decimal:
    try:
        value = Decimal(cell.removesuffix("%").rstrip())
    except InvalidOperation:
        value = Decimal("NaN")
    if value.is_finite() and 0 <= value <= 100:
        return value
    must = "hold one number of each system, a fraction or from 0 to 100 percent"
    advice = "Write 0.934, 93.4 or 93.4%, without a standard deviation beside it."
    raise check.fail("table['score']", must, f"{cell!r} of {system!r}", advice)


def _is_percent(systems: Sequence[str], cells: Sequence[str], values: Sequence[Decimal]) -> bool:
    """Tell by their size, or by a percent sign, whether all scores are percent; say so."""
    signs = [cell.endswith("%") for cell in cells]
    if max(values) <= 1 and not any(signs):
        say("choice", "Scores are read as fractions: none is above 1.")
        return False
    say("choice", "Scores are read as percent: one is above 1 or has a percent sign.")
    printed = zip(systems, cells, values, signs, strict=True)
    small = [
        f"{name} ({text})" for name, text, value, signed in printed if 0 < value <= 1 and not signed
    ]
    if small:
        advice = "If they are fractions, write all scores in one unit."
        listed = wording.named(small)
        say("caution", f"Scores of 1 or less are read as percent too: {listed}. {advice}")
    return True


def _whole_numbers(name: str, column: Any, for_all: Any, n_rows: int) -> list[int] | None:
    """Return a whole number for each row: of a column, or one for all; None without either."""
    least = {"n": 1, "decimals": 0}[name]
    if for_all is not None:
        if column is not None:
            raise check.fail(name, f"be None where the table has a column {name!r}", repr(for_all))
        return [whole_number(name, for_all, least)] * n_rows
    if column is None:
        return None
    texts = (str(cell).strip() if isinstance(cell, str) else cell for cell in column)
    cells = (int(cell) if str(cell).isdecimal() else cell for cell in texts)
    return [whole_number(f"table[{name!r}]", cell, least) for cell in cells]


def _decimals(column: Any, values: Sequence[Decimal], printed: list[int] | None) -> list[int]:
    """Return the decimals of each score: as given, or as shown; of numbers the most of them."""
    shown = [max(0, -int(value.as_tuple().exponent)) for value in values]
    if printed is not None:
        for value, n_shown, n_told in zip(values, shown, printed, strict=True):
            if n_shown > n_told:
                must = "be at least the number of decimals of each score"
                raise check.fail("decimals", must, f"{n_told} for the score {value}")
        return printed
    if all(isinstance(cell, str) for cell in column):
        return shown
    most = max(shown)
    say(
        "choice",
        "Numbers lose their final zeros: all scores are taken to have "
        f"{wording.counted(most, 'decimal')}, as many as the longest. If not, give decimals=.",
    )
    return [most] * len(shown)


# ------------------------------------------------------------------ what it allows


def _row(
    system: str, value: Decimal, decimals: int, n: int, *, in_percent: bool, level: float
) -> PrintedScore:
    """Return a row with the numbers of right rows that are printed so, ties to either side."""
    unit = 100 if in_percent else 1
    share, half = Fraction(value) / unit, Fraction(1, 2 * unit * 10**decimals)
    k_low = max(math.ceil(n * (share - half)), 0)
    k_high = min(math.floor(n * (share + half)), n)
    row = PrintedScore(
        system, f"{value:.{decimals}f}", float(share), decimals, n, None, None, math.nan, math.nan
    )
    if k_low > k_high:
        return row
    low, high = wilson_limits(k_low, n, level)[0], wilson_limits(k_high, n, level)[1]
    return row._replace(k_low=k_low, k_high=k_high, low=low, high=high)


def _pairs(rows: Sequence[PrintedScore], alpha: float) -> tuple[PrintedPair, ...]:
    """Return what the exact McNemar test can say of each two systems; say what is left out."""
    possible = [row for row in rows if row.k_low is not None]
    tested = [(row_a, row_b) for row_a, row_b in combinations(possible, 2) if row_a.n == row_b.n]
    n_untested, reasons = math.comb(len(rows), 2) - len(tested), []
    if len(possible) < len(rows):
        reasons.append("a score is impossible")
    if len({row.n for row in rows}) > 1:
        reasons.append("n differs, and McNemar's test needs the same rows")
    if n_untested:
        left_out = wording.counted(n_untested, "pair")
        say("advice", f"Not tested: {left_out}, because {', or '.join(reasons)}.")
    if tested:
        say("advice", "Systems of the same n are taken to have answered the same rows.")
    n = np.array([row_a.n for row_a, _ in tested], dtype=np.int64)
    low = np.array(
        [[printed.k_low for printed in pair] for pair in tested], dtype=np.int64
    ).reshape(-1, 2)
    high = np.array([[printed.k_high for printed in pair] for pair in tested], dtype=np.int64)
    high = high.reshape(-1, 2)
    farthest = np.max(high - low[:, ::-1], axis=1)
    smallest = mcnemar_p_values(farthest, np.zeros_like(farthest))
    # The nearest two numbers are the same one where the ranges overlap.
    more = low.max(axis=1)
    fewer = np.minimum(high.min(axis=1), more)
    one_only = np.minimum(fewer, n - more)
    largest = mcnemar_p_values(one_only + more - fewer, one_only)
    return tuple(
        PrintedPair(
            row_a.system,
            row_b.system,
            # Without the errors of two fractions.
            round(row_a.score - row_b.score, max(row_a.decimals, row_b.decimals) + 2),
            row_a.n,
            p_low,
            p_high,
            "never" if p_low > alpha else "always" if p_high <= alpha else "depends",
        )
        for (row_a, row_b), p_low, p_high in zip(
            tested, smallest.tolist(), largest.tolist(), strict=True
        )
    )


def _highest(rows: Sequence[PrintedScore]) -> list[str]:
    highest = max(row.score for row in rows)
    return [row.system for row in rows if row.score == highest]

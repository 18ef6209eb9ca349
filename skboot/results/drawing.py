"""A small drawing of one interval above its bootstrap distribution, as inline SVG.

It takes the colour of the text around it, so that it can be read on light and dark pages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# What every drawing shows, for those who see it.
LEGEND = "grey: bootstrap distribution; dot and line: estimate and interval"

# The contrast is 4.0 on white and 5.2 on near-black, so that the colour is readable on both.
_ACCENT = "#2f7fd6"


@dataclass(frozen=True, eq=False)
class Strip:
    """One interval above its bootstrap distribution.

    Attributes
    ----------
    replicates : ndarray of shape (n_defined,)
        Bootstrap distribution, without NaN.
    estimate, low, high : float
        Estimate and limits; limits may be infinite or NaN.
    naive : float or None
        Reference to mark.
    labels : tuple of str
        How estimate, low, high and the reference are written.
    title, description : str
        For readers who do not see it.
    """

    replicates: Floats
    estimate: float
    low: float
    high: float
    naive: float | None
    labels: tuple[str, str, str, str]
    title: str
    description: str

    @property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest value to show, the reference left out."""
        values = [self.estimate, self.low, self.high]
        if len(self.replicates):
            values.extend(np.quantile(self.replicates, [0.002, 0.998]))
        finite = [value for value in values if math.isfinite(value)]
        return (min(finite), max(finite)) if finite else (0.0, 0.0)


def draw(strip: Strip, extent: tuple[float, float] | None = None, *, wide: bool = True) -> str:
    """Draw a strip as inline SVG.

    Parameters
    ----------
    strip : Strip
        What to draw.
    extent : tuple of float, optional
        Values at the left and right end, to compare strips with; its own when None.
    wide : bool
        With numbers, or small for a cell of a table.

    Returns
    -------
    str
        An svg element; empty if there is no estimate to show.
    """
    if not math.isfinite(strip.estimate):
        return ""
    start, stop = extent or strip.extent
    if start == stop:
        room = abs(start) * 0.05 or 0.05
        start, stop = start - room, stop + room
    if extent is None:
        start, stop = _with_reference(start, stop, strip.naive)
    width, height, margin = (460, 112, 70) if wide else (150, 34, 8)
    canvas = _Canvas(start, stop, width, height, margin, wide)
    parts = [canvas.histogram(strip.replicates), canvas.interval(strip), canvas.reference(strip)]
    key = f"strip-{crc32(repr((strip.title, strip.labels, parts)).encode()):08x}"
    return (
        f'<svg role="img" aria-labelledby="{key}-t {key}-d" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" style="max-width:100%;color:inherit" '
        'xmlns="http://www.w3.org/2000/svg" font-family="inherit" font-size="12">'
        f'<title id="{key}-t">{escape(strip.title)}</title>'
        f'<desc id="{key}-d">{escape(strip.description)}</desc>{"".join(parts)}</svg>'
    )


def _with_reference(start: float, stop: float, naive: float | None) -> tuple[float, float]:
    """Widen the range to the reference, unless it is so far away that all else would shrink."""
    if naive is None or not max(start - naive, naive - stop) < 1.5 * (stop - start):
        return start, stop
    return min(start, naive), max(stop, naive)


def bars(values: Floats) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Choose the bars of a histogram so that bins and values do not beat.

    Few distinct values, as of an accuracy on few rows, get a bar each. Many on a lattice are binned
    in whole steps of it, others in equal bins.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite; at least one.

    Returns
    -------
    centres, heights, widths : ndarray of shape (n_bars,)
        Bars.
    """
    distinct, counts = np.unique(values, return_counts=True)
    gaps = np.diff(distinct)
    # Values that differ by rounding alone count as one value.
    gaps = gaps[gaps > 1e-9 * np.abs(distinct).max()]
    if len(gaps) == 0:
        return distinct[:1], np.array([counts.sum()]), np.array([abs(distinct[0]) * 0.01 or 0.01])
    step = gaps.min()
    n_steps = round((distinct[-1] - distinct[0]) / step)
    on_lattice = n_steps < 1e5 and np.allclose(gaps / step, np.round(gaps / step), atol=1e-3)
    if not on_lattice:
        heights, edges = np.histogram(values, bins="auto" if len(distinct) > 30 else 30)
        return (edges[:-1] + edges[1:]) / 2, heights, np.diff(edges)
    # Each bar covers whole steps of the lattice, so that all bars hold as many possible values.
    per_bar = math.ceil((n_steps + 1) / 50)
    bar = np.round((values - distinct[0]) / step).astype(int) // per_bar
    heights = np.bincount(bar)
    centres = distinct[0] + step * (np.arange(len(heights)) * per_bar + (per_bar - 1) / 2)
    share = 0.85 if per_bar == 1 else 1.0
    return centres, heights, np.full(len(heights), share * step * per_bar)


@dataclass(frozen=True)
class _Canvas:
    """Where values lie on a drawing, and the marks on it."""

    start: float
    stop: float
    width: int
    height: int
    margin: int
    wide: bool

    @property
    def _base(self) -> float:
        """Height of the line under the histogram, below which the interval is drawn."""
        return self.height - (42.0 if self.wide else 12.0)

    def x(self, value: float) -> float:
        share = (min(max(value, self.start), self.stop) - self.start) / (self.stop - self.start)
        return round(self.margin + share * (self.width - 2 * self.margin), 1)

    def histogram(self, replicates: Floats) -> str:
        inside = replicates[(replicates >= self.start) & (replicates <= self.stop)]
        if not len(inside):
            return ""
        centres, heights, widths = bars(inside)
        top = (self._base - (20 if self.wide else 2)) / heights.max()
        path = "".join(
            f"M{self.x(c - w / 2)} {self._base}V{self._base - n * top:.1f}"
            f"H{self.x(c + w / 2)}V{self._base}z"
            for n, c, w in zip(heights, centres, widths, strict=True)
            if n
        )
        return f'<path d="{path}" fill="currentColor" fill-opacity=".25"/>'

    def interval(self, strip: Strip) -> str:
        y = self._base + (12 if self.wide else 6)
        marks = []
        if not (math.isnan(strip.low) or math.isnan(strip.high)):
            low, high = self.x(strip.low), self.x(strip.high)
            marks.append(f'<path d="M{low} {y}H{high}" stroke="{_ACCENT}" stroke-width="4"/>')
            if self.wide:
                _, *ends = strip.labels[:3]
                for x, side, label in ((low - 6, "end", ends[0]), (high + 6, "start", ends[1])):
                    marks.append(self._text(x, y + 4, side, label))
        x = self.x(strip.estimate)
        marks.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{_ACCENT}"/>')
        if self.wide:
            marks.append(self._text(x, 12, "middle", strip.labels[0]))
            path = f"M{x} 17V{y}"
            marks.append(f'<path d="{path}" stroke="{_ACCENT}" stroke-opacity=".7"/>')
        return "".join(marks)

    def reference(self, strip: Strip) -> str:
        if strip.naive is None or not math.isfinite(strip.naive):
            return ""
        label, x = strip.labels[3], self.x(strip.naive)
        inside = self.start <= strip.naive <= self.stop
        if not inside and not self.wide:
            return ""
        if not inside:
            before = strip.naive < self.start
            x, side = (4, "start") if before else (self.width - 4, "end")
            label = f"← baseline {label}" if before else f"baseline {label} →"
            return self._text(x, self.height - 6, side, label)
        path = f"M{x} {self._base + 16 if self.wide else self.height}V{20 if self.wide else 2}"
        line = f'<path d="{path}" stroke="currentColor" stroke-dasharray="3 3"/>'
        if not self.wide:
            return line
        side = "start" if x < self.width / 3 else "end" if x > 2 * self.width / 3 else "middle"
        return line + self._text(x, self.height - 6, side, f"baseline {label}")

    def _text(self, x: float, y: float, side: str, label: str) -> str:
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{side}" fill="currentColor">'
            f"{escape(label)}</text>"
        )

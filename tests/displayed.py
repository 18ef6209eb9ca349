"""Results for the tests of displays, and what is read off a picture."""

import numpy as np
from made_results import accuracy_evidence, mean_result


def result(estimate=0.8, replicates=None, interval=None, **changes):
    if replicates is None:
        replicates = np.random.default_rng(0).binomial(100, estimate, 499) / 100
    evidence = accuracy_evidence(
        estimate=estimate,
        replicates=replicates,
        n_units=(100,),
        bounds=changes.pop("bounds", (0.0, 1.0)),
        additive=False,
        row_mean=False,
        proportion=None,
    )
    if interval is not None:
        changes["confidence_interval"] = interval
    known = {
        "metric": "accuracy",
        "n_samples": 100,
        "greater_is_better": True,
        "naive_estimate": 0.7,
    }
    return mean_result("percentile", evidence=evidence, **{**known, **changes})


def labels_of(legend):
    return [text.get_text() for text in legend.get_texts()]


def overlaps(artists):
    """Pairs of artists whose boxes overlap in the drawn figure."""
    boxes = [artist.get_window_extent().shrunk(0.98, 0.9) for artist in artists]
    return [
        (a, b) for a in range(len(boxes)) for b in range(a) if boxes[a].overlaps(boxes[b])
    ]  # fmt: skip


def shown_texts(figure):
    """Every text that a drawn figure shows: labels, titles, legends, ticks within the axes."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    hidden = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                room = 1e-9 * abs(high - low)
                if not low - room <= tick.get_loc() <= high + room or not ax.axison:
                    hidden |= {tick.label1, tick.label2}
            if not ax.axison:
                hidden |= {axis.label}
    found = figure.findobj(Text)
    return [text for text in found if text.get_visible() and text.get_text() and text not in hidden]


def misplaced(figure):
    """What is outside a drawn figure, or on another text, as a reader would name it."""
    texts, width, height = shown_texts(figure), figure.bbox.width, figure.bbox.height
    boxes = [text.get_window_extent() for text in texts]
    outside = [
        text.get_text()
        for text, box in zip(texts, boxes, strict=True)
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    return outside + [(texts[a].get_text(), texts[b].get_text()) for a, b in overlaps(texts)]

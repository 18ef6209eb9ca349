"""Pictures have a clear ground, so that a page shows through, light or dark.

Ink is dark. In the dark style the page turns it light and keeps its hue (`_static/site.css`).
"""

import matplotlib as mpl


def on_a_clear_ground(gallery_conf=None, script=None):
    """Save figures without the white behind them; the gallery asks before each of its examples."""
    mpl.rcParams["savefig.transparent"] = True

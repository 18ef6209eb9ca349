"""All tools by name; studies add their own."""

from __future__ import annotations

from . import ours, peers, references
from .runner import Tool

TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (*ours.TOOLS, *peers.TOOLS, *references.TOOLS)
}

"""Write the page and its picture."""

from . import PAGE, filled
from .picture import picture

PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
picture(PAGE.with_suffix(".png"))

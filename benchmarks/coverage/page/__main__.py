"""Write the pages and their picture."""

from . import INDEX, filled, pages
from .picture import picture
from .sections.neutral import picture as picture_of_methods
from .sections.tables import picture as picture_of_tables

for page in pages():
    page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
picture(INDEX.with_name("other_tools.png"))
picture_of_tables(INDEX.with_name("tables.png"))
picture_of_methods(INDEX.with_name("neutral.png"))

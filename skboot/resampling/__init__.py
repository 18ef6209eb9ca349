"""Who is in a resample: designs, plans, blocks, and the splitters."""

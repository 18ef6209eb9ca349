"""Base of the package: errors and the door, arrays, files, workers, warnings, versions."""

"""What the package stands on: errors and the door, arrays, files, workers, warnings, versions."""

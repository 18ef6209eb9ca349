"""What is tried to break the package, and the page that counts it; see README.md."""

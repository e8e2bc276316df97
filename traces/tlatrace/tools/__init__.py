"""The programs outside Python: Java, TLC, and the manifest that says what TLC should answer."""

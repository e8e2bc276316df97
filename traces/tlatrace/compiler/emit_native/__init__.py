"""The closed tree as flat Python, which becomes machine code: it says what is surely TRUE.

What it cannot write is refused by name, and stays Python's (`Unlowered`). What it writes answers 1
only where the Python of `emit_python` returns True: wherever that might raise, or choose by an
order that is not seen here, the answer is 2, and Python is asked. So arguments and LET may be
evaluated early, every element of a set is looked at, and numbers may be smaller.
"""

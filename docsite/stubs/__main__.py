"""Writes the stubs.

python -m docsite.stubs
"""

from docsite.stubs.files import write

if __name__ == "__main__":
    print(f"{write()} stubs written")

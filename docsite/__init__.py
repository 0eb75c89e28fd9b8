"""What makes the documentation: code blocks of pages that are run, source files as pages, pictures, and the table of
what is there. No part of the package.
"""

"""tf.strings: everything on string tensors."""

from __future__ import annotations

from everflow.ops.strings.ragged import (
    ngrams,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
)
from everflow.ops.strings.ragged import string_bytes_split as bytes_split
from everflow.ops.strings.ragged import strings_split_v1 as split

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.ops.strings.text import (
    as_string,
    reduce_join,
    regex_full_match,
    regex_replace,
    substr,
    unicode_script,
    unicode_transcode,
    unsorted_segment_join,
)
from everflow.ops.strings.text import string_format as format
from everflow.ops.strings.text import string_join as join
from everflow.ops.strings.text import string_length as length
from everflow.ops.strings.text import string_lower as lower
from everflow.ops.strings.text import string_strip as strip
from everflow.ops.strings.text import string_to_hash_bucket as to_hash_bucket
from everflow.ops.strings.text import string_to_hash_bucket_fast as to_hash_bucket_fast
from everflow.ops.strings.text import string_to_hash_bucket_strong as to_hash_bucket_strong
from everflow.ops.strings.text import string_to_number as to_number
from everflow.ops.strings.text import string_upper as upper

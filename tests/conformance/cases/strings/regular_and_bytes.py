"""String ops: split v2, ngrams-like joins, case, lengths in code points, hashing, bytes, regex, format, to and from numbers."""

import numpy as np
import tensorflow as tf


def run(out):
    s = tf.placeholder(tf.string, [None], name="s")
    u = tf.constant(["h\u00e9llo", "\u4f60\u597d", ""], name="u")
    vals = {
        "len": tf.strings.length(u),
        "lenu": tf.strings.length(u, unit="UTF8_CHAR"),
        "sub": tf.strings.substr(u, [0, 1, 0], [2, 1, 0], unit="UTF8_CHAR"),
        "low": tf.strings.lower(s),
        "up": tf.strings.upper(u, encoding="utf-8"),
        "strip": tf.strings.strip(s),
        "join": tf.strings.join([s, "x", s], "-"),
        "bucket": tf.strings.to_hash_bucket(s, 10),
        "fast": tf.strings.to_hash_bucket_fast(s, 1000),
        "strong": tf.strings.to_hash_bucket_strong(s, 1000, [1, 2]),
        "full": tf.strings.regex_full_match(s, "a.*"),
        "repl": tf.strings.regex_replace(s, "([a-z])", r"<\1>", replace_global=False),
        "script": tf.strings.unicode_script(tf.constant([65, 0x4F60])),
        "dec": tf.strings.unicode_decode(u, "UTF-8").to_tensor(-1),
        "enc": tf.strings.unicode_encode([[72, 105], [0x4F60, 33]], "UTF-8"),
        "us": tf.strings.unicode_split(u, "UTF-8").to_tensor(""),
        "off": tf.strings.unicode_split_with_offsets(u, "UTF-8")[1].to_tensor(-1),
        "split": tf.string_split(s, " ").values,
        "v2": tf.compat.v2.strings.split(s, " ").to_tensor("*"),
        "skip": tf.string_split(s, "", skip_empty=False).dense_shape,
        "num": tf.strings.to_number(["1.5", " 2", "-3e2"]),
        "numi": tf.strings.to_number(["7", "-8"], tf.int64),
        "as": tf.strings.as_string([1.5, 2.25], precision=1, width=8, fill="0"),
        "asb": tf.as_string([True, False]),
        "asc": tf.as_string([1 + 2j]),
        "ass": tf.as_string([1e10, 1e-5], scientific=True),
        "short": tf.as_string([0.1, 1e20], shortest=True),
        "fmt": tf.strings.format("a {} b {}", [tf.range(5), s], summarize=2),
        "raw": tf.decode_raw(["abcd", "efgh"], tf.int16),
        "raw8": tf.decode_raw(["ab"], tf.uint8),
        "b64": tf.decode_base64(tf.encode_base64(s, pad=True)),
        "e64": tf.encode_base64(["a?>", ""]),
        "rj": tf.reduce_join([["a", "b"], ["c", "d"]], axis=[0, 1], separator="+"),
        "rjk": tf.reduce_join([["a", "b"], ["c", "d"]], 0, keep_dims=True),
        "eq": tf.equal(s, "abc"),
        "wh": tf.where(tf.equal(s, "abc"), s, tf.fill(tf.shape(s), "no")),
        "trans": tf.strings.unicode_transcode(["\u00e9\xff"], "UTF-8", "UTF-16-BE"),
        "ng": tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"]]), 2),
        "gather": tf.gather(u, [2, 0]),
        "uniq": tf.unique(["b", "a", "b"])[0],
        "conc": tf.concat([u, ["z"]], 0),
        "tile": tf.tile([["q"]], [2, 2]),
        "pad": tf.pad([["q"]], [[1, 0], [0, 1]]),
        "sort": tf.constant(["b", "a"])[::-1],
    }
    names = sorted(vals)
    out("static", {n: v.shape.as_list() if v.shape.ndims is not None else None for n, v in vals.items()})
    out.raises("unit", tf.strings.length, u, unit="WORDS")
    out.raises("encoding", tf.strings.unicode_decode, u, "LATIN")
    out.raises("key", tf.strings.to_hash_bucket_strong, s, 5, [1])
    out.raises("buckets", tf.strings.to_hash_bucket_fast, s, 0)
    out.raises("regex", tf.strings.regex_full_match, s, 5)
    out.raises("format count", tf.strings.format, "{} {}", [s])
    out.raises("join types", tf.strings.join, [s, tf.constant(1)])
    with tf.Session() as sess:
        feed = {s: ["abc", " de f ", "A B c"]}
        for n, v in zip(names, sess.run([vals[n] for n in names], feed)):
            out(n, v)
        out.raises("bad number", sess.run, tf.strings.to_number(s), feed)
        out.raises("bad regex", sess.run, tf.strings.regex_full_match(s, tf.constant("(")), feed)
        out.raises("bad base64", sess.run, tf.decode_base64(s), feed)
        out.raises("raw size", sess.run, tf.decode_raw(s, tf.float32), feed)
        out.raises("substr range", sess.run, tf.strings.substr(s, 10, 1), feed)
    out.graph()

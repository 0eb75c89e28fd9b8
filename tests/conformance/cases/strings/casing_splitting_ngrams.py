"""Case, hashes, numbers, splitting, n-grams and Unicode, with what each refuses."""

import tensorflow as tf


def run(out):
    x = tf.constant([b"Hello World ", b" tab\tx", b"", "h\u00e9llo".encode()], name="x")
    p = tf.placeholder(tf.string, name="p")
    with tf.Session() as s:
        T = dict(
            low=tf.strings.lower(x),
            lowu=tf.strings.lower(x, encoding="utf-8"),
            up=tf.strings.upper(x, encoding="utf-8"),
            strip=tf.strings.strip(x),
            hb=tf.strings.to_hash_bucket(x, 100),
            hf=tf.strings.to_hash_bucket_fast(x, 100),
            hs=tf.strings.to_hash_bucket_strong(x, 100, [1, 2]),
            len=tf.strings.length(x),
            lenu=tf.strings.length(x, unit="UTF8_CHAR"),
            sub=tf.strings.substr(x, [0, 1, 0, 1], [3, 2, 0, 3]),
            subu=tf.strings.substr(x, -2, 2, unit="UTF8_CHAR") if False else tf.strings.substr(x[:2], -3, 2),
            join=tf.strings.join([x, x], "|"),
            rj=tf.strings.reduce_join(x, 0, separator=",", keep_dims=True),
            rr=tf.strings.regex_replace(x, "l+", "L", replace_global=False),
            rf=tf.strings.regex_full_match(x, ".*World.*"),
            num=tf.strings.to_number(["1.5", "-2e3", "nan"]),
            numi=tf.strings.to_number(["15", "-7"], tf.int64),
            asf=tf.strings.as_string([1.5, 2.25], precision=1, width=8, fill="0"),
            ass=tf.strings.as_string([1e10, 2.5], scientific=True),
            asb=tf.strings.as_string([True, False]),
            asc=tf.strings.as_string(tf.constant([1 + 2j], tf.complex64)),
            shortest=tf.strings.as_string([0.1, 100.0], shortest=True),
            b64=tf.io.encode_base64(x, pad=True),
            script=tf.strings.unicode_script([72, 1057]),
            trans=tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE"),
            fmt=tf.strings.format("a {} b {}", [tf.constant([1, 2]), tf.constant("q")]),
        )
        T["unb64"] = tf.io.decode_base64(T["b64"])
        for n, t in T.items():
            out(n, s.run(t))
            out.shape(n + " s", t)

        def rag(n, t):
            v = s.run(t)
            out(n, [v.values if not hasattr(v.values, "values") else v.values.values, v.row_splits])

        rag("bsplit", tf.strings.bytes_split(x))
        rag("split", tf.strings.split(x, result_type="RaggedTensor"))
        rag("splits", tf.strings.split(x, sep="l", maxsplit=1, result_type="RaggedTensor"))
        rag("ng", tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), 2))
        rag(
            "ng2",
            tf.strings.ngrams(
                tf.ragged.constant([["a", "b", "c"], ["d"]]),
                (1, 2),
                separator="-",
                pad_values=("<", ">"),
                padding_width=1,
            ),
        )
        rag("dec", tf.strings.unicode_decode(x, "UTF-8"))
        rag("us", tf.strings.unicode_split(x, "UTF-8"))
        cp, off = tf.strings.unicode_decode_with_offsets(x, "UTF-8")
        rag("dwo", cp)
        rag("dwoo", off)
        out("enc", s.run(tf.strings.unicode_encode(tf.ragged.constant([[72, 233], [8364]]), "UTF-8")))
        out("enc16", s.run(tf.strings.unicode_encode([[72, 233]], "UTF-16-BE")))
        sp = s.run(tf.string_split(["a b  c", " d"], skip_empty=False))
        out("ss", [sp.indices, sp.values, sp.dense_shape])
        sp = s.run(tf.strings.split(["a,b,,c"], ","))
        out("ss2", [sp.indices, sp.values])
        out(
            "errors",
            s.run(tf.strings.unicode_transcode([b"a\xffb"], "UTF-8", "UTF-8", errors="replace", replacement_char=63)),
        )
        out.raises("err strict", s.run, tf.strings.unicode_transcode([b"a\xffb"], "UTF-8", "UTF-8", errors="strict"))
        out.raises("err num", s.run, tf.strings.to_number(["x"]))
        out.raises("err sub", s.run, tf.strings.substr(["abc"], 7, 1))
        out.raises("err b64", s.run, tf.io.decode_base64(["*"]))
        out.raises("err regex", s.run, tf.strings.regex_replace(p, "(", "x"), {p: ["a"]})
    out.graph()
    out.raises("err fmt", tf.strings.format, "a {}", [1, 2])
    out.raises("err width", tf.strings.ngrams, ["a"], 0)

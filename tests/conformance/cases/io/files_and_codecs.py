"""tf.gfile, reading and writing files, decoders of many kinds, examples, records, and their errors."""

import os
import zlib

import numpy as np
import tensorflow as tf


def run(out):
    d = tf.test.get_temp_dir() if False else None
    import tempfile

    d = tempfile.mkdtemp()
    r = np.random.RandomState(0)
    G = tf.gfile
    p = lambda *a: os.path.join(d, *a)
    G.MkDir(p("a"))
    G.MakeDirs(p("a", "b", "c"))
    with G.Open(p("a", "x.txt"), "w") as f:
        f.write("one\ntwo\nthree")
    G.Copy(p("a", "x.txt"), p("a", "y.txt"))
    G.Rename(p("a", "y.txt"), p("a", "z.txt"))
    out("list", sorted(G.ListDirectory(p("a"))))
    out("glob", [os.path.basename(x) for x in sorted(G.Glob(p("a", "*.txt")))])
    out("is", [G.IsDirectory(p("a")), G.IsDirectory(p("a", "x.txt")), G.Exists(p("q"))])
    out("stat", [G.Stat(p("a", "x.txt")).length, G.Stat(p("a")).is_directory])
    out("walk", [(os.path.relpath(a, d), sorted(b), sorted(c)) for a, b, c in G.Walk(d)])
    out("walk2", [(os.path.relpath(a, d), sorted(b), sorted(c)) for a, b, c in G.Walk(d, in_order=False)])
    f = G.GFile(p("a", "x.txt"), "rb")
    out("read", [f.readline(), f.tell(), f.read(2), f.readlines(), f.size()])
    f.seek(0)
    out("iter", [l for l in f])
    f.close()
    f = G.GFile(p("a", "x.txt"), "a")
    f.write("!")
    f.flush()
    f.close()
    out("app", G.GFile(p("a", "x.txt")).read())
    out.raises("err copy", G.Copy, p("a", "x.txt"), p("a", "z.txt"))
    out.raises("err open", lambda: G.GFile(p("none")).read())
    out.raises("err mkdir", G.MkDir, p("q", "w"))
    out.raises("err rm", G.Remove, p("none"))
    out.raises("err ls", G.ListDirectory, p("none"))
    out.raises("err mode", lambda: G.GFile(p("a", "x.txt"), "w").read())
    G.Remove(p("a", "z.txt"))
    G.DeleteRecursively(p("a", "b"))
    out("list2", G.ListDirectory(p("a")))
    with tf.Session() as s:
        s.run(tf.io.write_file(p("new", "w.bin"), b"\x00\x01abc"))
        out("rf", s.run(tf.io.read_file(p("new", "w.bin"))))
        out("match", [os.path.basename(x) for x in s.run(tf.io.matching_files(p("*", "*")))])
        out("raw", s.run(tf.io.decode_raw([b"\x01\x00\x02\x00"], tf.int16)))
        out("rawbe", s.run(tf.io.decode_raw([b"\x01\x00\x02\x00"], tf.int16, little_endian=False)))
        out("z", s.run(tf.io.decode_compressed([zlib.compress(b"hello")], compression_type="ZLIB")))
        out("zn", s.run(tf.io.decode_compressed([b"hi"])))
        out("csv", s.run(tf.io.decode_csv(["1,2.5,x", ',,"a,b"'], [[7], [1.0], ["d"]])))
        out("csv2", s.run(tf.decode_csv(["1|2|3"], [[0], [0]], field_delim="|", select_cols=[0, 2], na_value="NA")))
        ts = tf.io.serialize_tensor(tf.constant([[1.0, 2.0]]))
        out("pt", s.run(tf.io.parse_tensor(ts, tf.float32)))
        ex = tf.train.Example(
            features=tf.train.Features(
                feature={
                    "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2])),
                    "b": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5])),
                    "c": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"q", b"r"])),
                }
            )
        ).SerializeToString()
        P = tf.io.parse_single_example(
            ex,
            {
                "a": tf.io.FixedLenFeature([2], tf.int64),
                "b": tf.io.VarLenFeature(tf.float32),
                "c": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
                "d": tf.io.FixedLenFeature([1], tf.float32, default_value=[9.0]),
                "s": tf.io.SparseFeature("a", "b", tf.float32, 5) if False else tf.io.VarLenFeature(tf.int64),
            },
        )
        v = s.run(P)
        out("ex", [v["a"], v["b"].values, v["c"], v["d"], v["s"].dense_shape])
        P = tf.io.parse_example(
            [ex, ex], {"a": tf.io.FixedLenFeature([2], tf.int64), "c": tf.io.VarLenFeature(tf.string)}
        )
        v = s.run(P)
        out("exs", [v["a"], v["c"].indices, v["c"].values])
        out.shape("exs s", P["a"])
        png = (
            tf.io.encode_png(tf.constant(r.randint(0, 255, (5, 6, 3)).astype(np.uint8)))
            if hasattr(tf.io, "encode_png")
            else tf.image.encode_png(tf.constant(r.randint(0, 255, (5, 6, 3)).astype(np.uint8)))
        )
        out("png", s.run(tf.io.decode_png(png, channels=1)))
        out("img", s.run(tf.io.decode_image(png)))
        pn = tf.io.decode_png(png, dtype=tf.uint16)
        out("png16", s.run(pn))
        out.shape("pngs", tf.io.decode_png(png))
        jp = tf.io.encode_jpeg(tf.constant(r.randint(0, 255, (16, 16, 3)).astype(np.uint8)), quality=90)
        out("isj", s.run(tf.io.is_jpeg(jp)))
        out("js", s.run(tf.io.extract_jpeg_shape(jp)))
        out.raises("err png", s.run, tf.io.decode_png(b"xx"))
        out.raises("err csv", s.run, tf.io.decode_csv(["1"], [[0], [0]]))
        out.raises("err ex", s.run, tf.io.parse_single_example(ex, {"zz": tf.io.FixedLenFeature([2], tf.int64)}))
        out.raises("err read", s.run, tf.io.read_file(p("nope")))
        out.raises("err pt", s.run, tf.io.parse_tensor(ts, tf.int32))
        out.raises("err raw", s.run, tf.io.decode_raw([b"abc"], tf.int16))
    o = tf.io.TFRecordOptions(tf.io.TFRecordCompressionType.GZIP)
    with tf.io.TFRecordWriter(p("r.gz"), o) as w:
        for i in range(3):
            w.write(b"rec%d" % i)
    out("tfr", list(tf.io.tf_record_iterator(p("r.gz"), o)))
    tf.io.write_graph(tf.Graph(), d, "g.pbtxt")
    out("wg", open(p("g.pbtxt")).read())
    open(p("bad"), "wb").write(b"junk" * 10)
    out.raises("err tfr", list, tf.io.tf_record_iterator(p("bad")))

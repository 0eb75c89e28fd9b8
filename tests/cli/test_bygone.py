"""What `everflow run` brings back of Python 3.7, numpy 1, scipy.misc, h5py 2 and protobuf 3; in processes of their own, for it changes
numpy.
"""

import subprocess
import sys
import textwrap

import pytest


def run(code, tmp_path):
    command = [
        sys.executable,
        "-W",
        "error::DeprecationWarning:__main__",
        "-m",
        "everflow",
        "run",
        "-c",
        textwrap.dedent(code),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_python_and_numpy(tmp_path):
    out = run(
        """
        import collections, inspect, time, xml.etree.cElementTree
        import numpy as np
        from numpy.lib.arraysetops import unique
        print(isinstance([], collections.Iterable), inspect.getargspec(lambda a, b=2: a), time.clock() > 0)
        print(np.int is int, np.float(2), np.asscalar(np.array([3])), np.product([2, 3]), np.Inf, np.in1d([[1], [2]], [2]))
        print(np.reshape(np.arange(4), newshape=(2, 2)).tolist(), np.fromstring(b"ab", np.uint8), np.vstack(r for r in ([1], [2])).tolist())
        print(np.array([[1, 2], [3]]).dtype, np.array([-1, 300], np.uint8), np.array([1.0], copy=False))
        print([np.float32(1.5), np.int64(2)], np.zeros(1, np.int16).tostring(), np.array([3, 5]).ptp())
        """,
        tmp_path,
    )
    assert out == [
        "True ArgSpec(args=['a', 'b'], varargs=None, keywords=None, defaults=(2,)) True",
        "True 2.0 3 6 inf [False  True]",
        "[[0, 1], [2, 3]] [97 98] [[1], [2]]",
        "object [255  44] [1.]",
        "[1.5, 2] b'\\x00\\x00' 2",
    ]


def test_casts_and_lists_of_arrays(tmp_path):
    out = run(
        """
        import numpy as np
        print(np.cast["int32"]([1.5]), np.meshgrid([1], [3]).append(0), type(np.atleast_1d(1, 2)).__name__, np.atleast_1d(1))
        """,
        tmp_path,
    )
    assert out == ["[1] None list [1]"]


def test_what_functions_took(tmp_path):
    out = run(
        """
        import json, random
        import PIL.Image
        x = [1, 2, 3]
        random.shuffle(x, lambda: 0.0)
        print(x, sorted(random.sample({4, 5}, 2)), random.Random(1).sample(frozenset([6]), 1), json.loads("[7]", encoding="utf-8"))
        print(PIL.Image.new("L", (4, 4)).resize((2, 2), PIL.Image.ANTIALIAS).size)
        """,
        tmp_path,
    )
    assert out == ["[2, 3, 1] [4, 5] [6] [7]", "(2, 2)"]


def test_numbers_of_arrays_with_one_element(tmp_path):
    out = run(
        """
        import math
        import numpy as np
        import tensorflow as tf
        one = tf.Session().run(tf.constant([[2.5]]))
        print(float(one), int(one), "%d %.2f" % (one, one), math.floor(one), float(np.array(3)))
        a = np.zeros(2)
        a[1] = one[0]
        a.itemset(0, 4)
        print(a)
        try:
            float(a)
        except TypeError as e:
            print(e)
        try:
            np.ndarray.more = 1
        except TypeError:
            print("closed again")
        """,
        tmp_path,
    )
    assert out == [
        "2.5 2 2 2.50 2 3.0",
        "[4.  2.5]",
        "only size-1 arrays can be converted to Python scalars",
        "closed again",
    ]


def test_everflow_sees_the_errors_it_expects(tmp_path):
    out = run(
        """
        import tensorflow as tf
        try:
            tf.constant([[1, 2], [3]])
        except ValueError as e:
            print("ValueError")
        """,
        tmp_path,
    )
    assert out == ["ValueError"]


def test_scipy_misc(tmp_path):
    pytest.importorskip("scipy")
    out = run(
        """
        import numpy as np
        import scipy.misc
        from scipy.misc import imread, imsave, imresize, logsumexp
        picture = np.linspace(-1, 1, 4 * 6 * 3).reshape(4, 6, 3)
        imsave("a.png", picture)
        back = imread("a.png", mode="RGB")
        print(back.shape, back.dtype, back.min(), back.max(), imread("a.png", flatten=True).dtype)
        print(imresize(back, 0.5).shape, imresize(back, 200).shape, imresize(back, (5, 7), interp="nearest").shape)
        print(scipy.misc.toimage(np.zeros((3, 5, 8)), channel_axis=0).size, scipy.misc.imrotate(back, 90).shape, logsumexp([0.0]))
        """,
        tmp_path,
    )
    assert out == ["(4, 6, 3) uint8 0 255 float32", "(2, 3, 3) (8, 12, 3) (5, 7, 3)", "(8, 5) (4, 6, 3) 0.0"]


def test_h5py(tmp_path):
    pytest.importorskip("h5py")
    out = run(
        """
        import io
        import h5py
        with h5py.File("a.h5") as file:
            file.attrs["config"], file.attrs["name"], file.attrs["layers"] = b"{}", "ä", [b"a", b"bc"]
            file.attrs.create("names", [b"x", b"yz"], dtype=h5py.special_dtype(vlen=bytes))
            file.create_dataset("numbers", data=[1, 2])
            file.create_dataset("words", data=["p", "ä"], dtype=h5py.special_dtype(vlen=str))
        with h5py.File("a.h5") as file:
            config, names = file.attrs["config"], file.attrs["names"]
            print(file.mode, config == "{}", config.decode("utf8"), file.attrs["name"], [n.decode() for n in names])
            print(file.attrs["layers"].dtype)
            print(file["numbers"].value.tolist(), file["words"][:].tolist(), repr(file["words"][1]))
        memory = io.BytesIO()
        with h5py.File(memory) as file:
            file["x"] = 3
        print(h5py.File(memory, "r")["x"].value)
        with h5py.File("nowhere", driver="core", backing_store=False) as file:
            file["x"] = 3
            file.flush()
            print(len(file.fid.get_file_image()) > 100)
        """,
        tmp_path,
    )
    assert out == ["r+ True {} ä ['x', 'yz']", "|S2", "[1, 2] ['p', 'ä'] 'ä'", "3", "True"]


def test_messages_of_old_compilers(tmp_path):
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="shop/basket.proto", package="tensorflow.shop", syntax="proto3")
    file.dependency.append("tensorflow/core/example/example.proto")
    basket = file.message_type.add(name="Basket")
    basket.field.add(name="content", number=1, label=3, type=11, type_name=".tensorflow.Example")
    basket.field.add(name="inner", number=2, label=1, type=11, type_name=".tensorflow.shop.Basket")
    (tmp_path / "basket_pb2.py").write_text(
        textwrap.dedent(f"""
        import sys
        _b=sys.version_info[0]<3 and (lambda x:x) or (lambda x:x.encode('latin1'))
        from google.protobuf import descriptor as _descriptor
        from google.protobuf import service_reflection
        from tensorflow.core.example import example_pb2 as tensorflow_dot_core_dot_example_dot_example__pb2
        DESCRIPTOR = _descriptor.FileDescriptor(
          name='shop/basket.proto', package='tensorflow.shop', syntax='proto3',
          serialized_pb=_b({file.SerializeToString().decode("latin1")!r}),
          dependencies=[tensorflow_dot_core_dot_example_dot_example__pb2.DESCRIPTOR,])
        _BASKET = _descriptor.Descriptor(name='Basket', full_name='tensorflow.shop.Basket', file=DESCRIPTOR)
        _BASKET.fields_by_name['inner'].message_type = _BASKET
        """)
    )
    out = run(
        """
        import basket_pb2, tensorflow as tf
        feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
        basket = basket_pb2.Basket(inner=basket_pb2.Basket())
        basket.content.append(tf.train.Example(features=tf.train.Features(feature={"eggs": feature})))
        back = basket_pb2.Basket.FromString(basket.SerializeToString())
        print(back.content[0].features.feature["eggs"].int64_list.value, back.HasField("inner"), basket_pb2.Basket.__module__)
        """,
        tmp_path,
    )
    assert out == ["[3] True basket_pb2"]


def test_small_names_of_numpy(tmp_path):
    out = run(
        """
        import numpy as np
        from numpy.linalg.linalg import LinAlgError
        from numpy.fft.helper import fftfreq
        print(np.NAN, np.math.factorial(4), np.alen([[1, 2]]), LinAlgError is np.linalg.LinAlgError, np.typeDict["int32"] is np.int32)
        print(np.issctype(np.int8), np.issctype(3), np.obj2sctype([1.5]) is np.float64, np.sctype2char(np.float32), np.issubclass_(1, int))
        print(np.issubsctype("int8", np.integer), np.float32 in np.sctypes["float"])
        np.warnings.filterwarnings("ignore")
        print(np.int16(1).newbyteorder(), np.float64(2).newbyteorder("="), np.int16(1).tostring())
        """,
        tmp_path,
    )
    assert out == ["nan 24 1 True True", "True False True f False", "True True", "256 2.0 b'\\x01\\x00'"]


def test_the_largest_of_uneven_rows(tmp_path):
    assert run(
        "import numpy as np; print(np.max([[1, 2], [3]]), np.min([[1, 2], [3]]), np.max([[1, 2]]))", tmp_path
    ) == ["[3] [1, 2] 2"]


def test_arrays_of_tensors_without_values(tmp_path):
    out = run(
        """
        import numpy as np, tensorflow as tf
        a, size = tf.zeros([2]), tf.constant(3)
        print(np.array([a, a]).shape, np.asarray([[size, 1], [2, 3]]).dtype, np.size([a, a]))
        print(tf.Session().run([np.prod([2, size]), np.sum([1, size])]), np.where([True], [size], [1])[0] is size)
        try:
            np.array(a)
        except NotImplementedError:
            print("a tensor itself is no array")
        """,
        tmp_path,
    )
    assert out == ["(2,) object 2", "[6, 4] True", "a tensor itself is no array"]


def test_graphs_of_networkx_2(tmp_path):
    pytest.importorskip("networkx")
    out = run(
        """
        import numpy as np, networkx as nx
        graph = nx.OrderedMultiDiGraph()
        graph.add_node(1, size=2)
        graph.add_edge(1, 0)
        print(isinstance(graph, nx.MultiDiGraph), list(graph.nodes), graph.node[1], type(nx.to_numpy_matrix(graph)).__name__)
        print(nx.from_numpy_matrix(np.matrix([[0, 1], [1, 0]])).edges)
        """,
        tmp_path,
    )
    assert out == ["True [1, 0] {'size': 2} matrix", "[(0, 1)]"]

"""Write a frozen graph to an event file, so that TensorBoard shows it.

python -m everflow.tools.import_pb_to_tensorboard --model_dir=frozen.pb --log_dir=logs
"""

from __future__ import annotations

import argparse

from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.protos.graph_pb2 import GraphDef
from everflow.summary import FileWriter
from everflow.tools.graph_files import read_message


def import_to_tensorboard(model_dir, log_dir):
    """Show the graph of the file `model_dir` in the logs of a folder."""
    with Graph().as_default() as graph:
        import_graph_def(read_message(model_dir, GraphDef, True))
    with FileWriter(log_dir) as writer:
        writer.add_graph(graph)
    print(f"Model Imported. Visualize by running: tensorboard --logdir={log_dir}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model_dir", required=True, help="the frozen graph")
    parser.add_argument("--log_dir", required=True, help="the folder of the event file")
    given = parser.parse_args(arguments)
    import_to_tensorboard(given.model_dir, given.log_dir)


if __name__ == "__main__":
    main()

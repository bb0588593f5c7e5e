"""Types and shapes of arrays in annotations: those of jaxtyping, where it is there to check them.

Loading jaxtyping takes nearly as long as loading numpy, so what a search loads takes the names from
here. Type checkers, and processes that have loaded jaxtyping before, as tests do, see jaxtyping's.
"""

import sys
from typing import TYPE_CHECKING, Any

__all__ = ["Bool", "Float", "Float32", "Float64", "Int", "Int8", "Int64", "UInt8"]

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool, Float, Float32, Float64, Int, Int8, Int64, UInt8
else:

    class Unchecked:
        """Stands for the kind of array alone: ``Float[ndarray, "row dim"]`` is ``ndarray``."""

        def __class_getitem__(cls, array: tuple[Any, str]) -> Any:
            return array[0]

    Bool = Float = Float32 = Float64 = Int = Int8 = Int64 = UInt8 = Unchecked

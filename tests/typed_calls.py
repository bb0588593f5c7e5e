"""Types and shapes checked at every call, at a fraction of the time that jaxtyping takes for it.

jaxtyping's import hook decorates every function of the package. Its own decorator binds the
arguments of each call to the signature and checks them twice, also where no array is annotated.
This one lets beartype check arguments and what is returned once, within one memory of dimensions,
and opens such a memory only where an annotation has dimensions.
"""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import partial, wraps
from typing import Any, get_args, get_type_hints

import jaxtyping
from beartype import BeartypeConf, beartype

# A type error, as what the function itself would stumble over: readers turn it into a sentence.
REFUSED = BeartypeConf(violation_type=jaxtyping.TypeCheckError)
_with_one_memory = jaxtyping.jaxtyped
_checked_inits: set[Callable[..., Any]] = set()


def install() -> None:
    """Let modules that jaxtyping's hook imports from now on be checked this way."""
    jaxtyping.jaxtyped = checked


def checked(decorated: Any = None, *, typechecker: Any = None) -> Any:
    """A function, or a dataclass with its constructor, that checks what it is called with."""
    if decorated is None:
        return partial(checked, typechecker=typechecker)
    if not inspect.isclass(decorated):
        return _checked_function(decorated, typechecker)
    if is_dataclass(decorated) and decorated.__init__ not in _checked_inits:  # or inherited
        decorated.__init__ = _checked_function(decorated.__init__, typechecker)
        _checked_inits.add(decorated.__init__)
    return decorated


def _checked_function(function: Any, typechecker: Any) -> Any:
    if not inspect.isfunction(function) or inspect.isgeneratorfunction(function):
        return _with_one_memory(function, typechecker=typechecker)
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError:  # a class that the module imports for type checkers only
        return _with_one_memory(function, typechecker=typechecker)
    typed = beartype(conf=REFUSED)(function)
    if not any(_has_dimensions(hint) for hint in hints.values()):
        return typed

    @wraps(function)
    def with_memory(*args: Any, **kwargs: Any) -> Any:
        with _with_one_memory("context"):
            return typed(*args, **kwargs)

    return with_memory


def _has_dimensions(hint: Any) -> bool:
    if inspect.isclass(hint) and issubclass(hint, jaxtyping.AbstractArray):
        return True
    return any(_has_dimensions(part) for part in get_args(hint))

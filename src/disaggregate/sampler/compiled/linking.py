"""Parts become machine code once, with the kernel that calls them.

numba optimises each function and makes machine code of it as soon as it is compiled, and does so again within each
of its callers. No part is called by itself, so all but the last time are wasted: half of the first fit's
compilation.
"""

from __future__ import annotations

from typing import Any

import numba

# What this module replaces or relies on is not numba's public interface.
_LIBRARY_METHODS = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "codegen")

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    is_possible = all(hasattr(JITCodeLibrary, name) for name in _LIBRARY_METHODS)
except ImportError:  # another version of numba: parts are compiled in its own way
    is_possible = False


if is_possible:

    class _NoEnvironments:
        """Stands for the code generator where a part would hand it constants for the interpreter; it has none."""

        @staticmethod
        def set_env(name: str, environment: object) -> None:
            """Do nothing."""

    class _LinkedLibrary(JITCodeLibrary):
        """Code of a part: kept as it is until a kernel takes it in."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

        @property
        def codegen(self) -> type[_NoEnvironments]:
            return _NoEnvironments

    class _PartCompiler(Compiler):
        """Compiles as usual, into such a library."""

        def compile_extra(self, func: Any) -> Any:
            self.state.library = _LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
            return super().compile_extra(func)


def linked(**options: Any) -> Any:
    """Return a decorator for functions that only compiled code calls; ``options`` are those of ``numba.njit``."""
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(**options, **({"pipeline_class": _PartCompiler} if is_possible else {}))

"""Arguments that were renamed: the old names are accepted for now, with a warning."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def renamed(**names: str) -> Callable[[Function], Function]:
    """Accept old names of keyword arguments of a function.

    Parameters
    ----------
    **names : str
        The new name of each old one.
    """

    def accept_both(function: Function) -> Function:
        @functools.wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            for old, new in names.items():
                if old in named:
                    if new in named:
                        raise TypeError(
                            f"{function.__name__}() got both {new} and {old}, its old name; give {new}."
                        )
                    message = f"the argument {old} is now called {new}. Version 0.4 removes the old name."
                    warnings.warn(message, FutureWarning, stacklevel=2)
                    named[new] = named.pop(old)
            return function(*given, **named)

        return cast(Function, called)

    return accept_both

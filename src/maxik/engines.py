"""The choice of an engine: the kernel where it is built, else the model, with a notice.

Model and kernel never import each other; this is the one place that knows both.
"""

from __future__ import annotations

from maxik.errors import UsageError
from maxik.kernel.engine import KernelEngine, is_built
from maxik.kernel.settings import DEFAULT_SETTINGS, KernelSettings
from maxik.problems import Engine
from maxik.profile import CoreProfile

ENGINE_NAMES = ("kernel", "model")

NO_KERNEL = "the compiled kernel is not there; the model, several hundred times slower, gives the same bits"

KERNEL_ONLY = "march, limb path and threads are the kernel's; the model has none of them, and the same bits"


def make_engine(
    name: str | None, profile: CoreProfile, settings: KernelSettings = DEFAULT_SETTINGS
) -> tuple[Engine, tuple[str, ...]]:
    """Return the engine and the notices that go with it; `settings` are how the kernel works.

    `name` is "kernel", "model" or None: the kernel if it is built and has the profile's candidates, else the model.
    Raises UsageError for another name, EngineError when the kernel is asked for by name, or for what it does not have,
    and cannot serve.
    """
    if name not in (None, *ENGINE_NAMES):
        message = f"unknown engine {name!r}; known: {', '.join(ENGINE_NAMES)}"
        raise UsageError(message)
    if name == "kernel" or (name is None and is_built() and profile.is_shipped):
        return KernelEngine(profile, settings), ()
    from maxik.model.engine import ModelEngine  # noqa: PLC0415 - loaded only where it is used

    unused = () if settings == DEFAULT_SETTINGS else (KERNEL_ONLY,)
    if name == "model":
        return ModelEngine(profile), unused
    reason = NO_KERNEL if not is_built() else "the profile has candidates that only the model implements"
    return ModelEngine(profile), (reason, *unused)

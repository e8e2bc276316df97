"""Machine code of this machine from LLVM's assembly, and its functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection
from mmap import ACCESS_COPY, mmap
from typing import Any, Final

from llvmlite import binding

__all__ = ["Machine", "machine_name", "object_of"]

_LEVEL: Final = 2
_LIBRARY: Final = "specification"


def _target() -> Any:
    """Return a new one: an engine takes it away with itself."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=_LEVEL,
        reloc="pic",
        codemodel="default",
    )


def machine_name() -> str:
    """Name what an object is for: LLVM, the processor and what it can do."""
    version = ".".join(map(str, binding.llvm_version_info))
    features = binding.get_host_cpu_features().flatten()
    return f"{version} {binding.get_default_triple()} {binding.get_host_cpu_name()} {features}"


def object_of(assembly: str) -> bytes:
    """Return the object file of a text, for this machine and its like.

    Raises:
        RuntimeError: LLVM does not take the text.
    """
    module = binding.parse_assembly(assembly)
    module.triple = binding.get_default_triple()
    module.verify()
    machine = _target()
    options = binding.create_pipeline_tuning_options(speed_level=_LEVEL)
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    emitted: bytes = machine.emit_object(module)
    return emitted


class Machine:
    """An object file, opened: its functions, over one array of words."""

    def __init__(self, code: bytes, words: int) -> None:
        """Open an object with an array of so many words, all 0."""
        # JITLink has one piece of memory for an object. MCJIT maps each section by itself, and
        # where they come to lie more than 2 GiB apart, as in a process with a fragmented memory, it
        # ends the process.
        self._engine = binding.create_lljit_compiler(_target(), use_jit_link=True)
        library = binding.JITLibraryBuilder().add_object_img(code)
        self._kept = [library.link(self._engine, _LIBRARY)]
        """Without one of these the code is unloaded."""
        # Pages of this process alone; what is not touched takes no memory.
        pages = mmap(-1, 8 * words, access=ACCESS_COPY)
        self.memory = (ctypes.c_int64 * words).from_buffer(pages)
        self.text = 0
        """Where the text begins in memory; whoever sets it keeps it."""

    def function(self, name: str, arity: int) -> Callable[..., int]:
        """Return a function of the object that takes so many words; it lives as long as this.

        Raises:
            LookupError: the object does not have it.
        """
        try:
            found_at = self._engine.lookup(_LIBRARY, name)
        except RuntimeError:
            raise LookupError(name) from None
        self._kept.append(found_at)
        words = [ctypes.c_int64] * arity
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, *words)
        found = kind(found_at[name])
        memory = ctypes.addressof(self.memory)

        def call(*words: int) -> int:
            return int(found(memory, self.text, *words))

        return call

    def functions(self, arities: Collection[tuple[str, int]]) -> dict[str, Callable[..., int]]:
        """Return functions by their names."""
        return {name: self.function(name, arity) for name, arity in arities}

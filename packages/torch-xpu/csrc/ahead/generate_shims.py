"""Write the C functions by which code that is compiled ahead of time calls operators on xpu.

PyTorch's own generator, which the wheel of torch carries, declares and converts; calls go through the
dispatcher. The operators are those that PyTorch's compiler calls by such functions, and ours. Run by CMake:

    generate_shims.py SCHEMAS HEADER SOURCE...
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torchgen
import torchgen.local
from torchgen.aoti.fallback_ops import inductor_fallback_ops
from torchgen.api.types import DispatcherSignature
from torchgen.context import native_function_manager
from torchgen.gen import parse_native_yaml
from torchgen.gen_aoti_c_shim import (
    gen_declaration_and_definition,
    gen_static_dispatch_backend_call,
    get_fallback_op_name,
)
from torchgen.model import FunctionSchema, Variant

# Operators that take a device: PyTorch's general function for others gives them one of CUDA. inductor-xpu has
# this list, too.
MORE = (
    *("aten.full.default", "aten.linspace.default", "aten.logspace.default"),
    *("aten.tril_indices.default", "aten.triu_indices.default"),
)
HEADER = """\
// C functions of operators on xpu, for code that is compiled ahead of time. Written by generate_shims.py.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

extern "C" {
%s
}
"""
SOURCE = """\
// Written by generate_shims.py.
#include "torch_xpu/aoti/c_shim_xpu.h"

%s
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/inductor/aoti_torch/utils.h>

#include "ahead/below_wrappers.h"

using namespace torch::aot_inductor;

%s"""
# Calls our operator `name` by the dispatcher.
CALL = """\
namespace {{
template <class... Arguments>
auto call_{name}(Arguments&&... arguments) {{
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("torch_xpu::{name}", "").typed<{type}>();
  return op.call(std::forward<Arguments>(arguments)...);
}}
}}  // namespace
"""
BODY = "AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({\n"


class Shim(NamedTuple):
    """The function of an operator, and the header that its body needs."""

    declaration: str
    definition: str
    include: str = ""


def aten_shims() -> Iterator[Shim]:
    """Yield the functions of PyTorch's operators, by name."""
    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    functions = {get_fallback_op_name(function): function for function in parsed.native_functions}
    wanted = {name: {} for name in MORE} | inductor_fallback_ops
    for name, versions in sorted(wanted.items()):
        function = functions[name]
        with native_function_manager(function):
            call = gen_static_dispatch_backend_call(function)
            if Variant.function not in function.variants and not call.startswith("at::symint::"):
                call = f"at::_ops::{function.func.name.unambiguous_name()}::call"
            declaration, definition = gen_declaration_and_definition(
                function.func, "xpu", call, versions
            )
        yield Shim(
            declaration, below_wrappers(definition), f"#include <ATen/ops/{function.root_name}.h>"
        )


def own_shims(schemas: Path) -> Iterator[Shim]:
    """Yield the functions of our own operators, without in-place ones, which compiled code never calls."""
    lines = schemas.read_text().splitlines()
    for line in lines:
        if not line or line.startswith("#") or line.partition("(")[0].endswith("_"):
            continue
        schema = FunctionSchema.parse(line)
        name = schema.name.unambiguous_name()
        declaration, definition = gen_declaration_and_definition(
            schema, "xpu_torch_xpu", f"call_{name}", {}
        )
        # PyTorch's generator knows no operator with a list of strings.
        with torchgen.local.parametrize(
            use_const_ref_for_mutable_tensors=True, use_ilistref_for_tensor_lists=False
        ):
            signature = DispatcherSignature.from_schema(schema).type()
        signature = signature.replace(
            "at::ArrayRef<c10::string_view>", "const c10::List<std::string>&"
        )
        declaration, definition = (
            text.replace("const const char**", "const char* const*")
            for text in (declaration, definition)
        )
        definition = definition.replace(
            "pointer_to_list<::std::string_view>", "torch_xpu::list_of_strings"
        )
        call = CALL.format(name=name, type=signature)
        yield Shim(declaration, call + below_wrappers(definition))


def below_wrappers(definition: str) -> str:
    """Exclude autograd and autocast, as on devices whose functions call kernels directly."""
    if definition.count("AOTITorchError ") != definition.count(BODY):
        raise ValueError(f"the generator of this torch writes other bodies:\n{definition}")
    return definition.replace(BODY, f"{BODY}torch_xpu::BelowWrappers below_wrappers;\n")


def main(schemas: str, header: str, *sources: str) -> None:
    """Write the header, and sources of about the same length."""
    shims = [*aten_shims(), *own_shims(Path(schemas))]
    Path(header).parent.mkdir(parents=True, exist_ok=True)
    Path(header).write_text(HEADER % "\n".join(shim.declaration for shim in shims))
    for index, source in enumerate(sources):
        part = shims[index :: len(sources)]
        includes = sorted({shim.include for shim in part if shim.include})
        Path(source).write_text(
            SOURCE % ("\n".join(includes), "\n".join(shim.definition for shim in part))
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

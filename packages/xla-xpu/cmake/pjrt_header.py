"""Writes the C++ header of the PJRT C API from the tables of the wheel ``pypjrt``.

The wheel describes every struct by field names and machine types. What it leaves out is what a pointer points
at: known here by field name, so that the plugin's code needs few casts. Every size is asserted again in C++.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from types import ModuleType

from pypjrt._abi import pjrt_0_114 as abi

SCALARS = {
    ctypes.c_void_p: "void*",
    ctypes.c_char_p: "const char*",
    ctypes.c_bool: "bool",
    ctypes.c_char: "char",
    ctypes.c_float: "float",
    ctypes.c_double: "double",
    ctypes.c_int8: "std::int8_t",
    ctypes.c_uint8: "std::uint8_t",
    ctypes.c_int16: "std::int16_t",
    ctypes.c_uint16: "std::uint16_t",
    ctypes.c_int32: "std::int32_t",
    ctypes.c_uint32: "std::uint32_t",
    ctypes.c_int64: "std::int64_t",
    ctypes.c_uint64: "std::uint64_t",
}

# Types without a layout: the plugin's own.
OPAQUE = (
    "PJRT_Buffer",
    "PJRT_Client",
    "PJRT_Device",
    "PJRT_DeviceDescription",
    "PJRT_Event",
    "PJRT_Executable",
    "PJRT_Layouts_MemoryLayout",
    "PJRT_LoadedExecutable",
    "PJRT_TopologyDescription",
    "PLUGIN_Profiler",
    "PLUGIN_Profiler_Error",
)

# What a pointer of this name points at, in every struct.
POINTERS = {
    "addressable_device": "PJRT_Device*",
    "addressable_devices": "PJRT_Device* const*",
    "addressable_memories": "PJRT_Memory* const*",
    "attributes": "const PJRT_NamedValue*",
    "buffer": "PJRT_Buffer*",
    "byte_strides": "const std::int64_t*",
    "client": "PJRT_Client*",
    "create_options": "const PJRT_NamedValue*",
    "debug_string": "const char*",
    "device": "PJRT_Device*",
    "device_description": "PJRT_DeviceDescription*",
    "device_kind": "const char*",
    "device_layout": "PJRT_Buffer_MemoryLayout*",
    "dims": "const std::int64_t*",
    "done_with_host_buffer": "PJRT_Event*",
    "dst_buffer": "PJRT_Buffer*",
    "dst_device": "PJRT_Device*",
    "dst_memory": "PJRT_Memory*",
    "error": "PJRT_Error*",
    "event": "PJRT_Event*",
    "executable": "PJRT_Executable*",
    "execute_device": "PJRT_Device*",
    "extension_start": "PJRT_Extension_Base*",
    "host_layout": "PJRT_Buffer_MemoryLayout*",
    "kind": "const char*",
    "layout": "PJRT_Layouts_MemoryLayout*",
    "loaded_executable": "PJRT_LoadedExecutable*",
    "memory": "PJRT_Memory*",
    "memory_descriptions": "const void* const*",
    "minor_to_major": "const std::int64_t*",
    "name": "const char*",
    "next": "PJRT_Extension_Base*",
    "options": "PJRT_ExecuteOptions*",
    "platform_name": "const char*",
    "platform_version": "const char*",
    "program": "const PJRT_Program*",
    "properties": "const PJRT_NamedValue*",
    "serialized_bytes": "const char*",
    "string_value": "const char*",
    "int64_array_value": "const std::int64_t*",
    "to_string": "const char*",
    "topology": "PJRT_TopologyDescription*",
    "unpadded_dims": "const std::int64_t*",
}

# The profiler's interface has an error type of its own.
PROFILER_ERROR = "PLUGIN_Profiler_Error*"
PROFILER_POINTERS = {
    "buffer": "std::uint8_t*",
    "error": PROFILER_ERROR,
    "message": "const char*",
    "profiler": "PLUGIN_Profiler*",
}

# ... and where one struct means something else by the name.
EXCEPTIONS = {
    ("PJRT_Buffer_ToHostBuffer_Args", "src"): "PJRT_Buffer*",
    ("PJRT_Client_AddressableDevices_Args", "addressable_devices"): "PJRT_Device* const*",
    ("PJRT_Client_Compile_Args", "executable"): "PJRT_LoadedExecutable*",
    ("PJRT_Client_Compile_Args", "compile_options"): "const char*",
    ("PJRT_Client_CreateUninitializedBuffer_Args", "shape_dims"): "const std::int64_t*",
    ("PJRT_Client_CreateUninitializedBuffer_Args", "shape_layout"): "PJRT_Buffer_MemoryLayout*",
    ("PJRT_Client_CreateViewOfDeviceBuffer_Args", "layout"): "PJRT_Buffer_MemoryLayout*",
    ("PJRT_Client_Devices_Args", "devices"): "PJRT_Device* const*",
    ("PJRT_Device_AddressableMemories_Args", "memories"): "PJRT_Memory* const*",
    ("PJRT_Executable_DeserializeAndLoad_Args", "serialized_executable"): "const char*",
    (
        "PJRT_Executable_DeserializeAndLoad_Args",
        "overridden_serialized_compile_options",
    ): "const char*",
    ("PJRT_Executable_Fingerprint_Args", "executable_fingerprint"): "const char*",
    ("PJRT_Executable_Name_Args", "executable_name"): "const char*",
    ("PJRT_Executable_OptimizedProgram_Args", "program"): "PJRT_Program*",
    ("PJRT_Executable_OutputDimensions_Args", "dim_sizes"): "const std::size_t*",
    ("PJRT_Executable_OutputElementTypes_Args", "output_types"): "const std::uint32_t*",
    ("PJRT_Executable_OutputMemoryKinds_Args", "memory_kinds"): "const char* const*",
    ("PJRT_Executable_OutputMemoryKinds_Args", "memory_kind_sizes"): "const std::size_t*",
    ("PJRT_Executable_ParameterMemoryKinds_Args", "memory_kinds"): "const char* const*",
    ("PJRT_Executable_ParameterMemoryKinds_Args", "memory_kind_sizes"): "const std::size_t*",
    ("PJRT_ExecuteOptions", "non_donatable_input_indices"): "const std::int64_t*",
    ("PJRT_Error_Message_Args", "message"): "const char*",
    ("PJRT_LoadedExecutable_Execute_Args", "argument_lists"): "PJRT_Buffer* const* const*",
    ("PJRT_LoadedExecutable_Execute_Args", "output_lists"): "PJRT_Buffer** const*",
    ("PJRT_LoadedExecutable_Execute_Args", "device_complete_events"): "PJRT_Event**",
    ("PJRT_LoadedExecutable_Fingerprint_Args", "executable_fingerprint"): "const char*",
    ("PJRT_Memory_AddressableByDevices_Args", "devices"): "PJRT_Device* const*",
    (
        "PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args",
        "addressable_device_logical_ids",
    ): "const PJRT_LogicalDeviceIds*",
    (
        "PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args",
        "layouts",
    ): "PJRT_Layouts_MemoryLayout**",
    (
        "PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args",
        "layouts",
    ): "PJRT_Layouts_MemoryLayout**",
    ("PJRT_Program", "code"): "const char*",
    ("PJRT_Program", "format"): "const char*",
    ("PJRT_Shardings_PJRT_Executable_OutputShardings_Args", "shardings"): "const char* const*",
    ("PJRT_Shardings_PJRT_Executable_OutputShardings_Args", "sharding_sizes"): "const std::size_t*",
    ("PJRT_Shardings_PJRT_Executable_ParameterShardings_Args", "shardings"): "const char* const*",
    (
        "PJRT_Shardings_PJRT_Executable_ParameterShardings_Args",
        "sharding_sizes",
    ): "const std::size_t*",
    (
        "PJRT_TopologyDescription_GetDeviceDescriptions_Args",
        "descriptions",
    ): "PJRT_DeviceDescription* const*",
    ("PJRT_Error", "vtable"): "const PJRT_Error_FunctionTable*",
    ("PJRT_Memory", "vtable"): "const PJRT_Memory_FunctionTable*",
}

# Function pointers with a signature of their own: how the declarator is written.
FUNCTIONS = {
    ("PJRT_Api", "PJRT_Error_Destroy"): "void (*{})(PJRT_Error_Destroy_Args*)",
    ("PJRT_Api", "PJRT_Error_Message"): "void (*{})(PJRT_Error_Message_Args*)",
    ("PJRT_Client_CreateViewOfDeviceBuffer_Args", "on_delete_callback"): "void (*{})(void*, void*)",
    ("PJRT_Device_GetAttributes_Args", "attributes_deleter"): "void (*{})(void*)",
    ("PJRT_Error_ForEachPayload_Args", "visitor"): "PJRT_Error_PayloadVisitor {}",
    ("PJRT_Error_FunctionTable", "destroy"): "void (*{})(PJRT_Error*)",
    ("PJRT_Error_FunctionTable", "for_each_payload"): (
        "void (*{})(const PJRT_Error*, PJRT_Error_PayloadVisitor, void*)"
    ),
    ("PJRT_Error_FunctionTable", "get_code"): "std::uint32_t (*{})(const PJRT_Error*)",
    ("PJRT_Error_FunctionTable", "message"): (
        "void (*{})(const PJRT_Error*, const char**, std::size_t*)"
    ),
    ("PJRT_Event_OnReady_Args", "callback"): "void (*{})(PJRT_Error*, void*)",
    ("PJRT_Executable_Serialize_Args", "serialized_executable_deleter"): "void (*{})(void*)",
    ("PJRT_Layouts_MemoryLayout_Serialize_Args", "serialized_layout_deleter"): "void (*{})(void*)",
    (
        "PJRT_LoadedExecutable_GetDeviceAssignment_Args",
        "serialized_device_assignment_deleter",
    ): "void (*{})(void*)",
    ("PJRT_Memory_FunctionTable", "get_user_data"): "void* (*{})(PJRT_Memory*, const void*)",
    ("PJRT_Memory_FunctionTable", "set_user_data"): (
        "void (*{})(PJRT_Memory*, const void*, void*, void (*)(void*))"
    ),
}

HEAD = """\
// Made by cmake/pjrt_header.py; do not edit.
#pragma once

#include <cstddef>
#include <cstdint>

"""


class Header:
    """The text of the header, a struct after those it holds by value."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.structs = {
            name: kind
            for name, kind in vars(module).items()
            if isinstance(kind, type)
            and issubclass(kind, ctypes.Structure | ctypes.Union)
            and kind.__module__ == module.__name__
        }
        self.known = {*self.structs, *OPAQUE}
        self.lines: list[str] = []
        self.done: set[str] = set()

    def text(self) -> str:
        """Return the whole header, which checks the size of every struct when it is compiled."""
        names = [n for n in self.known if not issubclass(self.structs.get(n, int), ctypes.Union)]
        self.lines += [f"struct {name};" for name in sorted(names)]
        self.lines.append(
            "using PJRT_Error_PayloadVisitor = void (*)(const char* key, std::size_t key_size,"
            " const char* value, std::size_t value_size, void* user_arg);"
        )
        for name, kind in self.structs.items():
            self.struct(name, kind)
        for name, value in vars(self.module).items():
            if isinstance(value, int) and name.startswith("PJRT_"):
                kind = "std::size_t" if name.endswith("_STRUCT_SIZE") else "int"
                self.lines.append(f"constexpr {kind} {name} = {value};")
        slots = " \\\n  ".join(f"X({name})" for name in self.module.SLOT)
        self.lines.append(f"#define PJRT_API_SLOTS(X) \\\n  {slots}")
        return HEAD + "\n".join(self.lines) + "\n"

    def struct(self, name: str, kind: type) -> None:
        """Append a struct after those it holds by value; do nothing if it was appended before."""
        if name in self.done:
            return
        self.done.add(name)
        anonymous = getattr(kind, "_anonymous_", ())
        fields = []
        for field, of, *_ in getattr(kind, "_fields_", []):
            if field in anonymous:
                fields.append(self.inline(name, of))
            else:
                fields.append(f"  {self.declare(name, field, of)};\n")
        word = "union" if issubclass(kind, ctypes.Union) else "struct"
        self.lines.append(f"{word} {name} {{\n{''.join(fields)}}};")
        self.lines.append(f"static_assert(sizeof({name}) == {ctypes.sizeof(kind)});")

    def inline(self, owner: str, union: type) -> str:
        """Return the anonymous member for a union, whose fields C++ then sees as the owner's."""
        fields = "".join(f"    {self.declare(owner, f, t)};\n" for f, t in union._fields_)
        return f"  union {{\n{fields}  }};\n"

    def declare(self, owner: str, field: str, of: type) -> str:
        """Return the declaration of a field; first append the struct that it holds by value."""
        if issubclass(of, ctypes.Array):
            return self.declare(owner, f"{field}[{of._length_}]", of._type_)
        if issubclass(of, ctypes.Structure | ctypes.Union):
            self.struct(of.__name__, of)
            return f"{of.__name__} {field}"
        if of is ctypes.c_void_p:
            return self.pointer(owner, field)
        return f"{SCALARS[of]} {field}"

    def pointer(self, owner: str, field: str) -> str:
        """Return the declaration of a pointer, to ``void`` where no table here knows more."""
        if (owner, field) in FUNCTIONS:
            return FUNCTIONS[owner, field].format(field)
        if (owner, field) in EXCEPTIONS:
            return f"{EXCEPTIONS[owner, field]} {field}"
        if f"{field}_Args" in self.structs:
            return f"PJRT_Error* (*{field})({field}_Args*)"
        if owner.startswith("PJRT_LoadedExecutable_") and field == "executable":
            last = owner == "PJRT_LoadedExecutable_GetExecutable_Args"
            return f"{'PJRT_Executable' if last else 'PJRT_LoadedExecutable'}* {field}"
        if owner == "PLUGIN_Profiler_Api":
            return self.profiler_function(field)
        if owner.startswith("PLUGIN_"):
            return f"{PROFILER_POINTERS.get(field, 'void*')} {field}"
        return f"{POINTERS.get(field, 'void*')} {field}"

    def profiler_function(self, field: str) -> str:
        """Return the declaration of an entry of the profiler, whose arguments are found by their name."""
        words = "".join(word.capitalize() for word in field.split("_"))
        for name in (f"Error_{words[5:]}", words, f"{words[:-7]}_Destroy"):
            if f"PLUGIN_Profiler_{name}_Args" in self.structs:
                result = "void" if name in ("Error_Destroy", "Error_Message") else PROFILER_ERROR
                return f"{result} (*{field})(PLUGIN_Profiler_{name}_Args*)"
        return f"void* {field}"


def main() -> None:
    """Write the header to the file that the first argument names."""
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(Header(abi).text())


if __name__ == "__main__":
    main()

"""Turn loop programs into kernels."""

from __future__ import annotations

from .affine import Affine, counters, dot, row_major
from .check import check
from .kernel import Kernel, make_code
from .passes import run_passes
from .program import LoopProgram
from .statements import Load, Store, walk
from .target import Target
from .tiles import index_type
from .write_columns import write_columns
from .write_pointwise import write_pointwise
from .write_rows import write_rows


def write(program: LoopProgram, target: Target) -> Kernel:
    """Return the kernel of a program for a device; raise ProgramError if ``check`` rejects it.

    Passes move and replace statements; ``Renderer`` raises it where these use an undefined name.
    """
    check(program, target)
    program = run_passes(program, target)
    is_pointwise = program.parallel_dims == len(program.shape)
    write_folds = write_columns if program.lanes_on_parallel else write_rows
    body = (write_pointwise if is_pointwise else write_folds)(program, target)
    parameters = [
        f"global<{'' if array.writable else 'const '}{array.element.stored}> x{number}"
        for number, array in enumerate(program.arrays)
    ]
    index = index_type(program)
    parameters += program.parameters
    parameters += [f"i64 {symbol.argument}" for symbol in program.symbols]
    # Vectors compute with the symbols in the type of positions.
    copies = [
        f"  const {index} {symbol} = ({index}){symbol.argument};" for symbol in program.symbols
    ]
    parameters += [f"i64 {name}" for name in body.names]
    groups, sizes = body.division.launch({symbol.name: symbol.hint for symbol in program.symbols})
    return Kernel(
        make_code(
            parameters,
            [*copies, *body.lines],
            (*program.headers, *body.headers),
            bool(program.caches),
        ),
        groups=groups,
        group=target.lanes * target.sub_groups,
        sizes=sizes,
        division=body.division,
        in_place=_in_place(program) if is_pointwise else (),
    )


def _in_place(program: LoopProgram) -> tuple[int, ...]:
    """Return the arrays that results may overwrite: each element is read only where it is written."""
    statements = program.sections[0].per_element
    stores = [s for s in statements if type(s) is Store]
    own = dot(counters(program.shape), row_major(program.shape))
    places = {s.position for s in stores if s.position == own}
    sizes = {program.arrays[s.array].element.size for s in stores}
    if not places or len(sizes) > 1:
        return ()
    loads: dict[int, set[Affine]] = {}
    for statement in walk(statements):
        if type(statement) is Load:
            loads.setdefault(statement.array, set()).add(statement.position)
    return tuple(
        sorted(
            number
            for number, read in loads.items()
            if read <= places and sizes == {program.arrays[number].element.size}
        )
    )

"""The text of a kernel: names, C++ blocks, and loops over registers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xpu_runtime.codegen.target import Target

from ..elements import register_type
from ..errors import UnsupportedKernelError
from ..ir.facts import IntegerFacts
from ..ir.program import Op, Value
from ..ir.types import element_of
from ..layout_choice import LayoutChoice
from ..layouts import LANE, TEAM, Layout, bits_of
from ..plan import Plan
from .group import UNROLLED, Expr, Group
from .local_memory import LocalMemory
from .storage import Storage

# Elements of arrays beyond these do not fit a GPU's registers.
_MAX_UNROLLED = 128


class TextWriter:
    """Writes the body of a kernel into ``lines``, or into the open loop over registers."""

    def __init__(
        self,
        plan: Plan,
        choice: LayoutChoice,
        facts: IntegerFacts,
        target: Target,
        storage: Storage,
    ) -> None:
        self.plan, self.choice, self.facts = plan, choice, facts
        self.target, self.storage, self.local = target, storage, LocalMemory()
        self.lines: list[str] = []
        self.group: Group | None = None
        self.headers: dict[str, None] = {"core": None}
        self.preludes: dict[str, None] = {}
        self.faults: dict[tuple[str, str], str] = {}
        self.current: Op | None = None
        # The loop of the user's within the open loop over registers.
        self.interchanged: Op | None = None
        # Since the last barrier: pointers that are loaded from, with their roots, and roots of stores.
        self.loaded: set[tuple[Value | None, Value]] = set()
        self.stored: set[Value | None] = set()
        self.incomplete = False  # something is missing in the text: the plan must have changed
        self._names = 0
        self._groups = 0
        self.item_widths = {LANE: bits_of(choice.lanes), TEAM: bits_of(choice.teams)}

    # -- names and lines

    def name(self, prefix: str = "v") -> str:
        """Return a new name."""
        self._names += 1
        return f"{prefix}{self._names}"

    def need(self, *headers: str) -> None:
        """Include headers of the device library."""
        self.headers.update(dict.fromkeys(headers))

    @property
    def scope_lines(self) -> list[str]:
        """The lines of the innermost open scope."""
        return self.lines if self.group is None else self.group.scopes[-1].lines

    @contextmanager
    def nested(self, head: str, end: str = "}") -> Iterator[None]:
        """Write the lines of a `with` block into a C++ block; both close their loops over registers."""
        self.close()
        outer, self.lines = self.lines, []
        yield
        self.close()
        inner, self.lines = self.lines, outer
        self.lines += [head, *(f"  {line}" for line in inner), end]

    def unsupported(self, op: Op, reason: str) -> UnsupportedKernelError:
        """Return the error for an operation that cannot be written."""
        return UnsupportedKernelError(op.name, reason, op.location)

    def type_of(self, value: Value) -> str:
        """Return the C++ type of a value's elements in registers."""
        return register_type(element_of(value.type))

    def let(self, type: str, text: str, depth: int) -> Expr:
        """Define a name for a text in the scope of a depth."""
        name = self.name()
        lines = self.lines if self.group is None else self.group.scopes[depth].lines
        lines.append(f"const {type} {name} = {text};")
        return Expr(name, depth)

    def let_once(self, type: str, text: str, depth: int) -> Expr:
        """Define a name for a text in the scope of a depth, or return the name that it has there."""
        assert self.group is not None
        known = self.group.scopes[depth].texts
        if text not in known:
            known[text] = self.let(type, text, depth)
        return known[text]

    def later(self, value: Value) -> Expr:
        """Return a text for a value that the open loop has not finished: it ends before the operation."""
        current = self.interchanged or self.current
        assert current is not None
        assert self.group is not None
        self.plan.end_loop_before(current, self.group.first)
        return self.dummy(value)

    def dummy(self, value: Value) -> Expr:
        """Return a text for a value that the next plan computes elsewhere."""
        self.incomplete = True
        return Expr(f"({self.type_of(value)}){{}}")

    # -- loops over registers

    def open(
        self, op: Op, layout: Layout, axes: tuple[int, ...] | None = None, reverse: bool = False
    ) -> Group:
        """Return the loop for an operation on tiles of a layout: the open one if it fits, or a new one.

        ``axes`` are the bits of registers along which the operation reduces; None if it does not.
        """
        group = self.group
        if group is not None and self.interchanged is not None:
            return group
        if (
            group is not None
            and group.layout.structure == layout.structure
            and (group.first, op) not in self.plan.breaks
            and reverse == group.reverse
        ):
            if axes is None or axes == group.axes:
                return group
            if not group.axes and not group.reduces:
                self.plan.reduce_along(group.first, axes)
        self.close()
        if axes is None:
            axes = self.plan.axes.get(op, ())
        self._groups += 1
        group = Group(self._groups, op, layout, axes, self.name("r"), self.name("k"), reverse)
        self.group = group
        return group

    def close(self) -> None:
        """End the open loop over registers."""
        group = self.group
        if group is None:
            return
        self.group = None
        self.lines += group.lines(self._keyword(group))
        for buffer in group.buffers:
            self.local.release(buffer.offset)
        self.storage.closed()

    def _keyword(self, group: Group) -> str:
        """Return the keyword of a loop over registers.

        Arrays that matrix units use stay in registers only if no index into them is computed.
        """
        unrolls = self.choice.products and group.uses_arrays and not group.has_loop
        if unrolls and group.layout.size <= _MAX_UNROLLED:
            return UNROLLED
        return self.target.vector_loop

    def widths(self) -> dict[str, int]:
        """Return the widths of all counters in bits."""
        return {**self.item_widths, **(self.group.widths if self.group else {})}

    def owner(self, layout: Layout) -> str:
        """Return the condition for one of the work-items with an element; "" if there is only one."""
        terms = []
        for variable, places in ((LANE, layout.lanes), (TEAM, layout.teams)):
            mask = sum(1 << index for index, place in enumerate(places) if place is None)
            if mask == (1 << len(places)) - 1 and mask:
                terms.append(f"{variable} == 0")
            elif mask:
                terms.append(f"({variable} & {mask}) == 0")
        return " && ".join(terms)

    @property
    def sole_owner(self) -> str:
        """The condition that one work-item of the group fulfills."""
        return f"{LANE} == 0" if self.choice.teams == 1 else f"{LANE} == 0 && {TEAM} == 0"

    @property
    def barrier_text(self) -> str:
        """The statement with which the work-items of a program wait for each other."""
        return "barrier();" if self.choice.teams > 1 else "sub_group_barrier();"

    def barrier(self) -> None:
        """Let all work-items of the program wait for each other."""
        self.close()
        self.lines.append(self.barrier_text)
        self.loaded.clear()
        self.stored.clear()

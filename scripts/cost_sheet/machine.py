# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Executes the machine code of a kernel for the threads of one block, and tells a meter what each instruction does.

Threads at the lowest address go first, and those that diverged meet again where their addresses agree. Waits never
block: what one warp signals to another is taken as signalled. Tensors hold random numbers of their element type, so that
branches on data go where they usually go. Long loops are not executed to their end: see trips.py."""

import re

import numpy as np

import arithmetic
import loops
import meter
import opcodes
import operands as op
import registers
import relevance
import trips

TENSOR_SHIFT = np.uint64(40)  # tensor n begins at (n + 1) << 40
PATTERN_BYTES = 1 << 16
SHARED_WORDS = 1 << 16
FIRST_PARAMETER = {"sm_80": 0x160, "sm_90": 0x210, "sm_90a": 0x210}
STEPS, STEPS_WITHOUT_OUTER = 200_000, 1_000_000  # of a block at most, and where outer loops are executed


class TooLong(RuntimeError):
    """The block does not come to its end."""


def pattern(element, rng):
    """Bytes of a tensor: numbers around 1, of both signs."""
    values = rng.normal(size=PATTERN_BYTES // 2).astype(np.float32)
    if element == "f64":
        return values.astype(np.float64).view(np.uint32)[:PATTERN_BYTES // 4]
    if element in ("bf16", "f16"):
        narrow = (values.view(np.uint32) >> 16).astype(np.uint16) if element == "bf16" else \
            values.astype(np.float16).view(np.uint16)
        return narrow.view(np.uint32)[:PATTERN_BYTES // 4]
    if element.startswith(("i", "f8")):
        width = {"i64": np.int64, "i32": np.int32, "i16": np.int16}.get(element, np.uint8)
        return rng.integers(0, 2 if element == "i1" else 4, PATTERN_BYTES // np.dtype(width).itemsize).astype(width).view(
            np.uint32)
    return values.view(np.uint32)[:PATTERN_BYTES // 4]


def runs(tensors, begins, rng):
    """The sorted updates of a scatter to random elements: where the run of each element begins, and the places."""
    updates = tensors[begins + 1].elements
    first = np.sort(rng.integers(0, updates + 1, tensors[begins].elements))
    holds = {begins: first, begins + 1: rng.permutation(updates)}
    return {number: values.astype(np.int64 if tensors[number].element == "i64" else np.int32).view(np.uint32)
            for number, values in holds.items()}


class Block:
    """The state of the threads of one block."""

    def __init__(self, kernel, chip_name, sm_count, counting, number):
        blocks, threads = kernel.grid(sm_count)
        self.kernel, self.meter, self.count = kernel, counting, arithmetic_width(threads)
        self.registers = np.zeros((op.ROWS, self.count), np.uint32)
        self.predicates = np.zeros((op.PREDICATES, self.count), bool)
        self.predicates[[op.TRUE, op.UNIFORM_TRUE]] = True
        self.place = np.zeros(self.count, np.int64)
        self.place[threads:] = END
        self.thread = np.arange(self.count, dtype=np.uint32)
        self.block = number
        rng = np.random.default_rng(0)
        self.shared = rng.normal(size=SHARED_WORDS).astype(np.float32).view(np.uint32)
        self.local = np.zeros((1 << 12, self.count), np.uint32)
        self.patterns = {number: pattern(tensor.element or "f32", rng) for number, tensor in
                         enumerate(kernel.tensors)}
        if kernel.begins is not None:
            self.patterns |= runs(kernel.tensors, kernel.begins, rng)
        self.nothing = pattern("f32", rng)
        self.constants = self.bank(FIRST_PARAMETER[chip_name], blocks, threads, sm_count)
        needed = relevance.needed(loops.Graph(kernel.code))
        self.code = [Step(number, instruction, self, number in needed) for number, instruction in
                     enumerate(kernel.code.instructions)]
        self.labels = {*kernel.code.labels.values()}
        self.steps, self.returned = 0, set()  # heads of loops to which threads jumped back

    def bank(self, first, blocks, threads, sm_count):
        """The constants of the launch. Parameters that no tensor is are pointers to memory of their own, but for the
        leaves of a node of divided reductions, behind the pointer to the nodes, and for the number of the last launch
        that merges runs, behind the pointer to them."""
        words = {(0, 0): threads, (0, 4): 1, (0, 8): 1, (0, 12): blocks, (0, 16): 1, (0, 20): 1, (0, 0x28): 0xfffd80}
        places = {place: number for place, number in self.kernel.pointers.items()}
        after = max(places, default=-8) + 8
        for index in range(64):
            places.setdefault(after + 8 * index, len(self.kernel.tensors) + index)
        for place, number in places.items():
            words[0, first + place + 4] = number + 1 << 8
        if self.kernel.name.rstrip('"').endswith(("$partial", "$merge")):
            words[0, first + after + 12] = 0
            words[0, first + after + 8] = self.kernel.leaves_of_node(sm_count)
        if self.kernel.name.rstrip('"').endswith(("$sort_tiles", "$merge_runs")):
            words[0, first + after + 12] = 0
            words[0, first + after + 8] = max(self.kernel.merges - 1, 0)
        return words

    def run(self, innermost=False):
        skipper, self.limit = trips.Skipper(self, innermost), STEPS_WITHOUT_OUTER if innermost else STEPS
        while (self.place < END).any():
            at = int(self.place.min())
            if at >= len(self.code):
                break
            skipper.arrive(at)
            self.run_straight(int(self.place.min()))

    def run_straight(self, at):
        """From one place to the next jump, or to where other threads wait."""
        mask = self.place == at
        warps = mask.reshape(-1, 32).any(axis=1)
        waiting = self.place[~mask]
        stop = int(waiting.min()) if waiting.size else END
        while True:
            self.steps += 1
            if self.steps > self.limit:
                raise TooLong(f"{self.kernel.name}: a block takes more than {self.limit} instructions")
            step = self.code[at]
            step.execute(self, mask, warps)
            if step.is_jump:
                return
            at += 1
            if at >= stop or at in self.labels or at >= len(self.code):
                self.place[mask] = at if at < len(self.code) else END
                return


END = 1 << 40


def arithmetic_width(threads):
    return -(-threads // 32) * 32


class Step:
    """One instruction, ready to be executed."""

    def __init__(self, number, instruction, block, is_needed):
        self.number, self.instruction, self.is_needed = number, instruction, is_needed
        self.unit = opcodes.unit_of(instruction)
        self.guard = op.predicate(instruction.guard) if instruction.guard else None
        self.is_jump = loops.jumps(instruction) or instruction.base in loops.ENDS
        self.reads = rows_of(registers.reads(instruction))
        self.writes = rows_of(registers.writes(instruction))
        self.waits_for = self.reads[:0] if instruction.base.endswith("GMMA") else self.reads
        self.counted, self.passes, self.clocks = meter.unit_of(self)
        self.system = meter.system_of(self)
        self.compute = self.address = None
        self.named = list(arithmetic.results(instruction))
        if self.is_jump:
            self.targets = [block.kernel.code.labels[name] for name in instruction.targets]
            self.conditions = [op.predicate(text) for text in instruction.operands if op.is_predicate(text)]
        elif instruction.base in MEMORY:
            self.address = op.address(next(text for text in reversed(instruction.operands) if "[" in text)
                                      if instruction.base == "LDGSTS" else
                                      next(text for text in instruction.operands if "[" in text))
            self.bytes = opcodes.access_bytes(instruction)
        elif is_needed:
            self.compute = function_of(instruction)
        if self.guard and not (is_needed or self.is_jump or self.address):
            self.guard = None

    def execute(self, block, mask, warps):
        active = mask
        if self.guard:
            active = mask & self.guard(block)
        if self.is_jump:
            block.meter.issue(self, warps)
            self.jump(block, mask, active)
            return
        running = warps if active is mask else active.reshape(-1, 32).any(axis=1)
        block.meter.issue(self, warps)
        if not running.any():
            return
        if self.address:
            self.access(block, self.address(block), active, running)
        elif self.compute:
            with np.errstate(all="ignore"):
                self.store(block, self.compute(block), active)
            block.meter.finish(self, running)
        else:
            block.meter.finish(self, running)

    def jump(self, block, mask, active):
        base = self.instruction.base
        if base == "EXIT":
            block.place[mask] = self.number + 1
            block.place[active] = END
            return
        if "DIV" in self.instruction.modifiers or base == "RET" or not self.targets:
            active = np.zeros_like(mask)
        elif base in ("BRA", "JMP", "CALL"):
            for condition in self.conditions:
                active = active & condition(block)
        block.place[mask] = self.number + 1
        if self.targets:
            block.place[active] = self.targets[0]
            if self.targets[0] <= self.number and active.any():
                block.returned.add(self.targets[0])

    def store(self, block, values, active):
        """Results to registers, in the order of the operands; a result may have several words."""
        values = list(values)
        wide = len(values) > 1 and not op.is_predicate(self.named[0]) and len(self.writes) > 1
        place = 0
        for text in self.named:
            if place >= len(values):
                break
            if op.is_predicate(text):
                number = op.row(text)
                if number not in (op.TRUE, op.UNIFORM_TRUE):
                    np.copyto(block.predicates[number], np.asarray(values[place], bool), where=active)
                place += 1
                continue
            number = op.row(text)
            width = registers.width_of(self.instruction, 0, True) if wide or self.instruction.base == "CS2R" else 1
            for word in range(min(width, len(values) - place)):
                self.put(block, number + word if number not in (op.ZERO, op.UNIFORM_ZERO) else number, values[place],
                         active)
                place += 1

    def put(self, block, number, value, active):
        if number not in (op.ZERO, op.UNIFORM_ZERO):
            np.copyto(block.registers[number], arithmetic.low(value), where=active)

    def access(self, block, where, active, running):
        if self.is_needed:
            self.move(block, where, active)
        block.meter.access(self, where, active, running)

    def move(self, block, where, active):
        base = self.instruction.base
        if base in ("LDG", "LD"):
            self.load(block, words_of_tensors(block, where, self.bytes, active), active)
        elif base == "LDS":
            self.load(block, [block.shared[(where >> np.uint64(2)) + np.uint64(word) & np.uint64(SHARED_WORDS - 1)]
                              for word in range(max(1, self.bytes // 4))], active)
        elif base == "STS":
            first = op.row(self.instruction.operands[-1].replace(".reuse", ""))
            for word in range(max(1, self.bytes // 4)):
                index = (where >> np.uint64(2)) + np.uint64(word) & np.uint64(SHARED_WORDS - 1)
                number = first + word if first != op.ZERO else first
                block.shared[index[active]] = block.registers[number][active]
        elif base in ("LDL", "STL"):
            self.access_local(block, where, active)

    def load(self, block, values, active):
        if self.bytes < 4:
            values = [values[0] & np.uint32((1 << 8 * self.bytes) - 1)]
        texts = [text for text in self.named if not op.is_predicate(text)]
        if not texts or op.row(texts[0]) == op.ZERO:
            return
        for word, value in enumerate(values):
            self.put(block, op.row(texts[0]) + word, value, active)

    def access_local(self, block, where, active):
        index = (where[0] >> np.uint64(2)) & np.uint64(block.local.shape[0] - 8)
        for word in range(max(1, self.bytes // 4)):
            slot = block.local[int(index) + word]
            if self.instruction.base == "LDL":
                self.put(block, op.row(self.named[0]) + word, slot, active)
            else:
                number = op.row(self.instruction.operands[-1].replace(".reuse", ""))
                np.copyto(slot, block.registers[number + word if number != op.ZERO else number], where=active)


def function_of(instruction):
    """What it computes, or None if it computes nothing."""
    if make := arithmetic.FUNCTIONS.get(instruction.base) or SYSTEM.get(instruction.base):
        return make(instruction)
    if opcodes.unit_of(instruction) in ("control", "global", "tensor", "uniform") or instruction.base in IGNORED:
        return None
    raise op.UnknownInstruction(f"the model cannot execute {instruction.opcode}")


def rows_of(names):
    """Places in the arrays of the meter, where predicates lie behind the registers."""
    found = [op.row(name) + (op.ROWS if name.startswith(("P", "UP")) else 0) for name in names]
    skipped = (op.ZERO, op.UNIFORM_ZERO, op.ROWS + op.TRUE, op.ROWS + op.UNIFORM_TRUE)
    return np.array([each for each in found if each not in skipped], np.int64)


def tensor_of(where):
    return (where >> TENSOR_SHIFT).astype(np.int64) - 1


def words_of_tensors(block, where, size, active):
    """What tensors hold; the active threads of one instruction nearly always read the same one."""
    read = where[active]
    number = int(np.bincount(np.clip(tensor_of(read), 0, 1 << 20)).argmax()) if read.size else 0
    data = block.patterns.get(number, block.nothing)
    index = (where & np.uint64(0xffffffff)) >> np.uint64(2)
    found = [data[(index + np.uint64(word)) % np.uint64(data.size)] for word in range(max(1, size // 4))]
    if size < 4:
        found[0] = found[0] >> ((where & np.uint64(3)) * np.uint64(8)).astype(np.uint32)
    return found


def special_register(instruction):
    name = instruction.operands[-1]
    return {"SR_TID.X": lambda s: [s.thread], "SR_CTAID.X": lambda s: [np.uint32(s.block)],
            "SR_LANEID": lambda s: [s.thread % np.uint32(32)]}.get(name, lambda s: [np.uint32(0)])


def load_constant(instruction):
    text = instruction.operands[-1]
    first = op.constant(text)
    found = op.CONSTANT.search(text)
    offset = sum(int(part, 16) for part in re.findall(r"0x[0-9a-f]+", found["index"]))
    second = op.constant(f"c[{found['bank']}][{hex(offset + 4)}]")
    return lambda s: [first(s), second(s)] if "64" in instruction.modifiers else [first(s)]


def shuffle(instruction):
    kind = instruction.modifiers[0]
    texts = arithmetic.sources(instruction)
    value, lane = op.integer(texts[0]), op.integer(texts[1])

    def run(s):
        own = s.thread % np.uint32(32)
        other = np.broadcast_to(lane(s) & arithmetic.LOW, s.count).astype(np.int64)
        own = own.astype(np.int64)
        source = {"BFLY": own ^ other, "IDX": other, "UP": own - other, "DOWN": own + other}[kind]
        inside = (source >= 0) & (source < 32)
        from_thread = s.thread.astype(np.int64) // 32 * 32 + np.where(inside, source, own)
        return [inside, np.broadcast_to(value(s), s.count)[from_thread]]
    return lambda s: run(s) if op.is_predicate(instruction.operands[0]) else run(s)[1:]


def vote(instruction):
    """Of the threads of a warp: whether all or any say yes, or which do."""
    texts = arithmetic.sources(instruction)
    named = arithmetic.results(instruction)
    predicate = op.predicate(next(text for text in texts if op.is_predicate(text)))
    kind = next((name for name in instruction.modifiers if name in ("ALL", "ANY", "EQ")), "ANY")

    def run(s):
        lanes = np.broadcast_to(predicate(s), s.count).reshape(-1, 32)
        joined = np.repeat((lanes.all(axis=1) if kind == "ALL" else lanes.any(axis=1)), 32)
        ballot = np.repeat((lanes.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=1), 32)
        return [joined if op.is_predicate(text) else ballot for text in named]
    return run


def elect(instruction):
    named = arithmetic.results(instruction)
    return lambda s: [(s.thread % 32 == 0) if op.is_predicate(text) else np.uint32(0) for text in named]


def true(instruction):
    return lambda s: [True if op.is_predicate(text) else np.uint32(0) for text in arithmetic.results(instruction)]


def false(instruction):
    return lambda s: [False for _ in arithmetic.results(instruction)]


def about_one(instruction):
    """Products of tensor cores, pieces of tiles in shared memory."""
    def run(s):
        for number in rows_of(registers.writes(instruction)):
            s.registers[number] = np.float32(0.75).view(np.uint32)
        return []
    return run


def predicates_to_register(instruction):
    texts = arithmetic.sources(instruction)
    value, mask = op.integer(texts[1]), op.integer(texts[2])

    def run(s):
        packed = sum((s.predicates[number].astype(np.uint64) << np.uint64(number) for number in range(7)), np.uint64(0))
        return [value(s) & arithmetic.LOW & ~mask(s) | packed & mask(s)]
    return run


def register_to_predicates(instruction):
    texts = [text for text in instruction.operands if text != "PR"]
    value, mask = op.integer(texts[0]), int(texts[1], 16)

    def run(s):
        word = np.broadcast_to(value(s), s.count)
        for number in range(7):
            if mask >> number & 1:
                s.predicates[number] = word >> np.uint64(number) & np.uint64(1) != 0
        return []
    return run


SYSTEM = {"S2R": special_register, "S2UR": special_register, "LDC": load_constant, "ULDC": load_constant,
          "SHFL": shuffle, "REDUX": true, "VOTE": vote, "VOTEU": vote, "ELECT": elect, "MATCH": true, "SYNCS": true,
          "USETMAXREG": true, "FCHK": false, "HMMA": about_one, "IMMA": about_one, "HGMMA": lambda i: lambda s: [],
          "IGMMA": lambda i: lambda s: [], "QGMMA": lambda i: lambda s: [], "DMMA": about_one, "LDSM": about_one,
          "P2R": predicates_to_register, "R2P": register_to_predicates, "MOVM": about_one, "LEPC": true}
MEMORY = {"LDG", "LD", "STG", "ST", "LDS", "STS", "LDL", "STL", "LDGSTS", "RED", "ATOM", "ATOMG"}
IGNORED = {"BMOV", "UP2UR", "UR2UP", "CCTL", "PSETP", "STSM", "UTMASTG"}

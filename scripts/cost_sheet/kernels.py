# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The kernels of a module: what the compiler says of their operands and launches, what ptxas says of their registers,
and their code."""

import collections.abc
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile

import launch_config
import node_sizes
import sass

ROOT = pathlib.Path(__file__).resolve().parents[2]
# As in Kernel/Grid.h and Target/Chips.h of include/adjoint/Codegen, and Launches/DeviceGrid.cpp of
# lib/Conversion/HostToLLVM.
BLOCK_THREADS, MAX_BLOCKS, WARP = 256, 65535, 32
DUMP = "// -----// IR Dump "
UNKNOWN_SIZE = 4096  # in place of a dynamic size
CUDA_FOLDERS = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", ""), "/usr/local/cuda", "/opt/cuda"]


class ToolFailure(RuntimeError):
    """A tool is missing, or refuses its input."""


class ProgramFailure(RuntimeError):
    """ad-opt refuses the program."""


@dataclasses.dataclass(frozen=True)
class Tensor:
    shape: tuple
    element_bytes: float
    element: str = ""

    @property
    def elements(self):
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def bytes(self):
        return self.elements * self.element_bytes


@dataclasses.dataclass
class Compiled:
    """A kernel, its launch and its code."""
    name: str
    kind: str  # class of the emitter
    operands: list
    results: list
    pointers: dict  # of operands and then results: {byte of the arguments: number}
    sums: int  # reductions of the kernel
    launch: dict  # parameters of the #ad.launch_config of the declaration
    registers: int
    spills: int  # bytes
    static_shared: int
    code: sass.Kernel
    launches: int = 1  # places of the entry that launch it
    # Of a divided kernel, from the number of SMs: the leaves of a node, the bytes of all nodes, the threads for them.
    nodes: collections.abc.Callable = None
    merges: int = 0  # of a sort, the launches that merge its runs
    blocks: int = None  # of a stage of a kernel of several launches, as the host counts them
    work: tuple = None  # bytes of the memory and scalar operations, as the class of the kernel says; None if it cannot
    begins: int = None  # of a scatter with sorted updates, the number of the tensor of begins; their places follow it

    @property
    def tensors(self):
        return [*self.operands, *self.results]

    @property
    def elements(self):
        """Of the largest tensor."""
        return max((tensor.elements for tensor in self.tensors), default=1)

    @property
    def large(self):
        """Numbers of the tensors with a large part of the traffic; caches hold the others."""
        return {number for number, tensor in enumerate(self.tensors) if tensor.elements * 8 >= self.elements}

    @property
    def shared(self):
        return self.static_shared + self.launch.get("dynamic_shared_bytes", 0)

    def grid(self, sm_count):
        """Blocks, and threads of a block, as the host program counts them."""
        threads = self.launch.get("threads_per_block", BLOCK_THREADS)
        cluster = self.launch.get("cluster_size", 1)
        if self.blocks is not None:
            return max(1, min(self.blocks, MAX_BLOCKS)), threads
        if self.name.rstrip('"').endswith("$partial"):
            return self.blocks_of(self.nodes(sm_count)[2], sm_count)
        if "grid_size" in self.launch or "tile" in self.launch:
            count = self.tiles() if "tile" in self.launch else max(1,
                                                                   min(self.launch["grid_size"], MAX_BLOCKS) // cluster)
            if "persistent_blocks" in self.launch:
                count = min(count, max(1, sm_count * self.launch["persistent_blocks"] // cluster))
            return min(count * cluster, MAX_BLOCKS), threads
        per_tile = {"thread": self.launch.get("threads_per_element", 1), "warp": WARP, "block": threads}
        return self.blocks_of(self.tiles() * per_tile[self.launch["level"]], sm_count)

    def blocks_of(self, count, sm_count):
        """Blocks of so many threads in all, and threads of a block."""
        threads, count = self.launch.get("threads_per_block", BLOCK_THREADS), max(1, count)
        if self.launch["level"] != "block":
            threads = min(threads, max(1, count // (2 * sm_count * WARP)) * WARP)
        return min(divide_up(count, threads), MAX_BLOCKS), threads

    def leaves_of_node(self, sm_count):
        """Of a divided reduction."""
        return self.nodes(sm_count)[0]

    def tiles(self):
        axes = self.launch["axes"]
        sizes = self.results[self.launch.get("result", 0)].shape[:axes]
        extents = [1] * (axes - len(self.launch.get("tile", []))) + self.launch.get("tile", [])
        count = 1
        for size, extent in zip(sizes, extents):
            count *= divide_up(size, extent)
        return divide_up(count, self.launch.get("elements", 1))


def divide_up(number, by):
    return -(-number // by)


def find_ptxas():
    folders = [os.environ.get("PATH", ""), *(f"{folder}/bin" for folder in CUDA_FOLDERS if folder)]
    if not (found := shutil.which("ptxas", path=os.pathsep.join(folders))):
        raise ToolFailure("ptxas is neither on the PATH nor in $CUDA_HOME; it comes with the CUDA toolkit")
    return found


def find_nvdisasm():
    path = pathlib.Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin" / "nvdisasm"
    if not path.exists():
        raise ToolFailure(f"nvdisasm is not in {path.parent}; install the package nvidia-cuda-nvdisasm into the Python that runs this")
    return path


def find_opt():
    folders = [os.environ.get("ADJOINT_BIN", ""), ROOT / "build" / "release" / "bin", os.environ.get("PATH", "")]
    if not (found := shutil.which("ad-opt", path=os.pathsep.join(str(folder) for folder in folders if folder))):
        raise ToolFailure("ad-opt is neither in build/release/bin nor on the PATH; build it, or set ADJOINT_BIN")
    return found


def run(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise ToolFailure(f"{pathlib.Path(command[0]).name}: {(done.stderr or done.stdout).strip()[:2000]}")
    return done


def parse_tensor(text):
    if not (found := re.fullmatch(r"tensor<((?:\d+x|\?x)*)([a-z]\w*)>", text)):
        raise ToolFailure(f"'{text}' is no type of a tensor")
    shape = tuple(UNKNOWN_SIZE if size == "?" else int(size) for size in found[1].split("x")[:-1])
    bits = re.search(r"\d+", found[2])
    return Tensor(shape, max(1, int(bits[0]) // 8 if bits else 8), found[2])


def signatures(text):
    """Operands, results, positions of pointers and number of reductions of each `ad.kernel`."""
    found = {}
    for body in re.split(r"^\s*(?=ad\.kernel )", text, flags=re.M)[1:]:
        kernel = re.match(r"ad\.kernel private @([\w.$-]+|\"[^\"]+\")\((.*?)\)(?: -> (.*?))? (?:attributes )?\{", body)
        body = body.split("ad.yield")[0]
        operands = re.findall(r"%\w+: (tensor<[^>]*>|\w+)", kernel[2])
        results = re.findall(r"tensor<[^>]*>", kernel[3] or "")
        tensors = [parse_tensor(each) for each in operands if each.startswith("tensor")]
        found[kernel[1]] = (tensors, [parse_tensor(each) for each in results], pointer_places(operands + results),
                            body.count('"reduction"'))
    return found


def pointer_places(types):
    """{bytes from the first argument of the function: number of the tensor}. A tensor is a pointer and then its dynamic
    sizes."""
    places, place = {}, 0
    for kind in types:
        if kind.startswith("tensor"):
            place = divide_up(place, 8) * 8
            places[place] = len(places)
            place += 8 * (1 + kind.count("?"))
        else:
            size = 8 if kind == "index" else max(1, int(re.search(r"\d+", kind)[0]) // 8)
            place = divide_up(place, size) * size + size
    return places


def declarations(text):
    """The launch configuration of each kernel, and its class."""
    found = {}
    for declaration in re.finditer(r"^\s*func\.func private @([\w.$-]+|\"[^\"]+\")\(.*?\) attributes \{(.*)\}$", text,
                                   re.M):
        if launch := launch_config.read(declaration[2]):
            found[declaration[1]] = launch
    for kernel in re.finditer(r'^\s*gpu\.func @([\w.$-]+|"[^"]+")\(.*?adrt\.class = "(\w+)"', text, re.M):
        found[kernel[1]]["class"] = kernel[2]
    return found


def works(remarks):
    """{kernel: (bytes, operations)} of the classes that say what their kernels cost."""
    return {found[1].strip('"'): (int(found[2]), int(found[3])) for found in
            re.finditer(r'-class \|.*kernel=("[^"]*"|[^,\s]+).*work="(\d+) bytes, (\d+) operations"', remarks)}


def begins_of_runs(remarks):
    """{kernel: which operand says where the updates of each element begin} of scatters with sorted updates."""
    return {found[2].strip('"'): int(found[1]) for found in
            re.finditer(r'-class \|.*begins=(\d+).*kernel=("[^"]*"|[^,\s]+)', remarks)}


def entry_in(text):
    """The text of the function @main, or all of it."""
    found = re.search(r"^  func\.func @main\(.*?^  }$", text, re.M | re.S)
    return found[0] if found else text


def ptx_in(text):
    found = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', text)
    unescape = lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1]  # noqa: E731
    return re.sub(r"\\([0-9A-F]{2}|.)", unescape, found[1]) if found else None


def assemble(ptx, chip, with_ranges=False):
    """Registers, spilled bytes and static shared bytes of each kernel, and the listing of all, on demand with the life
    ranges of registers."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "kernels.cubin"
        done = run([find_ptxas(), "-v", "-arch", chip, "-o", cubin, "-"], input=ptx)
        listing = run([find_nvdisasm(), "-c", *(["-plr", "-lrm", "narrow"] if with_ranges else []), cubin]).stdout
    used = {}
    for part in re.split(r"Compiling entry function ", done.stdout + done.stderr)[1:]:
        name = re.match(r"'([^']+)'", part)[1]
        shared = re.search(r"(\d+) bytes smem", part)
        spills = [int(count) for count in re.findall(r"(\d+) bytes spill (?:stores|loads)", part)]
        used[name] = (int(re.search(r"Used (\d+) registers", part)[1]), max(spills, default=0),
                      int(shared[1]) if shared else 0)
    return used, listing


def compile_module(path, chip, numerics="", with_ranges=False):
    """All kernels of a module of the ad dialect, and their listing."""
    options = f"{f'numerics={numerics} ' if numerics else ''}chip={chip}"
    command = [find_opt(), path, f"--ad-to-gpu={options}", "--remarks-filter=ad-gpu",
               "--mlir-print-ir-before=ad-emit-gpu", "--mlir-print-ir-after=ad-emit-gpu"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProgramFailure(done.stderr.split(DUMP)[0].strip() or f"ad-opt ended with {done.returncode}")
    dumps = {dump.split()[0]: dump for dump in done.stderr.split(DUMP)[1:]}
    ptx = ptx_in(done.stdout)
    if ptx is None:
        return [], ""
    tensors, known = signatures(dumps["Before"]), declarations(dumps["After"])
    divisions = {kernel: functools.partial(node_sizes.evaluate, function, UNKNOWN_SIZE)
                 for kernel, function in node_sizes.functions(dumps["After"]).items()}
    merges = {kernel: node_sizes.merges(function, UNKNOWN_SIZE)
              for kernel, function in node_sizes.functions(dumps["After"], "run_sizes").items()}
    stages = node_sizes.stages(dumps["After"], UNKNOWN_SIZE)
    used, listing = assemble(ptx, chip, with_ranges)
    work, begins = works(done.stderr), begins_of_runs(done.stderr)
    found = []
    for code in sass.parse(listing):
        name = source_name(code.name, known)
        # A divided reduction is two kernels, which take the tensors of the kernel and, after them, the nodes; a sort of
        # long lines is two, which take the runs. Others name their stages.
        stage = stages.get(name.strip('"'))
        whole = stage[0] if stage else re.sub(r"\$(partial|merge|sort_tiles|merge_runs)(?=\"?$)", "", name)
        whole = whole if whole in tensors else whole.strip('"')
        launches = len(re.findall(rf'ad\.launch @{re.escape(whole)}\(', entry_in(dumps["Before"])))
        of_sort = merges.get(whole, 0)
        if name.rstrip('"').endswith("$merge_runs"):
            launches *= of_sort
        found.append(Compiled(name, known[name]["class"], *tensors[whole], known[name], *used[code.name], code,
                              launches, divisions.get(whole), of_sort, stage and stage[1], work.get(whole.strip('"')),
                              begins.get(whole.strip('"'))))
    return found, listing


def source_name(name, known):
    """PTX has no names with other characters than letters, digits, _ and $: each is written as $ and its two
    hexadecimal digits."""
    plain = re.sub(r"\$([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), name)
    for candidate in (name, plain, f'"{plain}"', plain.removeprefix("kernel_"), f'"{plain.removeprefix("kernel_")}"'):
        if candidate in known:
            return candidate
    raise ToolFailure(f"no kernel of the module is called '{name}'")

"""A hundred launches around the limits of sm_90, of the kernels in launch_kernels.cu, and what cuproof's
numbers say of each."""

from dataclasses import dataclass

REGISTERS = (40, 64, 72, 88, 104, 120, 128, 136, 152, 168, 184, 200, 216, 255)
MOST_SHARED = 232448  # bytes of a block with opt-in: 227 KB
DEFAULT_SHARED = 49152
OK, INVALID_VALUE, OUT_OF_RESOURCES, INVALID_CLUSTER = 0, 1, 701, 912
MOST_GRID = (2**31 - 1, 65535, 65535)
MOST_BLOCK = (1024, 1024, 64)
PORTABLE_CLUSTER, LARGEST_CLUSTER = 8, 16


@dataclass
class Launch:
    id: str
    kernel: str
    grid: tuple = (1, 1, 1)
    block: tuple = (32, 1, 1)
    dynamic: int = 0
    optin: int = -1
    cluster: int = 0
    nonportable: int = 0

    def line(self):
        return " ".join(map(str, (self.id, self.kernel, *self.grid, *self.block, self.dynamic, self.optin,
                                  self.cluster, self.nonportable)))


def near(registers):
    """The largest block by hand, for sm_90: 4 partitions of 16,384 registers, given in 256s."""
    of_warp = (registers * 32 + 255) // 256 * 256
    return min(16384 // of_warp * 4 * 32, 1024)


def blocks():
    for registers in REGISTERS:
        for threads in (near(registers) - 32, near(registers), near(registers) + 32):
            yield Launch(f"registers_{registers}_x{threads}", f"registers_{registers}", block=(threads, 1, 1))
    for kernel, sizes in (("bounds_256", (224, 256, 257, 288, 512)), ("bounds_96", (64, 96, 97, 128))):
        for threads in sizes:
            yield Launch(f"{kernel}_x{threads}", kernel, block=(threads, 1, 1))
    for block in ((1024, 1, 1), (1025, 1, 1), (1, 1024, 1), (1, 1025, 1), (1, 1, 64), (1, 1, 65), (32, 32, 1),
                  (32, 33, 1), (16, 16, 4), (16, 16, 5), (0, 1, 1)):
        yield Launch("block_" + "x".join(map(str, block)), "plain", block=block)


def grids():
    for grid in ((2**31 - 1, 1, 1), (2**31, 1, 1), (1, 65535, 1), (1, 65536, 1), (1, 1, 65535), (1, 1, 65536),
                 (0, 1, 1)):
        yield Launch("grid_" + "x".join(map(str, grid)), "plain", grid=grid)


def shared():
    for dynamic in (DEFAULT_SHARED, DEFAULT_SHARED + 1, DEFAULT_SHARED + 128):
        yield Launch(f"plain_dynamic_{dynamic}", "plain", dynamic=dynamic)
    for kernel, static in (("shared_16k", 16384), ("shared_48k", 49152)):
        for dynamic in sorted({0, DEFAULT_SHARED - static, DEFAULT_SHARED - static + 1}):
            yield Launch(f"{kernel}_dynamic_{dynamic}", kernel, dynamic=dynamic)
    for kernel, static in (("plain", 0), ("shared_16k", 16384), ("shared_48k", 49152)):
        most = MOST_SHARED - static
        for dynamic, optin in ((most, most), (most + 1, most), (most + 128, most + 128)):
            yield Launch(f"{kernel}_dynamic_{dynamic}_of_{optin}", kernel, dynamic=dynamic, optin=optin)


def clusters():
    for grid in (2, 3, 4):
        yield Launch(f"cluster_2_grid_{grid}", "cluster_2", grid=(grid, 1, 1))
    for cluster in (2, 4):
        yield Launch(f"cluster_2_as_{cluster}", "cluster_2", grid=(8, 1, 1), cluster=cluster)
    for cluster, nonportable in ((1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (16, 1), (32, 1)):
        yield Launch(f"plain_cluster_{cluster}_{'any' if nonportable else 'portable'}", "plain", grid=(32, 1, 1),
                     cluster=cluster, nonportable=nonportable)
    yield Launch("plain_cluster_4_grid_6", "plain", grid=(6, 1, 1), cluster=4)
    yield Launch("registers_168_cluster_2", "registers_168", grid=(2, 1, 1), block=(416, 1, 1), cluster=2)


def launches():
    return [*blocks(), *grids(), *shared(), *clusters()]


def cluster_outcome(launch, kernel):
    compiled = kernel.get("cluster")
    size = launch.cluster or (compiled[0] * compiled[1] * compiled[2] if compiled else 1)
    if compiled and launch.cluster and launch.cluster != compiled[0]:
        return INVALID_CLUSTER
    if size > (LARGEST_CLUSTER if launch.nonportable else PORTABLE_CLUSTER):
        return INVALID_CLUSTER
    return INVALID_CLUSTER if launch.grid[0] % size else OK


def predict(launch, kernel, largest_block):
    """(answer to the opt-in, answer to the launch). `kernel` and `largest_block` are what cuproof says."""
    static = kernel["static_shared"]
    optin_fails = launch.optin > MOST_SHARED - static
    opted = INVALID_VALUE if optin_fails else OK
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    dynamic_limit = launch.optin if launch.optin >= 0 and not optin_fails else DEFAULT_SHARED - static
    if any(not 0 < size <= most for size, most in zip(launch.grid, MOST_GRID)):
        return opted, INVALID_VALUE
    if any(not 0 < size <= most for size, most in zip(launch.block, MOST_BLOCK)) or threads > MOST_BLOCK[0]:
        return opted, INVALID_VALUE
    bound = kernel.get("max_threads")
    if bound and threads > bound[0] * bound[1] * bound[2]:
        return opted, INVALID_VALUE
    if launch.dynamic > dynamic_limit:
        return opted, INVALID_VALUE
    if (outcome := cluster_outcome(launch, kernel)) != OK:
        return opted, outcome
    return opted, OUT_OF_RESOURCES if threads > largest_block else OK

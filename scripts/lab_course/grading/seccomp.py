"""Which system calls a sandbox refuses: a filter for the kernel, as bwrap --seccomp takes it.

Those are refused that lead out of a sandbox where the kernel has a fault (namespaces, mounts, bpf,
io_uring), that see other processes, that take memory which no process is seen to have, and that leave a
file behind which runs with its owner's rights; and sockets, but where there is a GPU. With
`single_process`, those that start another process as well.

execve() is not refused, since bwrap itself starts the program with it: a program that calls it becomes
another one with the same filter, the same view and the same limits, and has gained nothing.
"""

from __future__ import annotations

import errno
import platform
import struct

# Numbers on x86_64 (arch/x86/entry/syscalls/syscall_64.tbl of Linux) and on AArch64
# (include/uapi/asm-generic/unistd.h); None: there is no such call. A test compares them with the headers
# of the machine it runs on.
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chroot": (161, 51),
    "clone": (56, 220),
    "clone3": (435, 435),
    "creat": (85, None),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "finit_module": (313, 273),
    "fork": (57, None),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "mmap": (9, 222),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "open": (2, None),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat": (257, 56),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setns": (308, 268),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vfork": (58, None),
    "vmsplice": (278, 75),
}
# Of both, refused with "no such call": who asks goes on with the older call, whose arguments a filter
# can see. (Those of these calls are in memory.)
UNKNOWN = ["clone3", "io_uring_enter", "io_uring_register", "io_uring_setup", "openat2"]
OF_GPU = ("mmap", "socket", "socketpair")  # what NVIDIA's driver needs
IN_A_SINGLE_PROCESS = ["fork", "vfork", "socketpair"]
# Looked at more closely: an argument's bits, and where another one lacks these, nothing is refused.
MODES = {
    "chmod": 1,
    "fchmod": 1,
    "fchmodat": 2,
    "fchmodat2": 2,
    "creat": 1,
    "mknod": 1,
    "mknodat": 2,
}
MODES_OF_NEW = {"open": (2, 1), "openat": (3, 2)}  # arguments: the mode, and the flags
LOOKED_AT = ["clone", "mmap", *MODES, *MODES_OF_NEW]

SET_ID = 0o6000  # S_ISUID, S_ISGID
MAKES = (
    0o100 | 0o20000000
)  # O_CREAT, __O_TMPFILE: else there is no mode (include/uapi/asm-generic/fcntl.h)
MAP_SHARED, MAP_ANONYMOUS = 0x1, 0x20  # include/uapi/linux/mman.h; MAP_SHARED_VALIDATE is 3
CLONE_THREAD = 0x10000
NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET

MACHINES = {
    "x86_64": 0xC000003E,
    "aarch64": 0xC00000B7,
}  # AUDIT_ARCH_... of include/uapi/linux/audit.h
X32 = 0x40000000  # this bit is in the numbers of x86_64's second set of calls

# include/uapi/linux/bpf_common.h and seccomp.h
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data

Instruction = tuple[int, int, int, int]


def _argument(index: int) -> int:
    """The offset of its lower half, which has all bits that are looked at."""
    return 16 + 8 * index


def _return(value: int) -> Instruction:
    return (RETURN, 0, 0, value)


def _if_call(number: int, then: list[Instruction]) -> list[Instruction]:
    """`then`, which returns or leaves the number loaded."""
    return [(EQUAL, 0, len(then), number), *then]


def _refuse_bits(argument: int, bits: int) -> list[Instruction]:
    refuse = _return(REFUSE | errno.EPERM)
    return [(LOAD, 0, 0, _argument(argument)), (ANY_BIT, 0, 1, bits), refuse, _return(ALLOW)]


def _looked_at(call: str, single_process: bool) -> list[Instruction]:
    """What is done about a call, as its arguments are."""
    refuse = _return(REFUSE | errno.EPERM)
    if call == "clone" and single_process:
        return [
            (LOAD, 0, 0, _argument(0)),
            (ANY_BIT, 1, 0, CLONE_THREAD),
            refuse,
            *_refuse_bits(0, NAMESPACES),
        ]
    if call == "clone":
        return _refuse_bits(0, NAMESPACES)
    if call == "mmap":  # which a process can have without having any page of it: madvise(2)
        return [
            (LOAD, 0, 0, _argument(3)),
            (ANY_BIT, 1, 0, MAP_SHARED),
            _return(ALLOW),
            *_refuse_bits(3, MAP_ANONYMOUS),
        ]
    if call in MODES:
        return _refuse_bits(MODES[call], SET_ID)
    mode, flags = MODES_OF_NEW[call]
    return [
        (LOAD, 0, 0, _argument(flags)),
        (ANY_BIT, 1, 0, MAKES),
        _return(ALLOW),
        *_refuse_bits(mode, SET_ID),
    ]


def _answer(call: str, single_process: bool) -> list[Instruction]:
    if call in LOOKED_AT:
        return _looked_at(call, single_process)
    if call in UNKNOWN:
        return [_return(REFUSE | errno.ENOSYS)]
    if call in IN_A_SINGLE_PROCESS and not single_process:
        return [_return(ALLOW)]
    return [_return(REFUSE | errno.EPERM)]


def known(machine: str = "") -> bool:
    """Is there a filter for `machine` (platform.machine(); this one where it is empty)?"""
    return (machine or platform.machine()) in MACHINES


def filter_program(single_process: bool, machine: str = "", gpu: bool = False) -> bytes:
    """The filter, an array of struct sock_filter. `machine` as for known(). With `gpu` there are sockets,
    without which NVIDIA's driver does not start, and memory that processes share; a sandbox has no
    network all the same."""
    machine = machine or platform.machine()
    column = list(MACHINES).index(machine)
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, MACHINES[machine]),
        _return(KILL),  # such as a 32-bit program, whose calls have other numbers
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        program += [(AT_LEAST, 0, 1, X32), _return(REFUSE | errno.ENOSYS)]
    for call, numbers in NUMBERS.items():
        number = numbers[column]
        if number is not None and not (gpu and call in OF_GPU):
            program += _if_call(number, _answer(call, single_process))
    program.append(_return(ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)

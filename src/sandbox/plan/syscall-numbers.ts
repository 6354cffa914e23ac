/**
 * Lists by processor the numbers of the system calls that the filter knows.
 *
 * They are those of the Linux kernel's own tables (arch/x86/entry/syscalls/syscall_64.tbl, and
 * include/uapi/asm-generic/unistd.h for arm64). They never change.
 *
 * `undefined` says that the processor has no such call: newer processors left out what other calls can do as well.
 */

/** Processors that Handrail runs on, as Node names them. */
export const PROCESSORS = ["x64", "arm64"] as const;
/** One of them. */
export type Processor = (typeof PROCESSORS)[number];

/** What names a processor to the filter (`AUDIT_ARCH_*` of linux/audit.h). */
export const AUDIT_ARCHITECTURE: Readonly<Record<Processor, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/**
 * The first number that the tables of Linux 6.18 give to no call: what it will do nobody has judged. The same on both
 * processors.
 */
export const FIRST_UNKNOWN_CALL = 470;

/** Calls that nothing inside the sandbox may make, whatever their arguments: `[x64, arm64]`. */
export const REFUSED_CALLS = {
  // other processes
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // mounts and roots
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  // namespaces
  unshare: [272, 97],
  setns: [308, 268],
  // keys of the host's key rings
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // wide interfaces of the kernel, where its faults are found
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  lookup_dcookie: [212, 18],
  // the machine
  reboot: [169, 142],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  syslog: [103, 116],
  vhangup: [153, 58],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  uselib: [134, undefined],
  _sysctl: [156, undefined],
  // memory of other nodes
  migrate_pages: [256, 238],
  move_pages: [279, 239],
} as const satisfies Readonly<Record<string, readonly [x64: number, arm64: number | undefined]>>;

/** Calls whose arguments decide. */
export const JUDGED_CALLS = {
  clone: [56, 220],
  clone3: [435, 435],
  socket: [41, 198],
  socketpair: [53, 199],
  fcntl: [72, 25],
  ioctl: [16, 29],
  personality: [135, 92],
  open: [2, undefined],
  creat: [85, undefined],
  openat: [257, 56],
  openat2: [437, 437],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  mknod: [133, undefined],
  mknodat: [259, 33],
} as const satisfies Readonly<Record<string, readonly [x64: number, arm64: number | undefined]>>;

/** The number of a call on `processor`. */
export function callNumber(call: readonly [number, number | undefined], processor: Processor): number | undefined {
  return processor === "x64" ? call[0] : call[1];
}

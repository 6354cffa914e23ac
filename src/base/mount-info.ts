/** Reads the machine's list of mounts, `/proc/PID/mountinfo` (proc_pid_mountinfo(5)). */

/** One mount. */
export interface Mount {
  /** Where it stands. */
  readonly target: string;
  /** Number of the file system. */
  readonly device: string;
  /** What of that file system is mounted. */
  readonly root: string;
  readonly type: string;
  /** Options of the file system, separated by commas. */
  readonly options: string;
}

/** The mounts in `mountInfo`; of several at one place the lowest comes first. */
export function parseMounts(mountInfo: string): readonly Mount[] {
  return mountInfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ", 2);
    const [, , device = "", root = "", target = ""] = before.split(" ");
    const [type = "", , options = ""] = after.split(" ");
    return target === "" ? [] : [{ target: unescaped(target), device, root: unescaped(root), type, options }];
  });
}

/** Blanks, tabs, line feeds and backslashes stand as octal numbers of bytes; names may hold any bytes. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

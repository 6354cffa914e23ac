/**
 * Builds the command that mounts an overlay for one run.
 *
 * It is pure. The overlay is mounted in a user and mount namespace of the run's own, right before the program that
 * contains it. The machine's own namespace never has the mount, and it is gone with the last process of the run,
 * however the kernel ends. Layers are named from the directory that they lie in, so that no path of the machine stands
 * in the table of mounts that a command can read.
 */

/** What is merged, as the user of the run finds it. */
export interface Layers {
  /** The directory of the view, absolute. */
  readonly directory: string;
  /** The workspace, absolute. */
  readonly workspace: string;
}

/**
 * What is put before a program that is to see the view; the user becomes the namespace's root, which is nobody more
 * than before.
 */
export function overlayPrefix(layers: Layers): readonly string[] {
  return ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private", "--", ...mountThenRun(layers)];
}

/** The same for a program that is in such namespaces already. */
export function mountThenRun({ directory, workspace }: Layers): readonly string[] {
  return ["/bin/sh", "-c", MOUNT, "view", directory, workspace];
}

/** Where the merged tree stands. */
export function mergedIn(directory: string): string {
  return `${directory}/merged`;
}

/**
 * Watchers of files (inotify instances) that one run may have: the machine gives each user 128, and the kernel and the
 * editors of the same user need some. Where it cannot be set, kernels look at their bells now and then instead.
 */
const WATCHERS_MAX = 12;
/**
 * `volatile`: what is written is kept by whoever lands it; without it each unmounting waits for everything that the
 * machine has yet to write.
 */
const MOUNT = `(echo ${WATCHERS_MAX} >/proc/sys/user/max_inotify_instances) 2>/dev/null; cd "$1" && unset OLDPWD PWD && mount --bind "$2" lower && mount -t overlay overlay -o nosuid,nodev,lowerdir=lower,upperdir=upper,workdir=work,userxattr,volatile merged && shift 2 && exec "$@"`;

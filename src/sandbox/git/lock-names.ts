/** Names the lock files by which git keeps others from changing a repository's own files (gitrepository-layout(5)). */

const LOCKED = /^(?:index|HEAD|ORIG_HEAD|packed-refs|shallow|refs\/.+)$/;

/**
 * The lock of `path`, a path of the workspace.
 * @param own the repository's `.git` directory, a path of the workspace
 */
export function gitLockOf(own: string, path: string): string | undefined {
  const name = path.startsWith(`${own}/`) ? path.slice(own.length + 1) : "";
  return LOCKED.test(name) ? `${path}.lock` : undefined;
}

const IN_REPOSITORY = /^(?:.*\/)?\.git(?=\/)/;

/**
 * The same for any path of a workspace: what git locks by no file of its own, such as an object, is locked by the
 * index, without which nobody commits.
 */
export function repositoryLockOf(path: string): string | undefined {
  const [own] = IN_REPOSITORY.exec(path) ?? [];
  return own === undefined ? undefined : (gitLockOf(own, path) ?? `${own}/index.lock`);
}

/**
 * Knows the views of running commands, and passes on to them what Handrail's own calls change in their workspaces.
 *
 * There is one list for the process, as there is one machine: whoever changes a file need not know who else works
 * there. INVARIANT: a view is in the list only while its command runs, and nothing that is done for it fails a call.
 */

/** The view of a running command. */
export interface RunningView {
  /** The workspace, a real path. */
  readonly root: string;
  /** Shows in it what stands at `path` of the workspace by now; resolves also when that takes too long. */
  readonly show: (path: string) => Promise<void>;
}

/** Paths of one change that are passed on; of a larger one none is. */
export const PASSED_ON_MAX = 1000;

const running = new Set<RunningView>();

/** Adds a view. @returns what takes it out again */
export function enterRunning(view: RunningView): () => void {
  running.add(view);
  return () => void running.delete(view);
}

/**
 * Passes on what has become of `paths`, in their order: what is new before what is gone.
 * @param root the directory that they are relative to, a real path
 */
export async function passOn(root: string, paths: readonly string[]): Promise<void> {
  if (running.size === 0 || paths.length > PASSED_ON_MAX) return;
  const views = [...running];
  for (const path of paths) {
    const whole = `${root === "/" ? "" : root}/${path}`;
    const within = views.filter((view) => whole.startsWith(`${view.root}/`));
    await Promise.all(within.map((view) => view.show(whole.slice(view.root.length + 1))));
  }
}

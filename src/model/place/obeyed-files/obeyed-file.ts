/**
 * The entry type of the list of obeyed files: what a person's tools execute or follow without being asked to.
 *
 * The rule that decides what is on the list: some tool obeys the file when a directory is opened, entered, committed,
 * pushed, installed or reviewed, and the person has not named the file. So a `Makefile`, `package.json`, `justfile`,
 * `Dockerfile`, `setup.py`, `conftest.py`, `build.rs` and the settings of linters and test runners stay ordinary: a
 * person runs them by name, as the code that the agent was asked to write. Files that name a version alone (`.nvmrc`,
 * `.python-version`), or that only format and ignore (`.editorconfig`, `.gitignore`, `.mailmap`), stay ordinary too.
 *
 * Looked at and left ordinary: what a person starts by name (`gradlew`, `mvnw`, `compose.yaml` and its overrides,
 * `Vagrantfile`, `Tiltfile`, `skaffold.yaml`, `default.nix`, `pixi.toml`, `deno.json`, `turbo.json`, `nx.json`,
 * `lerna.json`, `rush.json`, `fly.toml`, `firebase.json`, `app.yaml`), what a build reads (`build.sbt`, `plugins.sbt`,
 * `WORKSPACE.bazel`, `go.work`, `composer.json`), what only reports (`codecov.yml`, `.sonarcloud.properties`), what is
 * obeyed only in a home (`.local/bin`, `.gnupg`, `go.env`), and what tools look for elsewhere (`dependabot.yml` in the
 * root).
 */

/** What one tool obeys. */
export interface ObeyedFiles {
  /**
   * A name, at any depth, with all that lies below it; a double star and two names for what is obeyed in that directory
   * alone; with a slash before it, a name in the root. Case is ignored, because the tools' file systems may ignore it.
   */
  readonly patterns: readonly string[];
  /** Who obeys, and what the file can make happen: a sentence that a person reads before agreeing to a change. */
  readonly reason: string;
  /** The page of the tool's own documentation that says so. */
  readonly source: string;
  /** Whether the case of the names counts, because in another case they are common names of something else. */
  readonly isExact?: true;
  /**
   * Plain documents in what `patterns` name, as paths from the root of the workspace: they may be written like any
   * file.
   */
  readonly plain?: readonly string[];
}

/** What a page of documentation tells of some names: the reason, with more where there is more to it. */
type Told = string | Omit<ObeyedFiles, "patterns" | "source">;

/** The rows of `pages`: by the page that says so, patterns (parted by blanks) and what it tells of them. */
export function obeyedFiles(pages: Readonly<Record<string, Readonly<Record<string, Told>>>>): readonly ObeyedFiles[] {
  return Object.entries(pages).flatMap(([source, files]) =>
    Object.entries(files).map(([names, told]) => ({
      patterns: names.split(" "),
      source,
      ...(typeof told === "string" ? { reason: told } : told),
    })),
  );
}

/** One entry of the list. */
export interface ObeyedFile extends Pick<ObeyedFiles, "reason" | "source" | "isExact"> {
  readonly pattern: string;
}

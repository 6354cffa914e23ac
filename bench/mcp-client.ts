/**
 * A raw JSON-RPC client over a child's standard streams, the same for both servers and as light as can be: an answer is
 * a line. An answer to a read that is shorter than the file is an error and ends the run, and one in a hundred is
 * parsed and looked at.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { FILE_BYTES } from "./playground.ts";

const LINE_FEED = 10;
const LOOKED_AT_EVERY = 100;
const ANSWER_MS_MAX = 60_000;
const END_MS_MAX = 10_000;

/** A server that is started as its users start it. */
export interface ServerCommand {
  /** The program that is started; Node by default. */
  readonly program?: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** The tool that reads a file, and the path it takes for a file of the workspace. */
  readonly readTool: string;
  readonly pathOf: (file: string) => string;
}

/** A running server. */
export class McpClient {
  readonly #child: ChildProcess;
  readonly #command: ServerCommand;
  #nextId = 1;
  #pieces: Buffer[] = [];
  #onLine: (line: Buffer) => void = () => undefined;
  #onChunkEnd: () => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;
  #stderr = "";

  constructor(command: ServerCommand) {
    this.#command = command;
    this.#child = spawn(command.program ?? process.execPath, [...command.args], {
      env: command.environment,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-4000);
    });
    this.#child.on("error", (error) => this.#failed(error));
    this.#child.on("exit", (code) => this.#failed(new Error(`the server ended with ${code}: ${this.#stderr}`)));
    this.#child.stdin?.on("error", () => undefined); // `exit` follows and says why
  }

  /** The server's process id. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Shakes hands and asks for the tools, as clients do first; resolves with their names. */
  async open(): Promise<readonly string[]> {
    const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
    const lines: Buffer[] = [];
    await this.#until((resolve) => {
      this.#onLine = (line) => {
        if (lines.push(line) === 2) resolve();
      };
      this.#child.stdin?.write(
        `${this.#request("initialize", hello)}{"jsonrpc":"2.0","method":"notifications/initialized"}\n${this.#request("tools/list", {})}`,
      );
    });
    const answer: { result?: { tools?: { name: string }[] } } = JSON.parse(lines[1]?.toString() ?? "");
    const names = answer.result?.tools?.map((tool) => tool.name) ?? [];
    if (!names.includes(this.#command.readTool))
      throw new Error(`the server does not offer \`${this.#command.readTool}\``);
    return names;
  }

  /**
   * Reads files with `inFlight` calls outstanding until `next` gives no more; resolves with reads per second.
   * @param next the file of the n-th read
   */
  async read(inFlight: number, next: (index: number) => string | undefined): Promise<number> {
    const { readTool: name, pathOf } = this.#command;
    const call = (index: number) => {
      const file = next(index);
      return file === undefined ? undefined : { name, arguments: { path: pathOf(file) } };
    };
    return this.call(inFlight, call, (line, answered) => {
      if (line.length < FILE_BYTES || answered % LOOKED_AT_EVERY === 0) inspect(line);
    });
  }

  /** The same for calls of any tool; `look` throws at an answer that should not be. */
  async call(
    inFlight: number,
    next: (index: number) => { readonly name: string; readonly arguments: object } | undefined,
    look: (line: Buffer, answered: number) => void,
  ): Promise<number> {
    let asked = 0;
    let answered = 0;
    let outgoing = "";
    const ask = (): void => {
      const call = next(asked);
      if (call === undefined) return;
      asked += 1;
      outgoing += this.#request("tools/call", call);
    };
    const flush = (): void => {
      if (outgoing !== "") this.#child.stdin?.write(outgoing);
      outgoing = "";
    };
    const started = performance.now();
    await this.#until((resolve) => {
      this.#onLine = (line) => {
        answered += 1;
        look(line, answered);
        ask();
      };
      this.#onChunkEnd = () => {
        flush();
        if (answered === asked) resolve();
      };
      for (let index = 0; index < inFlight; index += 1) ask();
      flush();
    });
    this.#onChunkEnd = () => undefined;
    return (answered * 1000) / (performance.now() - started);
  }

  /** Closes the server's input and waits until it is gone. */
  async close(): Promise<void> {
    this.#failed = () => undefined;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    const late = setTimeout(() => this.#child.kill("SIGKILL"), END_MS_MAX);
    this.#child.stdin?.end();
    await gone;
    clearTimeout(late);
  }

  #request(method: string, params: object): string {
    return `${JSON.stringify({ jsonrpc: "2.0", id: this.#nextId++, method, params })}\n`;
  }

  async #until(start: (resolve: () => void) => void): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#failed = reject;
        late = setTimeout(
          () => reject(new Error(`no answer within ${ANSWER_MS_MAX} ms: ${this.#stderr}`)),
          ANSWER_MS_MAX,
        );
        start(resolve);
      });
    } finally {
      clearTimeout(late);
    }
  }

  #take(chunk: Buffer): void {
    let start = 0;
    try {
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
        const last = chunk.subarray(start, end);
        this.#onLine(this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]));
        this.#pieces = [];
        start = end + 1;
      }
      if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
      this.#onChunkEnd();
    } catch (error) {
      this.#failed(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** Whether an answer really carries a file. */
function inspect(line: Buffer): void {
  const text = line.toString();
  const answer: { result?: { isError?: boolean; content?: { text?: string }[] } } = JSON.parse(text);
  if (answer.result?.isError === true || answer.result?.content?.[0]?.text?.length !== FILE_BYTES) {
    throw new Error(`a read failed: ${text.slice(0, 500)}`);
  }
}

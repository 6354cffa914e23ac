/**
 * Reads the syntax tree of a shell command for the programs and files that it touches.
 *
 * It finds every program that may run, every file that a redirection touches, and what of it the text does not say. It
 * trusts the grammar where the grammar reports no fault.
 *
 * INVARIANT: every part of the tree is visited. Whatever is not a program with a known name and a known text is a
 * danger.
 */
import type { AndOr, Command, Pipeline, Redirect, Redirection, Statement, SyntaxNode } from "unbash";
import { forEachChild } from "unbash";
import {
  type CommandDanger,
  type CommandResource,
  commandOf,
  programName,
  quoted,
  UNKNOWN_BINARY,
} from "../../../model/place/command.ts";
import { isRefusedEnvironmentName } from "../../../names/environment-names.ts";
import { type Input, inputOf } from "../words/input.ts";
import {
  hidesCode,
  isFixed,
  isTakenApart,
  plainWord,
  readAssignment,
  readWord,
  type ShellWord,
} from "../words/words.ts";
import { Directories } from "./directories.ts";
import type { Found, TouchedFile } from "./found.ts";
import { HiddenCode } from "./hidden-code.ts";
import { COMMAND_DEPTH_MAX, COMMAND_SHOWN_CHARACTERS_MAX, COMMANDS_PER_LINE_MAX } from "./limits.ts";
import { type Marks, reasonsOf } from "./marks.ts";
import { BASH_ALONE, BOUNDED, DEPTHS, MOVES } from "./node-kinds.ts";
import type { Place } from "./place.ts";
import { dangersOf, shellRun } from "./programs.ts";
import { isExpandedTwice, touchedBy } from "./redirections.ts";
import { isMisprinted, reprintedIn } from "./reprinted.ts";
import { unwrap, type Wrapped } from "./wrappers.ts";

/** How a text becomes a tree; throws where it cannot. */
export type Grammar = (text: string) => SyntaxNode;

/** Reads one line. */
export class CommandReader {
  readonly #grammar: Grammar;
  readonly #characters: readonly string[];
  readonly #commands: CommandResource[] = [];
  readonly #files = new Map<string, TouchedFile>();
  readonly #hosts = new Map<string, { host: string; port: number }>();
  readonly #dangers = new Set<CommandDanger>();
  readonly #reasons = new Set<string>();
  #wanders = false;
  #relative = false;
  /** `cd -P` goes where links point, from where `..` leads to somewhere else. */
  #followsLinks = false;
  #ascends = false;
  readonly #hidden = new HiddenCode();

  constructor(grammar: Grammar, characters: readonly string[]) {
    this.#grammar = grammar;
    this.#characters = characters;
  }

  /** Something about the line as a whole. */
  doubt(danger: CommandDanger): void {
    this.#dangers.add(danger);
  }

  /** Reads `text`, which runs in `directory`. */
  read(text: string, directory: string): void {
    this.#code(text, {
      source: text,
      inputFrom: [],
      via: [],
      input: { kind: "none" },
      directories: new Directories([directory]),
      depth: 0,
      repeated: false,
      plain: false,
      reprinted: "no",
    });
  }

  /** What was found; a line about which something is not clear may run anything, so that is named too. */
  found(text: string): Found {
    if ((this.#wanders || (this.#followsLinks && this.#ascends)) && this.#relative) this.doubt("dynamic_redirection");
    if (this.#hidden.isPossible) this.doubt("dynamic_code");
    const dangers = [...this.#dangers].sort();
    const rest: CommandResource[] = [];
    if (dangers.length > 0) {
      // Cut between words: half of a secret is not known for one.
      const isLong = text.length > COMMAND_SHOWN_CHARACTERS_MAX;
      const line = isLong ? `${text.slice(0, COMMAND_SHOWN_CHARACTERS_MAX).replace(/\S+$/, "")}…` : text;
      const beside = { dangers, dynamic: true, characters: this.#characters, ...reasonsOf([...this.#reasons]) };
      rest.push({ ...commandOf([UNKNOWN_BINARY], beside), line: line.toWellFormed() });
    }
    return {
      commands: [...this.#commands, ...rest],
      files: [...this.#files.values()],
      hosts: [...this.#hosts.values()],
    };
  }

  #code(text: string, place: Place): void {
    if (place.depth > COMMAND_DEPTH_MAX) {
      this.doubt("too_much");
      return;
    }
    this.#visit(this.#grammar(text), { ...place, source: text, depth: place.depth + 1, reprinted: "no" });
  }

  #children(node: SyntaxNode, place: Place): void {
    forEachChild(node, (child) => this.#visit(child, place));
  }

  #visit(node: SyntaxNode, outer: Place): void {
    if (this.#dangers.has("too_much")) return; // anything may run: there is nothing more to learn
    if (outer.depth > COMMAND_DEPTH_MAX) {
      this.doubt("too_much");
      return;
    }
    if (outer.plain && BASH_ALONE.has(node.type)) this.doubt("unparsed");
    const place = { ...outer, depth: outer.depth + DEPTHS.has(node.type) };
    switch (node.type) {
      case "Script":
        if ((node.errors?.length ?? 0) > 0) this.doubt("unparsed");
        this.#children(node, node.source === undefined ? place : { ...place, source: node.source });
        return;
      case "Statement":
        this.#statement(node, place);
        return;
      case "AndOr":
        this.#andOr(node, place);
        return;
      case "Pipeline":
        this.#pipeline(node, place);
        return;
      case "Command":
        this.#command(node, place);
        return;
      case "Redirected":
        this.#redirected(node, place);
        return;
      case "Subshell":
      case "CommandExpansion":
      case "ProcessSubstitution":
      case "ArithmeticCommandExpansion":
      case "Coproc":
        if ("script" in node && node.script === undefined) this.doubt("unparsed");
        if (isMisprinted(node, place.reprinted)) this.doubt("unparsed");
        this.#children(node, {
          ...place,
          directories: place.directories.copy(),
          reprinted: reprintedIn(node, place.reprinted),
        });
        return;
      case "If":
      case "Case":
        this.#maybe(node, place);
        return;
      case "Function":
      case "While":
      case "For":
      case "Select":
      case "ArithmeticFor":
        // goes wherever the function does
        if (node.type === "Function" && MOVES.has(node.name.value)) this.#wanders = true;
        if ("name" in node && node.type !== "Function") this.#sets(node.name.value);
        if ("wordlist" in node && isTakenApart(node.wordlist ?? [], place.source)) this.doubt("unparsed");
        this.#maybe(node, { ...place, repeated: true });
        return;
      default:
        this.#part(node, place);
        return;
    }
  }

  /** Everything below commands, down to the parts of words. */
  #part(node: SyntaxNode, place: Place): void {
    this.#hidden.part(node);
    switch (node.type) {
      case "Word":
        if (hidesCode(node)) this.doubt("dynamic_code");
        break;
      case "ArithmeticExpansion":
        if (node.expression === undefined) this.doubt("unparsed");
        break;
      case "ArithmeticCommand":
        if (node.expression === undefined && node.body.trim() !== "") this.doubt("unparsed");
        break;
      case "ParameterExpansion":
        if (node.operation?.type === "Unknown") this.doubt("unparsed");
        if (node.operation?.type === "Transform") this.doubt("dynamic_code");
        if (node.operation?.type === "Default" && node.operation.operator.endsWith("=")) {
          if (node.prefix === "!") this.doubt("environment"); // whose name is the value of another
          this.#sets(node.parameter);
        }
        break;
      case "ExtendedGlob":
        this.doubt("unparsed"); // off unless a line before switched it on, and then the line would be read otherwise
        break;
      case "HereDoc":
        if (node.closing === undefined || isMisprinted(node, place.reprinted)) this.doubt("unparsed");
        break;
      case "Assignment":
        this.#sets(node.name);
        break;
      default:
    }
    this.#children(node, place);
  }

  #sets(name: string): void {
    this.#hidden.sets(name);
    if (isRefusedEnvironmentName(name)) this.doubt("environment");
  }

  #statement(node: Statement, place: Place): void {
    const directories = node.background === true ? place.directories.copy() : place.directories;
    const before = directories.paths;
    this.#visit(node.command, { ...place, directories });
    directories.orElse(before);
  }

  #andOr(node: AndOr, place: Place): void {
    const { directories } = place;
    const start = directories.paths;
    for (const [index, command] of node.commands.entries()) {
      const before = directories.paths;
      this.#visit(command, place);
      if (node.operators[index] === "||") directories.orElse(before);
    }
    directories.orElse(start);
  }

  /** Its commands run in shells of their own. */
  #pipeline(node: Pipeline, place: Place): void {
    const isPipe = node.commands.length > 1;
    let inputFrom = place.inputFrom;
    for (const [index, command] of node.commands.entries()) {
      const from = this.#commands.length;
      const input: Input = index === 0 ? place.input : { kind: "other" };
      this.#visit(command, {
        ...place,
        inputFrom,
        input,
        directories: isPipe ? place.directories.copy() : place.directories,
      });
      inputFrom = [...new Set([...inputFrom, ...this.#namesSince(from)])];
    }
  }

  #maybe(node: SyntaxNode, place: Place): void {
    const before = place.directories.paths;
    this.#children(node, place);
    place.directories.orElse(before);
  }

  #redirected(node: Extract<SyntaxNode, { type: "Redirected" }>, place: Place): void {
    const from = this.#commands.length;
    const input = this.#redirections(node.redirects, place);
    const inputFrom = [...new Set([...place.inputFrom, ...this.#namesSince(from)])];
    this.#visit(node.command, { ...place, inputFrom, input: input ?? place.input });
  }

  #command(node: Command, place: Place): void {
    const from = this.#commands.length;
    const inner = { ...place, input: { kind: "none" } as const, directories: place.directories.copy() };
    for (const part of [...node.prefix, ...node.suffix])
      if (part.type === "Assignment" || part.type === "Word") this.#visit(part, inner);
    if (node.name !== undefined) this.#visit(node.name, inner);
    const input = this.#redirections(node.redirects, place) ?? place.input;
    const { prefix, name, suffix } = node;
    if (isTakenApart([...prefix, ...(name === undefined ? [] : [name]), ...suffix], place.source))
      this.doubt("unparsed");
    if (node.name === undefined) return;
    const parts = [node.name, ...node.args];
    const words = parts.map((part) => (part.type === "Word" ? readWord(part) : readAssignment(part)));
    const inputFrom = [...new Set([...place.inputFrom, ...this.#namesSince(from)])];
    this.#run(words, { ...place, inputFrom, input }, false);
  }

  /** A program with its arguments; `fed` when it gets more of them at run time. */
  #run(words: readonly ShellWord[], place: Place, fed: boolean): void {
    if (this.#commands.length >= COMMANDS_PER_LINE_MAX || place.depth > COMMAND_DEPTH_MAX) {
      this.doubt("too_much");
      return;
    }
    const [head, ...args] = words;
    if (head === undefined) return;
    if (!isFixed(head) || head.text === "") {
      this.#name([plainWord(UNKNOWN_BINARY), ...words], place, { dangers: ["dynamic_binary"], reasons: [], fed: true });
      return;
    }
    const name = programName(head.text);
    const found = dangersOf(name, args, { input: place.input, fed });
    const dangers = new Set(found.map(({ danger }) => danger));
    const reasons = [...new Set(found.flatMap(({ reason }) => reason ?? []))];
    this.#hidden.command(name, args);
    if (!/^[!-~]+$/.test(head.text)) dangers.add("lookalike");
    const shell = shellRun(name, args, place.input);
    const { runs, sets } = unwrap(name, args, fed);
    const all: readonly Wrapped[] =
      shell?.kind === "code" ? [...runs, { kind: "code", code: shell.code, isBash: name === "bash" }] : runs;
    if (sets.some(isRefusedEnvironmentName)) dangers.add("environment");
    if (shell?.kind === "unknown" || all.some((run) => run.kind === "code" && !isFixed(run.code)))
      dangers.add("dynamic_code");
    if (all.some(({ kind }) => kind === "unclear")) dangers.add("unclear_wrapper");
    for (const danger of dangers) if (!BOUNDED.has(danger)) this.doubt(danger);
    for (const reason of reasons) this.#reasons.add(reason);
    this.#name([head, ...args], place, { dangers: [...dangers].sort(), reasons, fed });
    this.#moves(name, args, place);
    for (const run of all) this.#runWrapped(run, name, place);
  }

  #runWrapped(run: Wrapped, name: string, place: Place): void {
    if (run.kind === "unclear" || (run.kind === "code" && !isFixed(run.code))) return;
    const copied = run.elsewhere === true ? new Directories(undefined) : place.directories.copy();
    const directories = run.inside === true ? place.directories : copied;
    const repeated = place.repeated || run.repeated === true;
    const within = { ...place, via: [...place.via, name], directories, repeated, depth: place.depth + 1 };
    if (run.kind === "command") this.#run(run.words, within, run.fed === true);
    else this.#code(run.code.text, { ...within, plain: run.inside === true ? place.plain : run.isBash !== true });
  }

  #name([head, ...args]: readonly [ShellWord, ...ShellWord[]], place: Place, { dangers, reasons, fed }: Marks): void {
    const dynamic = fed || args.some(({ known }) => !known);
    const { inputFrom, via } = place;
    const beside = { dynamic, inputFrom, via, dangers, characters: this.#characters, ...reasonsOf(reasons) };
    const command = commandOf([head.text, ...args.map(({ text }) => text)], beside);
    const line = [quoted(command.binary), ...args.map(({ shown }) => shown)].join(" ");
    this.#commands.push({ ...command, line });
  }

  #namesSince(from: number): readonly string[] {
    return this.#commands.slice(from).map(({ binary }) => programName(binary));
  }

  /** Where the shell itself goes. */
  #moves(name: string, args: readonly ShellWord[], { directories, repeated }: Place): void {
    // What is read into the shell may go anywhere.
    if (name === "." || name === "source") directories.enter(undefined);
    if (!MOVES.has(name)) return;
    if (repeated) this.#wanders = true;
    const target = args.find(({ text }) => !/^-(?:[LPe@]+|-)$/.test(text));
    if (args.some(({ text }) => /^-[Le@]*P/.test(text))) this.#followsLinks = true;
    if (target?.text.split("/").includes("..") === true) this.#ascends = true;
    const isPlain = name === "cd" && isFixed(target) && target.text !== "-" && target.text !== "";
    directories.enter(isPlain ? target.text : name === "cd" && target === undefined ? "/tmp" : undefined);
  }

  /** Touches what they name, and says what comes in if one of them does. */
  #redirections(redirections: readonly Redirection[], place: Place): Input | undefined {
    let input: Input | undefined;
    const inner = { ...place, input: { kind: "none" } as const, directories: place.directories.copy() };
    for (const redirection of redirections) {
      this.#visit(redirection, inner);
      if (redirection.type === "Redirect") this.#redirect(redirection, place);
      const { descriptor } = redirection;
      if (descriptor?.type === "FileDescriptorVariable") this.#sets(descriptor.name);
      if (descriptor === undefined || (descriptor.type === "FileDescriptor" && descriptor.value === 0))
        input = inputOf(redirection) ?? input;
    }
    return input;
  }

  #redirect({ operator, target }: Redirect, { directories, source }: Place): void {
    if (target !== undefined && isTakenApart([target], source)) this.doubt("unparsed");
    // a pipe to a command that was read
    if (target?.parts?.length === 1 && target.parts[0]?.type === "ProcessSubstitution") return;
    const word = target === undefined ? undefined : readWord(target);
    // `>&-x` closes a descriptor and goes on with the word `x`.
    if (operator.endsWith("&") && word !== undefined && /^\d*-./.test(word.text)) this.doubt("unparsed");
    if (word !== undefined && isExpandedTwice(operator, word)) this.doubt("dynamic_code");
    // Where the directory is not known, the name at least is judged: some names are secret everywhere.
    for (const directory of directories.paths ?? [undefined, "."]) {
      const touched = touchedBy(operator, word, directory);
      if (touched.kind === "unknown") this.doubt("dynamic_redirection");
      if (touched.kind === "host")
        this.#hosts.set(`${touched.host}:${touched.port}`, { host: touched.host, port: touched.port });
      if (touched.kind !== "file") continue;
      if (word?.text.startsWith("/") === false) this.#relative = true;
      const { path, effects } = touched;
      for (const effect of effects) this.#files.set(`${effect} ${path}`, { path, effect });
    }
  }
}

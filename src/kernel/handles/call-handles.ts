/**
 * Gives a running tool its context: the caller, and handles made on first use.
 *
 * There are handles on files, searches, content, commands, git and the machine. A handle does what scope and policy
 * decided, and judges again whatever turns up that was not decided.
 */
import type { ProgressListener } from "../../model/outcome/progress.ts";
import type { CodeAccess } from "../../model/place/code.ts";
import type { FileAccess } from "../../model/place/files.ts";
import type { KnowledgeAccess } from "../../model/place/knowledge.ts";
import type { ModelAccess } from "../../model/reach/models.ts";
import type { WebAccess } from "../../model/reach/web.ts";
import type { AskPerson } from "../../model/tool/person-question.ts";
import type { ReplyForm, ToolAudit, ToolContext } from "../../model/tool/tool.ts";
import type { BranchAccess } from "../../model/work/branches.ts";
import type { ContentAccess } from "../../model/work/content.ts";
import type { ExecAccess } from "../../model/work/exec.ts";
import type { GitAccess, RepositoryView } from "../../model/work/git.ts";
import type { MachineAccess } from "../../model/work/machine.ts";
import type { Match } from "../../model/work/matching.ts";
import type { SearchAccess } from "../../model/work/search.ts";
import type { ToolchainView } from "../../model/work/toolchain.ts";
import { admittedCommands } from "../../policy/lease-scope.ts";
import { isOffered } from "../judge/offer.ts";
import { commandsLeft, isolationOf } from "../judge/workspace-programs.ts";
import { matchFor } from "../redaction/matching.ts";
import { createContentAccess } from "./content-access.ts";
import { createFiles } from "./file-access.ts";
import { gitJudge, withoutNewFiles } from "./git-scope.ts";
import type { HandleParts } from "./handle-parts.ts";
import { createSearch } from "./search/search-access.ts";

/** The handles of one call; one object of one shape, because each call makes one. */
export class CallHandles implements ToolContext {
  readonly requestId: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly agentId: string;
  readonly role: string;
  readonly serviceRoot: string;
  readonly projectRoot: string;
  readonly workDir: string;
  readonly isolationLevel: ToolContext["isolationLevel"];
  readonly volumeId: string;
  readonly progress: ProgressListener;
  readonly signal: AbortSignal;
  readonly reply: ReplyForm;
  readonly variant: string;
  readonly #handle: HandleParts;
  #accessToken: string | undefined;
  #files: FileAccess | undefined;
  #search: SearchAccess | undefined;
  #knowledge: KnowledgeAccess | undefined;
  #code: CodeAccess | undefined;
  #content: ContentAccess | undefined;
  #exec: ExecAccess | undefined;
  #machine: MachineAccess | undefined;
  #git: GitAccess | undefined;
  #branches: BranchAccess | undefined;
  #web: WebAccess | undefined;
  #models: ModelAccess | undefined;

  constructor(handle: HandleParts) {
    const { session, caller, requestId, call } = handle.running;
    this.requestId = requestId;
    this.sessionId = session.id;
    this.userId = session.userId;
    this.agentId = session.agentId;
    this.role = session.role;
    this.serviceRoot = session.serviceRoot;
    this.projectRoot = session.projectRoot;
    this.workDir = session.serviceRoot;
    this.isolationLevel = isolationOf(caller);
    this.volumeId = caller.place.volumeId;
    this.progress = handle.report;
    this.signal = handle.signal;
    this.reply = call.reply;
    this.variant = call.variant;
    this.#handle = handle;
  }

  get accessToken(): string {
    this.#accessToken ??= Buffer.from(this.#handle.kernel.parts.random(32)).toString("base64url");
    return this.#accessToken;
  }

  get allowedCommands(): readonly string[] {
    const { lease, place } = this.#handle.running.caller;
    return commandsLeft(admittedCommands(lease.scope), place.commands);
  }

  get approvals(): readonly string[] {
    const { approval } = this.#handle.running.holdings;
    return approval === undefined ? [] : [approval.id];
  }

  get offers(): (tool: string) => boolean {
    const { kernel, running } = this.#handle;
    const asked = { caller: running.caller, nowMs: kernel.parts.clock.nowMs() };
    return (tool) => isOffered(kernel.parts, asked, tool);
  }

  get askPerson(): AskPerson | undefined {
    const { inBand, running } = this.#handle;
    if (running.tool.isUpstream !== true || inBand?.channel !== "elicitation" || !inBand.askForm) return undefined;
    const { askForm } = inBand;
    const { redaction } = running;
    return ({ message, schema }, signal) =>
      askForm({ message: redaction.text(message), schema: redaction.facts(schema) }, signal);
  }

  get files(): FileAccess {
    this.#files ??= createFiles(this.#handle);
    return this.#files;
  }

  get search(): SearchAccess {
    this.#search ??= createSearch(this.#handle);
    return this.#search;
  }

  get knowledge(): KnowledgeAccess {
    this.#knowledge ??= lazyKnowledge(this.#handle);
    return this.#knowledge;
  }

  get code(): CodeAccess {
    this.#code ??= lazyCode(this.#handle);
    return this.#code;
  }

  get content(): ContentAccess {
    this.#content ??= createContentAccess(this.#handle);
    return this.#content;
  }

  get exec(): ExecAccess {
    this.#exec ??= lazyExec(this.#handle);
    return this.#exec;
  }

  get machine(): MachineAccess {
    this.#machine ??= lazyMachine(this.#handle);
    return this.#machine;
  }

  get git(): GitAccess {
    this.#git ??= lazyGit(this.#handle);
    return this.#git;
  }

  get branches(): BranchAccess {
    this.#branches ??= lazyBranches(this.#handle);
    return this.#branches;
  }

  get web(): WebAccess {
    this.#web ??= lazyWeb(this.#handle);
    return this.#web;
  }

  get models(): ModelAccess {
    this.#models ??= lazyModels(this.#handle);
    return this.#models;
  }

  get toolchain(): ToolchainView {
    return this.#handle.running.look.toolchain;
  }

  get repository(): RepositoryView {
    return this.#handle.running.look.repository;
  }

  get hidden(): ToolContext["hidden"] {
    const { redaction } = this.#handle.running;
    return (bytes) => redaction.hidden(bytes);
  }

  get match(): Match {
    return matchFor(this.#handle.running.redaction, this.signal);
  }

  get audit(): ToolAudit {
    const { kernel, running } = this.#handle;
    return { log: (category, event, fields) => kernel.evidence.note(running, { category, event, fields }) };
  }
}

/** Commands; the code that runs them is loaded with the first. */
function lazyExec(handle: HandleParts): ExecAccess {
  return {
    async run(request) {
      const { createExec } = await import("./exec-access.ts");
      return createExec(handle).run(request);
    },
  };
}

/** Git; the code that runs it is loaded with the first. */
function lazyGit(handle: HandleParts): GitAccess {
  const judge = gitJudge(handle.running);
  return {
    judge: withoutNewFiles(judge),
    async run(request) {
      const { runGit } = await import("./git-access.ts");
      return runGit(handle, judge, request);
    },
  };
}

/** Knowledge; the code that asks for it is loaded with the first question. */
function lazyKnowledge(handle: HandleParts): KnowledgeAccess {
  return {
    async search(path, question) {
      const { createKnowledge } = await import("./search/knowledge-access.ts");
      return createKnowledge(handle).search(path, question);
    },
  };
}

/** Code; what reads it is loaded with the first use. */
function lazyCode(handle: HandleParts): CodeAccess {
  const load = async () => (await import("./code/code-access.ts")).createCode(handle);
  return {
    list: async (path, filesMax) => (await load()).list(path, filesMax),
    text: async (path, file, bytesMax) => (await load()).text(path, file, bytesMax),
    texts: async (path, query, take) => (await load()).texts(path, query, take),
    usages: async (path, symbol, files) => (await load()).usages(path, symbol, files),
    changedTogether: async (path, file) => (await load()).changedTogether(path, file),
    references: async (path, query) => (await load()).references(path, query),
    diagnostics: async (files) => (await load()).diagnostics(files),
    rename: async (query) => (await load()).rename(query),
  };
}

/** Branches; the code that makes them is loaded with the first use. */
function lazyBranches(handle: HandleParts): BranchAccess {
  const load = async () => (await import("./branches/branch-access.ts")).createBranchAccess(handle);
  return {
    create: async (name) => (await load()).create(name),
    list: async () => (await load()).list(),
    diff: async (name) => (await load()).diff(name),
    merge: async (name) => (await load()).merge(name),
    drop: async (name) => (await load()).drop(name),
  };
}

/** The web; the code that reaches it is loaded with the first use. */
function lazyWeb(handle: HandleParts): WebAccess {
  return {
    async fetch(request) {
      const { createWebAccess } = await import("./web/web-access.ts");
      return createWebAccess(handle).fetch(request);
    },
  };
}

/** Models; the code that asks them is loaded with the first use. */
function lazyModels(handle: HandleParts): ModelAccess {
  return {
    async complete(request) {
      const { createModelAccess } = await import("./web/model-access.ts");
      return createModelAccess(handle).complete(request);
    },
  };
}

/** The machine itself; the code that reaches for it is loaded with the first use. */
function lazyMachine(handle: HandleParts): MachineAccess {
  const load = async () => {
    const { createMachineAccess } = await import("./machine-access.ts");
    return createMachineAccess(handle);
  };
  return { run: async (command) => (await load()).run(command), find: async (name) => (await load()).find(name) };
}

/**
 * Defines the parts that a kernel is made of.
 *
 * Everything with an effect comes in through here, so the order in `pipeline.ts` is the only thing that the kernel
 * owns.
 */
import type { Approvals } from "../../approval/approvals.ts";
import type { Clock } from "../../base/clock.ts";
import type { RandomBytes } from "../../base/ids.ts";
import type { Budgets } from "../../budget/budget.ts";
import type { Rates } from "../../budget/rates.ts";
import type { ContentStore } from "../../cas/content-store.ts";
import type { Dedupe } from "../../dedupe/dedupe.ts";
import type { MarkStore } from "../../flow/mark-store.ts";
import type { ViolationStore } from "../../flow/violation-store.ts";
import type { FoundChunk } from "../../knowledge/knowledge-store.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { CallObserver } from "../../model/outcome/observed-call.ts";
import type { OperatorGates, ToolPolicy } from "../../model/people/gates.ts";
import type { Session } from "../../model/people/session.ts";
import type { KnowledgeState } from "../../model/place/knowledge.ts";
import type { LanguageServerSettings } from "../../model/place/language-servers.ts";
import type { Workspace } from "../../model/place/workspace.ts";
import type { ModelProvider } from "../../model/reach/models.ts";
import type { SpendingLimits } from "../../model/spending/spending-limits.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { ExecEnforcement } from "../../model/work/exec.ts";
import type { RepositoryView } from "../../model/work/git.ts";
import type { GitRemotes } from "../../model/work/git-remote.ts";
import type { SystemSettings } from "../../model/work/system.ts";
import type { ProjectFile, Toolchain } from "../../model/work/toolchain.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import type { CustomRule } from "../../redact/custom-rules.ts";
import type { KnownSecret, Redactor } from "../../redact/redact.ts";
import type { Branches } from "../../sandbox/branches/branches.ts";
import type { WorkspaceRoots } from "../../sandbox/files/files.ts";
import type { NewFiles } from "../../sandbox/files/new-files.ts";
import type { HostMachine } from "../../sandbox/host-commands/host-machine.ts";
import type { SessionAuthority } from "../../sandbox/net/broker/authority.ts";
import type { SecretBroker } from "../../sandbox/net/broker/broker.ts";
import type { WebFetcher } from "../../sandbox/net/fetch/fetcher.ts";
import type { ModelCaller } from "../../sandbox/net/models/model-caller.ts";
import type { LockStore } from "../../sandbox/ports/lock-store.ts";
import type { Sandbox, SandboxLimits } from "../../sandbox/sandbox.ts";
import type { ArmingStore } from "../../session/arming-store.ts";
import type { SessionStore } from "../../session/session-store.ts";
import type { ToolRegistry } from "../declared/registry.ts";
import type { FileHistory } from "../keeping/file-history.ts";
import type { SessionSecrets } from "../redaction/found-values.ts";
import type { SecretGuesses } from "../redaction/secret-guesses.ts";
import type { KillSwitch } from "./kill-switch.ts";

/** The operator's switches that the pipeline consults. */
export interface KernelSettings {
  readonly toolsEnabled: boolean;
  readonly disabledTools: ReadonlySet<string>;
  readonly violationsPerMinute: number;
  /** Commands, git and the like that one session runs at once in this kernel. */
  readonly operationsAtOnce: number;
  /** What may be spent, and how fast calls may come. */
  readonly limits: SpendingLimits;
  /** Whether more violations than that freeze the principal, or are recorded only. */
  readonly freezeOnAlert: boolean;
  /** Of which calls the documents are kept as evidence: those with an effect, or those that only read as well. */
  readonly documents: "off" | "effects" | "all";
  /** Everything is armed for as long as the process lives. */
  readonly armed: boolean;
  /** Modes, skills, specs and tool policy. */
  readonly gates: OperatorGates;
}

/** An opened workspace: its zones, its root handles, and tools that its own rules switched off. */
export interface OpenWorkspace {
  readonly workspace: Workspace;
  readonly roots: WorkspaceRoots;
  readonly disabledTools: ReadonlySet<string>;
  /** What the workspace's own `policy.json` leaves. */
  readonly toolPolicy?: ToolPolicy;
  /** Names the rules by which it was opened; others, and a call that waited is refused. */
  readonly rules?: string;
  /** What the workspace is built with, as it is now. */
  readonly toolchain?: () => Toolchain;
  /** A file of it that says what is installed, as it is now. */
  readonly installFile?: (path: string) => ProjectFile | undefined;
  /** The repository in which a directory of it lies, as it is now. */
  readonly repository?: RepositoryView;
  /** Servers, as `host:port`, that git may reach outside of the public internet; none when absent. */
  readonly privateGitHosts?: ReadonlySet<string>;
  /** Servers, as `host:port`, that may be fetched from wherever they are; none when absent. */
  readonly openedWebHosts?: ReadonlySet<string>;
  /** The only programs that may run in it, by its own word; any when absent. */
  readonly commands?: ReadonlySet<string>;
  /** Shared places take part in no search there unless they are named, whatever the session's isolation. */
  readonly isStrict?: true;
  /** What it wants hidden besides in whatever leaves. */
  readonly redactRules?: readonly CustomRule[];
  /** What its `.env` files hold, as they are now. */
  readonly envSecrets?: () => readonly KnownSecret[];
  /** Device number of the service root. */
  readonly volumeId: string;
}

/** What says which workspace it is, or which branch of one. */
export type WorkspaceName = Pick<Session, "serviceRoot" | "projectRoot" | "branchId">;

/** Where opened workspaces come from; the same session gets the same one. */
export interface WorkspaceCatalog {
  /** At once where it is open already. */
  readonly open: (session: WorkspaceName) => OpenWorkspace | Promise<OpenWorkspace>;
}

/** Gives each session a directory of its own, outside of its workspace. */
export interface SessionScratch {
  /** The workspace with the session's directory beside it; the same one each time. */
  readonly beside: (place: OpenWorkspace, session: Pick<Session, "id">) => OpenWorkspace;
}

/** The sandbox of the configuration in force. */
export interface KernelSandbox {
  /** What one command may use; its time is the call's own. */
  readonly limits: () => Omit<SandboxLimits, "timeoutMs">;
  /** What contains commands, by the configuration in force. */
  readonly backend: () => ExecEnforcement["backend"];
  /** Language servers, by the configuration in force; none when absent. */
  readonly languageServers?: () => LanguageServerSettings;
  /** Loads the sandbox. */
  readonly open: () => Promise<Sandbox>;
}

/** The machine outside of the sandbox, by the configuration in force. */
export interface KernelMachine {
  /** What system tools may use of it; nothing when absent. */
  readonly settings: () => SystemSettings | undefined;
  /** Loads what runs commands there. */
  readonly open: () => Promise<HostMachine>;
}

/** The web, by the configuration in force. */
export interface KernelWeb {
  /** Loads what sends requests. */
  readonly open: () => Promise<WebFetcher>;
}

/** Models of others, by the configuration in force. */
export interface KernelModels {
  /** The provider that the operator names so. */
  readonly provider: (name: string) => ModelProvider | undefined;
  /** Loads what asks them. */
  readonly open: () => Promise<ModelCaller>;
}

/** What is known of the files of one workspace. */
export interface PlaceKnowledge {
  readonly state: KnowledgeState;
  /** The best chunks with any of `terms`, best first; nobody was asked yet whether the call may read them. */
  readonly find: (terms: readonly string[], count: number, question: string) => Promise<readonly FoundChunk[]>;
}

/** What is known of the files of workspaces. */
export interface KernelKnowledge {
  readonly of: (place: OpenWorkspace) => Promise<PlaceKnowledge>;
}

/** The operator's secrets, for requests that are made with them. */
export interface KernelSecrets {
  /** With no value that `redactor` does not hide; nothing where the operator names no secrets. */
  readonly brokerBy: (redactor: Redactor) => SecretBroker | undefined;
  /** Who vouches, in sandboxes of that session, for servers that secrets are bound to. */
  readonly authorityOf: (sessionId: string) => Promise<SessionAuthority>;
  /** Authorities that are believed of servers beside those of the machine, as PEM. */
  readonly authorities: () => string | undefined;
}

/** The parts of one kernel instance. */
export interface KernelParts {
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Names this instance in intents; its lock is held while it lives. */
  readonly instanceId: string;
  readonly settings: KernelSettings;
  readonly registry: ToolRegistry;
  /** The engine of a preset; rejects while its policies are invalid, and then every call is refused. */
  readonly policy: (preset: string) => Promise<PolicyEngine>;
  /** Whether the preset of a session refuses every call of the tool, as far as that is known without its engine. */
  readonly presetCloses?: (session: Pick<Session, "preset" | "role">, tool: Tool) => boolean;
  /** The redactor of the configuration in force; throws while it cannot be made, and then every call is refused. */
  readonly redactor: () => Redactor | Promise<Redactor>;
  /**
   * A redactor that hides what `redactor` does, and what the rules of a workspace find; without it, calls in workspaces
   * that have such rules are refused.
   */
  readonly redactorWith?: (redactor: Redactor, rules: readonly CustomRule[]) => Promise<Redactor>;
  /** Counts what was tried on files with hidden text. */
  readonly guesses: SecretGuesses;
  /** What sessions have been shown to be secret. */
  readonly sessionSecrets: SessionSecrets;
  readonly sessions: SessionStore;
  readonly marks: MarkStore;
  readonly violations: ViolationStore;
  /** Who is frozen, and the end of running calls. */
  readonly killSwitch: KillSwitch;
  readonly armings: ArmingStore;
  readonly locks: LockStore;
  /** Names files in the making. */
  readonly newFiles: NewFiles;
  readonly content: ContentStore;
  /** Where it is noted what calls change in files; absent: nowhere. */
  readonly history?: FileHistory;
  readonly budgets: Budgets;
  readonly rates: Rates;
  /** Asks people, and knows what they allowed. */
  readonly approvals: Approvals;
  /** Takes over at once what the operator has changed: nobody is asked about what was allowed a moment ago. */
  readonly freshRules: () => Promise<void>;
  /** Executes calls with a dedupe key at most once. */
  readonly dedupe: Dedupe;
  readonly workspaces: WorkspaceCatalog;
  /** Copies of workspaces that stay, on which sessions work; a kernel without them refuses such sessions. */
  readonly branches?: Branches;
  /** The scratch directories of sessions; a kernel without them has none. */
  readonly scratch?: SessionScratch;
  /** Where commands run. */
  readonly sandbox: KernelSandbox;
  /** Where programs run that the operator lists for system tools. */
  readonly machine: KernelMachine;
  readonly web: KernelWeb;
  readonly models: KernelModels;
  /** Answers questions about workspaces; a kernel without it refuses them. */
  readonly knowledge?: KernelKnowledge;
  readonly secrets: KernelSecrets;
  /** What the operator knows of git's remotes, with no secret that `redactor` does not hide. */
  readonly gitRemotes: (redactor: Redactor) => GitRemotes;
  readonly ledger: EventSink;
  /** Keys the digests of arguments in evidence, so that short secrets cannot be guessed from them. */
  readonly argumentsKey: Uint8Array;
  /** Hears of each call that was answered; absent while nobody observes. */
  readonly observer?: CallObserver | undefined;
  /** Told about bugs and background failures, as they are, so that they may hold secrets; never shown to a peer. */
  readonly onInternalError: (error: unknown) => void;
}

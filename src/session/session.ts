/**
 * Sessions: minting, authenticating, revoking.
 *
 * A token is shown once, when it is minted; only its BLAKE3 hash is stored and compared in constant time. The part
 * before the dot names the session, so that no secret is ever used to look anything up. A session is judged anew on
 * every call: expiry, revocation and freezing take effect with the next one.
 */
import { equalInConstantTime } from "../base/bytes.ts";
import { usageError } from "../base/errors.ts";
import { blake3Digest, blake3Hex } from "../base/hash.ts";
import { newId, type RandomBytes } from "../base/ids.ts";
import { LEASE_DEPTH_MAX, SESSION_LIFETIME_MAX_MS, TOKEN_BYTES } from "../base/limits.ts";
import { allow, type Denial, deny, type Verdict } from "../model/outcome/decision.ts";
import type { DialectName } from "../model/people/dialect.ts";
import { DEFAULT_MODE } from "../model/people/gates.ts";
import type { Lease } from "../model/people/lease.ts";
import type { Session } from "../model/people/session.ts";
import type { SessionStore } from "./session-store.ts";

/** What the operator decides about a new session; the lease is stored before. */
export interface NewSession {
  readonly userId: string;
  readonly agentId: string;
  readonly process?: number;
  readonly role: string;
  readonly serviceRoot: string;
  readonly projectRoot: string;
  readonly isolationLevel: Session["isolationLevel"];
  readonly leaseId: string;
  readonly preset: string;
  /** Absent: the mode that narrows nothing. */
  readonly mode?: string;
  readonly skill?: string;
  readonly dialect?: DialectName;
  /** The branch that it is made for. */
  readonly branchId?: string;
  readonly isBranchBound?: boolean;
  readonly isOneCall?: boolean;
  readonly lifetimeMs: number;
}

/** A session and the token that authenticates it. The token exists nowhere else. */
export interface MintedSession {
  readonly session: Session;
  readonly token: string;
}

/** Stores a new session and returns it with its token. */
export async function mintSession(
  store: SessionStore,
  wanted: NewSession,
  { nowMs, random }: { readonly nowMs: number; readonly random: RandomBytes },
): Promise<MintedSession> {
  const { lifetimeMs, ...identity } = wanted;
  if (!(lifetimeMs > 0 && lifetimeMs <= SESSION_LIFETIME_MAX_MS)) {
    throw usageError("a session lives between one millisecond and thirty days; choose a lifetime in that range");
  }
  const id = newId("ses", random);
  const token = `${id}.${Buffer.from(random(TOKEN_BYTES)).toString("base64url")}`;
  const session: Session = {
    ...identity,
    id,
    tokenHash: blake3Hex(token),
    mode: identity.mode ?? DEFAULT_MODE,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + lifetimeMs,
  };
  await store.insertSession(session);
  return { session, token };
}

/** An authenticated caller. */
export interface Authenticated {
  readonly session: Session;
  readonly lease: Lease;
}

/**
 * What came of authenticating: the caller, or a refusal. `session` is whose token it was, for evidence: only a token
 * whose hash matches identifies a session, also one that may not act any more.
 */
export type Authentication =
  | { readonly ok: true; readonly value: Authenticated }
  | { readonly ok: false; readonly denial: Denial; readonly session?: Session };

const NO_HASH = "0".repeat(64);

/** Who `token` stands for, if its session may act now. */
export async function authenticate(store: SessionStore, token: string, nowMs: number): Promise<Authentication> {
  const dot = token.indexOf(".");
  const session = dot > 0 ? await store.findSession(token.slice(0, dot)) : undefined;
  // An unknown session costs the same hash and comparison as a wrong secret.
  const matches = equalInConstantTime(blake3Digest(token), Buffer.from(session?.tokenHash ?? NO_HASH, "hex"));
  if (!session || !matches)
    return refused("session_invalid", "the session token is not valid; ask the operator for a new session");
  const ended = whyEnded(session, nowMs);
  if (ended) return { ...ended, session };
  const lease = await effectiveLease(store, session.leaseId);
  if (!lease)
    return { ...refused("session_invalid", "the session has no lease; ask the operator for a new session"), session };
  return allow({ session, lease });
}

/** Why calls of the session that run already must end: somebody ended it. That its time is over ends none. */
export function whyStopped(session: Session): Denial | undefined {
  if (session.revokedAtMs !== undefined)
    return denial("session_revoked", "the session was revoked; ask the operator for a new session");
  if (session.frozenAtMs === undefined) return undefined;
  return denial("session_frozen", "the session is frozen and waits for review; ask the operator to resume it");
}

function whyEnded(session: Session, nowMs: number): Refused | undefined {
  const stopped = whyStopped(session);
  if (stopped !== undefined) return deny(stopped);
  if (nowMs >= session.expiresAtMs)
    return refused("session_expired", "the session has expired; ask the operator for a new session");
  return undefined;
}

/**
 * The lease as far as every lease it derives from reaches: released with the first of them, and ended with the first.
 */
async function effectiveLease(store: SessionStore, id: string): Promise<Lease | undefined> {
  const lease = await store.findLease(id);
  let ancestor = lease;
  let expiresAtMs = lease?.expiresAtMs ?? 0;
  for (let depth = 0; ancestor?.parentId !== undefined; depth += 1) {
    if (depth >= LEASE_DEPTH_MAX) return undefined;
    ancestor = await store.findLease(ancestor.parentId);
    if (lease === undefined || ancestor === undefined) return undefined;
    if (ancestor.releasedAtMs !== undefined) return { ...lease, releasedAtMs: ancestor.releasedAtMs };
    expiresAtMs = Math.min(expiresAtMs, ancestor.expiresAtMs);
  }
  return lease === undefined || lease.expiresAtMs === expiresAtMs ? lease : { ...lease, expiresAtMs };
}

type Refused = Extract<Verdict<never>, { ok: false }>;

function refused(reason: string, message: string): Refused {
  return deny(denial(reason, message));
}

function denial(reason: string, message: string): Denial {
  return { layer: "authenticate", reason, ruleId: `SESSION:${reason.slice("session_".length)}`, message };
}

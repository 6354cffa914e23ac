/**
 * Accounts and reservations in `budget.db`, shared by all kernels of a state directory.
 *
 * Every question that changes something is one transaction that holds the write lock from its start, so that two
 * kernels never see the same amount left. Commits survive a killed process; `sync` makes them survive a power failure.
 *
 * INVARIANT: an account's period never ends because a clock went backwards.
 */
import { storeCorrupt, storeUnavailable } from "../../../base/errors.ts";
import { BUDGET_LIST_MAX } from "../../../base/limits.ts";
import type {
  AccountState,
  BudgetStore,
  LimitedAccount,
  Orphan,
  Reserved,
  Spender,
  Wish,
} from "../../../budget/budget-store.ts";
import { type Amounts, addAmounts, amounts, BUDGET_MEMBERS, NOTHING } from "../../../model/spending/budget.ts";
import { SyncedStore } from "../state/store.ts";
import { AMOUNT_COLUMNS, type AmountRow, type AmountValues, amountsOf, amountValues, sumsOf } from "./budget-rows.ts";

type AccountRow = AmountRow & { readonly key: string; readonly began_ms: number };
type HoldRow = AmountRow & {
  readonly id: string;
  readonly account: string;
  readonly began_ms: number;
  readonly session_id: string;
  readonly actor: string;
  readonly request_id: string;
  readonly at_ms: number;
};

/** What a call holds of an account. */
interface Hold {
  readonly account: string;
  readonly spender: Spender;
  readonly atMs: number;
  readonly held: Amounts;
}

interface Period {
  readonly beganMs: number;
  readonly spent: Amounts;
}

const NAMES = AMOUNT_COLUMNS.join(", ");
const TOTALS = AMOUNT_COLUMNS.map((name) => `total(${name}) AS ${name}`).join(", ");

/** The budgets of an open `budget.db`, which it closes. */
export class EmbeddedBudgetStore extends SyncedStore implements BudgetStore {
  readonly #findAccount = this.database.prepare<[string], AccountRow>(
    `SELECT key, began_ms, ${NAMES} FROM accounts WHERE key = ?`,
  );
  readonly #putAccount = this.database.prepare<[string, number, ...AmountValues]>(
    "INSERT OR REPLACE INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  readonly #sumHolds = this.database.prepare<[string, number], AmountRow>(
    `SELECT ${TOTALS} FROM holds WHERE account = ? AND began_ms = ?`,
  );
  readonly #moveHolds = this.database.prepare<[number, string, number]>(
    "UPDATE holds SET began_ms = ? WHERE account = ? AND began_ms = ?",
  );
  readonly #putHold = this.database.prepare<
    [string, string, number, string, string, string, string, number, ...AmountValues]
  >("INSERT OR REPLACE INTO holds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  readonly #findHolds = this.database.prepare<[string, string], HoldRow>(
    "SELECT * FROM holds WHERE id = ? AND instance = ?",
  );
  readonly #deleteHolds = this.database.prepare<[string, string]>("DELETE FROM holds WHERE id = ? AND instance = ?");

  async reserve(wish: Wish, spender: Spender): Promise<Reserved> {
    return this.transaction(() => {
      const found = this.#judge(wish);
      if (found.kind === "exhausted") return found;
      for (const { key } of wish.accounts)
        this.#hold(wish, { account: key, spender, atMs: wish.nowMs, held: found.granted });
      return found;
    });
  }

  async extend(wish: Wish): Promise<Reserved> {
    return this.transaction(() => {
      const holds = this.#findHolds.all(wish.id, wish.instance);
      if (holds.length !== wish.accounts.length)
        throw storeUnavailable("what a call had reserved is gone; send it again");
      const found = this.#judge(wish, holds);
      if (found.kind === "exhausted") return found;
      for (const hold of holds) {
        const held = addAmounts(amountsOf(hold), found.granted);
        this.#hold(wish, { account: hold.account, spender: spenderOf(hold), atMs: hold.at_ms, held });
      }
      return found;
    });
  }

  async settle(id: string, instance: string, spent: Amounts): Promise<boolean> {
    return this.transaction(() => {
      const holds = this.#findHolds.all(id, instance);
      for (const { account, began_ms: beganMs } of holds) {
        const row = this.#findAccount.get(account);
        // What was reserved in a period that is over was spent in that one.
        if (row?.began_ms === beganMs)
          this.#putAccount.run(account, beganMs, ...amountValues(addAmounts(amountsOf(row), spent)));
      }
      this.#deleteHolds.run(id, instance);
      return holds.length > 0;
    });
  }

  async holds(id: string, instance: string): Promise<boolean> {
    return this.guarded(() => this.#findHolds.get(id, instance) !== undefined);
  }

  sync(): Promise<void> {
    return this.log.sync();
  }

  async holders(limit: number): Promise<readonly string[]> {
    const list = this.database
      .prepare<[number], string>("SELECT DISTINCT instance FROM holds ORDER BY instance LIMIT ?")
      .pluck();
    return this.guarded(() => list.all(limit));
  }

  async adopt(from: string, to: string, limit: number): Promise<readonly Orphan[]> {
    const ids = this.database
      .prepare<[string, number], string>("SELECT DISTINCT id FROM holds WHERE instance = ? ORDER BY id LIMIT ?")
      .pluck();
    const move = this.database.prepare<[string, string, string]>(
      "UPDATE holds SET instance = ? WHERE instance = ? AND id = ?",
    );
    return this.transaction(() =>
      ids.all(from, limit).map((id) => {
        const holds = this.#findHolds.all(id, from);
        move.run(to, from, id);
        return orphanOf(id, holds);
      }),
    );
  }

  async listAccounts(limit: number): Promise<readonly AccountState[]> {
    const list = this.database.prepare<[number], AccountRow>("SELECT * FROM accounts ORDER BY key LIMIT ?");
    return this.guarded(() =>
      list.all(Math.min(limit, BUDGET_LIST_MAX)).map((row) => ({
        key: row.key,
        spent: amountsOf(row),
        reserved: this.#reservedIn(row.key, row.began_ms),
        beganMs: row.began_ms,
      })),
    );
  }

  /**
   * What can be granted to all accounts alike; brings their periods up to date. A hold of an earlier period moves into
   * the present one.
   */
  #judge({ accounts, least, most, nowMs }: Wish, holds: readonly HoldRow[] = []): Reserved {
    let granted = most;
    for (const account of accounts) {
      const { beganMs, spent } = this.#period(account, nowMs);
      const moving = holds.find((hold) => hold.account === account.key && hold.began_ms !== beganMs);
      const reserved = addAmounts(
        this.#reservedIn(account.key, beganMs),
        moving === undefined ? NOTHING : amountsOf(moving),
      );
      const left = amounts((member) =>
        Math.max(0, (account.limit[member] ?? Number.MAX_SAFE_INTEGER) - spent[member] - reserved[member]),
      );
      const member = BUDGET_MEMBERS.find(
        (candidate) => account.limit[candidate] !== undefined && left[candidate] < least[candidate],
      );
      if (member !== undefined) {
        const { key, limit, periodMs } = account;
        const facts = {
          key,
          member,
          limit: limit[member] ?? 0,
          spent: spent[member],
          reserved: reserved[member],
          needed: least[member],
        };
        return { kind: "exhausted", ...facts, ...(periodMs !== undefined && { renewsAtMs: beganMs + periodMs }) };
      }
      const before = granted;
      granted = amounts((candidate) =>
        account.limit[candidate] === undefined ? before[candidate] : Math.min(before[candidate], left[candidate]),
      );
    }
    return { kind: "reserved", granted };
  }

  /** The account's present period: a later one begins with nothing spent, an earlier one never begins. */
  #period({ key, periodMs }: LimitedAccount, nowMs: number): Period {
    const row = this.#findAccount.get(key);
    const nowBegan = periodMs === undefined ? 0 : Math.max(0, Math.floor(nowMs / periodMs) * periodMs);
    if (row === undefined) return this.#begin(key, nowBegan, NOTHING);
    const spent = amountsOf(row);
    const { began_ms: beganMs } = row;
    if (nowBegan > beganMs) return this.#begin(key, nowBegan, NOTHING);
    // A clock that went back a little is behind; one that went back far was wrong before, and the account must not wait
    // for that time.
    if (beganMs - nowBegan <= (periodMs ?? 0)) return { beganMs, spent };
    this.#moveHolds.run(nowBegan, key, beganMs);
    return this.#begin(key, nowBegan, spent);
  }

  #begin(key: string, beganMs: number, spent: Amounts): Period {
    this.#putAccount.run(key, beganMs, ...amountValues(spent));
    return { beganMs, spent };
  }

  #reservedIn(key: string, beganMs: number): Amounts {
    const row = this.#sumHolds.get(key, beganMs);
    return row === undefined ? NOTHING : sumsOf(row);
  }

  #hold({ id, instance }: Wish, { account, spender, atMs, held }: Hold): void {
    const beganMs = this.#findAccount.get(account)?.began_ms ?? 0;
    const { sessionId, actor, requestId } = spender;
    this.#putHold.run(
      id,
      account,
      beganMs,
      instance,
      sessionId,
      actor,
      requestId,
      Math.floor(atMs),
      ...amountValues(held),
    );
  }
}

function spenderOf({ session_id: sessionId, actor, request_id: requestId }: HoldRow): Spender {
  return { sessionId, actor, requestId };
}

function orphanOf(id: string, holds: readonly HoldRow[]): Orphan {
  const [first] = holds;
  if (first === undefined) throw storeCorrupt("`budget.db` in the state directory lost a reservation");
  return {
    id,
    accounts: holds.map(({ account }) => account),
    amounts: amountsOf(first),
    atMs: first.at_ms,
    ...spenderOf(first),
  };
}

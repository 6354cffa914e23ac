// Lists are cut into pages, whose cursors are of one session, one list and its entries as they are.
import { describe, expect, test, vi } from "vitest";
import { ListPages, PAGE_ENTRIES_MAX } from "../../../../src/transports/mcp/features/pages.ts";
import { connectTo, initialize, type Line, legacy, modern } from "../../../support/mcp-connection.ts";
import { BOUND } from "../../../support/mcp-desk.ts";
import { bearer, modernHeaders, post, serveMcpPlace } from "../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

const named = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `tool_${index}` }));
const MANY = 2 * PAGE_ENTRIES_MAX + 1;

/** All entries, page by page. */
function walk(pages: ListPages, all: readonly { readonly name: string }[]) {
  const seen = [];
  for (let page = pages.page("list", all), turns = 0; page !== undefined && turns < 10; turns += 1) {
    expect(page.entries.length).toBeLessThanOrEqual(PAGE_ENTRIES_MAX);
    seen.push(...page.entries);
    page = page.nextCursor === undefined ? undefined : pages.page("list", all, page.nextCursor);
  }
  return seen;
}

describe("a list", () => {
  test("has one page while it fits, and each entry once where it does not", () => {
    const pages = new ListPages();
    for (const count of [0, 1, PAGE_ENTRIES_MAX, PAGE_ENTRIES_MAX + 1, MANY])
      expect(walk(pages, named(count))).toEqual(named(count));
    expect(pages.page("list", named(PAGE_ENTRIES_MAX))).not.toHaveProperty("nextCursor");
  });

  test("takes no cursor of another session, another list, or itself as it was, and none that was changed", () => {
    const [pages, others] = [new ListPages(), new ListPages()];
    const all = named(MANY);
    const cursor = pages.page("list", all)?.nextCursor ?? "";
    expect(pages.page("list", named(MANY), cursor)?.entries[0]).toEqual({ name: "tool_250" }); // the control
    expect(others.page("list", all, cursor)).toBeUndefined();
    expect(pages.page("other", all, cursor)).toBeUndefined();
    expect(pages.page("list", [...named(MANY - 1), { name: "new" }], cursor)).toBeUndefined();
    expect(pages.page("list", named(3), cursor)).toBeUndefined();
    const bytes = Buffer.from(cursor, "base64url");
    for (let at = 0; at < bytes.length; at += 1) {
      const bent = Buffer.from(bytes);
      bent[at] = (bent[at] ?? 0) ^ 1;
      expect(pages.page("list", all, bent.toString("base64url"))).toBeUndefined();
    }
    for (const guess of ["", "x", `${cursor}=`, `${cursor}A`, cursor.slice(1), "A".repeat(100_000)])
      expect(pages.page("list", all, guess)).toBeUndefined();
  });
});

/** A kernel that offers many tools, until they are fewer. */
async function place() {
  const kernel = await memoryKernel();
  const [one] = await kernel.door.offered(kernel.token);
  let count = MANY;
  const offered = async () => named(count).map((tool) => ({ ...one, ...tool }) as NonNullable<typeof one>);
  return {
    kernel,
    door: { ...kernel.door, offered },
    shrink: () => {
      count -= 1;
    },
  };
}

type Listed = Line & { readonly result: { readonly tools: readonly { name: string }[]; readonly nextCursor?: string } };

test.each(["legacy", "modern"])(
  "tools are listed in pages in the %s era, and a stale cursor says what to do",
  async (era) => {
    const { kernel, door, shrink } = await place();
    const connection = connectTo(door, kernel.token);
    if (era === "legacy") connection.write(initialize());
    let last = 0;
    const list = (cursor?: string) => {
      last += 1;
      const id = last;
      connection.write((era === "legacy" ? legacy : modern)(id, "tools/list", cursor === undefined ? {} : { cursor }));
      return vi.waitFor(() => {
        const line = connection.lines().find((each) => each.id === id);
        if (line === undefined) throw new Error("no answer");
        return line as Listed;
      }, BOUND);
    };
    const seen: string[] = [];
    const cursors: string[] = [];
    for (let page = await list(), turns = 0; turns < 10; turns += 1) {
      seen.push(...page.result.tools.map(({ name }) => name));
      if (page.result.nextCursor === undefined) break;
      cursors.push(page.result.nextCursor);
      page = await list(page.result.nextCursor);
    }
    expect(seen).toEqual(named(MANY).map(({ name }) => name));
    shrink();
    await vi.waitFor(async () => {
      const { error } = await list(cursors[0]);
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("again without it") });
    }, BOUND);
    await connection.end();
  },
);

test("another session's cursor is none over HTTP", async () => {
  const [{ kernel, door }, other] = [await place(), await memoryKernel()];
  const served = await serveMcpPlace({
    ...door,
    admit: (asker) => (asker.sessionToken === other.token ? other : kernel).door.admit(asker),
  });
  const list = async (token: string, params: object = {}) => {
    const message = modern(1, "tools/list", params);
    return (await post(served, message, { ...modernHeaders(message), ...bearer(token) })).messages[0] as Listed;
  };
  const { nextCursor: cursor } = (await list(kernel.token)).result;
  expect(await list(other.token, { cursor })).toMatchObject({ error: { code: -32602 } });
  // the control: whose cursor it is
  expect((await list(kernel.token, { cursor })).result.tools[0]).toMatchObject({ name: "tool_250" });
});

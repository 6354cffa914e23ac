/** Secrets that an OAuth server gives: what it is asked, for how long its tokens count, and what is kept and hidden. */
import { chmodSync, lstatSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { parseSettings } from "../../../src/config/config.ts";
import { secretsOf } from "../../../src/server/secrets/secret-values.ts";
import { newCertificate } from "../../support/certificate.ts";
import { Internet } from "../../support/egress.ts";
import { freshPlace } from "../../support/place.ts";
import { secretPlace } from "../../support/secret-place.ts";
import { comesTrue } from "../../support/waiting.ts";

const AUTH = "auth.example";
const URL_OF = `https://${AUTH}/oauth/token`;
const CLIENT_SECRET = "client-secret-of-the-operator";
const REFRESH = "first-refresh-token";
const BOUND = { placeholder: "placeholder_of_a_token", bindings: [{ to: "api.example", in: "header Authorization" }] };

interface Asked {
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

/** A server that gives tokens, and what it was asked. */
function tokenServer(answer: (asked: Asked, count: number) => { readonly status?: number; readonly body: unknown }) {
  const asked: Asked[] = [];
  const listener: RequestListener = (request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      const one = {
        authorization: request.headers.authorization,
        form: Object.fromEntries(new URLSearchParams(text)),
      };
      asked.push(one);
      const { status = 200, body } = answer(one, asked.length);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  };
  return { asked, listener };
}

async function opened(oauth: object, listener?: RequestListener) {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(place.base, AUTH);
  if (listener) await internet.https(AUTH, 443, certificate, listener);
  const file = join(place.base, "refresh-token");
  writeFileSync(file, `${REFRESH}\n`, { mode: 0o600 });
  const settings = await parseSettings(
    JSON.stringify({
      web: { certificate_authorities: certificate.certFile },
      secrets: { TOKEN: { from: { oauth: { token_url: URL_OF, client_id: "an id", ...oauth } }, ...BOUND } },
    })
      .replace('"FILE"', JSON.stringify(file))
      .replace('"LINK"', JSON.stringify(`${file}.link`)),
    "handrail.yaml",
  );
  const environment = { SECRET: CLIENT_SECRET, REFRESH };
  const read = () => secretsOf({ settings }, environment, { network: internet.network });
  return { read, file, place };
}

/** Milliseconds that have passed more than have. */
let added = 0;
const { now } = performance;
beforeEach(() => {
  added = 0;
  performance.now = () => now.call(performance) + added;
});
afterEach(() => {
  performance.now = now;
});
const passed = (ms: number) => {
  added += ms;
};

const valueIn = ({ broker }: Awaited<ReturnType<typeof secretsOf>>) => broker.secrets[0]?.value;

test("a client gets a token for itself, says who it is, and asks once while that counts", async () => {
  const { asked, listener } = tokenServer((_, count) => ({
    body: { access_token: `token-number-${count}`, expires_in: 3600 },
  }));
  const { read } = await opened({ client_secret: { env: "SECRET" }, scope: "read write" }, listener);
  const all = await Promise.all(Array.from({ length: 10 }, read));
  expect(all.map(valueIn)).toEqual(Array(10).fill("token-number-1"));
  expect(valueIn(await read())).toBe("token-number-1");
  const authorization = `Basic ${Buffer.from(`an+id:${CLIENT_SECRET}`).toString("base64")}`;
  expect(asked).toEqual([{ authorization, form: { grant_type: "client_credentials", scope: "read write" } }]);
  expect(all[0]?.known.map(({ value }) => value).sort()).toEqual([CLIENT_SECRET, "token-number-1"]);
});

test("in the body, where the server wants it there", async () => {
  const { asked, listener } = tokenServer(() => ({ body: { access_token: "token-in-return" } }));
  const { read } = await opened({ client_secret: { env: "SECRET" }, client_auth: "body" }, listener);
  await read();
  expect(asked).toEqual([
    {
      authorization: undefined,
      form: { grant_type: "client_credentials", client_id: "an id", client_secret: CLIENT_SECRET },
    },
  ]);
});

const IN_FILE = { refresh_token: { file: "FILE" } };

test("a token that ends is got anew by the refresh token, and each new one of those is kept in its file", async () => {
  const { asked, listener } = tokenServer((_, count) => ({
    body: {
      access_token: `token-number-${count}`,
      expires_in: 3600,
      refresh_token: `refresh-number-${count}`,
    },
  }));
  const { read, file } = await opened(IN_FILE, listener);
  const first = await read();
  expect(valueIn(first)).toBe("token-number-1");
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["refresh-number-1\n", 0o600]);
  // shortly before it ends it still counts, while the next one is got
  passed(3_560_000);
  expect([first.isCurrent(), valueIn(await read())]).toEqual([false, "token-number-1"]);
  await comesTrue(() => asked.length === 2 && readFileSync(file, "utf8") === "refresh-number-2\n");
  passed(6000);
  expect(valueIn(await read())).toBe("token-number-2");
  expect(asked.map(({ form }) => form["refresh_token"])).toEqual([REFRESH, "refresh-number-1"]);
  for (const one of [REFRESH, "refresh-number-1"]) expect(first.known.map(({ value }) => value)).toContain(one);
});

test("a refresh token that changes and cannot be kept is a problem, before its token is used", async () => {
  const { listener } = tokenServer(() => ({
    body: { access_token: "token-in-return", refresh_token: "the-next-one" },
  }));
  const { read } = await opened({ refresh_token: { env: "REFRESH" } }, listener);
  const { problems, known, ...rest } = await read();
  expect(problems.get("TOKEN")).toMatch(/new refresh token each time, which cannot be kept in the variable `REFRESH`/);
  expect(valueIn({ problems, known, ...rest })).toBeUndefined();
  expect(known.map(({ value }) => value)).toContain("the-next-one");
});

test("a token that has ended is waited for", async () => {
  const { asked, listener } = tokenServer((_, count) => ({
    body: { access_token: `token-number-${count}`, expires_in: 60 },
  }));
  const { read } = await opened({}, listener);
  await read();
  passed(61_000);
  expect([valueIn(await read()), asked.length]).toEqual(["token-number-2", 2]);
});

test("a server that hangs holds nobody up twice", async () => {
  let isHanging = false;
  const { asked, listener } = tokenServer(() => ({ body: { error: "temporarily_unavailable" }, status: 503 }));
  const { read } = await opened({}, (request, response) => (isHanging ? undefined : listener(request, response)));
  await read();
  isHanging = true;
  passed(31_000);
  expect((await read()).problems.get("TOKEN")).toMatch(/503/); // at once, of before
  expect(asked).toHaveLength(1);
});

test("a refresh token that could not be written is kept until it can be, and the spent one is not sent again", async () => {
  const { asked, listener } = tokenServer((_, count) => ({
    body: { access_token: `token-number-${count}`, refresh_token: `refresh-number-${count}` },
  }));
  const { read, file } = await opened(IN_FILE, (request, response) => {
    // gone while the server answers
    if (asked.length === 0) rmSync(file);
    listener(request, response);
  });
  expect((await read()).problems.get("TOKEN")).toMatch(/cannot be written/);
  writeFileSync(file, "made again\n", { mode: 0o600 });
  passed(31_000);
  await read();
  await comesTrue(() => asked.length === 2);
  expect(asked[1]?.form["refresh_token"]).toBe("refresh-number-1");
  await comesTrue(() => readFileSync(file, "utf8") === "refresh-number-2\n");
});

test("a file behind a link stays behind it", async () => {
  const { listener } = tokenServer(() => ({
    body: { access_token: "token-in-return", refresh_token: "the-next-one" },
  }));
  const { read, file } = await opened({ refresh_token: { file: "LINK" } }, listener);
  symlinkSync(file, `${file}.link`);
  await read();
  expect([lstatSync(`${file}.link`).isSymbolicLink(), readFileSync(file, "utf8")]).toEqual([true, "the-next-one\n"]);
});

test.each([
  ["short", { access_token: "true" }],
  ["of two lines", { access_token: "token-in\nreturn" }],
  ["none that could be kept", { access_token: "token-in-return", refresh_token: "file" }],
])("a token that is %s is none, and nothing of it is hidden or written", async (_, body) => {
  const { listener } = tokenServer(() => ({ body }));
  const { read, file } = await opened(IN_FILE, listener);
  const { problems, known } = await read();
  expect(problems.get("TOKEN")).toMatch(/cannot be used|can be used/);
  expect(known.map(({ value }) => value)).not.toContain("true");
  expect(known.map(({ value }) => value)).not.toContain("file");
  expect(readFileSync(file, "utf8")).toBe(`${REFRESH}\n`);
});

test("another kernel that has used the refresh token meanwhile has written the next one, which is taken", async () => {
  let file = "";
  const { asked, listener } = tokenServer(({ form }) => {
    if (form["refresh_token"] !== REFRESH) return { body: { access_token: "token-in-return" } };
    writeFileSync(file, "written-by-another\n");
    return { status: 400, body: { error: "invalid_grant" } };
  });
  const place = await opened(IN_FILE, listener);
  file = place.file;
  expect(valueIn(await place.read())).toBe("token-in-return");
  expect(asked).toHaveLength(2);
});

test.each([
  [
    "a refusal",
    { status: 401, body: { error: "invalid_client", error_description: CLIENT_SECRET } },
    /refuses \(401, invalid_client\)/,
  ],
  ["a page", { status: 200, body: "<html>" }, /no object/],
  ["no token", { status: 200, body: { token_type: "bearer" } }, /no `access_token`/],
  ["a redirect", { status: 302, body: { access_token: "token-in-return" } }, /refuses \(302\)/],
])(
  "%s is a problem that names the server, holds no secret, and is not asked for again at once",
  async (_, body, said) => {
    const { asked, listener } = tokenServer(() => body);
    const { read } = await opened({ client_secret: { env: "SECRET" }, ...IN_FILE }, listener);
    const { problems, broker } = await read();
    const problem = problems.get("TOKEN") ?? "";
    expect(problem).toMatch(said);
    expect(problem).toContain(URL_OF);
    expect(problem).not.toMatch(new RegExp(`${CLIENT_SECRET}|${REFRESH}`));
    expect(broker.secrets[0]?.value).toBeUndefined();
    await read();
    expect(asked).toHaveLength(1);
  },
);

test("a server that is not there, and a file that others can read", async () => {
  expect((await (await opened({})).read()).problems.get("TOKEN")).toMatch(/no answer/);
  const { asked, listener } = tokenServer(() => ({ body: { access_token: "token-in-return" } }));
  const { read, file } = await opened(IN_FILE, listener);
  chmodSync(file, 0o644);
  expect((await read()).problems.get("TOKEN")).toMatch(/can be read by others/);
  expect(asked).toEqual([]);
});

test("a command uses such a token and never sees it", async () => {
  const token = "token-that-nobody-sees-4711";
  const { listener } = tokenServer(() => ({ body: { access_token: token, expires_in: 3600 } }));
  const seen: (string | undefined)[] = [];
  const place = await secretPlace(
    {
      [AUTH]: listener,
      "api.example": (request, response) => {
        seen.push(request.headers.authorization);
        response.end(`you sent ${request.headers.authorization}`);
      },
    },
    {},
    { secrets: { TOKEN: { from: { oauth: { token_url: URL_OF, client_id: "an id" } }, ...BOUND } } },
  );
  const { stdout } = await place.run(
    'curl -sS -H "Authorization: Bearer $TOKEN" https://api.example/v1; echo " $TOKEN"',
  );
  expect(seen).toEqual([`Bearer ${token}`]);
  expect(stdout).toBe(`you sent Bearer ${BOUND.placeholder} ${BOUND.placeholder}\n`);
});

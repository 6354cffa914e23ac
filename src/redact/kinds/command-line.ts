/**
 * Finds passwords on command lines: `mysql -u app -phunter22x`, `sshpass -p …`, `redis-cli -a …`.
 *
 * The letters mean a password behind these commands alone. Before options that read one from standard input stands the
 * command that writes it: `echo … | docker login --password-stdin`. INVARIANT: it looks at one line, up to what begins
 * another command, and no further than `REACH`.
 */
import type { Finding } from "../search/finding.ts";
import { MATCHER_BEHIND_MAX, type Matcher, type ScanMemo, type Trigger } from "../search/matcher.ts";
import { judgeCertain, judgePassword } from "./address-login.ts";
import { isLeftEdge } from "./rule.ts";

/** The rule of passwords on command lines. */
export const COMMAND_PASSWORD = {
  id: "command-password",
  kind: "probable",
  title: "a password on a command line",
  examples: {
    positive: [
      "mysql -h db -u app -p{a14} shop",
      "sshpass -p '{a14}' ssh app@host",
      "$ redis-cli -h cache -a {a20} ping",
      "docker login -u ci -p {a20} r.example.org",
      "smbclient //s/x -U bob%{a14}",
      "lftp -u bob,{a14} h",
      "echo '{a14}' | docker login -u bot --password-stdin",
      "printf %s {a20} | gh auth login --with-token",
    ],
    negative: [
      "mysql -u app -p shop",
      "docker run -p 8080:8080 x",
      "mysql -p$PASSWORD",
      "docker run -p 127.0.0.1:8080:80 x",
      "zip -r a.zip b",
      "mongo -p password",
      "sshpass -p <password>",
      'echo "$TOKEN" | docker login -u bot --password-stdin',
      "cat token.txt | gh auth login --with-token",
    ],
  },
} as const;

/** Characters from the beginning of a command that are looked at. */
const REACH = 256;
const WORD = /(?:[^\s"']|"[^"\n]{0,200}"|'[^'\n]{0,200}')+/g;
const OTHER_COMMAND = /[\n\r|;&`]/;
/** Numbers of ports, addresses and paths stand behind such letters too. */
const HARMLESS = /^[\d.:/-]+(?:\/(?:tcp|udp))?$|^[./~]|^[\w-]+:[\d/]/;

/** Triggers for each command. */
export function commandTriggers(options: Readonly<Record<string, readonly string[]>>): readonly Trigger[] {
  return Object.entries(options).map(([command, flags]) => ({
    keyword: `${command} `,
    matcher: commandMatcher(flags),
  }));
}

/** Triggers for each option that reads a password from standard input. */
export function inputTriggers(): readonly Trigger[] {
  const matcher = {
    reach: READING_CHARACTERS_MAX,
    back: MATCHER_BEHIND_MAX,
    match: ({ text }: ScanMemo, start: number) => findWritten(text, start),
  };
  return ["--password-stdin", "--with-token"].map((keyword) => ({ keyword, matcher }));
}

/** Characters of the longest of those options. */
const READING_CHARACTERS_MAX = 16;
const WRITTEN =
  /(?:echo|printf)(?: -n| ['"]?%s['"]?)? {1,4}(?:'([^'\n]{6,120})'|"([^"\n]{6,120})"|([^\s'"|]{6,120})) {0,2}\| {0,2}[^|\n]*$/d;

function findWritten(text: string, end: number): Finding | undefined {
  const from = Math.max(0, end - MATCHER_BEHIND_MAX);
  const { indices } = WRITTEN.exec(text.slice(from, end)) ?? {};
  const [start, stop] = indices?.slice(1).find((range) => range !== undefined) ?? [];
  if (start === undefined || stop === undefined) return undefined;
  if (judgeCertain(text.slice(from + start, from + stop)) === undefined) return undefined;
  return { rule: COMMAND_PASSWORD.id, kind: "probable", start: from + start, end: from + stop };
}

function commandMatcher(flags: readonly string[]): Matcher {
  return { reach: REACH, match: (memo, start, end) => findPassword(memo, flags, { start, end }) };
}

function findPassword(
  { text }: ScanMemo,
  flags: readonly string[],
  { start, end }: { readonly start: number; readonly end: number },
): Finding | undefined {
  if (!isLeftEdge(text, start, "token")) return undefined;
  const [whole = ""] = text.slice(end, start + REACH).split(OTHER_COMMAND, 1);
  const [line = ""] = whole.split(text.slice(start, end), 1); // the same command once more is looked at by itself
  let isNext = false;
  for (const { 0: word, index } of line.matchAll(WORD)) {
    const flag: string | undefined = isNext ? "" : flags.find((one) => word.startsWith(one));
    isNext = flag === word;
    if (flag === undefined || isNext) continue;
    const value = word.slice(flag.length).replace(/^[=]/, "");
    const secret = value.replace(/^["']|["']$/g, "").replace(/^[\w.\\-]{1,64}[%,](?=.{4})/, "");
    const from = end + index + word.lastIndexOf(secret);
    const judge = /^["']/.test(value) ? judgeCertain : judgePassword;
    if (secret.length < MIN || HARMLESS.test(secret) || judge(secret) === undefined) continue;
    if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret)) continue;
    return { rule: COMMAND_PASSWORD.id, kind: "probable", start: from, end: from + secret.length };
  }
  return undefined;
}

/** Characters of a password at least. */
const MIN = 6;

/** Writes where this process, an ordinary user, has no permission to; prints what happened as JSON. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endOf, namesBelow, openPlace } from "../files-fixture.ts";

const [base = "", root = ""] = process.argv.slice(2);
const place = openPlace(base, root, root, "");
const content = Buffer.from("changed");
const facts = {
  uid: process.getuid?.(),
  ends: [
    await endOf(() => place.files.write("closed/file.txt", content, { mode: "overwrite" })),
    await endOf(() => place.files.write("closed/new.txt", content, { mode: "overwrite" })),
    await endOf(() => place.files.write("closed/new/file.txt", content, { mode: "overwrite" })),
    await endOf(() => place.files.transform("closed/file.txt", 1000, () => content)),
    await endOf(() => place.files.write("readonly.txt", content, { mode: "overwrite" })),
    await endOf(() => place.files.read("unreadable.txt", { bytesMax: 1000 })),
    await endOf(() => place.files.read("closed/file.txt", { bytesMax: 1000 })),
    await endOf(() => place.files.write("open.txt", content, { mode: "overwrite" })),
  ],
  kept: [readFileSync(join(root, "closed/file.txt"), "utf8"), readFileSync(join(root, "readonly.txt"), "utf8")],
  left: namesBelow(root),
};
process.stdout.write(`${JSON.stringify(facts)}\n`);

/** A registry of npm with one package, on loopback. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import type { Place } from "./place.ts";

/** One file of a tar archive: a header of 512 bytes, and content filled up to as many. */
function tarEntry(path: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0, "latin1");
  header.write("0000644\0", 100, "latin1");
  header.write("0000000\0", 108, "latin1");
  header.write("0000000\0", 116, "latin1");
  header.write(`${Buffer.byteLength(content).toString(8).padStart(11, "0")}\0`, 124, "latin1");
  header.write("00000000000\0", 136, "latin1");
  header.write("        ", 148, "latin1");
  header.write("0", 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

/** What is published: `@notes/server` 1.2.3, where the manifest says nothing else. */
export interface Published {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
  /** A hash that is not the archive's. */
  readonly integrity?: string;
}

/** Serves it until the test ends; the hash of its archive, and the environment in which npm finds it. */
export async function npmRegistry(place: Place, published: Published) {
  const manifest = { name: "@notes/server", version: "1.2.3", ...published.manifest };
  const archive = gzipSync(
    Buffer.concat([
      ...Object.entries({ "package.json": JSON.stringify(manifest), ...published.files }).map(([path, content]) =>
        tarEntry(`package/${path}`, content),
      ),
      Buffer.alloc(1024),
    ]),
  );
  const hash = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  const server = createServer((request, response) => {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (request.url?.endsWith(".tgz") === true) return response.end(archive);
    if (decodeURIComponent(request.url ?? "") !== `/${manifest.name}`) {
      response.statusCode = 404;
      return response.end("{}");
    }
    const dist = { tarball: `${address}/server.tgz`, integrity: published.integrity ?? hash };
    return response.end(
      JSON.stringify({
        name: manifest.name,
        "dist-tags": { latest: "1.2.3" },
        versions: { "1.2.3": { ...manifest, dist } },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const environment = {
    PATH: process.env["PATH"],
    npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    npm_config_cache: join(place.outside, "cache"),
    npm_config_fetch_retries: "0",
  };
  return { hash, environment };
}

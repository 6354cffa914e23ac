/** What a plain list of allowed command prefixes asks about: the peer of the accounting, as many tools have one. */
import type { TracedCall } from "./trace.ts";

/** Prefixes that people commonly allow. */
const PREFIXES =
  "ls,cat,head,tail,wc,grep,rg,find,pwd,echo,which,tree,stat,file,diff,sort,uniq,cut,sed -n,awk,jq,git status,git diff,git log,git show,git branch,npm test,npm run,npx vitest,npx tsc,node --version,pytest,python3 -m pytest,cargo test,cargo check,go test,go vet,make test,cd".split(
    ",",
  );

/** Whether a person is asked under such a list: about each command of which one part begins otherwise. */
export function asksByPrefix({ tool, arguments: { command } }: TracedCall): boolean {
  if (tool !== "shell") return false;
  const parts = String(command ?? "").split(/&&|\|\||[;|\n]/);
  return !parts.every((part) =>
    PREFIXES.some((prefix) => part.trim() === prefix || part.trim().startsWith(`${prefix} `)),
  );
}

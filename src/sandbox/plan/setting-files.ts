/** The few files of `/etc` that say who and where a run is. Pure. */
import { INSIDE_USER } from "./plan.ts";

/** What `/etc/passwd`, `/etc/group` and `/etc/hosts` say inside. */
export function settingFiles(): { readonly passwd: string; readonly group: string; readonly hosts: string } {
  const { name, id } = INSIDE_USER;
  return {
    passwd: `${name}:x:${id}:${id}::/tmp:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`,
    group: `${name}:x:${id}:\nnogroup:x:65534:\n`,
    hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  };
}

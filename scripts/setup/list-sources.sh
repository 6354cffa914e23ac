# What the compiled program was made from, or would be: each file's inode, size, time of its last change of any kind, and name.
# Read by the launcher with `.`, in the project's directory, with each start: it has to be quick, and to differ after any change. The time is that of
# the inode (ctime), which no program can set. Tests take no part. What cannot be listed (no GNU find) makes a list like no other.
find src package.json node_modules/.package-lock.json scripts/compile-program.mjs scripts/compiled-code.mjs scripts/setup/list-sources.sh \
  -type f ! -name '*.test.ts' -printf '%i %s %C@ %p\n' 2>&1 || echo unlisted

/**
 * Exchanges a directory and a file of the given directory for links, back and forth, each in one atomic step, for at
 * most 20 s.
 */
import koffi from "koffi";

const [directory = "."] = process.argv.slice(2);
const RENAME_EXCHANGE = 2;
const exchange = koffi
  .load(null)
  .func("int renameat2(int a, const char *from, int b, const char *to, unsigned int flags)");
const AT_FDCWD = -100;
process.chdir(directory);
process.stdout.write("swapping\n");
for (const end = Date.now() + 20_000; Date.now() < end; ) {
  for (const name of ["dir", "file"]) {
    if (exchange(AT_FDCWD, name, AT_FDCWD, `${name}.link`, RENAME_EXCHANGE) !== 0)
      throw new Error(`could not exchange ${name}`);
  }
}

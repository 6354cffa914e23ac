/** Gadgets of programs that pack, copy and back up files. */
import type { Gadget, ValueLetters } from "./gadget.ts";

/** A file on another machine: `host:file`, `user@host:file`, `rsync://host/file`. */
const REMOTE = /^(?:--file=|-\w*f)?(?:[\w.-]+@)?[\w.-]+:(?!=)|^\w+:\/\//;
const TAR =
  "--to-command --checkpoint-action --use-compress-program --info-script --new-volume-script --rsh-command --rmt-command";

/** Archives and copies. */
export const ARCHIVES: readonly Gadget[] = [
  { of: "tar gtar star bsdtar", does: "starts", options: `-I -F ${TAR}`, source: "tar(1)" },
  { of: "tar gtar bsdtar", does: "starts", first: /^[a-zA-Z]*[IF]/, by: "I or F", source: "tar(1)" },
  { of: "tar gtar cpio mt", does: "leaves", words: REMOTE, by: "host:file", source: "tar(1)" },
  {
    of: "tar gtar",
    does: "starts",
    options: "-T --files-from --add-file",
    source: "tar(1): a list of files may hold options",
  },
  { of: "cpio gcpio", does: "starts", options: "--rsh-command --rsh", source: "cpio(1)" },
  { of: "zip", does: "starts", options: "--unzip-command", words: /^-\w*TT/, by: "-TT", source: "zip(1)" },
  { of: "rsync", does: "starts", options: "-e --rsh --rsync-path -M --remote-option", source: "rsync(1)" },
  {
    of: "rsync",
    does: "runs",
    options: "--daemon --config --early-input --server",
    source: "rsync(1), rsyncd.conf(5)",
  },
  { of: "rsync", does: "leaves", words: REMOTE, by: "host:file", source: "rsync(1)" },
  { of: "scp sftp", does: "leaves", always: true, source: "scp(1), sftp(1)" },
  { of: "rdiff-backup", does: "starts", options: "--remote-schema --remote-cmd", source: "rdiff-backup(1)" },
  {
    of: "rdiff-backup rsnapshot duplicity tarsnap duply",
    does: "leaves",
    words: REMOTE,
    by: "host:file",
    source: "rdiff-backup(1)",
  },
  {
    of: "rsnapshot logrotate",
    does: "starts",
    options: "-c -m --mail",
    operands: "-s --state -l --log",
    source: "rsnapshot(1), logrotate(8)",
  },
  { of: "duplicity", does: "starts", options: "--gpg-binary --rsync-options --ssh-options", source: "duplicity(1)" },
  { of: "borg", does: "starts", options: "--rsh --remote-path", verbs: "with-lock, mount", source: "borg(1)" },
  { of: "borg restic", does: "leaves", words: REMOTE, by: "host:file", source: "borg(1), restic(1)" },
  { of: "restic", does: "starts", options: "--password-command -o --option", verbs: "mount", source: "restic(1)" },
  {
    of: "rclone",
    does: "starts",
    options: "--password-command --config --sftp-ssh --metadata-mapper",
    source: "rclone(1)",
  },
  {
    of: "rclone",
    does: "leaves",
    verbs: "rc, rcd, serve, mount, authorize",
    words: REMOTE,
    by: "remote:path",
    source: "rclone(1)",
  },
  { of: "unison", does: "starts", options: "-sshcmd -rshcmd -diff -merge -sshargs -servercmd", source: "unison(1)" },
  { of: "unison", does: "leaves", words: /^\w+:\/\//, by: "ssh://", source: "unison(1)" },
  { of: "dar", does: "starts", options: "-E --execute -B --batch -~", source: "dar(1)" },
  {
    of: "mksquashfs",
    does: "starts",
    options: "-pf -p",
    words: /(?:^| )\S+ [fF] /,
    by: "a pseudo file",
    source: "mksquashfs(1)",
  },
  { of: "ar nm ranlib size strip objdump objcopy", does: "loads", options: "--plugin", source: "ar(1), nm(1)" },
  { of: "install ginstall", does: "starts", options: "--strip-program", source: "install(1)" },
  { of: "mt", does: "starts", options: "--rsh-command", source: "mt(1)" },
  { of: "sort gsort", does: "starts", options: "--compress-program", source: "sort(1)" },
  { of: "split gsplit", does: "starts", options: "--filter", source: "split(1)" },
  { of: "ddrescue wodim cdrecord", does: "leaves", words: /^dev=.*@/, by: "dev=host", source: "wodim(1)" },
];

/** Letters that take a value. */
export const ARCHIVE_VALUES: ValueLetters = {
  tar: "bCfgHKLNVX",
  gtar: "bCfgHKLNVX",
  rsync: "BfT@",
  sort: "kotSTF",
};

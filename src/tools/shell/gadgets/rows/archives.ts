/** Gadgets of programs that pack, copy and back up files. */
import { type Gadget, leaves, loads, runs, starts, type ValueLetters } from "./gadget.ts";

/** A file on another machine: `host:file`, `user@host:file`, `rsync://host/file`. */
const REMOTE = /^(?:--file=|-\w*f)?(?:[\w.-]+@)?[\w.-]+:(?!=)|^\w+:\/\//;
const TAR =
  "--to-command --checkpoint-action --use-compress-program --info-script --new-volume-script --rsh-command --rmt-command";

/** Archives and copies. */
export const ARCHIVES: readonly Gadget[] = [
  starts("tar gtar star bsdtar", "tar(1)", { options: `-I -F ${TAR}` }),
  starts("tar gtar bsdtar", "tar(1)", { first: /^[a-zA-Z]*[IF]/, by: "I or F" }),
  leaves("tar gtar cpio mt", "tar(1)", { words: REMOTE, by: "host:file" }),
  starts("tar gtar", "tar(1): a list of files may hold options", { options: "-T --files-from --add-file" }),
  starts("cpio gcpio", "cpio(1)", { options: "--rsh-command --rsh" }),
  starts("zip", "zip(1)", { options: "--unzip-command", words: /^-\w*TT/, by: "-TT" }),
  starts("rsync", "rsync(1)", { options: "-e --rsh --rsync-path -M --remote-option" }),
  runs("rsync", "rsync(1), rsyncd.conf(5)", { options: "--daemon --config --early-input --server" }),
  leaves("rsync", "rsync(1)", { words: REMOTE, by: "host:file" }),
  leaves("scp sftp", "scp(1), sftp(1)", { always: true }),
  starts("rdiff-backup", "rdiff-backup(1)", { options: "--remote-schema --remote-cmd" }),
  leaves("rdiff-backup rsnapshot duplicity tarsnap duply", "rdiff-backup(1)", { words: REMOTE, by: "host:file" }),
  starts("rsnapshot logrotate", "rsnapshot(1), logrotate(8)", {
    options: "-c -m --mail",
    operands: "-s --state -l --log",
  }),
  starts("duplicity", "duplicity(1)", { options: "--gpg-binary --rsync-options --ssh-options" }),
  starts("borg", "borg(1)", { options: "--rsh --remote-path", verbs: "with-lock, mount" }),
  leaves("borg restic", "borg(1), restic(1)", { words: REMOTE, by: "host:file" }),
  starts("restic", "restic(1)", { options: "--password-command -o --option", verbs: "mount" }),
  starts("rclone", "rclone(1)", { options: "--password-command --config --sftp-ssh --metadata-mapper" }),
  leaves("rclone", "rclone(1)", { verbs: "rc, rcd, serve, mount, authorize", words: REMOTE, by: "remote:path" }),
  starts("unison", "unison(1)", { options: "-sshcmd -rshcmd -diff -merge -sshargs -servercmd" }),
  leaves("unison", "unison(1)", { words: /^\w+:\/\//, by: "ssh://" }),
  starts("dar", "dar(1)", { options: "-E --execute -B --batch -~" }),
  starts("mksquashfs", "mksquashfs(1)", { options: "-pf -p", words: /(?:^| )\S+ [fF] /, by: "a pseudo file" }),
  loads("ar nm ranlib size strip objdump objcopy", "ar(1), nm(1)", { options: "--plugin" }),
  starts("install ginstall", "install(1)", { options: "--strip-program" }),
  starts("mt", "mt(1)", { options: "--rsh-command" }),
  starts("sort gsort", "sort(1)", { options: "--compress-program" }),
  starts("split gsplit", "split(1)", { options: "--filter" }),
  leaves("ddrescue wodim cdrecord", "wodim(1)", { words: /^dev=.*@/, by: "dev=host" }),
];

/** Letters that take a value. */
export const ARCHIVE_VALUES: ValueLetters = {
  tar: "bCfgHKLNVX",
  gtar: "bCfgHKLNVX",
  rsync: "BfT@",
  sort: "kotSTF",
};

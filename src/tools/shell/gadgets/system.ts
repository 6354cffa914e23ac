/**
 * Gadgets of the system's own tools: schedulers, services, buses, kernel settings. They act outside of a command's
 * sandbox.
 */
import type { Gadget } from "./gadget.ts";

const SHOWS =
  "status, show, list-units, list-unit-files, list-timers, list-sockets, is-active, is-enabled, is-failed, cat, --version";

/** Services and settings of the machine. */
export const SYSTEM: readonly Gadget[] = [
  {
    of: "ldd",
    does: "loads",
    operands: "",
    by: "with a program: it loads the auditing libraries that this names",
    source: "ldd(1), rtld-audit(7)",
  },
  { of: "at batch atd atrun fcron fcrontab", does: "leaves", always: true, unless: "-l, -c, -V", source: "at(1)" },
  { of: "crontab", does: "leaves", always: true, unless: "-l", source: "crontab(1)" },
  { of: "systemctl", does: "leaves", always: true, unless: SHOWS, source: "systemctl(1)" },
  {
    of: "systemctl journalctl loginctl hostnamectl timedatectl",
    does: "leaves",
    options: "-H --host -M --machine --root --image",
    source: "systemctl(1)",
  },
  {
    of: "service rc-service initctl telinit init invoke-rc.d launchctl rc-update update-rc.d chkconfig supervisorctl monit",
    does: "leaves",
    always: true,
    unless: "status, list, --status-all",
    source: "service(8)",
  },
  {
    of: "loginctl",
    does: "leaves",
    verbs: "enable-linger, kill-session, terminate-session, attach",
    source: "loginctl(1)",
  },
  {
    of: "busctl dbus-send gdbus qdbus qdbus6 dbus-launch dbus-daemon systemd-notify udevadm udisksctl gsettings dconf",
    does: "leaves",
    always: true,
    unless: "list, monitor, info, read, get, status",
    source: "busctl(1), dbus-send(1)",
  },
  { of: "busctl", does: "starts", options: "--address", source: "busctl(1): unixexec:" },
  {
    of: "sysctl",
    does: "leaves",
    options: "-w -p --write --load --system -f",
    words: /=/,
    by: "name=value",
    source: "sysctl(8)",
  },
  {
    of: "ip",
    does: "starts",
    words: /^e(?:x(?:ec?)?)?$/,
    options: "-b -batch -force",
    by: "netns exec",
    source: "ip-netns(8)",
  },
  {
    of: "ip tc bridge iptables ip6tables nft ufw firewall-cmd ifconfig route brctl iw nmcli wpa_cli",
    does: "leaves",
    verbs: "add, del, set, change, replace, -A, -D, -I, -F, link set, addr add, route add",
    source: "ip(8), iptables(8)",
  },
  { of: "iptables ip6tables", does: "starts", options: "--modprobe -M", source: "iptables(8)" },
  { of: "nft", does: "leaves", options: "-f --file -i --interactive", source: "nft(8)" },
  { of: "dmsetup", does: "starts", options: "--exec", source: "dmsetup(8)" },
  {
    of: "lvm cryptsetup mdadm zfs zpool btrfs",
    does: "starts",
    options: "--config --program --alert",
    verbs: "send, mount",
    source: "mdadm(8)",
  },
  { of: "ldconfig", does: "loads", always: true, unless: "-p, --print-cache", source: "ldconfig(8)" },
  {
    of: "pam_exec unix_chkpwd chfn chsh passwd usermod useradd adduser gpasswd vipw",
    does: "leaves",
    always: true,
    source: "usermod(8)",
  },
  { of: "setfacl", does: "leaves", options: "--restore", source: "setfacl(1)" },
  {
    of: "fail2ban-client",
    does: "leaves",
    always: true,
    unless: "status, ping, version",
    source: "fail2ban-client(1)",
  },
  {
    of: "needs-restarting kexec kdump efibootmgr grub-install grub2-install update-initramfs dracut mkinitcpio",
    does: "leaves",
    always: true,
    source: "kexec(8)",
  },
  { of: "plymouth", does: "starts", options: "--command", source: "plymouth(8)" },
  { of: "wall write mesg talk ytalk", does: "leaves", always: true, source: "wall(1)" },
  {
    of: "ollama llm huggingface-cli hf",
    does: "leaves",
    verbs: "run, push, create, serve, upload, login, cp, plugins, install, chat",
    source: "ollama --help",
  },
  {
    of: "fastfetch neofetch screenfetch",
    does: "runs",
    options: "-c --config --load-config --gen-config --source",
    source: "fastfetch(1), neofetch(1)",
  },
  {
    of: "dstat sar",
    does: "loads",
    words: /^--(?!version|help)(?:\w+-)*plugin|^-M$/,
    by: "a plug-in",
    source: "dstat(1)",
  },
  {
    of: "collectd telegraf prometheus node_exporter fluentd logstash filebeat vector",
    does: "runs",
    options: "-c -C --config -e --config.file -f",
    source: "collectd(1)",
  },
  { of: "enable", does: "loads", options: "-f", source: "bash(1)" },
  { of: "bind", does: "runs", options: "-x", source: "bash(1)" },
];

/**
 * Gadgets of the system's own tools: schedulers, services, buses, kernel settings. They act outside of a command's
 * sandbox.
 */
import { type Gadget, leaves, loads, runs, starts } from "./gadget.ts";

const SHOWS =
  "status, show, list-units, list-unit-files, list-timers, list-sockets, is-active, is-enabled, is-failed, cat, --version";

/** Services and settings of the machine. */
export const SYSTEM: readonly Gadget[] = [
  loads("ldd", "ldd(1), rtld-audit(7)", {
    operands: "",
    by: "with a program: it loads the auditing libraries that this names",
  }),
  leaves("at batch atd atrun fcron fcrontab", "at(1)", { always: true, unless: "-l, -c, -V" }),
  leaves("crontab", "crontab(1)", { always: true, unless: "-l" }),
  leaves("systemctl", "systemctl(1)", { always: true, unless: SHOWS }),
  leaves("systemctl journalctl loginctl hostnamectl timedatectl", "systemctl(1)", {
    options: "-H --host -M --machine --root --image",
  }),
  leaves(
    "service rc-service initctl telinit init invoke-rc.d launchctl rc-update update-rc.d chkconfig supervisorctl monit",
    "service(8)",
    { always: true, unless: "status, list, --status-all" },
  ),
  leaves("loginctl", "loginctl(1)", { verbs: "enable-linger, kill-session, terminate-session, attach" }),
  leaves(
    "busctl dbus-send gdbus qdbus qdbus6 dbus-launch dbus-daemon systemd-notify udevadm udisksctl gsettings dconf",
    "busctl(1), dbus-send(1)",
    { always: true, unless: "list, monitor, info, read, get, status" },
  ),
  starts("busctl", "busctl(1): unixexec:", { options: "--address" }),
  leaves("sysctl", "sysctl(8)", { options: "-w -p --write --load --system -f", words: /=/, by: "name=value" }),
  starts("ip", "ip-netns(8)", { words: /^e(?:x(?:ec?)?)?$/, options: "-b -batch -force", by: "netns exec" }),
  leaves(
    "ip tc bridge iptables ip6tables nft ufw firewall-cmd ifconfig route brctl iw nmcli wpa_cli",
    "ip(8), iptables(8)",
    { verbs: "add, del, set, change, replace, -A, -D, -I, -F, link set, addr add, route add" },
  ),
  starts("iptables ip6tables", "iptables(8)", { options: "--modprobe -M" }),
  leaves("nft", "nft(8)", { options: "-f --file -i --interactive" }),
  starts("dmsetup", "dmsetup(8)", { options: "--exec" }),
  starts("lvm cryptsetup mdadm zfs zpool btrfs", "mdadm(8)", {
    options: "--config --program --alert",
    verbs: "send, mount",
  }),
  loads("ldconfig", "ldconfig(8)", { always: true, unless: "-p, --print-cache" }),
  leaves("pam_exec unix_chkpwd chfn chsh passwd usermod useradd adduser gpasswd vipw", "usermod(8)", { always: true }),
  leaves("setfacl", "setfacl(1)", { options: "--restore" }),
  leaves("fail2ban-client", "fail2ban-client(1)", { always: true, unless: "status, ping, version" }),
  leaves(
    "needs-restarting kexec kdump efibootmgr grub-install grub2-install update-initramfs dracut mkinitcpio",
    "kexec(8)",
    { always: true },
  ),
  starts("plymouth", "plymouth(8)", { options: "--command" }),
  leaves("wall write mesg talk ytalk", "wall(1)", { always: true }),
  leaves("ollama llm huggingface-cli hf", "ollama --help", {
    verbs: "run, push, create, serve, upload, login, cp, plugins, install, chat",
  }),
  runs("fastfetch neofetch screenfetch", "fastfetch(1), neofetch(1)", {
    options: "-c --config --load-config --gen-config --source",
  }),
  loads("dstat sar", "dstat(1)", { words: /^--(?!version|help)(?:\w+-)*plugin|^-M$/, by: "a plug-in" }),
  runs("collectd telegraf prometheus node_exporter fluentd logstash filebeat vector", "collectd(1)", {
    options: "-c -C --config -e --config.file -f",
  }),
  loads("enable", "bash(1)", { options: "-f" }),
  runs("bind", "bash(1)", { options: "-x" }),
];

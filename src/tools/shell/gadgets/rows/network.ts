/** Gadgets of clients and servers of networks. That they reach other machines is judged by the hosts of the call. */
import { edits, type Gadget, leaves, loads, runs, starts, type ValueLetters } from "./gadget.ts";

/** Settings of wget are compared without case, dash and underscore. */
const ASKPASS = /u[-_]*s[-_]*e[-_]*a[-_]*s[-_]*k[-_]*p[-_]*a[-_]*s[-_]*s/i;

/** Clients, servers, tunnels. */
export const NETWORK: readonly Gadget[] = [
  loads("curl", "curl(1)", { options: "--engine" }),
  loads("curl", "curl(1): its file may name an engine", { options: "-K --config" }),
  leaves("curl", "curl(1)", { options: "--unix-socket --abstract-unix-socket" }),
  leaves("curl", "curl(1)", {
    words: /^(?:scp|sftp|telnet|gopher|dict|smb|smtp|imap|pop3|ldap|mqtt)s?:/i,
    by: "a protocol such as sftp:",
  }),
  starts("wget wget2", "wget(1)", {
    options: "--use-askpass --use-askpass-command",
    words: ASKPASS,
    by: "use_askpass",
  }),
  loads("wget wget2", "wget(1), wget2(1)", { options: "--config --plugin --plugin-dirs --local-plugin" }),
  starts("aria2c", "aria2c(1)", {
    options:
      "--on-download-complete --on-download-error --on-download-start --on-download-stop --on-download-pause --on-bt-download-complete",
  }),
  loads("aria2c", "aria2c(1)", { options: "--conf-path --enable-rpc --rpc-listen-all -i --input-file" }),
  starts("yt-dlp youtube-dl", "yt-dlp(1)", {
    options:
      "--exec --exec-before-download --downloader --external-downloader --ffmpeg-location --netrc-cmd --js-runtimes --alias",
  }),
  loads("yt-dlp youtube-dl", "yt-dlp(1)", {
    options: "--plugin-dirs --config-locations --config-location --use-postprocessor --extractor-args",
  }),
  leaves("ssh autossh slogin dbclient plink rsh rlogin remsh mosh et dropbear rexec", "ssh(1)", {
    always: true,
    unless: "-V, -Q",
  }),
  starts("ssh scp sftp autossh", "ssh(1), ssh_config(5)", { options: "-o -F -S -I -E -D" }),
  leaves("ssh-copy-id sshfs sshuttle pssh parallel-ssh pdsh clush csshx dsh ansible-pull", "ssh-copy-id(1), sshfs(1)", {
    always: true,
  }),
  loads("ssh-keygen", "ssh-keygen(1)", { options: "-D -w" }),
  loads("ssh-add", "ssh-add(1)", { options: "-s -S -e -P" }),
  starts("nc ncat netcat nc.traditional nc.openbsd pwncat", "nc(1), ncat(1)", {
    options: "-e -c --exec --sh-exec --lua-exec",
  }),
  starts("socat socat1", "socat(1)", {
    words: /(?:^|!!|[,|])\s*(?:exec|system|shell)\b/i,
    options: "-lf",
    by: "exec: or system:",
  }),
  starts("socket", "socket(1)", { options: "-p" }),
  edits("telnet ftp tftp ncftp lftp psftp cftp yafc atftp gftp tnftp", "telnet(1), ftp(1)", { always: true }),
  edits("smbclient rpcclient", "smbclient(1)", { always: true, unless: "-L" }),
  loads("openssl libressl", "openssl(1)", {
    options: "-engine -provider -provider-path -config -engine_impl -conf",
    verbs: "engine",
  }),
  runs("openssl", "openssl(1)", { input: /(?:^|\n)\s*(?:engine|.*-engine|.*-provider)/ }),
  loads("gnutls-cli p11tool certtool pkcs11-tool", "p11tool(1)", { options: "--provider --module" }),
  starts("tcpdump windump", "tcpdump(8)", { options: "-z" }),
  loads("tshark wireshark dumpcap rawshark", "tshark(1)", {
    options: "-X -C -H",
    words: /lua_script/,
    by: "-X lua_script",
  }),
  edits("wireshark hping3 hping ettercap bettercap scapy msfconsole mitmproxy", "hping3(8)", { always: true }),
  loads("mitmdump mitmweb", "mitmdump(1)", { options: "-s --scripts --set" }),
  runs("nmap", "nmap(1)", { options: "--script --script-args-file --datadir --servicedb --interactive --resume" }),
  loads("masscan zmap", "masscan(8)", { options: "--conf -c --config --resume --pcap" }),
  runs("sqlmap", "sqlmap(1)", { options: "--eval --preprocess --postprocess --tamper --os-shell --os-cmd --alert -c" }),
  starts("openvpn wg-quick pppd vpnc openconnect strongswan ipsec xl2tpd chat", "openvpn(8), wg-quick(8)", {
    always: true,
    unless: "--version, --genkey",
  }),
  starts("dhclient dhcpcd udhcpc dnsmasq", "dhclient(8), dnsmasq(8)", {
    options: "-sf -c -s --script -6 --dhcp-script --conf-script --dhcp-luascript -C --conf-file -f --conf-dir",
    words: /^-sf/,
    by: "-sf",
  }),
  leaves(
    "tailscale cloudflared ngrok frpc frps chisel bore localtunnel lt zrok tor i2pd gost ssf croc wormhole magic-wormhole transfer",
    "ngrok(1), cloudflared(1)",
    { always: true, unless: "version, status" },
  ),
  loads("nginx openresty", "nginx(8)", { options: "-c -g -p" }),
  loads(
    "apache2 httpd apache2ctl apachectl lighttpd caddy haproxy envoy traefik uwsgi gunicorn uvicorn hypercorn",
    "httpd(8), uwsgi(1)",
    {
      options:
        "-f -C -c -d -D --config --ini -k --plugin --paste --logger-class --worker-class --log-config --loop --http",
    },
  ),
  starts(
    "sshd dropbear inetd xinetd tcpserver tcpsvd udpsvd ucspi-tcp ipsvd rsyslogd syslog-ng vsftpd smbd telnetd",
    "inetd(8), tcpserver(1)",
    { always: true },
  ),
  loads("mosquitto mosquitto_rr", "mosquitto(8)", { options: "-c" }),
  loads("snmpd snmpget snmpwalk snmptrapd", "snmpd(8)", { options: "-Dlmod -c -C --dlmod" }),
  starts("check_by_ssh check_ssl_cert", "check_by_ssh --help", { always: true }),
  starts("certbot acme.sh lego dehydrated", "certbot(1)", { always: true, unless: "--version, certificates" }),
  starts("gpg gpg2 gpgsm", "gpg(1)", {
    options: "--photo-viewer --exec-path --agent-program --dirmngr-program --options --homedir --keyboxd-program",
  }),
  loads("gpg gpg2", "gpg(1)", { options: "--load-extension" }),
  edits("gpg gpg2", "gpg(1)", { options: "--edit-key --card-edit --edit-card" }),
  starts("gpg-agent gpg-connect-agent gpgconf gpg-wks-client pinentry dirmngr-client", "gpg-agent(1)", {
    always: true,
  }),
  starts("age age-keygen", "age(1)", { options: "-j", words: /^age1\w+1|^AGE-PLUGIN-/, by: "a plug-in's recipient" }),
  edits("pass gopass", "pass(1)", { verbs: "edit, git, insert" }),
  runs("xauth", "xauth(1)", { options: "-f", input: true, verbs: "source, extract, merge" }),
  leaves("code-server jupyter-server", "code-server --help", { always: true }),
];

/** Letters that take a value. */
export const NETWORK_VALUES: ValueLetters = {
  curl: "AbcCdDeEFHmoPQrtTuUwxXyYz",
  wget: "aABDeiIlmoOPQRtTUwXn",
  nc: "gGhiIoOpPqsTVwWxX",
  ncat: "gGhiIoOpPqsTVwWxX",
  netcat: "gGhiIoOpPqsTVwWxX",
  tcpdump: "BcCDeEFGijMQrsTUVwWyZ",
  "ssh-keygen": "CfNPIVn",
};

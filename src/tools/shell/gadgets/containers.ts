/** Gadgets of containers, virtual machines and clusters: their service acts outside of the sandbox of whoever calls. */
import type { Gadget } from "./gadget.ts";

const ENGINES = "docker podman nerdctl docker-compose podman-compose finch";
const LOOKS =
  "ps, images, version, info, inspect, logs, port, top, stats, history, diff, search, events, --version, help, container ls";

/** What only reads, by the clients of clouds: their services act on other machines. */
const AWS_READS =
  /^(?:$|help(?: |$)|s3 ls(?: |$)|configure (?:list|get)(?: |$)|configure list-profiles$|(?!configure )[a-z0-9-]+ (?:help$|(?:batch-get|describe|filter|get|head|list|lookup|query|scan|search)(?:-[a-z0-9-]+)?(?: |$)))/;
const GCLOUD_READS =
  /^(?:$|(?:help|info|version)(?: |$)|(?:auth|config|projects|services|functions|secrets|builds|components) (?:list|describe|get-value)(?: |$)|storage (?:ls|cat|du)(?: |$)|(?:compute (?:instances|disks|networks|firewall-rules|images|snapshots|addresses|zones|regions|machine-types)|run (?:services|revisions|jobs)|container (?:clusters|node-pools|images)|sql (?:instances|databases|users)|iam (?:service-accounts|roles)|app (?:services|versions|instances)|pubsub (?:topics|subscriptions)|logging (?:logs|sinks)) (?:list|describe)(?: |$))/;
/** Its sub-commands take no operands: the last of their words says what is done. */
const AZ_READS =
  /^(?:$|(?:help|version)$|(?!config |extension |find |rest |interactive )(?:[a-z0-9-]+ ){1,6}(?:list|show)(?:-[a-z0-9-]+)?$)/;

/** Containers, virtual machines, clusters. */
export const CONTAINERS: readonly Gadget[] = [
  { of: ENGINES, does: "leaves", always: true, unless: LOOKS, source: "docker(1), podman(1)" },
  {
    of: ENGINES,
    does: "leaves",
    options: "-H --host --config --context -c --entrypoint --url --connection --remote",
    source: "docker(1)",
  },
  { of: ENGINES, does: "leaves", verbs: "exec, run, create, start, build, cp, compose", source: "docker(1)" },
  {
    of: "buildah skopeo ctr crictl runc crun youki containerd kata-runtime",
    does: "leaves",
    always: true,
    source: "ctr(1), runc(8)",
  },
  {
    of: "lxc lxd incus lxc-attach lxc-start lxc-execute lxc-create machinectl systemd-nspawn",
    does: "leaves",
    always: true,
    source: "lxc(1)",
  },
  {
    of: "singularity apptainer charliecloud ch-run enroot toolbox distrobox udocker",
    does: "leaves",
    always: true,
    source: "apptainer(1)",
  },
  {
    of: "flatpak snap flatpak-spawn host-spawn",
    does: "leaves",
    always: true,
    unless: "list, info, find, search",
    source: "flatpak(1), snap(8)",
  },
  {
    of: "virsh virt-install virt-customize guestfish guestmount VBoxManage vboxmanage vmrun multipass limactl",
    does: "leaves",
    always: true,
    source: "virsh(1)",
  },
  {
    of: "qemu-system-x86 qemu-system-x86_64 qemu-system-aarch64 qemu-system-arm qemu-system-i386 qemu-system-riscv64 qemu-kvm kvm firecracker cloud-hypervisor",
    does: "leaves",
    always: true,
    source: "qemu(1)",
  },
  { of: "qemu-img", does: "starts", words: /^(?:json:|nbd:|ssh:)|"driver"/, by: "json:", source: "qemu-img(1)" },
  {
    of: "kubectl oc k3s microk8s",
    does: "leaves",
    always: true,
    unless: "get, describe, version, explain, api-resources, logs, top, cluster-info",
    source: "kubectl(1)",
  },
  {
    of: "kubectl oc",
    does: "starts",
    options: "--kubeconfig --exec-command --editor",
    verbs: "edit, exec, plugin, krew, diff",
    source: "kubectl(1)",
  },
  {
    of: "helm",
    does: "leaves",
    always: true,
    unless: "template, lint, version, list, show, search, status",
    source: "helm(1)",
  },
  { of: "helm", does: "starts", options: "--post-renderer --kubeconfig", source: "helm(1)" },
  {
    of: "kustomize",
    does: "starts",
    options: "--enable-exec --enable-alpha-plugins --enable-helm --helm-command --network",
    source: "kustomize(1)",
  },
  {
    of: "minikube kind k3d vagrant nomad rancher",
    does: "leaves",
    always: true,
    unless: "status, version",
    source: "minikube(1), vagrant(1)",
  },
  {
    of: "terraform tofu terragrunt pulumi packer cdk cdktf sam serverless",
    does: "leaves",
    always: true,
    unless: "fmt, validate, version, -version",
    source: "terraform(1)",
  },
  {
    of: "ansible ansible-playbook ansible-console ansible-pull ansible-test ansible-galaxy salt salt-call salt-ssh puppet chef-client chef-apply chef-solo knife cdist",
    does: "starts",
    always: true,
    source: "ansible(1), puppet(8)",
  },
  { of: "facter", does: "loads", options: "--custom-dir --external-dir -c --config", source: "facter(8)" },
  {
    of: "nix nix-shell nix-build nix-env nix-instantiate nix-store guix",
    does: "starts",
    always: true,
    unless: "--version",
    source: "nix(1)",
  },
  {
    of: "aws",
    does: "starts",
    verbs: "ssm start-session, ecs execute-command, emr ssh, configure set, cloudshell",
    options: "--ca-bundle",
    source: "aws(1)",
  },
  {
    of: "aws",
    does: "leaves",
    always: true,
    unlessVerb: AWS_READS,
    leading: "--profile= --region= --output= --query= --color= --no-cli-pager --no-paginate --debug --version",
    source: "aws(1)",
  },
  {
    of: "gcloud",
    does: "leaves",
    always: true,
    unlessVerb: GCLOUD_READS,
    leading: "--project= --format= --quiet -q",
    source: "gcloud(1)",
  },
  {
    of: "gsutil",
    does: "leaves",
    always: true,
    unlessVerb: /^(?:$|(?:ls|cat|du|stat|hash|help|version)(?: |$))/,
    source: "gsutil help",
  },
  { of: "az", does: "leaves", always: true, unlessVerb: AZ_READS, leading: "--version --help", source: "az --help" },
  {
    of: "gcloud gsutil az doctl flyctl fly heroku railway render",
    does: "leaves",
    verbs: "compute ssh, compute scp, ssh, run, exec, app ssh, machine run, cloud-shell, local",
    source: "gcloud(1), flyctl(1)",
  },
  { of: "act", does: "leaves", always: true, source: "act(1)" },
];

/** Gadgets of containers, virtual machines and clusters: their service acts outside of the sandbox of whoever calls. */
import { type Gadget, leaves, loads, starts } from "./gadget.ts";

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
  leaves(ENGINES, "docker(1), podman(1)", { always: true, unless: LOOKS }),
  leaves(ENGINES, "docker(1)", { options: "-H --host --config --context -c --entrypoint --url --connection --remote" }),
  leaves(ENGINES, "docker(1)", { verbs: "exec, run, create, start, build, cp, compose" }),
  leaves("buildah skopeo ctr crictl runc crun youki containerd kata-runtime", "ctr(1), runc(8)", { always: true }),
  leaves("lxc lxd incus lxc-attach lxc-start lxc-execute lxc-create machinectl systemd-nspawn", "lxc(1)", {
    always: true,
  }),
  leaves("singularity apptainer charliecloud ch-run enroot toolbox distrobox udocker", "apptainer(1)", {
    always: true,
  }),
  leaves("flatpak snap flatpak-spawn host-spawn", "flatpak(1), snap(8)", {
    always: true,
    unless: "list, info, find, search",
  }),
  leaves(
    "virsh virt-install virt-customize guestfish guestmount VBoxManage vboxmanage vmrun multipass limactl",
    "virsh(1)",
    { always: true },
  ),
  leaves(
    "qemu-system-x86 qemu-system-x86_64 qemu-system-aarch64 qemu-system-arm qemu-system-i386 qemu-system-riscv64 qemu-kvm kvm firecracker cloud-hypervisor",
    "qemu(1)",
    { always: true },
  ),
  starts("qemu-img", "qemu-img(1)", { words: /^(?:json:|nbd:|ssh:)|"driver"/, by: "json:" }),
  leaves("kubectl oc k3s microk8s", "kubectl(1)", {
    always: true,
    unless: "get, describe, version, explain, api-resources, logs, top, cluster-info",
  }),
  starts("kubectl oc", "kubectl(1)", {
    options: "--kubeconfig --exec-command --editor",
    verbs: "edit, exec, plugin, krew, diff",
  }),
  leaves("helm", "helm(1)", { always: true, unless: "template, lint, version, list, show, search, status" }),
  starts("helm", "helm(1)", { options: "--post-renderer --kubeconfig" }),
  starts("kustomize", "kustomize(1)", {
    options: "--enable-exec --enable-alpha-plugins --enable-helm --helm-command --network",
  }),
  leaves("minikube kind k3d vagrant nomad rancher", "minikube(1), vagrant(1)", {
    always: true,
    unless: "status, version",
  }),
  leaves("terraform tofu terragrunt pulumi packer cdk cdktf sam serverless", "terraform(1)", {
    always: true,
    unless: "fmt, validate, version, -version",
  }),
  starts(
    "ansible ansible-playbook ansible-console ansible-pull ansible-test ansible-galaxy salt salt-call salt-ssh puppet chef-client chef-apply chef-solo knife cdist",
    "ansible(1), puppet(8)",
    { always: true },
  ),
  loads("facter", "facter(8)", { options: "--custom-dir --external-dir -c --config" }),
  starts("nix nix-shell nix-build nix-env nix-instantiate nix-store guix", "nix(1)", {
    always: true,
    unless: "--version",
  }),
  starts("aws", "aws(1)", {
    verbs: "ssm start-session, ecs execute-command, emr ssh, configure set, cloudshell",
    options: "--ca-bundle",
  }),
  leaves("aws", "aws(1)", {
    always: true,
    unlessVerb: AWS_READS,
    leading: "--profile= --region= --output= --query= --color= --no-cli-pager --no-paginate --debug --version",
  }),
  leaves("gcloud", "gcloud(1)", { always: true, unlessVerb: GCLOUD_READS, leading: "--project= --format= --quiet -q" }),
  leaves("gsutil", "gsutil help", { always: true, unlessVerb: /^(?:$|(?:ls|cat|du|stat|hash|help|version)(?: |$))/ }),
  leaves("az", "az --help", { always: true, unlessVerb: AZ_READS, leading: "--version --help" }),
  leaves("gcloud gsutil az doctl flyctl fly heroku railway render", "gcloud(1), flyctl(1)", {
    verbs: "compute ssh, compute scp, ssh, run, exec, app ssh, machine run, cloud-shell, local",
  }),
  leaves("act", "act(1)", { always: true }),
];

/** For each policy, a change to the manifests of production with the console that breaks it. */
import { at, list, ofKind, title } from "./manifests.ts"

type Change = (value: Record<string, unknown>) => void

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Changes the object at a path of the manifest with this title, in a copy. */
const change =
  (name: string, path: ReadonlyArray<string | number>, edit: Change) =>
  (manifests: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
    const copy = structuredClone(manifests)
    const target = at(
      copy.find((one) => title(one) === name),
      ...path
    )
    if (!isTable(target)) throw new Error(`${name} has no object at ${path.join(".")}`)
    edit(target)
    return copy
  }

const scaledGate = "ScaledObject reprise-gate"
const scaledHosts = "ScaledObject reprise-host"
const pod = ["spec", "template", "spec"] as const
const first = [...pod, "containers", 0] as const
const gate = "Deployment reprise-gate"
const set =
  (field: string, value: unknown): Change =>
  (target) => {
    target[field] = value
  }
const without =
  (field: string): Change =>
  (target) => {
    delete target[field]
  }

/** By the rule that it breaks. */
export const mutations: Readonly<Record<string, (manifests: ReadonlyArray<unknown>) => ReadonlyArray<unknown>>> = {
  "runs as a user that is not root": change(gate, [...pod, "securityContext"], without("runAsNonRoot")),
  "runs as uid and gid 65532": change(gate, [...pod, "securityContext"], set("runAsUser", 0)),
  "has the runtime's seccomp profile": change(gate, [...pod, "securityContext"], without("seccompProfile")),
  "gets no token of the cluster": change(gate, pod, without("automountServiceAccountToken")),
  "shares nothing with its node": change(gate, pod, set("hostNetwork", true)),
  "uses only volumes that the profile 'restricted' allows": change(
    gate,
    pod,
    set("volumes", [{ name: "node", hostPath: { path: "/" } }])
  ),
  "may not gain privileges": change(gate, [...first, "securityContext"], without("allowPrivilegeEscalation")),
  "has a read-only root": change(gate, [...first, "securityContext"], set("readOnlyRootFilesystem", false)),
  "has no capabilities": change(gate, [...first, "securityContext", "capabilities"], set("add", ["NET_ADMIN"])),
  "does not run as another user": change(gate, [...first, "securityContext"], set("runAsUser", 0)),
  "opens no port of its node": change(gate, [...first, "ports", 0], set("hostPort", 80)),
  "asks for processor time and memory, and has a limit of memory": change(
    gate,
    [...first, "resources"],
    without("limits")
  ),
  "is asked whether it is ready and lives": change(gate, first, without("readinessProbe")),
  "has no secret in its manifest": change(gate, [...first, "env", 0], (target) => {
    target["name"] = "NATS_PASSWORD"
    target["value"] = "hunter2"
  }),
  "has time to end": change(gate, pod, set("terminationGracePeriodSeconds", 5)),
  "is spread over nodes": change(gate, pod, without("topologySpreadConstraints")),
  "is drained one pod at a time": change("PodDisruptionBudget reprise-gate", ["spec"], set("maxUnavailable", "100%")),
  "is selected by its own labels": change(
    gate,
    ["spec", "selector"],
    set("matchLabels", { "app.kubernetes.io/name": "x" })
  ),
  "only stable versions of the API are used": change(gate, [], set("apiVersion", "apps/v1beta1")),
  "no Secret is in the manifests": (manifests) => [
    ...manifests,
    { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "reprise" } }
  ],
  "the namespace enforces the profile 'restricted'": change(
    "Namespace reprise",
    ["metadata", "labels"],
    set("pod-security.kubernetes.io/enforce", "baseline")
  ),
  "everything is in the namespace": change(gate, ["metadata"], without("namespace")),
  "nobody may connect to anybody by default": change(
    "NetworkPolicy default-deny",
    ["spec"],
    set("policyTypes", ["Ingress"])
  ),
  "nobody but hosts and the console's proxy reaches addresses outside of the cluster, and they reach no private ones":
    change("NetworkPolicy hosts-to-internet", ["spec", "egress", 0, "to", 0, "ipBlock"], without("except")),
  "the address of NATS comes from a Secret": change("Deployment reprise-reviewer", [...first, "env", 2], (target) => {
    delete target["valueFrom"]
    target["value"] = "nats://reprise:hunter2@nats:4222"
  }),
  "a host's session-manager, workspace and agent share one volume, and work there": change(
    "StatefulSet reprise-host",
    [...pod, "containers", 2],
    set("volumeMounts", [])
  ),
  "three NATS servers have a volume each, leave as a lame duck, and are never two on a node": change(
    "StatefulSet nats",
    first,
    without("lifecycle")
  ),
  "each service has its own key, the console a person's, the container that makes the streams the operator's, and others have none":
    change(gate, [...pod, "volumes", 0, "secret"], set("secretName", "reprise-key-orchestrator")),
  "NATS is reached with TLS only, and no user has a password": (manifests) =>
    manifests.map((one) =>
      String(at(one, "metadata", "name")).startsWith("nats-configuration")
        ? JSON.parse(JSON.stringify(one).replace("tls {", "# tls {"))
        : one
    ),
  "browsers reach the console's proxy, and nobody the console itself": change(
    "Deployment reprise-console",
    [...first, "env", 0],
    set("name", "REPRISE_WEB_LISTEN")
  ),
  "only the services and the servers themselves connect to NATS": change(
    "NetworkPolicy nats",
    ["spec", "ingress", 0],
    without("from")
  )
}

/** The same for what holds where a metric scales; each breaks its rule alone. */
export const scalingMutations: typeof mutations = {
  "what a metric scales is a workload without a number of replicas of its own": change(
    gate,
    ["spec"],
    set("replicas", 2)
  ),
  "a metric scales within bounds that leave a service on a node that is drained": change(
    scaledGate,
    ["spec"],
    set("minReplicaCount", 1)
  ),
  "a metric comes from Prometheus, with an address, a query and a threshold": change(
    scaledGate,
    ["spec", "triggers", 0, "metadata"],
    without("threshold")
  ),
  "a service is scaled by what waits for itself": change(
    scaledGate,
    ["spec", "scaleTargetRef"],
    set("name", "reprise-reviewer")
  ),
  "no metric ends a host: its runs would wait until it is back": change(
    scaledHosts,
    ["spec", "advanced", "horizontalPodAutoscalerConfig"],
    without("behavior")
  )
}

/** Mistakes in what scales by a metric, and what is said then. */
export const scalingUnknowns: typeof unknowns = [
  ["a misspelt bound", /\.maxReplicas is unknown$/, change(scaledGate, ["spec"], set("maxReplicas", 6))],
  [
    "a number for a text of a trigger",
    /threshold should be a string/,
    change(scaledGate, ["spec", "triggers", 0, "metadata"], set("threshold", 200))
  ],
  [
    "a parameter that the trigger does not take",
    /metricThreshold is unknown$/,
    change(scaledGate, ["spec", "triggers", 0, "metadata"], set("metricThreshold", "200"))
  ]
]

/** Changes that make a field, a kind or a type unknown, and what is said then. */
export const unknowns: ReadonlyArray<
  readonly [string, RegExp, (manifests: ReadonlyArray<unknown>) => ReadonlyArray<unknown>]
> = [
  ["a misspelt field", /\.replica is unknown$/, change(gate, ["spec"], set("replica", 2))],
  ["a kind that does not exist", /apps\/v1 Deploiement is unknown/, change(gate, [], set("kind", "Deploiement"))],
  ["a text for a number", /replicas should be a number/, change(gate, ["spec"], set("replicas", "2"))],
  ["an object for a list", /containers should be a list/, change(gate, pod, set("containers", {}))],
  ["a number in a list of texts", /args\[1\] should be a string/, change(gate, first, set("args", ["serve", 1]))]
]

/** The names of the workloads, to see that none is missing. */
export const workloadNames = (manifests: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  ofKind(list(manifests), "Deployment", "StatefulSet").map(title).sort()

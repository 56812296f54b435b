/** For each policy, changes to the manifests of production with the console, each of which breaks it. */
import { change, first, gate, type Mutations, pod, set, without } from "./change.ts"
import { list, ofKind, title } from "./manifests.ts"
import { natsMutations } from "./natsMutations.ts"

const scaledGate = "ScaledObject reprise-gate"
const scaledHosts = "ScaledObject reprise-host"
const hosts = "StatefulSet reprise-host"
const agent = [...pod, "containers", 2] as const
const security = [...pod, "securityContext"] as const
const ofContainer = [...first, "securityContext"] as const
const spread = [...pod, "topologySpreadConstraints", 0] as const
const secretAs = (name: string) =>
  change(gate, [...first, "env", 0], (target) => {
    target["name"] = name
    target["value"] = "hunter2"
  })
const outside = ["spec", "egress", 0, "to", 0, "ipBlock"] as const
const rule = ["spec", "rules", 0] as const
const backend = [...rule, "http", "paths", 0, "backend", "service"] as const

const workloadMutations: Mutations = {
  "runs as a user that is not root": [
    change(gate, security, without("runAsNonRoot")),
    change(gate, security, set("runAsNonRoot", false))
  ],
  "runs as uid and gid 65532": [
    change(gate, security, set("runAsUser", 0)),
    change(gate, security, set("runAsGroup", 0))
  ],
  "has the runtime's seccomp profile": [
    change(gate, security, without("seccompProfile")),
    change(gate, security, set("seccompProfile", { type: "Unconfined" }))
  ],
  "gets no token of the cluster": [
    change(gate, pod, without("automountServiceAccountToken")),
    change(gate, pod, set("automountServiceAccountToken", true))
  ],
  "shares nothing with its node": ["hostNetwork", "hostPID", "hostIPC"].map((field) =>
    change(gate, pod, set(field, true))
  ),
  "uses only volumes that the profile 'restricted' allows": [
    change(gate, pod, set("volumes", [{ name: "node", hostPath: { path: "/" } }]))
  ],
  "has no privileges and may not gain any": [
    change(gate, ofContainer, without("allowPrivilegeEscalation")),
    change(gate, ofContainer, set("privileged", true))
  ],
  "has a read-only root": [change(gate, ofContainer, set("readOnlyRootFilesystem", false))],
  "has no capabilities": [
    change(gate, [...ofContainer, "capabilities"], set("add", ["NET_ADMIN"])),
    change(gate, [...ofContainer, "capabilities"], set("drop", ["NET_RAW"]))
  ],
  "has no user, group or seccomp profile but its pod's": [
    change(gate, ofContainer, set("runAsUser", 0)),
    change(gate, ofContainer, set("runAsGroup", 0)),
    change(gate, ofContainer, set("runAsNonRoot", false)),
    change(gate, ofContainer, set("seccompProfile", { type: "Unconfined" }))
  ],
  "opens no port of its node": [change(gate, [...first, "ports", 0], set("hostPort", 80))],
  "asks for processor time and memory, and has a limit of memory": [
    change(gate, [...first, "resources", "requests"], without("cpu")),
    change(gate, [...first, "resources", "requests"], without("memory")),
    change(gate, [...first, "resources", "limits"], without("memory")),
    change("Deployment reprise-orchestrator", [...pod, "initContainers", 0], without("resources"))
  ],
  "is asked whether it is ready and lives": [
    change(gate, first, without("readinessProbe")),
    change(gate, first, without("livenessProbe")),
    change(hosts, agent, without("livenessProbe"))
  ],
  "is asked whether it has started, for two minutes at least": [
    change(gate, first, without("startupProbe")),
    change(gate, [...first, "startupProbe"], set("failureThreshold", 3)),
    change(hosts, agent, without("startupProbe"))
  ],
  "has no secret in its manifest": [secretAs("NATS_PASSWORD"), secretAs("ANTHROPIC_API_KEY"), secretAs("GIT_TOKEN")],
  "has time to end": [
    change(gate, pod, set("terminationGracePeriodSeconds", 5)),
    change(gate, pod, without("terminationGracePeriodSeconds"))
  ],
  "is spread over nodes": [
    change(gate, pod, without("topologySpreadConstraints")),
    change(gate, spread, set("topologyKey", "topology.kubernetes.io/zone")),
    change(gate, [...spread, "labelSelector", "matchLabels"], set("app.kubernetes.io/name", "reprise-reviewer"))
  ],
  "is drained one pod at a time": [
    change("PodDisruptionBudget reprise-gate", ["spec"], set("maxUnavailable", "100%")),
    change("PodDisruptionBudget reprise-gate", ["spec"], without("selector")),
    change(
      "PodDisruptionBudget reprise-gate",
      ["spec", "selector", "matchLabels"],
      set("app.kubernetes.io/name", "reprise-reviewer")
    )
  ],
  "is selected by its own labels": [
    change(gate, ["spec", "selector"], set("matchLabels", { "app.kubernetes.io/name": "x" })),
    change(gate, ["spec", "selector"], set("matchLabels", {}))
  ],
  "names the Service that gives its pods their names, if they have any": [
    change(hosts, ["spec"], without("serviceName")),
    change(hosts, ["spec"], set("serviceName", "nats")),
    change("Service reprise-host", ["spec"], without("clusterIP")),
    change("Service reprise-host", ["spec"], without("selector"))
  ],
  "only stable versions of the API are used": [change(gate, [], set("apiVersion", "apps/v1beta1"))],
  "no Secret is in the manifests": [
    (manifests) => [...manifests, { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "reprise" } }]
  ],
  "the namespace enforces the profile 'restricted'": [
    change("Namespace reprise", ["metadata", "labels"], set("pod-security.kubernetes.io/enforce", "baseline"))
  ],
  "everything is in the namespace": [change(gate, ["metadata"], without("namespace"))]
}

const serviceMutations: Mutations = {
  "nobody may connect to anybody by default": [
    change("NetworkPolicy default-deny", ["spec"], set("policyTypes", ["Ingress"])),
    change("NetworkPolicy default-deny", ["spec"], set("policyTypes", ["Egress"])),
    change("NetworkPolicy default-deny", ["spec"], set("podSelector", { matchLabels: { x: "y" } })),
    change("NetworkPolicy default-deny", ["spec"], set("ingress", [{}])),
    change("NetworkPolicy default-deny", ["spec"], set("egress", [{}]))
  ],
  "nobody but hosts and the console's proxy reaches addresses outside of the cluster, and they reach no private ones": [
    change("NetworkPolicy hosts-to-internet", outside, without("except")),
    change("NetworkPolicy hosts-to-internet", outside, set("except", ["10.0.0.0/8", "169.254.0.0/16"])),
    change("NetworkPolicy hosts-to-internet", ["spec", "egress", 0], without("to")),
    change(
      "NetworkPolicy hosts-to-internet",
      ["spec", "podSelector", "matchLabels"],
      set("app.kubernetes.io/name", "reprise-gate")
    )
  ],
  "the pod is the sandbox: there is no place for another in it": [
    (manifests) => JSON.parse(JSON.stringify(manifests).replace('"REPRISE_SANDBOX_MODE":"off"', '"REPRISE_X":"y"'))
  ],
  "the address of NATS comes from a Secret": [
    change("Deployment reprise-reviewer", [...first, "env", 2], (target) => {
      delete target["valueFrom"]
      target["value"] = "nats://reprise:hunter2@nats:4222"
    }),
    change("Deployment reprise-reviewer", first, without("env"))
  ],
  "a host's session-manager, workspace and agent share one volume, and work there": [
    change(hosts, agent, set("volumeMounts", [])),
    change(hosts, agent, without("workingDir"))
  ],
  "two pods of each service are there, so that one outlives a node": [
    change(gate, ["spec"], set("replicas", 1)),
    change("Deployment reprise-console", ["spec"], without("replicas"))
  ]
}

const consoleMutations: Mutations = {
  "browsers reach the console's proxy, and nobody the console itself": [
    change("Deployment reprise-console", [...first, "env", 0], set("name", "REPRISE_WEB_LISTEN")),
    change("Service reprise-console", ["spec", "ports", 0], set("targetPort", "health")),
    change("Deployment reprise-console", [...pod, "containers", 1], without("ports"))
  ],
  "only the cluster's ingress connects to the console's proxy": [
    change("NetworkPolicy console", ["spec", "ingress", 0], without("from")),
    change("NetworkPolicy console", ["spec", "ingress", 0], without("ports")),
    change(
      "NetworkPolicy console",
      ["spec", "ingress", 0, "from", 0, "namespaceSelector"],
      set("matchLabels", { "kubernetes.io/metadata.name": "default" })
    )
  ],
  "the console's ingress leads one address to the proxy, with TLS, and that is the console's own": [
    change("Ingress reprise-console", ["spec"], without("tls")),
    change("Ingress reprise-console", ["spec", "tls", 0], set("hosts", ["other.example.com"])),
    change("Ingress reprise-console", ["spec", "tls", 0], without("secretName")),
    change("Ingress reprise-console", rule, without("host")),
    change("Ingress reprise-console", backend, set("name", "reprise-gate")),
    change("Ingress reprise-console", [...backend, "port"], set("name", "health")),
    (manifests) => JSON.parse(JSON.stringify(manifests).replaceAll("https://reprise.example.com", "https://elsewhere"))
  ]
}

/** By the rule that each of them breaks. */
export const mutations: Mutations = {
  ...workloadMutations,
  ...serviceMutations,
  ...natsMutations,
  ...consoleMutations
}

/** The same for what holds where a metric scales; each breaks its rule alone, and once. */
export const scalingMutations: Mutations = {
  "what a metric scales is a workload without a number of replicas of its own": [
    change(gate, ["spec"], set("replicas", 2)),
    change(scaledGate, ["spec", "scaleTargetRef"], set("name", "reprise-gates"))
  ],
  "a metric scales within bounds that leave a service on a node that is drained": [
    change(scaledGate, ["spec"], set("minReplicaCount", 1)),
    change(scaledGate, ["spec"], set("maxReplicaCount", 2)),
    change(scaledGate, ["spec"], set("idleReplicaCount", 0)),
    change(scaledHosts, ["spec"], set("minReplicaCount", 0))
  ],
  "a metric comes from Prometheus, with an address, a query and a threshold": [
    change(scaledGate, ["spec", "triggers", 0], set("type", "cpu")),
    change(scaledGate, ["spec"], set("triggers", [])),
    ...["serverAddress", "query", "threshold"].map((field) =>
      change(scaledGate, ["spec", "triggers", 0, "metadata"], without(field))
    )
  ],
  "a service is scaled by what waits for itself": [
    change(scaledGate, ["spec", "scaleTargetRef"], set("name", "reprise-reviewer"))
  ],
  "no metric ends a host: its runs would wait until it is back": [
    change(scaledHosts, ["spec", "advanced", "horizontalPodAutoscalerConfig"], without("behavior"))
  ]
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

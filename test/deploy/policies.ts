/** What must hold for the manifests of deploy/kubernetes, whoever changes them (docs/kubernetes.md#what-the-manifests-promise). Pure. */
import { at, list, ofKind, title } from "./manifests.ts"
import { identityPolicies, natsPolicies } from "./natsPolicies.ts"
import {
  container,
  containersOf,
  holds,
  isSet,
  labelsOf,
  lasting,
  type Manifests,
  type Policy,
  picks,
  podOf,
  volumesOf,
  workload,
  workloadsOf
} from "./policy.ts"

const securityOf = (part: unknown) => at(part, "securityContext")
const capabilities = (part: unknown) => at(securityOf(part), "capabilities")
const allowedVolumes = ["configMap", "emptyDir", "secret", "persistentVolumeClaim", "projected", "downwardAPI", "csi"]

/** Variables that look like what only a Secret may hold, unless they name a file. */
const secretName = /(password|token|secret|api_?key|credential)(?!.*_FILE$)/i

const isHealth = (port: unknown): boolean => /^health/.test(String(port))
const environmentOf = (part: unknown) => list(at(part, "env"))

const policies: ReadonlyArray<Policy> = [
  workload("runs as a user that is not root", (one) => at(podOf(one), "securityContext", "runAsNonRoot") === true),
  workload("runs as uid and gid 65532", (one) =>
    ["runAsUser", "runAsGroup"].every((field) => at(podOf(one), "securityContext", field) === 65_532)
  ),
  workload(
    "has the runtime's seccomp profile",
    (one) => at(podOf(one), "securityContext", "seccompProfile", "type") === "RuntimeDefault"
  ),
  workload("gets no token of the cluster", (one) => at(podOf(one), "automountServiceAccountToken") === false),
  workload("shares nothing with its node", (one) =>
    ["hostNetwork", "hostPID", "hostIPC"].every((field) => at(podOf(one), field) === undefined)
  ),
  workload("uses only volumes that the profile 'restricted' allows", (one) =>
    volumesOf(one).every((volume) => allowedVolumes.some((kind) => at(volume, kind) !== undefined))
  ),
  container(
    "has no privileges and may not gain any",
    (part) =>
      at(securityOf(part), "allowPrivilegeEscalation") === false && at(securityOf(part), "privileged") === undefined
  ),
  container("has a read-only root", (part) => at(securityOf(part), "readOnlyRootFilesystem") === true),
  container(
    "has no capabilities",
    (part) => list(at(capabilities(part), "drop")).includes("ALL") && list(at(capabilities(part), "add")).length === 0
  ),
  container("has no user, group or seccomp profile but its pod's", (part) =>
    ["runAsUser", "runAsGroup", "runAsNonRoot", "seccompProfile"].every(
      (field) => at(securityOf(part), field) === undefined
    )
  ),
  container("opens no port of its node", (part) =>
    list(at(part, "ports")).every((port) => at(port, "hostPort") === undefined)
  ),
  container("asks for processor time and memory, and has a limit of memory", (part) =>
    [
      ["requests", "cpu"],
      ["requests", "memory"],
      ["limits", "memory"]
    ].every((path) => isSet(at(part, "resources", ...path)))
  ),
  // Whether it answers is asked of the services beside it, which are ready only then.
  lasting("is asked whether it is ready and lives", (part) =>
    at(part, "name") === "agent"
      ? at(part, "livenessProbe") !== undefined
      : ["readinessProbe", "livenessProbe"].every((name) => at(part, name, "httpGet", "path") !== undefined)
  ),
  lasting(
    "is asked whether it has started, for two minutes at least",
    (part) =>
      Number(at(part, "startupProbe", "periodSeconds")) * Number(at(part, "startupProbe", "failureThreshold")) >= 120
  ),
  container("has no secret in its manifest", (part) =>
    environmentOf(part).every(
      (variable) => !(secretName.test(String(at(variable, "name"))) && at(variable, "value") !== undefined)
    )
  ),
  workload("has time to end", (one) => Number(at(podOf(one), "terminationGracePeriodSeconds") ?? 0) >= 30),
  workload("is spread over nodes", (one) =>
    list(at(podOf(one), "topologySpreadConstraints")).some(
      (constraint) =>
        at(constraint, "topologyKey") === "kubernetes.io/hostname" && picks(at(constraint, "labelSelector"), one)
    )
  ),
  workload("is drained one pod at a time", (one, all) =>
    ofKind(all, "PodDisruptionBudget").some(
      (budget) => at(budget, "spec", "maxUnavailable") === 1 && picks(at(budget, "spec", "selector"), one)
    )
  ),
  workload("is selected by its own labels", (one) => picks(at(one, "spec", "selector"), one)),
  // Kubernetes 1.36 requires neither the name nor the Service.
  workload(
    "names the Service that gives its pods their names, if they have any",
    (one, all) =>
      at(one, "kind") !== "StatefulSet" ||
      ofKind(all, "Service").some(
        (service) =>
          at(service, "metadata", "name") === at(one, "spec", "serviceName") &&
          at(service, "spec", "clusterIP") === "None" &&
          picks({ matchLabels: at(service, "spec", "selector") }, one)
      )
  ),
  {
    // The data of all fields still has versions that no server offers any more. KEDA's kinds have no stable version.
    rule: "only stable versions of the API are used",
    check: (manifests) =>
      manifests.flatMap((one) =>
        /^(([a-z0-9.]+\/)?v\d+|keda\.sh\/v1alpha1)$/.test(String(at(one, "apiVersion"))) ? [] : [title(one)]
      )
  },
  {
    rule: "no Secret is in the manifests",
    check: (manifests) => ofKind(manifests, "Secret").map((one) => `${title(one)} belongs to the cluster's operator`)
  },
  {
    rule: "the namespace enforces the profile 'restricted'",
    check: (manifests) =>
      ofKind(manifests, "Namespace").flatMap((one) =>
        at(one, "metadata", "labels", "pod-security.kubernetes.io/enforce") === "restricted" ? [] : [title(one)]
      )
  },
  {
    rule: "everything is in the namespace",
    check: (manifests) =>
      manifests.flatMap((one) =>
        at(one, "kind") === "Namespace" || at(one, "metadata", "namespace") === "reprise" ? [] : [title(one)]
      )
  }
]

const privateNets = ["10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"]
const isPublic = (peer: unknown): boolean =>
  privateNets.every((net) => list(at(peer, "ipBlock", "except")).includes(net))
const reachesOutside = (policy: unknown): boolean =>
  ["reprise-host", "reprise-console"].includes(
    String(at(policy, "spec", "podSelector", "matchLabels", "app.kubernetes.io/name"))
  )

/** For overlays with the services. */
const servicePolicies: ReadonlyArray<Policy> = [
  holds("nobody may connect to anybody by default", (manifests) =>
    ofKind(manifests, "NetworkPolicy").some(
      (one) =>
        Object.keys(Object(at(one, "spec", "podSelector"))).length === 0 &&
        ["Ingress", "Egress"].every((type) => list(at(one, "spec", "policyTypes")).includes(type)) &&
        at(one, "spec", "ingress") === undefined &&
        at(one, "spec", "egress") === undefined
    )
  ),
  {
    rule: "nobody but hosts and the console's proxy reaches addresses outside of the cluster, and they reach no private ones",
    check: (manifests) =>
      ofKind(manifests, "NetworkPolicy").flatMap((one) =>
        list(at(one, "spec", "egress")).every((rule) => {
          // A rule that names nobody lets out to everybody.
          const peers = list(at(rule, "to"))
          const outside = peers.filter((peer) => at(peer, "ipBlock") !== undefined)
          return peers.length > 0 && (outside.length === 0 || (reachesOutside(one) && outside.every(isPublic)))
        })
          ? []
          : [title(one)]
      )
  },
  holds("the pod is the sandbox: there is no place for another in it", (manifests) =>
    ofKind(manifests, "ConfigMap").some(
      (one) =>
        String(at(one, "metadata", "name")).startsWith("reprise-configuration-") &&
        at(one, "data", "REPRISE_SANDBOX_MODE") === "off"
    )
  ),
  {
    rule: "the address of NATS comes from a Secret",
    check: (manifests) =>
      workloadsOf(manifests)
        .filter((one) => at(labelsOf(one), "reprise.dev/uses-nats") === "true")
        .flatMap((one) => containersOf(one).map((part) => [one, part] as const))
        .filter(([, part]) => list(at(part, "args"))[0] === "serve" && at(part, "name") !== "agent")
        .flatMap(([one, part]) =>
          environmentOf(part).some(
            (variable) =>
              at(variable, "name") === "REPRISE_NATS_URL" && isSet(at(variable, "valueFrom", "secretKeyRef", "name"))
          )
            ? []
            : [`${title(one)}, container ${at(part, "name")}`]
        )
  },
  {
    rule: "a host's session-manager, workspace and agent share one volume, and work there",
    check: (manifests) =>
      ofKind(manifests, "StatefulSet")
        .filter((one) => at(one, "metadata", "name") === "reprise-host")
        .flatMap((one) => {
          const mounted = containersOf(one).filter(
            (part) =>
              at(part, "workingDir") === "/workspace" &&
              list(at(part, "volumeMounts")).some((mount) => at(mount, "mountPath") === "/workspace")
          )
          const names = mounted.map((part) => at(part, "name")).sort()
          return names.join() === "agent,session-manager,workspace" ? [] : [`${title(one)}: ${names.join()}`]
        })
  }
]

/** For overlays whose services outlive a node. */
const replicaPolicies: ReadonlyArray<Policy> = [
  {
    rule: "two pods of each service are there, so that one outlives a node",
    check: (manifests) =>
      ofKind(manifests, "Deployment").flatMap((one) => (at(one, "spec", "replicas") === 2 ? [] : [title(one)]))
  }
]

const consoleOf = (manifests: Manifests, kind: string) =>
  ofKind(manifests, kind).filter((one) => at(one, "metadata", "name") === "reprise-console")

/** For overlays with the web console. */
const consolePolicies: ReadonlyArray<Policy> = [
  holds("browsers reach the console's proxy, and nobody the console itself", (manifests) => {
    const opened = consoleOf(manifests, "Service").flatMap((one) =>
      list(at(one, "spec", "ports")).map((port) => at(port, "targetPort"))
    )
    const proxied = consoleOf(manifests, "Deployment").flatMap((one) =>
      containersOf(one)
        .filter((part) => at(part, "name") === "proxy")
        .flatMap((part) => list(at(part, "ports")).map((port) => at(port, "name")))
    )
    const listens = JSON.stringify(manifests).includes("REPRISE_WEB_LISTEN")
    return !listens && opened.join() === "http" && proxied.join() === "http"
  }),
  holds("only the cluster's ingress connects to the console's proxy", (manifests) => {
    const rules = ofKind(manifests, "NetworkPolicy")
      .filter((one) => picks(at(one, "spec", "podSelector"), consoleOf(manifests, "Deployment")[0]))
      .flatMap((one) => list(at(one, "spec", "ingress")))
      .filter((rule) => list(at(rule, "ports")).some((port) => !isHealth(at(port, "port"))))
    return (
      rules.length === 1 &&
      rules.every(
        (rule) =>
          list(at(rule, "ports")).every((port) => at(port, "port") === "http") &&
          list(at(rule, "from")).length === 1 &&
          at(rule, "from", 0, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name") === "ingress-nginx"
      )
    )
  }),
  holds(
    "the console's ingress leads one address to the proxy, with TLS, and that is the console's own",
    (manifests) => {
      const allOf = (field: string) => ofKind(manifests, "Ingress").flatMap((one) => list(at(one, "spec", field)))
      const rules = allOf("rules")
      const origins = ofKind(manifests, "ConfigMap").flatMap((one) => at(one, "data", "REPRISE_WEB_ORIGIN") ?? [])
      const [rule] = rules
      const host = String(at(rule, "host"))
      const backend = at(rule, "http", "paths", 0, "backend", "service")
      return (
        rules.length === 1 &&
        list(at(rule, "http", "paths")).length === 1 &&
        at(backend, "name") === "reprise-console" &&
        at(backend, "port", "name") === "http" &&
        allOf("tls").some((one) => list(at(one, "hosts")).includes(host) && isSet(at(one, "secretName"))) &&
        origins.join() === `https://${host}`
      )
    }
  )
]

const scaledObjectsOf = (manifests: Manifests) => ofKind(manifests, "ScaledObject")
const targetOf = (scaled: unknown) =>
  `${at(scaled, "spec", "scaleTargetRef", "kind")} ${at(scaled, "spec", "scaleTargetRef", "name")}`
const scalesHosts = (scaled: unknown): boolean => targetOf(scaled) === "StatefulSet reprise-host"
const triggersOf = (scaled: unknown) => list(at(scaled, "spec", "triggers"))
/** The queries by which something is scaled. */
export const queriesOf = (scaled: unknown): ReadonlyArray<string> =>
  triggersOf(scaled).map((trigger) => String(at(trigger, "metadata", "query")))

const scaled = (rule: string, isKept: (scaled: unknown, all: Manifests) => boolean): Policy => ({
  rule,
  check: (manifests) =>
    scaledObjectsOf(manifests).flatMap((one) => (isKept(one, manifests) ? [] : [`${title(one)}: ${rule}`]))
})

const isNumber = (value: unknown): boolean => isSet(value) && Number.isFinite(Number(value))

/** For clusters that scale by a metric. */
export const scalingPolicies: ReadonlyArray<Policy> = [
  scaled("what a metric scales is a workload without a number of replicas of its own", (one, all) =>
    workloadsOf(all).some((other) => title(other) === targetOf(one) && at(other, "spec", "replicas") === undefined)
  ),
  scaled("a metric scales within bounds that leave a service on a node that is drained", (one) => {
    const [least, most] = ["minReplicaCount", "maxReplicaCount"].map((bound) => Number(at(one, "spec", bound)))
    const isLeastEnough = least !== undefined && least >= (scalesHosts(one) ? 1 : 2)
    return isLeastEnough && most !== undefined && most > least && at(one, "spec", "idleReplicaCount") === undefined
  }),
  scaled("a metric comes from Prometheus, with an address, a query and a threshold", (one) => {
    const triggers = triggersOf(one)
    const isWhole = (trigger: unknown) =>
      at(trigger, "type") === "prometheus" &&
      isSet(at(trigger, "metadata", "query")) &&
      isNumber(at(trigger, "metadata", "threshold")) &&
      /^https?:\/\//.test(String(at(trigger, "metadata", "serverAddress")))
    return triggers.length > 0 && triggers.every(isWhole)
  }),
  scaled(
    "a service is scaled by what waits for itself",
    (one) =>
      scalesHosts(one) ||
      queriesOf(one).every((query) => `Deployment reprise-${query.match(/service="([^"]*)"/)?.[1]}` === targetOf(one))
  ),
  scaled(
    "no metric ends a host: its runs would wait until it is back",
    (one) =>
      !scalesHosts(one) ||
      at(one, "spec", "advanced", "horizontalPodAutoscalerConfig", "behavior", "scaleDown", "selectPolicy") ===
        "Disabled"
  )
]

const services = [...policies, ...servicePolicies]
const cluster = [...services, ...natsPolicies, ...identityPolicies]

export const policiesOf = {
  local: services,
  production: [...cluster, ...replicaPolicies],
  console: [...cluster, ...replicaPolicies, ...consolePolicies],
  nats: [...policies, ...natsPolicies],
  keda: [...cluster, ...scalingPolicies]
} as const

/** What must hold for the manifests of deploy/kubernetes, whoever changes them (docs/kubernetes.md#what-the-manifests-promise). Pure. */
import { at, list, ofKind, title } from "./manifests.ts"

type Manifests = ReadonlyArray<unknown>

export interface Policy {
  readonly rule: string
  /** A sentence for each violation. */
  readonly check: (manifests: Manifests) => ReadonlyArray<string>
}

const workloadsOf = (manifests: Manifests) =>
  ofKind(manifests, "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")
const podOf = (workload: unknown) => at(workload, "spec", "template", "spec")
const containersOf = (workload: unknown) => [
  ...list(at(podOf(workload), "initContainers")),
  ...list(at(podOf(workload), "containers"))
]

const workload = (rule: string, isKept: (workload: unknown, all: Manifests) => boolean): Policy => ({
  rule,
  check: (manifests) =>
    workloadsOf(manifests).flatMap((one) => (isKept(one, manifests) ? [] : [`${title(one)}: ${rule}`]))
})

const container = (rule: string, isKept: (container: unknown) => boolean): Policy => ({
  rule,
  check: (manifests) =>
    workloadsOf(manifests).flatMap((one) =>
      containersOf(one).flatMap((part) =>
        isKept(part) ? [] : [`${title(one)}, container ${at(part, "name")}: ${rule}`]
      )
    )
})

const isSet = (value: unknown): boolean => typeof value === "string" && value !== ""

const labelsOf = (one: unknown) => at(one, "spec", "template", "metadata", "labels")

/** Whether a selector by labels picks the pods of a workload, and does not pick every pod. */
const picks = (selector: unknown, one: unknown): boolean => {
  const wanted = Object.entries(Object(at(selector, "matchLabels")))
  return wanted.length > 0 && wanted.every(([name, value]) => at(labelsOf(one), name) === value)
}

const probes = ["readinessProbe", "livenessProbe"] as const

/** Whether the agent answers is asked of the services beside it, which are ready only then. */
const hasProbes = (part: unknown): boolean =>
  at(part, "name") === "agent"
    ? at(part, "livenessProbe") !== undefined
    : probes.every((name) => at(part, name, "httpGet", "path") !== undefined)

const capabilities = (part: unknown) => at(part, "securityContext", "capabilities")
const volumesOf = (one: unknown) => list(at(podOf(one), "volumes"))
const allowedVolumes = ["configMap", "emptyDir", "secret", "persistentVolumeClaim", "projected", "downwardAPI", "csi"]

/** Variables that look like what only a Secret may hold, unless they name a file. */
const secretName = /(password|token|secret|api_?key|credential)(?!.*_FILE$)/i

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
  container("may not gain privileges", (part) => at(part, "securityContext", "allowPrivilegeEscalation") === false),
  container("has a read-only root", (part) => at(part, "securityContext", "readOnlyRootFilesystem") === true),
  container(
    "has no capabilities",
    (part) => list(at(capabilities(part), "drop")).includes("ALL") && list(at(capabilities(part), "add")).length === 0
  ),
  container("does not run as another user", (part) => at(part, "securityContext", "runAsUser") === undefined),
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
  {
    rule: "is asked whether it is ready and lives",
    check: (manifests) =>
      workloadsOf(manifests).flatMap((one) =>
        // What ends before the others begin is not asked.
        list(at(podOf(one), "containers")).flatMap((part) =>
          hasProbes(part) ? [] : [`${title(one)}, container ${at(part, "name")} has no probes`]
        )
      )
  },
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

/** For overlays with the services. */
const servicePolicies: ReadonlyArray<Policy> = [
  {
    rule: "nobody may connect to anybody by default",
    check: (manifests) =>
      ofKind(manifests, "NetworkPolicy").some(
        (one) =>
          Object.keys(Object(at(one, "spec", "podSelector"))).length === 0 &&
          ["Ingress", "Egress"].every((type) => list(at(one, "spec", "policyTypes")).includes(type)) &&
          at(one, "spec", "ingress") === undefined &&
          at(one, "spec", "egress") === undefined
      )
        ? []
        : ["no NetworkPolicy denies everything"]
  },
  {
    rule: "nobody but hosts and the console's proxy reaches addresses outside of the cluster, and they reach no private ones",
    check: (manifests) =>
      ofKind(manifests, "NetworkPolicy").flatMap((one) =>
        list(at(one, "spec", "egress"))
          .flatMap((rule) => list(at(rule, "to")))
          .filter((peer) => at(peer, "ipBlock") !== undefined)
          .flatMap((peer) =>
            ["reprise-host", "reprise-console"].includes(
              String(at(one, "spec", "podSelector", "matchLabels", "app.kubernetes.io/name"))
            ) && ["10.0.0.0/8", "169.254.0.0/16"].every((net) => list(at(peer, "ipBlock", "except")).includes(net))
              ? []
              : [title(one)]
          )
      )
  },
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

/** For overlays with NATS servers. */
const natsPolicies: ReadonlyArray<Policy> = [
  {
    rule: "three NATS servers have a volume each, leave as a lame duck, and are never two on a node",
    check: (manifests) => {
      const servers = ofKind(manifests, "StatefulSet").filter((one) => at(one, "metadata", "name") === "nats")
      const leaves = (one: unknown) =>
        containersOf(one).some((part) =>
          list(at(part, "lifecycle", "preStop", "exec", "command")).some((word) => /^-sl=ldm/.test(String(word)))
        )
      return servers.length === 1 &&
        servers.every(
          (one) =>
            at(one, "spec", "replicas") === 3 &&
            list(at(one, "spec", "volumeClaimTemplates")).length === 1 &&
            leaves(one) &&
            at(podOf(one), "topologySpreadConstraints", 0, "whenUnsatisfiable") === "DoNotSchedule"
        )
        ? []
        : ["StatefulSet nats"]
    }
  },
  {
    rule: "only the services and the servers themselves connect to NATS",
    check: (manifests) =>
      ofKind(manifests, "NetworkPolicy").some(
        (one) =>
          at(one, "spec", "podSelector", "matchLabels", "app.kubernetes.io/name") === "nats" &&
          list(at(one, "spec", "ingress")).length > 0 &&
          list(at(one, "spec", "ingress")).every((rule) =>
            list(at(rule, "from")).some((peer) => at(peer, "podSelector", "matchLabels") !== undefined)
          )
      )
        ? []
        : ["NetworkPolicy nats"]
  }
]

/** The Secrets with keys that a container of a pod mounts. */
const keysOf = (one: unknown, part: unknown): ReadonlyArray<string> =>
  list(at(part, "volumeMounts")).flatMap((mount) => {
    const volume = volumesOf(one).find((other) => at(other, "name") === at(mount, "name"))
    const secret = String(at(volume, "secret", "secretName"))
    return secret.startsWith("reprise-key-") ? [secret.slice("reprise-key-".length)] : []
  })

/** For overlays whose NATS servers know who is who. */
const identityPolicies: ReadonlyArray<Policy> = [
  {
    rule: "each service has its own key, the console a person's, the container that makes the streams the operator's, and others have none",
    check: (manifests) =>
      workloadsOf(manifests).flatMap((one) =>
        containersOf(one).flatMap((part) => {
          const [verb, service] = list(at(part, "args"))
          const own = service === "console" ? "person" : service
          const expected = verb === "serve" && at(part, "name") !== "agent" ? [own] : []
          const wanted = verb === "streams" ? ["operator"] : expected
          const found = keysOf(one, part)
          return found.join() === wanted.join()
            ? []
            : [`${title(one)}, container ${at(part, "name")} has the keys: ${found.join(", ") || "none"}`]
        })
      )
  },
  {
    rule: "NATS is reached with TLS only, and no user has a password",
    check: (manifests) => {
      const [configuration] = ofKind(manifests, "ConfigMap").filter((one) =>
        String(at(one, "metadata", "name")).startsWith("nats-configuration")
      )
      const [main, accounts] = ["nats.conf", "accounts.conf"].map((name) => String(at(configuration, "data", name)))
      const isEncrypted = (main?.match(/^ *tls \{/gm) ?? []).length === 2
      return isEncrypted && accounts?.includes("nkey: $REPRISE_NKEY_GATE") === true && !/password/.test(accounts)
        ? []
        : ["ConfigMap nats-configuration"]
    }
  }
]

/** For overlays with the web console. */
const consolePolicies: ReadonlyArray<Policy> = [
  {
    rule: "browsers reach the console's proxy, and nobody the console itself",
    check: (manifests) => {
      const consoles = workloadsOf(manifests).filter((one) => at(one, "metadata", "name") === "reprise-console")
      const opened = ofKind(manifests, "Service")
        .filter((one) => at(one, "metadata", "name") === "reprise-console")
        .flatMap((one) => list(at(one, "spec", "ports")).map((port) => at(port, "targetPort")))
      const proxied = consoles.flatMap((one) =>
        containersOf(one)
          .filter((part) => at(part, "image") !== undefined && at(part, "name") === "proxy")
          .flatMap((part) => list(at(part, "ports")).map((port) => at(port, "name")))
      )
      const listens = JSON.stringify(manifests).includes("REPRISE_WEB_LISTEN")
      return consoles.length === 1 && !listens && opened.join() === "http" && proxied.join() === "http"
        ? []
        : ["Deployment reprise-console"]
    }
  }
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

export const policiesOf = {
  local: [...policies, ...servicePolicies],
  production: [...policies, ...servicePolicies, ...natsPolicies, ...identityPolicies],
  console: [...policies, ...servicePolicies, ...natsPolicies, ...identityPolicies, ...consolePolicies],
  nats: [...policies, ...natsPolicies],
  keda: [...policies, ...servicePolicies, ...natsPolicies, ...identityPolicies, ...scalingPolicies]
} as const

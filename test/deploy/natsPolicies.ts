/** What must hold for the NATS servers of deploy/kubernetes, and for whoever logs in at them. Pure. */
import { at, list, ofKind, title } from "./manifests.ts"
import { containersOf, holds, type Manifests, type Policy, podOf, volumesOf, workloadsOf } from "./policy.ts"

const serversOf = (manifests: Manifests) =>
  ofKind(manifests, "StatefulSet").find((one) => at(one, "metadata", "name") === "nats")

const serverOf = (manifests: Manifests) => containersOf(serversOf(manifests))[0]

const fileOf = (manifests: Manifests, name: string): string => {
  const configuration = ofKind(manifests, "ConfigMap").find((one) =>
    String(at(one, "metadata", "name")).startsWith("nats-configuration")
  )
  return String(at(configuration, "data", name))
}

/** The value of a setting in the text of a NATS server's configuration. */
export const settingIn = (text: string, name: string): string =>
  text.match(new RegExp(`^ *${name}: *(.+)$`, "m"))?.[1] ?? ""

/** The number before a unit: 20 of `20GB`. */
const numberIn = (text: string, unit: string): number => Number(text.match(`^(\\d+)${unit}$`)?.[1])

const variableOf = (part: unknown, name: string) =>
  at(
    list(at(part, "env")).find((variable) => at(variable, "name") === name),
    "value"
  )

/** What of a claim is where the server stores. */
const isStored = (manifests: Manifests, claim: unknown): boolean =>
  list(at(serverOf(manifests), "volumeMounts")).some(
    (mount) =>
      at(mount, "name") === at(claim, "metadata", "name") &&
      at(mount, "mountPath") === variableOf(serverOf(manifests), "NATS_STORE")
  )

/** As NATS's own Helm chart asks: one that catches up with the others is not ended for that. */
const chartPaths = {
  startupProbe: "/healthz",
  readinessProbe: "/healthz?js-server-only=true",
  livenessProbe: "/healthz?js-enabled-only=true"
}

/** The limits of a NATS server that are not sizes of a store. */
export const natsLimits = { max_payload: "1MB", max_connections: "1000", max_subscriptions: "10000" } as const

/** For overlays with NATS servers. */
export const natsPolicies: ReadonlyArray<Policy> = [
  holds("three NATS servers store on a volume each, and less than it holds", (manifests) => {
    const claims = list(at(serversOf(manifests), "spec", "volumeClaimTemplates"))
    const holdsGi = numberIn(String(at(claims[0], "spec", "resources", "requests", "storage")), "Gi")
    return (
      at(serversOf(manifests), "spec", "replicas") === 3 &&
      claims.length === 1 &&
      isStored(manifests, claims[0]) &&
      numberIn(settingIn(fileOf(manifests, "nats.conf"), "max_file_store"), "GB") < holdsGi
    )
  }),
  holds("no two NATS servers are on one node", (manifests) => {
    const constraint = at(podOf(serversOf(manifests)), "topologySpreadConstraints", 0)
    return (
      at(constraint, "whenUnsatisfiable") === "DoNotSchedule" &&
      at(constraint, "topologyKey") === "kubernetes.io/hostname" &&
      at(constraint, "maxSkew") === 1
    )
  }),
  holds("a NATS server moves its clients to the others as a lame duck, and has the time for it", (manifests) => {
    const configuration = fileOf(manifests, "nats.conf")
    const command = list(at(serverOf(manifests), "lifecycle", "preStop", "exec", "command"))
    const [grace = Number.NaN, moving = Number.NaN] = ["lame_duck_grace_period", "lame_duck_duration"].map((name) =>
      numberIn(settingIn(configuration, name), "s")
    )
    return (
      command.includes(`-sl=ldm=${settingIn(configuration, "pid_file")}`) &&
      grace + moving < Number(at(podOf(serversOf(manifests)), "terminationGracePeriodSeconds"))
    )
  }),
  holds("a NATS server is asked as its own chart asks, and has a quarter of an hour to start", (manifests) => {
    const server = serverOf(manifests)
    const startup = at(server, "startupProbe")
    return (
      Object.entries(chartPaths).every(([probe, path]) => at(server, probe, "httpGet", "path") === path) &&
      Number(at(startup, "periodSeconds")) * Number(at(startup, "failureThreshold")) >= 900
    )
  }),
  holds(
    "a NATS server writes to disk before it acknowledges",
    (manifests) => settingIn(fileOf(manifests, "nats.conf"), "sync_interval") === "always"
  ),
  holds("a NATS server has limits: of messages, connections, subscriptions and memory", (manifests) => {
    const configuration = fileOf(manifests, "nats.conf")
    return (
      Object.entries(natsLimits).every(([name, value]) => settingIn(configuration, name) === value) &&
      numberIn(settingIn(configuration, "max_memory_store"), "MB") > 0
    )
  }),
  holds("only the services and the servers themselves connect to NATS", (manifests) =>
    ofKind(manifests, "NetworkPolicy").some(
      (one) =>
        at(one, "spec", "podSelector", "matchLabels", "app.kubernetes.io/name") === "nats" &&
        list(at(one, "spec", "policyTypes")).includes("Ingress") &&
        list(at(one, "spec", "ingress")).length > 0 &&
        list(at(one, "spec", "ingress")).every(
          (rule) =>
            list(at(rule, "from")).length > 0 &&
            list(at(rule, "from")).every((peer) => at(peer, "podSelector", "matchLabels") !== undefined)
        )
    )
  )
]

/** The Secrets with keys that a container of a pod mounts. */
const keysOf = (one: unknown, part: unknown): ReadonlyArray<string> =>
  list(at(part, "volumeMounts")).flatMap((mount) => {
    const volume = volumesOf(one).find((other) => at(other, "name") === at(mount, "name"))
    const secret = String(at(volume, "secret", "secretName"))
    return secret.startsWith("reprise-key-") ? [secret.slice("reprise-key-".length)] : []
  })

/** For overlays whose NATS servers know who is who. */
export const identityPolicies: ReadonlyArray<Policy> = [
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
  holds("NATS is reached with TLS only, its servers prove who they are, and no user has a password", (manifests) => {
    const main = fileOf(manifests, "nats.conf")
    const accounts = fileOf(manifests, "accounts.conf")
    return (
      (main.match(/^ *tls \{/gm) ?? []).length === 2 &&
      settingIn(main, "verify") === "true" &&
      /^include "accounts\.conf"$/m.test(main) &&
      accounts.includes("nkey: $REPRISE_NKEY_GATE") &&
      !/password/.test(accounts)
    )
  })
]

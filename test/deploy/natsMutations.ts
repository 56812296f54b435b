/** Changes that break what must hold for the NATS servers, and for whoever logs in at them. */
import { change, first, gate, type Mutation, type Mutations, pod, set, without } from "./change.ts"
import { at } from "./manifests.ts"

const servers = "StatefulSet nats"
const network = "NetworkPolicy nats"
const spread = [...pod, "topologySpreadConstraints", 0] as const

/** Changes the text of a file of the servers' configuration. */
const configured =
  (file: string, pattern: string | RegExp, replacement: string): Mutation =>
  (manifests) =>
    manifests.map((one) => {
      if (!String(at(one, "metadata", "name")).startsWith("nats-configuration")) return one
      const text = String(at(one, "data", file))
      const changed = text.replace(pattern, replacement)
      if (changed === text) throw new Error(`${file} has no ${pattern}`)
      return { ...Object(one), data: { ...Object(at(one, "data")), [file]: changed } }
    })

const main = (pattern: string | RegExp, replacement: string) => configured("nats.conf", pattern, replacement)

export const natsMutations: Mutations = {
  "three NATS servers store on a volume each, and less than it holds": [
    change(servers, ["spec"], set("replicas", 1)),
    change(servers, ["spec"], without("volumeClaimTemplates")),
    change(servers, [...first, "volumeMounts", 0], set("mountPath", "/elsewhere")),
    change(servers, ["spec", "volumeClaimTemplates", 0, "spec", "resources", "requests"], set("storage", "10Gi")),
    main(/^ *max_file_store: .*\n/m, "")
  ],
  "no two NATS servers are on one node": [
    change(servers, spread, set("whenUnsatisfiable", "ScheduleAnyway")),
    change(servers, spread, set("topologyKey", "topology.kubernetes.io/zone")),
    change(servers, spread, set("maxSkew", 2))
  ],
  "a NATS server moves its clients to the others as a lame duck, and has the time for it": [
    change(servers, first, without("lifecycle")),
    change(servers, pod, set("terminationGracePeriodSeconds", 30)),
    main("lame_duck_duration: 30s", "lame_duck_duration: 90s"),
    main(/^lame_duck_duration: .*\n/m, ""),
    main(/^lame_duck_grace_period: .*\n/m, ""),
    main("pid_file: /run", "pid_file: /tmp")
  ],
  "a NATS server is asked as its own chart asks, and has a quarter of an hour to start": [
    change(servers, first, without("startupProbe")),
    change(servers, [...first, "startupProbe"], set("failureThreshold", 3)),
    change(servers, [...first, "startupProbe", "httpGet"], set("path", "/healthz?js-server-only=true")),
    change(servers, [...first, "readinessProbe", "httpGet"], set("path", "/healthz")),
    change(servers, [...first, "livenessProbe", "httpGet"], set("path", "/healthz"))
  ],
  "a NATS server writes to disk before it acknowledges": [
    main(/^ *sync_interval: .*\n/m, ""),
    main("sync_interval: always", "sync_interval: 2m")
  ],
  "a NATS server has limits: of messages, connections, subscriptions and memory": [
    "max_payload",
    "max_connections",
    "max_subscriptions",
    "max_memory_store"
  ].map((name) => main(new RegExp(`^ *${name}: .*\n`, "m"), "")),
  "only the services and the servers themselves connect to NATS": [
    change(network, ["spec", "ingress", 0], without("from")),
    change(network, ["spec", "ingress", 0], set("from", [{ podSelector: {} }])),
    change(network, ["spec", "ingress", 1, "from", 0], set("podSelector", {})),
    change(network, ["spec"], set("policyTypes", ["Egress"])),
    change(network, ["spec"], without("ingress"))
  ],
  "each service has its own key, the console a person's, the container that makes the streams the operator's, and others have none":
    [
      change(gate, [...pod, "volumes", 0, "secret"], set("secretName", "reprise-key-orchestrator")),
      change(gate, first, set("volumeMounts", [])),
      change(
        "Deployment reprise-orchestrator",
        [...pod, "initContainers", 0, "volumeMounts", 0],
        set("name", "key-of-orchestrator")
      ),
      change(
        "Deployment reprise-console",
        [...pod, "containers", 1],
        set("volumeMounts", [{ name: "key-of-person", mountPath: "/key" }])
      ),
      change(
        "StatefulSet reprise-host",
        [...pod, "containers", 2, "volumeMounts", 0],
        set("name", "key-of-session-manager")
      )
    ],
  "NATS is reached with TLS only, its servers prove who they are, and no user has a password": [
    main("\ntls {", "\n# tls {"),
    main("  tls {", "  # tls {"),
    main("verify: true", "verify: false"),
    main('include "accounts.conf"', ""),
    configured("accounts.conf", "nkey: $REPRISE_NKEY_GATE", "nkey: $REPRISE_NKEY_PERSON"),
    configured("accounts.conf", "nkey: $REPRISE_NKEY_SYSTEM", "user: system\n        password: hunter2")
  ]
}

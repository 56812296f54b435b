/** Fields without which Kubernetes 1.36 refuses the manifests: the kind and name, the object, and the field in it. */
import { first, gate, pod } from "./change.ts"

export type Omission = readonly [manifest: string, path: ReadonlyArray<string | number>, field: string]

const hosts = "StatefulSet reprise-host"
const orchestrator = "Deployment reprise-orchestrator"
const ingress = "Ingress reprise-console"
const rule = ["spec", "rules", 0, "http"] as const
const route = [...rule, "paths", 0] as const

/** Of production with the console. */
export const omissions: ReadonlyArray<Omission> = [
  [gate, ["metadata"], "name"],
  [gate, ["spec"], "selector"],
  [gate, ["spec"], "template"],
  [gate, pod, "containers"],
  [gate, first, "name"],
  [gate, first, "image"],
  [gate, [...first, "env", 0], "name"],
  [gate, [...first, "env", 2, "valueFrom", "secretKeyRef"], "key"],
  [gate, [...first, "ports", 0], "containerPort"],
  [gate, [...first, "startupProbe", "httpGet"], "port"],
  [gate, [...first, "volumeMounts", 0], "name"],
  [gate, [...first, "volumeMounts", 0], "mountPath"],
  [gate, [...pod, "volumes", 0], "name"],
  [gate, [...pod, "securityContext", "seccompProfile"], "type"],
  ...["maxSkew", "topologyKey", "whenUnsatisfiable"].map(
    (field): Omission => [gate, [...pod, "topologySpreadConstraints", 0], field]
  ),
  [orchestrator, [...pod, "initContainers", 0], "name"],
  [orchestrator, [...pod, "initContainers", 0], "image"],
  [hosts, ["spec"], "selector"],
  [hosts, ["spec"], "template"],
  [hosts, [...first, "env", 2, "valueFrom", "fieldRef"], "fieldPath"],
  ["Service reprise-console", ["spec", "ports", 0], "port"],
  [ingress, rule, "paths"],
  [ingress, route, "pathType"],
  [ingress, route, "backend"],
  [ingress, [...route, "backend", "service"], "name"],
  ["NetworkPolicy hosts-to-internet", ["spec", "egress", 0, "to", 0, "ipBlock"], "cidr"]
]

/** Of production that scales by a metric. */
export const scalingOmissions: ReadonlyArray<Omission> = [
  ...["scaleTargetRef", "triggers"].map((field): Omission => ["ScaledObject reprise-gate", ["spec"], field]),
  ["ScaledObject reprise-gate", ["spec", "scaleTargetRef"], "name"],
  ...["type", "metadata"].map((field): Omission => ["ScaledObject reprise-gate", ["spec", "triggers", 0], field])
]

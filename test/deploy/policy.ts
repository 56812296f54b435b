/** A promise of the manifests, and ways to state one. Pure. */
import { at, list, ofKind, title } from "./manifests.ts"

export type Manifests = ReadonlyArray<unknown>

export interface Policy {
  readonly rule: string
  /** A sentence for each violation. */
  readonly check: (manifests: Manifests) => ReadonlyArray<string>
}

export const workloadsOf = (manifests: Manifests) =>
  ofKind(manifests, "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")
export const podOf = (workload: unknown) => at(workload, "spec", "template", "spec")
export const labelsOf = (workload: unknown) => at(workload, "spec", "template", "metadata", "labels")
export const volumesOf = (workload: unknown) => list(at(podOf(workload), "volumes"))
/** The containers that go on once those that prepare the pod have ended. */
export const lastingOf = (workload: unknown) => list(at(podOf(workload), "containers"))
export const containersOf = (workload: unknown) => [
  ...list(at(podOf(workload), "initContainers")),
  ...lastingOf(workload)
]

export const workload = (rule: string, isKept: (workload: unknown, all: Manifests) => boolean): Policy => ({
  rule,
  check: (manifests) =>
    workloadsOf(manifests).flatMap((one) => (isKept(one, manifests) ? [] : [`${title(one)}: ${rule}`]))
})

const ofContainers =
  (partsOf: (workload: unknown) => ReadonlyArray<unknown>) =>
  (rule: string, isKept: (container: unknown) => boolean): Policy => ({
    rule,
    check: (manifests) =>
      workloadsOf(manifests).flatMap((one) =>
        partsOf(one).flatMap((part) => (isKept(part) ? [] : [`${title(one)}, container ${at(part, "name")}: ${rule}`]))
      )
  })

export const container = ofContainers(containersOf)
/** What ends before the others begin is not asked how it is. */
export const lasting = ofContainers(lastingOf)

/** For what there is once: the sentence is the rule's. */
export const holds = (rule: string, isKept: (manifests: Manifests) => boolean): Policy => ({
  rule,
  check: (manifests) => (isKept(manifests) ? [] : [rule])
})

export const isSet = (value: unknown): boolean => typeof value === "string" && value !== ""

/** Whether a selector by labels picks the pods of a workload, and does not pick every pod. */
export const picks = (selector: unknown, one: unknown): boolean => {
  const wanted = Object.entries(Object(at(selector, "matchLabels")))
  return wanted.length > 0 && wanted.every(([name, value]) => at(labelsOf(one), name) === value)
}

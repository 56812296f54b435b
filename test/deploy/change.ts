/** Changes of manifests, each to a copy. Pure. */
import { at, title } from "./manifests.ts"
import type { Manifests } from "./policy.ts"

export type Mutation = (manifests: Manifests) => Manifests
/** By the rule that each of them breaks. */
export type Mutations = Readonly<Record<string, ReadonlyArray<Mutation>>>

type Change = (value: Record<string, unknown>) => void

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Changes the object at a path of the manifest with this title. */
export const change =
  (name: string, path: ReadonlyArray<string | number>, edit: Change): Mutation =>
  (manifests) => {
    const copy = structuredClone(manifests)
    const target = at(
      copy.find((one) => title(one) === name),
      ...path
    )
    if (!isTable(target)) throw new Error(`${name} has no object at ${path.join(".")}`)
    edit(target)
    return copy
  }

export const set =
  (field: string, value: unknown): Change =>
  (target) => {
    target[field] = value
  }

export const without =
  (field: string): Change =>
  (target) => {
    if (!Object.hasOwn(target, field)) throw new Error(`there is no ${field}`)
    delete target[field]
  }

export const pod = ["spec", "template", "spec"] as const
export const first = [...pod, "containers", 0] as const
export const gate = "Deployment reprise-gate"

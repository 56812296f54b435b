/** Finds fields that Kubernetes requires and a manifest does not have. Pure. */
import type { Field, StructOf } from "./goStructs.ts"
import { at } from "./manifests.ts"

/** What the server asks for, too, though its schema does not, so that others may fill it in before. */
const alsoRequired: ReadonlyMap<string, string> = new Map([["core/v1.Container", "image"]])

/** `apps/v1 Deployment` is `apps/v1.Deployment`, and `networking.k8s.io/v1 Ingress` is `networking/v1.Ingress`. */
const structNameOf = (manifest: unknown): string => {
  const [version = "", group = "core"] = String(at(manifest, "apiVersion")).split("/").reverse()
  return `${group.split(".")[0]}/${version}.${at(manifest, "kind")}`
}

const partsOf = (value: unknown, shape: Field["shape"], path: string): ReadonlyArray<readonly [unknown, string]> => {
  if (shape === "list") return Array.isArray(value) ? value.map((one, index) => [one, `${path}[${index}]`]) : []
  if (shape === "table") return Object.entries(Object(value)).map(([key, one]) => [one, `${path}.${key}`])
  return [[value, path]]
}

const missingIn = (value: unknown, name: string, path: string, structOf: StructOf): ReadonlyArray<string> =>
  (structOf(name) ?? []).flatMap((field) => {
    const { shape, struct } = field
    if (field.name === "") return struct === undefined ? [] : missingIn(value, struct, path, structOf)
    const own = `${path}.${field.name}`
    const held = at(value, field.name) ?? undefined
    if (held === undefined && (field.isRequired || alsoRequired.get(name) === field.name)) return [`${own} is missing`]
    // The server makes a struct that is not a pointer in any case, and then misses what that requires. A status is its own.
    const isMade = shape === "value" && field.name !== "status"
    if (struct === undefined || (held === undefined && !isMade)) return []
    return partsOf(held ?? {}, shape, own).flatMap(([one, place]) => missingIn(one, struct, place, structOf))
  })

/** A sentence for each field that is missing. What a kind that nobody knows requires is not known. */
export const missingFields = (manifest: unknown, structOf: StructOf): ReadonlyArray<string> => {
  const kind = String(at(manifest, "kind"))
  const named = at(manifest, "metadata", "name") === undefined ? [`${kind}.metadata.name is missing`] : []
  return [...named, ...missingIn(manifest, structNameOf(manifest), kind, structOf)]
}

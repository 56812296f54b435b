/**
 * Finds fields that Kubernetes does not know, and values of another type, by the project's own round-trip data: a
 * sample of each kind with every field set. It knows neither what a field means nor whether it is required. Pure.
 */
import { at } from "./manifests.ts"

/** The sample of a kind; undefined: there is no such kind. */
export type SampleOf = (apiVersion: string, kind: string) => unknown

type Table = Readonly<Record<string, unknown>>

const isTable = (value: unknown): value is Table => typeof value === "object" && value !== null && !Array.isArray(value)

/** Fields whose values may be numbers or texts: ports, counts or percentages, quantities. */
const eitherType =
  /^(port|targetPort|maxUnavailable|minAvailable|maxSurge|cpu|memory|storage|sizeLimit|divisor|creationTimestamp)$/

interface Place {
  readonly path: string
  /** The name of the field. */
  readonly name: string
}

/** The sample of a table with free keys has one key, named after the field. */
const isFree = (sample: Table, { name }: Place): boolean =>
  Object.keys(sample).length === 1 && Object.hasOwn(sample, `${name}Key`)

const unknownIn = (value: unknown, sample: unknown, place: Place): ReadonlyArray<string> => {
  if (value === null || sample === null) return []
  if (Array.isArray(sample)) {
    if (!Array.isArray(value)) return [`${place.path} should be a list`]
    return value.flatMap((one, index) => unknownIn(one, sample[0], { ...place, path: `${place.path}[${index}]` }))
  }
  if (isTable(sample)) {
    if (!isTable(value)) return [`${place.path} should be an object`]
    const free = isFree(sample, place)
    return Object.entries(value).flatMap(([key, one]) => {
      const path = `${place.path}.${key}`
      if (free) return unknownIn(one, sample[`${place.name}Key`], { path, name: key })
      return Object.hasOwn(sample, key) ? unknownIn(one, sample[key], { path, name: key }) : [`${path} is unknown`]
    })
  }
  return typeof value === typeof sample || eitherType.test(place.name)
    ? []
    : [`${place.path} should be a ${typeof sample}, and is a ${typeof value}`]
}

/** A sentence for each mistake in a manifest. */
export const unknownFields = (manifest: unknown, sampleOf: SampleOf): ReadonlyArray<string> => {
  const [apiVersion, kind] = [String(at(manifest, "apiVersion")), String(at(manifest, "kind"))]
  const sample = sampleOf(apiVersion, kind)
  return sample === undefined
    ? [`${apiVersion} ${kind} is unknown`]
    : unknownIn(manifest, sample, { path: kind, name: kind })
}

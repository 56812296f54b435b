/** What a model gave a tool, as it is kept. A model may nest it deeper than anything that reads it can go. Pure. */
import type { Schema } from "effect"

/** No tool takes so many levels. */
const mostLevels = 50

const leftOut = `[Reprise left out what is nested deeper than ${mostLevels} levels]`

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const tableOf = (value: Readonly<Record<string, unknown>>, level: number): Record<string, Schema.Json> =>
  Object.fromEntries(Object.entries(value).map(([name, one]) => [name, jsonOf(one, level)]))

const jsonOf = (value: unknown, level: number): Schema.Json => {
  if (typeof value === "string" || typeof value === "boolean") return value
  if (typeof value === "number") return Number.isFinite(value) ? value : null
  if (level > mostLevels) return leftOut
  if (Array.isArray(value)) return value.map((one) => jsonOf(one, level + 1))
  return isTable(value) ? tableOf(value, level + 1) : null
}

/** Nothing where it is no table. */
export const toolInput = (value: unknown): Record<string, Schema.Json> => (isTable(value) ? tableOf(value, 1) : {})

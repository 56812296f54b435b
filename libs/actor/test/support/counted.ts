/** What this process has counted of itself. */
import { Context, Metric } from "effect"

/** Series of this name: their labels, and their number; of a histogram, of how many values and their sum. */
export const counted = (name: string): ReadonlyMap<string, number | readonly [number, number]> =>
  new Map(
    Metric.snapshotUnsafe(Context.empty()).flatMap(({ attributes, id, state }) => {
      if (id !== name) return []
      const labels = Object.entries(attributes ?? {}).map(([label, value]) => `${label}=${value}`)
      if ("buckets" in state) return [[labels.join(), [state.count, state.sum] as const] as const]
      return [[labels.join(), Number("value" in state ? state.value : "count" in state ? state.count : NaN)] as const]
    })
  )

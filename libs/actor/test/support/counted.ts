/** What this process has counted of itself. */
import { Context, Metric } from "effect"

/** The series of a metric: the value of each, by its labels. Of a histogram the value is how many there were, and their sum. */
export const counted = (name: string): ReadonlyMap<string, ReadonlyArray<number>> => {
  const series = Metric.snapshotUnsafe(Context.empty()).filter(({ id }) => id === name)
  return new Map(
    series.map(({ attributes, state }) => {
      const labels = Object.entries(attributes ?? {}).map(([label, value]) => `${label}=${value}`)
      const values = "sum" in state ? [state.count, state.sum] : "value" in state ? [state.value] : []
      return [labels.join(), "incremental" in state ? [Number(state.count)] : values.map(Number)]
    })
  )
}

/** Every metric, from the table that the services record by. */
import { metrics } from "../../libs/actor/src/metrics/metrics.ts"
import { code, generated, page, table } from "./markdown.ts"

/** One for all metrics whose label has the same values. */
const valueRows = (): ReadonlyArray<ReadonlyArray<string>> => {
  const rows = new Map<string, { readonly label: string; readonly values: string; readonly of: Array<string> }>()
  for (const [name, { labels }] of Object.entries(metrics)) {
    for (const [label, all] of Object.entries<ReadonlyArray<string>>(labels)) {
      const values = all.join(", ")
      const row = rows.get(`${label} ${values}`) ?? { label, values, of: [] }
      row.of.push(code(name))
      rows.set(`${label} ${values}`, row)
    }
  }
  return [...rows.values()].map(({ label, of, values }) => [code(label), of.join(", "), values])
}

export const metricsPage = (): string =>
  page([
    generated("`libs/actor/src/metrics/metrics.ts`"),
    "# Metrics",
    "What services measure of themselves, for Prometheus and for collectors of OpenTelemetry ([how to get them](../operations.md#metrics-and-traces)). Counters begin at 0 with each process. Labels hold no ids, and no words of people or agents.",
    table(
      ["metric", "kind", "labels", "what it tells"],
      Object.entries(metrics).map(([name, { help, kind, labels }]) => [
        code(name),
        kind,
        Object.keys(labels).map(code).join(", "),
        help
      ])
    ),
    "A label has no other values than these:",
    table(["label", "of", "values"], valueRows())
  ])

/** Every metric, from the table that the services record by. */
import { metrics } from "../../libs/actor/src/metrics/metrics.ts"
import { code, generated, page, table } from "./markdown.ts"

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
        labels.map(code).join(", "),
        help
      ])
    )
  ])

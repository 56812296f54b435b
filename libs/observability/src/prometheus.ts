/** The metrics of this process in the text format of Prometheus. */
import { Context } from "effect"
import { formatUnsafe } from "effect/observability/PrometheusMetrics"

export const formatMetrics = (): string => formatUnsafe(Context.empty())

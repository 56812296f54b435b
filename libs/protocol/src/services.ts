/** The five services, and the name of each one's actor in journal subjects. */
import { Schema } from "effect"

export const ServiceName = Schema.Literals(["orchestrator", "session-manager", "reviewer", "gate", "workspace"])
export type ServiceName = typeof ServiceName.Type

/** The runtime's kinds of failure in the words of the protocol. */
import type { AgentErrorKind } from "@reprise/agent"

export type ShownKind = "unauthorized" | "out_of_credits" | "rate_limited" | "no_internet" | "other"

const shown: ReadonlyArray<AgentErrorKind> = ["unauthorized", "out_of_credits", "rate_limited", "no_internet"]
const isShown = (kind: AgentErrorKind): kind is Exclude<ShownKind, "other"> & AgentErrorKind => shown.includes(kind)

export const failureKindOf = (kind: AgentErrorKind): ShownKind => (isShown(kind) ? kind : "other")

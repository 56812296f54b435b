/** What the workspace's reports about claims and records of completed tasks lead to. */
import { type Handlers, inPhase, onReport } from "../run/family.ts"
import { stateWritten } from "./checkpoint.ts"
import { claimsVerified } from "./claims.ts"
import { continuationRejected, continuationVerified } from "./continuation.ts"

export const checkpointHandlers = {
  ClaimsVerified: onReport(
    "VerifyClaims",
    inPhase((_run, phase, input) => claimsVerified(phase, input))
  ),
  ContinuationStateWritten: onReport("WriteContinuationState", inPhase(stateWritten)),
  ContinuationVerified: onReport(
    "VerifyContinuation",
    inPhase((_run, phase, input) => continuationVerified(phase, input))
  ),
  ContinuationRejected: onReport(
    "VerifyContinuation",
    inPhase((_run, _phase, input) => continuationRejected(input))
  )
} satisfies Partial<Handlers>

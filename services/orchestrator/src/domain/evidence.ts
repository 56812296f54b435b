/** What a human is shown with a question, as far as the run knows it (gate: What a question shows). */
import type { Evidence } from "@reprise/protocol"
import { currentTitle } from "./phases.ts"
import type { Run } from "./Run.ts"
import { allTokens, spentCost } from "./spent.ts"

export const evidenceOf = (run: Run, more: Evidence = {}): Evidence => {
  const { attempt, phase, planTitle, request } = run
  return {
    planPath: request.planPath,
    ...(planTitle === undefined ? {} : { planTitle }),
    ...(phase === undefined ? {} : { phaseTitle: currentTitle(run) }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(phase?.lastLines === undefined ? {} : { lastLines: phase.lastLines }),
    ...(phase === undefined ? {} : { base: phase.base }),
    ...(phase?.verified === undefined ? {} : { commit: phase.verified }),
    ...(phase?.diffStat === undefined ? {} : { diffStat: phase.diffStat }),
    tokens: allTokens(run),
    cost: spentCost(run),
    ...more
  }
}

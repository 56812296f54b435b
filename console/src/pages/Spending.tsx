/** What a run has used: by role, by phase, and what its continued sessions did not have to gather again. */
import type { ConsoleEvent, RunView } from "@reprise/protocol"
import { Suspense, useMemo, useState } from "react"
import { count, dollars, short, tokensText } from "../data/format.ts"
import { hasCost, keptOf, type PhaseSpending, spendingOf } from "../data/spending.ts"
import type { PhaseEntry } from "../data/timeline.ts"
import { loadedLater } from "../parts/loadedLater.ts"
import { Loading } from "../parts/Notice.tsx"
import { Select } from "../parts/Select.tsx"
import type { Measure } from "./SpendingChart.tsx"

const SpendingChart = loadedLater(() => import("./SpendingChart.tsx"))

const roleRow = (role: string, { cost, tokens, turns }: RunView["usage"]["author"]) => (
  <tr key={role}>
    <th className="pr-4 text-left font-normal" scope="row">
      {role}
    </th>
    <td className="pr-4 whitespace-nowrap">{count(turns, "turn")}</td>
    <td className="pr-4">{tokensText(tokens)}</td>
    <td>{cost > 0 ? dollars(cost) : ""}</td>
  </tr>
)

const cellOf = (tokens: number, cost: number, withCost: boolean): string =>
  withCost ? `${short(tokens)}, ${dollars(cost)}` : short(tokens)

function ByPhase({ phases, withCost }: { readonly phases: ReadonlyArray<PhaseSpending>; readonly withCost: boolean }) {
  return (
    <table className="text-sm">
      <caption className="sr-only">Tokens{withCost && " and cost"} by phase and role</caption>
      <thead className="text-soft">
        <tr>
          {["Phase", "Author", "Reviewer"].map((name) => (
            <th className="pr-6 text-left font-normal" key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {phases.map(({ authorCost, authorTokens, phase, reviewerCost, reviewerTokens }) => (
          <tr key={phase}>
            <th className="pr-6 text-left font-normal" scope="row">
              {phase}
            </th>
            <td className="pr-6">{cellOf(authorTokens, authorCost, withCost)}</td>
            <td className="pr-6">{cellOf(reviewerTokens, reviewerCost, withCost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const measures: ReadonlyArray<readonly [Measure, string]> = [
  ["tokens", "Tokens"],
  ["cost", "Cost"]
]

interface Props {
  readonly run: RunView
  readonly story: ReadonlyArray<ConsoleEvent>
  readonly timeline: ReadonlyArray<PhaseEntry>
}

export function Spending({ run, story, timeline }: Props) {
  const [measure, setMeasure] = useState<Measure>("tokens")
  const phases = useMemo(() => spendingOf(timeline), [timeline])
  const kept = useMemo(() => keptOf(story), [story])
  const withCost = hasCost(run.usage)
  return (
    <section aria-label="Tokens and cost" className="card space-y-3 px-4 py-3">
      <table className="text-sm">
        <caption className="sr-only">Tokens and cost by role</caption>
        <tbody>
          {roleRow("Author", run.usage.author)}
          {roleRow("Reviewer", run.usage.reviewer)}
          {run.usage.fixer !== undefined && roleRow("Fixer", run.usage.fixer)}
        </tbody>
      </table>
      {kept.turns > 0 && (
        <p className="text-sm">
          {count(kept.turns, "turn")} reused a session
          {kept.tokens > 0 && <> and saved about {short(kept.tokens)} tokens of context</>}.
        </p>
      )}
      {phases.length > 0 && (
        <details>
          <summary className="text-strong font-medium">By phase</summary>
          <div className="mt-2 space-y-2">
            {withCost && <Select label="Show" onChange={setMeasure} options={measures} value={measure} />}
            <Suspense fallback={<Loading what="the chart" />}>
              <SpendingChart measure={measure} phases={phases} />
            </Suspense>
            <p className="text-soft text-sm">Without tokens that came from a cache.</p>
            <ByPhase phases={phases} withCost={withCost} />
          </div>
        </details>
      )}
    </section>
  )
}

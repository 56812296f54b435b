/** Tokens, or cost, of each phase by role. Recharts is large, so this file is loaded when it is first shown. */
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts"
import { dollars, short } from "../data/format.ts"
import type { PhaseSpending } from "../data/spending.ts"

export type Measure = "tokens" | "cost"

const textOf = (measure: Measure) => (value: unknown) =>
  measure === "tokens" ? short(Number(value)) : dollars(Number(value))

interface Props {
  readonly measure: Measure
  readonly phases: ReadonlyArray<PhaseSpending>
}

export default function SpendingChart({ measure, phases }: Props) {
  const text = textOf(measure)
  const [author, reviewer] =
    measure === "tokens" ? (["authorTokens", "reviewerTokens"] as const) : (["authorCost", "reviewerCost"] as const)
  return (
    // The table beside it has the same figures for those who cannot see it.
    <div aria-hidden="true" className="h-56 w-full text-xs">
      <ResponsiveContainer>
        <BarChart accessibilityLayer={false} data={[...phases]} margin={{ top: 4, right: 0, bottom: 0, left: 0 }}>
          <CartesianGrid stroke="var(--color-line)" vertical={false} />
          <XAxis dataKey="phase" stroke="var(--color-soft)" tickFormatter={(id) => `Phase ${id}`} tickLine={false} />
          <YAxis stroke="var(--color-soft)" tickFormatter={text} tickLine={false} width={56} />
          <Tooltip
            contentStyle={{ background: "var(--color-card)", borderColor: "var(--color-line)" }}
            cursor={{ fill: "var(--color-well)" }}
            formatter={text}
            labelFormatter={(id) => `Phase ${id}`}
          />
          <Legend iconType="square" />
          <Bar
            dataKey={author}
            fill="var(--color-accent)"
            isAnimationActive={false}
            maxBarSize={48}
            name="Author"
            stackId="a"
          />
          <Bar
            dataKey={reviewer}
            fill="var(--color-warn)"
            isAnimationActive={false}
            maxBarSize={48}
            name="Reviewer"
            stackId="a"
          />
        </BarChart>
      </ResponsiveContainer>
    </div>
  )
}

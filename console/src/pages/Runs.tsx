/** All runs, newest first. */
import type { RunView } from "@reprise/protocol"
import { uncachedTokens } from "@reprise/protocol"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ago, dollars, short, shortened, statusText, stepText } from "../data/format.ts"
import { runsQuery } from "../data/queries.ts"
import { usedInAll } from "../data/spending.ts"
import { useNow } from "../parts/clock.ts"
import { Heading } from "../parts/Heading.tsx"
import { Empty, Failed, Loading, Tag, type Tone } from "../parts/Notice.tsx"
import { useMayAnswer, useSession } from "../parts/session.tsx"
import { useTitle } from "../parts/title.ts"
import { visible } from "../parts/visible.ts"

const tones: Record<RunView["status"], Tone> = {
  running: "accent",
  waiting: "warn",
  paused: "soft",
  completed: "good",
  failed: "bad",
  aborted: "bad"
}

export function Status({ run }: { readonly run: RunView }) {
  return <Tag tone={tones[run.status]}>{statusText(run)}</Tag>
}

const isDone = ({ state }: RunView["phases"][number]): boolean =>
  state === "completed" || state === "overridden" || state === "done-before"

function Row({ run }: { readonly run: RunView }) {
  const now = useNow()
  const used = usedInAll(run.usage)
  const done = run.phases.filter(isDone).length
  return (
    <li className="card">
      <Link className="hover:bg-well block rounded-lg px-4 py-3" params={{ id: run.runId }} to="/runs/$id">
        <span className="flex flex-wrap items-baseline justify-between gap-x-3">
          <span className="text-strong font-medium">{visible(run.planTitle ?? run.planPath)}</span>
          <Status run={run} />
        </span>
        <span className="text-soft flex flex-wrap gap-x-3 text-sm">
          <span>
            {done} of {run.phases.length} phases
          </span>
          {run.step !== undefined && run.status !== "completed" && (
            <span>
              Phase {run.phase}: {stepText(run.step)}
            </span>
          )}
          <span>
            {short(uncachedTokens(used.tokens))} tokens{used.cost > 0 && `, ${dollars(used.cost)}`}
          </span>
          <time dateTime={run.updatedAt}>{ago(run.updatedAt, now)}</time>
        </span>
        {run.reason !== undefined && run.status !== "completed" && (
          <span className="text-text mt-1 line-clamp-2 text-sm">{visible(shortened(run.reason, 300))}</span>
        )}
      </Link>
    </li>
  )
}

function StartLink() {
  const mayAnswer = useMayAnswer()
  const { hasRepository } = useSession()
  if (!mayAnswer || !hasRepository) return null
  return (
    <Link
      className="bg-accent text-on-accent inline-flex min-h-11 items-center rounded-md px-4 font-medium"
      to="/start"
    >
      Start a run
    </Link>
  )
}

export function Runs() {
  const { data, error } = useQuery(runsQuery)
  useTitle("Runs")
  if (error !== null && data === undefined) return <Failed error={error} what="The runs cannot be shown" />
  if (data === undefined) return <Loading what="the runs" />
  if (data.length === 0) {
    return (
      <Empty title="No runs yet">
        <p className="mb-4">
          A run takes a plan through coding agents, phase by phase. In a terminal: <code>reprise run PLAN.md</code>
        </p>
        <StartLink />
      </Empty>
    )
  }
  return (
    <div className="mx-auto max-w-5xl">
      <div className="mb-3 flex items-center justify-between gap-3">
        <Heading className="text-lg">Runs</Heading>
        <StartLink />
      </div>
      <ul className="space-y-2">
        {data.map((run) => (
          <Row key={run.runId} run={run} />
        ))}
      </ul>
    </div>
  )
}

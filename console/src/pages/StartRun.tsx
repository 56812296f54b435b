/** Starts a run: a plan of the repository, the options of `reprise run`, and what the run would do. */
import type { ConsolePlan, ConsoleRunRequest } from "@reprise/protocol"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Suspense, useState } from "react"
import { ApiFailure, newCommandId } from "../data/api.ts"
import { count } from "../data/format.ts"
import { dryRunQuery, plansQuery, sendStart } from "../data/queries.ts"
import { Heading } from "../parts/Heading.tsx"
import { loadedLater } from "../parts/loadedLater.ts"
import { Empty, Failed, Loading } from "../parts/Notice.tsx"
import { Select } from "../parts/Select.tsx"
import { ForAnswerers, useMayAnswer } from "../parts/session.tsx"
import { useTitle } from "../parts/title.ts"
import { visible } from "../parts/visible.ts"

const LongText = loadedLater(() => import("../parts/LongText.tsx"))

type Switch = "auto" | "worktree" | "allowDirty" | "skipQuality"
const switches: ReadonlyArray<readonly [Switch, name: string, meaning: string]> = [
  ["auto", "Unattended (--auto)", "Asks only when it must; retries failures."],
  ["worktree", "In a worktree (--worktree)", "The run gets its own working tree; yours stays free."],
  ["allowDirty", "Allow uncommitted files (--allow-dirty)", "The run starts despite uncommitted changes."],
  ["skipQuality", "Without quality gates (--skip-quality)", "Quality gates are not run."]
]

const left = ({ phases }: ConsolePlan): number => phases.filter(({ done }) => !done).length
const aboutPlan = (plan: ConsolePlan): string =>
  plan.problem ??
  (left(plan) === 0 ? "Nothing left to do" : `${left(plan)} of ${count(plan.phases.length, "phase")} to do`)

interface PlansProps {
  readonly plans: ReadonlyArray<ConsolePlan>
  readonly chosen: string | undefined
  readonly onChoose: (path: string) => void
}

function Plans({ chosen, onChoose, plans }: PlansProps) {
  const [filter, setFilter] = useState("")
  const wanted = filter.toLowerCase()
  const shown = plans.filter(({ path, title = "" }) => `${path} ${title}`.toLowerCase().includes(wanted))
  return (
    <fieldset className="card px-4 py-3">
      <legend className="text-strong px-1 font-semibold">Plan</legend>
      {plans.length > 8 && (
        <input
          aria-label="Find a plan"
          className="border-line bg-page text-strong mb-2 min-h-11 w-full rounded-md border px-3"
          onChange={({ target }) => setFilter(target.value)}
          placeholder="Find a plan"
          type="search"
          value={filter}
        />
      )}
      <div className="max-h-[40vh] overflow-y-auto">
        {shown.map((plan) => (
          <label className="flex min-h-11 items-baseline gap-3 py-1.5" key={plan.path}>
            <input
              checked={plan.path === chosen}
              disabled={plan.problem !== undefined}
              name="plan"
              onChange={() => onChoose(plan.path)}
              type="radio"
            />
            <span className="min-w-0">
              <span className="text-strong font-medium">{visible(plan.title ?? plan.path)}</span>
              <span className="text-soft block text-sm">
                {visible(plan.path)} · {visible(aboutPlan(plan))}
              </span>
            </span>
          </label>
        ))}
        {shown.length === 0 && <p className="text-soft">There is no such plan.</p>}
      </div>
    </fieldset>
  )
}

const firstOpen = "" as const

interface OptionsProps {
  readonly plan: ConsolePlan
  readonly wanted: ConsoleRunRequest
  readonly onChange: (wanted: ConsoleRunRequest) => void
}

function Options({ onChange, plan, wanted }: OptionsProps) {
  const { phase, ...rest } = wanted
  return (
    <fieldset className="card space-y-1 px-4 py-3">
      <legend className="text-strong px-1 font-semibold">Options</legend>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span>Begin with</span>
        <Select
          label="Begin with phase"
          onChange={(id) => onChange(id === firstOpen ? rest : { ...rest, phase: id })}
          options={[
            [firstOpen, "the first open phase"],
            ...plan.phases.map(({ id, title }) => [id, `${id}. ${visible(title)}`] as const)
          ]}
          value={phase ?? firstOpen}
        />
      </div>
      {switches.map(([name, title, meaning]) => (
        <label className="flex min-h-11 items-baseline gap-3 py-1" key={name}>
          <input
            checked={wanted[name]}
            onChange={({ target }) => onChange({ ...wanted, [name]: target.checked })}
            type="checkbox"
          />
          <span>
            <span className="text-strong font-medium">{title}</span>
            <span className="text-soft block text-sm">{meaning}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** The button is there only when everything that a run needs was found. */
function Start({ wanted }: { readonly wanted: ConsoleRunRequest }) {
  const navigate = useNavigate()
  const dryRun = useQuery(dryRunQuery(wanted))
  // Sent again without an answer, the request starts nothing twice; one that was refused is another one the next time.
  const [commandId, setCommandId] = useState(newCommandId)
  const start = useMutation({
    mutationFn: () => sendStart("runs", { ...wanted, commandId }),
    onSuccess: ({ runId }) => navigate({ to: "/runs/$id", params: { id: runId } }),
    onError: (error) => {
      if (error instanceof ApiFailure && error.status === 422) setCommandId(newCommandId())
    }
  })
  if (dryRun.error !== null) return <Failed error={dryRun.error} what="This run cannot start" />
  if (dryRun.data === undefined) return <Loading what="what the run would do" />
  const { text, warnings } = dryRun.data
  return (
    <div className="space-y-4">
      {warnings.map((warning) => (
        <p className="border-warn bg-warn-tint text-text rounded-md border px-3 py-2 whitespace-pre-wrap" key={warning}>
          {visible(warning)}
        </p>
      ))}
      {start.error !== null && <Failed error={start.error} what="The run did not start" />}
      <button
        className="bg-accent text-on-accent min-h-11 rounded-md px-5 font-medium disabled:opacity-60"
        disabled={start.isPending || start.isSuccess}
        onClick={() => start.mutate()}
        type="button"
      >
        {start.isPending ? "Starting…" : "Start the run"}
      </button>
      <details>
        <summary className="text-strong font-medium">What it would do, with the exact first prompts</summary>
        <Suspense fallback={<Loading what="the text" />}>
          <LongText label="What the run would do" text={text} />
        </Suspense>
      </details>
    </div>
  )
}

export function StartRun() {
  useTitle("Start a run")
  return useMayAnswer() ? <PlanChoice /> : <ForAnswerers what="Only answerers can start runs." />
}

function PlanChoice() {
  const { data: plans, error } = useQuery(plansQuery)
  const [wanted, setWanted] = useState<ConsoleRunRequest>()
  if (error !== null) return <Failed error={error} what="The plans cannot be shown" />
  if (plans === undefined) return <Loading what="the plans" />
  if (plans.length === 0) {
    return (
      <Empty title="This repository has no plan yet">
        <p>
          A plan is a markdown file with phases. <code>reprise init --plan</code> writes a sample.
        </p>
      </Empty>
    )
  }
  const plan = plans.find(({ path }) => path === wanted?.plan)
  const choose = (path: string) =>
    setWanted({ plan: path, auto: false, worktree: false, allowDirty: false, skipQuality: false })
  return (
    <div className="mx-auto max-w-3xl space-y-4">
      <Heading className="text-xl">Start a run</Heading>
      <Plans chosen={wanted?.plan} onChoose={choose} plans={plans} />
      {wanted !== undefined && plan !== undefined && (
        <>
          <Options onChange={setWanted} plan={plan} wanted={wanted} />
          <Start key={JSON.stringify(wanted)} wanted={wanted} />
        </>
      )}
    </div>
  )
}

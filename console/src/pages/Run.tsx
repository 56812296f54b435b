/** One run: where it stands, what can be done with it, and its timeline. */
import { type ConsoleEvent, type RunView, type SessionView, stepAgentText } from "@reprise/protocol"
import { useMutation, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { newCommandId } from "../data/api.ts"
import { ago, count, dollars, shortened, span, stepText, tokensText } from "../data/format.ts"
import { runQuery, sendCommand, sessionsQuery, storyQuery } from "../data/queries.ts"
import { type PhaseEntry, type StepEntry, timelineOf, workedMs } from "../data/timeline.ts"
import { useNow } from "../parts/clock.ts"
import { Heading } from "../parts/Heading.tsx"
import { Failed, Loading, Tag } from "../parts/Notice.tsx"
import { ForAnswerers, useMayAnswer } from "../parts/session.tsx"
import { useTitle } from "../parts/title.ts"
import { visible } from "../parts/visible.ts"
import { LiveOutput } from "./LiveOutput.tsx"
import { Status } from "./Runs.tsx"
import { Spending } from "./Spending.tsx"

const button = "border-line bg-card text-strong min-h-11 rounded-md border px-4 font-medium disabled:opacity-60"

type Control = "pause" | "resume" | "abort"
const controlsOf = ({ status }: RunView): ReadonlyArray<Control> => {
  switch (status) {
    case "running":
      return ["pause", "abort"]
    case "waiting":
      return ["abort"]
    case "paused":
      return ["resume", "abort"]
    default:
      return []
  }
}
const names: Record<Control, string> = { pause: "Pause", resume: "Resume", abort: "Abort" }

function Controls({ run }: { readonly run: RunView }) {
  const [isAsking, setAsking] = useState(false)
  const { data, error, isPending, mutate, variables } = useMutation({
    mutationFn: (control: Control) => sendCommand(`runs/${run.runId}/${control}`, { commandId: newCommandId() })
  })
  const mayAnswer = useMayAnswer()
  const controls = controlsOf(run)
  if (controls.length === 0) return null
  if (!mayAnswer) return <ForAnswerers what="Only answerers can pause, resume and abort runs." />
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap gap-2">
        {isAsking ? (
          <>
            <p className="text-strong self-center">Abort this run for good? Its work is kept.</p>
            <button
              className={`${button} text-bad`}
              onClick={() => {
                setAsking(false)
                mutate("abort")
              }}
              type="button"
            >
              Abort the run
            </button>
            <button className={button} onClick={() => setAsking(false)} type="button">
              Keep it
            </button>
          </>
        ) : (
          controls.map((control) => (
            <button
              className={button}
              disabled={isPending}
              key={control}
              onClick={() => (control === "abort" ? setAsking(true) : mutate(control))}
              type="button"
            >
              {names[control]}
            </button>
          ))
        )}
      </div>
      {error !== null && <Failed error={error} what="That was not done" />}
      {data?.state === "pending" && variables === "pause" && (
        <p className="text-soft" role="status">
          The run pauses after its current turn.
        </p>
      )}
    </div>
  )
}

function Waits({ step }: { readonly step: StepEntry }) {
  const now = useNow()
  return step.waits.map(({ escalationId, from, until }) => (
    <p className="text-sm" key={escalationId}>
      <Link className="text-accent underline" params={{ id: escalationId }} to="/questions/$id">
        {until === undefined ? "Waits for you" : "Waited for a human"}
      </Link>{" "}
      <span className="text-soft">{span((until === undefined ? now : Date.parse(until)) - Date.parse(from))}</span>
    </p>
  ))
}

function Step({ step }: { readonly step: StepEntry }) {
  const now = useNow()
  const { agent, attempt, endedAt, events, session, sessions, usage } = step
  const lines = events.filter(({ isDetail }) => !isDetail)
  const isWaiting = step.waits.some(({ until }) => until === undefined)
  const mark = endedAt !== undefined ? "bg-good" : isWaiting ? "bg-warn" : "bg-accent"
  return (
    <li className="border-line relative ml-1.5 border-l pb-4 pl-5 last:pb-0">
      <span aria-hidden="true" className={`absolute top-1.5 -left-[5px] size-2.5 rounded-full ${mark}`} />
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h4 className="text-strong font-medium">
          {stepText(step.step)}
          {attempt > 1 && ` (attempt ${attempt})`}
        </h4>
        <span className="text-soft text-sm">
          {span(workedMs(step, now))}
          {usage.tokens.input + usage.tokens.output > 0 && ` · ${tokensText(usage.tokens)}`}
          {usage.cost > 0 && ` · ${dollars(usage.cost)}`}
          {endedAt === undefined && !isWaiting && " · now"}
        </span>
      </div>
      {agent !== undefined && (
        <p className="text-soft text-sm first-letter:uppercase">{visible(stepAgentText(agent))}</p>
      )}
      {session !== undefined && (
        <p className="text-soft text-sm">
          {session.choice === "continue" ? "Continues its session" : "New session"}: {visible(session.why)}
        </p>
      )}
      <Waits step={step} />
      {sessions.length > 0 && (
        <p className="text-sm">
          {sessions.map((id) => (
            <Link className="text-accent mr-3 underline" key={id} params={{ id }} to="/sessions/$id">
              {id}
            </Link>
          ))}
        </p>
      )}
      {lines.length > 0 && (
        <details className="text-sm">
          <summary className="text-soft">{count(lines.length, "event")}</summary>
          <ol className="mt-1 space-y-0.5">
            {lines.map(({ line, sequence, time }) => (
              <li className="flex gap-2" key={sequence}>
                <time className="text-soft shrink-0 font-mono text-xs leading-5" dateTime={time}>
                  {new Date(time).toLocaleTimeString()}
                </time>
                <span className="min-w-0 whitespace-pre-wrap">{line}</span>
              </li>
            ))}
          </ol>
        </details>
      )}
    </li>
  )
}

const phaseTones = {
  pending: "soft",
  running: "accent",
  waiting: "warn",
  completed: "good",
  overridden: "warn",
  "done-before": "soft"
} as const
const phaseWords = {
  pending: "To do",
  running: "Running",
  waiting: "Needs you",
  completed: "Done",
  overridden: "Overridden",
  "done-before": "Done before"
} as const

function Phase({ entry, run }: { readonly entry: PhaseEntry | undefined; readonly run: RunView["phases"][number] }) {
  const { commit, id, reviewCycles, state, title } = run
  return (
    <section aria-label={`Phase ${id}`} className="card px-4 py-3">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h3 className="text-base">
          {id}. {visible(title)}
        </h3>
        <span className="flex items-baseline gap-2 text-sm">
          {reviewCycles > 0 && <span className="text-soft">{count(reviewCycles, "review")}</span>}
          {commit !== undefined && <code className="text-soft text-xs">{commit.slice(0, 10)}</code>}
          <Tag tone={phaseTones[state]}>{phaseWords[state]}</Tag>
        </span>
      </div>
      {entry !== undefined && entry.steps.length > 0 && (
        <ol className="mt-3">
          {entry.steps.map((step) => (
            <Step key={step.sequence} step={step} />
          ))}
        </ol>
      )}
    </section>
  )
}

function Sessions({ sessions }: { readonly sessions: ReadonlyArray<SessionView> }) {
  const now = useNow()
  if (sessions.length === 0) return null
  return (
    <section className="card px-4 py-3">
      <h2 className="text-base">Sessions</h2>
      <ul className="divide-line divide-y">
        {sessions.map(({ lastActivityAt, phase, role, sessionId, status, tokens, turns }) => (
          <li className="flex flex-wrap items-baseline gap-x-3 py-1.5 text-sm" key={sessionId}>
            <Link className="text-accent underline" params={{ id: sessionId }} to="/sessions/$id">
              {sessionId}
            </Link>
            <span>
              {role}
              {phase !== undefined && `, phase ${phase}`}
            </span>
            <span className="text-soft">
              {status}, {count(turns, "turn")}, {tokensText(tokens)}, {ago(lastActivityAt, now)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const noStory: ReadonlyArray<ConsoleEvent> = []

export function Run({ id }: { readonly id: string }) {
  const { data: run, error } = useQuery(runQuery(id))
  const story = useQuery(storyQuery(id))
  const { data: sessions = [] } = useQuery(sessionsQuery(id))
  const mayAnswer = useMayAnswer()
  const now = useNow()
  useTitle(`Run: ${visible(shortened(run?.planTitle ?? run?.planPath ?? id, 60))}`)
  if (error !== null && run === undefined) return <Failed error={error} what="The run cannot be shown" />
  if (run === undefined) return <Loading what="the run" />
  const timeline = timelineOf(story.data ?? noStory)
  const before = timeline.find((entry) => entry.id === undefined)
  return (
    <div className="mx-auto max-w-5xl space-y-4">
      <header className="space-y-2">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Heading className="text-xl">{visible(run.planTitle ?? run.planPath)}</Heading>
          <Status run={run} />
        </div>
        <p className="text-soft text-sm">
          {run.runId} · {visible(run.planPath)} · started {ago(run.startedAt, now)} ·{" "}
          {count(run.sessionsCreated, "session")}, continued {count(run.sessionsReused, "time")}
        </p>
        {run.reason !== undefined && run.status !== "completed" && <p>{visible(shortened(run.reason, 600))}</p>}
        <div className="flex flex-wrap gap-2">
          {run.escalationId !== undefined && (
            <Link
              className="bg-accent text-on-accent inline-flex min-h-11 items-center rounded-md px-4 font-medium"
              params={{ id: run.escalationId }}
              to="/questions/$id"
            >
              {mayAnswer ? "Answer its question" : "Show its question"}
            </Link>
          )}
          <Controls run={run} />
        </div>
      </header>
      <Spending run={run} story={story.data ?? noStory} timeline={timeline} />
      {run.status === "running" && <LiveOutput runId={run.runId} />}
      {story.error !== null && <Failed error={story.error} what="The timeline cannot be shown" />}
      <h2 className="text-base">Timeline</h2>
      {before !== undefined && before.steps.length > 0 && (
        <section aria-label="Before the first phase" className="card px-4 py-3">
          <ol>
            {before.steps.map((step) => (
              <Step key={step.sequence} step={step} />
            ))}
          </ol>
        </section>
      )}
      {run.phases.map((phase) => (
        <Phase entry={timeline.find((entry) => entry.id === phase.id)} key={phase.id} run={phase} />
      ))}
      <Sessions sessions={sessions} />
    </div>
  )
}

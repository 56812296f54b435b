/** One question on one screen: why it is asked, the evidence, and the answer. */
import { type EscalationView, type GateResult, gateOutput, type Item, isStandalone } from "@reprise/protocol"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef } from "react"
import { AnswerForm } from "../answer/AnswerForm.tsx"
import { usePending } from "../answer/PendingAnswers.tsx"
import { draftOf } from "../answer/pending.ts"
import { ago, closingText, dollars, originText, placeText, tokensText } from "../data/format.ts"
import { AgentText } from "../parts/AgentText.tsx"
import { announce } from "../parts/announce.tsx"
import { useNow } from "../parts/clock.ts"
import { Heading } from "../parts/Heading.tsx"
import { Tag, type Tone } from "../parts/Notice.tsx"
import { ForAnswerers, useMayAnswer } from "../parts/session.tsx"
import { visible } from "../parts/visible.ts"
import { Evidence } from "./Evidence.tsx"
import { StepIn } from "./StepIn.tsx"
import { sessionsOf } from "./sessionsOf.ts"

function Part({ children, title }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="space-y-1">
      <h3 className="text-soft text-sm font-medium">{title}</h3>
      {children}
    </section>
  )
}

const priorities: Record<Item["priority"], Tone> = { P0: "bad", P1: "warn", P2: "soft" }

function Items({ items }: { readonly items: ReadonlyArray<Item> }) {
  return (
    <ul className="space-y-2">
      {items.map(({ action, id, priority, reason, title }) => (
        <li className="flex items-start gap-2" key={id}>
          <Tag tone={priorities[priority]}>{priority}</Tag>
          <div className="min-w-0">
            <p className="text-strong">
              {visible(title)} {action === "human_required" && <Tag tone="accent">yours to decide</Tag>}
            </p>
            {reason !== "" && <p className="text-soft text-sm">{visible(reason)}</p>}
          </div>
        </li>
      ))}
    </ul>
  )
}

const endOf = ({ exitCode, timedOut }: GateResult): string => {
  if (timedOut) return "timed out"
  return exitCode === null ? "could not run" : `exit code ${exitCode}`
}

const shownLines = 15

/** The reason for a failure is usually at the end; the whole log is below. */
const lastLines = (result: GateResult): string => {
  const output = result.overlap === undefined && result.tail !== "" ? result.tail : gateOutput(result)
  return output.trimEnd().split("\n").slice(-shownLines).join("\n")
}

const isFailed = ({ exitCode, timedOut }: GateResult): boolean => exitCode !== 0 || timedOut

function FailedGates({ results }: { readonly results: ReadonlyArray<GateResult> }) {
  return (
    <ul className="space-y-2">
      {results.map((result) => (
        <li key={`${result.command} ${result.logRef}`}>
          <p className="text-strong font-mono text-[13px]">
            {visible(result.command)} <span className="text-bad">{endOf(result)}</span>
          </p>
          <pre
            className="border-line bg-well max-h-80 overflow-auto rounded-md border px-3 py-2 font-mono text-[13px] leading-5 whitespace-pre-wrap"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
            tabIndex={0}
          >
            {visible(lastLines(result)) || "(no output)"}
          </pre>
        </li>
      ))}
    </ul>
  )
}

function Checkpoint({
  checkpoint,
  reason
}: {
  checkpoint: NonNullable<EscalationView["evidence"]["checkpoint"]>
  reason: string
}) {
  const { description, requiredAction, task, type, verifySteps } = checkpoint
  return (
    <Part title={`Checkpoint at task ${visible(task)} (${type})`}>
      {description !== reason && <AgentText text={description} />}
      {requiredAction !== undefined && <AgentText text={requiredAction} />}
      {verifySteps !== undefined && verifySteps.length > 0 && (
        <ol className="list-decimal space-y-1 pl-5">
          {verifySteps.map((step) => (
            <li key={step}>{visible(step)}</li>
          ))}
        </ol>
      )}
    </Part>
  )
}

/** ` 3 files changed, 10 insertions(+)` */
const lastLineOf = (text: string): string => text.trimEnd().split("\n").at(-1)?.trim() ?? ""

function Facts({ question }: { readonly question: EscalationView }) {
  const now = useNow()
  const { evidence, runId } = question
  const { commit, context, cost, diffStat, dirty, idleSince, missingCommits, missingFiles, tokens } = evidence
  const sessions = sessionsOf(question)
  const rows: ReadonlyArray<readonly [string, ReactNode]> = [
    [
      "Run",
      !isStandalone(question) && (
        <Link className="text-accent underline" key="run" params={{ id: runId }} to="/runs/$id">
          {runId}
        </Link>
      )
    ],
    ...sessions.map(
      ({ id, title }) =>
        [
          title,
          <Link className="text-accent underline" key={id} params={{ id }} to="/sessions/$id">
            {id}
          </Link>
        ] as const
    ),
    ["Idle", idleSince !== undefined && ago(idleSince, now)],
    [
      "Context",
      context?.limit !== undefined &&
        context.limit > 0 &&
        `${Math.round((100 * context.tokens) / context.limit)} % full`
    ],
    [
      "Used so far",
      tokens !== undefined && `${tokensText(tokens)}${cost === undefined || cost === 0 ? "" : `, ${dollars(cost)}`}`
    ],
    [
      "Commit",
      commit !== undefined && (
        <span key="commit">
          <code>{commit.slice(0, 10)}</code>
          {diffStat !== undefined && `: ${visible(lastLineOf(diffStat))}`}
        </span>
      )
    ],
    ["Not committed", dirty !== undefined && dirty.length > 0 && dirty.map(visible).join(", ")],
    ["Missing commits", missingCommits !== undefined && missingCommits.length > 0 && missingCommits.join(", ")],
    ["Missing files", missingFiles !== undefined && missingFiles.length > 0 && missingFiles.map(visible).join(", ")],
    ["Step in", sessions.length > 0 && <StepIn key="attach" sessions={sessions} />]
  ]
  return (
    <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-1 text-sm">
      {rows.map(
        ([name, value]) =>
          value !== false && (
            <div className="contents" key={name}>
              <dt className="text-soft">{name}</dt>
              <dd className="min-w-0">{value}</dd>
            </div>
          )
      )}
    </dl>
  )
}

/** What was typed for a question that somebody else has closed is not lost. */
function Closed({ question }: { readonly question: EscalationView }) {
  const now = useNow()
  const text = closingText(question, now)
  const { guidance: draft } = draftOf(question.escalationId)
  if (text === undefined) return null
  return (
    <div className="border-warn bg-warn-tint mt-4 rounded-md border px-3 py-2">
      <p className="text-strong font-medium">{visible(text)}</p>
      {question.guidance !== undefined && (
        <blockquote className="mt-1 whitespace-pre-wrap">{visible(question.guidance)}</blockquote>
      )}
      {draft.trim() !== "" && draft !== question.guidance && (
        <p className="mt-2 text-sm">
          You had typed: <span className="whitespace-pre-wrap">{draft}</span>
        </p>
      )}
      <Link className="text-accent inline-flex min-h-9 items-center underline" to="/">
        To the open questions
      </Link>
    </div>
  )
}

/** Those who hear the page are told when the question that they look at is closed. */
const useClosing = (question: EscalationView): void => {
  const before = useRef(question.state)
  useEffect(() => {
    const wasOpen = before.current === "open"
    before.current = question.state
    const text = wasOpen ? closingText(question, Date.now()) : undefined
    if (text !== undefined) announce(visible(text))
  }, [question])
}

export function QuestionDetail({ onAnswered, question }: { question: EscalationView; onAnswered: () => void }) {
  const now = useNow()
  const isAnswering = usePending().some(
    (one) => one.question.escalationId === question.escalationId && one.state !== "failed"
  )
  const { escalationId, evidence, items = [], origin, raisedAt, reason, state } = question
  useClosing(question)
  const mayAnswer = useMayAnswer()
  const failed = (evidence.gateResults ?? []).filter(isFailed)
  const isOpen = state === "open"
  return (
    <article aria-labelledby="question" className="card px-4 pt-4 lg:px-6">
      <header className="space-y-1">
        <p className="text-soft flex flex-wrap items-center gap-x-2 text-sm">
          <Tag tone={isOpen ? "warn" : "soft"}>{originText(origin)}</Tag>
          <span>{visible(placeText(question))}</span>
          <time dateTime={raisedAt}>{ago(raisedAt, now)}</time>
        </p>
        <Heading className="sr-only" id="question" level={2}>
          Question {escalationId}: {originText(origin)}
        </Heading>
        <div className="text-strong text-lg">
          <AgentText text={reason} />
        </div>
      </header>
      <Closed question={question} />
      <div className="mt-4 space-y-5 pb-6">
        {evidence.checkpoint !== undefined && <Checkpoint checkpoint={evidence.checkpoint} reason={reason} />}
        {items.length > 0 && (
          <Part title="Findings">
            <Items items={items} />
          </Part>
        )}
        {failed.length > 0 && (
          <Part title="Failed quality gates">
            <FailedGates results={failed} />
          </Part>
        )}
        {evidence.lastLines !== undefined && evidence.lastLines.trim() !== reason.trim() && (
          <Part title="The agent's last words">
            <AgentText text={evidence.lastLines} />
          </Part>
        )}
        <Facts question={question} />
        <Evidence question={question} />
      </div>
      {isOpen && !mayAnswer && (
        <div className="pb-4">
          <ForAnswerers what="Only answerers can answer: sign in with the link that 'reprise up --web' prints." />
        </div>
      )}
      {isOpen && mayAnswer && !isAnswering && (
        <AnswerForm key={escalationId} onChosen={onAnswered} question={question} />
      )}
    </article>
  )
}

/** "Needs you": every open question, and one of them with its evidence. */
import type { EscalationView } from "@reprise/protocol"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useDeferredValue, useEffect, useState } from "react"
import { usePending } from "../answer/PendingAnswers.tsx"
import { questionQuery, questionsQuery } from "../data/queries.ts"
import { nextAfter, type Order, ordered } from "../data/questions.ts"
import { ago, originText, placeText } from "../data/words.ts"
import { useNow } from "../parts/clock.ts"
import { useKeys } from "../parts/keys.ts"
import { Empty, Failed, Loading } from "../parts/Notice.tsx"
import { Select } from "../parts/Select.tsx"
import { visible } from "../parts/visible.ts"
import { QuestionDetail } from "./QuestionDetail.tsx"

function Row({ isShown, question }: { readonly question: EscalationView; readonly isShown: boolean }) {
  const now = useNow()
  const { escalationId, origin, raisedAt, reason } = question
  return (
    <Link
      aria-current={isShown ? "page" : undefined}
      className={`block border-l-4 px-3 py-2.5 ${isShown ? "border-accent bg-tint" : "hover:bg-well border-transparent"}`}
      params={{ id: escalationId }}
      to="/questions/$id"
    >
      <span className="text-soft flex justify-between gap-2 text-xs">
        <span>{originText(origin)}</span>
        <time className="whitespace-nowrap" dateTime={raisedAt}>
          {ago(raisedAt, now)}
        </time>
      </span>
      <span className="text-strong line-clamp-2 font-medium">{visible(reason)}</span>
      <span className="text-soft block truncate text-xs">{visible(placeText(question))}</span>
    </Link>
  )
}

const orders: ReadonlyArray<readonly [Order, string]> = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["run", "By run"]
]

interface ListProps {
  readonly questions: ReadonlyArray<EscalationView>
  readonly shown: string | undefined
  readonly order: Order
  readonly onOrder: (order: Order) => void
}

/** What a tall screen shows. */
const firstRows = 40

/** There may be a thousand: the first are there at once, and the browser leaves out what is not seen. */
function List({ onOrder, order, questions, shown }: ListProps) {
  const rows = useDeferredValue(questions, questions.slice(0, firstRows))
  return (
    <section aria-label="Open questions" className="card overflow-hidden">
      <header className="border-line flex items-center justify-between gap-2 border-b px-3 py-1.5">
        <h2 className="text-sm">{questions.length} open</h2>
        <Select label="Order" onChange={onOrder} options={orders} value={order} />
      </header>
      <ul className="divide-line divide-y overflow-y-auto lg:max-h-[calc(100dvh-8rem)]">
        {rows.map((question) => (
          <li className="[contain-intrinsic-size:auto_5.75rem] [content-visibility:auto]" key={question.escalationId}>
            <Row isShown={question.escalationId === shown} question={question} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const isWide = () => matchMedia("(min-width: 1024px)").matches

function Detail({ id, onAnswered }: { readonly id: string; readonly onAnswered: () => void }) {
  const { data, error } = useQuery(questionQuery(id))
  if (error !== null && data === undefined) return <Failed error={error} what="The question cannot be shown" />
  if (data === undefined) return <Loading what="the question" />
  return <QuestionDetail key={id} onAnswered={onAnswered} question={data} />
}

export function NeedsYou({ id }: { readonly id?: string }) {
  const { data, error } = useQuery(questionsQuery)
  const navigate = useNavigate()
  const pending = usePending()
  const [order, setOrder] = useState<Order>("newest")
  const answering = new Set(
    pending.filter(({ state }) => state !== "failed").map(({ question }) => question.escalationId as string)
  )
  const questions = ordered(data ?? [], order).filter(({ escalationId }) => !answering.has(escalationId))
  const first = questions[0]?.escalationId
  const shown = id
  const open = (to: string | undefined) => {
    if (to === undefined) navigate({ to: "/" })
    else navigate({ to: "/questions/$id", params: { id: to } })
  }

  useKeys((key) => {
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[key]
    if (step === undefined || (key.startsWith("Arrow") && document.activeElement !== document.body)) return false
    const place = questions.findIndex(({ escalationId }) => escalationId === shown)
    const next = questions[Math.min(questions.length - 1, Math.max(0, place + step))]
    if (next !== undefined) open(next.escalationId)
    return true
  })

  // A wide screen shows one beside the list. It has its own address, so that it stays when somebody else answers it.
  useEffect(() => {
    if (id !== undefined || first === undefined || !isWide()) return
    navigate({ to: "/questions/$id", params: { id: first }, replace: true })
  }, [first, id, navigate])

  useEffect(() => {
    document.title = questions.length === 0 ? "Reprise" : `(${questions.length}) Reprise`
  }, [questions.length])

  const list = <List onOrder={setOrder} order={order} questions={questions} shown={shown} />
  const onAnswered = () => open(shown === undefined ? undefined : nextAfter(questions, shown)?.escalationId)

  if (error !== null && data === undefined) return <Failed error={error} what="The questions cannot be shown" />
  if (data === undefined) return <Loading what="the open questions" />
  if (questions.length === 0 && id === undefined) {
    return (
      <Empty title="Nothing needs you">
        <p>When an agent stops and asks, its question appears here by itself.</p>
      </Empty>
    )
  }
  return (
    <div className="lg:grid lg:grid-cols-[20rem_minmax(0,1fr)] lg:items-start lg:gap-4">
      <div className={`lg:sticky lg:top-[4.5rem] ${shown === undefined ? "" : "hidden lg:block"}`}>{list}</div>
      <div className={shown === undefined ? "hidden lg:block" : ""}>
        {shown !== undefined && (
          <>
            <Link className="text-accent mb-2 inline-flex min-h-11 items-center underline lg:hidden" to="/">
              ← All open questions ({questions.length})
            </Link>
            <Detail id={shown} key={shown} onAnswered={onAnswered} />
          </>
        )}
      </div>
    </div>
  )
}

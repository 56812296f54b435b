/** "Needs you": every open question, and one of them with its evidence. */
import { type EscalationView, gateAction, isStandalone, matchesFilter } from "@reprise/protocol"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { type RefObject, useDeferredValue, useEffect, useRef } from "react"
import { usePending } from "../answer/PendingAnswers.tsx"
import { ago, count, originText, placeText, shortened } from "../data/format.ts"
import { questionQuery, questionsQuery } from "../data/queries.ts"
import { byRun, nextAfter, type Order, ordered } from "../data/questions.ts"
import { useNow } from "../parts/clock.ts"
import { Heading } from "../parts/Heading.tsx"
import { useKeys } from "../parts/keys.ts"
import { Empty, Failed, Loading } from "../parts/Notice.tsx"
import { makeRememberedState } from "../parts/rememberedState.ts"
import { Select } from "../parts/Select.tsx"
import { useTitle } from "../parts/title.ts"
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
      <span className="text-strong line-clamp-2 font-medium">{visible(shortened(reason, 300))}</span>
      <span className="text-soft block truncate text-xs">{visible(placeText(question))}</span>
    </Link>
  )
}

const orders: ReadonlyArray<readonly [Order, string]> = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["run", "By run"]
]

const useOrder = makeRememberedState<Order>("newest")
const useFilter = makeRememberedState<string>("")

interface RowsProps {
  readonly questions: ReadonlyArray<EscalationView>
  readonly shown: string | undefined
}

function Rows({ questions, shown }: RowsProps) {
  return (
    <ul className="divide-line divide-y">
      {questions.map((question) => (
        <li className="[contain-intrinsic-size:auto_5.75rem] [content-visibility:auto]" key={question.escalationId}>
          <Row isShown={question.escalationId === shown} question={question} />
        </li>
      ))}
    </ul>
  )
}

const runTitle = ({ evidence, runId, ...question }: EscalationView): string =>
  isStandalone({ ...question, evidence, runId })
    ? `Session ${runId}`
    : `${evidence.planTitle ?? evidence.planPath ?? "Run"} · ${runId}`

function Groups({ questions, shown }: RowsProps) {
  return byRun(questions).map((group) => {
    const [first] = group
    return (
      <section key={first.runId}>
        <h3 className="border-line bg-well text-soft border-y px-3 py-1 text-xs font-medium">
          {visible(runTitle(first))}, {count(group.length, "question")}
        </h3>
        <Rows questions={group} shown={shown} />
      </section>
    )
  })
}

interface ListProps extends RowsProps {
  /** How many there are without the filter. */
  readonly open: number
  readonly order: Order
  readonly onOrder: (order: Order) => void
  readonly filter: string
  readonly onFilter: (filter: string) => void
  readonly box: RefObject<HTMLInputElement | null>
  readonly onEnter: () => void
}

/** What a tall screen shows. */
const firstRows = 40

/** There may be a thousand: the first are there at once, and the browser leaves out what is not seen. */
function List({ box, filter, onEnter, onFilter, onOrder, open, order, questions, shown }: ListProps) {
  const rows = useDeferredValue(questions, questions.slice(0, firstRows))
  return (
    <section aria-label="Open questions" className="card overflow-hidden">
      <header className="border-line border-b px-3 py-1.5">
        <div className="flex items-center justify-between gap-2">
          <h2 className="text-sm">{filter === "" ? `${open} open` : `${questions.length} of ${open} open`}</h2>
          <Select label="Order" onChange={onOrder} options={orders} value={order} />
        </div>
        {(open > 1 || filter !== "") && (
          <input
            aria-keyshortcuts="/"
            aria-label="Show only questions with this word"
            className="border-line bg-page text-strong mb-1 min-h-11 w-full rounded-md border px-3"
            onChange={({ target }) => onFilter(target.value)}
            onKeyDown={({ currentTarget, key }) => {
              if (key === "Escape") onFilter("")
              if (key === "Escape" || key === "Enter") currentTarget.blur()
              if (key === "Enter") onEnter()
            }}
            placeholder="Filter"
            ref={box}
            type="search"
            value={filter}
          />
        )}
      </header>
      <div className="overflow-y-auto lg:max-h-[calc(100dvh-11.5rem)]">
        {order === "run" ? <Groups questions={rows} shown={shown} /> : <Rows questions={rows} shown={shown} />}
        {questions.length === 0 && filter !== "" && (
          <p className="text-soft px-3 py-4">No question has this word in it.</p>
        )}
      </div>
    </section>
  )
}

/** How far one key scrolls. */
const lineHeight = 60

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
  const [order, setOrder] = useOrder()
  const [filter, setFilter] = useFilter()
  const box = useRef<HTMLInputElement>(null)
  const answering = new Set(
    pending.filter(({ state }) => state !== "failed").map(({ question }) => question.escalationId as string)
  )
  const open = ordered(data ?? [], order).filter(({ escalationId }) => !answering.has(escalationId))
  const questions = filter === "" ? open : open.filter((question) => matchesFilter(question, filter))
  const first = questions[0]?.escalationId
  const shown = id
  const show = (to: string | undefined) =>
    to === undefined ? navigate({ to: "/" }) : navigate({ to: "/questions/$id", params: { id: to } })

  const toFilter = async () => {
    // A telephone's screen has either the list or a question.
    if (box.current?.offsetParent === null) await navigate({ to: "/" })
    document.querySelector<HTMLInputElement>("[aria-keyshortcuts='/']")?.focus()
  }

  useKeys((key) => {
    const action = gateAction(key)
    if (action === "lineDown" || action === "lineUp") {
      scrollBy({ top: action === "lineDown" ? lineHeight : -lineHeight })
      return true
    }
    if (action === "filter" && open.length > 1) {
      void toFilter()
      return true
    }
    const step = action === "skip" ? 1 : { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (step === undefined || questions.length === 0) return false
    const place = questions.findIndex(({ escalationId }) => escalationId === shown)
    const next = place < 0 ? 0 : (place + step + questions.length) % questions.length
    void show(questions[next]?.escalationId)
    return true
  })

  // A wide screen shows one beside the list. It has its own address, so that it stays when somebody else answers it.
  useEffect(() => {
    if (id !== undefined || first === undefined || !isWide()) return
    navigate({ to: "/questions/$id", params: { id: first }, replace: true })
  }, [first, id, navigate])

  const reason = data?.find(({ escalationId }) => escalationId === id)?.reason
  useTitle(id === undefined ? "Needs you" : `Question: ${visible(shortened(reason ?? id, 60))}`)

  const list = (
    <List
      box={box}
      filter={filter}
      onEnter={() => void show(first)}
      onFilter={setFilter}
      onOrder={setOrder}
      open={open.length}
      order={order}
      questions={questions}
      shown={shown}
    />
  )
  const onAnswered = () => void show(shown === undefined ? undefined : nextAfter(questions, shown)?.escalationId)

  if (error !== null && data === undefined) return <Failed error={error} what="The questions cannot be shown" />
  if (data === undefined) return <Loading what="the open questions" />
  if (open.length === 0 && id === undefined) {
    return (
      <Empty title="Nothing needs you">
        <p>When an agent stops and asks, its question appears here by itself.</p>
      </Empty>
    )
  }
  return (
    <div className="lg:grid lg:grid-cols-[20rem_minmax(0,1fr)] lg:items-start lg:gap-4">
      {id === undefined ? <Heading className="sr-only">Needs you</Heading> : <h1 className="sr-only">Needs you</h1>}
      <div className={`lg:sticky lg:top-[4.5rem] ${shown === undefined ? "" : "hidden lg:block"}`}>{list}</div>
      <div className={shown === undefined ? "hidden lg:block" : ""}>
        {shown !== undefined && (
          <>
            <Link className="text-accent mb-2 inline-flex min-h-11 items-center underline lg:hidden" to="/">
              ← All open questions ({open.length})
            </Link>
            <Detail id={shown} key={shown} onAnswered={onAnswered} />
          </>
        )}
      </div>
    </div>
  )
}

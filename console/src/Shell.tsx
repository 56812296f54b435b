/** What every page has: the ways to the others, whether the page is live, the theme, and answers on their way. */
import { type EscalationView, gateAction } from "@reprise/protocol"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, Outlet, useLocation, useNavigate, useRouter } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { PendingAnswers } from "./answer/PendingAnswers.tsx"
import { signOut } from "./data/api.ts"
import { originText, shortened } from "./data/format.ts"
import { connect } from "./data/live.ts"
import { questionsQuery } from "./data/queries.ts"
import { KeysHelp } from "./KeysHelp.tsx"
import { followClicks, noteEvent, noteOpen, startNotices, withdrawAll } from "./notices/notices.ts"
import { renewPush, turnOffPush } from "./notices/push.ts"
import { Announcer, announce } from "./parts/announce.tsx"
import { focusHeading } from "./parts/Heading.tsx"
import { useKeys } from "./parts/keys.ts"
import { NotifyMe } from "./parts/NotifyMe.tsx"
import { Select } from "./parts/Select.tsx"
import { useMayAnswer, useSession } from "./parts/session.tsx"
import { setTheme, type Theme, useTheme } from "./parts/theme.ts"
import { visible } from "./parts/visible.ts"
import type { Connection } from "./stream/messages.ts"

const themes: ReadonlyArray<readonly [Theme, string]> = [
  ["system", "Auto"],
  ["light", "Light"],
  ["dark", "Dark"]
]

const connectionText: Record<Connection, string> = {
  connecting: "Connecting…",
  live: "Live",
  lost: "Connection lost, connecting again…",
  "signed-out": "Signed out"
}

function ConnectionMark({ connection }: { readonly connection: Connection }) {
  const color = connection === "live" ? "bg-good" : "bg-warn"
  return (
    <span className="text-soft flex items-center gap-1.5 text-sm" role="status">
      <span aria-hidden="true" className={`size-2 shrink-0 rounded-full ${color}`} />
      <span className={connection === "live" ? "sr-only sm:not-sr-only" : ""}>{connectionText[connection]}</span>
    </span>
  )
}

const link =
  "text-text aria-[current=page]:text-strong aria-[current=page]:border-accent flex min-h-14 items-center gap-1.5 border-b-2 border-transparent px-2 font-medium"

type Question = Pick<EscalationView, "escalationId" | "origin" | "reason">

/** Those who hear the page are told of questions that come while it is open. */
const useNewQuestions = (questions: ReadonlyArray<Question> | undefined): void => {
  const known = useRef<ReadonlySet<string>>(undefined)
  useEffect(() => {
    if (questions === undefined) return
    const before = known.current
    known.current = new Set([...(before ?? []), ...questions.map(({ escalationId }) => escalationId as string)])
    const fresh = before === undefined ? [] : questions.filter(({ escalationId }) => !before.has(escalationId))
    const [first] = fresh
    if (first === undefined) return
    announce(
      fresh.length > 1
        ? `${fresh.length} new questions`
        : `A new question. ${originText(first.origin)}: ${visible(shortened(first.reason, 100))}`
    )
  }, [questions])
}

/** A proxy's session ends at the proxy. */
function Account({ onSignedOut }: { readonly onSignedOut: () => void }) {
  const { role, user } = useSession()
  const leave = () =>
    // Whoever signs out here is not to be told any more, even where the gate does not hear of it.
    void turnOffPush()
      .catch(() => undefined)
      .then(signOut)
      .then(() => {
        withdrawAll()
        onSignedOut()
      })
  const name = [user, role === "viewer" ? "viewer" : undefined].filter((part) => part !== undefined).join(", ")
  return (
    <>
      {name !== "" && <span className="flex min-h-11 items-center">Signed in: {name}</span>}
      {user === undefined && (
        <button className="min-h-11 underline" onClick={leave} type="button">
          Sign out
        </button>
      )}
    </>
  )
}

export function Shell({ onSignedOut }: { readonly onSignedOut: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const theme = useTheme()
  const [connection, setConnection] = useState<Connection>("connecting")
  const [showsHelp, setShowsHelp] = useState(false)
  const { data } = useQuery(questionsQuery)
  const questions = data ?? []
  const { pathname } = useLocation()
  const router = useRouter()
  const mayAnswer = useMayAnswer()
  const { hasRepository } = useSession()
  const isAt = (section: string) => pathname.startsWith(section)

  useEffect(
    () =>
      connect(client, {
        onConnection: (next) => {
          setConnection(next)
          if (next !== "signed-out") return
          withdrawAll()
          onSignedOut()
        },
        onEvent: noteEvent,
        onOpen: noteOpen
      }),
    [client, onSignedOut]
  )

  useEffect(() => {
    void startNotices()
    if (mayAnswer) renewPush().catch(() => undefined)
    return followClicks((path) => navigate({ to: path }))
  }, [navigate, mayAnswer])
  useNewQuestions(data)

  useEffect(
    () =>
      router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
        if (fromLocation !== undefined && pathChanged) focusHeading()
      }),
    [router]
  )

  const mayStart = mayAnswer && hasRepository

  useKeys((key) => {
    if (key === "N") navigate({ to: "/" })
    else if (key === "R") navigate({ to: "/runs" })
    else if (key === "S" && mayStart) navigate({ to: "/start" })
    else if (gateAction(key) === "help") setShowsHelp(true)
    else return false
    return true
  })

  return (
    <>
      <header className="border-line bg-card sticky top-0 z-20 border-b">
        <div className="mx-auto flex max-w-[90rem] items-center gap-x-2 px-4 sm:gap-x-4">
          <span className="text-strong hidden font-semibold sm:block">Reprise</span>
          <nav aria-label="Pages" className="flex flex-1 gap-x-1">
            <Link aria-current={isAt("/questions") || pathname === "/" ? "page" : undefined} className={link} to="/">
              Needs you
              {questions.length > 0 && (
                <span className="bg-warn-tint text-warn rounded-full px-1.5 text-xs leading-5">{questions.length}</span>
              )}
            </Link>
            <Link
              aria-current={["/runs", "/sessions", "/start"].some(isAt) ? "page" : undefined}
              className={link}
              to="/runs"
            >
              Runs
            </Link>
          </nav>
          <ConnectionMark connection={connection} />
          <Select label="Theme" onChange={setTheme} options={themes} value={theme} />
        </div>
      </header>
      <PendingAnswers />
      <main className="mx-auto max-w-[90rem] px-4 py-4" tabIndex={-1}>
        <Outlet />
      </main>
      {showsHelp && (
        <KeysHelp
          onClose={() => setShowsHelp(false)}
          valid={{
            isQuestion: isAt("/questions"),
            hasSeveral: questions.length > 1,
            mayAnswer,
            mayFork: mayStart,
            mayStart
          }}
        />
      )}
      <footer className="text-soft mx-auto flex max-w-[90rem] flex-wrap gap-x-4 px-4 pb-4 text-sm">
        <button className="min-h-11 underline" onClick={() => setShowsHelp(true)} type="button">
          Keys
        </button>
        {hasRepository && (
          <Link className="flex min-h-11 items-center underline" to="/settings">
            Settings
          </Link>
        )}
        <NotifyMe />
        <Account onSignedOut={onSignedOut} />
      </footer>
      <Announcer />
    </>
  )
}

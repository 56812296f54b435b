/** What becomes of the answers that were chosen: a few seconds to take one back, then how it was taken. */
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useState, useSyncExternalStore } from "react"
import { Key } from "../parts/Key.tsx"
import { useKeys } from "../parts/keys.ts"
import { visible } from "../parts/visible.ts"
import { dismiss, type Pending, pendingNow, sendNow, subscribe, undo } from "./pending.ts"

export const usePending = (): ReadonlyArray<Pending> => useSyncExternalStore(subscribe, pendingNow)

function Seconds({ until }: { readonly until: number }) {
  const [left, setLeft] = useState(until - Date.now())
  useEffect(() => {
    const timer = setInterval(() => setLeft(until - Date.now()), 250)
    return () => clearInterval(timer)
  }, [until])
  return <span aria-hidden="true">{Math.max(0, Math.ceil(left / 1000))} s</span>
}

const stateText = ({ label, message, state }: Pending): string => {
  switch (state) {
    case "undoable":
      return `“${label}” will be sent.`
    case "sending":
      return `“${label}” is being sent.`
    case "sent":
      return `Answered: “${label}”.`
    case "stored":
      return `“${label}” is stored. The gate takes it when it runs.`
    case "failed":
      return `“${label}” was not taken. ${message ?? ""}`
  }
}

const button = "border-line bg-card text-strong min-h-9 rounded-md border px-3 font-medium"

export function PendingAnswers() {
  const all = usePending()
  const navigate = useNavigate()
  const takeBack = ({ answer, question }: Pending) => {
    undo(answer.commandId)
    navigate({ to: "/questions/$id", params: { id: question.escalationId } })
  }
  useKeys((key) => {
    const last = all.findLast(({ state }) => state === "undoable")
    if (key !== "u" || last === undefined) return false
    takeBack(last)
    return true
  })
  return (
    <section
      aria-label="Answers on their way"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 top-14 z-20 mx-auto flex max-w-xl flex-col gap-2 px-3"
    >
      {all.map((one) => {
        const { answer, question, sendAt, state } = one
        const look = state === "failed" ? "border-bad bg-bad-tint" : "border-line bg-card"
        return (
          <div
            className={`pointer-events-auto flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border px-3 py-2 shadow-lg ${look}`}
            key={answer.commandId}
          >
            <p className="text-strong min-w-40 flex-1 text-sm">
              {visible(stateText(one))} <span className="text-soft block truncate">{visible(question.reason)}</span>
            </p>
            {state === "undoable" && (
              <>
                <button className={button} onClick={() => takeBack(one)} type="button">
                  Undo <Key>u</Key>
                </button>
                <button className={button} onClick={() => void sendNow(answer.commandId)} type="button">
                  Send now (<Seconds until={sendAt} />)
                </button>
              </>
            )}
            {state === "failed" && (
              <button
                className={button}
                onClick={() => {
                  dismiss(answer.commandId)
                  navigate({ to: "/questions/$id", params: { id: question.escalationId } })
                }}
                type="button"
              >
                Show the question
              </button>
            )}
          </div>
        )
      })}
    </section>
  )
}

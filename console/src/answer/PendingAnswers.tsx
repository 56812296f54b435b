/** What becomes of the answers that were chosen: a few seconds to take one back, then how it was taken. */

import { undoKey } from "@reprise/protocol"
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useRef, useState, useSyncExternalStore } from "react"
import { shortened } from "../data/format.ts"
import { announce } from "../parts/announce.tsx"
import { focusHeading } from "../parts/Heading.tsx"
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
      return `“${label}” is stored. The gate will handle it when it runs.`
    case "failed":
      return `“${label}” was refused. ${message ?? ""}`
  }
}

/** Those who hear the page are told what becomes of each answer; a failure is an alert on the page. */
const useTold = (all: ReadonlyArray<Pending>): void => {
  const told = useRef(new Map<string, Pending["state"]>())
  useEffect(() => {
    for (const one of all) {
      const { commandId } = one.answer
      if (told.current.get(commandId) === one.state) continue
      told.current.set(commandId, one.state)
      const text = visible(stateText(one))
      if (one.state === "undoable") announce(`${text} Press ${undoKey} to take it back.`)
      if (one.state === "sent" || one.state === "stored") announce(text)
    }
  }, [all])
}

const button = "border-line bg-card text-strong min-h-9 rounded-md border px-3 font-medium"

export function PendingAnswers() {
  const all = usePending()
  const navigate = useNavigate()
  useTold(all)
  /** Where the question is shown already, its address stays, and the button that was pressed is gone. */
  const lead = ({ question }: Pending) =>
    navigate({ to: "/questions/$id", params: { id: question.escalationId } }).then(focusHeading)
  const takeBack = (one: Pending) => {
    undo(one.answer.commandId)
    announce(`“${one.label}” was taken back.`)
    void lead(one)
  }
  useKeys((key) => {
    const last = all.findLast(({ state }) => state === "undoable")
    if (key !== undoKey || last === undefined) return false
    takeBack(last)
    return true
  })
  return (
    <section
      aria-label="Answers on their way"
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
            <p className="text-strong min-w-40 flex-1 text-sm" role={state === "failed" ? "alert" : undefined}>
              {visible(stateText(one))}{" "}
              <span className="text-soft block truncate">{visible(shortened(question.reason, 120))}</span>
            </p>
            {state === "undoable" && (
              <>
                <button className={button} onClick={() => takeBack(one)} type="button">
                  Undo <Key>{undoKey}</Key>
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
                  void lead(one)
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

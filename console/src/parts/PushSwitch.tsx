/** Has the gate tell this browser of questions while no page is open, or not. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { pushQuery } from "../data/queries.ts"
import { turnOffPush, turnOnPush } from "../notices/push.ts"
import type { PushState } from "../notices/pushState.ts"
import { ForAnswerers, useMayAnswer } from "./session.tsx"

const texts: Record<PushState, string> = {
  unsupported:
    "This browser cannot show notices here: it needs an address that begins with https:// (or this machine), and on an iPhone the console on the home screen.",
  unavailable:
    "This console sends no notices to browsers, since its NATS server is shared. Use a notification channel.",
  denied: "This browser does not allow notices of the console. Allow them in the browser's settings for this page.",
  on: "On: this browser notifies you of questions, even with no page open.",
  off: "Off: this browser notifies you only while a page is open."
}

export function PushSwitch() {
  const client = useQueryClient()
  const mayAnswer = useMayAnswer()
  const { data: state, error } = useQuery(pushQuery)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const turn = async (change: () => Promise<PushState>) => {
    setBusy(true)
    setFailure(undefined)
    try {
      client.setQueryData(pushQuery.queryKey, await change())
    } catch (thrown) {
      setFailure(thrown instanceof Error ? thrown.message : String(thrown))
      await client.invalidateQueries(pushQuery)
    }
    setBusy(false)
  }
  return (
    <section aria-labelledby="push" className="card space-y-2 px-4 py-3">
      <h2 className="text-strong font-medium" id="push">
        Notices on this device
      </h2>
      {mayAnswer ? (
        <>
          <p role="status">{state === undefined ? (error?.message ?? "Asking the browser…") : texts[state]}</p>
          {(state === "on" || state === "off") && (
            <button
              className="border-line text-strong bg-card min-h-11 rounded-md border px-3 font-medium disabled:opacity-60"
              disabled={isBusy}
              onClick={() => void turn(state === "on" ? turnOffPush : turnOnPush)}
              type="button"
            >
              {state === "on" ? "Switch off" : "Switch on"}
            </button>
          )}
          {failure !== undefined && (
            <p className="text-bad" role="alert">
              The browser's push service refused it: {failure}
            </p>
          )}
        </>
      ) : (
        <ForAnswerers what="Only answerers are told." />
      )}
    </section>
  )
}

/** What the agent of a run says and does right now. */
import { LiveMessage } from "@reprise/protocol"
import { Schema } from "effect"
import { useEffect, useState } from "react"
import { tokensText } from "../data/format.ts"
import { type LiveLine, nothingYet, withMessage } from "../data/liveNow.ts"
import { visible } from "../parts/visible.ts"
import { follow, listen } from "../stream/listen.ts"

const read = Schema.decodeUnknownSync(Schema.fromJsonString(LiveMessage))

const looks: Record<LiveLine["kind"], string> = {
  text: "text-text whitespace-pre-wrap",
  reasoning: "text-soft whitespace-pre-wrap italic",
  tool: "text-soft font-mono text-[13px]",
  wait: "text-warn"
}

export function LiveOutput({ runId }: { readonly runId: string }) {
  const [now, setNow] = useState(nothingYet)
  const [isListening, setListening] = useState(false)
  useEffect(() => {
    let count = 0
    const stopListening = listen((message) => {
      if (message.type === "listening") setListening(message.runs.includes(runId))
      if (message.type !== "live") return
      const said = read(message.data)
      if (said.runId !== runId) return
      count += 1
      setNow((before) => withMessage(before, said, `${count}`))
    })
    const stopFollowing = follow(runId)
    return () => {
      stopFollowing()
      stopListening()
    }
  }, [runId])
  if (!isListening) return null
  return (
    <section aria-label="Right now" className="card space-y-1 px-4 py-3">
      <h2 className="flex flex-wrap items-baseline justify-between gap-x-3 text-base">
        <span>The {now.role ?? "agent"} right now</span>
        {now.tokens !== undefined && (
          <span className="text-soft text-sm font-normal">{tokensText(now.tokens)} in this turn</span>
        )}
      </h2>
      {now.lines.length === 0 && <p className="text-soft">Its next output appears here.</p>}
      {now.lines.map(({ id, kind, text }) => (
        <p className={looks[kind]} key={`${kind} ${id}`}>
          {visible(text)}
        </p>
      ))}
    </section>
  )
}

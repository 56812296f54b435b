/** How to step into a session: the command, and a button that copies it. */
import { gateAction } from "@reprise/protocol"
import { useState } from "react"
import { announce } from "../parts/announce.tsx"
import { Key } from "../parts/Key.tsx"
import { useKeys } from "../parts/keys.ts"
import type { NamedSession } from "./sessionsOf.ts"

const commandOf = (id: string): string => `reprise attach ${id}`

/** Browsers copy only for pages that they trust, which one behind plain HTTP is not. */
const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

export function StepIn({ sessions }: { readonly sessions: ReadonlyArray<NamedSession> }) {
  const [notice, setNotice] = useState<string>()
  const take = async ({ id }: NamedSession) => {
    const isCopied = await copy(commandOf(id))
    const text = isCopied
      ? `Copied. Run it in a terminal: it opens the agent’s own interface.`
      : `Run '${commandOf(id)}' in a terminal: it opens the agent’s own interface.`
    setNotice(text)
    announce(isCopied ? `'${commandOf(id)}' is copied. Run it in a terminal.` : text)
  }
  useKeys((key) => {
    const [first] = sessions
    if (gateAction(key) !== "attach" || first === undefined) return false
    void take(first)
    return true
  })
  return (
    <>
      {sessions.map((session, index) => (
        <span className="flex flex-wrap items-center gap-x-2" key={session.id}>
          <code>{commandOf(session.id)}</code>
          <button
            aria-keyshortcuts={index === 0 ? "a" : undefined}
            className="text-accent inline-flex min-h-9 items-center gap-1.5"
            onClick={() => void take(session)}
            type="button"
          >
            <span className="underline">Copy</span>
            <span className="sr-only">{commandOf(session.id)}</span>
            {index === 0 && <Key>a</Key>}
          </button>
        </span>
      ))}
      {notice !== undefined && <p className="text-soft">{notice}</p>}
    </>
  )
}

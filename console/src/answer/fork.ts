/** "Try again from here": a fork of the session that asks, which leaves its question open. */
import type { ConsoleForked } from "@reprise/protocol"
import { useState } from "react"
import { ApiFailure, newCommandId } from "../data/api.ts"
import { sendFork } from "../data/queries.ts"

export interface Forking {
  readonly isBusy: boolean
  readonly made?: ConsoleForked
  /** Why there is none, with the next step. */
  readonly failed?: string
}

const failureText = (thrown: unknown): string =>
  thrown instanceof ApiFailure ? `${thrown.message} ${thrown.hint}` : "The session could not be forked."

/** `make` gives whether it was made. */
export const useFork = (escalationId: string) => {
  const [forking, setForking] = useState<Forking>({ isBusy: false })
  const make = async (guidance: string): Promise<boolean> => {
    setForking({ isBusy: true })
    const words = guidance.trim()
    const body = { commandId: newCommandId(), ...(words === "" ? {} : { guidance: words }) }
    try {
      setForking({ isBusy: false, made: await sendFork(`questions/${escalationId}/fork`, body) })
      return true
    } catch (thrown) {
      setForking({ isBusy: false, failed: failureText(thrown) })
      return false
    }
  }
  return { ...forking, make }
}

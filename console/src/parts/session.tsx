/** Who is signed in, for whatever depends on the role. */
import type { ConsoleSession } from "@reprise/protocol"
import { createContext, useContext } from "react"

const Session = createContext<ConsoleSession>({ role: "viewer", hasRepository: false })
export const SignedIn = Session.Provider

export const useSession = (): ConsoleSession => useContext(Session)

/** Whether this visitor may answer, start, pause and abort. */
export const useMayAnswer = (): boolean => useSession().role === "answerer"

/** In place of what a viewer cannot use. */
export function ForAnswerers({ what }: { readonly what: string }) {
  return (
    <p className="border-line bg-well text-soft rounded-md border px-3 py-2 text-sm">
      You are signed in as a viewer. {what}
    </p>
  )
}

/**
 * The session of this browser. It is stored for this origin, of which the port is a part, and sent by these pages alone
 * (docs/console.md#who-gets-in).
 */
import { consoleSessionHeader } from "@reprise/protocol"

const storageKey = "session"

/** Of a browser that stores nothing: until the page is loaded again. */
let ofThisPage: string | undefined

const storedSession = (): string | undefined => {
  try {
    return localStorage.getItem(storageKey) ?? undefined
  } catch {
    return ofThisPage
  }
}

/** Undefined: signed out. */
export const keepSession = (session: string | undefined): void => {
  ofThisPage = session
  try {
    if (session === undefined) localStorage.removeItem(storageKey)
    else localStorage.setItem(storageKey, session)
  } catch {
    // It is kept in this page.
  }
}

/** The header that carries the session; none before somebody signs in, and behind a proxy that signs people in. */
export const sessionHeaders = (): Readonly<Record<string, string>> => {
  const session = storedSession()
  return session === undefined ? {} : { [consoleSessionHeader]: session }
}

/** Who uses the console, and what they may do (docs/console.md#who-gets-in). Pure. */
import type { ConsoleRole } from "@reprise/protocol"
import { isLoopback } from "../notify/addresses.ts"

export interface Visitor {
  readonly role: ConsoleRole
  /** The name under which a proxy signed them in; absent: they have the token of whoever runs the console. */
  readonly user?: string
  /** Calls the listener once, when their session ends; returns how to stop that. Absent: a proxy says at each request who they are. */
  readonly onEnd?: (listener: () => void) => () => void
}

/** Whom a proxy that signs people in lets answer. */
export interface ProxyRules {
  /** The header with the user's name, in lower case; absent: the proxy signs nobody in. */
  readonly userHeader?: string
  /** The header with the user's groups, in lower case. */
  readonly groupsHeader?: string
  /** Names of users, `group:NAME`, or `*` for everybody. All others are viewers. */
  readonly answerers: ReadonlyArray<string>
}

type Headers = Readonly<Record<string, string | undefined>>

/**
 * A name as it may stand in journals and on pages. A comma is in no name, so a header that somebody sent besides the
 * proxy's, which servers join by a comma, is not a name either.
 */
const isName = (text: string): boolean => /^[^\s,\p{C}](?:[^,\p{C}\p{Zl}\p{Zp}]{0,252}[^\s,\p{C}])?$/u.test(text)

/** Node reads headers as Latin-1; proxies send UTF-8. */
const decoded = (text: string | undefined): string =>
  text === undefined ? "" : new TextDecoder().decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0)))

/** By `,`, or by `|` as some proxies do. */
const groupsIn = (text: string): ReadonlyArray<string> => text.split(/[,|]/).map((group) => group.trim())

/** Whom the headers of a proxy name; undefined: nobody. A user cannot become a group by a name that looks like one. */
export const visitorOfProxy = (
  { answerers, groupsHeader, userHeader }: ProxyRules,
  headers: Headers
): Visitor | undefined => {
  const user = userHeader === undefined ? "" : decoded(headers[userHeader]).trim()
  if (!isName(user)) return undefined
  const groups = groupsHeader === undefined ? [] : groupsIn(decoded(headers[groupsHeader]))
  const mayAnswer = answerers.some((one) =>
    one.startsWith("group:") ? groups.includes(one.slice("group:".length)) : one === "*" || one === user
  )
  return { role: mayAnswer ? "answerer" : "viewer", user }
}

/** The header by which a proxy shows that a request comes through it. */
export const proxySecretHeader = "x-reprise-proxy-secret"

interface Listening {
  /** The address that the console listens on. */
  readonly listen: string
  readonly origin?: string | undefined
  /** Whether a proxy has a secret. */
  readonly hasSecret: boolean
}

/** Why the console must not listen there; undefined: it may. */
export const listenProblem = ({ hasSecret, listen, origin }: Listening): string | undefined => {
  if (isLoopback(listen) || (hasSecret && origin !== undefined)) return undefined
  return `The web console must not listen on ${listen}: others reach that address, so it would have to know its proxy by a secret and an address.`
}

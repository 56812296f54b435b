/**
 * A POST request to an address that somebody else has named: it goes to servers of the public internet alone. The address
 * that a name has is looked at where the connection is made, so that a name cannot mean two.
 */
import { type LookupAddress, type LookupOptions, lookup } from "node:dns"
import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { isPublicAddress } from "./publicAddress.ts"

/** The name leads to this machine or its networks. */
export class OwnNetwork extends Error {
  readonly code = "EOWNNETWORK"
}

type Done = (error: Error | null, address: string | Array<LookupAddress>, family?: number) => void

const lookUpPublic = (hostname: string, options: LookupOptions, done: Done): void => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return done(error, [])
    const [first] = addresses
    const isPublic = addresses.every(({ address, family }) => isPublicAddress(address, family === 6 ? 6 : 4))
    if (first === undefined || !isPublic) return done(new OwnNetwork("the name leads to a network of this machine"), [])
    if (options.all === true) done(null, addresses)
    else done(null, first.address, first.family)
  })
}

export interface Call {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly signal: AbortSignal
  /** It may be `http:`, and this machine: for tests. */
  readonly loopback?: boolean
}

export interface CallAnswer {
  readonly status: number
  readonly retryAfter: string | null
}

/** The status of the answer; nothing else of it is read, and no redirect is followed. Rejected with Node's own error. */
export const callPublic = ({ body, headers, loopback = false, signal, url }: Call): Promise<CallAnswer> =>
  new Promise((resolve, reject) => {
    const isPlain = loopback && url.startsWith("http:")
    const options = {
      method: "POST",
      headers: { ...headers, "content-length": `${body.length}` },
      signal,
      agent: false as const,
      ...(loopback ? {} : { lookup: lookUpPublic })
    }
    const sent = (isPlain ? requestHttp : requestHttps)(url, options, (response) => {
      response.destroy()
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] ?? null })
    })
    sent.on("error", reject)
    sent.end(body)
  })

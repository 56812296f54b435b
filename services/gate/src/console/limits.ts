/**
 * What one client of the console may ask for (docs/console.md#limits), so that nobody takes the time of the process that
 * does the work. Pure.
 */

/** Requests: so many at once, then so many each second. */
export interface Budget {
  readonly burst: number
  readonly perSecond: number
  /** Requests beyond it that wait for their turn. Further ones are refused. */
  readonly mostWaiting: number
}

/** How long a client may take, in milliseconds. */
export interface Patience {
  /** To send the headers of a request, or anything at all on a new connection. */
  readonly headersMs: number
  /** To send a whole request. */
  readonly requestMs: number
  /** Between two requests of a connection. */
  readonly betweenRequestsMs: number
  /** To take a whole answer, but a stream of events. */
  readonly answerMs: number
  /** To read something of what it is sent. A stream sends something every 15 seconds. */
  readonly readingMs: number
}

export interface Limits {
  /** Of all who have one token, or of a user of a proxy. */
  readonly signedIn: Budget
  /** Of an address, of all there who have not signed in. */
  readonly signedOut: Budget
  /** Of all addresses together. */
  readonly allSignedOut: Budget
  /** Answers of one client that are being made or sent, but streams of events. Further requests wait for their turn. */
  readonly underWay: { readonly signedIn: number; readonly signedOut: number }
  /** Readings whose work grows with what is stored, such as of a list: some wait for git, or for a broker. */
  readonly readings: {
    /** Of one client at the same time. */
    readonly most: number
    /** Of all clients, of one route. */
    readonly mostOfOneKind: number
    /** A place for one rests as long as the last one took, but no longer than this. */
    readonly longestRestMs: number
  }
  /** Event streams that all who have one token, or a user of a proxy, have open. A browser has two, however many tabs. */
  readonly streams: number
  /** Browsers that have signed in with one token. The one that signed in first is signed out by the next. */
  readonly sessions: number
  /** Connections whose last request was of somebody who had not signed in. */
  readonly signedOutConnections: number
  /** All connections. The rest is for those who have signed in. */
  readonly connections: number
  /** What is too much of a kind goes on for so long while there is room in all: who is cut off connects again at once. */
  readonly surplusAfterMs: number
  /** A refusal comes late: who asks again at once would else be served refusals as fast as they come. */
  readonly refusalAfterMs: number
  readonly patience: Patience
}

export const limits: Limits = {
  signedIn: { burst: 300, perSecond: 40, mostWaiting: 120 },
  signedOut: { burst: 60, perSecond: 20, mostWaiting: 40 },
  allSignedOut: { burst: 240, perSecond: 60, mostWaiting: 120 },
  underWay: { signedIn: 32, signedOut: 16 },
  readings: { most: 3, mostOfOneKind: 4, longestRestMs: 2_000 },
  streams: 32,
  sessions: 64,
  signedOutConnections: 256,
  connections: 1024,
  surplusAfterMs: 1_000,
  refusalAfterMs: 5_000,
  patience: {
    headersMs: 10_000,
    requestMs: 30_000,
    betweenRequestsMs: 65_000,
    answerMs: 300_000,
    readingMs: 120_000
  }
}

/** Bytes of a body. */
export const largestBody = {
  /** Of whoever has not signed in: a token or a link. */
  ownProof: 16 * 1024,
  /** What comes in goes on as messages, of which a broker takes a megabyte. */
  signedIn: 512 * 1024
} as const

/** The requests that a client may still send. */
export interface Bucket {
  /** Negative: so many wait. */
  readonly left: number
  readonly atMs: number
}

export type Turn =
  | { readonly _tag: "Served"; readonly bucket: Bucket; readonly afterMs: number }
  | { readonly _tag: "Refused"; readonly retryAfterMs: number }

const leftAt = ({ atMs, left }: Bucket, { burst, perSecond }: Budget, nowMs: number): number =>
  Math.min(burst, left + (Math.max(0, nowMs - atMs) / 1000) * perSecond)

/** When a request is served; `bucket` absent: it is the client's first. A refused one costs nothing. */
export const turnOf = (bucket: Bucket | undefined, budget: Budget, nowMs: number): Turn => {
  const { burst, mostWaiting, perSecond } = budget
  const left = (bucket === undefined ? burst : leftAt(bucket, budget, nowMs)) - 1
  if (left < -mostWaiting) return { _tag: "Refused", retryAfterMs: ((-mostWaiting - left) / perSecond) * 1000 }
  return { _tag: "Served", bucket: { left, atMs: nowMs }, afterMs: (Math.max(0, -left) / perSecond) * 1000 }
}

/** Whether it says no more than a client that was never seen. */
export const isFull = (bucket: Bucket, budget: Budget, nowMs: number): boolean =>
  leftAt(bucket, budget, nowMs) >= budget.burst

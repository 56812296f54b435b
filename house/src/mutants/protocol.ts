/** What Stryker's process and the thread with the loaded tests say to each other. */

export interface Request {
  /** The tests to run; all of them if left out. One that takes longer than its limit is the last. */
  readonly tests?: ReadonlyArray<{ readonly id: string; readonly limitMs?: number }>
  /** The mutant that is active while they run. */
  readonly mutant?: string
  /** How often the mutant may be reached before it counts as an endless loop. */
  readonly hitLimit?: number
  /** Stops after the first test that fails. */
  readonly bail: boolean
}

export interface Result {
  readonly id: string
  readonly fileName: string
  readonly timeSpentMs: number
  /** Why it failed, if it did. */
  readonly failure?: string
}

export interface Response {
  readonly results: ReadonlyArray<Result>
  /** The last test took longer than its limit, and may go on. */
  readonly late: boolean
  readonly hits: number
  readonly coverage: unknown
}

/** The thread tells that its tests are loaded, or why they cannot be. */
export interface Loaded {
  readonly failure?: string
}

export type FromThread = { readonly loaded: Loaded } | { readonly ran: Response }
export type ToThread = { readonly run: Request } | { readonly end: true }

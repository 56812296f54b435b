/** What the pages of a browser and its hub say to each other. */

export type RequestHeaders = Readonly<Record<string, string>>

/** `signed-out`: nobody is, so nothing is tried again until a page joins. */
export type Connection = "connecting" | "live" | "lost" | "signed-out"

export type ToHub =
  /**
   * `after`: the sequence of the last event that the page has; 0: none. `headers`: say who has signed in, since a worker
   * cannot read what a page stores.
   */
  | { readonly type: "join"; readonly after: number; readonly headers: RequestHeaders }
  /** The runs whose agents the page follows, in place of those before. */
  | { readonly type: "watch"; readonly runs: ReadonlyArray<string> }
  | { readonly type: "leave" }

export type FromHub =
  | { readonly type: "connection"; readonly connection: Connection }
  /** Events follow. `resumed`: from the page's last one on, else some may be missed. */
  | { readonly type: "connected"; readonly resumed: boolean }
  /** `data`: as the console's service sent it. */
  | { readonly type: "event"; readonly sequence: number; readonly data: string }
  /** What these agents say from now on is heard. */
  | { readonly type: "listening"; readonly runs: ReadonlyArray<string> }
  | { readonly type: "live"; readonly data: string }

/** A page, as its hub knows it. */
export interface Page {
  readonly send: (message: FromHub) => void
}

/** The hub, as a page knows it. */
export interface WayToHub {
  readonly send: (message: ToHub) => void
  readonly close: () => void
}

export interface Hearing {
  readonly hear: (message: FromHub) => void
  /** Another hub has taken over: it knows nothing of this page. */
  readonly onNewHub: () => void
}

/** Views as a list answers them: as text, with the few fields that a list looks at. Pure. */
import type { Host } from "@reprise/protocol"
import type { Actor, WorkOnHost } from "../Actor.ts"
import type { BucketEntry } from "../broker/Broker.ts"
import { readView, type StoredView } from "./views.ts"

/** One view in a list. There may be ten thousand of them, so they are not kept as objects. */
export interface ListedView {
  readonly sequence: number
  /** What a filter may name, by the names of the fields. */
  readonly filtered: Readonly<Record<string, unknown>>
  /** The host of its work; undefined: its work is over. */
  readonly host: Host | undefined
  /** As JSON. */
  readonly text: string
  /** The brief view as JSON. */
  readonly briefText: string
  /** Its line in a long list as JSON. */
  readonly lineText: string
}

/** What a list needs of an actor. */
export interface Listing {
  /** The fields by which a list can be filtered. */
  readonly fields: ReadonlyArray<string>
  readonly workOnHost?: WorkOnHost | undefined
  readonly brief?: Actor<never, never, never>["brief"] | undefined
  readonly line?: Actor<never, never, never>["line"] | undefined
}

/** Undefined: what is stored is not a view. */
export const listedView = (
  { brief, fields, line, workOnHost }: Listing,
  stored: StoredView
): ListedView | undefined => {
  const { sequence, view } = stored
  if (typeof view !== "object" || view === null) return undefined
  const own = new Map<string, unknown>(Object.entries(view))
  const text = JSON.stringify(view)
  return {
    sequence,
    filtered: Object.fromEntries(fields.flatMap((name) => (own.has(name) ? [[name, own.get(name)]] : []))),
    host: workOnHost?.hostOf(view),
    text,
    briefText: brief === undefined ? text : JSON.stringify(brief(view)),
    lineText: line === undefined ? text : JSON.stringify(line(view))
  }
}

/** Reads the views of a bucket's entries; each entry once, as long as it is the same object. */
export const makeListedViews = (listing: Listing) => {
  const known = new WeakMap<BucketEntry, { readonly listed: ListedView | undefined }>()
  return (entry: BucketEntry): ListedView | undefined => {
    const before = known.get(entry)
    if (before !== undefined) return before.listed
    const stored = readView(entry.value)
    const listed = stored === undefined ? undefined : listedView(listing, stored)
    known.set(entry, { listed })
    return listed
  }
}

export const newest = (one: ListedView | undefined, other: ListedView | undefined): ListedView | undefined =>
  one !== undefined && one.sequence > (other?.sequence ?? 0) ? one : other

export const matches = ({ filtered }: ListedView, filter: object): boolean =>
  Object.entries(filter).every(([field, wanted]) => filtered[field] === wanted)

/** Those that changed last, in the order of the list. */
export const lastOf = (views: ReadonlyArray<ListedView>, most: number): ReadonlyArray<ListedView> => {
  if (views.length <= most) return views
  const last = new Set(views.toSorted((a, b) => b.sequence - a.sequence).slice(0, most))
  return views.filter((one) => last.has(one))
}

/** The JSON text of a view with the field `hosted`; undefined: nobody could tell. */
export const withHostedText = (text: string, hosted: boolean | undefined): string =>
  hosted === undefined ? text : `${text.slice(0, -1)}${text === "{}" ? "" : ","}"hosted":${hosted}}`

/** The outermost blocks of a plan's text, reduced to what plans are made of. */
import type { Position } from "./Position.ts"

/** An item of a list, in the order of the text; nested items follow the item they are in. */
export interface ListedItem {
  readonly position: Position
  /** 0 for an item of an outermost list. */
  readonly depth: number
  /** The first paragraph as it is written, without the box. */
  readonly text: string
  /** What stands between the brackets, and the offset of it. */
  readonly box?: { readonly offset: number; readonly mark: string }
}

export type Block = {
  readonly position: Position
  /** Offset after the block. */
  readonly end: number
} & (
  | { readonly kind: "heading"; readonly depth: number; readonly text: string }
  | { readonly kind: "list"; readonly items: ReadonlyArray<ListedItem> }
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "front-matter"; readonly yaml: string }
  /** A block that never ends: the rest of the text is inside of it. */
  | { readonly kind: "unclosed"; readonly closing: string }
  /** Something to read that has no meaning for the plan: code, quotes, HTML. */
  | { readonly kind: "other" }
  /** Nothing to read: rules, comments, link definitions. */
  | { readonly kind: "nothing" }
)

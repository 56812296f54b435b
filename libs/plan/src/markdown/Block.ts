/** The top-level blocks of a plan's text, reduced to the kinds that matter in a plan. */
import type { Position } from "./Position.ts"

/** An item of a list, in the order of the text; nested items follow the item that contains them. */
export interface ListedItem {
  readonly position: Position
  /** 0 for an item of an outermost list. */
  readonly depth: number
  /** The source of its first paragraph, without the box. */
  readonly text: string
  /** What stands between the brackets; undefined: there is no box. */
  readonly mark?: string
}

export type Block = {
  readonly position: Position
  /** The offset after its last character. */
  readonly end: number
} & (
  | { readonly kind: "heading"; readonly depth: number; readonly text: string }
  | { readonly kind: "list"; readonly items: ReadonlyArray<ListedItem> }
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "front-matter"; readonly yaml: string }
  /** A block without its end: the rest of the text is inside it. */
  | { readonly kind: "unclosed"; readonly closing: string }
  /** Content that a plan does not interpret: code, quotes, HTML. */
  | { readonly kind: "other" }
  /** No content: rules, comments, link definitions. */
  | { readonly kind: "nothing" }
)

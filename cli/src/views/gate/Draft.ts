/** Text of several lines that a human edits. Pure. */

/** `at`: where the next character goes, as an index into `text`. */
export interface Draft {
  readonly text: string
  readonly at: number
}

export const emptyDraft: Draft = { text: "", at: 0 }

/** With the cursor at its end. */
export const draftOf = (text: string): Draft => ({ text, at: text.length })

export type Edit =
  | "backspace"
  | "delete"
  | "left"
  | "right"
  | "up"
  | "down"
  | "lineStart"
  | "lineEnd"
  | "wordBack"
  | "clearLine"

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** More code units than one character has, so that long texts need not be taken apart. */
const longestCharacter = 64

const lengthOfLast = (text: string): number =>
  [...characters.segment(text.slice(-longestCharacter))].at(-1)?.segment.length ?? 0

const lengthOfFirst = (text: string): number => {
  for (const { segment } of characters.segment(text.slice(0, longestCharacter))) return segment.length
  return 0
}

const lineStart = ({ at, text }: Draft): number => text.lastIndexOf("\n", at - 1) + 1

const lineEnd = ({ at, text }: Draft): number => {
  const end = text.indexOf("\n", at)
  return end < 0 ? text.length : end
}

const cut = ({ text }: Draft, from: number, to: number): Draft => ({
  text: text.slice(0, from) + text.slice(to),
  at: from
})

/** With what follows it. */
const lastWordOf = (text: string): string => text.slice(text.trimEnd().search(/(?<!\S)\S*$/))

/** The same place in the line that ends or begins beside this one, or its end. */
const inLine = (draft: Draft, start: number): Draft => {
  const end = lineEnd({ ...draft, at: start })
  return { ...draft, at: Math.min(end, start + draft.at - lineStart(draft)) }
}

export const insert = ({ at, text }: Draft, added: string): Draft => ({
  text: text.slice(0, at) + added + text.slice(at),
  at: at + added.length
})

export const edit = (draft: Draft, what: Edit): Draft => {
  const { at, text } = draft
  switch (what) {
    case "backspace":
      return cut(draft, at - lengthOfLast(text.slice(0, at)), at)
    case "delete":
      return cut(draft, at, at + lengthOfFirst(text.slice(at)))
    case "left":
      return { text, at: at - lengthOfLast(text.slice(0, at)) }
    case "right":
      return { text, at: at + lengthOfFirst(text.slice(at)) }
    case "up": {
      const start = lineStart(draft)
      return start === 0 ? { text, at: 0 } : inLine(draft, lineStart({ text, at: start - 1 }))
    }
    case "down": {
      const end = lineEnd(draft)
      return end === text.length ? { text, at: end } : inLine(draft, end + 1)
    }
    case "lineStart":
      return { text, at: lineStart(draft) }
    case "lineEnd":
      return { text, at: lineEnd(draft) }
    case "wordBack": {
      const before = text.slice(lineStart(draft), at)
      return cut(draft, at - lastWordOf(before).length, at)
    }
    case "clearLine":
      return cut(draft, lineStart(draft), at)
  }
}
